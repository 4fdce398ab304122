"""The modules that rewritten programs import: networks, input pipelines and helpers in other files.

They have no estimator of their own, but run under the same TensorFlow as the program.
"""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Optional

from migrator.analysis.module import Module
from migrator.analysis.span import Span
from migrator.lint import rules
from migrator.lint.finding import Finding
from migrator.source import document, errors, newlines

_SPECS = frozenset(
  """tf.estimator.EstimatorSpec tf.estimator.tpu.TPUEstimatorSpec
  tf.contrib.tpu.TPUEstimatorSpec""".split()
)


def holds_model_fn(module: Module) -> bool:
  """Whether a module makes the specification that a model_fn returns: it has no other use."""
  return "EstimatorSpec" in module.text and any(
    use.symbol.path in _SPECS and not isinstance(use.node, (ast.Import, ast.ImportFrom))
    for use in module.uses()
  )


class Imported(NamedTuple):
  """An import of one file by another.

  Attributes:
    path: the file that is imported.
    importer: the file that imports it.
    cell: of the importer, if that is a notebook.
    span: where the import stands.
  """

  path: str
  importer: str
  cell: Optional[int]
  span: Span


def reached(programs: Iterable[str], paths: Iterable[str]) -> list[Imported]:
  """The imports by which programs reach other files, directly and through each other.

  Args:
    programs: where to begin.
    paths: the files that may be meant. A file is meant where the dotted name is the end of its
      path, so that a changed `sys.path` does not matter; of several the nearest to the importer.

  Returns:
    All imports of other files, in the order in which they are found.
  """
  by_name: dict[str, list[str]] = {}
  for path in paths:
    by_name.setdefault(stem(path), []).append(path)
  found: list[Imported] = []
  waiting, seen = list(programs), set(programs)
  while waiting:
    importer = waiting.pop(0)
    for dotted, level, cell, span in _imports(importer, by_name):
      for path in files_of(by_name, dotted, level, importer):
        found.append(Imported(path, importer, cell, span))
        if path not in seen:
          seen.add(path)
          waiting.append(path)
  return found


def stem(path: str) -> str:
  """The last part of the dotted name of a file."""
  folder, name = os.path.split(os.path.abspath(path))
  return os.path.basename(folder) if name == "__init__.py" else os.path.splitext(name)[0]


def _imports(
  path: str, by_name: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, int, Optional[int], Span]]:
  """The (dotted name, level, cell, place) of what a file imports and the names of files can mean.

  A file that cannot be read or parsed has a finding of its own.
  """
  try:
    with open(path, "rb") as file:
      source = document.Document.from_bytes(file.read(), path)
    for part in source.parts():
      with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(newlines.unify(part.text))
      for node in ast.walk(tree):
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
          continue
        cell, line = part.locate(node.lineno)
        last = line + (node.end_lineno or node.lineno) - node.lineno
        span = Span(line, node.col_offset, last, node.end_col_offset or node.col_offset)
        for dotted, level in _targets(node):
          parts = dotted.split(".")
          if level or parts[-1] in by_name:
            yield dotted, level, cell, span
  except (OSError, SyntaxError, ValueError, RecursionError, errors.SourceError):
    return


def _targets(node: ast.stmt) -> Iterator[tuple[str, int]]:
  """The dotted names that a statement may import as modules, with the level of a relative one."""
  if isinstance(node, ast.Import):
    for alias in node.names:
      parts = alias.name.split(".")
      # `import a.b.c` runs a and a.b, too.
      for length in range(len(parts), 0, -1):
        yield ".".join(parts[:length]), 0
  elif isinstance(node, ast.ImportFrom):
    origin = node.module or ""
    yield origin, node.level
    for alias in node.names:
      yield f"{origin}.{alias.name}" if origin else alias.name, node.level


def files_of(
  by_name: Mapping[str, Sequence[str]], dotted: str, level: int, importer: str
) -> list[str]:
  """The files that a dotted name can mean, without the importer itself.

  Args:
    by_name: the files by the last part of their dotted names.
    dotted: what is imported; "" for the package of a relative import.
    level: of a relative import, which says the folder; else 0, and the name has to be the end of
      the file's path. Of several the nearest to the importer is meant.
    importer: the file that imports.
  """
  own = os.path.abspath(importer)
  folder = os.path.dirname(own)
  for _ in range(level - 1):
    folder = os.path.dirname(folder)
  parts = dotted.split(".") if dotted else []
  found = []
  for path in by_name.get(parts[-1] if parts else os.path.basename(folder), ()):
    full = os.path.abspath(path)
    place = full.split(os.sep)
    place[-1] = os.path.splitext(place[-1])[0]
    place = place[:-1] if place[-1] == "__init__" else place
    if full == own or place[len(place) - len(parts) :] != parts:
      continue
    if not level or place == [*folder.split(os.sep), *parts]:
      found.append(path)
  near = {path: len(os.path.commonpath([own, os.path.abspath(path)])) for path in found}
  return [path for path in found if near[path] == max(near.values())]


def left_findings(imports: Iterable[Imported], left: Mapping[str, Finding]) -> list[Finding]:
  """EM909 for each import of a file that could not be rewritten.

  Args:
    imports: as `reached` gives them.
    left: the first reason of each file that stays.
  """
  found: list[Finding] = []
  for one in imports:
    reason = left.get(one.path)
    if reason is None:
      continue
    what = f"{reason.code} in line {reason.span.line}"
    values = {"origin": one.path, "reason": what}
    finding = rules.finding("EM909", one.span, one.importer, cell=one.cell, **values)
    if finding not in found:
      found.append(finding)
  return found
