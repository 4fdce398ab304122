"""What a file is that is no part of a checkpoint of V2 format, by its name and how it begins."""

from __future__ import annotations

import os

from migrator.runtime import bundle, files, wire

V1 = (
  "is a checkpoint of Saver's V1 format (one file, no .index), which is not read: restore it with "
  "tf.compat.v1.train.Saver and save it again, which writes V2."
)
# How a file begins -> what it is.
_BEGINNINGS = {
  b"\x89HDF\r\n\x1a\n": "is an HDF5 file, as Keras writes it, not a checkpoint.",
  b"PK\x03\x04": "is a zip archive, as .keras and .npz files are, not a checkpoint.",
}
_ENDINGS = {
  ".pb": "is a graph, not a checkpoint: the variables of a SavedModel are in variables/variables.",
  ".pbtxt": "is a graph in text form, not a checkpoint: name the directory that it is in.",
  ".tflite": "is a TensorFlow Lite model, not a checkpoint.",
  ".safetensors": "is a safetensors file, not a checkpoint.",
}


def description(path: str) -> str:
  """Returns what a file is that is no part of a checkpoint: the sentence without its subject."""
  if not files.size(path):
    return "is empty (0 bytes), not a checkpoint."
  for ending, sentence in _ENDINGS.items():
    if path.endswith(ending):
      return sentence
  name = os.path.basename(path)
  if name.endswith(".meta"):
    return f"is the graph of a checkpoint whose {name[: -len('.meta')]}.index does not exist."
  if name.startswith("events.out.tfevents."):
    return "holds summaries, not a checkpoint: name the directory of the checkpoints."
  if _is_table(path):
    if is_v1(path):
      return V1
    return "is the index of a checkpoint under another name: its name has to end in .index."
  begin = files.read(path, 0, 8)
  for magic, sentence in _BEGINNINGS.items():
    if begin.startswith(magic):
      return sentence
  return "is not a checkpoint, which is named without .index or .data-00000-of-00001."


def _is_table(path: str) -> bool:
  """Returns whether a file ends as tables in LevelDB's format do: an index, or a V1 checkpoint."""
  size = files.size(path)
  end = files.read(path, size - 8, 8) if size >= bundle.FOOTER_SIZE else b""
  return end == bundle.MAGIC.to_bytes(8, "little")


def is_v1(path: str) -> bool:
  """Returns whether a file is a checkpoint of V1 format.

  The first key of both formats is "". Of V1 its value is a `SavedTensorSlices`, whose first field is
  a message (tensorflow/core/util/saved_tensor_slice.proto); of an index it is a `BundleHeaderProto`,
  whose first field is a number.
  """
  if path.endswith(".index") or not _is_table(path):
    return False
  begin = files.read(path, 0, 16)
  _, position = wire.varint(begin, 2)
  return begin[:2] == b"\0\0" and begin[position] == 0x0A
