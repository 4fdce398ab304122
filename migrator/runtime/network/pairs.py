"""Goes through the batches of a training that reads no labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf


def pair(element: Any) -> tuple:
  """Returns the features and the labels of an element of a dataset; labels None where there are none."""
  return element if isinstance(element, tuple) and len(element) == 2 else (element, None)


def batches(dataset: tf.data.Dataset) -> Iterator[tuple]:
  """Yields the features and the labels of each element of a dataset.

  Args:
    dataset: of (features, labels), or of features alone, whose labels are None; as an input function of an
      Estimator could return it.
  """
  for element in dataset:
    yield pair(element)
