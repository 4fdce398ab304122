"""`EstimatorSpec`: what a model_fn returns; as `tf.estimator.EstimatorSpec`, with its checks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import tensorflow as tf

from migrator.runtime.export import outputs
from migrator.runtime.hosting.modes import ModeKeys


class _Fields(NamedTuple):
  """The fields of a spec."""

  mode: Any
  predictions: Any
  loss: Any
  train_op: Any
  eval_metric_ops: Any
  export_outputs: Any
  training_chief_hooks: Any
  training_hooks: Any
  scaffold: Any
  evaluation_hooks: Any
  prediction_hooks: Any


class EstimatorSpec(_Fields):
  """The operations of a model in one mode.

  Attributes:
    mode: one of `ModeKeys`.
    predictions: a tensor, or a dict of them; {} if there are none.
    loss: a tensor, shape [].
    train_op: an operation or a tensor.
    eval_metric_ops: name -> (value, update).
    export_outputs: name of a signature -> what it gives, as the program says it.
    training_chief_hooks: SessionRunHooks of trainings.
    training_hooks: more of them.
    scaffold: a `tf.compat.v1.train.Scaffold`.
    evaluation_hooks: SessionRunHooks of evaluations.
    prediction_hooks: SessionRunHooks of predictions.
  """

  def __new__(
    cls,
    mode: Any,
    predictions: Any = None,
    loss: Any = None,
    train_op: Any = None,
    eval_metric_ops: Any = None,
    export_outputs: Any = None,
    training_chief_hooks: Any = None,
    training_hooks: Any = None,
    scaffold: Any = None,
    evaluation_hooks: Any = None,
    prediction_hooks: Any = None,
  ):
    """Makes a spec.

    Raises:
      ValueError: with the Estimator's messages, if something that the mode needs is missing, is of another
        graph, or a loss is no scalar.
      TypeError: if something is of another kind.
    """
    return super().__new__(
      cls,
      mode=mode,
      train_op=checked_train_op(train_op, mode),
      loss=checked_loss(loss, mode),
      predictions=checked_predictions(predictions, mode),
      eval_metric_ops=_metrics(eval_metric_ops),
      export_outputs=_export_outputs(export_outputs, predictions, mode),
      training_chief_hooks=checked_hooks(training_chief_hooks),
      training_hooks=checked_hooks(training_hooks),
      scaffold=_scaffold(scaffold),
      evaluation_hooks=checked_hooks(evaluation_hooks),
      prediction_hooks=checked_hooks(prediction_hooks),
    )

  def _replace(self, **kwargs: Any) -> EstimatorSpec:
    """Returns a checked copy with other values.

    Raises:
      ValueError: if the mode is another, or a field is unknown.
    """
    if kwargs.get("mode", self.mode) != self.mode:
      raise ValueError("mode of EstimatorSpec cannot be changed.")
    unknown = sorted(set(kwargs) - set(self._fields))
    if unknown:
      raise ValueError(f"Got unexpected field names: {unknown}")
    return EstimatorSpec(**{**self._asdict(), **kwargs})


def checked_train_op(train_op: Any, mode: Any) -> Any:
  """Returns the operation of a step; a variable means its own one.

  Raises:
    ValueError: if a training has none, or it is of another graph.
    TypeError: if it is neither an operation nor a tensor.
  """
  if train_op is None:
    if mode == ModeKeys.TRAIN:
      raise ValueError("Missing train_op.")
    return None
  if not isinstance(train_op, (tf.Operation, tf.Tensor, tf.Variable)):
    raise TypeError(f"train_op must be Operation or Tensor, given: {train_op}")
  if isinstance(train_op, tf.Variable):
    train_op = train_op.op
  _check_graph(train_op, "train_op", train_op.name)
  return train_op


def checked_loss(loss: Any, mode: Any) -> Any:
  """Returns the loss as a tensor of shape [].

  Raises:
    ValueError: if training or evaluation has none, it is no scalar, or of another graph.
    TypeError: if it is no tensor.
  """
  if loss is None:
    if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
      raise ValueError("Missing loss.")
    return None
  _check_tensor(loss, "loss")
  shape = loss.get_shape()
  if shape.num_elements() not in (None, 1):
    raise ValueError(f"Loss must be scalar, given: {loss}")
  if not shape.is_compatible_with([]):
    loss = tf.reshape(loss, [])
  _check_graph(loss, "loss", loss.name)
  return loss


def checked_predictions(predictions: Any, mode: Any) -> Any:
  """Returns the predictions; {} if there are none.

  Raises:
    ValueError: if a prediction has none, or one is of another graph.
    TypeError: if one is no tensor.
  """
  if predictions is None:
    if mode == ModeKeys.PREDICT:
      raise ValueError("Missing predictions.")
    return {}
  if isinstance(predictions, dict):
    for key, value in predictions.items():
      _check_tensor(value, f"predictions[{key}]")
      _check_graph(value, "prediction values", f"{key}: {value.name}")
    return dict(predictions)
  _check_tensor(predictions, "predictions")
  _check_graph(predictions, "prediction values", predictions.name)
  return predictions


def checked_hooks(hooks: Any) -> tuple[Any, ...]:
  """Returns hooks.

  Raises:
    TypeError: if one is no SessionRunHook.
  """
  hooks = tuple(hooks or ())
  for hook in hooks:
    if not isinstance(hook, tf.compat.v1.train.SessionRunHook):
      raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
  return hooks


def _export_outputs(given: Any, predictions: Any, mode: Any) -> Any:
  """Returns what is exported; of a prediction, with the default signature.

  Raises:
    TypeError: with the Estimator's messages, for anything but a dict of ExportOutput.
    ValueError: with the Estimator's message, if of several outputs none is the default.
  """
  return outputs.serving_outputs(given, predictions) if mode == ModeKeys.PREDICT else given


def _scaffold(scaffold: Any) -> Any:
  """Returns the scaffold, an empty one if there is none.

  Raises:
    TypeError: if it is something else.
  """
  scaffold = scaffold or tf.compat.v1.train.Scaffold()
  if not isinstance(scaffold, tf.compat.v1.train.Scaffold):
    raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
  return scaffold


def _metrics(ops: Any) -> dict[str, Any]:
  """Returns metrics as pairs of a value and an update.

  Raises:
    TypeError: if they are no dict of pairs or Keras metrics.
    ValueError: if one is of another graph, or a Keras metric has no updates in it.
  """
  if ops is None:
    return {}
  if not isinstance(ops, dict):
    raise TypeError(f"eval_metric_ops must be a dict, given: {ops}")
  result = {}
  keras_variables: list[Any] = []
  for key, value in ops.items():
    if isinstance(value, tf.keras.metrics.Metric):
      keras_variables += value.variables
      value = _of_keras(key, value)
    elif not isinstance(value, tuple) or len(value) != 2:
      raise TypeError(
        "Values of eval_metric_ops must be (metric_value, update_op) tuples, "
        f"given: {value} for key: {key}"
      )
    for part in tf.nest.flatten(value):
      if hasattr(part, "graph"):
        _check_graph(part, "eval_metric_ops", f"{key}: {part.name}")
    result[key] = value
  for collection in ("LOCAL_VARIABLES", "METRIC_VARIABLES"):
    _collect(getattr(tf.compat.v1.GraphKeys, collection), keras_variables)
  return result


def _of_keras(key: str, metric: Any) -> tuple[Any, Any]:
  """Returns value and update of a metric of Keras 2.

  Raises:
    ValueError: if it has not been called yet, or is one of Keras 3.
  """
  if not hasattr(metric, "updates"):
    raise ValueError(
      f"eval_metric_ops[{key!r}] is a metric of Keras 3, which keeps no state in a graph: use "
      "tf.compat.v1.metrics, or the runtime's evaluate for Keras models."
    )
  if not metric.updates:
    raise ValueError(f'Please call update_state(...) on the "{metric.name}" metric')
  return metric.result(), metric.updates[0]


def _collect(collection: str, variables: Iterable[Any]) -> None:
  """Adds variables to a collection of the graph, each once."""
  present = {id(v) for v in tf.compat.v1.get_collection(collection)}
  for variable in variables:
    if id(variable) not in present:
      tf.compat.v1.add_to_collection(collection, variable)


def _check_tensor(value: Any, what: str) -> None:
  """Raises TypeError unless it is a tensor."""
  if not isinstance(value, (tf.Tensor, tf.Variable)):
    raise TypeError(f"{what} must be Tensor, given: {value}")


def _check_graph(value: Any, what: str, name: str) -> None:
  """Raises ValueError unless it is of the graph of this call."""
  if tf.executing_eagerly() or value.graph is tf.compat.v1.get_default_graph():
    return
  raise ValueError(
    f'{what} with "{name}" must be from the default graph. Possible causes of this error include: \n\n'
    f"1) {what} was created outside the context of the default graph.\n\n2) The object passed through to "
    'EstimatorSpec was not created in the most recent call to "model_fn".'
  )
