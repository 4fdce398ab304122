"""Evaluates and predicts with a network as an Estimator did with its model_fn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from migrator.runtime import evaluation_loops as loops
from migrator.runtime.added_metrics import metric_parts, placeholder_of
from migrator.runtime.network import plain
from migrator.runtime.network.arguments import call
from migrator.runtime.network.pairs import pair

_unconverted = tf.autograph.experimental.do_not_convert


def evaluate(
  network: Any,
  loss_fn: Optional[Callable[..., Any]],
  dataset: tf.data.Dataset,
  *,
  global_step: Any,
  model_dir: Optional[str] = None,
  steps: Optional[int] = None,
  name: Optional[str] = None,
  checkpoint_path: Optional[str] = None,
  callbacks: Sequence[Any] = (),
  metrics: Any = (),
) -> dict:
  """Evaluates a network on a dataset.

  Args:
    network: a `Network`.
    loss_fn: takes labels and the outputs of the network, see `arguments.call`; returns the loss of a batch, a
      scalar. None for a network that returns the pair (loss, outputs).
    dataset: batches of (features, labels), or of features alone.
    global_step: the step, for the result and the event file.
    model_dir: writes an event file to its sub-directory `eval` or `eval_<name>`; None writes none.
    steps: how many batches to take; None takes all.
    name: of the evaluation, if there are several on different data.
    checkpoint_path: which checkpoint is evaluated, for the event file.
    callbacks: Keras callbacks, as in `runtime.evaluate`.
    metrics: a function like `loss_fn` that returns a dict of (value, update_op) pairs, as
      `tf.compat.v1.metrics` give them, or of Keras metrics; or several such functions.

  Returns:
    The metrics over all batches, and `loss`, the mean of the batches' losses, float32, by their sorted names;
    and `global_step` (int64).

  Raises:
    ValueError: if steps is not positive, or for what is no metric.
  """
  if steps is not None and steps <= 0:
    raise ValueError(f"Must specify steps > 0, given: {steps}")
  functions = [metrics] if callable(metrics) else list(metrics or ())
  values_of_outputs: list = []  # those that are no tensors

  @_unconverted
  def measured(element):
    features, labels = pair(element)
    outputs = network(features, labels, training=False)
    if loss_fn is None:
      loss, outputs = outputs
    else:
      known = {"features": features, "labels": labels, "losses": network.losses}
      known["variables"] = network.trainable_variables
      loss = call(loss_fn, outputs, params=network.params, training=False, **known)
    outputs, values_of_outputs[:] = plain.parted(outputs)
    return tf.reduce_mean(loss), outputs

  measure = tf.function(measured, input_signature=[dataset.element_spec])
  with network.traced_anew() as held:
    outputs = measure.get_concrete_function().structured_outputs[1]  # Builds the network.
  outputs = plain.joined(outputs, values_of_outputs)
  specs = (*pair(dataset.element_spec), outputs)
  streaming = _StreamingMetrics(functions, specs, network.params) if functions else None
  # The Estimator's mean was a quotient of sums in float32.
  total, batches = np.float32(0), np.float32(0)

  def one_batch(element):
    nonlocal total, batches
    loss, outputs = measure(element)
    if streaming is not None:
      streaming.update((*pair(element), outputs))
    total, batches = total + np.float32(loss.numpy()), batches + np.float32(1)
    return loss.numpy()

  told = getattr(network, "model", network)  # Of a Keras model, itself.
  loops.evaluate_batches(told, dataset, steps, callbacks, one_batch)
  values: dict = {"loss": total / batches if batches else np.float32(0)}
  if streaming is not None:
    values.update(streaming.results())
    streaming.close()
  held.clear()
  return loops.reported(values, global_step, model_dir, name, checkpoint_path)


def predict(
  network: Any,
  dataset: tf.data.Dataset,
  *,
  predict_keys: Any = None,
  yield_single_examples: bool = True,
  callbacks: Sequence[Any] = (),
  loss_fn: Optional[Callable[..., Any]] = None,
) -> Iterator[Any]:
  """Yields the predictions of a network.

  Args:
    network: a `Network`.
    dataset: batches of features, or of (features, labels), whose labels are ignored.
    predict_keys: which keys to yield; all by default.
    yield_single_examples: whether to yield the predictions of an example, or of a batch, at a time.
    callbacks: Keras callbacks, as in `runtime.predict`.
    loss_fn: the predictions function, in the place where `runtime.predict` has the head: takes the outputs of
      the network, see `arguments.call`; returns a tensor or a dict of tensors. By default the outputs themselves.

  Yields:
    What it returns, numpy.

  Raises:
    ValueError: with the Estimator's messages: if there is none of `predict_keys`, or predictions have different
      numbers of examples.
  """

  @_unconverted
  def predicted(element):
    features, _ = pair(element)
    outputs = network(features, training=False)
    if loss_fn is None:
      return outputs
    return call(loss_fn, outputs, features=features, params=network.params, training=False)

  run = tf.function(predicted, input_signature=[dataset.element_spec])
  with network.traced_anew() as held:
    run.get_concrete_function()

  def one_batch(element):
    predictions = run(element)
    if isinstance(predictions, Mapping):
      return loops.chosen({key: predictions[key].numpy() for key in predictions}, predict_keys)
    if predict_keys:
      raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    return predictions.numpy()

  told = getattr(network, "model", network)
  for predictions in loops.predicted_batches(told, dataset, callbacks, one_batch):
    if not yield_single_examples:
      yield predictions
    elif not isinstance(predictions, dict):
      yield from predictions
    else:
      for i in range(_batch_length(predictions)):
        yield {key: value[i] for key, value in predictions.items()}
  held.clear()


class _StreamingMetrics:
  """Metric functions, called once in a graph of their own, to which the values of each batch are fed."""

  def __init__(self, functions: Sequence[Callable], specs: tuple, params: Any):
    """Calls the functions.

    Args:
      functions: see `evaluate`.
      specs: those of the features, the labels and the network's outputs.
      params: the network's.

    Raises:
      ValueError: if one returns anything but metrics.
    """
    graph = tf.Graph()
    with graph.as_default():
      self._given = tf.nest.map_structure(_placeholder, specs, expand_composites=True)
      features, labels, outputs = self._given
      self._values: dict = {}
      self._updates: list = []
      initializers: list = []
      for function in functions:
        before = len(graph.get_operations())
        known = {"features": features, "labels": labels, "params": params, "training": False}
        found = call(function, outputs, **known)
        if not isinstance(found, dict):
          raise ValueError(f"metric_fn must return a dict, given: {found}")
        made = graph.get_operations()[before:]
        for name, metric in found.items():
          value, updates, variables = metric_parts(name, metric, made)
          self._values[name] = value
          self._updates += updates
          initializers += variables
      initializers += [
        tf.compat.v1.global_variables_initializer(),
        tf.compat.v1.local_variables_initializer(),
        tf.compat.v1.tables_initializer(),
      ]
    self._session = tf.compat.v1.Session(graph=graph)
    self._session.run(initializers)

  def update(self, batch: tuple) -> None:
    """Adds a batch: features, labels and outputs, eager tensors."""
    flat = tf.nest.flatten
    keys = flat(self._given, expand_composites=True)
    values = flat(batch, expand_composites=True)
    feed = {key: value.numpy() for key, value in zip(keys, values) if isinstance(key, tf.Tensor)}
    self._session.run(self._updates, feed)

  def results(self) -> dict:
    """Returns the value of each metric: a numpy scalar or array."""
    return self._session.run(self._values)

  def close(self) -> None:
    """Gives back what it needed."""
    self._session.close()


def _placeholder(spec: Any) -> Any:
  """Returns a placeholder like a tensor; anything else remains what it is."""
  return placeholder_of(spec) if isinstance(spec, (tf.TensorSpec, tf.Tensor)) else spec


def _batch_length(predictions: dict) -> int:
  """Returns how many examples there are.

  Raises:
    ValueError: with the Estimator's message, if there are several numbers.
  """
  length = None
  for key, value in predictions.items():
    if length is not None and length != value.shape[0]:
      raise ValueError(
        f"Batch length of predictions should be same. {key} has different batch length than others."
      )
    length = value.shape[0]
  return length or 0
