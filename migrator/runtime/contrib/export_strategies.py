"""The export strategies of `tf.contrib.learn`."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any, Optional

from migrator.runtime.export import exporters

__all__ = ["ExportStrategy", "make_export_strategy"]


class ExportStrategy:
  """How an Experiment exports its estimator.

  Args:
    name: of the folder in `<model_dir>/export`.
    export_fn: called with the estimator and the folder, and with those of `checkpoint_path`, `eval_result`
      and `strip_default_attrs` that it takes.
    strip_default_attrs: handed on.
  """

  def __init__(
    self,
    name: str,
    export_fn: Callable[..., Any],
    strip_default_attrs: Optional[bool] = None,
  ):
    self.name = name
    self.export_fn = export_fn
    self.strip_default_attrs = strip_default_attrs

  def export(
    self, estimator: Any, export_path: Any, checkpoint_path: Any = None, eval_result: Any = None
  ) -> Any:
    """Returns what `export_fn` returns, the path of the export.

    Raises:
      ValueError: if the function takes an evaluation, but no checkpoint.
    """
    taken = inspect.signature(self.export_fn).parameters
    if "eval_result" in taken and "checkpoint_path" not in taken:
      raise ValueError("An export_fn accepting eval_result must also accept checkpoint_path.")
    offered = {
      "checkpoint_path": checkpoint_path,
      "eval_result": eval_result,
      "strip_default_attrs": self.strip_default_attrs,
    }
    given = {name: value for name, value in offered.items() if name in taken}
    return self.export_fn(estimator, export_path, **given)


def make_export_strategy(
  serving_input_fn: Callable[[], Any],
  default_output_alternative_key: Optional[str] = None,
  assets_extra: Optional[dict] = None,
  as_text: bool = False,
  exports_to_keep: Optional[int] = 5,
  strip_default_attrs: Optional[bool] = None,
) -> ExportStrategy:
  """Returns a strategy that exports a SavedModel into a new folder of `export/Servo`.

  Args:
    serving_input_fn: returns a `ServingInputReceiver`.
    default_output_alternative_key: None.
    assets_extra: {path in the export: file}.
    as_text: whether the SavedModel is text.
    exports_to_keep: how many of the newest exports stay; None for all.
    strip_default_attrs: whether attributes that have their defaults are left out.
  """

  def export_fn(
    estimator: Any,
    export_dir_base: Any,
    checkpoint_path: Any = None,
    strip_default_attrs: Optional[bool] = False,
  ) -> Any:
    if default_output_alternative_key is not None:
      raise ValueError(
        "default_output_alternative_key is not supported in core Estimator. Given: "
        f"{default_output_alternative_key}"
      )
    exported = estimator.export_savedmodel(
      os.fsdecode(export_dir_base),
      serving_input_fn,
      assets_extra=assets_extra,
      as_text=as_text,
      checkpoint_path=checkpoint_path,
      strip_default_attrs=bool(strip_default_attrs),
    )
    exporters.delete_old(os.fsdecode(export_dir_base), exports_to_keep)
    return exported

  return ExportStrategy("Servo", export_fn, strip_default_attrs)


def checked(given: Any) -> tuple:
  """Returns one export strategy, or several, as a tuple.

  Raises:
    ValueError: if one is none.
  """
  found = (given,) if isinstance(given, ExportStrategy) else tuple(given or ())
  wrong = next((one for one in found if not isinstance(one, ExportStrategy)), None)
  if wrong is not None:
    raise ValueError(
      "`export_strategies` must be an ExportStrategy, an iterable of ExportStrategy, or `None`, "
      f"found {wrong}."
    )
  return found
