"""What does the work of TF1's built-in hooks in Keras or a TF2 loop: words for a message."""

from __future__ import annotations

_EPOCHS = "`tf.keras.callbacks.EarlyStopping` counts epochs, not steps"
_GENERAL = "a callback, or the loop, has to do its work"
_COUNTERPARTS = {
  "CheckpointSaverHook": (
    "`runtime.BackupAndRestore` saves in `fit`, `runtime.CheckpointManager` in a loop, and "
    "`runtime.CheckpointSaver` at its place among the callbacks"
  ),
  **dict.fromkeys(
    ("DumpingDebugHook", "GrpcDebugHook", "LocalCLIDebugHook", "TensorBoardDebugHook"),
    "`tf.debugging.experimental.enable_dump_debug_info` records what an eager program computes",
  ),
  "FeedFnHook": "nothing is fed in TF2, so what it feeds becomes a part of the dataset",
  "FinalOpsHook": "`runtime.FinalOps` reads the loss, the step or variables at the end",
  "GlobalStepWaiterHook": "it has no counterpart, as workers of one strategy begin together",
  "InMemoryEvaluatorHook": "`runtime.InMemoryEvaluator` evaluates within the training",
  "LoggingTensorHook": "`runtime.LoggingTensor` logs values of a step every N steps or seconds",
  "NanTensorHook": (
    "`runtime.NanTensor` raises the same error, and `tf.keras.callbacks.TerminateOnNaN` ends `fit` "
    "without one"
  ),
  "ProfilerHook": (
    "`runtime.Profiler` profiles a step at a time, and "
    "`tf.keras.callbacks.TensorBoard(profile_batch=(first, last))` a range of them"
  ),
  "StepCounterHook": "`runtime.StepCounter` logs and writes the steps per second",
  "StopAtStepHook": (
    "`runtime.StopAtStep` ends the training as it did, and `remaining_steps(max_steps=...)` of "
    "`runtime.BackupAndRestore` says how many steps `fit` has to go"
  ),
  "SummarySaverHook": (
    "`tf.keras.callbacks.TensorBoard(update_freq=N)` writes every N steps, and `tf.summary` does "
    "in a loop"
  ),
  "make_early_stopping_hook": f"`runtime.make_early_stopping` asks the same function; {_EPOCHS}",
  "make_stop_at_checkpoint_step_hook": "`runtime.StopAtStep(last_step=...)` is what a chief got of it",
  **{
    f"{name}_hook": f"`runtime.{name}` reads the same evaluations; {_EPOCHS}"
    for name in ("stop_if_higher", "stop_if_lower", "stop_if_no_decrease", "stop_if_no_increase")
  },
}


def sentence(path: str) -> str:
  """A main clause about the counterpart of a hook, given its canonical name or that of a part.

  Returns:
    The clause, without a full stop; of a hook that is not built in a general one.
  """
  known = (_COUNTERPARTS[part] for part in path.split(".") if part in _COUNTERPARTS)
  return next(known, _GENERAL)
