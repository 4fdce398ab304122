"""Marks what a rewritten file still has of Estimators: nothing removed stays unmarked."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from migrator.analysis import facts, guards, symbols
from migrator.analysis.module import Module, Use
from migrator.lint import engine, rules, symbol_table, wording
from migrator.lint.finding import Finding
from migrator.rewrite import replacements, sessions
from migrator.rewrite.apply import apply
from migrator.rewrite.plan import Plan

_REMOVED = (
  "tf.estimator",
  "tf.keras.estimator",
  "tf.contrib",
  "tf.examples",
  "tensorflow.python.estimator",
)
_GONE = frozenset(("tf.keras.callbacks.experimental.BackupAndRestore",))
_COMPOUND = (
  ast.FunctionDef,
  ast.AsyncFunctionDef,
  ast.ClassDef,
  ast.If,
  ast.For,
  ast.While,
  ast.With,
)
# Of the program itself: one that keeps its graph has them as it had them before.
_FAULTS = ("EM411", "EM412", "EM413", "EM416")
_READERS = ("EM508", "EM601")
_MARK = re.compile(r"#\s*TODO\((EM\d{3})\)")


def is_removed(module: Module, use: Use) -> bool:
  """Whether TF 2.16 and later lack the name of a use, and run it."""
  return _is_gone(module, use) and not guards.is_for_older(module, use.node)


def _is_gone(module: Module, use: Use) -> bool:
  path = use.symbol.path
  if path in _GONE:
    return True
  if use.symbol.private and path.startswith("tf.estimator"):
    return True
  if any(path == r or path.startswith(r + ".") for r in _REMOVED):
    return True
  if path.startswith("tf.train.") and use.symbol.api != "v1":
    # A hook spelled tf.estimator.X; as tf.compat.v1.train.X it is still there.
    return "estimator" in module.source(use.node) or facts.is_tf1_only(module, use)
  if path.startswith("tf.train.") and ".estimator." in module.source(use.node):
    return True
  return facts.is_tf1_only(module, use) or replacements.removed(use.symbol)


def code_of(symbol: symbols.Symbol) -> str:
  """The rule that reports a removed symbol."""
  if symbol.private:
    return "EM902"
  fallback = "EM216" if symbol.path.startswith(_REMOVED) else "EM219"
  return symbol_table.of(rules.load()).code(symbol.path) or fallback


def remaining(before: str, after: str, path: str) -> list[Finding]:
  """What lint still finds after the rewrite, at its places in the old text where it stood there.

  Args:
    before: the source as it was.
    after: the source as it is now.
    path: the file's name.
  """
  if before == after:
    known = _lint(before, path)
    return [*known, *sessions.findings(before, path, known)]
  old_lines, new_lines = before.split("\n"), after.split("\n")
  places: dict[tuple, list[Finding]] = {}
  for finding in [*_lint(before, path), *_tf1_only(before, path)]:
    places.setdefault(_key(finding, old_lines), []).append(finding)
  found = []
  # The estimator that makes a directory a model_dir is gone from the new text: what reads the
  # directory is known in the old one only.
  old = [f for f in _lint(before, path) if f.code in _READERS]
  lines_after = {line.strip() for line in new_lines}
  # A session program is proposed for as it was; a saver of a hook may be gone with the hook.
  old += sessions.findings(before, path, _lint(before, path))
  found += [f for f in old if old_lines[f.span.line - 1].strip() in lines_after]
  for finding in [*_lint(after, path), *_tf1_only(after, path)]:
    same = places.get(_key(finding, new_lines))
    found.append(same.pop(0) if same else finding)
  return found


def faults(text: str, path: str) -> list[Finding]:
  """The faults of a program with a model_fn that it keeps when its model_fn is kept."""
  return [finding for finding in _lint(text, path) if finding.code in _FAULTS]


def _lint(text: str, path: str) -> list[Finding]:
  return engine.check_text(text, path)


def _tf1_only(text: str, path: str) -> list[Finding]:
  """EM219 for names that no rule of lint reports."""
  module = Module(text, path)
  return [
    rules.finding("EM219", use.span, path, symbol=use.symbol.path)
    for use in module.uses()
    if is_removed(module, use) and code_of(use.symbol) == "EM219"
  ]


def _key(finding: Finding, lines: Sequence[str]) -> tuple:
  return finding.code, lines[finding.span.line - 1].strip()


def mark(text: str, before: Module, path: str, reasons: Sequence[Finding]) -> str:
  """Puts `# TODO(EMnnn): reason` above each statement that uses a removed symbol.

  Args:
    text: the rewritten source.
    before: the source as it was.
    path: the file's name.
    reasons: why units were left, at their places in the old text; quoted above the statements
      in which they stand.

  Returns:
    The marked text.
  """
  module = Module(text, path)
  plan = Plan(module, path)
  why = _by_first_line(before, reasons)
  for use in module.uses():
    if not is_removed(module, use):
      continue
    statement = _first_of_line(module, module.statement(use.node))
    if any(_MARK.match(c) for c in plan.comments.leading(statement)):
      continue
    edit = plan.statement(statement)
    reason = why.get(module.parser_lines[statement.lineno - 1].strip())
    code, message = code_of(use.symbol), _removed(use)
    if reason is not None:
      code, message = reason.code, reason.message
    comment = f"# TODO({code}): {message}"
    if comment not in edit.comments:
      edit.comments.append(comment)
  return apply(plan) if plan.statements else text


def _first_of_line(module: Module, statement: ast.stmt) -> ast.stmt:
  """The statement that begins the line of another one: a comment can stand above that one only."""
  parent = module.parents.get(statement)
  while isinstance(parent, ast.stmt) and parent.lineno == statement.lineno:
    statement, parent = parent, module.parents.get(parent)
  for field in ("body", "orelse", "finalbody"):
    block = getattr(parent, field, None)
    if isinstance(block, list) and statement in block:
      return next(s for s in block if s.lineno == statement.lineno)
  return statement


def _by_first_line(module: Module, reasons: Sequence[Finding]) -> dict[str, Finding]:
  """The first reason in each statement, by the statement's first line."""
  found: dict[str, Finding] = {}
  for node in ast.walk(module.tree):
    if not isinstance(node, ast.stmt) or isinstance(node, _COMPOUND):
      continue
    for reason in reasons:
      if node.lineno <= reason.span.line <= (node.end_lineno or node.lineno):
        found.setdefault(module.parser_lines[node.lineno - 1].strip(), reason)
  return found


def _removed(use: Use) -> str:
  rule, path = rules.load()[code_of(use.symbol)], use.symbol.path
  # Most messages put their names in backticks.
  quoted = {n: path if f"`{{{n}}}`" in rule.message else f"`{path}`" for n in rule.placeholders}
  return rule.format({**quoted, "what": "", **wording.of(use.symbol)})


def unmarked(text: str, path: str) -> list[ast.stmt]:
  """Statements that use a removed symbol without a TODO above them."""
  module = Module(text, path)
  plan = Plan(module, path)
  found = []
  for use in module.uses():
    statement = _first_of_line(module, module.statement(use.node))
    if is_removed(module, use) and not any(
      _MARK.match(c) for c in plan.comments.leading(statement)
    ):
      found.append(statement)
  return found
