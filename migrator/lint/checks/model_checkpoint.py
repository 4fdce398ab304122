"""Faults of ModelCheckpoint, and arguments that Keras 3 no longer takes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analysis.module import UNKNOWN
from migrator.lint import values
from migrator.lint.checks import backup, fits, keras_models, keras_versions
from migrator.lint.checks.registry import Context, Report, check


@check("EM509", words=("ModelCheckpoint",))
def period(context: Context) -> Iterator[Report]:
  """`ModelCheckpoint(period=)`."""
  module = context.module
  for call, _ in context.calls_of(fits.MODEL_CHECKPOINT):
    if keras_versions.is_silent_in_keras_3(module, call):
      continue
    keyword = next((k for k in call.keywords if k.arg == "period"), None)
    if keyword is not None:
      fixed = 'save_freq="epoch"' if values.literal(module, keyword.value) == 1 else None
      yield Report("EM509", module.span(keyword), {}, fixed)
      continue
    found = values.arguments(module, call).get("period")
    if found is not None:
      yield context.report("EM509", found)


@check("EM514", words=("ModelCheckpoint",))
def best_by_batches(context: Context) -> Iterator[Report]:
  """`save_best_only` with an integer `save_freq`."""
  module = context.module
  for call, _ in context.calls_of(fits.MODEL_CHECKPOINT):
    found = values.arguments(module, call, fits.MODEL_CHECKPOINT_PARAMETERS)
    frequency, node = backup.batches(module, found), found.get("save_freq")
    if frequency is None or node is None:
      continue
    if values.literal(module, found.get("save_best_only")) is not True:
      continue
    monitor = found.get("monitor")
    metric = "val_loss" if monitor is None else values.literal(module, monitor)
    if monitor is None and not found.complete:
      continue
    if isinstance(metric, str) and metric.startswith("val_"):
      consequence = (
        f"`{metric}` is unknown within an epoch: Keras 2 never saves, Keras 3 saves every "
        f"{frequency} batches, best or not"
      )
    elif metric is not UNKNOWN and not keras_versions.is_silent_in_keras_3(module, call):
      consequence = (
        "Keras 3 stops with TypeError: 'NoneType' object is not callable when a save falls into "
        "the first epoch"
      )
    else:
      continue
    yield context.report("EM514", node, value=frequency, consequence=consequence)


@check(
  "EM516",
  words=("ModelCheckpoint", "BackupAndRestore", ".save_weights("),
  also=("load_weights_on_restart", "options", "save_before_preemption", "save_format"),
)
def removed_arguments(context: Context) -> Iterator[Report]:
  """Arguments for which Keras 3 raises TypeError."""
  module = context.module
  for call, _ in context.calls_of(fits.MODEL_CHECKPOINT):
    for name in ("load_weights_on_restart", "options"):
      yield from _removed(context, call, "ModelCheckpoint", name)
  for call, _ in context.calls_of(*fits.BACKUPS):
    yield from _removed(context, call, "BackupAndRestore", "save_before_preemption")
  for call in fits.method_calls(module, "save_weights"):
    model = call.func.value  # type: ignore[attr-defined]
    if keras_models.is_model(module, model) and not keras_models.overrides(
      module, model, "save_weights"
    ):
      for name in ("save_format", "options"):
        yield from _removed(context, call, "save_weights", name)


def _removed(context: Context, call: ast.Call, function: str, name: str) -> Iterator[Report]:
  node = values.arguments(context.module, call).get(name)
  if node is not None and not keras_versions.is_silent_in_keras_3(context.module, call):
    yield context.report("EM516", node, argument=name, function=function)
