"""Faults of backups and checkpoints under a distribution strategy."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks import backup, fits
from migrator.lint.checks.registry import Context, Report, check

_UNSUPPORTED = (
  "tf.distribute.OneDeviceStrategy",
  "tf.distribute.experimental.CentralStorageStrategy",
)
_PARAMETER_SERVER = (
  "tf.distribute.ParameterServerStrategy",
  "tf.distribute.experimental.ParameterServerStrategy",
)
_MULTI_WORKER = (
  "tf.distribute.MultiWorkerMirroredStrategy",
  "tf.distribute.experimental.MultiWorkerMirroredStrategy",
)
_MANAGER = "tf.train.CheckpointManager"
# What fit raises in Keras 3, with and without callbacks.
_FIT_ERRORS = (
  (_MULTI_WORKER, "Attempt to convert a value (PerReplica:...)"),
  (_PARAMETER_SERVER, "pass this dataset to ClusterCoordinator.create_per_worker_dataset"),
)
_CHIEF = re.compile(r"chief|task_(id|type|index)|worker_(id|index)|should_checkpoint")
# A program that has one of these knows on which worker it runs.
_WORKER_WORDS = re.compile(
  r"chief|task_(id|type|index)|worker_(id|index)|should_checkpoint|write_filepath|\.task\b"
)


@check("EM512", words=("BackupAndRestore",))
def unsupported(context: Context) -> Iterator[Report]:
  """BackupAndRestore under a strategy that it does not support."""
  module = context.module
  strategies = list(_scoped(module))
  for call, _ in context.calls_of(*fits.BACKUPS):
    frequency = backup.batches(module, values.arguments(module, call, backup.PARAMETERS))
    for strategy in strategies:
      path = module.resolve(strategy.func).path  # type: ignore[union-attr]
      if path in _UNSUPPORTED:
        consequence = "`fit` raises NotImplementedError in Keras 2"
      elif path in _PARAMETER_SERVER and frequency is not None:
        consequence = f"`save_freq={frequency}` saves nothing in Keras 2"
      else:
        continue
      yield context.report(
        "EM512",
        call,
        strategy=path.rpartition(".")[2],
        consequence=consequence,
        line=module.span(strategy).line,
      )


def _scoped(module: Module) -> Iterator[ast.Call]:
  """The calls that make the strategies whose `scope()` is entered."""
  found: dict[ast.Call, None] = {}
  for scope in fits.method_calls(module, "scope"):
    for value in values.possible(module, scope.func.value) or ():  # type: ignore[attr-defined]
      symbol = module.resolve(value.func) if isinstance(value, ast.Call) else None
      if isinstance(value, ast.Call) and symbol is not None:
        found[value] = None
  return iter(found)


@check("EM526", words=("MultiWorkerMirroredStrategy", "ParameterServerStrategy"))
def fit_on_several_workers(context: Context) -> Iterator[Report]:
  """`fit` under a strategy of several workers, which Keras 3 cannot do."""
  module = context.module
  if fits.uses_legacy_keras(module):
    return
  fitted = [f for f in fits.method_calls(module, "fit") if _is_model(module, f)]
  if not fitted:
    return
  for strategy in _scoped(module):
    for paths, error in _FIT_ERRORS:
      if values.is_call_of(module, strategy, paths):
        name = paths[0].rpartition(".")[2]
        line = module.span(fitted[0]).line
        yield context.report("EM526", strategy, strategy=name, error=error, line=line)


def _is_model(module: Module, fit: ast.Call) -> bool:
  return isinstance(fit.func, ast.Attribute) and fits.is_model(module, fit.func.value)


@check("EM522", words=("MultiWorkerMirroredStrategy",))
def on_every_worker(context: Context) -> Iterator[Report]:
  """Checkpoints of several workers: saved by the chief alone, or by all into one directory."""
  module = context.module
  strategy = next((call for call, _ in context.calls_of(*_MULTI_WORKER)), None)
  if strategy is None:
    return
  line = module.span(strategy).line
  for call in _on_chief_only(context):
    what = "Only the chief gets this ModelCheckpoint"
    yield context.report("EM522", call, what=what, consequence=_ALONE, line=line)
  if _WORKER_WORDS.search(module.text) or not list(fits.method_calls(module, "run")):
    return
  for call, _ in context.calls_of(_MANAGER):
    directory = values.arguments(module, call, ("checkpoint", "directory")).get("directory")
    if directory is not None:
      what = "All workers save into this directory"
      yield context.report("EM522", directory, what=what, consequence=_TOGETHER, line=line)


_ALONE = (
  "saving takes part of all workers, so the job stops with InvalidArgumentError or hangs at the "
  "first save"
)
_TOGETHER = (
  "they take each other's temporary files away, and the chief stops with InvalidArgumentError in "
  "MergeV2Checkpoints"
)


def _on_chief_only(context: Context) -> Iterator[ast.Call]:
  """The ModelCheckpoints that are made, or put into a list, where only the chief comes."""
  module = context.module
  for condition in fits.nodes(module, ast.If):
    if not _CHIEF.search(ast.unparse(condition.test)):
      continue
    branches = [list(_checkpoints(module, b)) for b in (condition.body, condition.orelse)]
    if branches[0] and not branches[1]:
      yield from branches[0]


def _checkpoints(module: Module, statements: list[ast.stmt]) -> Iterator[ast.Call]:
  for statement in statements:
    for node in ast.walk(statement):
      call: Optional[ast.AST] = node
      if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        call = module.definition(node)
      if isinstance(call, ast.Call) and values.is_call_of(module, call, (fits.MODEL_CHECKPOINT,)):
        yield call
