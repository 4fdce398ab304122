"""Rewrites many files; what goes wrong with one does not cost the others."""

from __future__ import annotations

import dataclasses
import os
import traceback
from collections.abc import Callable, Iterable

from migrator.rewrite import importers, libraries
from migrator.rewrite.engine import Options
from migrator.rewrite.files import FileResult, rewrite_bytes
from migrator.source import document, walk, write


class Run:
  """The results of one call, in the order of the files.

  Args:
    options: how to rewrite.
    apply: whether to change the files.
    complain: called with each line about a file that could not be read, rewritten or written.

  Attributes:
    results: one for each file that was looked at.
    failed: whether something could not be read, rewritten or written.
  """

  def __init__(self, options: Options, apply: bool, complain: Callable[[str], None]):
    self._options = options
    self._apply = apply
    self._complain = complain
    self.results: list[FileResult] = []
    self.failed = False

  def rewrite_text(self, raw: bytes, path: str) -> FileResult:
    """Rewrites bytes that are in no file."""
    result = self._rewrite(raw, path, self._options)
    self.results.append(result)
    return result

  def rewrite_files(self, files: Iterable[walk.SourceFile]) -> None:
    """Rewrites files; those in folders only if they mention TensorFlow at all.

    Nothing is written before all are done: what a program imports changes with it.
    """
    paths = []
    for file in files:
      paths.append(file.path)
      try:
        with open(file.path, "rb") as stream:
          raw = stream.read()
        if file.explicit or document.mentions(raw):
          self.results.append(self._rewrite(raw, file.path, self._options))
      except OSError as error:
        self._fail(f"{file.path}: {error.strerror or error}")
    self._rewrite_libraries(paths)
    for result in self.results:
      try:
        self._write(result)
      except OSError as error:
        self._fail(f"{result.path}: {error.strerror or error}")
    self._report_importers(paths)

  def _rewrite_libraries(self, paths: list[str]) -> None:
    """Rewrites the modules that the programs with a model_fn of their own import."""
    programs = [r.path for r in self.results if r.raw is not None and r.keeps_model_fn]
    if not programs:
      return
    imports = libraries.reached(programs, paths)
    places = {result.path: i for i, result in enumerate(self.results)}
    left = {}
    for path in dict.fromkeys(one.path for one in imports):
      place = places.get(path)
      if place is None or path in programs:
        continue
      options = dataclasses.replace(self._options, library=frozenset((path,)))
      try:
        with open(path, "rb") as stream:
          result = self._rewrite(stream.read(), path, options)
      except OSError as error:
        self._fail(f"{path}: {error.strerror or error}")
        continue
      self.results[place] = result
      stays = any(unit.kind == "module" and not unit.target for unit in result.units)
      if stays and result.findings:
        left[path] = result.findings[0]
    for finding in libraries.left_findings(imports, left):
      importer = self.results[places[finding.path]]
      importer.findings.append(finding)
      importer.left += 1

  def _rewrite(self, raw: bytes, path: str, options: Options) -> FileResult:
    try:
      return rewrite_bytes(raw, path, options)
    except Exception as error:
      # A defect of ours in one file must not cost the others.
      if os.environ.get("MIGRATOR_DEBUG"):
        traceback.print_exc()
      self._fail(
        f"{path}: internal error ({type(error).__name__}: {error}); the file is left as it is. "
        "Please report it; MIGRATOR_DEBUG=1 shows where it happened."
      )
      return FileResult(path)

  def _write(self, result: FileResult) -> None:
    if not self._apply or result.raw is None:
      return
    try:
      write.write(result.path, result.raw)
    except OSError:
      result.raw = None
      raise

  def _fail(self, message: str) -> None:
    self.failed = True
    self._complain(message)

  def _report_importers(self, paths: list[str]) -> None:
    changed = {r.path: r.changed_names for r in self.results if r.raw is not None}
    by_path = {r.path: r for r in self.results}
    for finding in importers.findings(changed, paths):
      if finding.path not in by_path:
        by_path[finding.path] = FileResult(finding.path)
        self.results.append(by_path[finding.path])
      by_path[finding.path].findings.append(finding)
      by_path[finding.path].left += 1

  @property
  def unreadable(self) -> bool:
    return any(result.unreadable for result in self.results)

  @property
  def left(self) -> int:
    """How many units and findings are left to a person."""
    return sum(result.left for result in self.results)

  @property
  def changed(self) -> int:
    """How many files are, or would be, changed."""
    return sum(result.raw is not None for result in self.results)
