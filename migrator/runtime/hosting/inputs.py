"""What an input_fn gives, in the graph of the model."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def features_and_labels(result: Any) -> tuple[Any, Any, list[Any]]:
  """Returns features, labels and the hooks that the session needs for them.

  Args:
    result: a `tf.data.Dataset`, or what it would give: features, or a pair of features and labels.

  Raises:
    ValueError: with the Estimator's message, for a tuple that is no pair.
  """
  hooks: list[Any] = []
  if isinstance(result, tf.data.Dataset):
    iterator = tf.compat.v1.data.make_initializable_iterator(result)
    hooks.append(_IteratorStart(iterator))
    result = iterator.get_next()
  if isinstance(result, (list, tuple)):
    if len(result) != 2:
      raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
    return result[0], result[1], hooks
  return result, None, hooks


def features_alone(result: Any) -> tuple[Any, list[Any]]:
  """Returns the features of a prediction and the hooks that the session needs for them.

  Raises:
    ValueError: with the Estimator's message, for a tuple that is no pair.
  """
  features, _, hooks = features_and_labels(result)
  if not _has_end(features):
    tf.compat.v1.logging.warning(
      "Input graph does not use tf.data.Dataset or contain a QueueRunner. "
      "That means predict yields forever. This is probably a mistake."
    )
  return features, hooks


def _has_end(features: Any) -> bool:
  """Returns whether features come from something that ends."""
  tensors = [part for part in tf.nest.flatten(features) if isinstance(part, tf.Tensor)]
  if any(tensor.op.type == "IteratorGetNext" for tensor in tensors):
    return True
  return bool(tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS))


class _IteratorStart(tf.compat.v1.train.SessionRunHook):
  """Begins a dataset in each new session."""

  def __init__(self, iterator: Any):
    self._iterator = iterator

  def begin(self) -> None:
    self._initializer = self._iterator.initializer

  def after_create_session(self, session: Any, coord: Any) -> None:
    session.run(self._initializer)
