"""Which head a stock Keras loss stands for."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.heads.base import Head
from migrator.runtime.heads.classes import BinaryClassHead, MultiClassHead
from migrator.runtime.heads.multi_label import MultiLabelHead
from migrator.runtime.heads.regression import RegressionHead

# What must have these values in the stock losses: the Estimator's heads had nothing of it.
_PLAIN = {"from_logits": True, "label_smoothing": 0.0, "ignore_class": None, "axis": -1}


class LossDiffers(ValueError):
  """A stock loss looks like an Estimator's, and is another one for so many logits."""


def of(loss: Any, logits_dimension: Optional[int] = None) -> Head:
  """Returns the head of a loss: itself, or what a stock loss stands for.

  Args:
    loss: a head, or a `BinaryCrossentropy(from_logits=True)`,
      `SparseCategoricalCrossentropy(from_logits=True)` or `MeanSquaredError` of `tf.keras.losses`.
    logits_dimension: how many logits the model gives. By default the binary cross entropy is of one, the
      mean squared error of one, and the classes are not counted.

  Raises:
    TypeError: if it is no Keras loss, or one that no Estimator had.
    ValueError: if it is one with arguments that no Estimator had.
    LossDiffers: a ValueError, if the Estimator's loss of so many logits was another.
  """
  if isinstance(loss, Head):
    return loss
  if not isinstance(loss, tf.keras.losses.Loss):
    raise TypeError(f"The loss must be a tf.keras.losses.Loss, given: {loss!r}")
  kinds = {
    tf.keras.losses.BinaryCrossentropy: _binary,
    tf.keras.losses.MeanSquaredError: _regression,
    tf.keras.losses.SparseCategoricalCrossentropy: _classes,
  }
  make = kinds.get(type(loss))
  if make is None:
    raise TypeError(
      f"The loss must be one of migrator.runtime.heads, or {', '.join(k.__name__ for k in kinds)}: "
      f"what to evaluate and predict is not known of {type(loss).__name__}."
    )
  config = loss.get_config()
  for name, value in _PLAIN.items():
    if config.get(name, value) != value:
      raise ValueError(
        f"{type(loss).__name__} must have {name}={value!r} to be what an Estimator had, not "
        f"{config[name]!r}."
      )
  return make(config["reduction"], logits_dimension)


def for_classes(n_classes: int, **arguments: Any) -> Head:
  """Returns the head of a canned classifier of so many classes: two have one logit.

  Args:
    n_classes: the number of classes, 2 or more.
    **arguments: of BinaryClassHead and MultiClassHead.

  Raises:
    ValueError: for less than two classes, and for what the heads refuse.
  """
  if n_classes < 2:
    raise ValueError(f"n_classes must be >= 2: {n_classes}.")
  return BinaryClassHead(**arguments) if n_classes == 2 else MultiClassHead(n_classes, **arguments)


def prepare(loss: Any, features: Any, labels: Any, logits_dimension: Optional[int] = None) -> tuple:
  """Makes labels what the loss takes, and takes the weights of the examples out of the features.

  Labels get the shape [batch, dimension], are looked up in the vocabulary, checked and converted. For
  `dataset.map`; the features are left as they are.

  Args:
    loss: what `of` takes.
    features: a dict of features, with the weight column if the head has one.
    labels: as the input function gives them.
    logits_dimension: as of `of`.

  Returns:
    (features, labels), or (features, labels, weights).

  Raises:
    ValueError: if labels or the weight column are missing, or of the wrong type or shape.
    InvalidArgumentError: when it runs, for labels out of range.
  """
  return of(loss, logits_dimension).prepare(features, labels)


def _binary(reduction: str, dimension: Optional[int]) -> Head:
  if dimension is None or dimension == 1:
    return BinaryClassHead(loss_reduction=reduction)
  return MultiLabelHead(dimension, loss_reduction=reduction)


def _regression(reduction: str, dimension: Optional[int]) -> Head:
  if dimension and dimension > 1 and reduction == "sum":
    raise LossDiffers(
      f"MeanSquaredError takes the mean over the {dimension} values of a label before it sums; the "
      f"Estimator summed all: use runtime.heads.RegressionHead({dimension}, loss_reduction='sum')."
    )
  return RegressionHead(dimension or 1, loss_reduction=reduction)


def _classes(reduction: str, dimension: Optional[int]) -> Head:
  if dimension is None:
    return _CountlessHead(reduction)
  return MultiClassHead(dimension, loss_reduction=reduction)


class _CountlessHead(MultiClassHead):
  """Classes of which it is not known how many there are: labels are not checked from above."""

  def __init__(self, loss_reduction: str):
    super().__init__(3, loss_reduction=loss_reduction)
    self._n_classes = None
