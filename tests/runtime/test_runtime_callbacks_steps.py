"""The callbacks in place of hooks that log, count, stop, check and read: against the hooks themselves.

Each row of the table below is a hook, its callback and a training.
"""

import numpy as np
import pytest
import tensorflow as tf
from callback_hosts import HOSTS
from hook_sessions import Clock, Lines, numbers, with_hooks

from migrator import runtime
from migrator.runtime import summaries

v1 = tf.compat.v1.train
TENSORS = {"loss": "loss:0", "step": "step_now:0", "counter": "counter_now:0"}
RESUMED = {"first": 4}
SHORT = {"losses": (0.25, 0.75, 0.1)}
STOPPED = {"stop_at": 5}
EMPTY = {"losses": ()}


def leaves(counter):
  """The tensors of a callback that correspond to TENSORS."""
  return {"loss": "loss", "step": "global_step", "counter": counter}


def logging_tensor(**arguments):
  """A logging hook and its callback, of all tensors."""
  return (
    lambda: v1.LoggingTensorHook(TENSORS, **arguments),
    lambda counter: runtime.LoggingTensor(leaves(counter), **arguments),
  )


def at_end(**arguments):
  """The same of what is no result of a step: the real hook would compute one more at the end."""
  return (
    lambda: v1.LoggingTensorHook({k: TENSORS[k] for k in ("step", "counter")}, **arguments),
    lambda counter: runtime.LoggingTensor(
      {k: v for k, v in leaves(counter).items() if k != "loss"}, **arguments
    ),
  )


def same_name(name, *arguments, **keywords):
  """A hook and the callback of its name, with the same arguments."""
  return (
    lambda: getattr(v1, f"{name}Hook")(*arguments, **keywords),
    lambda counter: getattr(runtime, name)(*arguments, **keywords),
  )


def lines_of(values):
  return f"{sorted(values)} {values['loss']:.3f} {type(values['loss']).__name__} {values['step']:d}"


TABLE = {
  "LoggingTensor every step": (logging_tensor(every_n_iter=1), {}),
  "LoggingTensor every 3 steps": (logging_tensor(every_n_iter=3), {}),
  "LoggingTensor every 3 steps, resumed at 4": (logging_tensor(every_n_iter=3), RESUMED),
  "LoggingTensor every 3 steps, input ends": (logging_tensor(every_n_iter=3), SHORT),
  "LoggingTensor every 3 steps, no input": (logging_tensor(every_n_iter=3), EMPTY),
  "LoggingTensor every 3 steps, another stops": (logging_tensor(every_n_iter=3), STOPPED),
  "LoggingTensor every 4 seconds": (logging_tensor(every_n_secs=4), {}),
  "LoggingTensor every 1.5 seconds": (logging_tensor(every_n_secs=1.5), RESUMED),
  "LoggingTensor at the end": (at_end(at_end=True), {}),
  "LoggingTensor at the end, another stops": (at_end(at_end=True), STOPPED),
  "LoggingTensor every 3 steps and at the end": (at_end(every_n_iter=3, at_end=True), RESUMED),
  "LoggingTensor every 4 seconds and at the end": (at_end(every_n_secs=4, at_end=True), SHORT),
  "LoggingTensor with a formatter": (logging_tensor(every_n_iter=2, formatter=lines_of), {}),
  "LoggingTensor of a list of names": (
    (
      lambda: v1.LoggingTensorHook(["loss:0", "loss"], every_n_iter=2),
      lambda _: runtime.LoggingTensor(["loss:0", "loss"], every_n_iter=2),
    ),
    {},
  ),
  "StopAtStep after 3": (same_name("StopAtStep", num_steps=3), {}),
  "StopAtStep after 1": (same_name("StopAtStep", num_steps=1), RESUMED),
  "StopAtStep after 0": (same_name("StopAtStep", num_steps=0), {}),
  "StopAtStep after 3, resumed at 4": (same_name("StopAtStep", num_steps=3), RESUMED),
  "StopAtStep at 6, resumed at 4": (same_name("StopAtStep", last_step=6), RESUMED),
  "StopAtStep at 2, resumed at 4": (same_name("StopAtStep", last_step=2), RESUMED),
  "StopAtStep at 6, input ends": (same_name("StopAtStep", last_step=6), SHORT),
  "StopAtStep at 6, another stops": (same_name("StopAtStep", last_step=6), STOPPED),
  "StepCounter every step": (same_name("StepCounter", every_n_steps=1), {}),
  "StepCounter every 3 steps": (same_name("StepCounter", 3), {}),
  "StepCounter every 3 steps, resumed at 4": (same_name("StepCounter", 3), RESUMED),
  "StepCounter every 4 seconds": (same_name("StepCounter", None, 4), {}),
  "StepCounter every 3 steps, input ends": (same_name("StepCounter", 3), SHORT),
  "StepCounter every 3 steps, another stops": (same_name("StepCounter", 3), STOPPED),
  "NanTensor of numbers": (
    (lambda: v1.NanTensorHook("loss:0"), lambda _: runtime.NanTensor("loss")),
    {},
  ),
  "NanTensor raises": (
    (lambda: v1.NanTensorHook("loss:0"), lambda _: runtime.NanTensor()),
    {"losses": (0.5, 0.1, float("nan"), 0.2)},
  ),
  "NanTensor raises at the first step after a resume": (
    (lambda: v1.NanTensorHook("loss:0"), lambda _: runtime.NanTensor("loss:0")),
    {"losses": (float("nan"), 0.2), **RESUMED},
  ),
}


@pytest.fixture(autouse=True)
def _clean_process():
  """Closes the event files; what Keras would forget besides takes longer than most tests here."""
  yield
  tf.compat.v1.summary.FileWriterCache.clear()


@pytest.fixture
def clock(monkeypatch):
  """A clock that the trainings move."""
  return Clock(monkeypatch)


# A loop costs next to nothing, `fit` a second: these have what differs there.
IN_FIT = (
  "LoggingTensor every 3 steps, resumed at 4",
  "LoggingTensor every 3 steps, no input",
  "LoggingTensor every 4 seconds and at the end",
  "StopAtStep after 3, resumed at 4",
  "StopAtStep at 6, another stops",
  "StepCounter every 3 steps",
  "StepCounter every 3 steps, input ends",
  "NanTensor raises",
)
TRAININGS = [("loop", row) for row in TABLE] + [("fit", row) for row in IN_FIT]


_expected = {}


def expected_of(clock, row):
  """What the hook of a row of the table did; run once."""
  if row not in _expected:
    (make_hook, _), training = TABLE[row]
    _expected[row] = with_hooks(clock, [make_hook()], **training)
    clock.reset()
  return _expected[row]


@pytest.mark.parametrize(("host", "row"), TRAININGS)
def test_callback_does_what_the_hook_did(clock, tmp_path, row, host):
  (_, make_callback), training = TABLE[row]
  expected = expected_of(clock, row)
  trained = HOSTS[host](clock, tmp_path)
  assert trained.train([make_callback(trained.counter)], **training) == expected


def test_table_has_rows_of_every_kind(clock):
  seen = [expected_of(clock, row) for row in TABLE]
  assert {s.error for s in seen} == {None, "NanLossDuringTrainingError"}
  assert {s.step for s in seen} >= {1, 3, 5, 6, 7, 12, 16}
  assert sum(len(s.log) for s in seen) > 60


TWICE = {
  "LoggingTensor": logging_tensor(every_n_iter=4),
  "LoggingTensor by seconds": logging_tensor(every_n_secs=10),
  "StopAtStep after 3": same_name("StopAtStep", num_steps=3),
  "StepCounter": same_name("StepCounter", 5),
  "StepCounter by seconds": same_name("StepCounter", None, 5),
}


@pytest.mark.parametrize(
  ("host", "row"), [("fit", "LoggingTensor"), *(("loop", row) for row in TWICE)]
)
def test_what_a_second_training_keeps_of_the_first_is_what_the_hook_kept(
  clock, tmp_path, row, host
):
  make_hook, make_callback = TWICE[row]
  hook = make_hook()
  expected = [with_hooks(clock, [hook], losses=(0.5, 0.25, 0.1, 0.3, 0.4, 0.6))]
  expected.append(with_hooks(clock, [hook], first=expected[0].step))
  clock.reset()
  trained = HOSTS[host](clock, tmp_path)
  callback = make_callback(trained.counter)
  seen = [trained.train([callback], losses=(0.5, 0.25, 0.1, 0.3, 0.4, 0.6))]
  seen.append(trained.train([callback], first=seen[0].step))
  assert seen == expected


@pytest.mark.parametrize("host", HOSTS)
def test_step_counter_writes_the_events_of_the_hook(clock, tmp_path, host):
  with_hooks(clock, [v1.StepCounterHook(3, output_dir=str(tmp_path / "old"))], first=4)
  clock.reset()
  trained = HOSTS[host](clock, tmp_path / "model")
  trained.train([runtime.StepCounter(3, output_dir=str(tmp_path / "new"))], first=4)
  expected = numbers(tmp_path / "old")
  assert [step for step, _, _ in expected] == [8, 11, 14]
  assert numbers(tmp_path / "new") == expected


def test_step_counter_writes_to_a_writer_of_tf2(clock, tmp_path):
  writer = tf.summary.create_file_writer(str(tmp_path))
  loop = HOSTS["loop"](clock, tmp_path)
  assert loop.train([runtime.StepCounter(5, summary_writer=writer)]).error is None
  (path,) = tmp_path.glob("events.*")
  events = list(tf.compat.v1.train.summary_iterator(str(path)))
  rates = [
    (e.step, v.tag, float(tf.make_ndarray(v.tensor))) for e in events for v in e.summary.value
  ]
  assert rates == [
    (6, "global_step/sec", pytest.approx(2 / 3)),
    (11, "global_step/sec", pytest.approx(2 / 3)),
  ]


def test_step_counter_warns_when_the_step_does_not_move(clock, tmp_path):
  loop = HOSTS["loop"](clock, tmp_path)
  counter = runtime.StepCounter(100)
  loop.train([counter], losses=(0.5,))
  counter.set_model(loop._host)
  with Lines() as log:
    counter.on_test_begin()
    for batch in range(3):
      counter.on_test_batch_begin(batch)
      counter.on_test_batch_end(batch, {})
  assert [line[:60] for line in log.lines] == [
    "WARNING It seems that the global step has not been increased. Cu"[:60]
  ] * 2


@pytest.mark.parametrize("host", HOSTS)
def test_nan_stops_without_an_error_where_asked_to(clock, tmp_path, host):
  losses = (0.5, float("nan"), 0.25)
  hooks = [v1.NanTensorHook("loss:0", fail_on_nan_loss=False)]
  if host == "fit":
    # The Estimator's own hook comes after those of the user, and raises all the same.
    hooks.append(v1.NanTensorHook("loss:0"))
  expected = with_hooks(clock, hooks, losses=losses)
  clock.reset()
  trained = HOSTS[host](clock, tmp_path)
  seen = trained.train([runtime.NanTensor(fail_on_nan_loss=False)], losses=losses)
  assert seen == expected
  assert seen.log[0] == "WARNING Model diverged with loss = NaN."
  assert seen.step == 2


@pytest.mark.parametrize(
  ("host", "training"),
  [("loop", {}), ("loop", RESUMED), ("loop", SHORT), ("loop", STOPPED), ("fit", STOPPED)],
)
def test_final_ops_are_those_of_the_hook(clock, tmp_path, host, training):
  hook = v1.FinalOpsHook({"step": "step_now:0", "both": ["counter_now:0", "step_now:0"]})
  with_hooks(clock, [hook], **training)
  trained = HOSTS[host](clock, tmp_path)
  counter = trained.counter
  callback = runtime.FinalOps({"step": "global_step", "both": [counter, "global_step"]})
  assert callback.final_ops_values is None
  trained.train([callback], **training)
  assert callback.final_ops_values == hook.final_ops_values
  assert type(callback.final_ops_values["step"]) is type(hook.final_ops_values["step"])


@pytest.mark.parametrize("host", HOSTS)
def test_results_at_the_end_are_those_of_the_last_step(clock, tmp_path, host):
  trained = HOSTS[host](clock, tmp_path)
  final = runtime.FinalOps("loss")
  seen = trained.train(
    [runtime.LoggingTensor(["loss"], at_end=True), final], losses=(0.5, 0.1), first=3
  )
  assert seen.log == ["INFO loss = 0.1"]
  assert final.final_ops_values == np.float32(0.1)


def test_final_ops_are_not_read_after_an_error(clock, tmp_path):
  losses = (0.5, float("nan"))
  hook = v1.FinalOpsHook("step_now:0")
  with_hooks(clock, [v1.NanTensorHook("loss:0"), hook], losses=losses)
  callback = runtime.FinalOps("global_step")
  HOSTS["fit"](clock, tmp_path).train([runtime.NanTensor(), callback], losses=losses)
  assert callback.final_ops_values is hook.final_ops_values is None


def test_values_from_after_the_step_are_those_of_tf_1(clock, tmp_path):
  loop = HOSTS["loop"](clock, tmp_path)
  callback = runtime.LoggingTensor(leaves(loop.counter), every_n_iter=2, before_step=False)
  seen = loop.train([callback], losses=(0.5, 0.25, 0.125))
  assert seen.log == [
    "INFO counter = 101.0, loss = 0.5, step = 1",
    "INFO counter = 103.0, loss = 0.125, step = 3 (3.000 sec)",
  ]


class Kept(runtime.LoggingTensor):
  """Keeps the values in place of logging them."""

  def _log_tensors(self, tensor_values):
    self.kept = [*getattr(self, "kept", []), tensor_values]
    self._timer.update_last_triggered_step(self._iter_count)


class KeptHook(v1.LoggingTensorHook):
  """The same as a hook."""

  _log_tensors = Kept._log_tensors


class Rate(runtime.StepCounter):
  """Keeps the steps and seconds in place of logging the rate."""

  def _log_and_record(self, elapsed_steps, elapsed_time, global_step):
    self.kept = [*getattr(self, "kept", []), (elapsed_steps, elapsed_time, global_step)]


class RateHook(v1.StepCounterHook):
  """The same as a hook."""

  _log_and_record = Rate._log_and_record


@pytest.mark.parametrize("host", HOSTS)
def test_subclasses_get_the_values_that_those_of_the_hooks_got(clock, tmp_path, host):
  hooks = [KeptHook(TENSORS, every_n_iter=3), RateHook(4)]
  with_hooks(clock, hooks, first=4)
  clock.reset()
  trained = HOSTS[host](clock, tmp_path)
  callbacks = [Kept(leaves(trained.counter), every_n_iter=3), Rate(4)]
  trained.train(callbacks, first=4)
  assert [c.kept for c in callbacks] == [h.kept for h in hooks]
  assert len(hooks[0].kept) == 4 and len(hooks[1].kept) == 2


BAD_ARGUMENTS = [
  ("StopAtStep", (), {}),
  ("StopAtStep", (1, 2), {}),
  ("LoggingTensor", (["loss"],), {}),
  ("LoggingTensor", (["loss"], 1, 2), {}),
  ("LoggingTensor", (["loss"], 0), {}),
  ("LoggingTensor", (["loss"], -3), {"at_end": True}),
  ("LoggingTensor", (["loss"], 1, 2), {"at_end": True}),
  ("StepCounter", (), {"every_n_secs": 1}),
  ("StepCounter", (None,), {}),
  ("Profiler", (), {}),
  ("Profiler", (1, 2), {}),
]


def test_bad_arguments_have_the_messages_of_the_hooks(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  for name, arguments, keywords in BAD_ARGUMENTS:
    with tf.Graph().as_default(), pytest.raises(ValueError) as expected:
      getattr(v1, f"{name}Hook")(*arguments, **keywords)
    with pytest.raises(ValueError) as raised:
      getattr(runtime, name)(*arguments, **keywords)
    assert str(raised.value) == str(expected.value), (name, arguments, keywords)


def test_nothing_can_be_fed_to_final_ops():
  with pytest.raises(ValueError, match="no placeholders"):
    runtime.FinalOps("loss", {"x": 1})


@pytest.mark.parametrize(
  ("begin", "flag"), [("test", "stop_evaluating"), ("predict", "stop_predicting")]
)
def test_in_evaluation_and_prediction_a_request_stops_these(begin, flag, clock, tmp_path):
  loop = HOSTS["loop"](clock, tmp_path)
  host = loop._host
  host.stop_training = host.stop_evaluating = host.stop_predicting = False
  callback = runtime.NanTensor(fail_on_nan_loss=False)
  callbacks = tf.keras.callbacks.CallbackList([callback], model=host)
  getattr(callbacks, f"on_{begin}_begin")()
  getattr(callbacks, f"on_{begin}_batch_begin")(0)
  getattr(callbacks, f"on_{begin}_batch_end")(0, {"loss": np.nan})
  getattr(callbacks, f"on_{begin}_end")()
  assert getattr(host, flag) and not host.stop_training
  callbacks.on_train_batch_end(0, {"loss": np.nan})
  assert host.stop_training


def test_the_summaries_log_the_loss_as_the_estimators_own_hook_did(clock, tmp_path):
  tensors = {"loss": TENSORS["loss"], "step": TENSORS["step"]}
  expected = with_hooks(clock, [v1.LoggingTensorHook(tensors, every_n_iter=3)], **RESUMED)
  clock.reset()
  loop = HOSTS["loop"](clock, tmp_path)
  saver = runtime.SummarySaver(
    str(tmp_path), loop._step, save_summary_steps=0, log_step_count_steps=3
  )
  lines = loop.train([saver], **RESUMED).log
  assert [line for line in lines if "loss = " in line] == expected.log


def test_results_are_logged_with_the_digits_of_their_type(tmp_path):
  results = {"loss": np.float32(0.1), "accuracy": np.float32(2 / 3), "global_step": np.int64(7)}
  with Lines() as log:
    summaries.write_results(str(tmp_path), results, 7, None)
  assert log.lines == [
    "INFO Saving dict for global step 7: accuracy = 0.6666667, global_step = 7, loss = 0.1"
  ]
