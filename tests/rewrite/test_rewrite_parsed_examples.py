"""Which units get their features out of tf.Examples as sparse tensors."""

import textwrap

import pytest

from migrator.analysis import units
from migrator.analysis.module import Module
from migrator.rewrite import input_fns
from migrator.rewrite.plan import Plan

HEAD = """
import functools
import tensorflow as tf
columns = [tf.feature_column.numeric_column("x")]
e = tf.estimator.DNNClassifier([4, 3], columns, n_classes=3, model_dir='m')
def read(parse):
  return tf.data.TFRecordDataset("f").map(parse)
"""


def parses(source):
  module = Module(HEAD + textwrap.dedent(source))
  (unit,) = units.find_units(module)
  return input_fns.parses_examples(Plan(module, "p.py"), unit)


@pytest.mark.parametrize(
  ("spec", "sparse"),
  [
    ("{'x': tf.io.FixedLenFeature([1], tf.float32)}", False),
    ("{'x': tf.FixedLenFeature([1], tf.float32), 'y': tf.VarLenFeature(tf.string)}", True),
    ("tf.feature_column.make_parse_example_spec(columns)", True),
    ("elsewhere.SPEC", True),
    ("{**elsewhere.SPEC}", True),
  ],
)
def test_a_specification_is_dense_where_the_file_shows_only_dense_features(spec, sparse):
  source = f"SPEC = {spec}\ndef parse(r):\n  return tf.parse_single_example(r, SPEC)\n"
  assert parses(source + "e.train(lambda: read(parse))\n") is sparse
  assert parses(source + "def f():\n  return read(lambda r: parse(r))\ne.train(f)\n") is sparse
  spec_call = "tf.estimator.train_and_evaluate(e, tf.estimator.TrainSpec(f, 3), ev)\n"
  assert parses(source + "f = functools.partial(read, parse)\n" + spec_call) is sparse


def test_a_specification_that_gets_more_entries_later_is_not_known():
  assert parses("""
    SPEC = {'x': tf.io.FixedLenFeature([1], tf.float32)}
    SPEC['y'] = tf.io.VarLenFeature(tf.string)
    def parse(record):
      return tf.io.parse_example(record, features=SPEC)
    e.evaluate(lambda: read(parse))
    """)


def test_records_that_are_read_by_another_function_do_not_count():
  assert not parses("""
    def parse(record):
      return tf.io.parse_example(record, elsewhere.SPEC)
    def other():
      return read(parse)
    e.train(lambda: tf.data.Dataset.range(3))
    """)
  assert parses("""
    e.train(lambda: tf.data.experimental.make_batched_features_dataset("f", 3, make_spec()))
    """)
