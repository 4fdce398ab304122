"""Adam's running powers of beta, made out of the count that a migrated program keeps in their place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Optional

import numpy as np

_NAME = re.compile(r"(?:.*/)?beta[12]_power(?:_\d+)?")
_COUNT = re.compile(r"iterations(?:_\d+)?")
_AT_ONCE = 1 << 16


def is_power(key: str) -> bool:
  """Returns whether a variable is called as TF1's Adam calls its powers."""
  return _NAME.fullmatch(key) is not None


def counts_in(names: Iterable[str]) -> list[str]:
  """Returns those names of a checkpoint that count the updates of an optimizer."""
  return [name for name in names if _COUNT.fullmatch(name)]


def common(counts: Mapping[str, int]) -> Optional[int]:
  """Returns how many updates all optimizers have made; None if that differs, or is not known.

  Which powers belong to which of several optimizers their names do not say.
  """
  values = set(counts.values())
  return values.pop() if len(values) == 1 else None


def power(beta: Any, updates: int) -> np.ndarray:
  """Returns beta to the power of `updates + 1`, multiplied as TF1 did, once for each update.

  Args:
    beta: the initial value of the variable, of its dtype, shape [].
    updates: how many updates there were.
  """
  value = np.asarray(beta)
  while updates > 0 and value != 0:
    size = min(updates, _AT_ONCE)
    factors = np.full(size + 1, beta, value.dtype)
    factors[0] = value
    value = np.multiply.accumulate(factors)[-1]
    updates -= size
  return np.asarray(value)
