"""The layers that take the place of feature columns, and those over live columns, give what the real columns give, to the last bit."""

import column_cases as cases
import column_graphs as graphs
import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime import columns

fc = tf.feature_column
BATCHES = [("dense", "mixed"), ("dense", "nothing"), ("sparse", "mixed"), ("sparse", "nothing")]
EMBEDDINGS = {
  "mean": {},
  "sum": {"combiner": "sum"},
  "sqrtn": {"combiner": "sqrtn"},
  "short": {"max_norm": 0.7},
  "short_sum": {"combiner": "sum", "max_norm": 0.7},
}
# Several values for an example, in and out of the vocabulary, with and without weights.
COMBINED = ("strings_oov", "weighted", "cross_raw")
# Of the others it is enough that the ids are the same, as their indicators tell.
EMBEDDED = ("integers", "identity", "weighted_hash", "cross_key")


def kinds_of(name):
  """Returns the kinds of embeddings of a column that are tried."""
  if name in COMBINED:
    return list(EMBEDDINGS)
  return ["mean"] if name in EMBEDDED else []


class Real:
  """What the columns give for each batch."""

  def __init__(self, paths):
    self.layers = cases.categorical(paths)
    self._graphs = {}
    self._batches = {}

  def outcome(self, batch, key):
    """Returns the output of the column, and its variables by name."""
    if batch not in self._batches:
      features = cases.features(*batch)
      if batch[0] not in self._graphs:
        self._graphs[batch[0]] = self._graph(features)
      self._batches[batch] = self._graphs[batch[0]].run(features)
    return self._batches[batch][key]

  def _graph(self, features):
    dense, linear, combiners = {}, {}, {}
    for name, (column, _, _) in self.layers.items():
      dense[f"indicator-{name}"] = [fc.indicator_column(column)]
      for kind in kinds_of(name):
        made = fc.embedding_column(column, 4, **EMBEDDINGS[kind])
        dense[f"{kind}-{name}"] = [made]
      for combiner in ("sum", "mean", "sqrtn") if name in COMBINED else ():
        linear[f"linear-{combiner}-{name}"] = [column]
        combiners[f"linear-{combiner}-{name}"] = combiner
    buckets = fc.bucketized_column(fc.numeric_column("x", shape=(2,)), cases.BOUNDARIES)
    linear["linear-all"] = [
      fc.numeric_column("y", shape=(2,)),
      buckets,
      *(self.layers[n][0] for n in ("cross_key", "weighted", "integers_oov", "identity", "hash")),
    ]
    dense["buckets"] = [fc.embedding_column(buckets, 4)]
    return graphs.Columns(features, dense, linear, combiners)


@pytest.fixture(scope="module")
def real(tmp_path_factory):
  return Real(cases.write_vocabularies(tmp_path_factory.mktemp("vocabularies")))


def fill(layer):
  """Gives the weights of a layer the values that the real variables have."""
  for weight in layer.weights:
    weight.assign(graphs.deterministic(list(weight.shape)))


def assert_same(layer, inputs, expected, scope="", what=""):
  """Asserts equal outputs, and equal variables under equal names."""
  if not layer.built:
    layer(inputs)
    fill(layer)
  output, variables = expected
  np.testing.assert_array_equal(layer(inputs).numpy(), output, what)
  names = layer.variable_names() if layer.weights else {}
  assert {n: tuple(w.shape) for n, w in names.items()} == {
    scope + name: value.shape for name, value in variables.items()
  }


def test_the_batches_hold_every_kind_of_example():
  values = cases.features("dense", "mixed")["s"]
  counts = (values != "").sum(axis=1)
  assert {0, 1, 2, 3} <= set(counts)
  assert {"z", "yy", *cases.WORDS} < set(values.ravel())
  sparse = cases.features("sparse", "mixed")
  assert b"" in sparse["s"].values.numpy()
  assert -1 in sparse["n"].values.numpy()
  assert 0 in sparse["w"].values.numpy()


NAMES = """strings strings_oov strings_default integers integers_oov small_integers file file_size_oov
  file_integers file_records hash hash_integers identity identity_default weighted weighted_hash cross_raw
  cross_raw_integers cross_raw_buckets cross_buckets_raw cross_raw_vocabulary cross_vocabularies cross_key
  cross_nested""".split()


def layers_of(name, column, depth):
  """Returns a column's layers: (key of the outcome, layer over ids, function that makes it of the column)."""
  features = columns.DenseFeatures
  yield (
    f"indicator-{name}",
    columns.Indicator(depth),
    lambda: features([fc.indicator_column(column)]),
  )
  for kind in kinds_of(name):
    arguments = EMBEDDINGS[kind]
    yield (
      f"{kind}-{name}",
      columns.Embedding(depth, 4, name=f"{column.name}_embedding", **arguments),
      lambda arguments=arguments: features([fc.embedding_column(column, 4, **arguments)]),
    )
  for combiner in ("sum", "mean", "sqrtn") if name in COMBINED else ():
    yield (
      f"linear-{combiner}-{name}",
      columns.LinearModel(2, {column.name: depth}, combiner),
      lambda combiner=combiner: columns.LinearFeatures([column], 2, combiner),
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_categorical_column_is_the_same(real, name):
  column, ids_of, depth = real.layers[name]
  layers = list(layers_of(name, column, depth))
  for batch in BATCHES:
    features = cases.features(*batch)
    ids = ids_of(features)
    for key, layer, make_live in layers:
      expected = real.outcome(batch, key)
      scope = "input_from_feature_columns/" if isinstance(layer, columns.Embedding) else ""
      inputs = {column.name: ids} if isinstance(layer, columns.LinearModel) else ids
      assert_same(layer, inputs, expected, scope, f"{key} {batch}")
      if "mixed" in batch:
        assert_same(make_live(), features, expected, scope, f"live {key} {batch}")


def test_the_cases_are_all_tried(real):
  assert sorted(real.layers) == sorted(NAMES)


@pytest.mark.parametrize("batch", BATCHES, ids="-".join)
def test_a_linear_model_of_many_columns_is_the_same(real, batch):
  features = cases.features(*batch)
  inputs, sizes = {"y": features["y"]}, {"x_bucketized": 8}
  inputs["x_bucketized"] = columns.BucketIds(cases.BOUNDARIES)(features["x"])
  for name in ("cross_key", "weighted", "integers_oov", "identity", "hash"):
    column, ids_of, depth = real.layers[name]
    inputs[column.name], sizes[column.name] = ids_of(features), depth
  expected = real.outcome(batch, "linear-all")
  assert_same(columns.LinearModel(2, sizes), inputs, expected)
  buckets = fc.bucketized_column(fc.numeric_column("x", shape=(2,)), cases.BOUNDARIES)
  live = [buckets, fc.numeric_column("y", shape=(2,))]
  live += [real.layers[n][0] for n in ("weighted", "cross_key", "hash", "identity", "integers_oov")]
  assert_same(columns.LinearFeatures(live, 2), features, expected)


@pytest.mark.parametrize("batch", BATCHES[::2], ids="-".join)
def test_an_embedding_of_buckets_is_the_same(real, batch):
  ids = columns.BucketIds(cases.BOUNDARIES)(cases.features(*batch)["x"])
  layer = columns.Embedding(8, 4, name="x_bucketized_embedding")
  assert_same(layer, ids, real.outcome(batch, "buckets"), "input_from_feature_columns/")


def test_a_ragged_feature_is_as_the_sparse_one_with_its_values(real):
  features = cases.features("sparse", "mixed")
  ragged = {
    n: cases.ragged(v) if isinstance(v, tf.SparseTensor) else v for n, v in features.items()
  }
  for name in NAMES:
    _, ids_of, depth = real.layers[name]
    expected = real.outcome(("sparse", "mixed"), f"indicator-{name}")
    assert_same(columns.Indicator(depth), ids_of(ragged), expected, what=name)
