"""The keys of a name-keyed checkpoint, and the object graph that makes it one.

A `tf.train.Checkpoint(**{name: variable})` stores a graph with one child of the root for each name
(`TrackableObjectGraph`, tensorflow/core/protobuf/trackable_object_graph.proto). It is small and simple
enough to be encoded here, so that writing such a checkpoint needs no TensorFlow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from migrator.runtime.wire import encode_field, encode_varint

KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"
_ATTRIBUTE = "VARIABLE_VALUE"
_ESCAPED = re.compile(r"\.([S.])")
_HAS_VALUES = encode_field(5, b"\x08\x01")  # A BoolValue that is true.


def key(name: str) -> str:
  """Returns the key under which the variable called `name` is stored."""
  return name.replace(".", "..").replace("/", ".S") + VALUE


def name_of(key_: str) -> str:
  """Returns the name of the variable that is stored under a key, its path in a deeper graph."""
  path = key_[: -len(VALUE)] if key_.endswith(VALUE) else key_
  return _ESCAPED.sub(lambda match: "/" if match.group(1) == "S" else match.group(1), path)


def encode(names: Iterable[str]) -> bytes:
  """Returns the graph of a root whose children are variables with these names."""
  nodes = []
  children = b""
  for number, name in enumerate(names, 1):
    child = encode_varint(1 << 3) + encode_varint(number) + encode_field(2, name.encode())
    children += encode_field(1, child)
    attribute = (
      encode_field(1, _ATTRIBUTE.encode())
      + encode_field(2, name.encode())
      + encode_field(3, key(name).encode())
    )
    nodes.append(encode_field(2, attribute) + _HAS_VALUES)
  return b"".join(encode_field(1, node) for node in [children + _HAS_VALUES, *nodes])
