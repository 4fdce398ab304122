"""Exports of v1 and v2 Estimators, and what their signatures answer.

  python export_sessions.py ANSWERS PATH    writes what the export at PATH answers here

The migrated side uses the same receivers, with the functions of the runtime in place of tf.estimator's. What the
real exports answered is recorded by fixtures/exports/make_exports.py.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
NAMES = ("x", "hours-per.week")
SPEC = {
  "x": tf.io.FixedLenFeature([3], tf.float32),
  "hours-per.week": tf.io.FixedLenFeature([1], tf.float32, default_value=[7.0]),
}
WORDS = Path(__file__).resolve().parents[2] / "fixtures" / "exports" / "days.txt"
# Flavour, kind of head, and how many logits. The classes are the heads' names.
CASES = {
  "v1_binary": ("v1", "binary", 1),
  "v2_binary": ("v2", "binary", 1),
  "v2_classes": ("v2", "classes", 3),
  "v1_regression": ("v1", "regression", 1),
  "v2_regression": ("v2", "regression", 2),
  "v2_labels": ("v2", "MultiLabelHead", 3),
  "v2_logistic": ("v2", "LogisticRegressionHead", 1),
  "v2_poisson": ("v2", "PoissonRegressionHead", 1),
  "v2_heads": ("v2", "MultiHead", 3),
  "v1_words": ("v1", "binary", 1),
  "v2_sparse_words": ("v2", "classes", 3),
  "v1_baseline": ("v1", "baseline", 3),
}
RECEIVERS = ("parsing", "raw", "own", "alternatives", "table", "sparse", "unused")


def spec_of(case):
  """Returns how the examples of a case are parsed."""
  if case == "v1_words":
    return {**SPEC, "day": tf.io.FixedLenFeature([1], tf.string)}
  if case == "v2_sparse_words":
    return {**SPEC, "day": tf.io.VarLenFeature(tf.string)}
  return SPEC


def heads_of(case, heads):
  """Returns the head of a case whose head has a class.

  Args:
    case: its name.
    heads: the module `tf.estimator`, or the runtime's heads.
  """
  _, kind, dimension = CASES[case]
  if kind == "MultiHead":
    return heads.MultiHead(
      [heads.RegressionHead(2, name="size"), heads.BinaryClassHead(name="good")]
    )
  if kind == "MultiLabelHead":
    return heads.MultiLabelHead(dimension)
  return getattr(heads, kind)()


def receivers_of(case):
  """Returns the receivers with which a case is exported."""
  return RECEIVERS if case == "v1_binary" else RECEIVERS[:1]


def receiver_fn(name, export, spec=None):
  """Returns a `serving_input_receiver_fn`.

  Args:
    name: one of RECEIVERS.
    export: the module `tf.estimator.export`, or the runtime's.
    spec: how "parsing" parses; SPEC by default.
  """

  def parsed(serialized):
    return tf.io.parse_example(serialized, SPEC)

  def own():
    # As real programs do: a placeholder, and operations on what is parsed.
    serialized = v1.placeholder(tf.string, [None], name="requests")
    features = parsed(serialized)
    features["x"] = v1.div(features["x"], 2.0) + tf.ones_like(features["x"])
    return export.ServingInputReceiver(features, serialized)

  def alternatives():
    serialized = v1.placeholder(tf.string, [None])
    features = parsed(serialized)
    return export.ServingInputReceiver(
      dict(features), {"examples": serialized}, {"raw": dict(features), "half": features["x"]}
    )

  def table():
    keys = v1.placeholder(tf.string, [None, 1], name="day")
    hours = tf.lookup.StaticHashTable(
      tf.lookup.KeyValueTensorInitializer(["sat", "sun"], [0.5, 0.25]), 8.0
    )
    x = v1.placeholder_with_default(np.ones([1, 3], np.float32), [None, 3])
    features = {"x": x, "hours-per.week": hours.lookup(keys)}
    return export.ServingInputReceiver(features, {"day": keys, "x": x})

  def sparse():
    hours = v1.sparse_placeholder(tf.float32, [None, 1], name="hours")
    x = v1.placeholder(tf.float32, [None, 3])
    features = {"x": x, "hours-per.week": tf.sparse.to_dense(hours, 7.0)}
    return export.ServingInputReceiver(features, {"x": x, "hours": hours})

  def unused():
    tensors = {
      "x": v1.placeholder(tf.float64, [None, 3]),
      "hours-per.week": v1.placeholder(tf.int64, [None]),
      "id": v1.placeholder(tf.string, [None]),
    }
    features = {
      "x": tf.cast(tensors["x"], tf.float32),
      "hours-per.week": tf.expand_dims(tf.cast(tensors["hours-per.week"], tf.float32), -1),
    }
    return export.ServingInputReceiver({**features, "id": tensors["id"]}, tensors)

  if name == "parsing":
    return export.build_parsing_serving_input_receiver_fn(spec or SPEC)
  if name == "raw":
    like = {"x": tf.zeros([1, 3]), "hours-per.week": tf.zeros([1, 1])}
    return export.build_raw_serving_input_receiver_fn(like)
  return {
    "own": own,
    "alternatives": alternatives,
    "table": table,
    "sparse": sparse,
    "unused": unused,
  }[name]


def make_data():
  """Returns features and labels: int32 classes, or float32 numbers."""
  random = np.random.RandomState(3)
  x = random.rand(24, 3).astype(np.float32)
  hours = (random.rand(24, 1) * 10).astype(np.float32)
  return {"x": x, "hours-per.week": hours}


def requests():
  """Returns the data of two rows, by what a receiver calls them."""
  data = {name: value[:2] for name, value in make_data().items()}
  examples = []
  for i in range(2):
    example = tf.train.Example()
    example.features.feature["x"].float_list.value.extend(data["x"][i])
    if i:
      hours = example.features.feature["hours-per.week"].float_list
      hours.value.extend(data["hours-per.week"][i])
    example.features.feature["day"].bytes_list.value.append([b"sun", b"mon"][i])
    examples.append(example.SerializeToString())
  return {
    "string": np.array(examples, dtype=object),
    "day": np.array([["sun"], ["mon"]], dtype=object),
    "id": np.array(["a", "b"], dtype=object),
    **data,
  }


def described(directory):
  """Returns the signatures in a file: name -> [method, inputs, outputs], each with type, shape, encoding."""
  saved = _read(directory)

  def infos(tensors):
    return {
      name: [info.dtype, [d.size for d in info.tensor_shape.dim], info.WhichOneof("encoding")]
      for name, info in tensors.items()
    }

  return {
    name: [signature.method_name, infos(signature.inputs), infos(signature.outputs)]
    for name, signature in saved.meta_graphs[0].signature_def.items()
    if not name.startswith("__")
  }


def _read(directory):
  from google.protobuf import text_format
  from tensorflow.core.protobuf import saved_model_pb2

  saved = saved_model_pb2.SavedModel()
  path = os.path.join(directory, "saved_model.pb")
  if os.path.exists(path):
    with open(path, "rb") as file:
      saved.ParseFromString(file.read())
  else:
    with open(path + "txt", encoding="utf-8") as file:
      text_format.Parse(file.read(), saved)
  return saved


def answers(directory):
  """Returns what each signature answers in a session, as a server of models asks it."""
  data, result = requests(), {}
  # Optimizing the graphs takes longer than running them.
  config = v1.ConfigProto()
  config.graph_options.rewrite_options.disable_meta_optimizer = True
  with tf.Graph().as_default(), v1.Session(config=config) as session:
    graph = v1.saved_model.load(session, ["serve"], directory)
    for name, signature in graph.signature_def.items():
      if name.startswith("__"):
        continue
      fed = {}
      for key, info in signature.inputs.items():
        _feed(fed, key, info, data)
      fetched = {key: info.name for key, info in signature.outputs.items()}
      values = session.run(fetched, fed)
      result[name] = {key: plain(value) for key, value in values.items()}
  return result


def assets(directory):
  """Returns the contents of the files that an export takes along."""
  directory = Path(directory) / "assets"
  return {f.name: f.read_text() for f in directory.iterdir()} if directory.is_dir() else {}


def loaded_answers(directory):
  """Returns what each signature answers when it is called by the names of its inputs in TF2."""
  data, result = requests(), {}
  loaded = tf.saved_model.load(directory)
  for name, function in loaded.signatures.items():
    keywords = {}
    for key, spec in function.structured_input_signature[1].items():
      value = data.get(key, data["string"])
      keywords[key] = tf.reshape(tf.constant(value, spec.dtype), [-1, *spec.shape[1:]])
    result[name] = {key: plain(value.numpy()) for key, value in function(**keywords).items()}
  return result


def _feed(fed, key, info, data):
  """Adds the values of an input to what is fed."""
  if info.WhichOneof("encoding") == "coo_sparse":
    fed[info.coo_sparse.indices_tensor_name] = np.array([[1, 0]], np.int64)
    fed[info.coo_sparse.values_tensor_name] = np.array([3.0], np.float32)
    fed[info.coo_sparse.dense_shape_tensor_name] = np.array([2, 1], np.int64)
    return
  dtype = tf.as_dtype(info.dtype).as_numpy_dtype
  if key in data:
    value = data[key]
  else:
    value = data["string"] if info.dtype == tf.string.as_datatype_enum else data["x"]
  shape = [d.size for d in info.tensor_shape.dim]
  fed[info.name] = value.astype(dtype).reshape(shape)


def plain(value):
  """Returns an array as lists of numbers or strings, float32 in as few digits as it takes."""

  def number(x):
    if isinstance(x, bytes):
      return x.decode()
    return float(str(x)) if isinstance(x, np.floating) else x.item()

  return [plain(v) for v in value] if np.ndim(value) else number(value)


def load(path, export):
  """Writes what an export answers."""
  with open(path, "w", encoding="utf-8") as file:
    json.dump([answers(export), loaded_answers(export)], file)


if __name__ == "__main__":
  load(*sys.argv[1:])
