"""How two checkpoints differ: in their variables, slots and steps, and in the values if asked."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Callable, Optional, Union

from migrator.checkpoint.inspection import Inspection, matches


@dataclasses.dataclass(frozen=True)
class Tensor:
  """A variable, one of its slots, or its average.

  Attributes:
    dtype: e.g. "float32".
    shape: the full shape.
    keys: of the index, in the order of the rows.
  """

  dtype: str
  shape: tuple[int, ...]
  keys: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Difference:
  """One difference.

  Attributes:
    name: of the variable, with the slot as "<variable> (<slot>)"; "step" for the step.
    kind: "only in the first", "only in the second", "type" (dtype or shape), "values", or "step".
    first: what the first has: its type, or its step.
    second: what the second has.
    largest: the greatest absolute difference of the values; inf where they cannot be subtracted.
  """

  name: str
  kind: str
  first: str = ""
  second: str = ""
  largest: Optional[Union[int, float]] = None


def tensors(inspection: Inspection, patterns: Sequence[str] = ()) -> dict[str, Tensor]:
  """Returns the variables and their slots by the names that `Difference` gives them.

  Args:
    inspection: the checkpoint.
    patterns: as in a shell, of which one has to match the variable; all if there is none.
  """
  result = {}
  for name, variable in inspection.contents.variables.items():
    if not matches(name, patterns):
      continue
    result[name] = Tensor(variable.dtype, variable.shape, variable.keys)
    slots = dict(variable.slots)
    if variable.ema is not None:
      slots["average"] = (variable.ema,)
    for slot, keys in slots.items():
      entry = inspection.index.entries[keys[0]]
      result[f"{name} ({slot})"] = Tensor(entry.dtype, entry.shape, keys)
  return result


def differences(
  first: Inspection,
  second: Inspection,
  patterns: Sequence[str] = (),
  values: bool = False,
  advance: Callable[[int], None] = lambda count: None,
) -> Iterator[Difference]:
  """Yields how two checkpoints differ.

  Args:
    first: a checkpoint.
    second: the other.
    patterns: see `tensors`.
    values: also read and compare the values, which needs numpy.
    advance: is told how many bytes of the first have been compared.

  Raises:
    CheckpointError, OSError: if values cannot be read.
  """
  steps = first.contents.step, second.contents.step
  if steps[0] != steps[1]:
    yield Difference("step", "step", str(steps[0]), str(steps[1]))
  one, two = tensors(first, patterns), tensors(second, patterns)
  for name in one:
    if name not in two:
      yield Difference(name, "only in the first")
  for name in two:
    if name not in one:
      yield Difference(name, "only in the second")
  for name in one:
    if name not in two:
      continue
    a, b = one[name], two[name]
    if (a.dtype, a.shape) != (b.dtype, b.shape):
      yield Difference(name, "type", _type(a), _type(b))
    elif values:
      from migrator.checkpoint import stats

      largest = stats.greatest_difference(first, a.keys, second, b.keys, advance)
      if largest:
        yield Difference(name, "values", largest=largest)


def _type(tensor: Tensor) -> str:
  return f"{tensor.dtype} {list(tensor.shape)}"
