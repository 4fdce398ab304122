"""Which of many files an import statement means."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Optional

# What a program of TensorFlow never has a file of its own for, though many a folder has the name.
_INSTALLED = frozenset(
  "tensorflow tensorflow_core tensorflow_estimator tf_slim keras numpy".split()
)
_STANDARD: frozenset[str] = getattr(sys, "stdlib_module_names", frozenset())


def stem(path: str) -> str:
  """The last part of the dotted name of a file."""
  folder, name = os.path.split(os.path.abspath(path))
  return os.path.basename(folder) if name == "__init__.py" else os.path.splitext(name)[0]


class _Import(NamedTuple):
  """What one statement, or one name of `import a, b`, imports as modules.

  Attributes:
    whole: the dotted names that come with each other, the longest last: a folder that has none of
      the last ones is not meant.
    wanted: the last of them that may be modules, or names in one.
  """

  whole: tuple[str, ...]
  wanted: tuple[str, ...] = ()


class Files:
  """The files among which the modules of programs are.

  A file is meant where its dotted name begins in a folder that can be on `sys.path`: that of the
  importer, else the nearest above it, else one beside these if it has all that is imported, as
  `src` beside `bin`. A package is on no path, unless it is the importer's folder or has scripts.

  Args:
    paths: of the files.
  """

  def __init__(self, paths: Iterable[str]):
    self._by_name: dict[str, list[str]] = {}
    self._in_folder: dict[str, list[str]] = {}
    self._places: dict[str, bool] = {}
    for path in paths:
      self._in_folder.setdefault(os.path.dirname(os.path.abspath(path)), []).append(path)
      if path.endswith(".py"):
        self._by_name.setdefault(stem(path), []).append(path)

  def meant(self, node: ast.stmt, importer: str) -> list[str]:
    """The files that a statement imports, without the importer itself."""
    found: list[str] = []
    level = getattr(node, "level", 0)
    for one in _imports(node):
      if level:
        for dotted in one.whole + one.wanted:
          found += files_of(self._by_name, dotted, level, importer)
      elif any(dotted.rpartition(".")[2] in self._by_name for dotted in one.whole + one.wanted):
        found += self._absolute(one, importer)
    own = os.path.abspath(importer)
    return [path for path in dict.fromkeys(found) if os.path.abspath(path) != own]

  def _absolute(self, one: _Import, importer: str) -> list[str]:
    top = one.whole[-1].partition(".")[0]
    if top in _INSTALLED:
      return []
    own = os.path.dirname(os.path.abspath(importer))
    found = {dotted: self._roots(dotted) for dotted in one.whole + one.wanted}
    # `import a.b` may mean a module of another kind in the package a.
    lists = [one.whole[-1:] + one.wanted, *([dotted] for dotted in reversed(one.whole[:-1]))]
    for dotteds in lists:
      roots = {root for dotted in dotteds for root in found[dotted]}
      above = [root for root in roots if _is_in(own, root) and self._is_place(root, own, top)]
      if above:
        return self._at(max(above, key=len), found)
    roots = {root for dotted in lists[0] for root in found[dotted]}
    beside = [
      root
      for root in roots
      if _is_in(own, os.path.dirname(root))
      and self._is_place(root, own, top)
      and self._has_all(root, one, found)
    ]
    nearest = max((len(os.path.dirname(root)) for root in beside), default=0)
    meant = [root for root in sorted(beside) if len(os.path.dirname(root)) == nearest]
    return [path for root in meant for path in self._at(root, found)]

  def _roots(self, dotted: str) -> dict[str, str]:
    """{folder in which a dotted name begins: its file}."""
    parts = dotted.split(".")
    roots: dict[str, str] = {}
    for path in self._by_name.get(parts[-1], ()):
      place = _place(path)
      if place[len(place) - len(parts) :] == parts:
        root = os.sep.join(place[: len(place) - len(parts)])
        if root not in roots or path.endswith("__init__.py"):  # a package hides a module
          roots[root] = path
    return roots

  def _at(self, root: str, found: dict[str, dict[str, str]]) -> list[str]:
    return [roots[root] for roots in found.values() if root in roots]

  def _is_place(self, root: str, own: str, top: str) -> bool:
    """Whether a folder can be on the path of a file in the folder `own` that imports `top`."""
    if root == own:
      return True
    if top in _STANDARD:
      return False
    if root not in self._places:
      package = os.path.isfile(os.path.join(root, "__init__.py"))
      self._places[root] = not package or any(map(_is_script, self._in_folder.get(root, ())))
    return self._places[root]

  def _has_all(self, root: str, one: _Import, found: dict[str, dict[str, str]]) -> bool:
    """Whether a folder has each name that a statement imports."""
    module = found[one.whole[-1]].get(root)
    text: Optional[str] = None
    for dotted in one.wanted:
      if root in found[dotted]:
        continue
      if module is None:
        return False
      text = _text(module) if text is None else text
      if not re.search(rf"\b{re.escape(dotted.rpartition('.')[2])}\b", text):
        return False
    return bool(one.wanted) or module is not None


def _imports(node: ast.stmt) -> Iterator[_Import]:
  if isinstance(node, ast.Import):
    for alias in node.names:
      parts = alias.name.split(".")
      # `import a.b.c` runs a and a.b, too.
      yield _Import(tuple(".".join(parts[:n]) for n in range(1, len(parts) + 1)))
  elif isinstance(node, ast.ImportFrom):
    origin = node.module or ""
    names = [alias.name for alias in node.names if alias.name != "*"]
    yield _Import((origin,), tuple(f"{origin}.{name}" if origin else name for name in names))


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
    place = _place(path)
    if os.path.abspath(path) == own or place[len(place) - len(parts) :] != parts:
      continue
    if not level or place == [*folder.split(os.sep), *parts]:
      found.append(path)
  near = {path: len(os.path.commonpath([own, os.path.abspath(path)])) for path in found}
  return [path for path in found if near[path] == max(near.values())]


def _place(path: str) -> list[str]:
  """The parts of a file's path that can be a dotted name."""
  place = os.path.abspath(path).split(os.sep)
  place[-1] = os.path.splitext(place[-1])[0]
  return place[:-1] if place[-1] == "__init__" else place


def _is_in(folder: str, top: str) -> bool:
  return os.path.join(folder, "").startswith(os.path.join(top, ""))


def _is_script(path: str) -> bool:
  return path.endswith(".ipynb") or "__main__" in _text(path)


def _text(path: str) -> str:
  """The text of a file; "" where it cannot be read, which has a finding of its own."""
  try:
    with open(path, encoding="utf-8", errors="replace") as file:
      return file.read()
  except OSError:
    return ""
