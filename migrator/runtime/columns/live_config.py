"""Feature columns as part of the configuration of a saved model, which is JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable, Optional

import numpy as np
import tensorflow as tf

from migrator.runtime.columns.live_shared import Shared
from migrator.runtime.columns.vocabulary import _ENCODING, read_vocabulary

# Which files have been read stays out of the configuration: a saved model needs none.
Words = dict


class NotSaved(NotImplementedError, ValueError):
  """A column cannot be part of a saved model."""


def read_files(columns: list) -> Words:
  """Returns column -> the words of its vocabulary file, for the columns that have one."""
  return {
    column: read_vocabulary(str(column.vocabulary_file), column.vocabulary_size, column.file_format)
    for column in columns
    if hasattr(column, "vocabulary_file")
  }


def encode(value: Any, words: Words, column: Optional[Any] = None) -> Any:
  """Returns a column, or what a column holds, as JSON.

  Args:
    value: what becomes JSON.
    words: what `read_files` gave; such a column is saved as one with a vocabulary list.
    column: the column that holds it.

  Raises:
    NotSaved: naming the column, if it holds a lambda.
  """
  if isinstance(value, (np.generic, np.ndarray)):
    value = value.tolist()
  if value is None or isinstance(value, (bool, int, float, str)):
    return value
  if isinstance(value, bytes):
    return {"bytes": value.decode(*_ENCODING)}
  if isinstance(value, tf.DType):
    return {"dtype": value.name}
  if hasattr(value, "_fields"):
    return _encode_column(value, words)
  if isinstance(value, (list, tuple)):
    return {"tuple": [encode(item, words, column) for item in value]}
  if hasattr(value, "get_config"):
    return _encode_initializer(value)
  if callable(value):
    return {"function": _encode_function(value, column)}
  raise NotSaved(f"The column {getattr(column, 'name', column)} holds {value!r}: {_WEIGHTS_ONLY}")


_WEIGHTS_ONLY = (
  "it cannot be part of a saved model. Save the weights only, with model.save_weights or a checkpoint, "
  "or make it a function of a module."
)


def _encode_column(column: Any, words: Words) -> dict:
  kind, fields = type(column).__name__, dict(zip(column._fields, column))
  if column in words:
    kind = "VocabularyListCategoricalColumn"
    number = column.dtype.is_integer
    fields = {
      "key": column.key,
      "vocabulary_list": tuple(int(w) if number else w.encode(*_ENCODING) for w in words[column]),
      "dtype": column.dtype,
      "default_value": column.default_value,
      "num_oov_buckets": column.num_oov_buckets,
    }
  # The variables of a saved model have values.
  for name in ("ckpt_to_load_from", "tensor_name_in_ckpt"):
    if name in fields:
      fields[name] = None
  return {
    "column": kind,
    "fields": {name: encode(value, words, column) for name, value in fields.items()},
  }


def _encode_initializer(value: Any) -> dict:
  if "keras" in type(value).__module__.split("."):
    return {"keras": tf.keras.initializers.serialize(value)}
  return {"initializer": type(value).__name__, "config": value.get_config()}


def _encode_function(value: Callable, column: Any) -> Any:
  name = getattr(value, "__qualname__", "")
  if "<lambda>" in name:
    what = next(n for n, v in zip(column._fields, column) if v is value)
    raise NotSaved(f"The {what} of the column {column.name} is a lambda: {_WEIGHTS_ONLY}")
  return tf.keras.utils.serialize_keras_object(value)


def decode(value: Any) -> Any:
  """Returns what `encode` made JSON of.

  Raises:
    ValueError: naming the function, if it is not known to Keras.
  """
  if isinstance(value, list):
    return [decode(item) for item in value]
  if not isinstance(value, dict):
    return value
  if "tuple" in value:
    return tuple(decode(item) for item in value["tuple"])
  if "bytes" in value:
    return value["bytes"].encode(*_ENCODING)
  if "dtype" in value:
    return tf.as_dtype(value["dtype"])
  if "keras" in value:
    return tf.keras.initializers.deserialize(value["keras"])
  if "initializer" in value:
    return _initializer(value["initializer"])(**value["config"])
  if "function" in value:
    return _decode_function(value["function"])
  fields = {name: decode(item) for name, item in value["fields"].items()}
  return _column_class(value["column"])(**fields)


def _initializer(name: str) -> Any:
  for known in vars(tf.compat.v1.initializers).values():
    if getattr(known, "__name__", None) == name:
      return known
  raise ValueError(f"TensorFlow {tf.__version__} has no initializer {name}.")


def _decode_function(value: Any) -> Callable:
  try:
    return tf.keras.utils.deserialize_keras_object(value)
  except (TypeError, ValueError) as error:
    name = value.get("config", value) if isinstance(value, dict) else value
    raise ValueError(
      f"A feature column of the model calls the function {name}, of which Keras does not know: give "
      "load_model custom_objects with it, or decorate it with tf.keras.utils.register_keras_serializable."
    ) from error


def _column_class(name: str) -> Any:
  if name == "Shared":
    return Shared
  for found in _subclasses(tf.__internal__.feature_column.FeatureColumn):
    if found.__name__ == name:
      return found
  raise ValueError(f"TensorFlow {tf.__version__} has no feature column {name}.")


def _subclasses(parent: Any) -> Iterator[Any]:
  for child in parent.__subclasses__():
    yield child
    yield from _subclasses(child)
