"""Feature columns as part of the configuration of a saved model, which is JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable, Optional

import numpy as np
import tensorflow as tf

from migrator.runtime.columns.live_shared import Shared
from migrator.runtime.columns.vocabulary import _ENCODING, read_vocabulary


class NotSaved(NotImplementedError, ValueError):
  """A column cannot be part of a saved model."""


def without_files(column: Any) -> Any:
  """Returns a column with vocabulary lists in place of files: a saved or exported model needs no file.

  Raises:
    ValueError: if a file has fewer words than the column says.
  """
  if hasattr(column, "vocabulary_file"):
    path = str(column.vocabulary_file)
    words = read_vocabulary(path, column.vocabulary_size, column.file_format)
    number = column.dtype.is_integer
    return _column_class("VocabularyListCategoricalColumn")(
      key=column.key,
      vocabulary_list=tuple(int(word) if number else word.encode(*_ENCODING) for word in words),
      dtype=column.dtype,
      default_value=column.default_value,
      num_oov_buckets=column.num_oov_buckets,
    )
  if not hasattr(column, "_fields"):
    return column
  changed = {}
  for name, value in zip(column._fields, column):
    if name == "keys":
      new: Any = tuple(without_files(key) for key in value)
    else:
      new = without_files(value)
    if new is not value and new != value:
      changed[name] = new
  return column._replace(**changed) if changed else column


def encode(value: Any, column: Optional[Any] = None) -> Any:
  """Returns a column, or what a column holds, as JSON.

  Args:
    value: what becomes JSON.
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
    return _encode_column(value)
  if isinstance(value, (list, tuple)):
    return {"tuple": [encode(item, column) for item in value]}
  if hasattr(value, "get_config"):
    return _encode_initializer(value)
  if callable(value):
    return {"function": _encode_function(value, column)}
  raise NotSaved(f"The column {getattr(column, 'name', column)} holds {value!r}: {_WEIGHTS_ONLY}")


_WEIGHTS_ONLY = (
  "it cannot be part of a saved model. Save the weights only, with model.save_weights or a checkpoint, "
  "or make it a function of a module."
)


def _encode_column(column: Any) -> dict:
  fields = dict(zip(column._fields, column))
  # The variables of a saved model have values.
  for name in ("ckpt_to_load_from", "tensor_name_in_ckpt"):
    if name in fields:
      fields[name] = None
  return {
    "column": type(column).__name__,
    "fields": {name: encode(value, column) for name, value in fields.items()},
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
