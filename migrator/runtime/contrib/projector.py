"""What TensorBoard's projector shows, as a file beside the events: `tf.contrib.tensorboard.plugins.projector`."""

from __future__ import annotations

import os
from typing import Any

import tensorflow as tf
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

__all__ = ["EmbeddingInfo", "ProjectorConfig", "SpriteMetadata", "visualize_embeddings"]

_FILE = "projector_config.pbtxt"  # TensorBoard looks for this name.
_PACKAGE = "migrator_projector"
# Field, number, type ("*": repeated): TensorBoard's projector_config.proto. The file is text: the names count.
_MESSAGES = {
  "SpriteMetadata": (("image_path", 1, "string"), ("single_image_dim", 2, "*uint32")),
  "EmbeddingInfo": (
    ("tensor_name", 1, "string"),
    ("metadata_path", 2, "string"),
    ("bookmarks_path", 3, "string"),
    ("tensor_shape", 4, "*uint32"),
    ("sprite", 5, "SpriteMetadata"),
    ("tensor_path", 6, "string"),
  ),
  "ProjectorConfig": (
    ("model_checkpoint_path", 1, "string"),
    ("embeddings", 2, "*EmbeddingInfo"),
    ("model_checkpoint_dir", 3, "string"),
  ),
}


def _classes() -> dict[str, Any]:
  """Returns the classes of the messages by name."""
  kinds = descriptor_pb2.FieldDescriptorProto
  file = descriptor_pb2.FileDescriptorProto(
    name=f"{_PACKAGE}.proto", package=_PACKAGE, syntax="proto3"
  )
  for name, fields in _MESSAGES.items():
    message = file.message_type.add(name=name)
    for field, number, kind in fields:
      repeated, kind = kind.startswith("*"), kind.lstrip("*")
      one = message.field.add(name=field, number=number)
      one.label = kinds.LABEL_REPEATED if repeated else kinds.LABEL_OPTIONAL
      if kind in _MESSAGES:
        one.type, one.type_name = kinds.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
      else:
        one.type = kinds.TYPE_STRING if kind == "string" else kinds.TYPE_UINT32
  pool = descriptor_pool.DescriptorPool()
  pool.Add(file)
  find = pool.FindMessageTypeByName
  return {name: message_factory.GetMessageClass(find(f"{_PACKAGE}.{name}")) for name in _MESSAGES}


_MADE = _classes()
SpriteMetadata = _MADE["SpriteMetadata"]
EmbeddingInfo = _MADE["EmbeddingInfo"]
ProjectorConfig = _MADE["ProjectorConfig"]


def visualize_embeddings(summary_writer: Any, config: Any) -> None:
  """Writes the configuration of the projector to the directory of a `tf.compat.v1.summary.FileWriter`.

  Args:
    summary_writer: whose directory.
    config: a `ProjectorConfig`.

  Raises:
    ValueError: if the writer has no directory.
  """
  directory = summary_writer.get_logdir()
  if directory is None:
    raise ValueError("Summary writer must have a logdir")
  with tf.io.gfile.GFile(os.path.join(directory, _FILE), "w") as file:
    file.write(text_format.MessageToString(config))
