"""Suggests which variable of a checkpoint each variable of a model is, by names, then by shapes.

A pair is only made where no other fits: what is left open is listed with its candidates. Nothing here is
used unless a person asks for it.
"""

from __future__ import annotations

import collections
import dataclasses
import difflib
import functools
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Optional

from migrator.runtime import renames
from migrator.runtime.contents import Contents, Variable
from migrator.runtime.name_map import toml_value

# What a variable does, by the end of its name. One is never taken for another.
_ROLES = frozenset(
  "kernel bias embeddings gamma beta moving_mean moving_variance depthwise_kernel pointwise_kernel "
  "recurrent_kernel alpha".split()
)
_CANDIDATES = 4
# How many parts at the end of two names have to be equal.
_END = 2
# So many comparisons are not made: where hundreds have one shape, the shape tells nothing.
_MANY = 10_000


@dataclasses.dataclass(frozen=True)
class Target:
  """A variable of the model: its full shape, and its dtype, e.g. "float32"."""

  shape: tuple[int, ...]
  dtype: str


@dataclasses.dataclass(frozen=True)
class Pair:
  """What a variable of the model is in the checkpoint.

  Attributes:
    old: its name there.
    why: how it was found, in words.
    reshape: its shape in the model, if that has another rank; else None.
  """

  old: str
  why: str
  reshape: Optional[tuple[int, ...]] = None


@dataclasses.dataclass(frozen=True)
class Suggestion:
  """What is what.

  Attributes:
    pairs: name in the model -> what it is in the checkpoint.
    open: the names that nothing was found for, with the names that may be looked at.
  """

  pairs: dict[str, Pair]
  open: dict[str, tuple[str, ...]]

  def to_dict(self) -> dict:
    """Returns the content of a map file with all pairs."""
    entries: dict[str, object] = {}
    for name, pair in self.pairs.items():
      with_reshape = {"from": pair.old, "reshape": list(pair.reshape or ())}
      entries[name] = pair.old if pair.reshape is None else with_reshape
    return {"variables": entries}

  def to_toml(self) -> str:
    """Returns a map file with all pairs, and what is left open as comments."""
    lines = ["[variables]"]
    entries = self.to_dict()["variables"]
    for name, pair in self.pairs.items():
      entry = entries[name]
      lines.append(f"{toml_value(name)} = {toml_value(entry)}  # {pair.why}")
    for name, candidates in self.open.items():
      lines += _open_lines(name, candidates)
    return "\n".join(lines) + "\n"


def _open_lines(name: str, candidates: Sequence[str]) -> list[str]:
  if not candidates:
    return [f"# {toml_value(name)}: nothing in the checkpoint resembles it"]
  return [f"# {toml_value(name)} = {toml_value(old)}  # one of several?" for old in candidates]


def suggest(targets: dict[str, Target], contents: Contents) -> Suggestion:
  """Suggests a map.

  In this order: equal names; the older names of TF1's libraries; names that are equal below one scope; what
  stands beside something that is known; the only one of a shape; numbered series of equal length.

  Args:
    targets: the weights of the model by name, without slots.
    contents: the checkpoint.
  """
  search = _Search(targets, contents)
  search.by_name()
  search.by_scope()
  found = -1
  while found != len(search.pairs):
    found = len(search.pairs)
    search.beside()
    if found == len(search.pairs):
      search.by_shape()
    if found == len(search.pairs):
      search.by_series()
  pairs = {name: search.pairs[name] for name in targets if name in search.pairs}
  left = {name: search.candidates(name) for name in targets if name not in search.pairs}
  return Suggestion(pairs, left)


class _Search:
  """The pairs that have been found so far, and what is still free."""

  def __init__(self, targets: dict[str, Target], contents: Contents):
    self.pairs: dict[str, Pair] = {}
    self._targets = dict(targets)
    # The gates of an RNN cell need a transform: its variables are no candidates.
    self._variables = {
      name: v
      for name, v in contents.variables.items()
      if name in targets or not renames.rnn_cell(name)
    }
    # By the last two parts of their names, and by shape.
    self._ends: dict[tuple, list[tuple[str, list[str]]]] = {}
    self._shapes: dict[tuple, list[str]] = {}
    for name, variable in self._variables.items():
      self._shapes.setdefault((variable.shape, variable.dtype), []).append(name)
      for variant in _newer(name):
        parts = variant.split("/")
        self._ends.setdefault(tuple(parts[-_END:]), []).append((name, parts))

  def _pair(self, name: str, old: str, why: str) -> None:
    target = self._targets.pop(name)
    shape = self._variables.pop(old).shape
    self.pairs[name] = Pair(old, why, None if shape == target.shape else target.shape)

  def by_name(self) -> None:
    """Pairs equal names, then older ones that nothing else can be."""
    for name in list(self._targets):
      if name in self._variables and self._fits(name, name, reshaped=True):
        self._pair(name, name, "the same name")
    newer: dict[str, list[str]] = {}
    for old in self._variables:
      for name in _newer(old)[1:]:
        if name in self._targets and self._fits(name, old):
          newer.setdefault(name, []).append(old)
    uses = collections.Counter(old for olds in newer.values() for old in olds)
    for name, olds in newer.items():
      if len(olds) == 1 and uses[olds[0]] == 1:
        self._pair(name, olds[0], ", ".join(renames.renamed(olds[0])[name]))

  def by_scope(self) -> None:
    """Pairs names with the same end of two parts or more, if one scope stands before all of them."""
    scopes: dict[tuple, dict[tuple, dict[str, list[str]]]] = {}
    for name in self._targets:
      for old, head, old_head in self._same_ends(name):
        names = scopes.setdefault(head, {}).setdefault(old_head, {})
        names.setdefault(name, []).append(old)
    for old_scopes in scopes.values():
      old_head, names = max(old_scopes.items(), key=lambda item: len(item[1]))
      others = [set(n) for h, n in old_scopes.items() if h != old_head]
      if any(not other < set(names) for other in others):
        continue
      for name, olds in names.items():
        if len(olds) == 1 and olds[0] in self._variables and name in self._targets:
          self._pair(name, olds[0], f"the same below {'/'.join(old_head) or 'no scope'}")

  def _same_ends(self, name: str) -> list[tuple[str, tuple, tuple]]:
    """Returns the variables whose names have the longest end in common, and what is before it."""
    own = name.split("/")
    best: list[tuple[str, tuple, tuple]] = []
    longest = _END
    for old, parts in self._ends.get(tuple(own[-_END:]), ()):
      if old not in self._variables or not self._fits(name, old, reshaped=True):
        continue
      length = _same_end(own, parts)
      if length > longest:
        best, longest = [], length
      if length == longest and all(old != found[0] for found in best):
        best.append((old, tuple(own[:-length]), tuple(parts[:-length])))
    return best

  def _of_shape(self, name: str) -> Iterator[str]:
    """Yields the variables that a variable of the model may be."""
    target = self._targets[name]
    for old in self._shapes.get((target.shape, target.dtype), ()):
      if old in self._variables and _same_role(name, old):
        yield old

  def beside(self) -> None:
    """Pairs the variables of a layer of which another one is known."""
    layers: dict[str, set[str]] = {}
    for name, pair in self.pairs.items():
      layers.setdefault(_layer(name), set()).add(_layer(pair.old))
    for name in list(self._targets):
      old_layers = layers.get(_layer(name), set())
      if len(old_layers) != 1:
        continue
      (layer,) = old_layers
      found = [o for o in self._of_shape(name) if _layer(o) == layer and _roles(o) & _roles(name)]
      if len(found) == 1:
        self._pair(name, found[0], f"beside what else is of {layer or 'no scope'}")

  def by_shape(self) -> None:
    """Pairs what has a shape that nothing else has on either side."""
    shapes = collections.Counter((t.shape, t.dtype) for t in self._targets.values())
    fitting = {
      name: list(self._of_shape(name))
      for name, t in self._targets.items()
      if shapes[t.shape, t.dtype] * len(self._shapes.get((t.shape, t.dtype), ())) < _MANY
    }
    uses = collections.Counter(old for olds in fitting.values() for old in olds)
    for name, olds in fitting.items():
      if len(olds) == 1 and uses[olds[0]] == 1 and self._targets[name].shape:
        self._pair(name, olds[0], "the only one of this shape")

  def by_series(self) -> None:
    """Pairs names that differ in one number, `blocks/0/...` and `layer_0/...`, by these numbers."""
    series = _series({n: (t.shape, t.dtype) for n, t in self._targets.items()})
    old_series = _series({n: (v.shape, v.dtype) for n, v in self._variables.items()})
    fitting = {
      key: [o for o in old_series if self._series_fit(names, old_series[o])]
      for key, names in series.items()
    }
    uses = collections.Counter(o for found in fitting.values() for o in found)
    for key, found in fitting.items():
      if len(found) == 1 and uses[found[0]] == 1:
        for name, old in zip(series[key], old_series[found[0]]):
          self._pair(name, old, "by its number")

  def _series_fit(self, names: list[str], olds: list[str]) -> bool:
    return len(names) == len(olds) and all(self._fits(n, o) for n, o in zip(names, olds))

  def _fits(self, name: str, old: str, reshaped: bool = False) -> bool:
    """Returns whether a variable can be that of the model, by shape, dtype and the end of its name."""
    target, variable = self._targets[name], self._variables[old]
    if target.dtype != variable.dtype or not _same_role(name, old):
      return False
    return target.shape == variable.shape or (reshaped and _reshapes(target, variable))

  def candidates(self, name: str) -> tuple[str, ...]:
    """Returns variables that may be worth a look: of the shape, of the same end, of similar names."""
    found = list(itertools.islice(self._of_shape(name), _CANDIDATES))
    found += [o for o, *_ in self._same_ends(name)]
    if len(self._targets) * len(self._variables) < _MANY:
      found += difflib.get_close_matches(name, self._variables, n=2)
    return tuple(dict.fromkeys(found))[:_CANDIDATES]


@functools.lru_cache(maxsize=100_000)
def _newer(name: str) -> tuple[str, ...]:
  """Returns what a variable may be called now, itself first."""
  return (name, *renames.renamed(name))


def _reshapes(target: Target, variable: Variable) -> bool:
  """Returns whether one has the values of the other in another rank, as attention kernels have."""
  return len(target.shape) != len(variable.shape) and (
    math.prod(target.shape) == math.prod(variable.shape)
  )


def _same_end(one: Sequence[str], other: Sequence[str]) -> int:
  """Returns how many parts two names have in common at their ends."""
  count = 0
  for a, b in zip(reversed(one), reversed(other)):
    if a != b:
      break
    count += 1
  return count


def _layer(name: str) -> str:
  return name.rpartition("/")[0]


@functools.lru_cache(maxsize=100_000)
def _roles(name: str) -> frozenset[str]:
  """Returns the last part of a name, also of what it may be called now."""
  return frozenset(n.rpartition("/")[2] for n in _newer(name))


def _same_role(name: str, old: str) -> bool:
  """Returns whether nothing in the names speaks against it."""
  own, other = _roles(name), _roles(old)
  return bool(own & other) or not (own & _ROLES and other & _ROLES)


def _series(names: dict[str, tuple]) -> dict[tuple, list[str]]:
  """Returns the names that differ in one number, in its order, by what they have in common."""
  groups: dict[tuple, list[tuple[tuple, str]]] = {}
  for name, kind in names.items():
    parts = name.split("/")
    pattern = tuple(re.sub(r"_?\d+", "", part) for part in parts)
    numbers = tuple(tuple(map(int, re.findall(r"\d+", part))) for part in parts)
    groups.setdefault((kind, pattern), []).append((numbers, name))
  series = {}
  for key, found in groups.items():
    if len(found) > 1 and _varying(numbers for numbers, _ in found) == 1:
      series[key] = [name for _, name in sorted(found)]
  return series


def _varying(numbers: Iterable[tuple]) -> int:
  """Returns in how many parts of the names the numbers differ."""
  return sum(len(set(column)) > 1 for column in zip(*numbers))
