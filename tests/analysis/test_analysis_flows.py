"""Flows: an estimator that is more than one variable of one function is one unit."""

import textwrap

import pytest

from migrator.analysis import units
from migrator.analysis.module import Module

HEAD = """
import tensorflow as tf
columns = [tf.feature_column.numeric_column("x")]
"""
NEW = "tf.estimator.DNNClassifier([4, 3], columns, n_classes=3, model_dir='m')"


def find(source):
  return units.find_units(Module(HEAD + textwrap.dedent(source)))


def whats(source):
  return [p.values.get("what", p.code) for unit in find(source) for p in unit.problems]


def handle(source, *methods):
  """The one unit of a source, which has no problem and these calls."""
  (unit,) = find(source)
  assert not unit.problems
  assert unit.handle
  assert [c.method for c in unit.calls] == list(methods)
  return unit


def test_the_calls_on_what_a_factory_returns_belong_to_its_estimator():
  unit = handle(
    f"""
    def build(width):
      return {NEW}
    def main():
      e = build(3)
      e.train(f)
      tf.estimator.train_and_evaluate(e, spec, evaluation)
    main()
    """,
    "train",
    "train_and_evaluate",
  )
  assert [f.name for f in unit.functions] == ["build"]


def test_a_call_directly_on_the_result_of_a_factory_is_found():
  unit = handle(f"def build():\n  e = {NEW}\n  return e\nbuild().evaluate(f)\n", "evaluate")
  assert unit.name == "e"


def test_an_estimator_handed_to_functions_of_the_file_is_followed():
  handle(
    f"""
    def run(steps, estimator=None, *, name=None):
      estimator.train(f, steps=steps)
      score(model=estimator)
    def score(model):
      print(model.evaluate(f), model.model_dir)
    e = {NEW}
    run(3, e)
    """,
    "train",
    "evaluate",
  )


def test_classes_of_branches_that_meet_in_one_variable_are_one_unit():
  unit = handle(
    f"""
    def build(deep):
      if deep:
        return {NEW}
      else:
        return {NEW.replace("DNNClassifier([4, 3], ", "DNNClassifier([1], ")}
    e = build(True)
    e.predict(f)
    """,
    "predict",
  )
  assert len(unit.constructions) == 2


def test_an_attribute_of_a_class_is_followed_through_its_methods_and_objects():
  unit = handle(
    f"""
    class Base:
      def score(self):
        return self.estimator.evaluate(f)
    class Runner(Base):
      estimator = None
      def __init__(self):
        self.estimator = {NEW}
      def fit(self):
        self.estimator.train(f)
    class Other:
      def fit(self):
        self.estimator.fit()
    runner = Runner()
    runner.estimator.predict(f)
    """,
    "evaluate",
    "train",
    "predict",
  )
  assert unit.name == "estimator"


def test_an_estimator_handed_to_the_constructor_of_a_class_is_followed():
  handle(
    f"""
    class Runner:
      def __init__(self, e):
        self.e = e
      def fit(self):
        self.e.train(f)
    Runner({NEW}).fit()
    """,
    "train",
  )


def test_a_method_that_returns_the_estimator_is_a_factory():
  handle(
    f"""
    class Runner:
      def build(self):
        return {NEW}
      def fit(self):
        self.build().train(f)
    """,
    "train",
  )


def test_estimators_that_meet_in_a_parameter_are_one_unit():
  unit = handle(
    f"""
    def run(estimator):
      estimator.train(f)
    a = {NEW}
    b = {NEW}
    run(a)
    run(b)
    """,
    "train",
  )
  assert len(unit.constructions) == 2


@pytest.mark.parametrize(
  "source",
  [
    f"def g():\n  global e\n  e = {NEW}\n  e.train(f)\n",
    f"e = None\nif e is None:\n  e = {NEW}\ne.train(f)\n",
    f"e = d = {NEW}\nd.train(f)\n",
    f"e = {NEW} if deep else {NEW}\ne.train(f)\n",
    f"e: object = {NEW}\ne.train(f)\n",
    f"if (e := {NEW}):\n  e.train(f)\n",
  ],
)
def test_other_ways_to_bind_an_estimator_make_a_handle(source):
  handle(source, "train")


@pytest.mark.parametrize(
  "source",
  [
    f"e = {NEW}\ndef g():\n  e.train(f)\n",
    f"if deep:\n  e = {NEW}\nelse:\n  e = {NEW}\ne.train(f)\n",
    f"e = {NEW}\ne\ne.train(f)\n",
  ],
)
def test_one_variable_is_no_handle(source):
  (unit,) = find(source)
  assert not unit.problems
  assert not unit.handle
  assert len(unit.calls) == 1


@pytest.mark.parametrize(
  ("source", "what"),
  [
    (f"def build():\n  return {NEW}\n", "is returned by `build()`, which this file does not call"),
    (f"lambda: {NEW}\n", "is returned to a caller"),
    (f"e = {NEW}\nserve.run(1, e)\n", "is handed to `serve.run()`"),
    (f"runs.append({NEW})\n", "is handed to `runs.append()`"),
    (f"x = [{NEW}]\n", "is stored in an attribute or container"),
    (f"x['e'] = {NEW}\n", "is stored in an attribute or container"),
    (f"x.e = {NEW}\n", "is stored in an attribute or container"),
    (f"class A:\n  e = {NEW}\n", "is a class attribute"),
    (
      f"def build():\n  return {NEW}\ne = build()\nhand_on(build)\n",
      "is returned by `build()`, whose callers are not all known",
    ),
    (
      f"@cached\ndef build():\n  return {NEW}\ne = build()\n",
      "is returned by `build()`, whose callers are not all known",
    ),
    (
      f"def build():\n  if x:\n    return 3\n  return {NEW}\ne = build()\n",
      "is returned by `build()`, as are other values",
    ),
    (
      f"def run(e):\n  e.train(f)\nrun({NEW})\nrun(other())\n",
      "is handed to `run()`, which also gets other values",
    ),
    (
      f"def run(e):\n  e.train(f)\nrun({NEW})\napp.run(run)\n",
      "is a parameter of a function whose callers are not all known",
    ),
    (
      f"def run(e):\n  e.train(f)\nrun({NEW})\nrun(*args)\n",
      "is a parameter of a function whose callers are not all known",
    ),
    (f"e = {NEW}\nif x:\n  e = other()\ne.train(f)\n", "shares its variable with another value"),
    (
      f"e = {NEW} if x else other()\ne.train(f)\n",
      "is in a conditional expression with another value",
    ),
    (
      f"e = {NEW}\nif x:\n  e = tf.estimator.BoostedTreesClassifier(columns, 3)\ne.train(f)\n",
      "shares its variable with another value",
    ),
    (
      "class A:\n  def __init__(self):\n"
      f"    self.e = {NEW}\n    self.e.train(f)\ndef g(a):\n  return a.e\n",
      "may also be what `a.e` means",
    ),
  ],
)
def test_an_estimator_that_leaves_the_file_or_is_mixed_up_with_others_has_a_problem(source, what):
  assert whats(source) == [what]


def test_recursion_ends():
  handle(
    f"""
    def run(e, n):
      e.train(f)
      return run(e, n - 1) if n else e
    run({NEW}, 3).evaluate(f)
    """,
    "train",
    "evaluate",
  )


def test_added_metrics_give_the_same_estimator():
  (unit,) = find(f"""
    def metrics(labels, predictions):
      return {{}}
    e = {NEW}
    e = tf.estimator.add_metrics(e, metrics)
    e.evaluate(f)
    """)
  assert not unit.problems
  assert not unit.handle
  assert [m.function.id for m in unit.added_metrics] == ["metrics"]
  assert [c.method for c in unit.calls] == ["evaluate"]


def test_an_estimator_used_with_and_without_metrics_has_a_problem():
  source = f"e = {NEW}\ng = tf.estimator.add_metrics(e, metrics)\ne.evaluate(f)\ng.evaluate(f)\n"
  assert whats(source) == ["is used with and without added metrics"]


def test_an_estimator_that_is_only_printed_has_no_problem():
  unit = handle(
    f"""
    def build():
      e = {NEW}
      print("Type: {{}}".format(type(e)))
      print(e)
      return e
    build().train(f)
    """,
    "train",
  )
  assert len(unit.shown) == 2
  assert whats(f"e = {NEW}\nx = type(e)\ne.train(f)\n") == ["is handed to `type()`"]
  assert whats(f"e = {NEW}\nprint(score(e))\ne.train(f)\n") == ["is handed to `score()`"]


def test_the_result_of_a_function_may_go_unused():
  handle(f"def run():\n  e = {NEW}\n  e.train(f)\n  return e\nrun()\n", "train")
  assert whats(f"{NEW}\n") == ["is not assigned to a variable"]
