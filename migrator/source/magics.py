"""What IPython adds to Python: magics become Python with as many lines, columns as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Optional

# Cell magics whose body is Python of this program; any other hands the body to something else.
_PYTHON_CELLS = frozenset("capture debug ipytest memit mprun prun time timeit wandb".split())
# Cell magics that Datalab also takes with one %: no line magic has their name.
_CELLS_ONLY = frozenset(
  "bash bigquery bq html javascript js latex perl ruby script sh svg writefile".split()
)
_WRITTEN = re.compile(
  r"%%?(?:write)?file\s+(?P<append>(?:-a|--append)\s+)?"
  r"(?P<quote>['\"]?)(?P<name>.+\.py|.*(?:\{\w[^}]*\}|\$\w+))(?P=quote)\s*"
)
# Which of the readings is without all that begins like a magic.
PLAIN = 2
_NO_CODE = re.compile(r"\s*(#.*)?")
_MAGIC = re.compile(
  r"(?P<indent>\s*)(?:(?:[\w.,\[\]()'\" *]+=\s*)?[%!]|\?|[\w.*]+\?{1,2}\s*$|[,;/]\w)"
)
_TIMED = re.compile(
  r"(?P<indent>\s*)(?P<magic>%time(?:it)?(?:\s+-[a-zA-Z]+(?:\s*\d+)?)*\s+)(?=[^\s-])"
)
# What IPython takes for a magic without its %, unless it is a variable.
_AUTOMAGIC = re.compile(
  r"(?P<indent>\s*)(?:cat|cd|clear|conda|cp|env|history|ldir|less|ll|ls|mamba|man|matplotlib|mkdir"
  r"|more|mv|pip|pwd|reset|rm|rmdir|run|time|timeit|who|whos)\b"
  r"(?!\.|\s*(?:[=(,\[:)]|[-+*/%&|^<>!]=?\s|(?:in|is|and|or|if|not)\b))"
)
# A line and those that backslashes join to it.
_JOINED = re.compile(r"(?:[^\n]*\\[ \t]*\n)*[^\n]*\n?")
_PART = re.compile(
  r"""(?P<string>\"\"\"(?:\\.|[^\\])*?(?:\"\"\"|\Z)|'''(?:\\.|[^\\])*?(?:'''|\Z)"""
  r"""|"(?:\\.|[^\\\n"])*"?|'(?:\\.|[^\\\n'])*'?)"""
  r"|(?P<comment>#[^\n]*)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<joined>\\\n)|(?P<end>\n)",
  re.S,
)


def cell_magic(lines: Sequence[str]) -> tuple[int, bool]:
  """Where a cell has its cell magic (`%%name`), and whether the other lines are Python.

  `%bash` counts as well, in which Datalab sees no difference.

  Returns:
    The index of the line, -1 if there is none.
  """
  for index, line in enumerate(lines):
    if line.startswith("%%") and not line.startswith("%%%"):
      return index, re.split(r"\W", line[2:])[0] in _PYTHON_CELLS
    if line.startswith("%") and re.split(r"\W", line[1:])[0] in _CELLS_ONLY:
      return index, False
    if not _NO_CODE.fullmatch(line):
      break
  return -1, True


def written_file(line: str) -> Optional[tuple[str, bool]]:
  """The Python file that a cell magic writes its cell to, and whether it appends; else None.

  A name that ends with a variable, `{module}` or `$module`, may be that of a Python file.
  """
  match = _WRITTEN.fullmatch(line)
  return (match["name"], match["append"] is not None) if match else None


def readings(code: str) -> Iterator[str]:
  """The Python that a cell's code may mean, likeliest first.

  The code itself comes first: a line of Python may begin with % as an operator. A line that
  is a magic becomes `pass`; what `%time` and `%timeit` measure stays.
  """
  yield code
  for automagic in (False, True):
    for timed in (True, False):
      yield _replace(code, timed=timed, automagic=automagic)


def _replace(code: str, *, timed: bool, automagic: bool) -> str:
  """The code without magics, which only stand where a statement can begin."""
  result = []
  index = depth = 0
  at_start = True
  while index < len(code):
    if at_start and not depth:
      line = code[index:].split("\n", 1)[0]
      match = _TIMED.match(line) if timed else None
      if match:
        result.append(match["indent"] + "0;".ljust(len(match["magic"])))
        index += match.end()
      elif _MAGIC.match(line) or (automagic and _AUTOMAGIC.match(line)):
        joined = _JOINED.match(code, index)
        assert joined is not None  # it may be empty
        indent = line[: len(line) - len(line.lstrip())]
        result.append(indent + "pass" + "\n" * joined[0].count("\n"))
        index = joined.end()
        continue
    part = _PART.search(code, index)
    if part is None:
      result.append(code[index:])
      break
    at_start = part["end"] is not None
    if part["open"]:
      depth += 1
    elif part["close"]:
      depth = max(depth - 1, 0)
    result.append(code[index : part.end()])
    index = part.end()
  return "".join(result)
