"""The directories into which the TF1 side of a program writes its checkpoints."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from typing import Optional

from migrator.analysis import symbols, units
from migrator.lint import values
from migrator.lint.checks import fits, paths
from migrator.lint.checks.registry import Context
from migrator.lint.checks.run_config import RUN_CONFIGS

_MODEL_DIR_POSITION = {"Estimator": 1, "DNNClassifier": 2, "DNNRegressor": 2}
# Symbol -> the parameters up to its directory.
_SESSIONS = {
  "tf.train.CheckpointSaverHook": ("checkpoint_dir",),
  "tf.train.MonitoredTrainingSession": ("master", "is_chief", "checkpoint_dir"),
  "tf.train.Supervisor": (
    "graph",
    "ready_op",
    "ready_for_local_init_op",
    "is_chief",
    "init_op",
    "init_feed_dict",
    "local_init_op",
    "logdir",
  ),
}
_SAVER = ("tf.train.Saver",)

Owner = tuple[str, int]


class Directories:
  """The directories of the estimators, sessions and savers of a module."""

  def __init__(self, context: Context):
    self._context = context
    self._module = context.module
    self._estimators: dict[paths.Parts, Owner] = {}
    for call, symbol in context.calls:
      kind = units.estimator_kind(symbol)
      if kind is not None or symbol.path in RUN_CONFIGS:
        what = "Estimator" if kind is not None else "RunConfig"
        self._add(self._estimators, self._model_dir(call, kind), f"the {what}", call)

  @functools.cached_property
  def _others(self) -> dict[paths.Parts, Owner]:
    """Of sessions and savers; the latter are dear to find."""
    others: dict[paths.Parts, Owner] = {}
    for call, symbol in self._context.calls:
      parameters = _SESSIONS.get(symbol.path)
      if parameters is not None:
        node = values.arguments(self._module, call, parameters).get(parameters[-1])
        self._add(others, node, f"the {symbol.path.rpartition('.')[2]}", call)
    for call in saves_of_savers(self._context):
      place = paths.parts(self._module, saved_path(self._context, call))
      if place is not None and len(place) > 1:
        others.setdefault(place[:-1], ("the Saver", self._module.span(call).line))
    return others

  def _add(
    self, found: dict[paths.Parts, Owner], node: Optional[ast.expr], what: str, call: ast.Call
  ) -> None:
    if node is None or values.literal(self._module, node) is None:
      return
    place = paths.parts(self._module, node)
    if place:
      found.setdefault(place, (what, self._module.span(call).line))

  def _model_dir(self, call: ast.Call, kind: Optional[str]) -> Optional[ast.expr]:
    position = _MODEL_DIR_POSITION.get(kind or "", 0)
    if position and len(call.args) > position:
      return call.args[position]
    return values.arguments(self._module, call).get("model_dir")

  def line_of(self, node: Optional[ast.AST]) -> Optional[int]:
    """The line of the estimator whose directory an expression is, or None."""
    owner = self._owner(node, others=False)
    return owner[1] if owner is not None else None

  def owner_of(self, node: Optional[ast.AST]) -> Optional[Owner]:
    """What writes TF1 checkpoints into the directory that an expression is, with its line."""
    return self._owner(node, others=True)

  def _owner(self, node: Optional[ast.AST], *, others: bool) -> Optional[Owner]:
    if node is None:
      return None
    if isinstance(node, ast.Attribute) and node.attr == "model_dir":
      line = self.line_of_estimator(node.value)
      if line is not None:
        return "the Estimator", line
      line = self._line_of(node.value, lambda symbol: symbol.path in RUN_CONFIGS)
      if line is not None:
        return "the RunConfig", line
    place = paths.parts(self._module, node)
    return self.at(place, others=others) if place else None

  def at(self, place: paths.Parts, *, others: bool = True) -> Optional[Owner]:
    """What writes TF1 checkpoints into a directory, with its line; or None."""
    found = self._estimators.get(place)
    return self._others.get(place) if found is None and others else found

  def line_of_estimator(self, node: ast.AST) -> Optional[int]:
    """The line of the first estimator call that a name can stand for, or None."""
    return self._line_of(node, _is_estimator)

  def _line_of(self, node: ast.AST, wanted: Callable[[symbols.Symbol], bool]) -> Optional[int]:
    """The line of the first call of such a symbol that a name can stand for, or None."""
    for value in values.possible(self._module, node) or ():
      symbol = self._module.resolve(value.func) if isinstance(value, ast.Call) else None
      if symbol is not None and wanted(symbol):
        return self._module.span(value).line
    return None


def _is_estimator(symbol: symbols.Symbol) -> bool:
  return units.estimator_kind(symbol) is not None


def saves_of_savers(context: Context) -> Iterator[ast.Call]:
  """The calls `saver.save(session, path)` of a tf.train.Saver."""
  for call in fits.method_calls(context.module, "save"):
    owner = call.func.value  # type: ignore[attr-defined]
    if values.always_call_of(context.module, owner, _SAVER):
      yield call


def saved_path(context: Context, call: ast.Call) -> Optional[ast.expr]:
  """The path of a `saver.save(session, path)`."""
  return values.arguments(context.module, call, ("sess", "save_path")).get("save_path")
