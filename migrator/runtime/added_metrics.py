"""The metrics that a program added to an Estimator with `tf.estimator.add_metrics`."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.heads import Head

_ARGUMENTS = ("features", "labels", "predictions", "config")
_CHANGES = ("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")


def check_functions(functions: Sequence[Callable]) -> tuple:
  """Returns the functions.

  Raises:
    ValueError: if one takes other arguments than `features`, `labels`, `predictions` and `config`.
  """
  for function in functions or ():
    invalid = [a for a in inspect.signature(function).parameters if a not in _ARGUMENTS]
    if invalid:
      raise ValueError(f"metric_fn ({function}) has following not expected args: {invalid}")
  return tuple(functions or ())


class AddedMetrics:
  """Metric functions, called once in a graph of their own, as an Estimator called them.

  There `tf.compat.v1.metrics` work as they did, and a metric of Keras is updated with each batch though the
  function makes it once.
  """

  def __init__(
    self,
    functions: Sequence[Callable],
    head: Head,
    features: Any,
    labels: Any,
    logits_dimension: Optional[int],
    model_dir: Optional[str],
  ):
    """Calls the functions.

    Args:
      functions: each takes some of `features`, `labels`, `predictions` and `config`, and returns a dict of
        (value, update_op) pairs or Keras metrics. `config` has nothing but `model_dir`.
      head: gives the predictions.
      features: the specification of the features that the input function gives.
      labels: that of the labels.
      logits_dimension: how many logits there are, None if that is not known.
      model_dir: for `config`.

    Raises:
      ValueError: if a function takes another argument, or returns anything else.
    """
    graph = tf.Graph()
    with graph.as_default():
      self._given = tf.nest.map_structure(
        placeholder_of, (features, labels), expand_composites=True
      )
      self._logits = tf.compat.v1.placeholder(tf.float32, [None, logits_dimension])
      arguments = {
        "features": self._given[0],
        "labels": self._given[1],
        "predictions": head.predictions(self._logits),
        "config": types.SimpleNamespace(model_dir=model_dir),
      }
      self._values: dict = {}
      self._updates: list = []
      initializers: list = []
      for function in check_functions(functions):
        names = inspect.signature(function).parameters
        before = len(graph.get_operations())
        metrics = function(**{name: arguments[name] for name in names})
        if not isinstance(metrics, dict):
          raise ValueError(f"metric_fn must return a dict, given: {metrics}")
        made = graph.get_operations()[before:]
        for name, metric in metrics.items():
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

  def update(self, features: Any, labels: Any, logits: Any) -> None:
    """Adds a batch: what the input function gave, and the logits, numpy."""
    keys = tf.nest.flatten(self._given, expand_composites=True)
    values = tf.nest.flatten((features, labels), expand_composites=True)
    feed = {key: value.numpy() for key, value in zip(keys, values)}
    self._session.run(self._updates, {**feed, self._logits: logits})

  def results(self) -> dict:
    """Returns the value of each metric: a numpy scalar or array."""
    return self._session.run(self._values)

  def close(self) -> None:
    """Gives back what it needed."""
    self._session.close()


def placeholder_of(spec: tf.TensorSpec) -> tf.Tensor:
  return tf.compat.v1.placeholder(spec.dtype, spec.shape)


def metric_parts(name: str, metric: Any, made: Sequence[Any]) -> tuple[Any, list, list]:
  """Returns the value, the updates and the initializers of a metric.

  Args:
    name: its key.
    metric: what the function returned of that name.
    made: the operations that the function has made.

  Raises:
    ValueError: if it is no metric, or one that is never updated.
  """
  if name == "loss":
    raise ValueError(
      'Metric with name "loss" is not allowed, because Estimator already defines it.'
    )
  if not isinstance(metric, tf.keras.metrics.Metric):
    if not isinstance(metric, (list, tuple)) or len(metric) != 2:
      raise ValueError(
        f"Values of eval_metric_ops must be (metric_value, update_op) tuples or Keras metrics, given: "
        f"{metric} for key: {name}"
      )
    return metric[0], [metric[1]], []
  variables = [v.value if hasattr(v, "regularizer") else v for v in metric.variables]
  handles = {v.handle.name for v in variables}
  initializers = [v.initializer for v in variables]
  # Keras 3 keeps no list of the updates.
  updates = [
    op
    for op in made
    if op.type in _CHANGES and op.inputs[0].name in handles and op not in initializers
  ]
  if not updates:
    raise ValueError(
      f'Please call update_state(...) on the metric "{metric.name}" in the function that returns it.'
    )
  return metric.result(), updates, initializers
