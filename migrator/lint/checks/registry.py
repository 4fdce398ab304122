"""What a check is: a function from a module to reports, registered by the codes it gives."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Callable, NamedTuple, Optional

from migrator.analysis import facts, guards, symbols, type_hints
from migrator.analysis.module import Module, Span, Use
from migrator.lint import symbol_table
from migrator.lint.rules import Rule


class Report(NamedTuple):
  """A rule that applies at a place.

  Attributes:
    code: the rule.
    span: the place.
    values: what the rule's message needs.
    replacement: what the text of the span becomes, where a fix is that simple.
  """

  code: str
  span: Span
  values: Mapping[str, Any]
  replacement: Optional[str] = None


_ESTIMATOR_REMOVED = (2, 16)


class Context:
  """One module with what several checks need."""

  def __init__(self, module: Module, rules: Mapping[str, Rule]):
    self.module = module
    self.rules = rules
    table = symbol_table.of(rules)
    self.guards = guards.Guards(module, lambda path: table.code(path) is not None)
    self.uses: list[Use] = [
      use
      for use in (*module.uses(), *type_hints.uses(module))
      if table.code(use.symbol.path) is None or not self.guards.is_dead(use)
    ]
    self.calls: list[tuple[ast.Call, symbols.Symbol]] = list(self._calls())
    self._use_at = {id(use.node): use for use in self.uses}

  def _calls(self) -> Iterator[tuple[ast.Call, symbols.Symbol]]:
    for use in self.uses:
      parent = self.module.parents.get(use.node)
      if isinstance(parent, ast.Call) and parent.func is use.node:
        yield parent, use.symbol

  def calls_of(self, *paths: str) -> Iterator[tuple[ast.Call, symbols.Symbol]]:
    """The calls of these symbols."""
    return ((call, symbol) for call, symbol in self.calls if symbol.path in paths)

  def is_guarded(self, node: ast.AST, code: str) -> bool:
    """Whether something keeps the name at a node from TensorFlow versions without it."""
    use = self._use_at.get(id(node))
    return use is not None and self.guard(use, code) is not None

  def guard(self, use: Use, code: str) -> Optional[str]:
    """What keeps a use that a rule flags from TensorFlow versions without it, in words, or None."""
    removed = self.rules[code].removed_in
    version = tuple(int(part) for part in removed.split(".")) if removed else _ESTIMATOR_REMOVED
    if self.is_of_estimator(use):
      version = _ESTIMATOR_REMOVED  # tf.estimator.SessionRunHook
    return self.guards.words(use, version)

  def is_of_estimator(self, use: Use) -> bool:
    """Whether a name of `tf.train` is spelled as the one that `tf.estimator` has as well."""
    if not use.symbol.path.startswith("tf.train."):
      return False
    if "estimator" in self.module.source(use.node):
      return True
    if not isinstance(use.node, ast.Name):
      return False
    _, bindings = self.module.scope_of.get(use.node, self.module.root).lookup(use.node.id)
    return any(".estimator" in (binding.target or "") for binding in bindings)

  def report(self, code: str, node: ast.AST, **values: Any) -> Report:
    """The report of a rule at a node; for a call, at what is called."""
    place = node.func if isinstance(node, ast.Call) else node
    return Report(code, self.module.span(place), values)


Function = Callable[[Context], Iterable[Report]]


class Check(NamedTuple):
  """A registered function.

  Attributes:
    function: yields the reports of a module.
    codes: codes, or beginnings of them, that it reports.
    words: it runs only on a text that contains one of these; () for every text. A text on which
      it runs for its words is analysed whole, which takes time: the rarer the words the better.
    also: the text must contain one of these as well; () asks for none.
    evidence: regular expression that must be found in the text as well; None asks for none. Like
      `also` it spares the time to analyse texts in which the check can find nothing.
    symbols: canonical names that it looks for besides those that rules list. A check without
      words sees the uses of such symbols only, and only parts of a file: the statements at the
      left edge, the functions and methods in which such a use stands, and what they need.
    declared: it looks at the `[[match]]` of the rules in use, and its words are theirs.
  """

  function: Function
  codes: tuple[str, ...]
  words: tuple[str, ...] = ()
  declared: bool = False
  symbols: tuple[str, ...] = ()
  also: tuple[str, ...] = ()
  evidence: Optional[str] = None

  def may_report(self, text: str) -> bool:
    """Whether a text that has one of its words has what else the check needs."""
    if self.also and not any(word in text for word in self.also):
      return False
    return self.evidence is None or re.search(self.evidence, text) is not None


# Those of the modules that have been imported; `catalogue` has all.
CHECKS: dict[Function, Check] = {}


def check(
  *codes: str,
  words: Sequence[str] = (),
  also: Sequence[str] = (),
  symbols: Sequence[str] = (),
  declared: bool = False,
  evidence: Optional[str] = None,
) -> Callable[[Function], Function]:
  """Registers a function as the logic of some rules; see `Check`."""

  def register(function: Function) -> Function:
    CHECKS[function] = Check(
      function, codes, tuple(words), declared, tuple(symbols), tuple(also), evidence
    )
    return function

  return register


def checks(known: Iterable[Check], words: tuple[str, ...]) -> tuple[Check, ...]:
  """Those that are to run; `words` are those of the `[[match]]` of the rules in use."""
  found = []
  for entry in known:
    if not entry.declared:
      found.append(entry)
    elif words:
      found.append(entry._replace(words=words))
  return tuple(found)


def hook_classes(module: Module) -> Iterator[tuple[ast.ClassDef, ast.expr, symbols.Symbol]]:
  """Classes that derive from a hook or listener of TensorFlow: class, base, the hook."""
  for node in list(module.nodes()):
    if type(node) is ast.ClassDef and node.bases:
      symbol = facts.hook_base(module, node)
      if symbol is not None:
        yield node, _guilty_base(module, node), symbol


def _guilty_base(module: Module, node: ast.ClassDef) -> ast.expr:
  """The base through which a class becomes a hook."""
  for base in node.bases:
    symbol = module.resolve(base)
    if symbols.is_tensorflow(symbol):
      return base
  for base in node.bases:
    definition = module.definition(base)
    if isinstance(definition, ast.ClassDef) and facts.hook_base(module, definition):
      return base
  return node.bases[0]
