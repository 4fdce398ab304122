"""Evaluates and exports after saves, as `tf.estimator.train_and_evaluate` did in one process."""

from __future__ import annotations

import os
import types
from collections.abc import Sequence
from typing import Any, Callable, Optional

import tensorflow as tf

from migrator.runtime import manager, steps
from migrator.runtime.backup import BackupAndRestore
from migrator.runtime.listeners import CheckpointSaverListener
from migrator.runtime.policy import UNSET, Number

EXPORT = "export"


class Evaluation(CheckpointSaverListener):
  """Evaluates the newest checkpoint after saves, for `saving_listeners`.

  After each save except the one with which a session begins, unless the last evaluation began less than
  `throttle_secs` ago; and in the end, unless that step has been evaluated. The exporters run after each
  evaluation, and hear of the final one only where the training has reached its `max_steps`.

  Attributes:
    metrics: what `train_and_evaluate` returned first: the metrics of the last evaluation; None if there was none.
    export_results: what it returned second: a list with what each exporter returned; None if there was none.
  """

  def __init__(
    self,
    backup_or_evaluate: Any,
    input_fn: Callable[[], tf.data.Dataset],
    *,
    steps: Optional[int] = 100,
    name: Optional[str] = None,
    callbacks: Optional[Sequence[Any]] = None,
    exporters: Any = None,
    start_delay_secs: Number = 120,
    throttle_secs: Number = 600,
    max_steps: Any = UNSET,
    export: Optional[Callable[..., Any]] = None,
    model_dir: Optional[str] = None,
  ):
    """Makes the listener, with the arguments and the defaults of EvalSpec.

    Args:
      backup_or_evaluate: the `BackupAndRestore` of the `fit`; or, in a loop, what to call with the dataset and
        the keywords `steps` and `name`, and `callbacks` if there are any: it must evaluate the newest checkpoint, and
        leave the training as it was (`with manager.newest():`).
      input_fn: gives batches of (features, labels); it is called for each evaluation, as the Estimator did.
      steps: how many batches to take; None takes all.
      name: of the evaluation; its events go to `<model_dir>/eval_<name>`.
      callbacks: those of the evaluations.
      exporters: one of `runtime.export`'s exporters, or several.
      start_delay_secs: had no effect in one process, and has none.
      throttle_secs: as above; 0 for an evaluation after each save.
      max_steps: where the training ends, for exporters; None if it has no end. By default what the
        `remaining_steps` of the `BackupAndRestore` were asked for; in a loop it has to be given.
      export: in a loop, what exporters call as `export_saved_model` of their `estimator`.
      model_dir: in a loop, where the exports go; by default that of the checkpoints.

    Raises:
      ValueError: with EvalSpec's messages.
      TypeError: with EvalSpec's messages, or if the first argument is neither of the two.
    """
    if not (isinstance(backup_or_evaluate, BackupAndRestore) or callable(backup_or_evaluate)):
      raise TypeError(
        f"{backup_or_evaluate!r} is neither a runtime.BackupAndRestore nor a function that evaluates."
      )
    if not callable(input_fn):
      raise TypeError(f"input_fn must be callable, given: {input_fn}")
    if steps is not None and steps <= 0:
      raise ValueError(f"Must specify steps > 0, given: {steps}")
    if name is not None and not isinstance(name, str):
      raise TypeError(f"`name` must be string, given: {name}")
    for key, value in (("start_delay_secs", start_delay_secs), ("throttle_secs", throttle_secs)):
      if value < 0:
        raise ValueError(f"Must specify {key} >= 0, given: {value}")
    in_loop = not isinstance(backup_or_evaluate, BackupAndRestore)
    self._exporters: tuple[Any, ...] = ()
    if exporters:
      # TensorFlow's parts of an export are only needed where something is exported.
      from migrator.runtime.export.exporters import checked

      self._exporters = checked(exporters)
      if in_loop and max_steps is UNSET:
        raise ValueError("Exporters in a loop need max_steps=, which may be None.")
    self._backup_or_evaluate = backup_or_evaluate
    self._input_fn = input_fn
    self._arguments: dict[str, Any] = {"steps": steps, "name": name}
    if callbacks:
      self._arguments["callbacks"] = list(callbacks)
    self._throttle_secs = throttle_secs
    self._max_steps = max_steps
    self._export = export
    self._model_dir = model_dir
    self._previous: Optional[str] = None
    self.metrics: Optional[dict] = None
    self.export_results: Optional[list] = None

  def begin(self) -> None:
    """Begins a session, whose first save is not evaluated."""
    self._timer = tf.compat.v1.train.SecondOrStepTimer(every_secs=self._throttle_secs)
    self._is_first_save = True

  def after_save(self, model: Any, global_step: int) -> None:
    """Evaluates, if it is time."""
    if self._is_first_save:
      self._is_first_save = False
    elif self._timer.should_trigger_for_step(global_step):
      self._evaluate(model, global_step)
    else:
      tf.get_logger().info(
        "Skip the current checkpoint eval due to throttle secs (%s secs).", self._throttle_secs
      )

  def end(self, model: Any, global_step: int) -> None:
    """Evaluates the last checkpoint, unless that has been done."""
    if global_step != self._timer.last_triggered_step():
      self._evaluate(model, global_step)

  def _evaluate(self, model: Any, global_step: int) -> None:
    """Evaluates the newest checkpoint, and exports it.

    Raises:
      RuntimeError: with the Estimator's words, if there is no other checkpoint than the last time.
    """
    self._timer.update_last_triggered_step(global_step)
    path, model_dir = self._newest(model)
    if path is None or path == self._previous:
      self.metrics, self.export_results = None, []
      status = "missing checkpoint" if path is None else "no new checkpoint"
      raise RuntimeError(f"There was no new checkpoint after the training. Eval status: {status}")
    # A callback that both trainings and evaluations get stops both: here only the evaluation.
    stops = getattr(model, "stop_training", False)
    evaluate = self._backup_or_evaluate
    if isinstance(evaluate, BackupAndRestore):
      evaluate = evaluate.evaluate
    metrics = evaluate(self._input_fn(), **self._arguments)
    model.stop_training = stops
    results = []
    for exporter in self._exporters:
      results.append(
        exporter.export(
          estimator=self._estimator(model_dir),
          export_path=os.path.join(model_dir, EXPORT, exporter.name),
          checkpoint_path=path,
          eval_result=metrics,
          is_the_final_export=self._is_final(metrics),
        )
      )
    self.metrics, self.export_results, self._previous = metrics, results, path

  def _newest(self, model: Any) -> tuple[Optional[str], str]:
    """Returns the newest checkpoint of the training, and its model directory."""
    backup = self._backup_or_evaluate
    if isinstance(backup, BackupAndRestore):
      return backup.latest_checkpoint, backup.model_dir
    owner = manager.manager_of(steps.counter(model))
    if owner is None:
      raise ValueError(
        f"Nothing saves the checkpoints of {getattr(model, 'name', model)}: make a "
        "runtime.CheckpointManager for its runtime.named_checkpoint."
      )
    return owner.latest_checkpoint, self._model_dir or os.path.dirname(owner.directory)

  def _estimator(self, model_dir: str) -> Any:
    """Returns what exporters get as `estimator`."""
    if isinstance(self._backup_or_evaluate, BackupAndRestore):
      return self._backup_or_evaluate
    return types.SimpleNamespace(
      model_dir=model_dir, evaluate=self._backup_or_evaluate, export_saved_model=self._export
    )

  def _is_final(self, metrics: dict) -> bool:
    """Returns whether the training has reached its end."""
    last = self._max_steps
    if last is UNSET:
      last = self._backup_or_evaluate.max_steps
    return bool(last) and bool(metrics["global_step"] >= last)
