"""`--hooks all`: hook classes of files in which no training is rewritten."""

import textwrap

import pytest
from helpers import codes, run

HOOK = """
import tensorflow.compat.v1 as tf


class Clock(tf.train.SessionRunHook):
  def after_run(self, run_context, run_values):
    self.n += 1
"""


def test_class_that_nothing_uses_is_converted_in_place():
  result = run(HOOK, hooks="all")
  assert "class Clock(tf2.keras.callbacks.Callback):" in result.text
  assert "def on_train_batch_end(self, batch, logs=None):" in result.text
  assert [h.callback for h in result.hooks] == ["Clock"]
  assert not result.left


def test_by_default_the_file_stays_as_it_is():
  result = run(HOOK)
  assert result.text == HOOK
  assert [h.callback for h in result.hooks] == [""]


def test_class_that_staying_code_uses_gets_a_twin_and_a_name_that_exists():
  source = HOOK.replace("tensorflow.compat.v1", "tensorflow") + "\n\nhooks = [Clock()]\n"
  result = run(source, hooks="all")
  assert "class Clock(tf.compat.v1.train.SessionRunHook):" in result.text
  assert "class ClockCallback(tf.keras.callbacks.Callback):" in result.text
  assert "hooks = [Clock()]" in result.text
  assert [h.callback for h in result.hooks] == ["ClockCallback"]


def test_class_without_counterpart_is_named_and_the_others_are_converted():
  other = textwrap.dedent("""

    class Run(tf.train.SessionRunHook):
      def before_run(self, run_context):
        run_context.session.run(self.op)
  """)
  result = run(HOOK + other, hooks="all")
  assert [(h.name, h.callback) for h in result.hooks] == [("Clock", "Clock"), ("Run", "")]
  assert "EM302" in codes(result)
  assert result.left


def test_listener_is_converted():
  source = """
import tensorflow as tf


class Upload(tf.estimator.CheckpointSaverListener):
  def begin(self):
    self.step = tf.compat.v1.train.get_global_step()

  def after_save(self, session, global_step_value):
    print(session.run(self.step), global_step_value)
    return global_step_value >= 100
"""
  result = run(source, hooks="all")
  assert "class Upload(runtime.CheckpointSaverListener):" in result.text
  assert "def after_save(self, model, global_step_value):" in result.text
  assert "print(global_step_value, global_step_value)" in result.text


def test_tensors_of_the_constructor_may_be_any_key():
  source = """
import tensorflow as tf


class Rate(tf.compat.v1.train.SessionRunHook):
  def __init__(self, rate):
    self._rate = rate

  def before_run(self, run_context):
    return tf.compat.v1.train.SessionRunArgs([self._rate, "accuracy:0"])

  def after_run(self, run_context, run_values):
    rate, accuracy = run_values.results
    print(rate, accuracy)
"""
  result = run(source, hooks="all")
  assert (
    'rate, accuracy = runtime.fetch(self._rate, self.model, logs), logs["accuracy"]' in result.text
  )
  assert "EM312" in codes(result)


def test_tensors_are_called_as_the_hook_calls_them():
  source = """
import tensorflow as tf


class Total(tf.compat.v1.train.SessionRunHook):
  def begin(self):
    self._rate = tf.compat.v1.get_collection("rates")[0]

  def before_run(self, run_context):
    graph = tf.compat.v1.get_default_graph()
    return tf.compat.v1.train.SessionRunArgs(
        {"total": graph.get_collection("total_loss")[0], "rate": self._rate})

  def after_run(self, run_context, run_values):
    print(run_values.results["total"], run_values.results["rate"])
"""
  result = run(source, hooks="all")
  assert 'print(logs["total"], logs["rate"])' in result.text
  assert "get_collection" not in result.text
  assert "EM312" in codes(result)


def test_what_the_session_ran_is_no_tensor():
  source = """
import tensorflow as tf


class Since(tf.compat.v1.train.SessionRunHook):
  def after_create_session(self, session, coord):
    self.first = session.run(tf.compat.v1.train.get_global_step())

  def before_run(self, run_context):
    return tf.compat.v1.train.SessionRunArgs(fetches=["step_update:0"])

  def after_run(self, run_context, run_values):
    self.step = run_values.results[0]
    print(self.step - self.first)
"""
  result = run(source, hooks="all")
  assert "self.first = runtime.global_step(self.model)" in result.text
  assert 'self.step = logs["step_update"]' in result.text


def test_tensor_of_a_collection_is_called_as_its_variable_and_reported():
  source = """
import tensorflow as tf


class Watch(tf.train.SessionRunHook):
  def before_run(self, run_context):
    graph = run_context.session.graph
    loss_tensor = graph.get_collection(tf.GraphKeys.LOSSES)[1]
    return tf.train.SessionRunArgs(loss_tensor)

  def after_run(self, run_context, run_values):
    last = run_values.results
    self._best = min(self._best, last)
"""
  result = run(source, hooks="all")
  assert 'last = logs["loss"]' in result.text
  assert "self._best = min(self._best, last)" in result.text
  assert "graph" not in result.text
  assert "EM312" in codes(result)


def test_graph_that_something_else_asks_is_refused():
  source = """
import tensorflow as tf


class Watch(tf.train.SessionRunHook):
  def after_run(self, run_context, run_values):
    graph = run_context.session.graph
    print(graph.version)
"""
  result = run(source, hooks="all")
  assert "EM302" in codes(result)
  assert result.text == source


def test_tensor_that_is_run_at_the_end_is_a_value_of_the_logs():
  source = """
import tensorflow as tf


class Report(tf.train.SessionRunHook):
  def end(self, session):
    step = session.graph.get_collection("global_step")
    metric = session.graph.get_tensor_by_name("top_5/value:0")
    print(session.run(metric), session.run(tf.train.get_global_step()))
"""
  result = run(
    source.replace('    step = session.graph.get_collection("global_step")\n', ""), hooks="all"
  )
  assert 'print(logs["top_5/value"], runtime.global_step(self.model))' in result.text
  assert "EM317" in codes(result)


def test_update_operations_are_left_to_the_layers():
  source = '''
import tensorflow as tf


class Update(tf.train.SessionRunHook):
  """Updates averages."""

  def before_run(self, run_context):
    del run_context
    return tf.train.SessionRunArgs(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
'''
  result = run(source, hooks="all")
  assert result.text.endswith('Callback):\n  """Updates averages."""\n')
  assert "EM318" in codes(result)


@pytest.mark.parametrize(
  ("place", "methods"),
  [
    ("s = tf.estimator.EvalSpec(f, 9, None, [Clock()])", ["on_test_batch_end"]),
    ("s = tf.estimator.TrainSpec(f, hooks=[Clock()])", ["on_train_batch_end"]),
    (
      "h = []\nh.append(Clock())\ne.train(f, hooks=h)\ne.evaluate(f, hooks=h + [x])",
      ["on_train_batch_end", "on_test_batch_end"],
    ),
    ("e.predict(f, None, [Clock() if x else y])", ["on_predict_batch_end"]),
  ],
)
def test_methods_are_those_of_the_callers_that_the_file_shows(place, methods):
  result = run(HOOK + f"\n\n{place}\n", hooks="all")
  twin = result.text.split("class ClockCallback", 1)[1]
  first, *others = methods
  assert f"def {first}(self, batch, logs=None):" in twin
  assert all(f"{other} = {first}" in twin for other in others)
  assert twin.count("_batch_end") == 1 + 2 * len(others)


@pytest.mark.parametrize(
  "line", ["a = 1; b = tf.estimator.RunConfig()", "if True: b = tf.estimator.RunConfig()"]
)
def test_removed_name_on_a_shared_line_is_marked_above_it(line):
  source = HOOK.replace("tensorflow.compat.v1", "tensorflow") + f"\n\n{line}\n"
  result = run(source, hooks="all")
  marked = result.text.split("\n")
  place = marked.index(line)
  assert marked[place - 1].startswith("# TODO(EM")
  assert "``" not in marked[place - 1]


def test_class_that_cannot_be_converted_is_spelled_so_that_its_file_can_be_imported():
  other = (
    "\n\nclass Run(tf.train.SessionRunHook):\n  def end(self, session):\n    session.run(self.op)\n"
  )
  result = run(HOOK.replace("tensorflow.compat.v1", "tensorflow") + other, hooks="all")
  assert "class Run(tf.compat.v1.train.SessionRunHook):" in result.text
  assert result.left


def test_class_whose_caller_is_elsewhere_is_said_to_be_of_a_training():
  assert "EM328" in codes(run(HOOK, hooks="all"))
  assert "EM328" not in codes(run(HOOK + "\n\ne.train(f, hooks=[Clock()])\n", hooks="all"))


def test_global_step_of_its_collection_is_known():
  source = """
import tensorflow as tf


class Report(tf.train.SessionRunHook):
  def end(self, session):
    steps = session.graph.get_collection("global_step")
    print(session.run(steps)[0])
"""
  result = run(source, hooks="all")
  assert "print([runtime.global_step(self.model)][0])" in result.text


def test_class_whose_base_stays_is_named_with_it():
  other = (
    "\n\nclass Run(tf.train.SessionRunHook):\n  def end(self, session):\n    session.run(self.op)\n"
    "\n\nclass Late(Run):\n  pass\n"
  )
  messages = [f.message for f in run(HOOK + other, hooks="all").findings if f.code == "EM302"]
  assert any("`Late`" in m and "derives from Run, which stays" in m for m in messages)


def test_what_a_loop_reads_is_fetched_once():
  source = """
import tensorflow as tf


class Log(tf.compat.v1.train.SessionRunHook):
  def __init__(self, names):
    self._names = names

  def before_run(self, run_context):
    return tf.compat.v1.train.SessionRunArgs(self._names)

  def after_run(self, run_context, run_values):
    for i in range(len(self._names)):
      print(self._names[i], run_values.results[i])
"""
  text = run(source, hooks="all").text
  assert "    results = runtime.fetch(self._names, self.model, logs)\n    for i in" in text
  assert "print(self._names[i], results[i])" in text


def test_runtime_that_a_callback_does_not_read_is_not_imported():
  source = """
import tensorflow as tf


class Loss(tf.compat.v1.train.SessionRunHook):
  def before_run(self, run_context):
    return tf.compat.v1.train.SessionRunArgs("total_loss:0")

  def after_run(self, run_context, run_values):
    print(run_values.results)
"""
  result = run(source, hooks="all")
  assert 'print(logs["total_loss"])' in result.text
  assert "runtime" not in result.text


def test_timer_of_a_private_module_is_spelled_for_tf2():
  source = """
from tensorflow.python.training import basic_session_run_hooks
import tensorflow as tf


class Every(tf.compat.v1.train.SessionRunHook):
  def __init__(self):
    self.timer = basic_session_run_hooks.SecondOrStepTimer(every_steps=3)
"""
  result = run(source, hooks="all")
  assert "self.timer = tf.compat.v1.train.SecondOrStepTimer(every_steps=3)" in result.text
