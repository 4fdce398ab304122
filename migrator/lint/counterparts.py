"""What does the work of TF1's built-in hooks in Keras or a TF2 loop: words for a message."""

from __future__ import annotations

_EARLY_STOPPING = "`tf.keras.callbacks.EarlyStopping` counts epochs, not steps"
_GENERAL = "a callback, or the loop, has to do its work"
_COUNTERPARTS = {
  "CheckpointSaverHook": (
    "`runtime.BackupAndRestore` saves in `fit`, `runtime.CheckpointManager` in a loop"
  ),
  "FeedFnHook": "nothing is fed in TF2, so what it feeds becomes a part of the dataset",
  "FinalOpsHook": "`on_train_end` of a callback, or what follows the loop, does it at the end",
  "GlobalStepWaiterHook": "it has no counterpart, as workers of one strategy begin together",
  "InMemoryEvaluatorHook": "a callback, or the loop, calls `model.evaluate` every N steps",
  "LoggingTensorHook": "`on_train_batch_end` of a callback, or the loop, logs every N steps",
  "NanTensorHook": (
    "`tf.keras.callbacks.TerminateOnNaN` ends `fit` without an error, and a callback of your own "
    "can raise one"
  ),
  "ProfilerHook": (
    "`tf.keras.callbacks.TensorBoard(profile_batch=(first, last))` profiles, and "
    "`tf.profiler.experimental` does in a loop"
  ),
  "StepCounterHook": "`tf.keras.callbacks.TensorBoard(write_steps_per_second=True)` does it",
  "StopAtStepHook": (
    "`remaining_steps(max_steps=...)` of `runtime.BackupAndRestore` says how many steps `fit` has "
    "to go, and a loop asks before each step"
  ),
  "SummarySaverHook": (
    "`tf.keras.callbacks.TensorBoard(update_freq=N)` writes every N steps, and `tf.summary` does "
    "in a loop"
  ),
  "make_early_stopping_hook": _EARLY_STOPPING,
  "make_stop_at_checkpoint_step_hook": "a loop, or the number of epochs of `fit`, ends there",
  "stop_if_higher_hook": _EARLY_STOPPING,
  "stop_if_lower_hook": _EARLY_STOPPING,
  "stop_if_no_decrease_hook": _EARLY_STOPPING,
  "stop_if_no_increase_hook": _EARLY_STOPPING,
}


def sentence(path: str) -> str:
  """A main clause about the counterpart of a hook, given its canonical name or that of a part.

  Returns:
    The clause, without a full stop; of a hook that is not built in a general one.
  """
  known = (_COUNTERPARTS[part] for part in path.split(".") if part in _COUNTERPARTS)
  return next(known, _GENERAL)
