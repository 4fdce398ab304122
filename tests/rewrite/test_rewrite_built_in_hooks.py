"""TensorFlow's own hooks become the runtime's callbacks, or say what has no counterpart."""

import pytest
from helpers import HEAD, NEW, left_whole, transformed

LOSS = "dnn/head/weighted_loss/Sum"


def program(hooks, before="", new=NEW):
  return HEAD + new + before + f"e.train(input_fn, hooks={hooks}, max_steps=10)\n"


@pytest.mark.parametrize("target", ["fit", "loop"])
@pytest.mark.parametrize(
  ("hook", "callback"),
  [
    ("StopAtStepHook(last_step=5)", "StopAtStep(last_step=5)"),
    ("StopAtStepHook(5)", "StopAtStep(5)"),
    ("StepCounterHook(every_n_steps=10, output_dir='d')", "StepCounter(every_n_steps=10, output_dir='d')"),
    ("ProfilerHook(save_steps=50, output_dir='d')", "Profiler(save_steps=50, output_dir='d')"),
    (f"LoggingTensorHook({{'l': '{LOSS}'}}, every_n_iter=5)", "LoggingTensor({'l': \"loss\"}, every_n_iter=5)"),
    (f"NanTensorHook('{LOSS}:0', fail_on_nan_loss=False)", 'NanTensor("loss", fail_on_nan_loss=False)'),
    ("FinalOpsHook('global_step:0')", "FinalOps('global_step:0')"),
  ],
)  # fmt: skip
def test_hook_becomes_the_callback_of_its_name(hook, callback, target):
  text = transformed(program(f"[tf1.train.{hook}]"), target=target)
  assert f"runtime.{callback}" in text
  assert "Hook" not in text


@pytest.mark.parametrize(
  ("head", "spelling"),
  [
    ("", "tf.train.StopAtStepHook"),
    ("", "tf.estimator.StopAtStepHook"),
    ("", "tf.compat.v1.train.StopAtStepHook"),
    (
      "from tensorflow.python.training import basic_session_run_hooks\n",
      "basic_session_run_hooks.StopAtStepHook",
    ),
    ("from tensorflow.compat.v1.train import StopAtStepHook as Stop\n", "Stop"),
  ],
)
def test_every_spelling_of_a_hook(head, spelling):
  text = transformed(head + program(f"[{spelling}(last_step=5)]"))
  assert "callbacks=[backup, runtime.StopAtStep(last_step=5)]" in text


@pytest.mark.parametrize(
  ("hook", "code"),
  [
    ("FeedFnHook(feed)", "EM303"),
    ("GlobalStepWaiterHook(5)", "EM303"),
    ("SummarySaverHook(save_steps=5, summary_op=op)", "EM303"),
    ("StepCounterHook(summary_writer=writer)", "EM321"),
    ("FinalOpsHook('global_step:0', {x: 1})", "EM321"),
    ("StopAtStepHook(*arguments)", "EM321"),
    ("LoggingTensorHook(['dnn/logits/BiasAdd:0'], every_n_iter=5)", "EM320"),
  ],
)
def test_hook_without_counterpart_leaves_the_unit(hook, code):
  left_whole(program(f"[tf1.train.{hook}]"), code)
