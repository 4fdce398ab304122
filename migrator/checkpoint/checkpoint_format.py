"""Writes a name-keyed checkpoint: a new index over the source's data files, and what is new.

Bytes that do not change are never read: their data files are linked, or copied where they cannot be.
Checksums come along in the index. Values that do change are written by TensorFlow, in groups, so that
memory does not grow with the checkpoint.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Callable, Optional

from migrator.checkpoint import data_files, object_graph, tensors
from migrator.checkpoint.source import Source
from migrator.checkpoint.tensors import Tensor
from migrator.runtime import bundle, bundle_writer
from migrator.runtime.bundle import Bounds, Entry
from migrator.runtime.errors import CheckpointError

GROUP = 64 << 20  # bytes of changed values in memory at a time
COUNTER = "save_counter"
LINKED, COPIED = "linked", "copied"


@dataclasses.dataclass(frozen=True)
class Written:
  """How the output came about.

  Attributes:
    way: "linked" or "copied"; "" if no byte of the source is used as it is.
    reason: why it is not linked, although it might have been; else "".
    shared: bytes of the output's data files that are the source's own.
    dead: bytes among them that the output does not use.
    copied: bytes that were copied.
    new: bytes that were written anew.
    files: names of the files, the index last.
    data_of: source shard -> name of the data file that holds its bytes.
    tensors: all that was written, by key.
  """

  way: str
  reason: str
  shared: int
  dead: int
  copied: int
  new: int
  files: tuple[str, ...]
  data_of: dict[int, str]
  tensors: dict[str, Tensor]


def complete(values: Sequence[Tensor], stamp: Tensor) -> dict[str, Tensor]:
  """Returns all tensors of the file by key: the given ones, and what a checkpoint has besides.

  Raises:
    CheckpointError: if two have the same name.
  """
  given = {tensor.name for tensor in values}
  extra = [stamp]
  if COUNTER not in given:
    extra.append(tensors.number(COUNTER, 1))
  everything = [*values, *extra]
  for name in sorted(given):
    if sum(tensor.name == name for tensor in everything) > 1:
      raise CheckpointError(f"Two variables would be called {name} in the output.")
  graph = object_graph.encode(tensor.name for tensor in everything)
  by_key = {object_graph.key(tensor.name): tensor for tensor in everything}
  by_key[object_graph.KEY] = tensors.text(object_graph.KEY, graph)
  return by_key


def groups(by_key: dict[str, Tensor]) -> list[dict[str, Tensor]]:
  """Returns the tensors whose values change, in groups that fit into memory."""
  result: list[dict[str, Tensor]] = []
  size = GROUP
  for key, tensor in by_key.items():
    if tensor.compute is None:
      continue
    if size + tensor.num_bytes > GROUP:
      result.append({})
      size = 0
    result[-1][key] = tensor
    size += tensor.num_bytes
  return result


def write(
  source: Source,
  prefix: str,
  by_key: dict[str, Tensor],
  link: str,
  advance: Callable[[int], None],
  copied_to: Optional[data_files.Copied] = None,
) -> Written:
  """Writes the files of the checkpoint `prefix`.

  Args:
    source: where the unchanged bytes are.
    prefix: of the output; its directory exists.
    by_key: see `complete`.
    link: "auto", "hard" (an error if it cannot be), or "copy".
    advance: is told how many bytes more are done, of those that are copied or written anew.
    copied_to: is told where bytes were copied to, as soon as they are there.

  Raises:
    OSError: if something cannot be written; files may be left then.
    CheckpointError: for "hard" where it cannot be linked.
  """
  ranges: dict[int, list[data_files.Range]] = {}
  for tensor in by_key.values():
    for _, piece in tensor.pieces:
      ranges.setdefault(piece.shard, []).append((piece.offset, piece.offset + piece.size))
  used = {shard: data_files.merged(found) for shard, found in sorted(ranges.items())}
  changed = groups(by_key)
  count = len(used) + 1 + len(changed)
  paths = [bundle.shard_path(prefix, number, count) for number in range(count)]
  place_of = {shard: number for number, shard in enumerate(used)}

  way, reason = (LINKED if used else ""), ""
  if used and link != "copy":
    refused = data_files.link([(source.shard(s), paths[place_of[s]]) for s in used])
    if refused is not None:
      reason = f"{refused.strerror}" or str(refused)
      if link == "hard":
        raise CheckpointError(
          f"The data of {source.prefix} cannot be linked to the output: {reason}. Use --link auto, or "
          "an --out on the same file system."
        )
  copied = 0
  offset_of: dict[int, Callable[[int], int]] = dict.fromkeys(used, _same)
  if used and (link == "copy" or reason):
    way = COPIED
    for shard, found in used.items():
      data_files.copy(source.shard(shard), paths[place_of[shard]], found, advance, copied_to)
      copied += sum(end - begin for begin, end in found)
      offset_of[shard] = data_files.moved(found)

  entries: dict[str, Entry] = {}
  pieces: dict[str, list[tuple[Bounds, Entry]]] = {}
  for key, tensor in by_key.items():
    placed = [
      (
        bounds,
        dataclasses.replace(
          piece, shard=place_of[piece.shard], offset=offset_of[piece.shard](piece.offset), slices=()
        ),
      )
      for bounds, piece in tensor.pieces
    ]
    if len(placed) == 1:
      entries[key] = placed[0][1]
    elif placed:
      entries[key] = Entry(tensor.dtype, tensor.shape, slices=tuple(b for b, _ in placed))
      pieces[key] = placed
  new = _write_new(paths[len(used)], len(used), by_key, entries)
  advance(new)
  for number, group in enumerate(changed, len(used) + 1):
    new += _write_changed(paths[number], number, group, entries)
    advance(sum(tensor.num_bytes for tensor in group.values()))
  bundle_writer.write_index(prefix, count, entries, pieces)
  shared = 0
  if way == LINKED:
    shared = sum(os.path.getsize(paths[place_of[shard]]) for shard in used)
  live = sum(_length(found) for found in ranges.values())
  names = [os.path.basename(path) for path in paths]
  return Written(
    way=way,
    reason=reason,
    shared=shared,
    dead=shared - live if shared else 0,
    copied=copied,
    new=new,
    files=(*names, os.path.basename(prefix) + ".index"),
    data_of={shard: names[place_of[shard]] for shard in used},
    tensors=by_key,
  )


def _same(offset: int) -> int:
  return offset


def _length(ranges: list[data_files.Range]) -> int:
  """Returns how many bytes lie in at least one of the ranges."""
  total = position = 0
  for begin, end in sorted(ranges):
    total += max(end - max(begin, position), 0)
    position = max(position, end)
  return total


def _write_new(path: str, shard: int, by_key: dict[str, Tensor], entries: dict[str, Entry]) -> int:
  """Writes the data file of the small new values; adds their entries. Returns its length."""
  offset = 0
  with open(path, "xb") as file:
    for key, tensor in by_key.items():
      if tensor.data is None:
        continue
      file.write(tensor.data)
      entries[key] = Entry(
        tensor.dtype, tensor.shape, shard, offset, len(tensor.data), tensors.checksum(tensor)
      )
      offset += len(tensor.data)
  return offset


def _write_changed(
  path: str, shard: int, group: dict[str, Tensor], entries: dict[str, Entry]
) -> int:
  """Lets TensorFlow write the data file of one group; adds the entries. Returns its length."""
  import tensorflow as tf

  values = []
  for tensor in group.values():
    value = tensor.compute() if tensor.compute is not None else None
    found = (tf.as_dtype(value.dtype).name, tuple(value.shape)) if value is not None else None
    if found != (tensor.dtype, tensor.shape):
      raise CheckpointError(
        f"{tensor.name} is to be {tensor.dtype} of shape {list(tensor.shape)}, its value is {found}."
      )
    values.append(tf.constant(value))
  prefix = f"{path}.group"
  try:
    tf.raw_ops.SaveV2(
      prefix=prefix,
      tensor_names=list(group),
      shape_and_slices=[""] * len(group),
      tensors=values,
    )
  except tf.errors.OpError as error:
    raise OSError(None, error.message, path) from error
  index = bundle.read_index(prefix)
  os.rename(bundle.shard_path(prefix, 0, 1), path)
  os.remove(prefix + ".index")
  for key, entry in index.entries.items():
    entries[key] = dataclasses.replace(entry, shard=shard)
  return os.path.getsize(path)
