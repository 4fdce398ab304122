"""`tf.contrib.training`: train operations, gradients and the places of variables."""

from __future__ import annotations

from typing import Any, Callable, Optional

import tensorflow as tf

from migrator.runtime.contrib.gradients import (
  add_gradients_summaries,
  clip_gradient_norms,
  clip_gradient_norms_fn,
  multiply_gradients,
)
from migrator.runtime.contrib.hparams import HParams, parse_values
from migrator.runtime.contrib.placing import (
  GreedyLoadBalancingStrategy,
  RandomStrategy,
  byte_size_load_fn,
)

v1 = tf.compat.v1

__all__ = [
  "GreedyLoadBalancingStrategy",
  "HParams",
  "RandomStrategy",
  "add_gradients_summaries",
  "byte_size_load_fn",
  "clip_gradient_norms",
  "clip_gradient_norms_fn",
  "create_train_op",
  "multiply_gradients",
  "parse_values",
]

_USE_GLOBAL_STEP: Any = 0


def create_train_op(
  total_loss: Any,
  optimizer: Any,
  global_step: Any = _USE_GLOBAL_STEP,
  update_ops: Any = None,
  variables_to_train: Any = None,
  transform_grads_fn: Optional[Callable[[list], list]] = None,
  summarize_gradients: bool = False,
  gate_gradients: int = v1.train.Optimizer.GATE_OP,
  aggregation_method: Any = None,
  colocate_gradients_with_ops: bool = False,
  check_numerics: bool = True,
) -> Any:
  """Returns a tensor [] that trains for a step when it is evaluated, and gives the loss.

  Args:
    total_loss: a tensor [].
    optimizer: a `tf.compat.v1.train.Optimizer`.
    global_step: counts the steps; None for nothing, by default the graph's.
    update_ops: run before the loss; by default those of UPDATE_OPS.
    variables_to_train: by default all trainable variables.
    transform_grads_fn: gets and returns a list of pairs (gradient, variable).
    summarize_gradients: whether the gradients and their norms become summaries.
    gate_gradients: as the optimizer takes it.
    aggregation_method: likewise.
    colocate_gradients_with_ops: likewise.
    check_numerics: whether a loss that is no number is an error.

  Raises:
    ValueError: if there is nothing to train.
  """
  if global_step is _USE_GLOBAL_STEP:
    global_step = v1.train.get_or_create_global_step()
  of_graph = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
  updates = list(dict.fromkeys(of_graph if update_ops is None else update_ops))
  if not set(of_graph) <= set(updates):
    v1.logging.warning(
      "update_ops in create_train_op does not contain all the update_ops in GraphKeys.UPDATE_OPS"
    )
  if updates:
    with tf.control_dependencies(updates):
      barrier = tf.no_op(name="update_barrier")
    total_loss = _after([barrier], total_loss)
  if variables_to_train is None:
    variables_to_train = v1.trainable_variables()
  if not variables_to_train:
    raise ValueError("There are no variables to train.")
  gradients = optimizer.compute_gradients(
    total_loss,
    variables_to_train,
    gate_gradients=gate_gradients,
    aggregation_method=aggregation_method,
    colocate_gradients_with_ops=colocate_gradients_with_ops,
  )
  if transform_grads_fn:
    gradients = transform_grads_fn(gradients)
  if summarize_gradients:
    with tf.name_scope("summarize_grads"):
      add_gradients_summaries(gradients)
  applied = optimizer.apply_gradients(gradients, global_step=global_step)
  with tf.name_scope("train_op"):
    if check_numerics:
      total_loss = tf.debugging.check_numerics(total_loss, "LossTensor is inf or nan")
    train_op = _after([applied], total_loss)
  v1.add_to_collection(v1.GraphKeys.TRAIN_OP, train_op)
  return train_op


def _after(operations: list, tensor: Any) -> Any:
  """Returns a tensor once the operations have run."""
  with tf.control_dependencies(operations):
    return tf.identity(tensor)
