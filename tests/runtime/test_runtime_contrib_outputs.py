"""Contributed modules that read SavedModels and write events, held against TensorFlow's own."""

import glob
import json
import os

import numpy as np
import pytest
import summary_events
import tensorflow as tf

from migrator.runtime import contrib

v1 = tf.compat.v1
FIXTURES = os.path.join(os.path.dirname(__file__), "..", "..", "fixtures")


# -- predictor --------------------------------------------------------------------------


@pytest.fixture(scope="module", name="saved_model")
def make_saved_model(tmp_path_factory):
  """A SavedModel of TF1 with two signatures: y = 2 x + b, and z = x + b."""
  path = str(tmp_path_factory.mktemp("saved") / "model")
  with tf.Graph().as_default(), v1.Session() as session:
    x = v1.placeholder(tf.float32, [None], name="x")
    b = v1.get_variable("b", initializer=3.0)
    y, z = tf.add(2 * x, b, name="y"), tf.add(x, b, name="z")
    session.run(v1.global_variables_initializer())
    signature = v1.saved_model.predict_signature_def
    builder = v1.saved_model.Builder(path)
    signatures = {
      "serving_default": signature({"x": x}, {"y": y, "z": z}),
      "z": signature({"x": x}, {"z": z}),
    }
    builder.add_meta_graph_and_variables(session, ["serve"], signatures)
    builder.save()
  return path


def test_a_predictor_gives_the_outputs_of_the_signature_for_arrays(saved_model):
  predictor = contrib.predictor.from_saved_model(saved_model.encode())
  found = predictor({"x": [1.0, 2.0]})
  assert sorted(found) == ["y", "z"]
  np.testing.assert_array_equal(found["y"], np.array([5, 7], "float32"))
  np.testing.assert_array_equal(found["z"], np.array([4, 5], "float32"))
  assert sorted(predictor.feed_tensors) == ["x"] and sorted(predictor.fetch_tensors) == ["y", "z"]
  assert predictor.session.run("y:0", {"x:0": [0.0]}) == [3.0]
  assert predictor.graph is predictor.session.graph


def test_a_predictor_takes_another_signature_or_names_of_tensors(saved_model):
  load = contrib.predictor.from_saved_model
  assert sorted(load(saved_model, signature_def_key="z")({"x": [1.0]})) == ["z"]
  by_name = load(saved_model, input_names={"in": "x:0"}, output_names={"out": "y:0"})
  assert by_name({"in": [1.0]})["out"] == [5.0]


def test_a_predictor_says_which_inputs_and_signatures_there_are(saved_model):
  load = contrib.predictor.from_saved_model
  with pytest.raises(ValueError, match="Got unexpected keys in input_dict"):
    load(saved_model)({"w": [1.0]})
  with pytest.raises(ValueError, match=r"Available signatures are \[.*serving_default"):
    load(saved_model, signature_def_key="other")
  with pytest.raises(ValueError, match="both be specified or both be unspecified"):
    load(saved_model, input_names={"in": "x:0"})
  with pytest.raises(ValueError, match="at most one of signature_def_key"):
    load(saved_model, "z", input_names={"in": "x:0"}, output_names={"out": "y:0"})


# -- summaries --------------------------------------------------------------------------


def _oracle():
  from tensorflow.python.ops import summary_ops_v2

  return summary_ops_v2


def _write(summary, folder, recording):
  """Writes summaries in three steps; returns what the event files have."""
  with tf.Graph().as_default(), v1.Session() as session:
    step = v1.train.get_or_create_global_step()
    value = v1.get_variable("value", initializer=0.5)
    image = tf.reshape(tf.range(48, dtype=tf.float32) / 48, [1, 4, 4, 3])
    with summary.create_file_writer(folder, flush_millis=10).as_default() as writer:
      with recording(summary):
        summary.scalar("loss", value, step=step)
        with tf.name_scope("inner"):
          summary.scalar("loss", value * 2)
          summary.scalar("a b", value, family="family")
          summary.histogram("values", tf.range(10))
        summary.image("picture", image)
      flushed = writer.flush()
    written = (
      summary.all_v2_summary_ops()
      if hasattr(summary, "all_v2_summary_ops")
      else summary.all_summary_ops()
    )
    session.run(v1.global_variables_initializer())
    session.run(summary.summary_writer_initializer_op())
    for _ in range(3):
      session.run(written)
      session.run([v1.assign_add(step, 1), v1.assign_add(value, 1.0)])
    session.run(flushed)
    names = len(written)
  found = []
  for path in glob.glob(os.path.join(folder, "*")):
    for event in v1.train.summary_iterator(path):
      found += [(event.step, one.tag, one.SerializeToString()) for one in event.summary.value]
  return names, sorted(found)


@pytest.mark.parametrize(
  "recording",
  [
    lambda summary: summary.always_record_summaries(),
    lambda summary: summary.never_record_summaries(),
    lambda summary: summary.record_summaries_every_n_global_steps(2),
  ],
  ids=["always", "never", "every second step"],
)
def test_contributed_summaries_write_the_events_of_tensorflow_1(recording, tmp_path):
  expected = _write(_oracle(), str(tmp_path / "old"), recording)
  found = _write(contrib.summary, str(tmp_path / "new"), recording)
  assert found == expected


def test_a_host_call_writes_the_steps_and_tags_that_tensorflow_1_15_wrote(tmp_path):
  with open(os.path.join(FIXTURES, "contrib", "summaries.json"), encoding="utf-8") as file:
    expected = json.load(file)
  assert summary_events.written(contrib.summary, str(tmp_path)) == expected
  assert {tag for _, tag, _, _ in expected} >= {"scope/inner", "fam/scope/fam/inner", "second"}


def test_nothing_is_written_without_a_writer_or_a_directory():
  summary = contrib.summary
  with tf.Graph().as_default(), summary.always_record_summaries():
    summary.scalar("loss", 1.0)
    with summary.create_file_writer(None).as_default():
      summary.scalar("loss", 1.0)
    assert summary.all_summary_ops() == []


def test_contributed_summaries_are_opened_by_initialize(tmp_path):
  summary = contrib.summary
  with tf.Graph().as_default(), v1.Session():
    with pytest.raises(RuntimeError, match="No default"):
      summary.initialize()
    with summary.create_file_writer(str(tmp_path)).as_default():
      summary.initialize()
  assert os.listdir(tmp_path)
