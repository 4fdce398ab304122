"""Units: one estimator with its RunConfig, hooks, input functions and calls."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple, Optional

from migrator.analysis import aliases, estimator_hints, facts, flows, symbols
from migrator.analysis.module import Module

ESTIMATOR_SUFFIXES = ("Classifier", "Regressor", "Estimator")
KERAS = "model_to_estimator"
# Those that get their graph from a model_fn of the program.
CUSTOM = ("Estimator", "TPUEstimator")
# A file without an estimator that is rewritten for those that import it.
MODULE = "module"
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
    functions: the functions that return it.
    attributes: the names of the attributes that hold it.
    hints: the type hints of all that it flows through.
    shown: the reads that only print it or its class.
    added_metrics: the calls of `tf.estimator.add_metrics` on it.
    handed: where it is handed to a hook of TensorFlow that reads its directory or evaluates.
    eval_dir_calls: the calls of `eval_dir`, and the directory's name in the model directory.
    problems: reasons why it stays as it is; empty when the facts are complete. Those of a custom
      one keep it from being taken apart, not from being run as it is.
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
    self.functions: list[ast.FunctionDef] = []
    self.attributes: frozenset[str] = frozenset()
    self.hints: list[ast.expr] = []
    self.added_metrics: list[flows.AddedMetrics] = []
    self.shown: list[ast.expr] = []
    self.handed: list[ast.expr] = []
    self.eval_dir_calls: dict[ast.Call, str] = {}
    self.problems: list[Problem] = []

  def problem(self, code: str, node: ast.AST, **values: Any) -> None:
    self.problems.append(Problem(code, node, values))

  @property
  def custom(self) -> bool:
    """Whether it has a model_fn of its own, or is a module that such a program imports."""
    return self.kind in CUSTOM or self.kind == MODULE


def estimator_kind(symbol: symbols.Symbol) -> Optional[str]:
  """The class name, if the symbol is an estimator's class, or `KERAS`; else None."""
  head, _, name = symbol.path.rpartition(".")
  if symbol.path == f"tf.keras.estimator.{KERAS}":
    return KERAS
  if symbol.path == "tf.contrib.tpu.TPUEstimator":
    return name
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
  made: dict[ast.Call, _Made] = {}
  for call, symbol in facts.calls(module):
    kind = estimator_kind(symbol)
    if kind is not None:
      flavour, reason = flavour_of(module, symbol, source_version)
      if kind == KERAS:
        flavour, reason = "v2", ""  # that of the Keras optimizers, in every version
      elif kind in CUSTOM:
        flavour, reason = "v1", ""  # what it does is up to its model_fn
      made[call] = _Made(call, symbol, kind, flavour, reason)

  def is_known(call: ast.Call) -> bool:
    return call in made and (made[call].kind, made[call].flavour) in facts.PARAMETERS

  found: list[Unit] = []
  placed: set[ast.AST] = set()
  variables: set[Any] = set()
  for call in made:
    if call not in placed and is_known(call):
      flow = flows.Flow(module, is_known).trace(call)
      placed.update(flow.constructions)
      variables.update(flow.variables)
      found.append(_unit_of(module, flow, made))
  others = [m for m in made.values() if m.call not in placed]
  found += _others(module, others, variables)
  return sorted(found, key=lambda u: (u.node.lineno, u.node.col_offset))  # type: ignore[attr-defined]


class _Made(NamedTuple):
  call: ast.Call
  symbol: symbols.Symbol
  kind: str
  flavour: str
  reason: str


def _unit_of(module: Module, flow: flows.Flow, made: dict[ast.Call, _Made]) -> Unit:
  """The unit of estimators whose classes are known, with all its uses."""
  order = sorted(flow.constructions, key=lambda c: (c.lineno, c.col_offset))
  first = made[order[0]]
  unit = Unit(_name(module, flow, first), first.kind, first.symbol, *first[3:], first.call)
  unit.hints = estimator_hints.of(module, flow)
  # What a hint says of a variable has to hold for all that is done with it: one object.
  unit.handle = bool(unit.hints) or _is_handle(module, flow, {made[c].kind for c in order})
  unit.added_metrics = sorted(flow.added_metrics, key=lambda m: (m.call.lineno, m.call.col_offset))
  unit.attributes = frozenset(name for _, name in flow.attributes)
  unit.functions = [f for f in flow.functions if isinstance(f, ast.FunctionDef)]
  customs = {made[call].kind in CUSTOM for call in order}
  for call in order:
    if made[call].flavour != first.flavour or len(customs) > 1:
      unit.problem("EM212", call, what="is constructed from different classes")
    else:
      _add_construction(module, unit, made[call])
  for node, what in flow.escapes.items():
    unit.problem("EM212", node, what=what)
  for read in sorted(flow.leaves, key=lambda n: (n.lineno, n.col_offset)):
    _add_use(module, unit, read)
  return unit


def _name(module: Module, flow: flows.Flow, first: _Made) -> str:
  """The variable or attribute that the first construction is assigned to; else any; its class."""
  statement = module.parents.get(first.call)
  target = statement.targets[0] if isinstance(statement, ast.Assign) else None
  if isinstance(target, ast.Name):
    return target.id
  if isinstance(target, ast.Attribute):
    return target.attr
  names = [*(name for _, name in flow.variables), *(name for _, name in flow.attributes)]
  return names[0] if names else first.kind


def _is_handle(module: Module, flow: flows.Flow, kinds: set[str]) -> bool:
  """Whether the estimator is more than what the constructor's own variable holds."""
  if len(flow.variables) != 1 or flow.functions or flow.attributes or len(kinds) > 1:
    return True
  scope, _ = next(iter(flow.variables))
  return flow.optional or any(
    _single_target(module.parents.get(call)) is None or module.scope_of[call] is not scope
    for call in flow.constructions
  )


def _others(module: Module, others: list[_Made], variables: set[Any]) -> list[Unit]:
  """Units of classes without counterpart: by variable, without their uses."""
  by_variable: dict[Any, Unit] = {}
  for made in others:
    call = made.call
    target = _single_target(module.parents.get(call))
    key = (module.scope_of[call].lookup(target.id)[0], target.id) if target is not None else call
    if key in variables:
      continue  # a problem of that unit
    name = target.id if target else made.kind
    unit = by_variable.setdefault(key, Unit(name, made.kind, made.symbol, *made[3:], call))
    if (unit.kind, unit.flavour) != (made.kind, made.flavour):
      unit.problem("EM212", call, what="is constructed from different classes")
    elif isinstance(module.scope_of[call].node, ast.ClassDef):
      unit.problem("EM212", call, what="is a class attribute")
    elif target is None:
      unit.problem("EM212", call, what=_destination(module, call))
  return list(by_variable.values())


def _single_target(statement: Optional[ast.AST]) -> Optional[ast.Name]:
  if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
    target = statement.targets[0]
    return target if isinstance(target, ast.Name) else None
  return None


def _destination(module: Module, node: ast.AST) -> str:
  """Where a value goes that no longer can be followed, for a message."""
  parent = module.parents.get(node)
  if isinstance(parent, ast.keyword):
    parent = module.parents.get(parent)
  if isinstance(parent, (ast.Return, ast.Lambda)):
    return "is returned to a caller"
  if isinstance(parent, ast.Call) and isinstance(parent.func, (ast.Name, ast.Attribute)):
    return f"is handed to `{module.source(parent.func)}()`"
  if isinstance(parent, (ast.Assign, ast.AnnAssign, ast.Tuple, ast.List, ast.Dict, ast.Set)):
    return "is stored in an attribute or container"
  if isinstance(parent, ast.Expr):
    return "is not assigned to a variable"
  return "is handed to other code"


def _add_construction(module: Module, unit: Unit, made: _Made) -> None:
  if not aliases.is_certain(module, made.call.func):
    unit.problem("EM212", made.call, what="is constructed from different classes")
    return
  parameters = facts.PARAMETERS[made.kind, made.flavour]
  arguments = facts.bind_arguments(made.call, parameters)
  if arguments is None:
    unit.problem("EM208", made.call, argument="*args or **kwargs")
    return
  for name in arguments:
    if name not in parameters:
      unit.problem("EM208", made.call, argument=name)
  statement = module.statement(made.call)
  unit.constructions.append(Construction(made.call, made.symbol, statement, arguments, made.kind))


def _add_use(module: Module, unit: Unit, read: ast.expr) -> None:
  """Takes down what a read of the estimator does with it."""
  parent = module.parents.get(read)
  made = any(read is construction.call for construction in unit.constructions)
  if isinstance(parent, ast.Expr) and not made:
    return  # shown in a notebook, or the unused result of a function
  if _is_shown(module, read):
    unit.shown.append(read)
    return
  if _is_hook_argument(module, read):
    unit.handed.append(read)
    return
  together = _train_and_evaluate(module, read)
  if together is not None:
    unit.calls.append(together)
    return
  if not isinstance(parent, ast.Attribute):
    unit.problem("EM212", read, what=_destination(module, read))
    return
  call = module.parents.get(parent)
  if isinstance(call, ast.Call) and call.func is parent and parent.attr in _METHODS:
    arguments = facts.bind_arguments(call, facts.METHOD_PARAMETERS[parent.attr])
    if arguments is None:
      unit.problem("EM209", call, name=f"{parent.attr}(*args or **kwargs)")
      return
    method = _SPELLINGS.get(parent.attr, parent.attr)
    unit.calls.append(MethodCall(call, method, arguments, read))
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


def _is_shown(module: Module, read: ast.expr) -> bool:
  """Whether a read of the estimator only prints it or its class."""
  parent: Optional[ast.AST] = read
  calls = []
  while not isinstance(parent, ast.stmt) and parent is not None:
    parent = module.parents.get(parent)
    if isinstance(parent, ast.Call):
      calls.append(parent)
  names = [c.func.id if isinstance(c.func, ast.Name) else "" for c in calls]
  methods = [c.func.attr if isinstance(c.func, ast.Attribute) else "" for c in calls]
  known = [n in ("type", "str", "repr", "print") or m == "format" for n, m in zip(names, methods)]
  return (
    isinstance(parent, ast.Expr)
    and bool(calls)
    and names[-1] == "print"
    and all(known)
    and read in (calls[0].args)
  )


def _is_hook_argument(module: Module, name: ast.expr) -> bool:
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
