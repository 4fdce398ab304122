"""Rewrites many files; what goes wrong with one does not cost the others."""

from __future__ import annotations

import dataclasses
import os
import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Optional

from migrator.lint.finding import Finding
from migrator.rewrite import drivers, importers, libraries
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
    # Programs that an earlier run has rewritten, perhaps without what they import.
    # {path: whether it was written for TF1}
    self._rewritten_before: dict[str, bool] = {}

  def rewrite_text(self, raw: bytes, path: str) -> FileResult:
    """Rewrites bytes that are in no file."""
    result = self._rewrite(raw, path, self._options)
    self.results.append(result)
    return result

  def rewrite_files(self, files: Iterable[walk.SourceFile]) -> None:
    """Rewrites files; those in folders only if they mention TensorFlow at all.

    Nothing is written before all are done: what a program imports changes with it.
    """
    paths: list[str] = []
    for file in files:
      paths.append(file.path)
      try:
        with open(file.path, "rb") as stream:
          raw = stream.read()
        if file.explicit or document.mentions(raw):
          self.results.append(self._rewrite(raw, file.path, self._options))
          if b"migrator" in raw and b"ModelFn" in raw:
            self._rewritten_before[file.path] = b"import tensorflow.compat.v1 as" in raw
      except OSError as error:
        self._fail(f"{file.path}: {error.strerror or error}")
    self._rewrite_libraries(paths)
    known = set(paths)
    for result in self.results:
      if result.path not in known:
        continue  # stdin's: whoever gave it gets it back
      try:
        self._write(result)
      except OSError as error:
        self._fail(f"{result.path}: {error.strerror or error}")
    self._report_importers(paths)

  def _rewrite_libraries(self, paths: list[str]) -> None:
    """Rewrites the modules around programs with a model_fn of their own: imported and importing ones.

    All of a program is written for one version of TensorFlow, and so for TF1 if a part of it is.
    """
    rewritten = [r.path for r in self.results if r.raw is not None and r.keeps_model_fn]
    if not rewritten and not self._rewritten_before:
      return
    graph = libraries.ImportGraph(paths)
    programs = dict.fromkeys([*rewritten, *self._rewritten_before])
    following = drivers.Drivers(graph, programs, self.results, self._changes(), paths)
    imports: dict[libraries.Imported, None] = {}
    again: dict[str, Optional[int]] = {}
    for program in (*programs, *following.paths):
      found = [one for one in graph.reached(program) if one.path not in following.kept_by(program)]
      imports.update(dict.fromkeys(found))
      parts = [program, *(one.path for one in found)]
      for_tf1 = any(self._rewritten_before.get(part, False) for part in parts)
      for_tf1 = for_tf1 or graph.is_for_tf1(program)
      version = self._options.source_version or (1 if for_tf1 else None)
      again.update({one.path: version or again.get(one.path) for one in found})
      if program in following.paths:
        again[program] = version or again.get(program)
      elif program in rewritten and version and not graph.is_written_for_tf1(program):
        again[program] = version
    self._rewrite_again(again)
    left = {
      result.path: next((f for f in result.findings if f.code == "EM233"), result.findings[0])
      for result in self.results
      if result.path in again and result.findings and result.stays
    }
    for finding in libraries.left_findings(imports, left):
      self._report(finding)
    for finding in following.findings(left, {result.path: result for result in self.results}):
      self._report(finding)

  def _rewrite_again(self, versions: Mapping[str, Optional[int]]) -> None:
    """Rewrites files as parts of a program that is written for a version of TensorFlow."""
    for i, result in enumerate(self.results):
      if result.path not in versions:
        continue
      path = result.path
      library = frozenset(() if result.keeps_model_fn else (path,))
      version = versions[path] or self._options.source_version
      options = dataclasses.replace(self._options, library=library, source_version=version)
      try:
        with open(path, "rb") as stream:
          self.results[i] = self._rewrite(stream.read(), path, options)
      except OSError as error:
        self._fail(f"{path}: {error.strerror or error}")

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

  def _changes(self) -> dict[str, importers.Changed]:
    """What other files may read of each rewritten one, and is another thing now."""
    return {
      result.path: importers.Changed(result.changed_names, result.changed_attributes)
      for result in self.results
      if result.raw is not None
    }

  def _report_importers(self, paths: list[str]) -> None:
    for finding in importers.findings(self._changes(), paths):
      self._report(finding)

  def _report(self, finding: Finding) -> None:
    """Adds what is left to a person to the result of its file."""
    result = next((r for r in self.results if r.path == finding.path), None)
    if result is None:
      result = FileResult(finding.path)
      self.results.append(result)
    result.findings.append(finding)
    result.left += 1

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
