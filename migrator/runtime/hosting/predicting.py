"""The values of predictions, row by row."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Optional

import tensorflow as tf


def only(predictions: Any, predict_keys: Optional[Any]) -> Any:
  """Returns those predictions that are wanted.

  Raises:
    ValueError: with the Estimator's messages, if there are no keys to choose from, or none is left.
  """
  if not predict_keys:
    return predictions
  if not isinstance(predictions, dict):
    raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
  chosen = {key: value for key, value in predictions.items() if key in predict_keys}
  if not chosen:
    raise ValueError(
      f"Expected to run at least one output from {predictions.keys()}, provided {predict_keys}."
    )
  return chosen


def rows(values: Any) -> Iterator[Any]:
  """Yields the rows of a batch.

  Args:
    values: an array, or a dict of arrays, each of shape [rows, ...].

  Raises:
    ValueError: with the Estimator's message, if they have different numbers of rows.
  """
  if not isinstance(values, Mapping):
    yield from values
    return
  length = None
  for key, value in values.items():
    length = length or value.shape[0]
    if value.shape[0] != length:
      raise ValueError(
        f"Batch length of predictions should be same. {key} has different batch length than others."
      )
  for place in range(length or 0):
    yield {key: value[place] for key, value in values.items()}


@contextlib.contextmanager
def closing(session: Any, graph: tf.Graph) -> Iterator[None]:
  """Ends a monitored session in its graph; the end of its input is none of an error.

  The graph is the default one only while the session works, not while a caller of a generator does.
  """
  try:
    yield
  except BaseException:
    with graph.as_default():
      if not session.__exit__(*sys.exc_info()):
        raise
  else:
    with graph.as_default():
      session.__exit__(None, None, None)
