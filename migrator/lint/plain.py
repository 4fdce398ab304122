"""What is known of a file as plain values and back: for pipes between processes and the cache.

Names of files are left out: the same content has the same findings wherever it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from migrator.analysis.span import Span
from migrator.lint.examined import Directive, Examined
from migrator.lint.finding import Finding

_FINDING = tuple(name for name in Finding._fields if name not in ("path", "span"))
_DIRECTIVE = Directive._fields


def dump(examined: Examined) -> list[Any]:
  """Lists of numbers, strings and None; [] when there is nothing to say of a file."""
  if not examined.findings and not examined.directives:
    return []
  findings = [
    [_place(found.span), *(getattr(found, name) for name in _FINDING)]
    for found in examined.findings
  ]
  directives = [[_bare(getattr(d, name)) for name in _DIRECTIVE] for d in examined.directives]
  return [findings, directives]


def load(values: Sequence[Any], path: str) -> Examined:
  """The reverse of `dump`, for a file of this name.

  Raises:
    TypeError, ValueError: the values are not what `dump` makes.
  """
  if not values:
    return Examined(path)
  findings, directives = values
  return Examined(
    path,
    tuple(_finding(found, path) for found in findings),
    tuple(_directive(found) for found in directives),
  )


def _place(span: Span) -> list[int]:
  return [span.line, span.column, span.end_line, span.end_column]


def _bare(value: Any) -> Any:
  return list(value) if isinstance(value, tuple) else value


def _finding(values: Sequence[Any], path: str) -> Finding:
  place, *others = values
  if len(others) != len(_FINDING):
    raise ValueError("a finding has other fields")
  return Finding(path=path, span=Span(*place), **dict(zip(_FINDING, others)))


def _directive(values: Sequence[Any]) -> Directive:
  if len(values) != len(_DIRECTIVE):
    raise ValueError("a directive has other fields")
  bare: list[Any] = [tuple(value) if isinstance(value, list) else value for value in values]
  return Directive(*bare)
