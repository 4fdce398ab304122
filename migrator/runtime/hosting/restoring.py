"""What a `tf.compat.v1.train.Saver` restores, and the check that a checkpoint has all of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from migrator.runtime import dialects, state
from migrator.runtime.errors import CheckpointError
from migrator.runtime.hosting import powers

_ASSIGNMENTS = ("Assign", "AssignVariableOp")
# Not a Reshape: a saver that reshapes takes other shapes.
_PASSED = ("Identity", "Cast")


@dataclasses.dataclass(frozen=True)
class Wanted:
  """One value that a saver reads.

  Attributes:
    key: its name in the checkpoint.
    tensor: what it becomes in the graph.
    shape: of the whole value, None if only the program knows it.
    dtype: a `tf.DType`.
    bounds: for a part of a partitioned variable: (start, length) of each dimension; else ().
  """

  key: str
  tensor: Any
  shape: Optional[tuple[int, ...]]
  dtype: Any
  bounds: tuple[tuple[int, int], ...]

  def part(self, value: np.ndarray) -> np.ndarray:
    """Returns the part of a whole value."""
    return value[tuple(slice(start, start + length) for start, length in self.bounds)]


def wanted(graph: Any, saver: Any) -> list[Wanted]:
  """Returns what a built saver reads from a checkpoint, found in the operations of its graph."""
  result = []
  for operation in _reads(graph.get_operation_by_name(saver.as_saver_def().restore_op_name)):
    names = _constant(operation.inputs[1])
    slices = _constant(operation.inputs[2])
    for key, piece, tensor in zip(names, slices, operation.outputs):
      shape, bounds = _piece(piece) if piece else (_shape(tensor), ())
      result.append(Wanted(key, tensor, shape, tensor.dtype, bounds))
  return result


def check(prefix: str, values: list[Wanted]) -> None:
  """Raises unless a checkpoint has all that is wanted.

  Raises:
    CheckpointError: with one line for each variable that it lacks, or that has another shape or dtype.
  """
  entries = state.check_intact(prefix).entries
  decode = dialects.STAMP + dialects.VALUE in entries
  found = {
    dialects.decoded(key) if decode and key.endswith(dialects.VALUE) else key: entry
    for key, entry in entries.items()
  }
  counted = _updates(prefix) if decode else None
  faults = []
  for value in values:
    entry = found.get(value.key)
    if decode and entry is None and powers.is_power(value.key) and counted is not None:
      continue  # Made out of the count of the updates.
    shape = "" if value.shape is None else f", {list(value.shape)} in the program"
    if entry is None:
      faults.append(f"{value.key}: not in the checkpoint{shape}")
    elif value.shape is not None and tuple(entry.shape) != value.shape:
      faults.append(f"{value.key}: {list(entry.shape)} in the checkpoint{shape}")
    elif value.dtype.name != entry.dtype:
      faults.append(
        f"{value.key}: {entry.dtype} in the checkpoint, {value.dtype.name} in the program"
      )
  if faults:
    wanted_keys = {value.key for value in values}
    others = sorted(set(found) - wanted_keys - {dialects.STAMP, "save_counter"})
    others = [key for key in others if not key.startswith("_CHECKPOINTABLE")]
    raise CheckpointError(
      "\n".join(
        [
          f"{prefix} does not fit the model_fn; nothing has been loaded.",
          *(f"  {fault}" for fault in dict.fromkeys(faults)),
          *([f"Only in the checkpoint: {', '.join(others[:10])}"] if others else []),
          "Ways out: build the variables as the old program did, or begin in another model_dir with "
          "warm_start_from.",
        ]
      )
    )


def feeds(session: Any, prefix: str, values: list[Wanted]) -> dict[Any, np.ndarray]:
  """Returns what to feed to a saver's restore operation, from a checkpoint by object names.

  Args:
    session: in which the values are going to be; for the initial values of powers.
    prefix: written by a `NamedCheckpoint`, whose names are those of the variables.
    values: checked by `check`.

  Raises:
    CheckpointError: if the data are damaged.
  """
  reader = tf.train.load_checkpoint(prefix)
  keys = _keys(reader)
  result = {}
  try:
    for value in values:
      if value.key in keys:
        result[value.tensor] = value.part(reader.get_tensor(keys[value.key]))
      else:
        result[value.tensor] = powers.power(_initial(session, value.key), _updates(prefix) or 0)
  except (tf.errors.OpError, RuntimeError) as e:
    raise CheckpointError(f"{prefix} cannot be read, it is damaged: {e}") from e
  return result


def _keys(reader: Any) -> dict[str, str]:
  """Returns the keys of a checkpoint by object names, by the names."""
  found = reader.get_variable_to_shape_map()
  return {dialects.decoded(key): key for key in found if key.endswith(dialects.VALUE)}


def _updates(prefix: str) -> Optional[int]:
  """Returns how many updates the optimizers of a migrated program have made."""
  reader = tf.train.load_checkpoint(prefix)
  keys = _keys(reader)
  return powers.common({n: int(reader.get_tensor(keys[n])) for n in powers.counts_in(keys)})


def _initial(session: Any, key: str) -> Any:
  """Returns the initial value of a variable."""
  variables = session.graph.get_collection(tf.compat.v1.GraphKeys.GLOBAL_VARIABLES)
  (variable,) = (variable for variable in variables if variable.op.name == key)
  return session.run(variable.initial_value)


def _reads(operation: Any) -> Iterator[Any]:
  """Yields the operations that read a checkpoint for a restore operation."""
  seen = set()
  pending = [operation]
  while pending:
    current = pending.pop()
    if current.name in seen:
      continue
    seen.add(current.name)
    if current.type == "RestoreV2":
      yield current
      continue
    pending += list(current.control_inputs) + [tensor.op for tensor in current.inputs]


def _constant(tensor: Any) -> list[str]:
  """Returns the texts of a constant."""
  return [text.decode("utf-8") for text in tf.get_static_value(tensor)]


def _piece(text: str) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
  """Returns the whole shape and the bounds that a slice specification says: "6 4 0,2:0,4"."""
  *sizes, bounds = text.split(" ")
  shape = tuple(int(size) for size in sizes)
  pairs = []
  for size, bound in zip(shape, bounds.split(":")):
    start, _, length = bound.partition(",")
    pairs.append((0, size) if bound == "-" else (int(start), int(length)))
  return shape, tuple(pairs)


def _shape(tensor: Any) -> Optional[tuple[int, ...]]:
  """Returns the shape of the variable that a value is assigned to, if it is one."""
  for consumer in tensor.consumers():
    if consumer.type in _ASSIGNMENTS:
      target = consumer.inputs[0].op
      if "shape" in target.node_def.attr:
        shape = tf.TensorShape(target.get_attr("shape"))
        return tuple(shape.as_list()) if shape.is_fully_defined() else None
    elif consumer.type in _PASSED:
      shape = _shape(consumer.outputs[0])
      if shape is not None:
        return shape
  return None
