"""Which dotted names are of interest: the symbols of the rules, and what leads to them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence

from migrator.analysis import private_names, symbols

COLD, WARM, HOT = range(3)
_PACKAGES = ("tensorflow", "keras", "tensorflow_estimator")

# One of these stands in every text that imports by a call.
IMPORTING = ("import_module", "__import__", "importorskip")


class Lexicon:
  """Judges dotted names.

  HOT is a symbol that is listed, or something below one. WARM leads to one: `tf.train` where
  `tf.train.Saver` is listed. The rest is COLD.

  Attributes:
    packages: the heads of all absolute names that are not COLD.
    stems: what a text must contain to name one of the packages.

  Args:
    listed: canonical names of symbols, as in the rules; "tf.x.*" stands for all below.
  """

  def __init__(self, listed: Iterable[str]):
    self._listed = {name[:-2] if name.endswith(".*") else name for name in listed}
    self._above = {"tf", "tf.compat", "tensorflow", "tensorflow.python", "tensorflow.python.tpu"}
    for name in [*self._listed, *private_names.modules()]:
      parts = name.split(".")
      self._above.update(".".join(parts[:n]) for n in range(1, len(parts)))
    self._above.update(private_names.modules())
    heads = {name.partition(".")[0] for name in self._listed} - {"tf", *_PACKAGES}
    self.packages: Sequence[str] = (*_PACKAGES, *sorted(heads))
    # A text that contains none of these contains none of the packages.
    self.stems = tuple(p for p in self.packages if p != "tensorflow_estimator")
    self._judged: dict[str, int] = {}
    self._cold: dict[str, set[str]] = {}

  def judge(self, dotted: str) -> int:
    """COLD, WARM or HOT for an absolute name such as "tensorflow.compat.v1.train"."""
    judged = self._judged.get(dotted)
    if judged is None:
      judged = self._judged[dotted] = self._judge(symbols.canonical(dotted).path)
    return judged

  def cold_below(self, dotted: str) -> set[str]:
    """Spellings of what stands below a name that are known to be COLD; the caller adds to them."""
    return self._cold.setdefault(dotted, set())

  def _judge(self, path: str) -> int:
    parts = path.split(".")
    for n in range(1, len(parts) + 1):
      if ".".join(parts[:n]) in self._listed:
        return HOT
    return WARM if path in self._above else COLD

  def may_import(self, text: str) -> bool:
    """Whether a text may import one of the packages by a call that gets its name as a string."""
    return (
      any(word in text for word in IMPORTING)
      and any(stem in text for stem in self.stems)  # also where the name is a relative one
      and self._package_literal.search(text) is not None
    )

  @functools.cached_property
  def _package_literal(self) -> re.Pattern[str]:
    """A string that begins with one of the packages, or a relative name."""
    packages = "|".join(map(re.escape, self.packages))
    return re.compile(rf"[\"'](?:\.|(?:{packages})\b)")
