"""The import statements of a text, read without parsing the rest of it."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_IMPORT = re.compile(r"\b(?:from\s+[\w.\s]+?\s+import|import)\b.*", re.S)
_CONTINUED = re.compile(r"\\\r?\n")
_COMMENT = re.compile(r"#[^\n]*")
_PLAIN = re.compile(r"import\s+([\w.]+)(?:\s+as\s+(\w+))?")


class Imported(NamedTuple):
  """One name of an import statement.

  Attributes:
    name: what it binds; "*" for a star import.
    bound: the absolute dotted name of what is bound.
    target: the absolute dotted name that the statement spells.
    position: where the statement begins in the text.
  """

  name: str
  bound: str
  target: str
  position: int


def find(text: str, stems: Sequence[str]) -> Iterator[Imported]:
  """The imports of some packages; also what only looks like one, as in a docstring.

  Args:
    text: the source.
    stems: texts, at least one of which the names of the packages contain.
  """
  begin = -1
  for package in stems:
    place = text.find(package)
    while place >= 0:
      first = text.rfind("\n", 0, place) + 1
      end = text.find("\n", place)
      end = len(text) if end < 0 else end
      # The statement may begin on a line above that ends with a backslash.
      while first > 1 and text[:first].endswith(("\\\n", "\\\r\n")):
        first = text.rfind("\n", 0, first - 1) + 1
      if first != begin and ("import" in text[first:end] or text[end - 1] in "\\\r"):
        begin = first
        statement = _logical(text, first, end)
        for name, bound, target in _read(statement):
          yield Imported(name, bound, target, first)
      place = text.find(package, end)


def _logical(text: str, first: int, end: int) -> str:
  """The lines of a statement, from the line at `first`."""
  line = text[first:end]
  if "(" in line:
    code = _COMMENT.sub("", line)
    while code.count("(") > code.count(")") and end < len(text):
      begin, end = end + 1, text.find("\n", end + 1)
      end = len(text) if end < 0 else end
      code += "\n" + _COMMENT.sub("", text[begin:end])
    return code
  while line.rstrip("\r").endswith("\\") and end < len(text):
    begin, end = end + 1, text.find("\n", end + 1)
    end = len(text) if end < 0 else end
    line += "\n" + text[begin:end]
  return line


@functools.lru_cache(maxsize=4096)
def _read(statement: str) -> tuple[tuple[str, str, str], ...]:
  """The (name, bound, target) of a statement; many files have the same."""
  found: list[tuple[str, str, str]] = []
  match = _IMPORT.search(_CONTINUED.sub(" ", statement))
  for part in match[0].split(";") if match else ():
    try:
      tree = ast.parse(part.strip())
    except (SyntaxError, ValueError):
      for module, alias in _PLAIN.findall(part):
        found.append(_plain(module, alias))
      continue
    for node in tree.body:
      if isinstance(node, ast.Import):
        found += [_plain(alias.name, alias.asname) for alias in node.names]
      elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
          if alias.name == "*":
            found.append(("*", node.module, node.module))
          else:
            target = f"{node.module}.{alias.name}"
            found.append((alias.asname or alias.name, target, target))
  return tuple(found)


def _plain(module: str, alias) -> tuple[str, str, str]:
  if alias:
    return alias, module, module
  head = module.partition(".")[0]  # `import a.b` binds `a`
  return head, head, module
