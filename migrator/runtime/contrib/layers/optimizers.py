"""`optimize_loss` of `tf.contrib.layers`: one operation that computes, clips and applies gradients."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

v1 = tf.compat.v1

OPTIMIZER_CLS_NAMES = {
  "Adagrad": v1.train.AdagradOptimizer,
  "Adam": v1.train.AdamOptimizer,
  "Ftrl": v1.train.FtrlOptimizer,
  "Momentum": lambda learning_rate: v1.train.MomentumOptimizer(learning_rate, momentum=0.9),
  "RMSProp": v1.train.RMSPropOptimizer,
  "SGD": v1.train.GradientDescentOptimizer,
}
OPTIMIZER_SUMMARIES = [
  "learning_rate",
  "loss",
  "gradients",
  "gradient_norm",
  "global_gradient_norm",
]


def _after(operations, tensor):
  with tf.control_dependencies(operations):
    return tf.identity(tensor)


def _rate(learning_rate) -> Any:
  """Returns the learning rate; a number becomes a variable, which checkpoints hold."""
  if learning_rate is None:
    return None
  if tf.is_tensor(learning_rate) and learning_rate.shape.ndims == 0:
    return learning_rate
  if not isinstance(learning_rate, float):
    raise ValueError(
      f"optimize_loss: the learning rate must be a scalar tensor or a float, not {learning_rate} of "
      f"type {type(learning_rate)}."
    )
  if learning_rate < 0.0:
    raise ValueError(f"optimize_loss: the learning rate cannot be {learning_rate}.")
  return v1.get_variable(
    "learning_rate", [], trainable=False, initializer=v1.constant_initializer(learning_rate)
  )


def _optimizer(optimizer, rate, learning_rate):
  """Returns the optimizer that a name, a class, a function or an optimizer means."""
  is_class = isinstance(optimizer, type) and issubclass(optimizer, v1.train.Optimizer)
  if rate is None and (is_class or isinstance(optimizer, str)):
    raise ValueError(f"optimize_loss: the optimizer {optimizer} needs a learning rate.")
  if isinstance(optimizer, str):
    if optimizer not in OPTIMIZER_CLS_NAMES:
      raise ValueError(
        f"optimize_loss: the optimizer should be one of {', '.join(OPTIMIZER_CLS_NAMES)}, not "
        f"{optimizer}."
      )
    return OPTIMIZER_CLS_NAMES[optimizer](learning_rate=rate)
  if is_class:
    return optimizer(learning_rate=rate)
  if not isinstance(optimizer, v1.train.Optimizer) and callable(optimizer):
    optimizer = optimizer() if learning_rate is None else optimizer(rate)
  if not isinstance(optimizer, v1.train.Optimizer):
    raise ValueError(
      "optimize_loss: the optimizer should be a name, an optimizer of tf.compat.v1.train, its class or "
      f"a function that returns one, not {optimizer}."
    )
  return optimizer


def _of_values(gradient, change):
  """Returns a gradient with its values changed, sparse ones as well."""
  if isinstance(gradient, tf.IndexedSlices):
    return tf.IndexedSlices(change(gradient.values), gradient.indices, gradient.dense_shape)
  return change(gradient)


def _noisy(gradients, scale):
  noisy = []
  for gradient, variable in gradients:
    if gradient is not None:
      sparse = isinstance(gradient, tf.IndexedSlices)
      shape = gradient.dense_shape if sparse else gradient.shape
      gradient = gradient + tf.random.truncated_normal(shape) * scale
    noisy.append((gradient, variable))
  return noisy


def _multiplier(variable, multipliers):
  for key, value in multipliers.items():
    if key is variable or (isinstance(key, str) and key == variable.name):
      return value
    # A variable of TF2 is no key of a dict: its reference is.
    if hasattr(key, "deref") and key.deref() is variable:
      return value
  return None


def _multiplied(gradients, multipliers):
  multiplied = []
  for gradient, variable in gradients:
    factor = _multiplier(variable, multipliers)
    if gradient is not None and factor is not None:
      gradient = _of_values(gradient, lambda one, by=factor: one * tf.cast(by, one.dtype))
    multiplied.append((gradient, variable))
  return multiplied


def _clipped(gradients, clip_gradients):
  if clip_gradients is None:
    return gradients
  if isinstance(clip_gradients, float):
    values, variables = zip(*gradients)
    values, _ = tf.clip_by_global_norm(values, clip_gradients)
    return list(zip(values, variables))
  if callable(clip_gradients):
    return clip_gradients(gradients)
  raise ValueError(f"optimize_loss: clip_gradients cannot be a {type(clip_gradients)}.")


def _norm_summary(name, gradients):
  v1.summary.scalar(name, tf.linalg.global_norm([gradient for gradient, _ in gradients]))


def _summaries_of_each(gradients, summaries):
  for gradient, variable in gradients:
    values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
    if values is None:
      continue
    name = variable.name.replace(":", "_")
    if "gradients" in summaries:
      v1.summary.histogram(f"gradients/{name}", values)
    if "gradient_norm" in summaries:
      v1.summary.scalar(f"gradient_norm/{name}", tf.linalg.global_norm([values]))


def optimize_loss(
  loss,
  global_step,
  learning_rate,
  optimizer,
  gradient_noise_scale=None,
  gradient_multipliers=None,
  clip_gradients=None,
  learning_rate_decay_fn=None,
  update_ops=None,
  variables=None,
  name=None,
  summaries=None,
  colocate_gradients_with_ops=False,
  increment_global_step=True,
):
  """Returns the loss after a training step; `OptimizeLoss/learning_rate` is a variable.

  Args:
    loss: a scalar tensor.
    global_step: the global step; that of the graph if it is None.
    learning_rate: a float, a scalar tensor or None.
    optimizer: the name, the class or an object of an optimizer, or a function learning rate -> optimizer.
    gradient_noise_scale: the scale of normal noise on dense gradients, which is cut at two deviations.
    gradient_multipliers: {name or reference of a variable: factor of its gradient}.
    clip_gradients: the greatest global norm, as a float, or a function of (gradient, variable) pairs.
    learning_rate_decay_fn: a function (learning rate, global step) -> learning rate.
    update_ops: operations to run before; those of UPDATE_OPS by default.
    variables: the variables to train; all trainable ones by default.
    name: the variable scope.
    summaries: some of OPTIMIZER_SUMMARIES; the learning rate, the loss and the global norm by default.
    colocate_gradients_with_ops: whether gradients stand on the devices of their operations.
    increment_global_step: whether the step counts.

  Raises:
    ValueError: if an argument is none of these.
  """
  loss = tf.convert_to_tensor(loss)
  if loss.shape.ndims not in (None, 0):
    raise ValueError(f"optimize_loss: the loss must be a scalar, not of shape {loss.shape}.")
  if global_step is None:
    global_step = v1.train.get_global_step()
  else:
    v1.train.assert_global_step(global_step)
  with v1.variable_scope(name, "OptimizeLoss", [loss, global_step]):
    update_ops = v1.get_collection(v1.GraphKeys.UPDATE_OPS) if update_ops is None else update_ops
    if update_ops:
      loss = _after(list(update_ops), loss)
    rate = _rate(learning_rate)
    if summaries is None:
      summaries = ["loss", "learning_rate", "global_gradient_norm"]
    for one in summaries:
      if one not in OPTIMIZER_SUMMARIES:
        raise ValueError(
          f"optimize_loss: summaries should be of {', '.join(OPTIMIZER_SUMMARIES)}, not {one}."
        )
    if learning_rate is not None and learning_rate_decay_fn is not None:
      if global_step is None:
        raise ValueError("optimize_loss: learning_rate_decay_fn needs a global step.")
      rate = learning_rate_decay_fn(rate, global_step)
      if "learning_rate" in summaries:
        v1.summary.scalar("learning_rate", rate)
    chosen = _optimizer(optimizer, rate, learning_rate)
    gradients = chosen.compute_gradients(
      loss,
      v1.trainable_variables() if variables is None else variables,
      colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    if gradient_noise_scale is not None:
      gradients = _noisy(gradients, gradient_noise_scale)
    if gradient_multipliers is not None:
      gradients = _multiplied(gradients, gradient_multipliers)
    of_all = "global_gradient_norm" in summaries or "gradient_norm" in summaries
    if of_all:
      _norm_summary("global_norm/gradient_norm", gradients)
    gradients = _clipped(gradients, clip_gradients)
    if "loss" in summaries:
      v1.summary.scalar("loss", loss)
    _summaries_of_each(gradients, summaries)
    if clip_gradients is not None and of_all:
      _norm_summary("global_norm/clipped_gradient_norm", gradients)
    applied = chosen.apply_gradients(
      gradients, global_step=global_step if increment_global_step else None, name="train"
    )
    return _after([applied], loss)
