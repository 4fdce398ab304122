"""Which classes benchmarks/hooks.py counts, and which of them it takes for pure observers."""

import importlib
import json
import sys
import textwrap

import pytest


@pytest.fixture(scope="module")
def finder(repository):
  sys.path.insert(0, str(repository / "benchmarks"))
  yield importlib.import_module("hook_finder")
  sys.path.remove(str(repository / "benchmarks"))


@pytest.fixture
def find(finder, tmp_path):
  """Returns a function from the texts of files to the hooks of the repository that they make."""

  def run(text="", **files):
    for name, content in {"hooks": text, **files}.items():
      if content:
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(content))
    return finder.find(tmp_path)[0]

  return run


def observing(body):
  """A hook with the given lines in its `after_run`."""
  lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
  return f"""\
import tensorflow as tf

class Hook(tf.train.SessionRunHook):
  def after_run(self, run_context, run_values):
{lines}
"""


@pytest.mark.parametrize(
  "lines",
  [
    ("import tensorflow as tf", "tf.train.SessionRunHook"),
    ("import tensorflow.compat.v1 as tf1", "tf1.train.SessionRunHook"),
    ("import tensorflow as tf", "tf.estimator.SessionRunHook"),
    ("from tensorflow_estimator.python.estimator import estimator as e", "e.SessionRunHook"),
    ("from tensorflow.python.training import session_run_hook as s", "s.SessionRunHook"),
    ("from tensorflow.train import SessionRunHook", "SessionRunHook"),
    ("from package import tf_compat", "tf_compat.SessionRunHook"),
    ("_SessionRunHook = getattr(train, 'SessionRunHook', None)", "_SessionRunHook"),
  ],
)
def test_a_hook_is_found_under_every_spelling_of_its_base(find, lines):
  start, base = lines
  (hook,) = find(f"{start}\n\nclass Timer({base}):\n  def begin(self):\n    self.n = 0\n")
  assert (hook.name, hook.base, hook.methods, hook.line) == (
    "Timer",
    "SessionRunHook",
    ("begin",),
    3,
  )
  assert hook.observes


def test_a_class_of_a_function_a_listener_and_a_subclass_of_a_built_in_hook_are_found(find):
  found = find(
    """
    import tensorflow as tf

    def train(loss):
      class Log(tf.train.SessionRunHook):
        def before_run(self, run_context):
          return tf.train.SessionRunArgs(loss)

    class Upload(tf.train.CheckpointSaverListener):
      def after_save(self, session, global_step_value):
        return False

    class Rate(tf.train.StepCounterHook):
      def _log_and_record(self, elapsed_steps, elapsed_time, global_step):
        print(elapsed_steps / elapsed_time)
    """
  )
  assert [(h.qualified, h.base, h.observes) for h in found] == [
    ("train.Log", "SessionRunHook", True),
    ("Upload", "CheckpointSaverListener", True),
    ("Rate", "StepCounterHook", True),
  ]


def test_a_class_with_a_hook_of_another_file_as_its_base_does_what_the_base_does(find):
  base = """
    import tensorflow as tf

    class Base(tf.train.SessionRunHook):
      def after_create_session(self, session, coord):
        session.run(self.initializer)
    """
  derived = """
    import base

    class Derived(base.Base):
      def end(self, session):
        print("ended")
    """
  found = {h.name: h for h in find("", base=base, derived=derived)}
  assert set(found) == {"Base", "Derived"}
  assert found["Derived"].base == "SessionRunHook"
  assert found["Derived"].effects == ("runs the session",)


def test_a_class_that_only_has_hook_in_its_name_is_none(find):
  text = """
    import tensorflow as tf

    class BuildHook(Hook):
      pass

    class Callback(tf.keras.callbacks.Callback):
      pass
    """
  assert find(text) == []


def test_a_class_of_the_file_with_the_name_of_a_built_in_hook_hides_it(find):
  found = find(
    """
    import tensorflow as tf

    class LoggingTensorHook(tf.train.SessionRunHook):
      pass

    class Mine(LoggingTensorHook):
      pass
    """
  )
  assert [(h.name, h.base) for h in found] == [
    ("LoggingTensorHook", "SessionRunHook"),
    ("Mine", "SessionRunHook"),
  ]


@pytest.mark.parametrize(
  "body",
  [
    "tf.logging.info('loss %s', run_values.results)",
    "self.step = run_context.session.run(tf.train.get_global_step())",
    "self.step = run_context.session.run(self._global_step_tensor)",
    "run_context.request_stop()",
    "self.writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag='a', simple_value=1.0)]), 3)",
    "self.timer = tf.train.SecondOrStepTimer(every_steps=3)",
    "with tf.gfile.GFile('log.csv', 'a') as file:\n  file.write('1')",
    "raise tf.train.NanLossDuringTrainingError",
    "return tf.train.SessionRunArgs({'loss': self.loss, 'step': tf.train.get_global_step()})",
    "return tf.train.SessionRunArgs(tf.get_collection('losses'))",
    "return tf.train.SessionRunArgs(self.summary_op, feed_dict=None)",
  ],
)
def test_looking_is_what_an_observer_does(find, body):
  (hook,) = find(observing(body))
  assert hook.effects == ()


@pytest.mark.parametrize(
  ("body", "effect"),
  [
    ("run_context.session.run(self.assign_op)", "runs the session"),
    ("self.saver.restore(run_context.session, self.path)", "calls a saver's restore"),
    ("self.init_fn(run_context.session)", "hands on the session"),
    ("return tf.train.SessionRunArgs(self.loss, feed_dict={self.rate: 0.1})", "feeds"),
    ("return tf.train.SessionRunArgs(self.train_op)", "runs an operation as a fetch"),
    ("self.variable.load(0.1, session)", "runs the session"),
    ("self.variable.assign(0.1)", "calls assign"),
    ("self.estimator.evaluate(self.input_fn)", "calls evaluate"),
    ("self.inner.after_run(run_context, run_values)", "calls another hook"),
    ("tf.train.init_from_checkpoint(self.path, {})", "uses tf.train.init_from_checkpoint"),
    (
      "return tf.train.SessionRunArgs([], options=tf.RunOptions())",
      "asks for run metadata",
    ),
  ],
)
def test_what_changes_something_makes_no_observer(find, body, effect):
  (hook,) = find(observing(body))
  assert effect in hook.effects


def test_a_subclass_of_a_hook_that_saves_is_no_observer(find):
  (hook,) = find(
    "import tensorflow as tf\n\nclass Saver(tf.train.CheckpointSaverHook):\n  def begin(self):\n    pass\n"
  )
  assert hook.effects == ("is a CheckpointSaverHook",)


def test_the_code_of_notebooks_is_read_too(finder, tmp_path):
  source = (
    "%matplotlib inline\nimport tensorflow as tf\nclass A(tf.train.SessionRunHook):\n  pass\n"
  )
  cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": [source]}]
  notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
  (tmp_path / "a.ipynb").write_text(json.dumps(notebook))
  ((hook,), unreadable) = finder.find(tmp_path)
  assert (hook.name, unreadable) == ("A", [])


def test_a_file_of_python_2_with_a_hook_is_named(finder, tmp_path):
  text = "import tensorflow as tf\n\nclass A(tf.train.SessionRunHook):\n  def begin(self):\n    print 1\n"
  (tmp_path / "old.py").write_text(text)
  assert finder.find(tmp_path) == ([], ["old.py"])


def test_classes_of_the_same_text_count_once(finder, find, tmp_path):
  text = "import tensorflow as tf\n\nclass A(tf.train.SessionRunHook):\n  n = {}\n"
  first, second, other = find("", a=text.format(1), b="\n\n" + text.format(1), c=text.format(2))
  kept = finder.distinct([first, second, other])
  assert [h.path for h in kept] == ["a.py", "c.py"]
  assert first.copies == 1
