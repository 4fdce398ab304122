"""Faults of backups and checkpoints under a distribution strategy."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks import backup, fits, keras_versions, reaching
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
  reported: set[tuple[ast.AST, str, str]] = set()
  for fit in fits.fit_calls(module):
    call = fits.callback_of(module, fit, *fits.BACKUPS)
    for strategy in _strategies(module, fit) if call is not None else ():
      if call is None:
        continue
      consequence = _consequence(module, call, strategy)
      name = values.text(module, strategy.func).rpartition(".")[2]
      # The same one may be made in several branches.
      if consequence is not None and (call, name, consequence) not in reported:
        reported.add((call, name, consequence))
        line = module.span(strategy).line
        yield context.report("EM512", call, strategy=name, consequence=consequence, line=line)


def _consequence(module: Module, call: ast.Call, strategy: ast.Call) -> Optional[str]:
  """What a BackupAndRestore does under a strategy, where that is no backup."""
  if values.is_call_of(module, strategy, _UNSUPPORTED):
    return "`fit` raises NotImplementedError in Keras 2"
  if values.is_call_of(module, strategy, _PARAMETER_SERVER):
    frequency = backup.batches(module, values.arguments(module, call, backup.PARAMETERS))
    if frequency is not None:
      return f"`save_freq={frequency}` saves nothing in Keras 2"
  return None


def _strategies(module: Module, fit: ast.Call) -> list[ast.Call]:
  """The calls that make the strategies in whose scope the model of a `fit` call is made."""
  assert isinstance(fit.func, ast.Attribute)
  places: list[ast.AST] = [fit]
  model = fit.func.value
  if isinstance(model, ast.Name):
    places += reaching.possible(module, model)
  elif isinstance(model, ast.Attribute):
    places += values.possible(module, model) or ()
  found: dict[ast.Call, None] = {}
  for place in places:
    for ancestor in module.ancestors(place):
      for item in ancestor.items if isinstance(ancestor, ast.With) else ():
        for strategy in _of_scope(module, item.context_expr):
          found[strategy] = None
  return list(found)


def _of_scope(module: Module, entered: ast.expr) -> Iterator[ast.Call]:
  """The calls behind the `strategy` of `with strategy.scope()`."""
  function = entered.func if isinstance(entered, ast.Call) else None
  if not isinstance(function, ast.Attribute) or function.attr != "scope":
    return
  for value in reaching.possible(module, function.value):
    if isinstance(value, ast.Call):
      yield value


@check("EM526", words=("MultiWorkerMirroredStrategy", "ParameterServerStrategy"))
def fit_on_several_workers(context: Context) -> Iterator[Report]:
  """`fit` under a strategy of several workers, which Keras 3 cannot do."""
  module = context.module
  reported: set[ast.AST] = set()
  for fit in fits.method_calls(module, "fit"):
    for strategy in (
      _strategies(module, fit) if not keras_versions.is_silent_in_keras_3(module, fit) else ()
    ):
      for symbols, error in _FIT_ERRORS:
        if strategy not in reported and values.is_call_of(module, strategy, symbols):
          reported.add(strategy)
          name = symbols[0].rpartition(".")[2]
          line = module.span(fit).line
          yield context.report("EM526", strategy, strategy=name, error=error, line=line)


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
  if _WORKER_WORDS.search(module.text):
    return
  if not fits.method_calls(module, "run") or not fits.method_calls(module, "save"):
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
