"""Files that import what the rewrite of another file changes."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping

from migrator.analysis.module import Module
from migrator.lint import rules
from migrator.lint.finding import Finding
from migrator.source import document, errors


def findings(changed: Mapping[str, frozenset[str]], paths: Iterable[str]) -> Iterator[Finding]:
  """EM222 for each import of a changed name.

  Args:
    changed: path of a rewritten file -> its module-level names that the rewrite changes.
    paths: the files to look through; those that cannot be read or parsed are passed over, since
      they have a finding of their own.
  """
  by_module: dict[str, list[str]] = {}
  for path, names in changed.items():
    if names:
      by_module.setdefault(_module_name(path), []).append(path)
  if not by_module:
    return
  for path in paths:
    if path.endswith(".ipynb"):
      continue
    try:
      with open(path, "rb") as file:
        raw = file.read()
      if any(name.encode() in raw for name in by_module):
        yield from _imports(
          Module(document.Document.from_bytes(raw, path).text, path), by_module, changed
        )
    except (OSError, SyntaxError, ValueError, RecursionError, errors.SourceError):
      continue


def _module_name(path: str) -> str:
  folder, name = os.path.split(os.path.abspath(path))
  return os.path.basename(folder) if name == "__init__.py" else os.path.splitext(name)[0]


def _imports(
  module: Module,
  by_module: Mapping[str, list[str]],
  changed: Mapping[str, frozenset[str]],
) -> Iterator[Finding]:
  for node in ast.walk(module.tree):
    if not isinstance(node, ast.ImportFrom):
      continue
    source = (node.module or "").rpartition(".")[2]
    for path in by_module.get(source, ()):
      if os.path.abspath(path) == os.path.abspath(module.filename):
        continue
      for alias in node.names:
        if alias.name in changed[path]:
          span = module.span(node)
          yield rules.finding("EM222", span, module.filename, name=alias.name, origin=path)
