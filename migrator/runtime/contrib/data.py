"""Transformations of `tf.contrib.data` that became arguments of `tf.data.Dataset`'s methods."""

from __future__ import annotations

from typing import Any, Callable

__all__ = ["batch_and_drop_remainder", "padded_batch_and_drop_remainder"]


def batch_and_drop_remainder(batch_size: Any) -> Callable[[Any], Any]:
  """Returns a function for `Dataset.apply` that makes full batches only, of `batch_size` elements."""
  return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(
  batch_size: Any, padded_shapes: Any, padding_values: Any = None
) -> Callable[[Any], Any]:
  """Returns a function for `Dataset.apply` that pads elements and makes full batches only.

  Args:
    batch_size: how many elements.
    padded_shapes: the shape of each component, -1 or None for the longest of a batch.
    padding_values: [] for each component; by default 0 and "".
  """
  return lambda dataset: dataset.padded_batch(
    batch_size, padded_shapes, padding_values, drop_remainder=True
  )
