"""TensorFlow's own hooks become the runtime's callbacks, or say what has no counterpart."""

import pytest
from helpers import HEAD, NEW, codes, left_whole, run, transformed

from migrator.rewrite import emit

LOSS = "dnn/head/weighted_loss/Sum"


def callbacks(text):
  """The list of callbacks, and what follows it, on one line."""
  return emit.joined(text.partition("callbacks=")[2])


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


LOSS_V2 = "head/losses/weighted_loss/value"
V2 = 'e = tf.estimator.DNNClassifier([4, 3], columns, "model", n_classes=3)\n'


@pytest.mark.parametrize(
  ("tensors", "callback"),
  [
    (f"{{'l': '{LOSS}'}}", "{'l': \"loss\"}"),
    (f"{{'l': '{LOSS}:0', 's': 'global_step'}}", "{'l': \"loss\", 's': 'global_step'}"),
    (f"['{LOSS}']", f'{{"{LOSS}": "loss"}}'),
    (f"('{LOSS}:0', 'global_step:0')", f'{{"{LOSS}:0": "loss", "global_step:0": "global_step"}}'),
    ("['loss']", "['loss']"),
    ("['global_step/read']", '{"global_step/read": "global_step"}'),
    ("{'s': tf1.train.get_global_step()}", "{'s': \"global_step\"}"),
  ],
)
def test_names_of_tensors_become_keys_and_keep_their_tags(tensors, callback):
  hook = f"[tf1.train.LoggingTensorHook({tensors}, every_n_iter=5)]"
  text = callbacks(transformed(program(hook), source_version=1))
  after = ", before_step=False" if "step" in tensors else ""
  assert f"runtime.LoggingTensor({callback}, every_n_iter=5{after})" in text


def test_names_of_the_second_flavour():
  hook = f"[tf.compat.v1.train.NanTensorHook('{LOSS_V2}:0')]"
  assert 'runtime.NanTensor("loss")' in transformed(program(hook, new=V2))
  message = left_whole(program(hook.replace(LOSS_V2, LOSS), new=V2), "EM320")
  assert LOSS_V2 in message


@pytest.mark.parametrize("use", ["evaluate", "predict"])
def test_prediction_has_no_loss(use):
  hook = f"[tf1.train.LoggingTensorHook(['{LOSS}'], every_n_iter=5)]"
  source = program("[]") + f"e.{use}(input_fn, hooks={hook})\n"
  if use == "predict":
    left_whole(source, "EM320")
  else:
    assert f'runtime.LoggingTensor({{"{LOSS}": "loss"}}, every_n_iter=5)' in transformed(source)


def test_tensors_in_a_variable_are_edited_where_they_stand():
  before = f"tensors = {{'l': '{LOSS}'}}\n"
  hook = "[tf1.train.LoggingTensorHook(tensors, every_n_iter=5)]"
  text = transformed(program(hook, before))
  assert "tensors = {'l': \"loss\"}\n" in text
  assert "runtime.LoggingTensor(tensors, every_n_iter=5)" in text
  left_whole(program(hook, before + "print(tensors)\n"), "EM320")


@pytest.mark.parametrize(
  "hook",
  [
    "LoggingTensorHook('loss', every_n_iter=5)",
    "LoggingTensorHook(names, every_n_iter=5)",
    "LoggingTensorHook({**names}, every_n_iter=5)",
    "LoggingTensorHook(['global_step/read', 'global_step/Read/ReadVariableOp'], every_n_iter=5)",
    f"NanTensorHook('{LOSS}')",
    "NanTensorHook('loss:0')",
    "NanTensorHook(loss)",
    "FinalOpsHook('global_step')",
    "FinalOpsHook('dnn/logits/bias:0')",
  ],
)
def test_tensor_that_is_none_of_a_step_is_refused(hook):
  left_whole(program(f"[tf1.train.{hook}]"), "EM320")


@pytest.mark.parametrize(
  ("hook", "version", "what"),
  [
    ("LoggingTensorHook(['loss'], every_n_iter=5)", 2, "summary"),
    ("LoggingTensorHook(['global_step'], every_n_iter=5)", 2, "handle"),
    (f"LoggingTensorHook(['{LOSS}'], at_end=True)", 2, "further batch"),
    (f"FinalOpsHook(['{LOSS}:0'])", 2, "further batch"),
    (f"LoggingTensorHook(['global_step', '{LOSS}'], every_n_iter=5)", 1, "order"),
  ],
)
def test_what_a_callback_does_differently_is_said(hook, version, what):
  result = run(program(f"[tf1.train.{hook}]"), source_version=version)
  assert any(f.code == "EM323" and what in f.message for f in result.findings)


@pytest.mark.parametrize(
  "hook",
  [
    "LoggingTensorHook(['global_step'], every_n_iter=5)",
    f"LoggingTensorHook(['{LOSS}'], every_n_iter=5, at_end=False)",
    "FinalOpsHook(['global_step:0'])",
    f"NanTensorHook('{LOSS}:0')",
    "StopAtStepHook(5)",
  ],
)
def test_nothing_is_said_of_a_callback_that_does_the_same(hook):
  result = run(program(f"[tf1.train.{hook}]"), source_version=1)
  assert "EM323" not in codes(result)


STOP = 'tf.estimator.experimental.stop_if_no_decrease_hook(e, "loss", 1300, min_steps=500)'


@pytest.mark.parametrize(
  ("target", "directory"), [("fit", "backup.model_dir"), ("loop", "model_dir")]
)
@pytest.mark.parametrize("before", ["", "hooks = [{hook}]\n"])
def test_early_stopping_counts_steps_in_the_model_directory(before, target, directory):
  source = program("hooks" if before else f"[{STOP}]", before.format(hook=STOP))
  text = transformed(source, target=target)
  assert f'runtime.stop_if_no_decrease({directory}, "loss", 1300, min_steps=500)' in text
  assert "patience" not in text


@pytest.mark.parametrize(
  ("hook", "callback"),
  [
    (
      'stop_if_higher_hook(estimator=e, metric_name="accuracy", threshold=0.9)',
      'stop_if_higher(model_dir=backup.model_dir, metric_name="accuracy", threshold=0.9)',
    ),
    (
      'stop_if_lower_hook(e, "loss", 0.1, eval_dir=e.eval_dir("test"), run_every_steps=10)',
      'stop_if_lower(backup.model_dir, "loss", 0.1, '
      'eval_dir=os.path.join(backup.model_dir, "eval_test"), run_every_steps=10)',
    ),
    ('stop_if_no_increase_hook(e, "auc", 10)', 'stop_if_no_increase(backup.model_dir, "auc", 10)'),
    (
      "make_early_stopping_hook(e, is_late, run_every_secs=5)",
      "make_early_stopping(backup.model_dir, is_late, run_every_secs=5)",
    ),
    ("make_stop_at_checkpoint_step_hook(e, 100)", "StopAtStep(last_step=100)"),
  ],
)
@pytest.mark.parametrize("module", ["tf.estimator.experimental", "tf.contrib.estimator"])
def test_hooks_that_take_the_estimator_take_its_directory(hook, callback, module):
  assert f"runtime.{callback}" in callbacks(transformed(program(f"[{module}.{hook}]")))


EVALUATOR = "tf.estimator.experimental.InMemoryEvaluatorHook"


@pytest.mark.parametrize(
  ("arguments", "callback"),
  [
    ("e, input_fn, steps=5", "backup, input_fn, steps=5"),
    (
      "estimator=e, input_fn=lambda: input_fn().take(3)",
      "backup_or_evaluate=backup, input_fn=lambda: input_fn().take(3)",
    ),
    (
      "e, input_fn, hooks=[tf1.train.StepCounterHook(1)], name='test'",
      "backup, input_fn, callbacks=[runtime.StepCounter(1)], name='test'",
    ),
    (
      "e, tf1.estimator.inputs.numpy_input_fn({'x': x}, y, shuffle=False), every_n_iter=9",
      "backup, numpy_input_fn, every_n_iter=9",
    ),
  ],
)
def test_evaluator_in_memory(arguments, callback):
  before = "import numpy as np\n\nx = np.zeros([3, 4])\ny = np.zeros([3])\n"
  text = callbacks(transformed(program(f"[{EVALUATOR}({arguments})]", before)))
  assert f"runtime.InMemoryEvaluator({callback})" in text


def test_evaluator_in_memory_of_a_loop_evaluates_the_weights_of_the_moment():
  text = transformed(program(f"[{EVALUATOR}(e, input_fn)]"), target="loop")
  _, _, text = text.rpartition("callbacks=")
  evaluate = (
    "functools.partial(runtime.evaluate, e, loss_fn, global_step=step, model_dir=model_dir)"
  )
  assert f"runtime.InMemoryEvaluator({evaluate}, input_fn)" in emit.joined(text)


@pytest.mark.parametrize(
  ("call", "code"),
  [
    (f"e.train(input_fn, hooks=[{STOP.replace('(e,', '(g,')}])", "EM325"),
    (f"e.train(input_fn)\nhook = {STOP}", "EM212"),
    (f"e.train(input_fn)\ng.train(input_fn, hooks=[{STOP}])", "EM212"),
    (f"e.train(input_fn)\ne.evaluate(input_fn, hooks=[{STOP}])", "EM322"),
    (f"e.train(input_fn, hooks=[{EVALUATOR}(e, make_input)])", "EM205"),
    (f"e.train(input_fn, hooks=[{EVALUATOR}(e, input_fn, hooks=more)])", "EM304"),
  ],
)
def test_estimator_of_another_hook_is_refused(call, code):
  source = HEAD + "g = tf1.estimator.Estimator(model_fn)\n" + NEW + call + "\n"
  left_whole(source, code)


def test_constant_with_the_name_of_the_loss_may_have_other_readers():
  name = f'LOSS = "{LOSS}:0"\nprint(LOSS)\n'
  text = transformed(
    HEAD + name + NEW + "e.train(input_fn, hooks=[tf1.train.NanTensorHook(LOSS)], max_steps=9)\n"
  )
  assert 'runtime.NanTensor("loss")' in text
  assert "print(LOSS)" in text


def test_profile_of_another_format_is_reported():
  result = run(program("[tf1.train.ProfilerHook(save_steps=50)]"))
  said = [f.message for f in result.findings if f.code == "EM323"]
  assert len(said) == 1 and "`timeline-<step>.json`" in said[0]


def test_hooks_of_the_debugger_are_told_what_takes_their_place():
  head = "from tensorflow.python import debug as tf_debug\n"
  source = head + program("[tf_debug.LocalCLIDebugHook()]")
  assert "enable_dump_debug_info" in left_whole(source, "EM303")
