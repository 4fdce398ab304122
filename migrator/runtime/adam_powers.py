"""Adam's running powers of beta: which belong to which optimizer, and how many updates they tell.

TF1 kept them in two variables of each Adam, `beta1_power` and `beta2_power`, within the *name* scope in
which `minimize` ran; a second Adam's became `beta1_power_1`. Slots are named by the *variable* scope and
by the optimizer, which is "Adam" for most. So in a program with two Adams, such as a GAN, the names often
do not tell whose powers are whose, and then nothing is guessed: each of them has all the pairs.
"""

from __future__ import annotations

import dataclasses
import math
import re
import struct
from collections.abc import Iterable
from typing import Optional

from migrator.runtime.contents import Contents
from migrator.runtime.errors import CheckpointError

Keys = tuple[Optional[str], Optional[str]]
"""The keys of beta1's and beta2's power; AdaMax has no second."""

_NAME = re.compile(r"(?:(.*)/)?beta([12])_power(?:_(\d+))?")
_COUNTED = re.compile(r"_\d+$")
# Below this, float32 counts in denormal numbers and the exponent cannot be told any more.
_SMALLEST_POWER = 1e-37


@dataclasses.dataclass(frozen=True)
class Pair:
  """The two powers of one Adam: the name scope they are in, their number there, and their keys."""

  scope: str
  number: int
  keys: Keys


@dataclasses.dataclass(frozen=True)
class Owner:
  """An optimizer that has powers.

  Attributes:
    name: in `Contents.optimizers`.
    scope: the variable scope of its slots.
    base: as the program named it.
    ordinal: 1 for the second optimizer of that name for the same variables.
    sure: whether its slots are those of one optimizer. They may not be if some variables have the
      slots of two optimizers of that name, and others those of one: of which of the two is not told.
  """

  name: str
  scope: str
  base: str
  ordinal: int
  sure: bool


def named_powers(names: Iterable[str]) -> list[str]:
  """Returns those names that are running powers of beta."""
  return [name for name in names if _NAME.fullmatch(name)]


def pairs_of(names: Iterable[str]) -> list[Pair]:
  """Returns the pairs that the powers among `names` make up, sorted by scope and number."""
  found: dict[tuple[str, int], list[Optional[str]]] = {}
  for name in names:
    match = _NAME.fullmatch(name)
    if match:
      scope, which, number = match.group(1) or "", match.group(2), int(match.group(3) or 0)
      found.setdefault((scope, number), [None, None])[int(which) - 1] = name
  return [Pair(*where, (keys[0], keys[1])) for where, keys in sorted(found.items(), key=_order)]


def assigned(owners: list[Owner], pairs: list[Pair]) -> dict[str, tuple[Keys, ...]]:
  """Returns the powers of each optimizer by its name: one pair, or all that may be its.

  One pair each if that can be done in one way only: an optimizer's powers are in its scope, or one
  that is its with counted or further components, and those of two optimizers of the same name for the
  same variables are in the order in which they were made, which is that of the numbers.
  """
  if len(owners) == len(pairs) and all(owner.sure for owner in owners):
    # Those with the fewest choices first: what cannot be is found early.
    ordered = sorted(owners, key=lambda owner: sum(_fits(owner, pair) for pair in pairs))
    found = _matchings(ordered, pairs, [])
    if len(found) == 1:
      return {owner.name: (pairs[i].keys,) for owner, i in zip(ordered, found[0])}
  result = {}
  for owner in owners:
    possible = [pair.keys for pair in pairs if _fits(owner, pair)]
    result[owner.name] = tuple(possible or [pair.keys for pair in pairs])
  return result


def _order(item: tuple) -> tuple:
  """Sorts `a_2` before `a_10`."""
  (scope, number), _ = item
  return [(len(part), part) for part in scope.split("/")], number


def _plain(scope: str) -> list[str]:
  """Returns the components of a scope without the numbers by which TensorFlow makes names unique."""
  return [_COUNTED.sub("", part) for part in scope.split("/") if part]


def _fits(owner: Owner, pair: Pair) -> bool:
  """Returns whether the components of the owner's scope are among those of the pair's, in order."""
  rest = iter(_plain(pair.scope))
  return all(part in rest for part in _plain(owner.scope))


def _matchings(owners: list[Owner], pairs: list[Pair], taken: list[int]) -> list[list[int]]:
  """Returns up to two ways to give each owner a pair: the numbers of the pairs."""
  if len(taken) == len(owners):
    return [taken]
  owner = owners[len(taken)]
  result: list[list[int]] = []
  for i, pair in enumerate(pairs):
    if i in taken or not _fits(owner, pair):
      continue
    before = [
      number
      for other, number in zip(owners, taken)
      if (other.scope, other.base) == (owner.scope, owner.base)
      and _plain(pairs[number].scope) == _plain(pair.scope)
    ]
    if not before or i > max(before):
      result += _matchings(owners, pairs, [*taken, i])
    if len(result) > 1:
      break
  return result[:2]


def adam_updates(
  contents: Contents, optimizer: Optional[str], beta1: float, beta2: float
) -> Optional[int]:
  """Returns the number of updates that an Adam has made, by its running powers of beta.

  The powers begin at beta and are multiplied by it after each update, so t = ln(power) / ln(beta) - 1.
  (Kingma and Ba, "Adam", algorithm 1, for the powers.)

  Args:
    contents: of the checkpoint.
    optimizer: its name in `contents`; None: any.
    beta1: the decay rate of the first moment, which no checkpoint holds.
    beta2: that of the second.

  Returns:
    The count, or the global step if there are no powers, or if they have vanished: the correction is 1
    then whatever the count.

  Raises:
    CheckpointError: if the powers cannot come from these betas, or if they may be those of several
      Adams, which differ.
  """
  if optimizer is not None:
    pairs = list(contents.optimizers[optimizer].beta_powers)
  else:
    pairs = [pair.keys for pair in pairs_of(contents.counters)]
  counts = {_count_of(contents, pair, beta1, beta2) for pair in pairs}
  if len(counts) > 1:
    told = [str(count) for count in sorted(c for c in counts if c is not None)]
    if None in counts:
      told.append("too many to be told")
    raise CheckpointError(
      f"{contents.prefix} was written with several Adam optimizers, which have made "
      f"{' and '.join(told)} updates."
    )
  count = counts.pop() if counts else None
  return contents.step if count is None else count


def _count_of(contents: Contents, pair: Keys, beta1: float, beta2: float) -> Optional[int]:
  """Returns the count of one pair of powers, None if it cannot be told."""
  counts = []
  for key, beta in zip(pair, (beta1, beta2)):
    power = contents.counters.get(key) if key is not None else None
    if power and 0.0 < beta < 1.0 and _SMALLEST_POWER < power < 1.0:
      rounded = struct.unpack("<f", struct.pack("<f", beta))[0]
      counts.append(math.log(power) / math.log(rounded) - 1)
  if not counts:
    return None
  count = round(counts[0])
  if count < 0 or any(abs(c - count) > 0.05 + 1e-3 * count for c in counts):
    raise CheckpointError(
      f"{contents.prefix} was written by an Adam with other decay rates than the program's "
      f"beta1={beta1:g}, beta2={beta2:g}."
    )
  return count
