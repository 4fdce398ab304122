"""Where the keywords of a RunConfig come from: its constructor, `replace`, callers of a function.

`replace` unsets the other cadence when it sets one
(https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/estimator/RunConfig#replace).
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Optional

from migrator.analysis import facts, local_calls
from migrator.analysis.module import UNKNOWN
from migrator.rewrite import moves
from migrator.rewrite.plan import Plan, Unsupported

_CADENCES = {
  "save_checkpoints_steps": "save_checkpoints_secs",
  "save_checkpoints_secs": "save_checkpoints_steps",
}


@dataclasses.dataclass
class Source:
  """The keywords of a RunConfig and all that is to be done with it.

  Attributes:
    arguments: the keywords, in the user's order.
    statements: the assignments that are left without use.
    variables: a read of each variable that holds it.
    names: the reads of these variables that are explained.
    unset: (a, b, text): the cadence `a` is that of the text where `b` is None, and unset else.
  """

  arguments: dict[str, facts.Argument] = dataclasses.field(default_factory=dict)
  statements: list[ast.stmt] = dataclasses.field(default_factory=list)
  variables: list[ast.Name] = dataclasses.field(default_factory=list)
  names: list[ast.Name] = dataclasses.field(default_factory=list)
  unset: Optional[tuple[str, str, str]] = None


def is_run_config(symbol) -> bool:
  """Whether a symbol is the Estimator's RunConfig."""
  return symbol is not None and symbol.path == "tf.estimator.RunConfig"


def read(plan: Plan, config: ast.expr) -> Source:
  """Reads the value of a `config=` argument; plans what takes the place of its other reads.

  Raises:
    Unsupported: EM109, a RunConfig that the file does not show.
  """
  source = Source()
  _resolve(plan, config, config, source)
  _replace_reads(plan, source)
  return source


def _resolve(plan: Plan, node: ast.expr, config: ast.expr, source: Source) -> None:
  module = plan.module
  if isinstance(node, ast.Constant) and node.value is None:
    return
  if isinstance(node, ast.Name) and node not in source.names:
    source.names.append(node)
    source.variables.append(node)
    _variable(plan, node, config, source)
    return
  if isinstance(node, ast.Call):
    if is_run_config(module.resolve(node.func)):
      bound = facts.bind_arguments(node, facts.RUN_CONFIG_PARAMETERS)
      if bound is None:
        raise Unsupported("EM109", node, what="a RunConfig with *args or **kwargs")
      source.arguments.update(bound)
      return
    base = _replaced(node)
    if base is not None:
      _resolve(plan, base, config, source)
      _override(plan, node, source)
      return
  raise Unsupported("EM109", config, what=module.source(config))


def _variable(plan: Plan, node: ast.Name, config: ast.expr, source: Source) -> None:
  scope, bindings = plan.module.scope_of[node].lookup(node.id)
  if scope is not None and [b.kind for b in bindings] == ["param"]:
    _parameter(plan, node, scope.node, config, source)
    return
  values = [b.value for b in bindings if b.kind == "assign" and b.value is not None]
  own = [b.node for b in bindings]
  if not values or len(values) != len(bindings) or not _follow_each_other(plan, node, own):
    raise Unsupported("EM109", config, what=plan.module.source(config))
  _resolve(plan, values[0], config, source)
  for value in values[1:]:
    base = _replaced(value)
    if not isinstance(value, ast.Call) or not isinstance(base, ast.Name) or base.id != node.id:
      raise Unsupported("EM109", config, what=plan.module.source(config))
    source.names.append(base)
    _override(plan, value, source)
  source.statements += own  # type: ignore[arg-type]


def _replaced(node: ast.expr) -> Optional[ast.expr]:
  """`x` of `x.replace(key=value)`, or None."""
  if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
    return node.func.value if node.func.attr == "replace" else None
  return None


def _follow_each_other(plan: Plan, read_: ast.Name, statements: list[ast.AST]) -> bool:
  """Whether a variable has one value, or several one after the other before it is read."""
  if len(statements) == 1:
    statement = statements[0]
    is_single = isinstance(statement, ast.Assign) and len(statement.targets) == 1
    return is_single or isinstance(statement, ast.AnnAssign)
  parents = plan.module.parents
  blocks = {parents[s] for s in statements} | {plan.module.scope_of[read_].node}
  last = max(s.lineno for s in statements)  # type: ignore[attr-defined]
  return len(blocks) == 1 and last < read_.lineno


def _parameter(plan: Plan, node: ast.Name, function, config: ast.expr, source: Source) -> None:
  """A parameter of a function of the file, to which all callers give the same RunConfig."""
  module = plan.module
  what = f"`{node.id}`, which not all callers show,"
  if not isinstance(function, ast.FunctionDef) or isinstance(
    module.parents[function], ast.ClassDef
  ):
    raise Unsupported("EM109", config, what=what)
  given = []
  for read_ in local_calls.reads_of(module, function):
    call = module.parents[read_]
    if not isinstance(call, ast.Call) or call.func is not read_:
      raise Unsupported("EM109", read_, what=what)
    value = local_calls.given(module, call, function, node.id)
    given.append(value or local_calls.default(function, node.id))
    if value is not None and module.constant(value) is not None:
      plan.expressions[value] = "None"
  if not given or None in given:
    raise Unsupported("EM109", config, what=what)
  if len({_identity(plan, value) for value in given if value is not None}) > 1:
    what = f"`{node.id}`, which is another one in each call of {function.name}(),"
    raise Unsupported("EM109", config, what=what)
  for value in given[1:]:
    if isinstance(value, ast.Name):
      source.names.append(value)
  _, bindings = module.scope_of[node].lookup(node.id)
  hint = bindings[0].node.annotation if isinstance(bindings[0].node, ast.arg) else None
  if isinstance(hint, (ast.Name, ast.Attribute, ast.Subscript, ast.Constant)):
    plan.expressions[hint] = "None"  # all that it gets now
  if given[0] is not None:
    _resolve(plan, given[0], config, source)


def _identity(plan: Plan, value: ast.expr) -> object:
  """Equal for two reads of one variable and for two equal constants."""
  if isinstance(value, ast.Name):
    scope, _ = plan.module.scope_of[value].lookup(value.id)
    return (scope, value.id)
  return ("constant", value.value) if isinstance(value, ast.Constant) else value


def _override(plan: Plan, call: ast.Call, source: Source) -> None:
  """What `replace(...)` sets, and the cadence that it unsets."""
  bound = facts.bind_arguments(call, ())
  if bound is None:
    raise Unsupported("EM109", call, what="replace(**kwargs)")
  for name, argument in bound.items():
    source.arguments.pop(name, None)
    source.arguments[name] = argument
  changed = [name for name in _CADENCES if name in bound]
  if len(changed) == 1:
    value, other = plan.module.constant(bound[changed[0]].value), _CADENCES[changed[0]]
    known = source.arguments.pop(other, None)
    source.unset = None
    if value is UNKNOWN:
      # None leaves the other cadence as it was.
      default = "600" if other == "save_checkpoints_secs" else "None"
      before = plan.source(known.value) if known is not None else default
      if known is not None and moves.repeat_obstacle(plan.module, known.value) is not None:
        raise Unsupported("EM109", call, what=f"replace({changed[0]}=) after {other}=")
      source.unset = (other, changed[0], before)
    elif value is None:
      raise Unsupported("EM109", call, what=f"replace({changed[0]}=None)")
  elif changed:
    source.unset = None


def _replace_reads(plan: Plan, source: Source) -> None:
  """`config.model_dir` becomes the expression that was given."""
  module = plan.module
  for variable in source.variables:
    for load in facts.loads(module, variable):
      attribute = module.parents[load]
      if load in source.names or not isinstance(attribute, ast.Attribute):
        continue
      argument = source.arguments.get(attribute.attr)
      if argument is None and attribute.attr == "model_dir":
        plan.expressions[attribute] = "None"
        source.names.append(load)
      elif argument is not None and attribute.attr not in _CADENCES:
        reason = moves.obstacle(module, argument.value, attribute)
        if reason is not None:
          what = f"{attribute.attr} (read in line {attribute.lineno}): {reason}"
          raise Unsupported("EM109", argument.node, what=what)
        plan.expressions[attribute] = plan.atom(argument.value)
        source.names.append(load)
