"""What `migrator eject` prints makes the same model, without feature columns."""

import pathlib
import re

import column_cases as cases
import column_graphs as graphs
import numpy as np
import pytest
import tensorflow as tf
from click.testing import CliRunner

from migrator import runtime
from migrator.cli import main
from migrator.eject.models import eject
from migrator.runtime import columns
from migrator.runtime.weight_names import weight_names

fc = tf.feature_column
layers = tf.keras.layers
WORDS = cases.WORDS


def scale(x):
  return x / 3


def printed(model, **features):
  """Asserts that the printed model is the same on features; returns the code."""
  ejected = eject(model, "jobs:create")
  assert not ejected.problems
  space: dict = {}
  exec(ejected.text, space)
  other = space["create_model"]()
  old, new = weight_names(model), weight_names(other)
  assert {n: tuple(w.shape) for n, w in old.items()} == {n: tuple(w.shape) for n, w in new.items()}
  assert trained(model, old) == trained(other, new)
  for name, weight in old.items():
    value = graphs.deterministic(list(weight.shape))
    weight.assign(np.abs(value) if "variance" in name else value)
    new[name].assign(weight)
  data = tf.data.Dataset.from_tensors(features)
  inputs = next(iter(data.map(runtime.only_inputs(model))))
  expected = model(inputs).numpy()
  assert len(np.unique(expected)) > 1
  np.testing.assert_array_equal(other(inputs).numpy(), expected)
  assert "tf.feature_column" not in ejected.text
  return ejected.text


def trained(model, names):
  trainable = {id(weight) for weight in model.trainable_weights}
  return {name for name, weight in names.items() if id(weight) in trainable}


def grouped(made):
  """Returns lists of columns in which no name is twice."""
  groups = []
  for column in made:
    group = next((g for g in groups if column.name not in [c.name for c in g]), None)
    if group is None:
      groups.append([column])
    else:
      group.append(column)
  return groups


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_every_kind_of_column_is_printed(tmp_path, form):
  known = {
    name: c for name, (c, _, _) in cases.categorical(cases.write_vocabularies(tmp_path)).items()
  }
  # Whether a feature is sparse matters to the keys of crosses alone.
  tried = [n for n in known if form == "dense" or n.startswith(("cross", "weighted"))]
  made = [fc.indicator_column(known[name]) for name in tried]
  short = {"combiner": "sqrtn", "max_norm": 0.7}
  made += [
    fc.embedding_column(known[n], 4, **short) for n in ("strings_oov", "weighted", "cross_raw")
  ]
  pixels = fc.numeric_column("y", shape=(1, 2), normalizer_fn=scale)
  number = fc.numeric_column("x", shape=(2,))
  made += [pixels, fc.bucketized_column(number, [0.5])]
  wide = ("weighted", "hash", "integers_oov", "cross_key", "identity")
  wide = [number, pixels, fc.bucketized_column(number, [-1.0, 2.0]), *(known[n] for n in wide)]
  inputs = columns.inputs([*made, *wide], sparse=form == "sparse")
  blocks = [columns.DenseFeatures(group)(inputs) for group in grouped(made)]
  net = layers.Dense(5, activation="tanh", name="hiddenlayer_0")(layers.Concatenate()(blocks))
  dnn = tf.keras.Model(inputs, layers.Dense(2, name="logits")(net), name="dnn")
  linear = columns.LinearFeatures(wide, 2, "mean", name="linear_model")(inputs)
  linear = tf.keras.Model(inputs, linear, name="linear")
  logits = layers.Add()([dnn(inputs), linear(inputs)])
  model = tf.keras.Model(inputs, logits, name="dnn_linear_combined")
  features = cases.features(form, "mixed")
  for name in "xy":
    features[name] = np.nan_to_num(features[name])
  code = printed(model, **features)
  assert "from test_runtime_eject import scale\n" in code


def test_a_deep_network_with_shared_tables_is_printed(tmp_path):
  value = np.arange(12, dtype=np.float32).reshape(3, 4)
  path = str(tmp_path / "model.ckpt")
  tf.raw_ops.SaveV2(prefix=path, tensor_names=["a"], shape_and_slices=[""], tensors=[value])
  words = [fc.categorical_column_with_vocabulary_list(name, WORDS) for name in "st"]
  with tf.Graph().as_default():
    made = fc.shared_embeddings(words, 4, combiner="sum")
  numbers = fc.categorical_column_with_identity("i", 5)
  origin = {"ckpt_to_load_from": path, "tensor_name_in_ckpt": "a"}
  kept = fc.embedding_column(words[0], 4, trainable=False, **origin)
  # Whole numbers, as ids and as a number.
  made += [kept, fc.indicator_column(numbers), fc.numeric_column("i", shape=(2,))]
  inputs = columns.inputs(made)
  net = columns.DenseFeatures(made, flavour="v2", name="input_layer")(inputs)
  for i, size in enumerate([8, 4]):
    net = layers.Dense(size, activation="relu", name=f"hiddenlayer_{i}")(net)
    net = layers.Dropout(0.3)(net)
    net = layers.BatchNormalization(momentum=0.999, name=f"batchnorm_{i}")(net)
  model = tf.keras.Model(inputs, layers.Dense(1, name="logits")(net), name="dnn")
  model.compile("sgd", "mse")
  features = cases.features("dense", "mixed")
  features["i"] = np.maximum(features["i"], 0)
  code = printed(model, **features)
  assert "# model.compile(...) as jobs:create does it." in code
  assert 'net = tf.keras.layers.Dense(8, activation="relu", name="hiddenlayer_0")(net)' in code
  assert "net = tf.keras.layers.Dropout(0.3)(net)" in code
  assert 'variable_name="/s_t_shared_embedding"' in code


def test_sequence_columns_are_printed():
  words = [fc.sequence_categorical_column_with_vocabulary_list(name, WORDS) for name in "st"]
  with tf.Graph().as_default():
    made = fc.shared_embeddings(words, 4)
  made += [fc.embedding_column(words[0], 2), fc.indicator_column(words[1])]
  made.append(fc.sequence_numeric_column("w", shape=(1,), default_value=9.0, normalizer_fn=None))
  inputs = columns.inputs(made)
  net, _ = columns.SequenceFeatures(made)(inputs)
  net = layers.GlobalMaxPooling1D()(net)
  model = tf.keras.Model(inputs, layers.Dense(1, name="logits")(net), name="rnn")
  value = np.array([["a", "q", "c"], ["b", "a", ""]])
  weights = tf.sparse.from_dense([[1.0, 2.0, 3.0], [4.0, 5.0, 0.0]])
  printed(model, s=value, t=value[:, ::1], w=weights)


def test_functions_without_a_name_and_layers_of_others_are_left_to_a_person():
  made = [fc.numeric_column("x", normalizer_fn=lambda x: x + 1)]
  inputs = columns.inputs(made)
  net = columns.DenseFeatures(made)(inputs)
  ejected = eject(tf.keras.Model(inputs, layers.Dense(1)(net)), "jobs:create")
  (problem,) = ejected.problems
  assert problem.startswith("todo_function is the normalizer_fn of 'x', a lambda of line ")
  assert f"# TODO: {problem}" in ejected.text
  with pytest.raises(NameError, match="todo_function"):
    exec(ejected.text + "create_model()\n", {})

  class Own(layers.Layer):
    def call(self, x):
      return x

  made = [fc.numeric_column("x")]
  net = columns.DenseFeatures(made)(inputs)
  ejected = eject(tf.keras.Model(inputs, layers.Dense(1)(Own(name="own")(net))), "jobs:create")
  (problem,) = ejected.problems
  assert problem.startswith("The layer own is a Own, none of Keras")
  space: dict = {}
  exec(ejected.text, space)
  inputs, net = space["create_features"]()
  assert tuple(net.shape) == (None, 1)


PROGRAM = """
import tensorflow as tf
from migrator import runtime
fc = tf.feature_column

def create(fn=None):
  made = [fc.numeric_column("age", normalizer_fn=fn)]
  inputs = runtime.columns.inputs(made)
  logits = runtime.columns.LinearFeatures(made, 1, name="linear_model")(inputs)
  return tf.keras.Model(inputs, logits, name="linear")

def with_lambda():
  return create(lambda x: x / 2)

def plain():
  return tf.keras.Sequential([tf.keras.Input([1]), tf.keras.layers.Dense(1)])

def fails():
  raise RuntimeError("no data")
"""
PRINTED = """\
import tensorflow as tf
from migrator import runtime


def create_model():
    inputs = {"age": tf.keras.Input([1], name="age")}
    logits = runtime.columns.LinearModel(1, name="linear_model")({"age": inputs["age"]})
    model = tf.keras.Model(inputs, logits, name="linear")
    return model
"""


def test_the_command_prints_code_and_says_what_is_wrong(tmp_path, monkeypatch):
  (tmp_path / "ejected_job.py").write_text(PROGRAM)
  monkeypatch.chdir(tmp_path)
  monkeypatch.syspath_prepend(str(tmp_path))

  def run(factory):
    result = CliRunner().invoke(main, ["eject", factory])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output

  assert run("ejected_job:create") == (0, PRINTED)
  code, output = run("ejected_job:with_lambda")
  assert code == 1
  assert "# TODO: todo_function is the normalizer_fn of 'age', a lambda" in output
  code, output = run("ejected_job:plain")
  assert code == 2
  assert "ejected_job:plain: the model sequential has no layers over feature columns" in output
  code, output = run("ejected_job:fails")
  assert code == 2
  assert "ejected_job:fails: the factory failed: ejected_job.py:" in output
  assert "RuntimeError: no data" in output
  code, output = run("ejected_job:nothing")
  assert (code, "has no attribute nothing" in output) == (2, True)


def test_the_documentation_shows_what_is_printed(tmp_path, monkeypatch):
  page = (pathlib.Path(__file__).parents[2] / "docs" / "columns.md").read_text(encoding="utf-8")
  program = re.search(r"```python\n(import json\n.*?)```", page, re.S)[1]
  config = re.search(r"`columns.json`, `(.*?)`:", page)[1]
  shown = re.search(r"\$ migrator eject income\.models:create\n(.*?)```", page, re.S)[1]
  (tmp_path / "income").mkdir()
  (tmp_path / "income" / "models.py").write_text(program)
  (tmp_path / "columns.json").write_text(config)
  monkeypatch.chdir(tmp_path)
  monkeypatch.syspath_prepend(str(tmp_path))
  result = CliRunner().invoke(main, ["eject", "income.models:create"])
  assert (result.exit_code, result.output) == (0, shown)
