"""Turns what Python's parser says about a text into an error that helps."""

from __future__ import annotations

import ast
import re
import warnings
from typing import Optional

from migrator.source import errors

# What parsing and walking a text can raise that is the fault of the text.
FAULTS = (SyntaxError, ValueError, RecursionError, MemoryError)
# Constructs of Python 2, looked for only in a line that the parser has rejected.
_PYTHON_2 = (
  (r"\bprint\s*>>|\bprint\s+[^\s=(.,)\]]|\bprint\s+\(", "print statement"),
  (r"\bexcept\s+(\([^()]*\)|[\w.]+)\s*,\s*\w+\s*:", "except X, e"),
  (r"\bdef\s+\w+\s*\((.*,)?\s*\(", "tuple parameter"),
  (r"\blambda\s*\(", "tuple parameter"),
  (r"\braise\s+[\w.]+\s*,", "raise X, value"),
  (r"\bexec\s+[\w\"'(]", "exec statement"),
  (r"<>", "<> operator"),
  (r"`[^`]+`", "backticks"),
  (r"\b0\d+\b|\b\d+[lL]\b", "number"),
  (r"\b[uU][rR][\"']", "ur string"),
)


def check(text: str, path: str) -> Optional[errors.SourceError]:
  """Returns why the text is no Python 3, or None when it is."""
  try:
    with warnings.catch_warnings():
      warnings.simplefilter("ignore")
      ast.parse(text)
  except FAULTS as error:
    return explain(error, text, path)
  return None


def explain(error: Exception, text: str, path: str) -> errors.SourceError:
  """Returns the error for one of FAULTS: Python 2 or not, the line and the reason."""
  if isinstance(error, (RecursionError, MemoryError)):
    return errors.SourceError(errors.SYNTAX, path, "expressions are nested too deeply")
  if not isinstance(error, SyntaxError):  # null bytes, before Python 3.12
    return errors.SourceError(errors.SYNTAX, path, str(error), _null_line(text))
  lines = re.split(r"\r\n|\r|\n", text)
  number = min(max(error.lineno or 1, 1), len(lines))
  column = max((error.offset or 1) - 1, 0)
  line = lines[number - 1]
  if "\0" in text and "null" in (error.msg or ""):
    return errors.SourceError(errors.SYNTAX, path, error.msg, _null_line(text))
  construct = _python_2(line)
  if construct:
    reason = f"{construct}, line {number}"
    return errors.SourceError(errors.PYTHON_2, path, reason, number, column)
  reason = f"{error.msg}, line {number}"
  return errors.SourceError(errors.SYNTAX, path, reason, number, min(column, len(line)))


def _python_2(line: str) -> Optional[str]:
  code = line.split("#")[0]
  for pattern, name in _PYTHON_2:
    if re.search(pattern, code):
      return name
  return None


def _null_line(text: str) -> int:
  return text[: text.index("\0")].count("\n") + 1 if "\0" in text else 1
