"""A training session that is kept open and fed batch by batch."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


class Stepper:
  """One step of training for each call, over placeholders of the shape of the first batch.

  Attributes:
    graph: in which the model is built.
  """

  def __init__(self, batch: Any, open_session: Callable[[Any, Any], tuple[Any, Any]]):
    """Opens the session.

    Args:
      batch: (features, labels) of the first step; their first dimension may change from step to step.
      open_session: called in the graph with the placeholders of features and labels; returns the spec
        and the monitored session.
    """
    self.graph = tf.Graph()
    with self.graph.as_default():
      self._fed = tf.nest.map_structure(_placeholder, batch)
      self._spec, self._session = open_session(*self._fed)
      self._step = v1.train.get_global_step()

  def step(self, batch: Any) -> np.ndarray:
    """Trains a step; returns its loss, shape [].

    Args:
      batch: (features, labels), of the structure of the first one.

    Raises:
      RuntimeError: if a hook has ended the training.
    """
    if self._session.should_stop():
      raise RuntimeError("The training has ended: a hook has asked for it. close() it.")
    placeholders = tf.nest.flatten(self._fed)
    feed = dict(zip(placeholders, (_value(part) for part in tf.nest.flatten(batch))))
    with self.graph.as_default():
      _, loss = self._session.run([self._spec.train_op, self._spec.loss], feed_dict=feed)
    return loss

  def global_step(self) -> int:
    """Returns the global step of the session."""
    return int(self._directly(lambda session: session.run(self._step)))

  def save(self, path: str) -> str:
    """Saves now; returns the path of the checkpoint.

    Args:
      path: what it is called, without the step.
    """
    step = self.global_step()
    saver = self._spec.scaffold.saver
    return self._directly(lambda session: saver.save(session, path, global_step=step))

  def _directly(self, call: Callable[[Any], Any]) -> Any:
    """Returns what a function gives for the session without its hooks."""

    def step_fn(step_context: Any) -> Any:
      return call(step_context.session)

    with self.graph.as_default():
      return self._session.run_step_fn(step_fn)

  def close(self) -> None:
    """Ends the session: its hooks save the last step."""
    with self.graph.as_default():
      self._session.close()


def _placeholder(value: Any) -> Any:
  """Returns what a part of a batch is fed to; None for None."""
  if value is None:
    return None
  if isinstance(value, (tf.SparseTensor, v1.SparseTensorValue)):
    return v1.sparse_placeholder(tf.as_dtype(value.dtype), [None] * len(value.dense_shape))
  value = value if tf.is_tensor(value) else np.asarray(value)
  shape = [None, *value.shape[1:]] if len(value.shape) else []
  return v1.placeholder(tf.as_dtype(value.dtype), shape)


def _value(part: Any) -> Any:
  """Returns what is fed."""
  if isinstance(part, tf.SparseTensor):
    return v1.SparseTensorValue(part.indices.numpy(), part.values.numpy(), part.dense_shape.numpy())
  return part.numpy() if tf.is_tensor(part) else part
