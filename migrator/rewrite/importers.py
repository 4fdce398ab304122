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
  """EM222 for each import, and each read through the module, of a changed name.

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


def _module_name(path: str) -> str:
  folder, name = os.path.split(os.path.abspath(path))
  return os.path.basename(folder) if name == "__init__.py" else os.path.splitext(name)[0]


def _imports(
  module: Module,
  by_module: Mapping[str, list[str]],
  changed: Mapping[str, frozenset[str]],
) -> Iterator[Finding]:
  for node in ast.walk(module.tree):
    if isinstance(node, ast.ImportFrom):
      for path in _others(by_module, node.module or "", module, node.level):
        for alias in node.names:
          if alias.name in changed[path] or alias.name == "*":
            name = alias.name if alias.name != "*" else ", ".join(sorted(changed[path]))
            yield _finding(module, node, name, path)
    if isinstance(node, (ast.Import, ast.ImportFrom)):
      package, level = "", 0
      if isinstance(node, ast.ImportFrom):
        package, level = (f"{node.module}." if node.module else ""), node.level
      for alias in node.names:
        for path in _others(by_module, package + alias.name, module, level):
          yield from _attributes(module, alias.asname or alias.name, changed[path], path)


def _others(by_module: Mapping[str, list[str]], name: str, module: Module, level: int) -> list[str]:
  """The changed files that a dotted name can mean, without the file itself.

  The name has to be the end of the file's path; of several the nearest one is meant. A relative import
  says which.
  """
  own = os.path.abspath(module.filename)
  parts = name.split(".") if name else []
  folder = os.path.dirname(own)
  for _ in range(level - 1):
    folder = os.path.dirname(folder)
  found = []
  for path in by_module.get(parts[-1] if parts else os.path.basename(folder), ()):
    file = _without_end(path)
    if os.path.abspath(path) == own or file[len(file) - len(parts) :] != parts:
      continue
    if not level or file == [*folder.split(os.sep), *parts]:
      found.append(path)
  near = {path: len(os.path.commonpath([own, os.path.abspath(path)])) for path in found}
  return [path for path in found if near[path] == max(near.values())]


def _without_end(path: str) -> list[str]:
  """The parts of a module's path, without its ending or `__init__`."""
  folder, name = os.path.split(os.path.abspath(path))
  stem = [] if name == "__init__.py" else [os.path.splitext(name)[0]]
  return [*folder.split(os.sep), *stem]


def _attributes(module: Module, bound: str, names: frozenset[str], path: str) -> Iterator[Finding]:
  """EM222 for each `module.name` of a changed name."""
  for node in ast.walk(module.tree):
    if (
      isinstance(node, ast.Attribute) and node.attr in names and module.source(node.value) == bound
    ):
      yield _finding(module, node, node.attr, path)


def _finding(module: Module, node: ast.AST, name: str, path: str) -> Finding:
  return rules.finding("EM222", module.span(node), module.filename, name=name, origin=path)
