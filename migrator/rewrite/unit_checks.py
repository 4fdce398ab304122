"""What keeps a unit from being rewritten, whatever its target."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrator.analysis import facts, units
from migrator.analysis.module import Module
from migrator.lint import wording
from migrator.rewrite import driver_graphs, unit_network
from migrator.rewrite.plan import Plan, Unsupported

_GRAPHS = ("tf.Graph", "tf.Session", "tf.InteractiveSession", "tf.train.Monitored")
_OTHER_KINDS = {"KMeans": "EM261"}


def check(module: Module, unit: units.Unit) -> None:
  """Raises Unsupported where a unit cannot be rewritten by any target."""
  if (unit.kind, unit.flavour) not in facts.PARAMETERS:
    code = _OTHER_KINDS.get(unit.kind, "EM223")
    code = "EM260" if unit.kind.startswith("BoostedTrees") else code
    raise Unsupported(code, unit.node, what=unit.kind, **wording.of(unit.symbol))
  for use in module.uses():
    name = use.symbol.path.rpartition(".")[2]
    if name in ("disable_v2_behavior", "disable_eager_execution"):
      raise Unsupported("EM217", use.node, symbol=wording.spelled(use.symbol))
  for construction in unit.constructions:
    for scope in module.scope_of[construction.call].chain():
      for name in ("functools", "itertools", "os", "tempfile"):
        if not scope.is_module and name in scope.bindings:
          what = f"`{name}` is a local name of the function"
          raise Unsupported("EM220", construction.call, what=what)
  if unit.custom:
    driver_graphs.check(module, unit.name)
  calls = [c.call for c in unit.constructions] + [c.call for c in unit.calls]
  for call in calls:
    _check_context(module, call)
  for node in ast.walk(module.tree):
    if isinstance(node, ast.Constant) and node.value == "TF_CONFIG":
      if unit.custom:
        reason = "TF_CONFIG may ask for several workers"
        raise Unsupported("EM244", node, name=unit.name, reason=reason)
      raise Unsupported("EM107", node, what="TF_CONFIG")


def _check_context(module: Module, call: ast.Call) -> None:
  """A unit inside `with tf.Graph().as_default():` or a session would not run eagerly."""
  for ancestor in module.ancestors(call):
    if not isinstance(ancestor, (ast.With, ast.AsyncWith)):
      continue
    for item in ancestor.items:
      for node in ast.walk(item.context_expr):
        symbol = module.resolve(node) if isinstance(node, (ast.Attribute, ast.Name)) else None
        if symbol is not None and symbol.path.startswith(_GRAPHS):
          raise Unsupported("EM217", node, symbol=symbol.path)


def check_shared(
  plan: Plan,
  written: Sequence[tuple[units.Unit, unit_network.Network]],
  refused: dict[units.Unit, Unsupported],
  networks: Sequence[unit_network.Network],
) -> None:
  """A RunConfig that something else reads keeps its units as they are.

  Args:
    plan: of the file.
    written: the units that are planned, with what each of them builds.
    refused: the units that stay; gets those of such RunConfigs.
    networks: all that is built.
  """
  names = {id(name) for network in networks for name in network.policy.names}
  for unit, network in written:
    for variable in network.policy.variables:
      for name in facts.loads(plan.module, variable):
        if id(name) not in names and unit not in refused:
          what = f"`{name.id}` is also read in line {name.lineno}; its RunConfig"
          refused[unit] = Unsupported("EM109", name, what=what)


def needed_twins(plan: Plan) -> set[ast.ClassDef]:
  """Converted hook classes that something other than the rewritten units uses."""
  needed = set()
  explained = {id(n) for n in plan.hook_names}
  for node in plan.classes:
    bases = {id(b) for c in plan.classes for b in c.bases}
    for name in ast.walk(plan.module.tree):
      if (
        isinstance(name, ast.Name)
        and name.id == node.name
        and isinstance(name.ctx, ast.Load)
        and plan.module.definition(name) is node
        and id(name) not in explained | bases
        and not _inside(plan.module, name, node)
      ):
        needed.add(node)
  return needed


def _inside(module: Module, name: ast.AST, node: ast.AST) -> bool:
  return any(a is node for a in module.ancestors(name))
