"""Heads, and changes of models and optimizers, of `tf.contrib.estimator`.

The heads are those of `runtime.graph_heads`; the loss is a mean over the batch by default.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.export.outputs import PredictOutput
from migrator.runtime.graph_heads import classes, multi, regression
from migrator.runtime.graph_heads.base import GraphHead, Reduction
from migrator.runtime.graph_heads.multi_label import MultiLabelHead
from migrator.runtime.hosting import arguments
from migrator.runtime.hosting.model_fn import ModelFn

__all__ = [
  "TowerOptimizer",
  "binary_classification_head",
  "clip_gradients_by_norm",
  "forward_features",
  "logistic_regression_head",
  "multi_class_head",
  "multi_head",
  "multi_label_head",
  "poisson_regression_head",
  "regression_head",
  "replicate_model_fn",
]


def multi_class_head(
  n_classes,
  weight_column=None,
  label_vocabulary=None,
  loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
  loss_fn=None,
  name=None,
) -> GraphHead:
  """Returns the head of one of more than two classes; see `graph_heads.MultiClassHead`."""
  return classes.MultiClassHead(
    n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name
  )


def binary_classification_head(
  weight_column=None,
  thresholds=None,
  label_vocabulary=None,
  loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
  loss_fn=None,
  name=None,
) -> GraphHead:
  """Returns the head of two classes; see `graph_heads.BinaryHead`."""
  return classes.BinaryHead(
    weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name
  )


def regression_head(
  weight_column=None,
  label_dimension=1,
  loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
  loss_fn=None,
  inverse_link_fn=None,
  name=None,
) -> GraphHead:
  """Returns the head of numbers; see `graph_heads.RegressionHead`."""
  return regression.RegressionHead(
    weight_column, label_dimension, loss_reduction, loss_fn, inverse_link_fn, name
  )


def poisson_regression_head(
  weight_column=None,
  label_dimension=1,
  loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
  compute_full_loss=True,
  name=None,
) -> GraphHead:
  """Returns the head of counts.

  Args:
    weight_column, label_dimension, loss_reduction, name: as for `regression_head`.
    compute_full_loss: whether the loss has the terms that depend on the labels alone.
  """
  losses = regression.poisson_losses(compute_full_loss)
  return regression.RegressionHead(
    weight_column, label_dimension, loss_reduction, losses, tf.exp, name
  )


def logistic_regression_head(
  weight_column=None, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, name=None
) -> GraphHead:
  """Returns the head of shares between 0 and 1; arguments as for `regression_head`."""
  losses = regression.logistic_losses
  return regression.RegressionHead(weight_column, 1, loss_reduction, losses, tf.sigmoid, name)


def multi_label_head(
  n_classes,
  weight_column=None,
  thresholds=None,
  label_vocabulary=None,
  loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
  loss_fn=None,
  classes_for_class_based_metrics=None,
  name=None,
) -> GraphHead:
  """Returns the head of any number of classes; see `graph_heads.MultiLabelHead`."""
  return MultiLabelHead(
    n_classes,
    weight_column,
    thresholds,
    label_vocabulary,
    loss_reduction,
    loss_fn,
    classes_for_class_based_metrics,
    name,
  )


def multi_head(heads, head_weights=None) -> multi.MultiHead:
  """Returns the head of several heads; see `graph_heads.MultiHead`."""
  return multi.MultiHead(heads, head_weights)


def forward_features(
  estimator: ModelFn, keys: Any = None, sparse_default_values: Optional[Mapping[str, Any]] = None
) -> ModelFn:
  """Returns a model whose predictions have features, too, in the same directory.

  It does not start from what `estimator` starts from (`warm_start_from`), as in TF1.

  Args:
    estimator: the model as it is.
    keys: the key of the feature, or a list of keys; None for all features.
    sparse_default_values: for sparse features, which become dense, the value of what is missing.

  Raises:
    TypeError: if the model is another one, or keys are of another type.
    ValueError: when the model is built, if the predictions are no dict or have the key, there is no such
      feature, or one is sparse and has no default value.
  """
  if not isinstance(estimator, ModelFn):
    raise TypeError(f"forward_features takes a runtime.ModelFn here. Given: {type(estimator)}")
  if isinstance(keys, str):
    keys = [keys]
  if keys is not None and not isinstance(keys, (list, tuple)):
    raise TypeError(f"keys should be either a string or a list of strings. Given: {type(keys)}")
  for key in keys or ():
    if not isinstance(key, str):
      raise TypeError(
        "All items in the given keys list should be a string. There exist an item with type: "
        f"{type(key)}"
      )

  def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
    spec = estimator.model_fn(features, labels, mode, config)
    wanted = list(features) if keys is None else keys
    if spec.predictions is None:
      return spec
    _check_keys(wanted, features, spec.predictions)
    defaults = sparse_default_values or {}
    found = {key: _dense(key, features[key], defaults) for key in wanted}
    for name in ("predict", "serving_default"):
      output = (spec.export_outputs or {}).get(name)
      if isinstance(output, PredictOutput):
        output.outputs.update(found)
    return spec._replace(predictions={**spec.predictions, **found})

  return ModelFn(model_fn, model_dir=estimator.model_dir, config=estimator.config)


def _check_keys(keys: Sequence[str], features: Any, predictions: Any) -> None:
  if not isinstance(predictions, dict):
    raise ValueError(
      f"Predictions should be a dict to be able to forward features. Given: {type(predictions)}"
    )
  for key in keys:
    if key not in features:
      raise ValueError(
        f'keys should be exist in features. Key "{key}" is not in features dict. features dict has '
        f"following keys: {list(features)}. Please check arguments of forward_features."
      )
    if key in predictions:
      raise ValueError(
        f"Cannot forward feature key ({key}). Since it does exist in predictions. Existing prediction "
        f"keys: {list(predictions)}. Please check arguments of forward_features."
      )


def _dense(key: str, feature: Any, defaults: Mapping[str, Any]) -> Any:
  feature = tf.compat.v1.convert_to_tensor_or_sparse_tensor(feature)
  sparse = isinstance(feature, tf.SparseTensor)
  if key in defaults:
    if not sparse:
      raise ValueError(f"Feature ({key}) is expected to be a `SparseTensor`.")
    return tf.sparse.to_dense(feature, default_value=defaults[key])
  if sparse:
    raise ValueError(
      f"Feature ({key}) should be a Tensor. Leave it out with the argument `keys` of forward_features, "
      "or add it to `sparse_default_values`."
    )
  return feature


class _Clipping(tf.compat.v1.train.Optimizer):
  """An optimizer whose gradients are scaled to a norm before they are applied."""

  def __init__(self, optimizer: Any, norm: Any):
    super().__init__(use_locking=False, name=f"ClipByNorm{optimizer.get_name()}")
    self._optimizer = optimizer
    self._norm = norm

  def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
    return self._optimizer.compute_gradients(*args, **kwargs)

  def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: Any = None) -> Any:
    gradients, variables = zip(*grads_and_vars)
    gradients, _ = tf.clip_by_global_norm(gradients, self._norm)
    return self._optimizer.apply_gradients(list(zip(gradients, variables)), global_step, name)

  def get_slot(self, *args: Any, **kwargs: Any) -> Any:
    return self._optimizer.get_slot(*args, **kwargs)

  def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
    return self._optimizer.get_slot_names(*args, **kwargs)


def clip_gradients_by_norm(optimizer: Any, clip_norm: Any) -> Any:
  """Returns an optimizer that scales all gradients by the same factor, to a global norm of at most clip_norm.

  Args:
    optimizer: a `tf.compat.v1.train.Optimizer`, whose slots are used.
    clip_norm: a number, or a tensor [].
  """
  return _Clipping(optimizer, clip_norm)


def replicate_model_fn(
  model_fn: Callable[..., Any],
  loss_reduction: Any = Reduction.SUM_BY_NONZERO_WEIGHTS,
  devices: Optional[Sequence[str]] = None,
) -> Callable[..., Any]:
  """Returns the model_fn as it ran on one device.

  Args:
    model_fn: of any signature.
    loss_reduction: how the losses of several devices would be combined.
    devices: the device; None for the GPU, or the CPU if there is none.

  Raises:
    ValueError: for several devices, or the reduction "none".
  """
  if loss_reduction == Reduction.NONE:
    raise ValueError(
      f"Tower losses need to be reduced in some way, yet {loss_reduction} reduction is specified."
    )
  count = len(devices or tf.config.list_physical_devices("GPU"))
  if count > 1:
    raise ValueError(
      f"replicate_model_fn would split batches among {count} devices, which this runtime does not do: give it "
      "one of them as `devices`, or make one visible with CUDA_VISIBLE_DEVICES."
    )
  taken = arguments.names_of(model_fn)

  def on_one_device(
    features: Any, labels: Any, mode: str, params: Any = None, config: Any = None
  ) -> Any:
    given = {"params": params, "config": config}
    more = {name: copy.deepcopy(value) for name, value in given.items() if name in taken}
    with tf.device(devices[0] if devices else None):
      return model_fn(mode=mode, features=features, labels=labels, **more)

  return on_one_device


class TowerOptimizer(tf.compat.v1.train.Optimizer):
  """The optimizer of a model_fn in `replicate_model_fn`: on one device, the one that it is made of."""

  def __init__(self, optimizer_or_optimizer_fn: Any):
    """Makes the optimizer; it needs no name of its own.

    Args:
      optimizer_or_optimizer_fn: a `tf.compat.v1.train.Optimizer`, or a function that returns one when it is needed.
    """
    self._made = optimizer_or_optimizer_fn

  def _optimizer(self) -> Any:
    if callable(self._made):
      self._made = self._made()
    return self._made

  def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
    return self._optimizer().compute_gradients(*args, **kwargs)

  def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, **kwargs: Any) -> Any:
    return self._optimizer().apply_gradients(grads_and_vars, global_step, **kwargs)

  def get_slot(self, *args: Any, **kwargs: Any) -> Any:
    return self._optimizer().get_slot(*args, **kwargs)

  def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
    return self._optimizer().get_slot_names(*args, **kwargs)

  def get_name(self) -> str:
    return self._optimizer().get_name()

  def variables(self) -> Any:
    return self._optimizer().variables()
