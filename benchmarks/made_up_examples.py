"""Examples of the right schema for a model of which nothing is known but its inputs and its loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

SIZE = 8


def dataset(model: Any, loss: Any) -> Any:
  """A batch of examples, again and again, as `runtime.only_inputs` takes it.

  Args:
    model: a functional Keras model.
    loss: its loss; labels that no head is known for have the shape of the outputs.

  Returns:
    A Dataset of (features, labels).
  """
  import tensorflow as tf

  random = np.random.RandomState(0)
  vocabularies = dict(_vocabularies(model))
  given = model.input
  if isinstance(given, dict):
    features: Any = {name: _feature(t, random, vocabularies) for name, t in given.items()}
  else:
    features = tf.nest.map_structure(lambda t: _feature(t, random, vocabularies), given)
  labels = _labels(model, loss, random)
  head = _head(model, loss)
  column = getattr(head, "weight_column", None)
  if column is not None and isinstance(features, dict):
    features[column.key] = np.ones([SIZE, 1], "float32")
  return tf.data.Dataset.from_tensors((features, labels)).repeat()


def _vocabularies(model: Any) -> Iterator[tuple[str, list]]:
  """The inputs of which the strings that mean something are known, with those."""
  for layer in model.layers:
    if hasattr(layer, "layers"):
      yield from _vocabularies(layer)
    words = getattr(layer, "vocabulary", None)
    if isinstance(words, (list, tuple)) and words:
      yield _plain(getattr(layer.input, "name", "")), list(words)
    for column in getattr(getattr(layer, "_live", None), "all", ()):
      if getattr(column, "vocabulary_list", None):
        yield column.key, list(column.vocabulary_list)


def _plain(name: str) -> str:
  """The name that an Input was given: Keras 3 may add a number to that of its tensor."""
  return name.partition(":")[0]


def _feature(tensor: Any, random: np.random.RandomState, vocabularies: dict[str, list]) -> Any:
  """Values for one Input: its words or small numbers; a dimension that is open has one value."""
  import tensorflow as tf

  shape = [SIZE, *(n or 1 for n in list(tensor.shape)[1:])]
  dtype = tf.as_dtype(tensor.dtype)
  words = vocabularies.get(_plain(tensor.name))
  if words is not None or dtype == tf.string:
    values = random.choice(np.array(words or ["a", "b"]), size=shape)
  elif dtype.is_integer:
    values = random.randint(2, size=shape).astype(dtype.as_numpy_dtype)
  else:
    values = random.rand(*shape).astype(dtype.as_numpy_dtype)
  dense = tf.constant(values)
  if getattr(tensor, "sparse", False) or isinstance(tensor, tf.SparseTensor):
    return tf.sparse.from_dense(dense)
  if getattr(tensor, "ragged", False):
    return tf.RaggedTensor.from_tensor(dense)
  return dense


def _head(model: Any, loss: Any) -> Any:
  """The head that a loss is or stands for; None if there is none."""
  from migrator import runtime

  try:
    return runtime.heads.of(loss, model.output_shape[-1])
  except (TypeError, ValueError, AttributeError):
    return None


def _labels(model: Any, loss: Any, random: np.random.RandomState) -> Any:
  """Labels that the loss takes."""
  head = _head(model, loss)
  parts = getattr(head, "heads", None)
  if parts:
    return {part.head_name: _labels_of(part, random) for part in parts}
  if head is not None:
    return _labels_of(head, random)
  shape = [SIZE, *(n or 1 for n in model.output_shape[1:])]
  if "Sparse" in type(loss).__name__ or "sparse" in str(loss):
    return random.randint(max(shape[-1], 2), size=[*shape[:-1], 1])
  if "Categorical" in type(loss).__name__ or "categorical" in str(loss):
    return np.eye(shape[-1], dtype="float32")[random.randint(shape[-1], size=shape[:-1])]
  return random.randint(2, size=shape).astype("float32")


def _labels_of(head: Any, random: np.random.RandomState) -> Any:
  """Labels that a head takes, before it makes them ready."""
  kind = type(head).__name__
  if "Regression" in kind:
    dimension = head.logits_dimension
    return random.randint(2, size=[SIZE, dimension]).astype("float32")
  classes = head.classes or 2
  if "MultiLabel" in kind:
    return random.randint(2, size=[SIZE, classes])
  words = getattr(head, "label_vocabulary", None)
  if words:
    return random.choice(np.array(words), size=[SIZE, 1])
  return random.randint(classes, size=[SIZE, 1])
