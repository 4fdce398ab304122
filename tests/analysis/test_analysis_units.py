"""Units: which calls belong to an estimator, and why one is left whole."""

import textwrap

import pytest

from migrator.analysis import units
from migrator.analysis.module import Module

HEAD = """
import tensorflow as tf
columns = [tf.feature_column.numeric_column("x")]
"""
NEW = "tf.estimator.DNNClassifier([4, 3], columns, n_classes=3, model_dir='m')"


def find(source, version=None):
  return units.find_units(Module(HEAD + textwrap.dedent(source)), version)


def problems(source):
  return [p.code for unit in find(source) for p in unit.problems]


def test_calls_of_one_variable_are_one_unit():
  (unit,) = find(f"e = {NEW}\ne.train(f, steps=5)\ne.evaluate(f)\nprint(e.model_dir)\ne = {NEW}")
  assert unit.kind == "DNNClassifier"
  assert len(unit.constructions) == 2
  assert [c.method for c in unit.calls] == ["train", "evaluate"]
  assert len(unit.model_dir_reads) == 1
  assert not unit.problems


def test_positional_arguments_are_bound_to_their_names():
  (unit,) = find(f"e = {NEW}\ne.train(f, None, 5)")
  assert list(unit.constructions[0].arguments)[:2] == ["hidden_units", "feature_columns"]
  assert list(unit.calls[0].arguments) == ["input_fn", "hooks", "steps"]


@pytest.mark.parametrize(
  ("source", "code"),
  [
    (f"e = {NEW}\nrun(e)", "EM212"),
    (f"def f():\n  return {NEW}", "EM212"),
    (f"self.e = {NEW}", "EM212"),
    (f"e = {NEW}\ne = other()\ne.train(f)", "EM212"),
    (f"e = {NEW}\ne.experimental_export_all_saved_models('d', f)", "EM209"),
    (f"e = {NEW}\ntf.estimator.train_and_evaluate(e, *specs)", "EM212"),
    (f"e = {NEW}\ntf.estimator.train_and_evaluate(spec, e, spec)", "EM212"),
    (f"e = {NEW}\ne.train(**options)", "EM209"),
    ("e = tf.estimator.DNNClassifier(**options)\ne.train(f)", "EM208"),
    ("e = tf.estimator.DNNClassifier([1], columns, colour=3)\ne.train(f)", "EM208"),
  ],
)
def test_a_unit_with_unknown_parts_has_a_problem(source, code):
  assert problems(source) == [code]


@pytest.mark.parametrize(
  ("source", "version", "flavour"),
  [
    (f"e = {NEW}", None, "v2"),
    (f"e = {NEW}", 1, "v1"),
    (f"s = tf.Session()\ne = {NEW}", None, "v1"),
    (f"e = {NEW.replace('tf.est', 'tf.compat.v1.est')}", 2, "v1"),
    (f"e = {NEW.replace('tf.est', 'tf.compat.v2.est')}", 1, "v2"),
  ],
)
def test_flavour(source, version, flavour):
  assert find(source, version)[0].flavour == flavour


def test_units_of_different_functions_are_apart():
  source = f"""
    def a():
      e = {NEW}
      e.train(f)
    def b():
      e = {NEW}
      e.evaluate(f)
    """
  assert [[c.method for c in unit.calls] for unit in find(source)] == [["train"], ["evaluate"]]


def test_train_and_evaluate_is_a_call_of_its_first_argument():
  (unit,) = find(f"""
    import tensorflow.compat.v1 as tf1
    e = {NEW}
    tf.estimator.train_and_evaluate(e, spec, evaluation)
    tf1.estimator.train_and_evaluate(eval_spec=evaluation, train_spec=spec, estimator=e)
    """)
  assert [c.method for c in unit.calls] == ["train_and_evaluate"] * 2
  assert [sorted(c.arguments) for c in unit.calls] == [["eval_spec", "train_spec"]] * 2
  assert [c.owner.id for c in unit.calls] == ["e", "e"]
  assert not unit.problems


def test_methods_that_read_and_export_are_calls():
  (unit,) = find(f"""
    e = {NEW}
    e.export_savedmodel("d", f, None, False, None, True)
    e.export_saved_model("d", f)
    print(e.latest_checkpoint(), e.get_variable_names(), e.get_variable_value("v"))
    """)
  methods = "export_saved_model latest_checkpoint get_variable_names get_variable_value"
  assert [c.method for c in unit.calls] == ["export_saved_model", *methods.split()]
  assert list(unit.calls[0].arguments)[-1] == "strip_default_attrs"
  assert list(unit.calls[-1].arguments) == ["name"]
  assert not unit.problems


def test_constructions_know_their_class_and_a_plain_variable_is_no_handle():
  (unit,) = find(f"e = {NEW}\ne.train(f)")
  assert unit.constructions[0].kind == "DNNClassifier"
  assert unit.handle is False
