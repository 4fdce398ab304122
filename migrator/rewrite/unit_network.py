"""What the construction of an estimator becomes: the model, its loss and optimizers, its checkpoints."""

from __future__ import annotations

import ast
import dataclasses
from typing import Optional, Union

from migrator.rewrite import columns, emit, optimizers, run_config


@dataclasses.dataclass
class Network:
  """What one construction of a canned estimator becomes.

  Attributes:
    body: statements of the factory up to `logits`, in the style of a nested block.
    model: the expression of the model, of `inputs` and `logits`.
    scope: of the variables' names in checkpoints, less what the model's own layers have of it.
    loss: the expression of the head, which is the Keras loss.
    metrics: for `weighted_metrics=`, "" for none.
    parts: the Keras optimizers, each with the nested model whose weights it trains; "" for all.
    policy: the checkpoint policy.
    directory: the expression of the model directory, and its node; None: a temporary directory.
    columns: the feature columns, with the statements they leave without use.
    config_name: the read of the RunConfig's variable, if it has one.
    warm_start: of the argument `warm_start_from=`, "" for none.
    names: the reads of variables that the new code has no need of.
    added: the functions that give evaluations more metrics.
  """

  body: list[str]
  model: str
  scope: str
  loss: str
  metrics: str
  parts: list[tuple[str, optimizers.Optimizer]]
  policy: run_config.Policy
  directory: Optional[str]
  directory_node: Optional[ast.expr]
  directory_item: Optional[emit.Item]
  columns: columns.Columns
  config_name: Optional[ast.Name]
  warm_start: str = ""
  names: list[ast.Name] = dataclasses.field(default_factory=list)
  added: list[str] = dataclasses.field(default_factory=list)

  def key(self) -> tuple:
    """Constructions with equal keys can share one factory."""
    code = tuple(line for line in self.body if not line.lstrip().startswith("#"))
    return (code, self.model, self.loss, *((part, o.text) for part, o in self.parts))

  @property
  def gives_classes(self) -> bool:
    """Whether the loss is the stock one of classes."""
    return "SparseCategoricalCrossentropy" in self.loss

  @property
  def has_head(self) -> bool:
    """Whether the loss is a head of the runtime, which takes labels in a form of its own."""
    return ".heads." in self.loss

  @property
  def has_weights(self) -> bool:
    """Whether the head may take weights out of the features."""
    return self.has_head and "weight_column=" in self.loss

  @property
  def is_plain_classifier(self) -> bool:
    """Whether three or more logits show what they are, without the loss."""
    return "SparseCategoricalCrossentropy" in self.loss

  @property
  def is_keras(self) -> bool:
    """Whether the model is the user's own, compiled already; see `keras_estimators`."""
    return False

  @property
  def flavour(self) -> str:
    """The flavour of the checkpoint, "" for the estimator's."""
    return ""

  def step_loss(self, model: str, loss: str, weights: str) -> str:
    """The loss of a batch in a loop.

    Args:
      model: the variable of the model.
      loss: the variable of the head.
      weights: a further argument.
    """
    return f"{loss}(labels, {model}(features, training=True){weights})"

  def compile_items(self) -> list[Union[emit.Item, str]]:
    """The arguments of `model.compile` within the factory."""
    items: list[Union[emit.Item, str]] = [self.optimizer_item(), f"loss={self.loss}"]
    return [*items, f"weighted_metrics={self.metrics}"] if self.metrics else items

  def optimizer_item(self, model: Optional[str] = None, prefix: str = "optimizer=") -> emit.Item:
    """The optimizer as an argument.

    Args:
      model: the variable of the model, outside of the factory; None within it.
      prefix: of the argument.
    """
    if len(self.parts) == 1:
      return optimizers.as_item(self.parts[0][1], prefix)
    return optimizers.combined(self.parts, model, prefix)
