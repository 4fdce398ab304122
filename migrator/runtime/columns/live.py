"""Layers that evaluate live `tf.feature_column` objects, the program's own, as the Estimators did.

For columns that only the running program knows. They need `tf.feature_column`, which TensorFlow calls
deprecated; `migrator eject` prints layers that do without it.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.columns import live_config, live_inputs
from migrator.runtime.columns.base import (
  ColumnLayer,
  as_feature,
  input_name,
  register,
  scope_name,
  spec,
  tensor_of,
)
from migrator.runtime.columns.live_shared import Shared
from migrator.runtime.columns.live_state import State, cache, from_checkpoint

_INPUT_LAYER = "input_from_feature_columns/input_layer"


class _Columns:
  """Columns in the order of their names, whatever that of the list was. Keras looks into no such object."""

  def __init__(self, columns: list, layer: Any):
    self.columns = sorted(columns, key=lambda column: column.name)
    names = [column.name for column in self.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
      raise ValueError(
        f"{layer.name} has two columns of the name {twice[0]!r}; an Estimator refused them, too."
      )
    if not names:
      raise ValueError(f"{layer.name} has no columns.")
    self.features = live_inputs.raw_features(self.columns)
    self.state = State(layer)
    self.saved = [live_config.without_files(column) for column in self.columns]
    # What is evaluated: a column would read the checkpoint at each call.
    self.evaluated = [with_initial_values(column) for column in self.saved]

  def inputs_that(self, attribute: str, inputs: dict) -> set:
    """Returns the names of the Inputs whose feature is so."""
    names = {input_name(inputs[key]) for key, f in self.features.items() if getattr(f, attribute)}
    return names - {None}


class _LiveLayer(ColumnLayer):
  """A layer over columns.

  Attributes:
    raw_inputs: the names of the Inputs that are raw keys of crosses.
    weight_inputs: the names of the Inputs that are the weights of ids.
  """

  def __init__(self, columns: Any, flavour: str = "v1", **kwargs: Any):
    super().__init__(**kwargs)
    if flavour not in ("v1", "v2"):
      raise ValueError(f"{self.name} has the flavour {flavour!r}, not v1 or v2.")
    self.flavour = flavour
    if isinstance(columns, dict) and set(columns) == {"saved"}:
      live_inputs.check()
      columns = live_config.decode(columns["saved"])
    else:
      columns = [Shared.of(column, flavour) for column in live_inputs.as_list(columns)]
    self._live = _Columns(columns, self)
    self.raw_inputs: tuple = ()
    self.weight_inputs: tuple = ()

  @property
  def columns(self) -> tuple:
    """The columns, in the order of their names."""
    return tuple(self._live.columns)

  def __call__(self, inputs, *args, **kwargs):
    missing = sorted(set(self._live.features) - set(inputs))
    if missing:
      raise ValueError(f"{self.name} reads the feature {missing[0]!r}; there are {sorted(inputs)}.")
    inputs = {key: inputs[key] for key in self._live.features}
    found = self._live.inputs_that("crossed", inputs)
    self.raw_inputs = tuple(sorted({*self.raw_inputs, *found}))
    found = self._live.inputs_that("weight", inputs)
    self.weight_inputs = tuple(sorted({*self.weight_inputs, *found}))
    return super().__call__(inputs, *args, **kwargs)

  def build(self, input_shape=None):
    for column in self._live.evaluated:
      if hasattr(column, "create_state"):
        column.create_state(self._live.state)
    self._live.state.make_tables(list(live_inputs.walk(self._live.evaluated)))
    super().build(input_shape)

  def _cache(self, inputs: dict) -> Any:
    """Returns what the columns take their features from."""
    return cache({key: as_feature(value) for key, value in inputs.items()})

  def variable_names(self) -> dict[str, Any]:
    """Returns the tables by their names in the checkpoints of an Estimator."""
    names = {}
    for column in self._live.columns:
      if isinstance(column, Shared):
        prefix = column.scope or f"{_INPUT_LAYER}/"
        suffix = "" if column.scope else "/embedding_weights"
        names[f"{prefix}{column.table}{suffix}"] = column.table
    weights = {name: self._live.state.weights("table")[table] for name, table in names.items()}
    for column, weight in self._live.state.weights("embedding_weights").items():
      weights[f"{_INPUT_LAYER}/{scope_name(column.name)}/embedding_weights"] = weight
    return weights

  def get_config(self):
    columns = [live_config.encode(column) for column in self._live.saved]
    return {**super().get_config(), "columns": {"saved": columns}, "flavour": self.flavour}


@register
class DenseFeatures(_LiveLayer):
  """The input layer of an Estimator: a dictionary of features -> float32 [batch, n]."""

  def __init__(self, columns: Any, flavour: str = "v1", **kwargs: Any):
    """Makes the layer.

    Args:
      columns: dense `tf.feature_column` objects, or those of shared embeddings, in any order.
      flavour: of the Estimator, "v1" or "v2". It matters for `shared_embeddings` only, which a v2
        Estimator did not train.
      **kwargs: those of a Keras layer.

    Raises:
      ImportError: if this TensorFlow has no feature columns.
      ValueError: for columns that an Estimator refused.
    """
    super().__init__(columns, flavour, **kwargs)
    for column in self.columns:
      if not hasattr(column, "get_dense_tensor"):
        raise ValueError(
          f"{self.name}: the column {column.name!r} is categorical. An input layer takes it in an "
          "indicator_column or an embedding_column only."
        )

  def call(self, inputs):
    features = self._cache(inputs)
    blocks = []
    for column in self._live.evaluated:
      block = column.get_dense_tensor(features, self._live.state)
      blocks.append(tf.reshape(block, [tf.shape(block)[0], _elements(column)]))
    return tf.ensure_shape(tf.concat(blocks, axis=1), [None, self._width()])

  def _width(self) -> int:
    return sum(_elements(column) for column in self.columns)

  def compute_output_spec(self, inputs):
    return spec((tf.nest.flatten(inputs)[0].shape[0], self._width()))


@register
class LinearFeatures(_LiveLayer):
  """The linear model of an Estimator: a dictionary of features -> float32 [batch, units].

  A categorical column has a row of weights for each id, a dense one for each element. They and the bias
  begin with 0.
  """

  def __init__(
    self,
    columns: Any,
    units: int = 1,
    sparse_combiner: str = "sum",
    flavour: str = "v1",
    **kwargs: Any,
  ):
    """Makes the layer.

    Args:
      columns: `tf.feature_column` objects, in any order.
      units: how many logits.
      sparse_combiner: what becomes of several values of an example: "sum", "mean" or "sqrtn".
      flavour: of the Estimator; see `DenseFeatures`.
      **kwargs: those of a Keras layer.

    Raises:
      ImportError: if this TensorFlow has no feature columns.
      ValueError: for columns that an Estimator refused.
    """
    super().__init__(columns, flavour, **kwargs)
    self.units = int(units)
    self.sparse_combiner = sparse_combiner

  def build(self, input_shape=None):
    state = self._live.state
    for column in self._live.evaluated:
      rows = column.num_buckets if _is_categorical(column) else _elements(column)
      state.variable(column, "weights", (rows, self.units), "zeros")
    self.bias_weights = self.add_float("bias_weights", (self.units,), "zeros")
    super().build(input_shape)

  def call(self, inputs):
    features = self._cache(inputs)
    sums = [self._weighted_sum(column, features) for column in self._live.evaluated]
    return tf.nn.bias_add(tf.add_n(sums), tensor_of(self.bias_weights))

  def _weighted_sum(self, column: Any, features: Any) -> tf.Tensor:
    state = self._live.state
    weights = state.get_variable(column, "weights")
    if not _is_categorical(column):
      value = column.get_dense_tensor(features, state)
      return tf.matmul(tf.reshape(value, [tf.shape(value)[0], weights.shape[0]]), weights)
    ids, id_weights = column.get_sparse_tensors(features, state)
    if id_weights is not None:
      id_weights = _flat(id_weights)
    return tf.nn.safe_embedding_lookup_sparse(
      weights, _flat(ids), id_weights, combiner=self.sparse_combiner
    )

  def compute_output_spec(self, inputs):
    return spec((tf.nest.flatten(inputs)[0].shape[0], self.units))

  def variable_names(self) -> dict[str, Any]:
    """Returns the weights by their names in the checkpoints of an Estimator."""
    names = {}
    for name in ("embedding_weights", "weights"):
      for column, weight in self._live.state.weights(name).items():
        names[f"linear_model/{scope_name(column.name)}/{name}"] = weight
    return {**names, "linear_model/bias_weights": self.bias_weights}

  def get_config(self):
    own = {"units": self.units, "sparse_combiner": self.sparse_combiner}
    return {**super().get_config(), **own}


@register
class SequenceFeatures(_LiveLayer):
  """The input layer of sequences: features -> float32 [batch, steps, n], and int64 [batch] of lengths."""

  def __init__(self, columns: Any, flavour: str = "v1", **kwargs: Any):
    """Makes the layer.

    Args:
      columns: `sequence_numeric_column`, indicators and embeddings of other sequence columns. All features
        have the same lengths.
      flavour: of the Estimator; see `DenseFeatures`.
      **kwargs: those of a Keras layer.

    Raises:
      ImportError: if this TensorFlow has no feature columns.
      ValueError: for columns that are not of a sequence.
    """
    super().__init__(columns, flavour, **kwargs)
    for column in self.columns:
      if not hasattr(column, "get_sequence_dense_tensor"):
        raise ValueError(f"{self.name}: the column {column.name!r} is not of a sequence.")

  def call(self, inputs):
    features = self._cache(inputs)
    blocks, lengths = [], []
    for column in self._live.evaluated:
      block, length = column.get_sequence_dense_tensor(features, self._live.state)
      shape = tf.shape(block)
      blocks.append(tf.reshape(block, [shape[0], shape[1], _elements(column)]))
      lengths.append(length)
    message = f"{self.name}: the features have not the same lengths"
    checks = [tf.debugging.assert_equal(lengths[0], other, message) for other in lengths[1:]]
    with tf.control_dependencies([check for check in checks if check is not None]):
      return tf.concat(blocks, axis=2), tf.identity(lengths[0])

  def compute_output_spec(self, inputs):
    batch = tf.nest.flatten(inputs)[0].shape[0]
    width = sum(_elements(column) for column in self.columns)
    return spec((batch, None, width)), spec((batch,), "int64")


def with_initial_values(column: Any) -> Any:
  """Returns a column whose table begins with the values of its checkpoint, if it has one."""
  if getattr(column, "ckpt_to_load_from", None) is None:
    return column
  initializer = from_checkpoint(column.ckpt_to_load_from, column.tensor_name_in_ckpt, column.name)
  return column._replace(initializer=initializer, ckpt_to_load_from=None, tensor_name_in_ckpt=None)


def _is_categorical(column: Any) -> bool:
  return hasattr(column, "get_sparse_tensors")


def _elements(column: Any) -> int:
  return int(column.variable_shape.num_elements())


def _flat(ids: tf.SparseTensor) -> tf.SparseTensor:
  """Returns ids [batch, ...] as [batch, k]."""
  return tf.sparse.reshape(ids, [tf.shape(ids)[0], -1])
