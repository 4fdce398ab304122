"""Units: one estimator with its RunConfig, hooks, input functions and calls."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple, Optional

from migrator.analysis import facts, symbols
from migrator.analysis.module import Module

ESTIMATOR_SUFFIXES = ("Classifier", "Regressor", "Estimator")
_TRAIN_AND_EVALUATE = "train_and_evaluate"
_SPELLINGS = {"export_savedmodel": "export_saved_model"}
_METHODS = frozenset(facts.METHOD_PARAMETERS) - {_TRAIN_AND_EVALUATE}


class Problem(NamedTuple):
  """Why a unit cannot be rewritten: a rule code, a place, and values for its message."""

  code: str
  node: ast.AST
  values: dict[str, Any]


class Construction(NamedTuple):
  """One call of an estimator's constructor that is assigned to the unit's variable.

  `kind` is the class, which may be another than that of the unit's first construction.
  """

  call: ast.Call
  symbol: symbols.Symbol
  statement: ast.stmt
  arguments: dict[str, facts.Argument]
  kind: str


class MethodCall(NamedTuple):
  """One `estimator.train(...)` or other method, or `tf.estimator.train_and_evaluate(...)`.

  `method` is a key of `facts.METHOD_PARAMETERS`, "export_saved_model" for both spellings of it.
  `owner` is what the method is called on, or the first argument of train_and_evaluate.
  """

  call: ast.Call
  method: str
  arguments: dict[str, facts.Argument]
  owner: ast.expr


class Unit:
  """An estimator variable with everything that touches it.

  Attributes:
    name: the variable.
    kind: the estimator's class, for example "DNNClassifier".
    flavour: "v1" or "v2"; flavour_reason says why, "" when the spelling leaves no choice.
    handle: whether the estimator flows on from its variable (out of a factory function, into other
      functions, through an attribute), or is one of several classes: what takes its place must
      then be one object.
    handed: where it is handed to a hook of TensorFlow that reads its directory or evaluates.
    eval_dir_calls: the calls of `eval_dir`, and the directory's name in the model directory.
    problems: reasons why it stays as it is; empty when the facts are complete.
  """

  def __init__(
    self,
    name: str,
    kind: str,
    symbol: symbols.Symbol,
    flavour: str,
    flavour_reason: str,
    node: ast.AST,
  ):
    self.name = name
    self.kind = kind
    self.symbol = symbol
    self.flavour = flavour
    self.flavour_reason = flavour_reason
    self.node = node
    self.constructions: list[Construction] = []
    self.calls: list[MethodCall] = []
    self.handle = False
    self.model_dir_reads: list[ast.Attribute] = []
    self.handed: list[ast.Name] = []
    self.eval_dir_calls: dict[ast.Call, str] = {}
    self.problems: list[Problem] = []

  def problem(self, code: str, node: ast.AST, **values: Any) -> None:
    self.problems.append(Problem(code, node, values))


def estimator_kind(symbol: symbols.Symbol) -> Optional[str]:
  """The class name, if the symbol is an estimator's class; else None."""
  head, _, name = symbol.path.rpartition(".")
  if head in ("tf.estimator", "tf.estimator.tpu", "tf.estimator.experimental") and (
    name.endswith(ESTIMATOR_SUFFIXES) or name == "KMeans"
  ):
    return name
  return None


def flavour_of(
  module: Module, symbol: symbols.Symbol, source_version: Optional[int]
) -> tuple[str, str]:
  """Returns the flavour of a canned estimator and the reason, "" where it is certain."""
  if symbol.api == "v1":
    return "v1", ""
  if symbol.api == "v2":
    return "v2", ""
  if source_version is not None:
    return f"v{source_version}", f"--source-version {source_version}"
  name = facts.written_for_tf1(module)
  if name is not None:
    return "v1", f"the file uses {name}, which only TF1 has"
  return "v2", "the file uses no name that only TF1 has"


def find_units(module: Module, source_version: Optional[int] = None) -> list[Unit]:
  """All units of a module, in source order.

  Args:
    module: the analysed file.
    source_version: 1 or 2: what plain `tf.estimator.X` means; None: decide by the file.
  """
  by_variable: dict[Any, Unit] = {}
  units = []
  for call, symbol in facts.calls(module):
    kind = estimator_kind(symbol)
    if kind is None:
      continue
    statement = module.parents.get(call)
    target = _single_target(statement)
    scope = module.scope_of[call]
    key = (scope.lookup(target.id)[0], target.id) if target is not None else call
    unit = by_variable.get(key)
    if unit is None:
      flavour, reason = flavour_of(module, symbol, source_version)
      unit = Unit(target.id if target else kind, kind, symbol, flavour, reason, call)
      by_variable[key] = unit
      units.append(unit)
    if (unit.kind, unit.flavour) != (kind, flavour_of(module, symbol, source_version)[0]):
      unit.problem("EM212", call, what="is constructed from different classes")
      continue
    if isinstance(scope.node, ast.ClassDef):
      unit.problem("EM212", call, what="is a class attribute")
      continue
    if target is None:
      unit.problem("EM212", call, what=_destination(module, call))
      continue
    _add_construction(module, unit, call, symbol, statement)
  for unit in units:
    if unit.constructions:
      _add_variable_uses(module, unit)
  return units


def _single_target(statement: Optional[ast.AST]) -> Optional[ast.Name]:
  if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
    target = statement.targets[0]
    return target if isinstance(target, ast.Name) else None
  return None


def _destination(module: Module, call: ast.Call) -> str:
  parent = module.parents.get(call)
  if isinstance(parent, ast.Return):
    return "is returned to a caller"
  if isinstance(parent, (ast.Assign, ast.AnnAssign)):
    return "is stored in an attribute or container"
  if isinstance(parent, (ast.Call, ast.keyword)):
    return "is handed to another function"
  return "is not assigned to a variable"


def _add_construction(module, unit, call, symbol, statement) -> None:
  parameters = facts.PARAMETERS.get((unit.kind, unit.flavour))
  if parameters is None:
    return
  arguments = facts.bind_arguments(call, parameters)
  if arguments is None:
    unit.problem("EM208", call, argument="*args or **kwargs")
    return
  for name in arguments:
    if name not in parameters:
      unit.problem("EM208", call, argument=name)
  unit.constructions.append(Construction(call, symbol, statement, arguments, unit.kind))


def _add_variable_uses(module: Module, unit: Unit) -> None:
  statement = unit.constructions[0].statement
  target = statement.targets[0]  # type: ignore[attr-defined]
  owner, bindings = module.scope_of[target].lookup(unit.name)
  own = {c.statement for c in unit.constructions}
  for binding in bindings:
    if binding.node not in own:
      unit.problem("EM212", binding.node, what="shares its variable with another value")
  for construction in unit.constructions:
    if module.scope_of[construction.statement] is not owner:
      unit.problem("EM212", construction.call, what="is a global or nonlocal variable")
  for name in facts.loads(module, target):
    parent = module.parents.get(name)
    if _is_hook_argument(module, name):
      unit.handed.append(name)
      continue
    together = _train_and_evaluate(module, name)
    if together is not None:
      unit.calls.append(together)
      continue
    if not isinstance(parent, ast.Attribute):
      unit.problem("EM212", name, what="is handed to other code")
      continue
    call = module.parents.get(parent)
    if isinstance(call, ast.Call) and call.func is parent and parent.attr in _METHODS:
      arguments = facts.bind_arguments(call, facts.METHOD_PARAMETERS[parent.attr])
      if arguments is None:
        unit.problem("EM209", call, name=f"{parent.attr}(*args or **kwargs)")
        continue
      method = _SPELLINGS.get(parent.attr, parent.attr)
      unit.calls.append(MethodCall(call, method, arguments, name))
    elif parent.attr == "model_dir" and isinstance(parent.ctx, ast.Load):
      unit.model_dir_reads.append(parent)
    elif isinstance(call, ast.Call) and _eval_dir(module, parent, call) is not None:
      unit.eval_dir_calls[call] = _eval_dir(module, parent, call) or ""
    else:
      unit.problem("EM209", parent, name=parent.attr)


def _train_and_evaluate(module: Module, owner: ast.expr) -> Optional[MethodCall]:
  """The call of `tf.estimator.train_and_evaluate` to which an estimator is given, or None."""
  parent = module.parents.get(owner)
  call = module.parents.get(parent) if isinstance(parent, ast.keyword) else parent
  symbol = module.resolve(call.func) if isinstance(call, ast.Call) else None
  if symbol is None or symbol.path != f"tf.estimator.{_TRAIN_AND_EVALUATE}":
    return None
  assert isinstance(call, ast.Call)
  parameters = ("estimator", *facts.METHOD_PARAMETERS[_TRAIN_AND_EVALUATE])
  arguments = facts.bind_arguments(call, parameters)
  if arguments is None or "estimator" not in arguments:
    return None
  if arguments.pop("estimator").value is not owner:
    return None
  return MethodCall(call, _TRAIN_AND_EVALUATE, arguments, owner)


def _is_hook_argument(module: Module, name: ast.Name) -> bool:
  """Whether a name is the estimator of a hook, as in `stop_if_higher_hook(estimator, ...)`."""
  parent = module.parents.get(name)
  call = module.parents.get(parent) if isinstance(parent, ast.keyword) else parent
  hook = facts.hook_name(module.resolve(call.func)) if isinstance(call, ast.Call) else None
  if hook is None or facts.HOOK_PARAMETERS[hook][0] != "estimator":
    return False
  assert isinstance(call, ast.Call)
  if isinstance(parent, ast.keyword):
    return parent.arg == "estimator"
  return bool(call.args) and call.args[0] is name


def _eval_dir(module: Module, method: ast.Attribute, call: ast.Call) -> Optional[str]:
  """The name of the directory that `estimator.eval_dir(name)` gives, if the file shows it."""
  arguments = facts.bind_arguments(call, ("name",))
  if method.attr != "eval_dir" or call.func is not method or arguments is None:
    return None
  name = module.constant(arguments["name"].value) if "name" in arguments else None
  if set(arguments) - {"name"} or not (name is None or isinstance(name, str)):
    return None
  return f"eval_{name}" if name else "eval"
