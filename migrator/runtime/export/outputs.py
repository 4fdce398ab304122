"""What a model_fn says of its outputs: the `export_outputs` of an EstimatorSpec, and their signatures."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

DEFAULT_KEY = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
TRAIN_KEY = "train"
EVAL_KEY = "eval"
CLASSIFY = tf.saved_model.CLASSIFY_METHOD_NAME
PREDICT = tf.saved_model.PREDICT_METHOD_NAME
REGRESS = tf.saved_model.REGRESS_METHOD_NAME
TRAIN = "tensorflow/supervised/training"
EVAL = "tensorflow/supervised/eval"

_INPUTS = "inputs"
_METRIC_PARTS = ("value", "update_op")


class ExportOutput:
  """Base class of what stands in `export_outputs`."""

  def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
    """Returns the SignatureDef from the fed tensors to the outputs.

    Args:
      receiver_tensors: name -> tensor that is fed, a Tensor, SparseTensor or RaggedTensor.

    Raises:
      ValueError: if there can be none for these inputs; the export then has no such signature.
    """
    raise NotImplementedError


class PredictOutput(ExportOutput):
  """Outputs of any kind.

  Attributes:
    outputs: name -> Tensor.
  """

  def __init__(self, outputs: Any):
    """Checks the outputs.

    Args:
      outputs: a Tensor, which is called "output", or a dict of Tensors. Parts of a tuple as key are
        joined by "/".

    Raises:
      ValueError: with the Estimator's messages, for other keys and values.
    """
    self.outputs = _named(outputs, "output", "Prediction")

  def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
    """Returns the signature, of the method that predicts."""
    return _signature(receiver_tensors, self.outputs, PREDICT)


class ClassificationOutput(ExportOutput):
  """Scores of classes, their names, or both.

  Attributes:
    scores: a float Tensor, or None.
    classes: a string Tensor, or None.
  """

  def __init__(self, scores: Optional[Any] = None, classes: Optional[Any] = None):
    """Checks the outputs.

    Raises:
      ValueError: with the Estimator's messages, for other data types, and if both are missing.
    """
    if scores is not None and not (isinstance(scores, tf.Tensor) and scores.dtype.is_floating):
      raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
    if classes is not None and not (isinstance(classes, tf.Tensor) and classes.dtype == tf.string):
      raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
    if scores is None and classes is None:
      raise ValueError(
        "Cannot create a ClassificationOutput with empty arguments. At least one of `scores` and "
        "`classes` must be defined."
      )
    self.scores = scores
    self.classes = classes

  def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
    """Returns the signature, of the method that classifies."""
    examples = _examples(receiver_tensors, "Classification")
    outputs = {"classes": self.classes, "scores": self.scores}
    if self.scores is not None and self.scores.dtype != tf.float32:
      raise ValueError("Classification scores must be a float Tensor.")
    given = {name: tensor for name, tensor in outputs.items() if tensor is not None}
    return _signature({_INPUTS: examples}, given, CLASSIFY)


class RegressionOutput(ExportOutput):
  """Numbers.

  Attributes:
    value: a float Tensor.
  """

  def __init__(self, value: Any):
    """Checks the output.

    Raises:
      ValueError: with the Estimator's message, for another data type.
    """
    if not (isinstance(value, tf.Tensor) and value.dtype.is_floating):
      raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
    self.value = value

  def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
    """Returns the signature, of the method that regresses."""
    examples = _examples(receiver_tensors, "Regression")
    if self.value.dtype != tf.float32:
      raise ValueError(
        f"Regression output tensors must be of type float. Found tensors with type {self.value.dtype}."
      )
    return _signature({_INPUTS: examples}, {"outputs": self.value}, REGRESS)


class _SupervisedOutput(ExportOutput):
  """Loss, predictions and metrics of a graph that trains or evaluates.

  Attributes:
    loss: name -> Tensor, or None; each name begins with "loss".
    predictions: name -> Tensor, or None; each name begins with "predictions".
    metrics: name -> Tensor, or None; "metrics/<name>/value" and "metrics/<name>/update_op".
  """

  _method = ""

  def __init__(self, loss: Any = None, predictions: Any = None, metrics: Any = None):
    """Names the outputs.

    Args:
      loss: a Tensor or a dict of Tensors.
      predictions: a Tensor or a dict of Tensors.
      metrics: dict name -> (value, update op), or one such pair.

    Raises:
      ValueError: with the Estimator's messages, for other keys and values.
    """
    self.loss = None if loss is None else _prefixed(_named(loss, "loss"), "loss")
    self.predictions = (
      None if predictions is None else _prefixed(_named(predictions, "predictions"), "predictions")
    )
    self.metrics = None if metrics is None else _metric_tensors(metrics)

  def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
    """Returns the signature of the whole graph."""
    outputs = {**(self.loss or {}), **(self.predictions or {}), **(self.metrics or {})}
    return _signature(receiver_tensors, outputs, self._method)


class TrainOutput(_SupervisedOutput):
  """What an export of the training graph gives."""

  _method = TRAIN


class EvalOutput(_SupervisedOutput):
  """What an export of the evaluation graph gives."""

  _method = EVAL


def serving_outputs(export_outputs: Any, predictions: Any) -> dict[str, ExportOutput]:
  """Returns the outputs of a prediction graph, one of which is the default one.

  Args:
    export_outputs: as given to an EstimatorSpec: a dict, or None for all predictions.
    predictions: a Tensor or a dict of Tensors.

  Raises:
    TypeError: with the Estimator's messages, for anything but a dict of ExportOutput.
    ValueError: with the Estimator's message, if of several outputs none is the default.
  """
  if export_outputs is None:
    export_outputs = {DEFAULT_KEY: PredictOutput(predictions)}
  if not isinstance(export_outputs, dict):
    raise TypeError(f"`export_outputs` must be dict, received: {export_outputs}.")
  if not all(isinstance(output, ExportOutput) for output in export_outputs.values()):
    raise TypeError(
      f"Values in `export_outputs` must be ExportOutput objects, received: {export_outputs}."
    )
  if DEFAULT_KEY in export_outputs:
    return export_outputs
  if len(export_outputs) == 1:
    # In the dict itself: the Estimator added it there, too, for whoever looks at the spec.
    export_outputs[DEFAULT_KEY] = next(iter(export_outputs.values()))
  elif export_outputs:
    raise ValueError(
      "Multiple `export_outputs` were provided, but none of them are specified as the default. "
      "Use`tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY` to specify a default."
    )
  return export_outputs


def _signature(inputs: dict[str, Any], outputs: dict[str, Any], method: str) -> Any:
  """Returns a SignatureDef between tensors of the current graph.

  Raises:
    ValueError: with the Estimator's messages, if either side is empty.
  """
  if not inputs:
    raise ValueError("Prediction `inputs` cannot be None or empty.")
  if not outputs:
    raise ValueError("Prediction `outputs` cannot be None or empty.")
  info = tf.compat.v1.saved_model.build_tensor_info
  return tf.compat.v1.saved_model.build_signature_def(
    {name: info(tensor) for name, tensor in inputs.items()},
    {name: info(tensor) for name, tensor in outputs.items()},
    method,
  )


def _examples(receiver_tensors: dict[str, Any], label: str) -> Any:
  """Returns the only input of what classifies or regresses: serialized examples.

  Raises:
    ValueError: with the Estimator's words, for any other inputs.
  """
  tensors = list(receiver_tensors.values())
  if len(tensors) != 1 or tensors[0].dtype != tf.string:
    raise ValueError(
      f"{label} signatures can only accept a single tensor input of type tf.string. Please check "
      "to make sure that you have structured the serving_input_receiver_fn so that it creates a "
      f"single string placeholder. Received: {receiver_tensors}"
    )
  if not isinstance(tensors[0], tf.Tensor):
    raise ValueError(f"{label} `examples` must be a string Tensor. Found: {type(tensors[0])}")
  return tensors[0]


def _key(key: Any, label: str) -> str:
  """Returns the name of an output."""
  if isinstance(key, tuple):
    # Several heads name their outputs by tuples.
    key = "/".join(key)
  if not isinstance(key, str):
    raise ValueError(f"{label} output key must be a string; got {key}.")
  return key


def _named(outputs: Any, default: str, label: Optional[str] = None) -> dict[str, Any]:
  """Returns a Tensor or a dict of Tensors as a new dict."""
  if not isinstance(outputs, dict):
    outputs = {default: outputs}
  label = label or default
  named = {_key(key, label): value for key, value in outputs.items()}
  for value in named.values():
    if not isinstance(value, tf.Tensor):
      raise ValueError(f"{label} output value must be a Tensor; got {value}.")
  return named


def _prefixed(outputs: dict[str, Any], prefix: str) -> dict[str, Any]:
  """Returns outputs under names that all begin with the prefix."""
  return {
    key if key.startswith(prefix) else f"{prefix}/{key}": value for key, value in outputs.items()
  }


def _metric_tensors(metrics: Any) -> dict[str, Any]:
  """Returns the values and the updates of metrics as Tensors."""
  if not isinstance(metrics, dict):
    metrics = {"metrics": metrics}
  found: dict[str, Any] = {}
  for key, pair in metrics.items():
    if not isinstance(pair, tuple):
      # A metric of Keras 2.
      pair = (pair.result(), pair.updates[0])
    name = _key(key, "metrics")
    for part, tensor in zip(_METRIC_PARTS, pair):
      if isinstance(tensor, tf.Operation):
        # A signature knows no operations, only tensors.
        with tf.control_dependencies([tensor]):
          tensor = tf.constant([], name="metric_op_wrapper")
      if part == "value" and not isinstance(tensor, tf.Tensor):
        raise ValueError(f"{name} output value must be a Tensor; got {tensor}.")
      found[f"{name}/{part}"] = tf.convert_to_tensor(tensor)
  return _prefixed(found, "metrics")
