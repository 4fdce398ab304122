"""Heads: the loss of an Estimator with what it predicted, measured and exported, as a Keras loss.

model.compile(optimizer, loss=runtime.heads.BinaryClassHead(weight_column="w", loss_reduction="sum"))
"""

from __future__ import annotations

from typing import Any

from migrator.runtime.heads.base import LOSS, Head
from migrator.runtime.heads.classes import BinaryClassHead, MultiClassHead
from migrator.runtime.heads.compiled import CompiledHead
from migrator.runtime.heads.functions import FunctionHead, ModelNetwork
from migrator.runtime.heads.infer import LossDiffers, for_classes, of, prepare
from migrator.runtime.heads.multi import MultiHead
from migrator.runtime.heads.multi_label import MultiLabelHead
from migrator.runtime.heads.regression import (
  LogisticRegressionHead,
  PoissonRegressionHead,
  RegressionHead,
)

__all__ = [
  "LOSS",
  "BinaryClassHead",
  "CompiledHead",
  "FunctionHead",
  "Head",
  "LogisticRegressionHead",
  "LossDiffers",
  "ModelNetwork",
  "MultiClassHead",
  "MultiHead",
  "MultiLabelHead",
  "PoissonRegressionHead",
  "RegressionHead",
  "export_outputs",
  "for_classes",
  "of",
  "prepare",
]


def export_outputs(head: Head, logits: Any) -> dict[str, tuple[str, dict]]:
  """Returns what an export of the Estimator gave, for logits of shape [batch, logits_dimension].

  Args:
    head: a head, or a stock loss that stands for one.
    logits: float32.

  Returns:
    The name of each signature -> (the method name of serving, the name of each output -> its tensor). A
    signature of the methods "classify" and "regress" was exported only where the receiver is of serialized
    examples: one string tensor.
  """
  return of(head, logits.shape[-1]).export_outputs(logits)
