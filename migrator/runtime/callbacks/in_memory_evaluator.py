"""Evaluates the weights in training, without a checkpoint."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Callable, Optional

import tensorflow as tf

from migrator.runtime import evaluation
from migrator.runtime.backup import BackupAndRestore


class InMemoryEvaluator(tf.keras.callbacks.Callback):
  """Evaluates before the first step, every N steps of a training and at its end.

  For `tf.estimator.experimental.InMemoryEvaluatorHook`. The weights are those of the moment, and the results
  go to `<model_dir>/eval` or `<model_dir>/eval_<name>`. `input_fn` is called once per training;
  its dataset begins anew with each evaluation, as the hook's did. (The queue of a `numpy_input_fn` did not:
  there the hook found no input any more after the first evaluation, and wrote zeros.)
  """

  def __init__(
    self,
    backup_or_evaluate: Any,
    input_fn: Callable[[], tf.data.Dataset],
    steps: Optional[int] = None,
    callbacks: Optional[Sequence[Any]] = None,
    name: Optional[str] = None,
    every_n_iter: int = 100,
  ):
    """Makes the callback.

    Args:
      backup_or_evaluate: the `BackupAndRestore` of the `fit`; or, in a loop, what to call with the
        dataset and the keywords `steps` and `name`, and `callbacks` if there are any:
        `functools.partial(runtime.evaluate, model, loss_fn, global_step=step, model_dir=path)`.
      input_fn: gives batches of (features, labels).
      steps: how many batches to take; None takes all.
      callbacks: those of the evaluation.
      name: of the evaluation, if there are several.
      every_n_iter: evaluate every this many steps.

    Raises:
      ValueError: if `every_n_iter` or `steps` is not positive, with the hook's messages.
      TypeError: if the first argument is neither of the two.
    """
    super().__init__()
    if every_n_iter is None or every_n_iter <= 0:
      raise ValueError(f"invalid every_n_iter={every_n_iter}.")
    if steps is not None and steps <= 0:
      raise ValueError(f"Must specify steps > 0, given: {steps}")
    if not (isinstance(backup_or_evaluate, BackupAndRestore) or callable(backup_or_evaluate)):
      raise TypeError(
        f"{backup_or_evaluate!r} is neither a runtime.BackupAndRestore nor a function that evaluates."
      )
    self._backup_or_evaluate = backup_or_evaluate
    self._input_fn = input_fn
    self._arguments: dict[str, Any] = {"steps": steps, "name": name}
    if callbacks:
      self._arguments["callbacks"] = list(callbacks)
    self._timer = tf.compat.v1.train.SecondOrStepTimer(every_steps=every_n_iter)
    self._iter_count = 0
    self._dataset: Any = None

  def on_train_begin(self, logs: Optional[dict] = None) -> None:
    """Makes the dataset, and evaluates the weights with which the training begins."""
    self._timer.reset()
    self._iter_count = 0
    self._dataset = self._input_fn()
    self._evaluate()

  def on_train_batch_end(self, batch: int, logs: Optional[dict] = None) -> None:
    """Evaluates, if it is time."""
    self._iter_count += 1
    if self._timer.should_trigger_for_step(self._iter_count):
      self._evaluate()

  def on_train_end(self, logs: Optional[dict] = None) -> None:
    """Evaluates the final weights, also if this step has been evaluated already."""
    self._evaluate()

  def _evaluate(self) -> None:
    """Evaluates and writes the results."""
    evaluate = self._backup_or_evaluate
    if isinstance(evaluate, BackupAndRestore):
      # Not backup.evaluate, which takes the newest checkpoint.
      evaluate = functools.partial(
        evaluation.evaluate,
        self.model,
        self.model.loss,
        global_step=evaluate.global_step,
        model_dir=evaluate.model_dir,
      )
    # A callback that both trainings and evaluations get stops both: here only the evaluation.
    stops = getattr(self.model, "stop_training", False)
    evaluate(self._dataset, **self._arguments)
    self.model.stop_training = stops
    self._timer.update_last_triggered_step(self._iter_count)
