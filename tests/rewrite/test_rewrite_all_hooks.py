"""`--hooks all`: hook classes of files in which no training is rewritten."""

import textwrap

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
