"""Graph heads of the public classes of `tf.estimator`, with their arguments and defaults.

They differ from those of `tf.contrib.estimator`: the loss is a mean over the batch, metrics are those of Keras,
and the collection `UPDATE_OPS` is not asked. Optimizers of Keras are refused, since their variables are in no
checkpoint of a graph.
"""

from __future__ import annotations

from migrator.runtime.graph_heads.v2.several import MultiHead
from migrator.runtime.graph_heads.v2.single import (
  BinaryClassHead,
  LogisticRegressionHead,
  MultiClassHead,
  MultiLabelHead,
  PoissonRegressionHead,
  RegressionHead,
)

__all__ = [
  "BinaryClassHead",
  "LogisticRegressionHead",
  "MultiClassHead",
  "MultiHead",
  "MultiLabelHead",
  "PoissonRegressionHead",
  "RegressionHead",
]
