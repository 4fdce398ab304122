"""The modules that rewritten programs import: networks, input pipelines and helpers in other files.

They have no estimator of their own, but run under the same TensorFlow as the program.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Optional

from migrator.analysis import facts
from migrator.analysis.module import Module
from migrator.analysis.span import Span
from migrator.lint import rules
from migrator.lint.finding import Finding
from migrator.rewrite import importable
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
    paths: the files that may be meant: `importable.Files`.
  """

  def __init__(self, paths: Iterable[str]):
    self._files = importable.Files(paths)
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
        for node, cell, span in _imports(importer)
        for path in self._files.meant(node, importer)
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


def _imports(path: str) -> Iterator[tuple[ast.stmt, Optional[int], Span]]:
  """The (statement, cell, place) of what a file imports.

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
      if isinstance(node, (ast.Import, ast.ImportFrom)):
        cell, line = part.locate(node.lineno)
        last = line + (node.end_lineno or node.lineno) - node.lineno
        yield node, cell, Span(line, node.col_offset, last, node.end_col_offset or node.col_offset)


def _parts(path: str) -> list[document.Document]:
  """The programs of a file; none where it cannot be read, which has a finding of its own."""
  try:
    with open(path, "rb") as file:
      return list(document.Document.from_bytes(file.read(), path).parts())
  except (OSError, ValueError, errors.SourceError):
    return []


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
