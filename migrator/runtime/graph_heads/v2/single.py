"""Graph heads with the arguments and defaults of the public classes of `tf.estimator`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime import heads
from migrator.runtime.graph_heads import classes, multi_label, regression
from migrator.runtime.graph_heads.v2.base import MEAN, PublicHead
from migrator.runtime.heads import checks


class BinaryClassHead(PublicHead, classes.BinaryHead):
  """`tf.estimator.BinaryClassHead`."""

  def __init__(
    self,
    weight_column=None,
    thresholds=None,
    label_vocabulary=None,
    loss_reduction=MEAN,
    loss_fn=None,
    name=None,
  ):
    """Makes the head; arguments as for `graph_heads.BinaryHead`."""
    checks.vocabulary(label_vocabulary)
    super().__init__(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)
    self._measures = heads.BinaryClassHead(
      thresholds=thresholds, label_vocabulary=label_vocabulary, name=name
    )


class MultiClassHead(PublicHead, classes.MultiClassHead):
  """`tf.estimator.MultiClassHead`."""

  def __init__(
    self,
    n_classes,
    weight_column=None,
    label_vocabulary=None,
    loss_reduction=MEAN,
    loss_fn=None,
    name=None,
  ):
    """Makes the head; arguments as for `graph_heads.MultiClassHead`."""
    checks.vocabulary(label_vocabulary, n_classes)
    super().__init__(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)
    self._measures = heads.MultiClassHead(n_classes, label_vocabulary=label_vocabulary, name=name)

  def _of_logits(self, logits: Any) -> dict[str, Any]:
    # The same in another order, which decides the names of the tensors.
    ids = classes.best_ids(logits)
    return {
      "logits": logits,
      "probabilities": tf.nn.softmax(logits, name="probabilities"),
      "class_ids": ids,
      "classes": classes.names_of(ids, self._vocabulary),
      "all_class_ids": classes.all_ids(logits, self.logits_dimension),
      "all_classes": classes.all_names(logits, self.logits_dimension, self._vocabulary),
    }


class MultiLabelHead(PublicHead, multi_label.MultiLabelHead):
  """`tf.estimator.MultiLabelHead`."""

  def __init__(
    self,
    n_classes,
    weight_column=None,
    thresholds=None,
    label_vocabulary=None,
    loss_reduction=MEAN,
    loss_fn=None,
    classes_for_class_based_metrics=None,
    name=None,
  ):
    """Makes the head; arguments as for `graph_heads.MultiLabelHead`."""
    measured_classes = classes_for_class_based_metrics
    super().__init__(
      n_classes,
      weight_column,
      thresholds,
      label_vocabulary,
      loss_reduction,
      loss_fn,
      measured_classes,
      name,
    )
    self._measures = heads.MultiLabelHead(
      n_classes,
      thresholds=thresholds,
      label_vocabulary=label_vocabulary,
      classes_for_class_based_metrics=measured_classes,
      name=name,
    )

  def _of_logits(self, logits: Any) -> dict[str, Any]:
    names = classes.all_names(logits, self.logits_dimension, self._vocabulary)
    return {**super()._of_logits(logits), "classes": names}


class RegressionHead(PublicHead, regression.RegressionHead):
  """`tf.estimator.RegressionHead`."""

  def __init__(
    self,
    label_dimension=1,
    weight_column=None,
    loss_reduction=MEAN,
    loss_fn=None,
    inverse_link_fn=None,
    name=None,
  ):
    """Makes the head; arguments as for `graph_heads.RegressionHead`."""
    super().__init__(weight_column, label_dimension, loss_reduction, loss_fn, inverse_link_fn, name)
    self._measures = heads.RegressionHead(
      label_dimension, inverse_link_fn=inverse_link_fn, name=name
    )


class PoissonRegressionHead(RegressionHead):
  """`tf.estimator.PoissonRegressionHead`."""

  def __init__(
    self,
    label_dimension=1,
    weight_column=None,
    loss_reduction=MEAN,
    compute_full_loss=True,
    name=None,
  ):
    """Makes the head; `compute_full_loss` adds the terms that depend on the labels alone."""
    losses = regression.poisson_losses(compute_full_loss)
    super().__init__(label_dimension, weight_column, loss_reduction, losses, tf.exp, name)


class LogisticRegressionHead(RegressionHead):
  """`tf.estimator.LogisticRegressionHead`."""

  def __init__(self, weight_column=None, loss_reduction=MEAN, name=None):
    """Makes the head; labels are between 0 and 1."""
    losses = regression.logistic_losses
    super().__init__(1, weight_column, loss_reduction, losses, tf.sigmoid, name)
