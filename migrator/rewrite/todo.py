"""Marks what a rewritten file still has of Estimators: nothing removed stays unmarked."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from migrator.analysis import symbols
from migrator.analysis.module import Module, Use
from migrator.lint import rules
from migrator.lint.finding import Finding
from migrator.rewrite.apply import apply
from migrator.rewrite.plan import Plan

_REMOVED = ("tf.estimator", "tf.keras.estimator", "tf.contrib", "tensorflow.python.estimator")
_GONE = frozenset(("tf.keras.callbacks.experimental.BackupAndRestore",))
_MARK = re.compile(r"#\s*TODO\((EM\d{3})\)")


def is_removed(use: Use) -> bool:
  """Whether TF 2.16 and later lack the symbol of a use."""
  path = use.symbol.path
  if path in _GONE:
    return True
  if use.symbol.private and path.startswith("tf.estimator"):
    return True
  return any(path == r or path.startswith(r + ".") for r in _REMOVED)


def code_of(symbol: symbols.Symbol) -> str:
  """The rule that reports a removed symbol."""
  if symbol.private:
    return "EM902"
  for code, rule in rules.load().items():
    for pattern in rule.symbols:
      if pattern == symbol.path:
        return code
  for code, rule in rules.load().items():
    for pattern in rule.symbols:
      if pattern.endswith(".*") and symbol.path.startswith(pattern[:-1]):
        return code
  return "EM901" if symbol.path.startswith("tf.contrib") else "EM216"


def remaining(module: Module, path: str) -> list[Finding]:
  """One finding for each removed symbol that the text still uses."""
  found = []
  for use in module.uses():
    if is_removed(use):
      name = use.symbol.path
      values = {"name": name, "symbol": name, "what": f"`{name}`", "argument": name}
      found.append(_finding(code_of(use.symbol), use, path, values))
  return found


def _finding(code: str, use: Use, path: str, values: dict) -> Finding:
  rule = rules.load()[code]
  missing = {p: f"`{use.symbol.path}`" for p in rule.placeholders if p not in values}
  return rules.finding(code, use.span, path, **values, **missing)


def mark(text: str, path: str, reasons: Sequence[Finding]) -> tuple[str, list[Finding]]:
  """Puts `# TODO(EMnnn): reason` above each statement that uses a removed symbol.

  Args:
    text: the rewritten source.
    path: the file's name.
    reasons: why units were left, in the old text; the first one is quoted where it fits.

  Returns:
    The marked text and the findings of what remains, at their places in it.
  """
  module = Module(text, path)
  plan = Plan(module, path)
  for use in module.uses():
    if not is_removed(use):
      continue
    statement = module.statement(use.node)
    if any(_MARK.match(c) for c in plan.comments.leading(statement)):
      continue
    edit = plan.statement(statement)
    code = code_of(use.symbol)
    message = next((f.message for f in reasons if f.code == code), None)
    comment = f"# TODO({code}): {message or _removed(use)}"
    if comment not in edit.comments:
      edit.comments.append(comment)
  if plan.statements:
    text = apply(plan)
  return text, remaining(Module(text, path), path)


def _removed(use: Use) -> str:
  return f"{use.symbol.path} is not in TensorFlow 2.16 and later."


def unmarked(text: str, path: str) -> list[ast.stmt]:
  """Statements that use a removed symbol without a TODO above them."""
  module = Module(text, path)
  plan = Plan(module, path)
  found = []
  for use in module.uses():
    statement = module.statement(use.node)
    if is_removed(use) and not any(_MARK.match(c) for c in plan.comments.leading(statement)):
      found.append(statement)
  return found
