"""`slim.learning.create_train_op` and its parts; slim's training loop has no place here."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.contrib import gradients, training
from migrator.runtime.contrib.gradients import (
  add_gradients_summaries,
  clip_gradient_norms,
  multiply_gradients,
)

__all__ = [
  "add_gradients_summaries",
  "clip_gradient_norms",
  "create_train_op",
  "multiply_gradients",
]


def create_train_op(
  total_loss: Any,
  optimizer: Any,
  global_step: Any = training._USE_GLOBAL_STEP,
  update_ops: Any = None,
  variables_to_train: Any = None,
  clip_gradient_norm: float = 0,
  summarize_gradients: bool = False,
  gate_gradients: int = tf.compat.v1.train.Optimizer.GATE_OP,
  aggregation_method: Any = None,
  colocate_gradients_with_ops: bool = False,
  gradient_multipliers: Optional[dict] = None,
  check_numerics: bool = True,
) -> Any:
  """Returns a tensor [] that trains for a step when it is evaluated, and gives the loss.

  Args:
    total_loss: a tensor [].
    optimizer: a `tf.compat.v1.train.Optimizer`.
    global_step: see `contrib.training.create_train_op`, as for what is not told here.
    update_ops: likewise.
    variables_to_train: likewise.
    clip_gradient_norm: the greatest norm of each gradient by itself; 0 for any.
    summarize_gradients: likewise.
    gate_gradients: likewise.
    aggregation_method: likewise.
    colocate_gradients_with_ops: likewise.
    gradient_multipliers: {variable, or name of one: factor}, before the norms are clipped.
    check_numerics: likewise.

  Raises:
    ValueError: if there is nothing to train, or a variable to multiply has no gradient.
  """

  def transform(pairs: list) -> list:
    if gradient_multipliers:
      with tf.name_scope("multiply_grads"):
        pairs = [(gradients.multiplied(g, v, gradient_multipliers), v) for g, v in pairs]
    if clip_gradient_norm > 0:
      with tf.name_scope("clip_grads"):
        pairs = clip_gradient_norms(pairs, clip_gradient_norm)
    return pairs

  return training.create_train_op(
    total_loss,
    optimizer,
    global_step,
    update_ops,
    variables_to_train,
    transform,
    summarize_gradients,
    gate_gradients,
    aggregation_method,
    colocate_gradients_with_ops,
    check_numerics,
  )
