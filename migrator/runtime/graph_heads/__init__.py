"""Heads that make the EstimatorSpec of a model_fn: those of `tensorflow.python.estimator.canned.head`.

The loss is a sum over the batch by default. The heads of `tf.contrib.estimator`, which are these with other
defaults, are in `runtime.contrib.estimator`, and those of the public classes of `tf.estimator` in `v2`.
"""

from __future__ import annotations

from typing import Any

from migrator.runtime.graph_heads import v2
from migrator.runtime.graph_heads.base import GraphHead, LossSpec
from migrator.runtime.graph_heads.classes import BinaryHead, MultiClassHead
from migrator.runtime.graph_heads.multi import MultiHead
from migrator.runtime.graph_heads.multi_label import MultiLabelHead
from migrator.runtime.graph_heads.regression import RegressionHead

__all__ = [
  "BinaryHead",
  "GraphHead",
  "LossSpec",
  "MultiClassHead",
  "MultiHead",
  "MultiLabelHead",
  "RegressionHead",
  "for_classes",
  "v2",
]


def for_classes(
  n_classes: int, weight_column: Any, label_vocabulary: Any, loss_reduction: Any
) -> GraphHead:
  """Returns the head of so many classes: with one logit for two of them.

  Args:
    n_classes: the number of classes.
    weight_column, label_vocabulary, loss_reduction: as for the heads.
  """
  if n_classes == 2:
    return BinaryHead(weight_column, None, label_vocabulary, loss_reduction)
  return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)
