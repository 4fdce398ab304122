"""Which of many words a text contains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_LENGTH = 6


class Words:
  """Words of which many have parts in common, as the names of one library do.

  To look for one word in a text is fast, for sixty it is not: the text is searched for a few
  parts first, each of which several of the words have.

  Args:
    words: none of them is empty.
  """

  def __init__(self, words: Iterable[str]):
    self._words: dict[str, list[str]] = {}  # the words by the part that is looked for
    by_part: dict[str, set[str]] = {}
    left = set(words)
    for word in left:
      for begin in range(max(1, len(word) - _LENGTH + 1)):
        by_part.setdefault(word[begin : begin + _LENGTH], set()).add(word)
    while left:
      part = min(by_part, key=lambda p: (-len(by_part[p] & left), p))
      having = sorted(by_part[part] & left)
      self._words[_longest(part, having)] = having
      left -= by_part[part]

  def in_text(self, text: str) -> set[str]:
    """The words that the text contains."""
    found: set[str] = set()
    for part, words in self._words.items():
      if part in text:
        found.update([word for word in words if word in text])
    return found


def _longest(part: str, words: Sequence[str]) -> str:
  """The longest text around a part that all words have: the longer, the faster it is told."""
  shortest = words[0]
  begin = shortest.index(part)
  end = begin + len(part)
  while begin and all(shortest[begin - 1 : end] in word for word in words):
    begin -= 1
  while end < len(shortest) and all(shortest[begin : end + 1] in word for word in words):
    end += 1
  return shortest[begin:end]
