"""What exports after evaluations: always, at the end, or the best, as the Estimator's exporters did."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Iterator
from typing import Any, Callable, Optional

import tensorflow as tf

_NO_EXPORTER = "`exporters` must be an Exporter, an iterable of Exporter, or `None`, found {}."
# An export is named by its time in seconds.
_DIGITS = 10


class Exporter:
  """Base class of what `runtime.Evaluation` calls after each evaluation."""

  @property
  def name(self) -> str:
    """The name of the directory, below `<model_dir>/export`."""
    raise NotImplementedError

  def export(
    self,
    estimator: Any,
    export_path: str,
    checkpoint_path: str,
    eval_result: dict,
    is_the_final_export: bool,
  ) -> Any:
    """Exports, or does not.

    Args:
      estimator: has `model_dir` and `export_saved_model`, as a `BackupAndRestore` has.
      export_path: where to.
      checkpoint_path: the checkpoint that has been evaluated.
      eval_result: the metrics.
      is_the_final_export: whether the training has reached its `max_steps`.

    Returns:
      The path of the export; None if there was none.
    """
    raise NotImplementedError


def checked(exporters: Any) -> tuple[Exporter, ...]:
  """Returns the exporters of an EvalSpec as a tuple.

  Raises:
    TypeError: with EvalSpec's message, for what is no exporter.
    ValueError: with EvalSpec's messages, for names that are missing, no strings, or there twice.
  """
  if not exporters:
    return ()
  if isinstance(exporters, Exporter):
    exporters = [exporters]
  try:
    found = tuple(exporters)
  except TypeError:
    raise TypeError(_NO_EXPORTER.format(exporters)) from None
  names: list[str] = []
  for exporter in found:
    if not isinstance(exporter, Exporter):
      raise TypeError(_NO_EXPORTER.format(exporters))
    if not exporter.name:
      raise ValueError(
        "An Exporter cannot have a name that is `None` or empty. All exporter names: "
        f"{[e.name for e in found]}"
      )
    if not isinstance(exporter.name, str):
      raise ValueError(f"An Exporter must have a string name. Given: {type(exporter.name)}")
    if exporter.name in names:
      raise ValueError(
        "`exporters` must have unique names. Such a name cannot be `None`. All exporter names: "
        f"{[e.name for e in found]}"
      )
    names.append(exporter.name)
  return found


class _SavedModelExporter(Exporter):
  """Exports whenever it is called.

  Args:
    name: of the directory below `<model_dir>/export`.
    serving_input_receiver_fn: as in `export_saved_model`, as the next two.
    assets_extra: where in `assets.extra` -> which file.
    as_text: whether the SavedModel is written as text.
  """

  def __init__(
    self,
    name: str,
    serving_input_receiver_fn: Any,
    assets_extra: Optional[dict] = None,
    as_text: bool = False,
  ):
    self._name = name
    self._receiver_fn = serving_input_receiver_fn
    self._assets_extra = assets_extra
    self._as_text = as_text

  @property
  def name(self) -> str:
    """The name of the directory."""
    return self._name

  def export(
    self,
    estimator: Any,
    export_path: str,
    checkpoint_path: str,
    eval_result: dict,
    is_the_final_export: bool,
  ) -> Any:
    """Exports the checkpoint."""
    return estimator.export_saved_model(
      export_path,
      self._receiver_fn,
      assets_extra=self._assets_extra,
      as_text=self._as_text,
      checkpoint_path=checkpoint_path,
    )


class FinalExporter(_SavedModelExporter):
  """Exports once, when the training has reached its `max_steps`."""

  def export(
    self,
    estimator: Any,
    export_path: str,
    checkpoint_path: str,
    eval_result: dict,
    is_the_final_export: bool,
  ) -> Any:
    """Exports the checkpoint if it is the final one."""
    if not is_the_final_export:
      return None
    tf.get_logger().info("Performing the final export in the end of training.")
    return super().export(estimator, export_path, checkpoint_path, eval_result, is_the_final_export)


class LatestExporter(_SavedModelExporter):
  """Exports after each evaluation, and deletes old exports.

  Args:
    name: as above, like the next three.
    serving_input_receiver_fn: as above.
    assets_extra: as above.
    as_text: as above.
    exports_to_keep: how many of the newest exports stay; None keeps all.

  Raises:
    ValueError: with the Estimator's message, if `exports_to_keep` is not positive.
  """

  def __init__(
    self,
    name: str,
    serving_input_receiver_fn: Any,
    assets_extra: Optional[dict] = None,
    as_text: bool = False,
    exports_to_keep: Optional[int] = 5,
  ):
    super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
    if exports_to_keep is not None and exports_to_keep <= 0:
      raise ValueError("`exports_to_keep`, if provided, must be positive number")
    self._exports_to_keep = exports_to_keep

  def export(
    self,
    estimator: Any,
    export_path: str,
    checkpoint_path: str,
    eval_result: dict,
    is_the_final_export: bool,
  ) -> Any:
    """Exports the checkpoint, and deletes what is too old."""
    result = super().export(
      estimator, export_path, checkpoint_path, eval_result, is_the_final_export
    )
    delete_old(export_path, self._exports_to_keep)
    return result


def _loss_smaller(best_eval_result: dict, current_eval_result: dict) -> bool:
  """Returns whether the loss has become smaller.

  Raises:
    ValueError: with the Estimator's messages, if there is no loss.
  """
  if not best_eval_result or "loss" not in best_eval_result:
    raise ValueError("best_eval_result cannot be empty or no loss is found in it.")
  if not current_eval_result or "loss" not in current_eval_result:
    raise ValueError("current_eval_result cannot be empty or no loss is found in it.")
  return best_eval_result["loss"] > current_eval_result["loss"]


class BestExporter(_SavedModelExporter):
  """Exports if the evaluation is better than all before, also those of earlier runs.

  The first evaluation that an object hears of is always exported, as the Estimator did, also after a restart.

  Args:
    name: of the directory below `<model_dir>/export`.
    serving_input_receiver_fn: as in `export_saved_model`, as are `assets_extra` and `as_text`.
    event_file_pattern: the event files of earlier evaluations, below model_dir; None reads none.
    compare_fn: a function of `best_eval_result` and `current_eval_result` that returns whether the current one is
      better; by default one of a smaller loss.
    assets_extra: as above.
    as_text: as above.
    exports_to_keep: how many of the newest exports stay; None keeps all.

  Raises:
    ValueError: with the Estimator's messages, for arguments that it refuses.
  """

  def __init__(
    self,
    name: str = "best_exporter",
    serving_input_receiver_fn: Any = None,
    event_file_pattern: Optional[str] = "eval/*.tfevents.*",
    compare_fn: Callable[..., Any] = _loss_smaller,
    assets_extra: Optional[dict] = None,
    as_text: bool = False,
    exports_to_keep: Optional[int] = 5,
  ):
    super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
    _check_compare_fn(compare_fn)
    if exports_to_keep is not None and exports_to_keep <= 0:
      raise ValueError(
        f"`exports_to_keep`, if provided, must be a positive number. Got {exports_to_keep}"
      )
    self._compare_fn = compare_fn
    self._event_file_pattern = event_file_pattern
    self._exports_to_keep = exports_to_keep
    self._model_dir: Optional[str] = None
    self._best: Optional[dict] = None
    self._has_exported = False

  def export(
    self,
    estimator: Any,
    export_path: str,
    checkpoint_path: str,
    eval_result: dict,
    is_the_final_export: bool,
  ) -> Any:
    """Exports the checkpoint if it is the best, and deletes what is too old."""
    if self._model_dir != estimator.model_dir and self._event_file_pattern:
      tf.get_logger().info("Loading best metric from event files.")
      self._model_dir = estimator.model_dir
      pattern = os.path.join(estimator.model_dir, self._event_file_pattern)
      self._best = self._best_of(pattern)
    known = self._best is not None and self._has_exported
    if known and not self._compare_fn(best_eval_result=self._best, current_eval_result=eval_result):
      return None
    tf.get_logger().info("Performing best model export.")
    self._best = eval_result
    result = super().export(
      estimator, export_path, checkpoint_path, eval_result, is_the_final_export
    )
    delete_old(export_path, self._exports_to_keep)
    self._has_exported = True
    return result

  def _best_of(self, pattern: str) -> Optional[dict]:
    """Returns the best of the evaluations in event files; None if there are none."""
    best: Optional[dict] = None
    for results in _evaluations(pattern):
      if best is None or self._compare_fn(best, results):
        best = results
    return best


def _evaluations(pattern: str) -> Iterator[dict]:
  """Yields the metrics of the evaluations in event files, tag -> number."""
  for path in tf.io.gfile.glob(pattern):
    for event in tf.compat.v1.train.summary_iterator(path):
      values = event.summary.value if event.HasField("summary") else ()
      found = {v.tag: v.simple_value for v in values if v.HasField("simple_value")}
      if found:
        yield found


def _check_compare_fn(compare_fn: Any) -> None:
  """Raises the Estimator's ValueError if a function does not have the two arguments."""
  if compare_fn is None:
    raise ValueError("`compare_fn` must not be None.")
  bound = compare_fn.keywords if isinstance(compare_fn, functools.partial) else {}
  names = set(inspect.signature(compare_fn).parameters) - set(bound)
  for name in ("best_eval_result", "current_eval_result"):
    if name not in names:
      raise ValueError(f"compare_fn ({compare_fn}) must include {name} argument.")
  others = sorted(names - {"best_eval_result", "current_eval_result"})
  if others:
    raise ValueError(f"compare_fn ({compare_fn}) has following not expected args: {others}")


def delete_old(directory: str, keep: Optional[int]) -> None:
  """Deletes all exports of a directory but the newest."""
  if keep is None or not tf.io.gfile.isdir(directory):
    return
  names = [name.rstrip("/") for name in tf.io.gfile.listdir(directory)]
  exports = sorted(name for name in names if len(name) == _DIGITS and name.isdigit())
  for name in exports[:-keep]:
    tf.io.gfile.rmtree(os.path.join(directory, name))
