"""The migrated networks of the canned Estimators in fixtures/canned/canned_estimators.py."""

import sys

import tensorflow as tf
from interpreter import HERE

from migrator import runtime

sys.path.insert(0, str(HERE.parents[1] / "fixtures" / "canned"))
import canned_estimators

columns = runtime.columns
layers = tf.keras.layers
WORDS = canned_estimators.WORDS


class _Columns:
  """The inputs and ids of a model, made once."""

  def __init__(self, case):
    self.inputs = {
      "x": tf.keras.Input([2], name="x"),
      "age": tf.keras.Input([1], name="age"),
      "a": tf.keras.Input([None], dtype="string", name="a"),
      "b": tf.keras.Input([None], dtype="string", name="b"),
    }
    if canned_estimators.has_linear(case):
      key = case.get("key", canned_estimators.KEY)
      self.inputs[key] = tf.keras.Input([None], dtype="string", name=key.replace(" ", "_"))
    if case.get("weighted"):
      self.inputs["c"] = tf.keras.Input([None], dtype="string", name="c")
      self.inputs["weight"] = tf.keras.Input([None], name="weight")
    self.a = columns.VocabularyIds(WORDS, num_oov_buckets=1)(self.inputs["a"])
    self.b = columns.VocabularyIds(WORDS, num_oov_buckets=1)(self.inputs["b"])
    self.buckets = columns.BucketIds([18.0, 40.0])(self.inputs["age"])


def deep(case, made, units):
  """Returns the logits of the deep part."""
  blocks = [made.inputs["x"], columns.Indicator(3)(made.buckets)]
  one = columns.Indicator(4)(made.b)
  if case.get("shared"):
    name = "a_b_shared_embedding"
    # Within the scope of the columns in v1; without any in v2, which does not train it.
    scoped = f"/{name}" if case["flavour"] == "v2" else f"input_from_feature_columns/{name}"
    table = columns.Embedding(
      4, 2, trainable=case["flavour"] == "v1", name=name, variable_name=scoped
    )
    # By name: a_shared_embedding, age_bucketized, b_indicator, b_shared_embedding, x.
    blocks = [table(made.a), blocks[1], one, table(made.b), blocks[0]]
  else:
    blocks = [columns.Embedding(4, 2, name="a_embedding")(made.a), blocks[1], one, blocks[0]]
  net = layers.Concatenate()(blocks)
  for i, size in enumerate(case["hidden"]):
    net = layers.Dense(size, activation="relu", name=f"hiddenlayer_{i}")(net)
    if case.get("batch_norm"):
      net = layers.BatchNormalization(momentum=0.999, epsilon=0.001, name=f"batchnorm_{i}")(net)
  return layers.Dense(units, name="logits")(net)


def wide(case, made, units):
  """Returns the logits of the linear part."""
  key = case.get("key", canned_estimators.KEY)
  parts = {"x": made.inputs["x"], key: columns.HashIds(20)(made.inputs[key])}
  sizes = {key: 20}
  if case.get("narrow"):
    return columns.LinearModel(units, num_buckets=sizes, name="linear_model")(parts)
  parts["age_bucketized"] = made.buckets
  parts["a_X_age_bucketized"] = columns.CrossIds(30)([made.buckets, made.a])
  sizes.update({"age_bucketized": 3, "a_X_age_bucketized": 30})
  if case.get("weighted"):
    ids = columns.VocabularyIds(WORDS, num_oov_buckets=1)(made.inputs["c"])
    parts["c_weighted_by_weight"] = columns.WeightedIds()([ids, made.inputs["weight"]])
    sizes["c_weighted_by_weight"] = 4
  else:
    parts["a"] = made.a
    sizes["a"] = 4
  return columns.LinearModel(units, num_buckets=sizes, name="linear_model")(parts)


def make_optimizer(name, case, exact):
  """Returns the optimizer of a name in the cases; `exact` is TensorFlow's own kernels."""
  v2 = case["flavour"] == "v2"
  keras, own = tf.keras.optimizers, runtime.optimizers
  # What a v2 Estimator keeps in the checkpoint is another rate here: it must come from there.
  rates = {
    "adam": 0.01,
    "adam2": 0.02,
    "adagrad": 0.05,
    "sgd": 0.01,
    "sgd2": 0.02,
    "momentum": 0.01,
  }
  if v2:
    rates = dict.fromkeys(rates, 0.5)
  else:
    rates.update(sgd=0.001, momentum=0.001)
  default = {"dnn": 0.001 if "Combined" in case["kind"] else (0.001 if v2 else 0.05)}
  if exact:
    return {
      "adam": lambda: own.Adam(rates["adam"], epsilon=1e-7 if v2 else 1e-8),
      "adam2": lambda: own.Adam(rates["adam2"], 0.8, epsilon=1e-7),
      "adagrad": lambda: own.Adagrad(rates["adagrad"], epsilon=1e-7 if v2 else None),
      "dnn default": lambda: own.Adagrad(default["dnn"], epsilon=1e-7 if v2 else None),
      "sgd": lambda: own.GradientDescent(rates["sgd"]),
      "sgd2": lambda: own.GradientDescent(rates["sgd2"]),
      # The velocity of a v2 Estimator is that of Keras, with the learning rate inside.
      "momentum": lambda: (keras.SGD if v2 else own.Momentum)(rates["momentum"], 0.9),
      "rmsprop": lambda: own.RMSProp(0.01, momentum=0.5),
      "ftrl": lambda: own.Ftrl(0.05),
      "linear default": lambda: own.Ftrl(0.005 if "Combined" in case["kind"] else 0.2),
      "baseline default": lambda: own.Ftrl(0.3),
    }[name]()
  return {
    "adam": lambda: keras.Adam(rates["adam"], epsilon=1e-7 if v2 else 1e-8),
    "adam2": lambda: keras.Adam(rates["adam2"], beta_1=0.8),
    "adagrad": lambda: keras.Adagrad(rates["adagrad"], epsilon=1e-7 if v2 else 1e-20),
    "dnn default": lambda: keras.Adagrad(default["dnn"], epsilon=1e-7 if v2 else 1e-20),
    "sgd": lambda: keras.SGD(rates["sgd"]),
    "sgd2": lambda: keras.SGD(rates["sgd2"]),
    "momentum": lambda: keras.SGD(rates["momentum"], momentum=0.9),
    "linear default": lambda: own.Ftrl(0.005 if "Combined" in case["kind"] else 0.2),
    "baseline default": lambda: keras.Ftrl(0.3),
  }[name]()


def _loss(case):
  reduction = "sum" if case["flavour"] == "v1" else "sum_over_batch_size"
  losses = tf.keras.losses
  if "Regressor" in case["kind"]:
    return losses.MeanSquaredError(reduction=reduction)
  if case.get("classes", 2) > 2:
    return losses.SparseCategoricalCrossentropy(from_logits=True, reduction=reduction)
  return losses.BinaryCrossentropy(from_logits=True, reduction=reduction)


def make_model(case, exact=True):
  """Returns the compiled model, and the scope of its variables."""
  kind = case["kind"]
  units = case.get("classes", 1)
  made = _Columns(case)
  name = case.get("optimizer")
  linear_name = case.get("linear_optimizer") if "Combined" in kind else name
  parts = []
  if canned_estimators.has_dnn(case):
    model = tf.keras.Model(made.inputs, deep(case, made, units), name="dnn")
    parts.append((make_optimizer(name or "dnn default", case, exact), model))
  if canned_estimators.has_linear(case):
    model = tf.keras.Model(made.inputs, wide(case, made, units), name="linear")
    parts.append((make_optimizer(linear_name or "linear default", case, exact), model))
  if "Baseline" in kind:
    model = tf.keras.Model(
      made.inputs, columns.Bias(units, name="bias")(made.inputs), name="baseline"
    )
    parts.append((make_optimizer("baseline default", case, exact), model))
  optimizer, scope = parts[0][0], parts[0][1].name
  if "Combined" in kind:
    scope = ""
    nets = [part(made.inputs) for _, part in parts]
    logits = layers.Add()(nets) if len(nets) > 1 else nets[0]
    model = tf.keras.Model(made.inputs, logits, name="dnn_linear_combined")
    optimizer = runtime.optimizers.Combined(parts) if len(parts) > 1 else optimizer
  model.compile(optimizer=optimizer, loss=_loss(case))
  return model, scope
