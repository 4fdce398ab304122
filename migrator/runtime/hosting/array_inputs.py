"""`tf.estimator.inputs`: input functions over arrays and data frames, as datasets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, Optional

import numpy as np
import tensorflow as tf


def numpy_input_fn(
  x: Any,
  y: Any = None,
  batch_size: int = 128,
  num_epochs: Optional[int] = 1,
  shuffle: Optional[bool] = None,
  queue_capacity: int = 1000,
  num_threads: int = 1,
) -> Callable[[], tf.data.Dataset]:
  """Returns an input function over arrays; batches go on over the ends of epochs, as before.

  Args:
    x: an array, or a dict of arrays with the examples along their first axis.
    y: the labels: an array, a dict of arrays, or None.
    batch_size: examples in a batch; the last one may have fewer.
    num_epochs: how often each example comes, for each of the threads; None for ever.
    shuffle: whether the order is random. The order is never the one that a queue gave.
    queue_capacity: examples among which the next one is drawn.
    num_threads: of the former queue; with epochs it multiplied them.

  Returns:
    A function that returns a Dataset of features, or of (features, labels).

  Raises:
    ValueError: for a `shuffle` that is no bool and, when the function is called, for empty dicts,
      keys in both `x` and `y`, and arrays of different lengths.
    TypeError: when the function is called, for an `x` that is neither array nor dict.
  """
  _check_shuffle(shuffle)

  def input_fn() -> tf.data.Dataset:
    _check(x, y)
    data = x if y is None else (x, y)
    return _batches(data, batch_size, num_epochs, shuffle, queue_capacity, num_threads)

  return input_fn


def pandas_input_fn(
  x: Any,
  y: Any = None,
  batch_size: int = 128,
  num_epochs: Optional[int] = 1,
  shuffle: Optional[bool] = None,
  queue_capacity: Optional[int] = 1000,
  num_threads: int = 1,
  target_column: str = "target",
) -> Callable[[], tf.data.Dataset]:
  """Returns an input function over a data frame: each column is a feature.

  Args:
    x: a pandas DataFrame; its values are taken when this is called.
    y: the labels: a Series, a DataFrame (then a dict of columns), or None. Its index is that of `x`.
    batch_size, num_epochs, shuffle, num_threads: as of `numpy_input_fn`.
    queue_capacity: as there; None for the size of `x`, with `shuffle` four times that.
    target_column: a name for the labels that no column of `x` may have.

  Raises:
    ValueError: for a `shuffle` that is no bool, an index of `y` that is not that of `x`, and a
      column of the name of the labels.
    TypeError: for a name that is no text.
  """
  _check_shuffle(shuffle)
  if not isinstance(target_column, str):
    raise TypeError("target_column must be a string.")
  features = {name: np.array(x[name]) for name in x}
  labels: Any = None
  if y is not None:
    if target_column in features:
      raise ValueError(
        f"The data frame has a column {target_column!r}; name another target_column."
      )
    if not np.array_equal(x.index, y.index):
      raise ValueError(f"The labels have another index than the features: {y.index}, {x.index}.")
    labels = {n: np.array(y[n]) for n in y} if hasattr(y, "columns") else np.array(y)
  if queue_capacity is None:
    queue_capacity = len(x) * (4 if shuffle else 1)
  data = features if labels is None else (features, labels)

  def input_fn() -> tf.data.Dataset:
    return _batches(data, batch_size, num_epochs, shuffle, queue_capacity, num_threads)

  return input_fn


def _check_shuffle(shuffle: Any) -> None:
  if not isinstance(shuffle, bool):
    raise ValueError(f"shuffle must be given as True or False, not {shuffle!r}.")


def _check(x: Any, y: Any) -> None:
  if not isinstance(x, (Mapping, np.ndarray)):
    raise TypeError(f"x must be an array or a dict of arrays, not {type(x).__name__}.")
  if isinstance(x, Mapping) and not x:
    raise ValueError("x has no feature.")
  if isinstance(x, np.ndarray) and not x.size:
    raise ValueError("x is an empty array.")
  if isinstance(y, Mapping):
    if not y:
      raise ValueError("y is an empty dict; leave it out where there are no labels.")
    both = sorted({*y} & {*x}) if isinstance(x, Mapping) else []
    if both:
      raise ValueError(f"x and y both have {', '.join(both)}.")
  arrays = tf.nest.flatten(x if y is None else (x, y))
  if len({len(array) for array in arrays}) > 1:
    raise ValueError(f"The arrays have different lengths: {[a.shape for a in arrays]}.")


def _batches(
  data: Any,
  batch_size: int,
  num_epochs: Optional[int],
  shuffle: Optional[bool],
  queue_capacity: int,
  num_threads: int,
) -> tf.data.Dataset:
  """A dataset that takes rows out of arrays, which thereby are no part of the graph."""
  arrays = [np.asarray(array) for array in tf.nest.flatten(data)]
  types = [tf.as_dtype(array.dtype) for array in arrays]

  def take(rows: np.ndarray) -> list[np.ndarray]:
    return [array[rows] for array in arrays]

  def batch(rows: tf.Tensor) -> Any:
    tensors = tf.numpy_function(take, [rows], types)
    for tensor, array in zip(tensors, arrays):
      tensor.set_shape([None, *array.shape[1:]])
    return tf.nest.pack_sequence_as(data, tensors)

  dataset = tf.data.Dataset.range(len(arrays[0]))
  if shuffle:
    dataset = dataset.shuffle(queue_capacity)
  dataset = dataset.repeat(None if num_epochs is None else num_epochs * num_threads)
  return dataset.batch(batch_size).map(batch).prefetch(1)
