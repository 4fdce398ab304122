"""Tells which Keras optimizer of a v2 checkpoint is which of the program's, where there are several.

The canned Estimators for wide and deep models, of TensorFlow 2.15 (measured): `training/Adagrad` and
`training/Ftrl`; of one class `training/Adam` and `training/Adam_1`; else by the names that the program gave. The
first one, that of `dnn/`, counted with `global_step`, the other has an `iter`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from migrator.runtime.contents import Contents

_DEEP = "dnn/"


def owners(
  contents: Contents, kinds: Sequence[str], trained: Sequence[Sequence[str]]
) -> tuple[list[Optional[str]], list[str]]:
  """Returns the name of each optimizer in the checkpoint, None if there is none; and what is not clear.

  Args:
    contents: the checkpoint.
    kinds: of each optimizer of the program.
    trained: of each, the names in the checkpoint of the variables that it trains.
  """
  found = [_by_slots(contents, kind, names) for kind, names in zip(kinds, trained)]
  # One without slots, as plain SGD: told by what is left.
  free = [name for name in contents.optimizers if name not in found]
  without = [place for place, name in enumerate(found) if name is None]
  if len(without) == 1 and len(free) == 1:
    found[without[0]] = free[0]
  elif len(kinds) == 1 or not without or not free:
    pass
  elif len(without) == len(free) == 2:
    deep = [place for place in without if any(n.startswith(_DEEP) for n in trained[place])]
    uncounted = [name for name in free if "iter" not in contents.optimizers[name].hyperparameters]
    if len(deep) == 1 and len(uncounted) == 1:
      free.remove(uncounted[0])
      without.remove(deep[0])
      found[deep[0]], found[without[0]] = uncounted[0], free[0]
  if len(kinds) > 1 and without and free and any(found[place] is None for place in without):
    return found, [
      f"The names do not tell which of the optimizers {', '.join(free)} of the checkpoint trains which "
      "weights: they have no slots."
    ]
  return found, []


def _by_slots(contents: Contents, kind: str, names: Sequence[str]) -> Optional[str]:
  """Returns the optimizer that has slots for variables, that of the right kind if there are several."""
  candidates = list(
    dict.fromkeys(name for old in names for name in contents.variables[old].optimizers)
  )
  fitting = [name for name in candidates if contents.optimizers[name].kind.endswith(kind)]
  if len(candidates) > 1 and len(fitting) == 1:
    return fitting[0]
  return candidates[0] if len(candidates) == 1 else None
