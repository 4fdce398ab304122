"""Line ends: one kind inside the program, each line's own kind in the file."""

from __future__ import annotations


def unify(text: str) -> str:
  """The text with "\\n" at the end of each line."""
  return text.replace("\r\n", "\n").replace("\r", "\n")


def restore(original: str, changed: str, newline: str) -> str:
  """Gives a changed text the line ends of the original.

  Args:
    original: the text of the file.
    changed: a text with "\\n" line ends, made from `unify(original)`.
    newline: what new lines end with.

  Returns:
    The changed text; a line that also stands in the original keeps its own line end.
  """
  if "\r" not in original:
    return changed
  import difflib  # needed for files with several kinds of line ends only

  old = original.splitlines(keepends=True)
  old_bare = [unify(line) for line in old]
  new = changed.splitlines(keepends=True)
  result: list[str] = []
  matcher = difflib.SequenceMatcher(None, old_bare, new, autojunk=False)
  for kind, i, j, k, m in matcher.get_opcodes():
    if kind == "equal":
      result += old[i:j]
    else:
      result += [line.replace("\n", newline) for line in new[k:m]]
  return "".join(result)
