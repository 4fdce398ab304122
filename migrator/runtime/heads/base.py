"""What all heads have in common: a head is the Keras loss of a model that gives logits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, NamedTuple, Optional

import tensorflow as tf

from migrator.runtime.heads import checks, streaming
from migrator.runtime.heads.weight_column import WeightColumn

CLASSIFY = "tensorflow/serving/classify"
PREDICT = "tensorflow/serving/predict"
REGRESS = "tensorflow/serving/regress"


class Batch(NamedTuple):
  """A batch as metrics see it.

  Attributes:
    labels: as `prepare` gives them.
    logits: float32, [batch, logits_dimension].
    weights: float32, broadcasts to the losses; 1.0 without a weight column.
    losses: float32, the loss of each example, [batch, 1], or of each value, [batch, label_dimension].
    loss: float32, [], the batch's loss.
  """

  labels: tf.Tensor
  logits: tf.Tensor
  weights: Any
  losses: tf.Tensor
  loss: tf.Tensor


class Measure(NamedTuple):
  """A metric (see `streaming`), and what of a batch it is updated with."""

  metric: Any
  arguments: Callable[[Batch], tuple]


# Each batch counts as one, whatever the weights of its examples.
LOSS = Measure(streaming.Mean(), lambda batch: (batch.loss, 1.0))


class Head(tf.keras.losses.Loss):
  """The loss, predictions, metrics and signatures that an Estimator's head gave.

  It is called with (labels, logits, sample_weight=None), the labels as `prepare` gives them, in the
  dataset (`runtime.only_inputs` does it), and returns a float32 scalar.
  """

  def __init__(self, weight_column: Any, loss_reduction: str, loss_fn: Any, name: Optional[str]):
    self.loss_reduction = checks.reduction(loss_reduction)
    # Keras divides by the number of replicas what is a mean, not what is a sum.
    means = self.loss_reduction == "sum_over_batch_size"
    super().__init__(
      reduction="sum_over_batch_size" if means else "sum", name=name or _snake(type(self).__name__)
    )
    self.head_name = name
    self.loss_fn = checks.loss_fn(loss_fn)
    self.weight_column = WeightColumn.of(weight_column)

  @property
  def logits_dimension(self) -> Optional[int]:
    """The size of the logits' last axis."""
    raise NotImplementedError

  @property
  def labels_dimension(self) -> Optional[int]:
    """The size of the last axis of prepared labels."""
    return self.logits_dimension

  @property
  def losses_dimension(self) -> int:
    """How many losses an example has."""
    return 1

  def key(self, name: str) -> str:
    """Returns the key of a metric, which ends with the head's name if it has one."""
    return f"{name}/{self.head_name}" if self.head_name else name

  def prepare(self, features: Any, labels: Any) -> tuple:
    """Makes the labels what the loss takes, and takes the weights out of the features.

    Works in `dataset.map`.

    Args:
      features: a dict of features, which are not changed.
      labels: as the input function gives them.

    Returns:
      (features, labels), or (features, labels, weights) for a head with a weight column.

    Raises:
      ValueError: if the weight column is missing, or the labels are of the wrong type or shape.
      InvalidArgumentError: when it runs, for labels out of range.
    """
    if labels is None:
      raise ValueError("There are no labels: the input function must return (features, labels).")
    labels = self.prepared_labels(labels)
    weights = self.prepared_weights(features)
    return (features, labels) if weights is None else (features, labels, weights)

  def prepared_labels(self, labels: Any) -> tf.Tensor:
    """Returns the labels as the loss takes them; see `prepare`."""
    raise NotImplementedError

  def prepared_weights(self, features: Any) -> Optional[tf.Tensor]:
    """Returns the weights, float32 [batch, 1 or more], None without a weight column."""
    if self.weight_column is None:
      return None
    return self.weight_column.weights(features, self.losses_dimension)

  def losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    """Returns float32 losses, [batch, losses_dimension], not weighted."""
    if self.loss_fn is None:
      return self._losses(labels, logits)
    losses = self.loss_fn(labels=labels, logits=logits)
    if not losses.shape[1:].is_compatible_with([*logits.shape[1:-1], self.losses_dimension]):
      raise ValueError(
        f"loss_fn must return a Tensor of shape [batch, {self.losses_dimension}], not {losses.shape}, "
        f"for logits of shape {logits.shape}."
      )
    return losses

  def _losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    raise NotImplementedError

  def batch(self, labels: Any, logits: Any, sample_weight: Any = None) -> Batch:
    """Returns a batch with its losses.

    Args:
      labels: as `prepare` gives them.
      logits: what the model gives.
      sample_weight: as `prepare` gives it, or None.

    Raises:
      ValueError: if the logits are not of the head's dimension, or the labels do not fit.
    """
    logits = tf.cast(logits, tf.float32)
    labels = tf.convert_to_tensor(labels)
    wanted = self.logits_dimension
    if wanted is not None and logits.shape[-1] not in (None, wanted):
      raise ValueError(f"The logits must be of shape [batch, {wanted}], not {logits.shape}.")
    if labels.dtype == tf.string:
      raise ValueError(
        "The labels are strings: map the dataset with runtime.only_inputs, or runtime.heads.prepare."
      )
    labels = _with_last_axis(labels, logits)
    if labels.shape[-1] not in (None, self.labels_dimension) and self.labels_dimension:
      raise ValueError(
        f"The labels must be of shape [batch, {self.labels_dimension}], not {labels.shape}."
      )
    weights: Any = 1.0
    if sample_weight is not None:
      weights = _with_last_axis(tf.cast(sample_weight, tf.float32), logits)
    losses = self.losses(labels, logits)
    loss = checks.reduced(losses, weights, self.loss_reduction)
    return Batch(labels, logits, weights, losses, loss)

  def __call__(self, labels: Any, logits: Any, sample_weight: Any = None) -> tf.Tensor:
    """Returns the loss of a batch; see `batch`."""
    return self.batch(labels, logits, sample_weight).loss

  def call(self, labels: Any, logits: Any) -> tf.Tensor:
    """Returns the losses, not reduced."""
    return self.batch(labels, logits).losses

  def predictions(self, logits: Any) -> dict:
    """Returns the predictions for logits, float32 [batch, logits_dimension], in the Estimator's order."""
    raise NotImplementedError

  def metrics(self, flavour: str) -> dict[str, Measure]:
    """Returns the metrics of an evaluation by their keys, without `loss`.

    Args:
      flavour: "v1" or "v2".
    """
    raise NotImplementedError

  def export_outputs(self, logits: Any) -> dict[str, tuple[str, dict]]:
    """Returns what an export gave: the name of a signature -> (method name, its outputs).

    The order is the Estimator's. `serving_default` is one of the others a second time.
    """
    raise NotImplementedError

  def signatures(self) -> dict[str, Callable[[Any], dict]]:
    """Returns the name of each signature -> a function of the logits that gives its outputs."""

    def function(name: str) -> Callable[[Any], dict]:
      return lambda logits: self.export_outputs(logits)[name][1]

    return {name: function(name) for name in self.signature_names()}

  def signature_names(self) -> tuple[str, ...]:
    """Returns the names of the signatures, the default one first."""
    raise NotImplementedError

  def get_config(self) -> dict:
    """Returns the arguments, for `.keras` files."""
    config: dict = {"loss_reduction": self.loss_reduction, "name": self.head_name}
    if self.weight_column is not None:
      config["weight_column"] = self.weight_column.get_config()
    if self.loss_fn is not None:
      config["loss_fn"] = tf.keras.utils.serialize_keras_object(self.loss_fn)
    return config

  @classmethod
  def from_config(cls, config: dict) -> Head:
    """Makes the head that `get_config` described; functions must be registered with Keras."""
    config = dict(config)
    for name in ("loss_fn", "inverse_link_fn"):
      if isinstance(config.get(name), (str, Mapping)):
        config[name] = tf.keras.utils.deserialize_keras_object(config[name])
    return cls(**config)


def column_labels(labels: Any, dimension: Optional[int]) -> tf.Tensor:
  """Returns dense labels with the wanted last axis, which one value per example may lack.

  Args:
    labels: [batch] or [batch, dimension].
    dimension: the size of the last axis; None does not check it.

  Raises:
    ValueError: for sparse labels, or another shape.
  """
  if isinstance(labels, Mapping):
    raise ValueError(f"The labels are a dict of {sorted(labels)}: the head takes one tensor.")
  if isinstance(labels, (tf.SparseTensor, tf.RaggedTensor)):
    raise ValueError(
      f"SparseTensor labels are not supported. The labels must be a Tensor of shape [batch, "
      f"{dimension}]: check the label feature, or use tf.sparse.to_dense in the input function."
    )
  labels = tf.convert_to_tensor(labels)
  if labels.shape.rank == 1:
    labels = tf.expand_dims(labels, -1)
  elif labels.shape.rank is None:
    labels = tf.reshape(labels, [-1, 1 if dimension is None else dimension])
  if labels.shape.rank == 0 or (dimension and labels.shape[-1] not in (None, dimension)):
    raise ValueError(
      f"Mismatched label shape. Expected labels dimension={dimension}. Received {labels.shape}. "
      "Check n_classes or label_dimension, and the shape of the labels."
    )
  return tf.ensure_shape(labels, [*labels.shape[:-1], dimension]) if dimension else labels


def checked_range(labels: tf.Tensor, classes: Optional[int], what: str = "Labels") -> tf.Tensor:
  """Returns the labels; when they run, those below 0 or above classes - 1 are an InvalidArgumentError."""
  # A condition that is false for NaN as well.
  inside = labels >= tf.zeros([], labels.dtype)
  if classes is not None:
    inside &= labels <= tf.cast(classes - 1, labels.dtype)
  limit = "0 or more" if classes is None else f"between 0 and {classes} - 1"
  check = tf.debugging.Assert(
    tf.reduce_all(inside), [f"{what} must be {limit}. Given:", labels], summarize=20
  )
  with tf.control_dependencies([check] if check is not None else []):
    return tf.identity(labels)


def _with_last_axis(tensor: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
  """Adds the last axis where there is one less than the logits have."""
  if tensor.shape.rank is not None and tensor.shape.rank == logits.shape.rank - 1:
    return tf.expand_dims(tensor, -1)
  return tensor


def _snake(name: str) -> str:
  return "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")
