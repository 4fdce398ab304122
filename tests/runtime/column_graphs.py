"""What the real feature columns give, in a graph of TF1 in this process."""

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
fc = tf.feature_column


class Columns:
  """Input layers and linear models in a graph, for batches with features of the same kinds."""

  def __init__(self, features, dense, linear=(), combiners=()):
    """Builds the graph.

    Args:
      features: name -> a dense array, or a tf.SparseTensor; only kinds and types of it matter.
      dense: key -> a list of dense columns, for an input layer.
      linear: key -> a list of columns, for a linear model of two units.
      combiners: key -> how the linear model combines several values; "sum" by default.
    """
    self._graph = tf.Graph()
    with self._graph.as_default():
      self._feeds = {name: _placeholder(value) for name, value in features.items()}
      self._outputs = {}
      for key, made in dense.items():
        with v1.variable_scope(key):
          self._outputs[key] = v1.feature_column.input_layer(self._feeds, made)
      for key, made in dict(linear).items():
        combiner = dict(combiners).get(key, "sum")
        with v1.variable_scope(key):
          self._outputs[key] = v1.feature_column.linear_model(
            self._feeds, made, units=2, sparse_combiner=combiner
          )

  def run(self, features):
    """Returns key -> (output, variable name from the scope `<key>` on -> value)."""
    feeds = {self._feeds[name]: _fed(value) for name, value in features.items()}
    with self._graph.as_default():
      return _run(self._outputs, feeds)


def sequence_outcomes(features, columns):
  """Runs columns, each by itself: key -> (output, variables), or ((output, lengths), variables).

  Sequence columns and shared ones, which an input layer of v1 does not take.
  """
  with tf.Graph().as_default():
    feeds = {name: _placeholder(value) for name, value in features.items()}
    outputs = {}
    for key, column in columns.items():
      with v1.variable_scope(key):
        outputs[key] = _sequence(feeds, column)
    return _run(outputs, {feeds[name]: _fed(value) for name, value in features.items()})


def _sequence(feeds, column):
  """Returns the dense tensor and the lengths of a sequence column."""
  api = tf.__internal__.feature_column

  class State:
    def get_variable(self, column, name):
      shape = (column.categorical_column.num_buckets, column.dimension)
      return v1.get_variable(name, shape, use_resource=True)

    def has_resource(self, column, name):
      return False

    def add_resource(self, column, name, resource):
      pass

  cache = api.FeatureTransformationCache(feeds)
  if not hasattr(column, "get_sequence_dense_tensor"):
    return column.get_dense_tensor(cache, State())
  try:
    return tuple(column.get_sequence_dense_tensor(cache, State()))
  except ValueError:  # not of a sequence
    return column.get_dense_tensor(cache, State())


def _run(outputs, feeds):
  # Optimizing the graph takes longer than running it.
  config = v1.ConfigProto()
  config.graph_options.rewrite_options.disable_meta_optimizer = True
  with v1.Session(config=config) as session:
    variables = v1.global_variables()
    initializers = [v.initializer for v in variables]
    initial = {v.initializer.inputs[1]: deterministic(v.shape.as_list()) for v in variables}
    session.run([v1.tables_initializer(), *initializers], initial)
    results, weights = session.run((outputs, {v.op.name: v for v in variables}), feeds)
  return {
    key: (
      result,
      {n[len(key) + 1 :]: w for n, w in weights.items() if n.startswith(f"{key}/")},
    )
    for key, result in results.items()
  }


def _placeholder(value):
  if isinstance(value, tf.SparseTensor):
    return v1.sparse_placeholder(value.dtype, shape=[None] * value.shape.rank)
  return v1.placeholder(
    tf.as_dtype(value.dtype) if value.dtype.kind != "U" else tf.string, [None, *value.shape[1:]]
  )


def _fed(value):
  if isinstance(value, tf.SparseTensor):
    parts = value.indices, value.values, value.dense_shape
    return v1.SparseTensorValue(*(part.numpy() for part in parts))
  return value


def deterministic(shape):
  """Returns the values of a variable of a shape, float32."""
  return np.random.RandomState(sum(shape)).normal(size=shape).astype(np.float32)
