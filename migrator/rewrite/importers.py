"""Files that import what the rewrite of another file changes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from migrator.analysis.module import Module
from migrator.lint import rules
from migrator.lint.finding import Finding
from migrator.rewrite import importable
from migrator.source import document, errors


class Changed(NamedTuple):
  """What other files may read of a rewritten file, and is another thing afterwards.

  Attributes:
    names: of the module.
    attributes: of objects of its classes.
  """

  names: frozenset[str]
  attributes: frozenset[str] = frozenset()


def findings(changed: Mapping[str, Changed], paths: Iterable[str]) -> Iterator[Finding]:
  """EM222 for each import, and each read through the module, of a changed name or attribute.

  Args:
    changed: path of a rewritten file -> what the rewrite changes.
    paths: the files to look through; those that cannot be read or parsed are passed over, since
      they have a finding of their own.
  """
  by_module: dict[str, list[str]] = {}
  for path, change in changed.items():
    if change.names or change.attributes:
      by_module.setdefault(importable.stem(path), []).append(path)
  if not by_module:
    return
  for path in paths:
    try:
      with open(path, "rb") as file:
        raw = file.read()
      if any(name.encode() in raw for name in by_module):
        for part in document.Document.from_bytes(raw, path).parts():
          for finding in _imports(Module(part.text, path), by_module, changed):
            yield _located(finding, part)
    except (OSError, SyntaxError, ValueError, RecursionError, errors.SourceError):
      continue


def _located(finding: Finding, part: document.Document) -> Finding:
  """A finding in the text of a document with its cell, for a notebook."""
  cell, line = part.locate(finding.span.line)
  last = line + finding.span.end_line - finding.span.line
  return finding._replace(cell=cell, span=finding.span._replace(line=line, end_line=last))


def _imports(
  module: Module,
  by_module: Mapping[str, list[str]],
  changed: Mapping[str, Changed],
) -> Iterator[Finding]:
  imported: dict[str, None] = {}
  for node in ast.walk(module.tree):
    if isinstance(node, ast.ImportFrom):
      for path in _others(by_module, node.module or "", module, node.level):
        imported[path] = None
        names = changed[path].names
        for alias in node.names:
          if alias.name in names or (alias.name == "*" and names):
            name = alias.name if alias.name != "*" else ", ".join(sorted(names))
            yield _finding(module, node, name, path)
    if isinstance(node, (ast.Import, ast.ImportFrom)):
      package, level = "", 0
      if isinstance(node, ast.ImportFrom):
        package, level = (f"{node.module}." if node.module else ""), node.level
      for alias in node.names:
        for path in _others(by_module, package + alias.name, module, level):
          imported[path] = None
          yield from _attributes(module, alias.asname or alias.name, changed[path].names, path)
  for path in imported:
    yield from _reads(module, changed[path].attributes, path)


def _others(by_module: Mapping[str, list[str]], name: str, module: Module, level: int) -> list[str]:
  """The changed files that a dotted name can mean, without the file itself."""
  return importable.files_of(by_module, name, level, module.filename)


def _attributes(module: Module, bound: str, names: frozenset[str], path: str) -> Iterator[Finding]:
  """EM222 for each `module.name` of a changed name."""
  for node in ast.walk(module.tree):
    if (
      isinstance(node, ast.Attribute) and node.attr in names and module.source(node.value) == bound
    ):
      yield _finding(module, node, node.attr, path)


def _reads(module: Module, names: frozenset[str], path: str) -> Iterator[Finding]:
  """EM222 for each `x.name` of a changed attribute: what `x` is cannot be told here."""
  for node in ast.walk(module.tree):
    if isinstance(node, ast.Attribute) and node.attr in names and module.resolve(node) is None:
      yield _finding(module, node, module.source(node), path)


def _finding(module: Module, node: ast.AST, name: str, path: str) -> Finding:
  return rules.finding("EM222", module.span(node), module.filename, name=name, origin=path)
