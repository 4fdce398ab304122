"""The modules that rewritten programs import: networks, input pipelines and helpers in other files.

They have no estimator of their own, but run under the same TensorFlow as the program.
"""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Optional

from migrator.analysis import facts
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


class ImportGraph:
  """Which files import which, as far as somebody asks.

  Args:
    paths: the files that may be meant. A file is meant where the dotted name is the end of its
      path, of several the nearest to the importer, if the folder in which the name begins is
      above the importer, or beside such a folder: that a changed `sys.path` does not matter, but
      a module of the same name in another project is not meant.
  """

  def __init__(self, paths: Iterable[str]):
    self._by_name: dict[str, list[str]] = {}
    for path in paths:
      if path.endswith(".py"):
        self._by_name.setdefault(stem(path), []).append(path)
    self._imports: dict[str, list[Imported]] = {}
    self._for_tf1: dict[str, bool] = {}

  def reached(self, program: str) -> list[Imported]:
    """The imports by which a program reaches other files, directly and through each other."""
    found: list[Imported] = []
    waiting, seen = [program], {program}
    while waiting:
      for one in self._of(waiting.pop(0)):
        found.append(one)
        if one.path not in seen:
          seen.add(one.path)
          waiting.append(one.path)
    return found

  def _of(self, importer: str) -> list[Imported]:
    if importer not in self._imports:
      self._imports[importer] = [
        Imported(path, importer, cell, span)
        for dotted, level, cell, span in _imports(importer, self._by_name)
        for path in files_of(self._by_name, dotted, level, importer)
        if level or _is_near(path, dotted, importer)
      ]
    return self._imports[importer]

  def is_for_tf1(self, program: str) -> bool:
    """Whether a program, or anything that it imports, is written for TF1: one process has one `tf`."""
    paths = [program, *(one.path for one in self.reached(program))]
    return any(self.is_written_for_tf1(path) for path in dict.fromkeys(paths))

  def is_written_for_tf1(self, path: str) -> bool:
    """Whether a file itself has a name that plain `tf` has in TF1 only."""
    if path not in self._for_tf1:
      modules = (Module(newlines.unify(part.text), path) for part in _parts(path))
      try:
        found = any(facts.written_for_tf1(module) is not None for module in modules)
      except (SyntaxError, ValueError, RecursionError):
        found = False  # has a finding of its own
      self._for_tf1[path] = found
    return self._for_tf1[path]


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
  for part in _parts(path):
    try:
      with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(newlines.unify(part.text))
    except (SyntaxError, ValueError, RecursionError):
      continue
    for node in ast.walk(tree):
      if not isinstance(node, (ast.Import, ast.ImportFrom)):
        continue
      cell, line = part.locate(node.lineno)
      last = line + (node.end_lineno or node.lineno) - node.lineno
      span = Span(line, node.col_offset, last, node.end_col_offset or node.col_offset)
      for dotted, level in _targets(node):
        if level or dotted.rpartition(".")[2] in by_name:
          yield dotted, level, cell, span


def _parts(path: str) -> list[document.Document]:
  """The programs of a file; none where it cannot be read, which has a finding of its own."""
  try:
    with open(path, "rb") as file:
      return list(document.Document.from_bytes(file.read(), path).parts())
  except (OSError, ValueError, errors.SourceError):
    return []


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


def _is_near(path: str, dotted: str, importer: str) -> bool:
  """Whether the folder in which a dotted name begins is one above its importer or beside one."""
  place = os.path.abspath(path)
  place = os.path.dirname(place) if os.path.basename(place) == "__init__.py" else place
  for _ in dotted.split("."):
    place = os.path.dirname(place)
  folder = os.path.join(os.path.dirname(os.path.abspath(importer)), "")
  return any(folder.startswith(os.path.join(top, "")) for top in (place, os.path.dirname(place)))


def left_findings(imports: Iterable[Imported], left: Mapping[str, Finding]) -> list[Finding]:
  """EM909 for each import of a file that could not be rewritten.

  Args:
    imports: as `ImportGraph.reached` gives them.
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
