"""Columns of shared embeddings, which make their variable in a graph of TF1 only, for use in TF2."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional

import tensorflow as tf

from migrator.runtime.columns.live_state import State


class Shared(NamedTuple):
  """What a column of a shared embedding has, of either kind: `shared_embeddings` or that of v1.

  Attributes:
    categorical_column: what the table is looked up by.
    table: the name of the table, by which it is shared.
    scope: where it is in a checkpoint: "" for within the input layer, "/" for without any scope, else what
      stands before its name within the scope of the model.
    dimension: of a row.
    initializer: of the table.
    combiner: what becomes of several values of an example.
    max_norm: to what a longer row is shortened before.
    trainable: whether the table is.
    use_safe_embedding_lookup: whether ids below 0 and examples without a value are allowed.
    ckpt_to_load_from: the checkpoint with the initial values.
    tensor_name_in_ckpt: their name there.
  """

  categorical_column: Any
  table: str
  scope: str
  dimension: int
  initializer: Callable
  combiner: str
  max_norm: Optional[float]
  trainable: bool
  use_safe_embedding_lookup: bool
  ckpt_to_load_from: Optional[str]
  tensor_name_in_ckpt: Optional[str]

  @classmethod
  def of(cls, column: Any, flavour: str) -> Any:
    """Returns what stands for a column: itself if it is not of a shared embedding.

    Args:
      column: the column.
      flavour: of the Estimator. A v2 one neither gave the variable of `shared_embeddings` a scope nor
        trained it.
    """
    creator = getattr(column, "shared_embedding_column_creator", None)
    if creator is None and not hasattr(column, "shared_embedding_collection_name"):
      return column
    prefix, source = ("", column) if creator is None else ("_", creator)
    common = {
      name: getattr(source, prefix + name)
      for name in (
        "dimension",
        "initializer",
        "trainable",
        "ckpt_to_load_from",
        "tensor_name_in_ckpt",
      )
    }
    scope = ""
    if creator is not None:
      scope = "/" if flavour == "v2" else "input_from_feature_columns/"
      common["trainable"] = common["trainable"] and flavour == "v1"
    return cls(
      categorical_column=column.categorical_column,
      table=column.shared_embedding_collection_name if creator is None else creator._name,
      scope=scope,
      combiner=column.combiner,
      max_norm=column.max_norm,
      use_safe_embedding_lookup=column.use_safe_embedding_lookup,
      **common,
    )

  @property
  def name(self) -> str:
    return f"{self.categorical_column.name}_shared_embedding"

  @property
  def parents(self) -> list:
    return [self.categorical_column]

  @property
  def variable_shape(self) -> tf.TensorShape:
    return tf.TensorShape([self.dimension])

  def create_state(self, state: State) -> None:
    """Makes the table the first time."""
    shape = (self.categorical_column.num_buckets, self.dimension)
    state.variable(self.table, "table", shape, self.initializer, self.trainable)

  def get_dense_tensor(self, features: Any, state: State) -> tf.Tensor:
    """Returns the combined rows, float32 [batch, dimension], of a sequence those of each step."""
    found = self.categorical_column.get_sparse_tensors(features, state)
    safe = self.use_safe_embedding_lookup or (found.id_tensor.shape.rank or 2) > 2
    lookup = tf.nn.safe_embedding_lookup_sparse if safe else tf.nn.embedding_lookup_sparse
    return lookup(
      state.get_variable(self.table, "table"),
      found.id_tensor,
      found.weight_tensor,
      combiner=self.combiner,
      max_norm=self.max_norm,
    )

  def get_sequence_dense_tensor(self, features: Any, state: State) -> tuple:
    """Returns the rows of each step, float32 [batch, steps, dimension], and the numbers of steps."""
    indicator = tf.feature_column.indicator_column(self.categorical_column)
    length = indicator.get_sequence_dense_tensor(features, state).sequence_length
    return self.get_dense_tensor(features, state), length
