"""Rules that need no Python: their `[[match]]` says which uses and calls they flag.

Besides TensorFlow's names these may be of any package, so all names of a text are looked at,
and only in texts that contain one of their words.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from migrator.analysis import symbols
from migrator.analysis.module import UNKNOWN, Module
from migrator.lint import values
from migrator.lint.checks.registry import Context, Report, check
from migrator.lint.rule import Match, Rule


class _Use(NamedTuple):
  """A name, attribute chain or import that may mean any of `paths`.

  `node` is an expression, or an import statement whose `alias` is meant.
  """

  node: ast.AST
  paths: tuple[str, ...]
  alias: Optional[ast.alias] = None


@check(declared=True)
def declared(context: Context) -> Iterator[Report]:
  """What the `[[match]]` of the rules in use flag."""
  module = context.module
  rules = [r for r in context.rules.values() if r.may_flag(module.text)]
  for use in _uses(module) if rules else ():
    for rule in rules:
      yield from _reports(module, use, rule)


def _reports(module: Module, use: _Use, rule: Rule) -> Iterator[Report]:
  """The report of a rule on a use: of the first `[[match]]` that fits."""
  for match in rule.match:
    found = _meant(use, match)
    if found is None:
      continue
    symbol, below = found
    report = _report(module, use, rule, match, symbol, below)
    if report is not None:
      yield report
      return


def _meant(use: _Use, match: Match) -> Optional[tuple[str, int]]:
  """The symbol of a match that is used, and how many attributes of it follow; None: none."""
  for path in use.paths:
    for symbol in match.symbols:
      if symbol.endswith(".*"):
        if path.startswith(symbol[:-1]):
          return path, 0
      elif path == symbol:
        return symbol, 0
      elif path.startswith(symbol + ".") and not match.calls_only:
        return symbol, path[len(symbol) :].count(".")
  return None


def _report(
  module: Module, use: _Use, rule: Rule, match: Match, symbol: str, below: int
) -> Optional[Report]:
  """The report where all conditions of a match hold."""
  if use.alias is not None:
    if match.calls_only:
      return None
    # Before Python 3.10 the names of an import have no places.
    place = use.alias if hasattr(use.alias, "lineno") else use.node
    return Report(rule.code, module.span(place), {"symbol": symbol, "name": use.alias.name})
  node = use.node
  while below and isinstance(node, ast.Attribute):  # flag `t.Config` of `t.Config.default`
    node, below = node.value, below - 1
  call = module.parents.get(node)
  if not isinstance(call, ast.Call) or call.func is not node:
    call = None
  found: dict[str, Any] = {"symbol": symbol, "name": values.text(module, node)}
  argument = None
  if match.calls_only:
    if call is None:
      return None
    holds, argument = _argument(module, call, match)
    if not holds:
      return None
    found["keyword"] = match.keyword
    if argument is not None:
      found["value"] = values.text(module, argument)
  from migrator.lint import replacing  # for a team's own rules only

  span, text = replacing.place(module, node, call, argument, match, symbol)
  return Report(rule.code, span, found, text)


def _argument(module: Module, call: ast.Call, match: Match) -> tuple[bool, Optional[ast.expr]]:
  """Whether the argument of a call is as the match asks for, and the argument."""
  if not match.about_argument:
    return True, None
  names = [f"#{i}" for i in range(len(call.args))]
  key = match.keyword or f"#{match.position}"
  if match.position is not None and match.position < len(names):
    names[match.position] = key
  given = values.arguments(module, call, names)
  node = given.get(key)
  if match.missing:
    return node is None and given.complete, None
  return node is not None and _fits(values.literal(module, node), match), node


def _fits(value: Any, match: Match) -> bool:
  """Whether a literal value (or UNKNOWN) is one that the match asks for."""
  if match.none and value is not None:
    return False
  if match.value and not any(_same(value, wanted) for wanted in match.value):
    return False
  limits = [limit for limit in (match.below, match.above) if limit is not None]
  if limits and (isinstance(value, bool) or not isinstance(value, (int, float))):
    return False
  if match.below is not None and not value < match.below:
    return False
  if match.above is not None and not value > match.above:
    return False
  if match.pattern:
    return isinstance(value, str) and re.search(match.pattern, value) is not None
  return True


def _same(value: Any, wanted: Any) -> bool:
  """Equality that tells True from 1, and no text from a number."""
  return (
    value is not UNKNOWN
    and isinstance(value, bool) == isinstance(wanted, bool)
    and isinstance(value, str) == isinstance(wanted, str)
    and value == wanted
  )


def _uses(module: Module) -> Iterator[_Use]:
  """All imports, names and attribute chains (the longest only) of a module."""
  for node in module.scope_of:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
      for alias in node.names:
        yield _Use(node, tuple(_imported(module, node, alias)), alias)
    elif isinstance(node, (ast.Name, ast.Attribute)):
      parent = module.parents.get(node)
      if not isinstance(parent, ast.Attribute) and isinstance(node.ctx, ast.Load):
        yield _Use(node, tuple(_paths(module, node)))
    elif isinstance(node, ast.Call) and not isinstance(module.parents.get(node), ast.Attribute):
      symbol = module.resolve(node)  # only a getattr or an import_module means something
      if symbol is not None:
        yield _Use(node, (symbol.path,))


def _imported(module: Module, node: ast.AST, alias: ast.alias) -> Iterator[str]:
  """The names that an alias of an import can mean; `a.*` for all of `a`."""
  if isinstance(node, ast.ImportFrom):
    base = "." * node.level + (node.module or "")
    name = base + ("" if base.endswith(".") else ".") + alias.name
  else:
    name = alias.name
  if name.startswith("."):
    yield from _absolute(module, name)
  elif name.endswith(".*"):
    yield symbols.canonical(name[:-2]).path + ".*"
  else:
    yield symbols.canonical(name).path


def _paths(module: Module, node: ast.AST) -> Iterator[str]:
  """The dotted names that a chain can mean."""
  symbol = module.resolve(node)
  if symbol is not None:
    yield symbol.path
    return
  attributes: list[str] = []
  while isinstance(node, ast.Attribute):
    attributes.insert(0, node.attr)
    node = node.value
  if not isinstance(node, ast.Name):
    return
  _, bindings = module.scope_of.get(node, module.root).lookup(node.id)
  for binding in bindings:
    if binding.kind != "import":
      return
    if binding.target.startswith("."):
      yield from _absolute(module, ".".join([binding.target, *attributes]))
  if not bindings:
    for star in module.root.star_imports:
      names = [*_absolute(module, star)] if star.startswith(".") else [star]
      for name in names:
        yield symbols.canonical(".".join([name, node.id, *attributes])).path


def _absolute(module: Module, relative: str) -> Iterator[str]:
  """What `..training.make` can mean, by the folders of the file.

  Where a package begins cannot be told from the text, so every folder may be its first:
  in src/acme/jobs/train.py it is `src.acme.training.make` or `acme.training.make`.
  """
  name = relative.lstrip(".")
  level = len(relative) - len(name)
  folders = os.path.dirname(os.path.abspath(module.filename)).split(os.sep)
  folders = folders[: len(folders) - (level - 1)]
  for first in range(1, len(folders)):
    yield ".".join([*folders[first:], name] if name else folders[first:])
