"""What live feature columns ask for while they are evaluated: variables and lookup tables."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.columns.base import scope_name, tensor_of


class State:
  """The state manager of the columns of a layer.

  Tables are those of a column *object*: two vocabularies over one feature have the same name.
  """

  def __init__(self, layer: Any):
    """Makes the state.

    Args:
      layer: gets the variables, as weights, and the tables, so that exports have them.
    """
    self._layer = layer
    self._variables: dict[tuple, Any] = {}
    self._tables: dict[tuple, Any] = {}

  def create_variable(
    self,
    feature_column: Any,
    name: str,
    shape: Any,
    dtype: Any = None,
    trainable: bool = True,
    use_resource: bool = True,
    initializer: Any = None,
  ) -> None:
    """Makes a float32 weight of the layer."""
    self.variable(feature_column, name, shape, initializer, trainable)

  def variable(
    self, column: Any, name: str, shape: Any, initializer: Any, trainable: bool = True
  ) -> Any:
    """Returns the weight of a column with a name; makes it the first time."""
    if (column, name) not in self._variables:
      weight = self._layer.add_float(
        f"{scope_name(getattr(column, 'name', column))}_{name}",
        tuple(int(size) for size in shape),
        _float32(initializer) if callable(initializer) else initializer,
        trainable,
      )
      self._variables[column, name] = weight
      # An attribute of the layer, which Keras saves.
      setattr(self._layer, f"weight_{len(self._variables)}", weight)
    return self._variables[column, name]

  def add_variable(self, feature_column: Any, var: Any) -> None:
    raise ValueError(f"The column {feature_column.name} makes its variables itself.")

  def get_variable(self, feature_column: Any, name: str) -> Any:
    return tensor_of(self._variables[feature_column, name])

  def has_resource(self, feature_column: Any, resource_name: str) -> bool:
    return (feature_column, resource_name) in self._tables

  def get_resource(self, feature_column: Any, resource_name: str) -> Any:
    return self._tables[feature_column, resource_name]

  def add_resource(self, feature_column: Any, resource_name: str, resource: Any) -> None:
    self._tables[feature_column, resource_name] = resource
    setattr(self._layer, f"table_{len(self._tables)}", resource)

  def weights(self, name: str) -> dict[Any, Any]:
    """Returns column -> weight of those with a name."""
    return {column: w for (column, n), w in self._variables.items() if n == name}

  def make_tables(self, columns: list) -> None:
    """Makes the tables of vocabularies, so that a layer has them before its first call."""
    for column in columns:
      if hasattr(column, "vocabulary_list"):
        dtype = tf.int64 if column.dtype.is_integer else tf.string
        with tf.init_scope():
          nothing = tf.SparseTensor(
            tf.zeros([0, 2], tf.int64), tf.zeros([0], dtype), tf.constant([0, 1], tf.int64)
          )
          column.transform_feature(cache({column.key: nothing}), self)


def cache(features: dict) -> Any:
  """Returns what columns take their features from."""
  return tf.__internal__.feature_column.FeatureTransformationCache(features)


def _float32(initializer: Callable) -> Callable:
  """Returns an initializer for the weights of Keras from one that a column has."""

  def create(shape, dtype=None, **_):
    return tf.cast(initializer(shape, dtype=tf.float32), tf.float32)

  return create


def from_checkpoint(path: str, name: str, column: str) -> Callable:
  """Returns an initializer with the values that a checkpoint has.

  Raises:
    ValueError: when it is called, if they have another shape.
  """

  def create(shape, dtype=None, **_):
    with tf.init_scope():
      value = tf.train.load_checkpoint(path).get_tensor(name)
    if tuple(value.shape) != tuple(shape):
      raise ValueError(
        f"{column} has the shape {tuple(shape)}, but {name} in {path} has {value.shape}."
      )
    return tf.cast(value, tf.float32)

  return create
