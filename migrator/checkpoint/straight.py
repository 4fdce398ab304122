"""The output of a conversion without a model: every variable of the source under its own name.

Slots get one name whatever dialect wrote them, `<variable>/<TF1's suffix>`, and the parts of a
partitioned slot become one variable.
"""

from __future__ import annotations

import json
from typing import Optional

from migrator.checkpoint import object_graph, tensors
from migrator.checkpoint.source import Source
from migrator.checkpoint.tensors import Selection, Tensor
from migrator.runtime import dialects
from migrator.runtime.contents import Contents, Variable
from migrator.runtime.errors import CheckpointError

STAMP = "migrator_format"
ITERATIONS = "iterations"
LEARNING_RATE = "learning_rate"
FORMAT = 1
_BETAS = (0.9, 0.999)  # TF1's defaults.


def select(source: Source, contents: Contents) -> Selection:
  """Returns what a straight conversion consists of.

  Raises:
    CheckpointError: if two would have the same name, or the parts of one do not make up a whole.
  """
  if contents.dialect_id in ("object", "migrator"):
    return _of_object_checkpoint(source)
  names: dict[str, tuple[str, ...]] = {}
  for name, variable in contents.variables.items():
    _add(names, source, name, variable.keys)
    suffixes = _suffixes(contents, variable)
    for written, keys in variable.slots.items():
      _add(names, source, f"{name}/{suffixes.get(written, written)}", keys)
  kept = set(names)
  slots = kept - set(contents.variables)
  used = {key for keys in names.values() for key in keys}
  for key in source.index.entries:
    if key not in used:
      _add(names, source, key, (key,))
  values = [_tensor(source, name, keys, name in slots) for name, keys in names.items()]
  steps = {contents.step_key} if contents.step_key else set()
  averages = {v.ema for v in contents.variables.values() if v.ema}
  extra = sorted((set(names) - kept - steps) | (averages & set(names)))
  notes = []
  if contents.dialect_id == "v2":
    rates, note = _learning_rates(source, contents, names)
    values += rates
    extra += [tensor.name for tensor in rates[1:]]
    notes += [note] if note else []
    notes.append(
      "The hyperparameters of the Keras optimizer are kept under their own names; a program that "
      "restores the output goes on with those that it has itself, but for the learning rate."
    )
  if ITERATIONS not in names:
    counts, note = _updates(contents)
    values += [tensors.number(_place(ITERATIONS, i), count) for i, count in enumerate(counts)]
    extra += [_place(ITERATIONS, place) for place in range(1, len(counts))]
    notes += [note] if note else []
  if contents.step_note:
    notes.append(contents.step_note)
  return Selection(
    values=tuple(values),
    stamp=_stamp(contents, extra),
    variables=len(contents.variables),
    notes=tuple(notes),
  )


def _suffixes(contents: Contents, variable: Variable) -> dict[str, str]:
  """Returns suffix as written -> TF1's; of the variable's first optimizer where several have the same."""
  result: dict[str, str] = {}
  for name in variable.optimizers:
    for suffix, written in contents.optimizers[name].roles.items():
      if suffix not in result.values():
        result[written] = suffix
  return result


def _of_object_checkpoint(source: Source) -> Selection:
  """Returns the variables of an object-based checkpoint by the path at which they hang."""
  names: dict[str, tuple[str, ...]] = {}
  for key in source.index.entries:
    if key == object_graph.KEY:
      continue
    _add(names, source, object_graph.name_of(key), (key,))
  values = tuple(_tensor(source, name, keys) for name, keys in names.items())
  return Selection(values=values, stamp=None, variables=len(values))


def _add(names: dict[str, tuple[str, ...]], source: Source, name: str, keys) -> None:
  if name in names:
    raise CheckpointError(
      f"{name} would be two variables of the output: {', '.join((*names[name], *keys))} in "
      f"{source.prefix}. Nothing was written."
    )
  names[name] = tuple(keys)


def _tensor(source: Source, name: str, keys: tuple[str, ...], slot: bool = False) -> Tensor:
  entry = source.index.entries[keys[0]]
  pieces = tensors.joined(source.prefix, source.index, keys)
  return Tensor(name, entry.dtype, entry.shape, keys, pieces, slot=slot)


def _place(name: str, place: int) -> str:
  """Returns the name of a value of one of several optimizers, as the runtime's checkpoints have it."""
  return f"{name}_{place}" if place else name


def _are_several(contents: Contents) -> bool:
  """Returns whether there are optimizers that have trained a part of the variables each."""
  trained = [name for optimizer in contents.optimizers.values() for name in optimizer.variables]
  return len(contents.optimizers) > 1 and len(trained) == len(set(trained))


def _learning_rates(source: Source, contents: Contents, names: dict) -> tuple[list[Tensor], str]:
  """Returns the learning rates under the names that a migrated v2 program looks for, and a sentence or ""."""
  keys = [
    key
    for key in contents.counters
    if key.endswith("/" + LEARNING_RATE) and key.startswith("training/")
  ]
  if not keys or LEARNING_RATE in names:
    return [], ""
  rates = {contents.counters[key] for key in keys}
  if len(rates) > 1:
    return [], (
      f"The optimizers have different learning rates ({', '.join(keys)}), and only the program knows which is "
      f"its first, so no `{LEARNING_RATE}` is written. Convert with --model."
    )
  return [_tensor(source, _place(LEARNING_RATE, i), (key,)) for i, key in enumerate(keys)], ""


def _updates(contents: Contents) -> tuple[list[int], str]:
  """Returns the numbers of updates that the optimizers have made, [] if untold, and a sentence or ""."""
  if _are_several(contents) and contents.step is not None:
    return _several_updates(contents, contents.step)
  count, note = _single_updates(contents)
  return [] if count is None else [count], note


def _several_updates(contents: Contents, step: int) -> tuple[list[int], str]:
  """Returns what `_updates` does for several optimizers: only the program knows their order."""
  counts = []
  for name, optimizer in contents.optimizers.items():
    counted = optimizer.hyperparameters.get("iter")
    try:
      if optimizer.kind == "Adam" and contents.dialect_id == "v1":
        counted = dialects.adam_updates(contents, name, *_BETAS)
    except CheckpointError as error:
      return [], _unknown_count(error)
    counts.append(step if counted is None else int(counted))
  if len(set(counts)) > 1:
    return [], (
      f"The optimizers have made different numbers of updates ({', '.join(map(str, sorted(set(counts))))}), "
      f"so no `{ITERATIONS}` is written. Convert with --model."
    )
  written = ", ".join(f"`{_place(ITERATIONS, place)}`" for place in range(len(counts)))
  return counts, (
    f"There are {len(counts)} optimizers ({', '.join(contents.optimizers)}), and each has made {counts[0]} updates: "
    f"{written}. For a program that has another number of them, convert with --model."
  )


def _unknown_count(error: CheckpointError) -> str:
  return (
    f"The number of Adam's updates is not written as `{ITERATIONS}`: {error} A conversion with --model "
    "knows the decay rates, and which variables are whose."
  )


def _single_updates(contents: Contents) -> tuple[Optional[int], str]:
  """Returns the number of updates that the optimizer has made, or None, and a sentence or ""."""
  if contents.step is None:
    return None, ""
  counts: set[int] = set()
  for optimizer in contents.optimizers.values():
    if optimizer.kind != "Adam" or contents.dialect_id != "v1":
      continue
    try:
      count = dialects.adam_updates(contents, optimizer.name, *_BETAS)
      counts.add(contents.step if count is None else count)
    except CheckpointError as error:
      return None, _unknown_count(error)
  if not counts:
    return contents.step, ""
  if len(counts) > 1:
    return None, (
      f"The optimizers have made different numbers of updates ({', '.join(map(str, sorted(counts)))}), "
      f"so no `{ITERATIONS}` is written. Convert with --model."
    )
  count = counts.pop()
  if count != contents.step:
    return count, (
      f"Adam has made {count} updates, by its beta powers with beta1=0.9 and beta2=0.999, and the "
      f"global step is {contents.step}; `{ITERATIONS}` is {count}."
    )
  return count, ""


def _stamp(contents: Contents, extra: list[str]) -> Tensor:
  """Returns the stamp by which the runtime knows the file as one of its own.

  Args:
    contents: of the source.
    extra: the names that a program of the runtime has no variables for: powers of beta, averages,
      hyperparameters.
  """
  kinds = sorted({optimizer.kind for optimizer in contents.optimizers.values()})
  content = {
    "format": FORMAT,
    "flavour": "v2" if contents.dialect_id == "v2" else "v1",
    "optimizer": " and ".join(kinds) or "GradientDescent",
    "extra": extra,
  }
  return tensors.text(STAMP, json.dumps(content).encode())
