"""Finds the session units of a file, and which call of `save` and `restore` belongs to which."""

from __future__ import annotations

import ast
from typing import Any, Optional

from migrator.analysis import facts
from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks import estimators, reaching
from migrator.rewrite.sessions import found
from migrator.rewrite.sessions.found import META_GRAPH, SAVER, SAVER_HOOK, SUPERVISOR, Unit

_KINDS = (
  SAVER,
  META_GRAPH,
  SUPERVISOR,
  found.TRAINING_SESSION,
  found.SINGULAR_SESSION,
  found.MONITORED_SESSION,
)


def find(module: Module) -> list[Unit]:
  """The units of a module, in the order of the source.

  A Saver that a monitored session, a Supervisor or an EstimatorSpec gets belongs to these. Calls that make
  one attribute, or one variable on several paths, are one unit.
  """
  units: list[Unit] = []
  taken = _taken_savers(module)
  for call, symbol in facts.calls(module):
    if symbol.path not in _KINDS or call in taken:
      continue
    target = found.target_of(module, call)
    key = found.key_of(module, target) if target is not None else call
    same = [u for u in units if isinstance(target, ast.Attribute) and u.key == key]
    if same and same[0].kind == symbol.path:
      same[0].others.append(call)
      continue
    name = module.source(target) if target is not None else ""
    units.append(_make(module, call, key, symbol.path, name))
  _add_uses(module, units)
  return sorted(units, key=lambda u: (u.call.lineno, u.call.col_offset))


def _make(module: Module, call: ast.Call, key: Any, path: str, name: str) -> Unit:
  unit = Unit(path, call, key, name, found.bind(module, call, path))
  if path == SAVER:
    unit.saver = call
  elif path == SUPERVISOR:
    unit.saver = found.known_call(module, unit.arguments.get("saver"), SAVER)
  elif path != META_GRAPH:
    if path == found.MONITORED_SESSION:
      _add_creator(module, unit)
    unit.saver = found.saver_of_scaffold(module, unit.arguments.get("scaffold"))
    for key in ("hooks", "chief_only_hooks"):
      for element in estimators.elements(module, unit.arguments.get(key)):
        meant = values.possible(module, element) or [element]
        unit.hooks += [f for f in meant if f not in unit.hooks]
        for hook in meant:
          unit.elements.setdefault(hook, element)
  return unit


def _add_creator(module: Module, unit: Unit) -> None:
  """Gives a MonitoredSession the arguments of its ChiefSessionCreator, which restores."""
  creator = found.known_call(module, unit.arguments.get("session_creator"), found.CHIEF_CREATOR)
  if creator is not None:
    for name, node in found.bind(module, creator, found.CHIEF_CREATOR).nodes.items():
      unit.arguments.nodes.setdefault(name, node)


def _taken_savers(module: Module) -> set[ast.AST]:
  """Savers that a Scaffold, Supervisor or CheckpointSaverHook gets."""
  taken: set[ast.AST] = set()
  for call, symbol in facts.calls(module):
    if symbol.path in ("tf.train.Scaffold", SUPERVISOR, SAVER_HOOK):
      node = found.bind(module, call, symbol.path).get("saver")
      taken.update(values.possible(module, node) or () if node is not None else ())
  return taken


def _add_uses(module: Module, units: list[Unit]) -> None:
  """Gives each call of a Saver's method to the unit whose Saver it is."""
  for node in list(module.scope_of):
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
      continue
    if node.func.attr not in found.METHODS:
      continue
    meant = _receivers(module, node.func.value, units)
    if not meant:
      continue
    first, *others = meant
    first.uses.append(node)
    for other in others:
      first.others += other.calls
      first.uses += other.uses
      units.remove(other)
  for unit in units:
    unit.uses.sort(key=lambda c: (c.lineno, c.col_offset))


def _receivers(module: Module, node: ast.expr, units: list[Unit]) -> list[Unit]:
  """The units whose Saver an expression can be."""
  if isinstance(node, ast.Call):
    return [u for u in units if node in u.calls]
  if not isinstance(node, (ast.Name, ast.Attribute)):
    return []
  own = _of_variable(module, node, units)
  if own:
    return [u for u in own if u.kind in (SAVER, META_GRAPH)]
  if isinstance(node, ast.Attribute) and node.attr == "saver":
    owners = [u for u in _of_variable(module, node.value, units) if u.kind == SUPERVISOR]
    if owners:
      return owners  # supervisor.saver.save(...)
  key = found.key_of(module, node)
  for unit in units:
    if _key_of_saver(module, unit) == key:
      return [unit]
  # A parameter or the attribute of another object: a Saver of this name, if there is one only.
  name = node.id if isinstance(node, ast.Name) else node.attr
  alike = [u for u in units if u.kind in (SAVER, META_GRAPH) and u.name.rpartition(".")[2] == name]
  return alike if len(alike) == 1 and not _is_bound(module, node) else []


def _of_variable(module: Module, node: ast.expr, units: list[Unit]) -> list[Unit]:
  """The units that a variable can be at its place."""
  key = found.key_of(module, node)
  alike = [u for u in units if u.key == key]
  if len(alike) > 1 and isinstance(node, ast.Name):
    bindings = reaching.reaching(module, node)
    made = {id(b.value) for b in bindings}
    alike = [u for u in alike if any(id(c) in made for c in u.calls)] or alike
  return alike


def _key_of_saver(module: Module, unit: Unit) -> Optional[Any]:
  """What is equal for the expressions that mean the Saver which another unit is given."""
  if unit.saver is None or unit.saver is unit.call:
    return None
  target = found.target_of(module, unit.saver)
  return found.key_of(module, target) if target is not None else None


def _is_bound(module: Module, node: ast.expr) -> bool:
  """Whether a name has a value of its own where it stands."""
  if not isinstance(node, ast.Name):
    return False
  _, bindings = module.scope_of[node].lookup(node.id)
  return any(b.kind != "param" for b in bindings)
