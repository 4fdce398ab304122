"""Heads in the graph of a model_fn: what they make of the same logits, in each mode.

Runs in Python 3.7 with TensorFlow 1.15, too. A case names a head, its arguments and the labels; `run`
tells everything that a program can see of its specs.
"""

import numpy as np

ROWS = 5
BATCHES = 2
INPUTS = 3
FIELDS = ("scores", "classes", "value", "outputs")
# Of the heads that TensorFlow 1.15 has, and of the classes of `tf.estimator` in TensorFlow 2.
CASES = {}
PUBLIC = {}


def case(name, head, labels, features=(), penalties=False, train_op_fn=False, spread=None, **more):
  """Adds a case.

  Args:
    name: of the case.
    head: function of the offered heads that makes one.
    labels: arrays of all batches, [BATCHES * ROWS, ...]; a dict of them for several heads.
    features: keys of `WEIGHTS` that are features.
    penalties: whether there are regularization losses.
    train_op_fn: whether the training is a function of the loss.
    spread: the shape of an example's logits before the last axis.
    **more: `depth`, if the labels are sparse; `modes`, if not all; `public`, of which heads it is; `updates`, if
      the operations in UPDATE_OPS are given to the head.
  """
  (PUBLIC if more.get("public") else CASES)[name] = dict(
    more,
    head=head,
    labels=labels,
    features=features,
    penalties=penalties,
    train_op_fn=train_op_fn,
    spread=spread or (),
  )


def _numbers(shape, low, high):
  random = np.random.RandomState(sum(shape) + 7)
  return random.uniform(low, high, (BATCHES * ROWS, *shape)).astype(np.float32)


def _choices(count, shape=()):
  random = np.random.RandomState(count + len(shape))
  return random.randint(0, count, (BATCHES * ROWS, *shape)).astype(np.int64)


def _words(count):
  return np.array(["abc"[i].encode() for i in _choices(count)], object)


WEIGHTS = {
  "w": np.tile(np.float32([0.5, 2.0, 0.0, 1.0, 3.0]), BATCHES),
  "column": _numbers((1,), 0.5, 2.0),
  "whole": np.tile(np.int64([1, 0, 2, 1, 1]), BATCHES),
  "pairs": _numbers((2,), 0.5, 2.0),
  "steps": _numbers((4,), 0.5, 2.0),
}


def _reductions(tf):
  return tf.compat.v1.losses.Reduction


def _doubled(labels, logits, features):
  return (labels - logits) * (labels - logits) * 2.0 + 0.0 * features["x"][:, :1]


for each in ("SUM", "MEAN", "SUM_OVER_BATCH_SIZE", "SUM_BY_NONZERO_WEIGHTS"):

  def _reduced(tf, heads, each=each):
    return heads.binary_classification_head(
      weight_column="w", loss_reduction=getattr(_reductions(tf), each)
    )

  case("binary_reduced_by_" + each.lower(), _reduced, _choices(2), ("w",), modes=("train",))

case(
  "binary",
  lambda tf, heads: heads.binary_classification_head(),
  _choices(2, (1,)),
  modes=("train", "infer"),
)
case(
  "binary_of_words_with_a_name",
  lambda tf, heads: heads.binary_classification_head(
    thresholds=[0.25, 0.5], label_vocabulary=["a", "b"], name="click", weight_column="whole"
  ),
  _words(2),
  ("whole",),
  penalties=True,
)
case(
  "binary_with_a_loss",
  lambda tf, heads: heads.binary_classification_head(loss_fn=_doubled),
  _choices(2),
  train_op_fn=True,
  modes=("train",),
)
case(
  "binary_of_sequences",
  lambda tf, heads: heads.binary_classification_head(weight_column="steps"),
  _choices(2, (4,)),
  ("steps",),
  spread=(4,),
  modes=("eval",),
)
case(
  "canned_for_two_classes",
  lambda tf, heads: heads.canned_for_classes(2, None, None, _reductions(tf).SUM),
  _choices(2),
  penalties=True,
  train_op_fn=True,
  modes=("train", "infer"),
)
case(
  "canned_for_three_classes",
  lambda tf, heads: heads.canned_for_classes(3, "w", ["a", "b", "c"], _reductions(tf).MEAN),
  _words(3),
  ("w",),
  modes=("eval", "infer"),
)
case(
  "canned_binary",
  lambda tf, heads: heads.canned_binary(thresholds=(0.4,)),
  _choices(2),
  modes=("eval", "infer"),
)
case(
  "canned_multi_class",
  lambda tf, heads: heads.canned_multi_class(3, name="kind"),
  _choices(3),
  penalties=True,
)
case("canned_regression", lambda tf, heads: heads.canned_regression(), _numbers((1,), -1, 1))
case(
  "multi_class",
  lambda tf, heads: heads.multi_class_head(4),
  _choices(4, (1,)),
  modes=("train", "infer"),
)
case(
  "multi_class_of_words",
  lambda tf, heads: heads.multi_class_head(
    3, label_vocabulary=["a", "b", "c"], weight_column="column"
  ),
  _words(3),
  ("column",),
  penalties=True,
)
case("regression", lambda tf, heads: heads.regression_head(), _numbers((1,), -1, 1))
case(
  "regression_of_a_column",
  lambda tf, heads: heads.regression_head(),
  _numbers((), -1, 1),
  modes=("eval",),
)
case(
  "regression_of_pairs",
  lambda tf, heads: heads.regression_head(
    weight_column="pairs", label_dimension=2, inverse_link_fn=tf.tanh, name="pair"
  ),
  _numbers((2,), -1, 1),
  ("pairs",),
  penalties=True,
)
case(
  "regression_weighted_by_a_normalized_column",
  lambda tf, heads: heads.regression_head(
    weight_column=tf.feature_column.numeric_column("column", normalizer_fn=lambda x: x * 2.0),
    loss_reduction=_reductions(tf).SUM,
  ),
  _numbers((1,), -1, 1),
  ("column",),
)
case(
  "poisson",
  lambda tf, heads: heads.poisson_regression_head(weight_column="w"),
  _choices(4, (1,)),
  ("w",),
)
case(
  "poisson_without_the_constant",
  lambda tf, heads: heads.poisson_regression_head(compute_full_loss=False, name="count"),
  _choices(4, (1,)),
  modes=("train",),
)
case(
  "logistic", lambda tf, heads: heads.logistic_regression_head("w"), _numbers((1,), 0, 1), ("w",)
)
case(
  "multi_label", lambda tf, heads: heads.multi_label_head(3), _choices(2, (3,)), modes=("train",)
)
case(
  "multi_label_of_each_class",
  lambda tf, heads: heads.multi_label_head(
    3,
    weight_column="w",
    thresholds=[0.5],
    label_vocabulary=["a", "b", "c"],
    classes_for_class_based_metrics=["c", "a"],
    name="tags",
  ),
  _choices(2, (3,)),
  ("w",),
  penalties=True,
)
case(
  "multi_label_of_numbers",
  lambda tf, heads: heads.multi_label_head(3, classes_for_class_based_metrics=[1]),
  _choices(3, (2,)),
  depth=3,
)
case(
  "several_heads",
  lambda tf, heads: heads.multi_head(
    [
      heads.binary_classification_head(name="one"),
      heads.regression_head(label_dimension=2, name="two"),
    ],
    head_weights=[0.5, 2.0],
  ),
  {"one": _choices(2), "two": _numbers((2,), -1, 1)},
)
case(
  "several_heads_without_weights",
  lambda tf, heads: heads.multi_head(
    [heads.multi_class_head(3, name="a"), heads.canned_regression(name="b", weight_column="w")]
  ),
  {"a": _choices(3), "b": _numbers((1,), -1, 1)},
  ("w",),
  train_op_fn=True,
  modes=("train", "infer"),
)


def public(name, head, labels, *args, **more):
  """Adds a case of the classes of `tf.estimator`, which are trained by a function of the loss."""
  case(name, head, labels, *args, public=True, train_op_fn=True, **more)


public(
  "BinaryClassHead",
  lambda tf, heads: heads.BinaryClassHead(),
  _choices(2),
  updates=True,
  modes=("train", "infer"),
)
public(
  "BinaryClassHead_of_words",
  lambda tf, heads: heads.BinaryClassHead("w", [0.25], ["a", "b"], "sum", name="click"),
  _words(2),
  ("w",),
  penalties=True,
)
public(
  "MultiClassHead",
  lambda tf, heads: heads.MultiClassHead(3, "column", ["a", "b", "c"]),
  _words(3),
  ("column",),
  penalties=True,
)
public(
  "MultiClassHead_by_sum", lambda tf, heads: heads.MultiClassHead(4, None, None, "sum"), _choices(4)
)
public(
  "MultiLabelHead",
  lambda tf, heads: heads.MultiLabelHead(
    3, "w", [0.5], ["a", "b", "c"], classes_for_class_based_metrics=["c", "a"], name="tags"
  ),
  _choices(2, (3,)),
  ("w",),
  penalties=True,
)
public(
  "MultiLabelHead_of_numbers", lambda tf, heads: heads.MultiLabelHead(3), _choices(3, (2,)), depth=3
)
public(
  "RegressionHead",
  lambda tf, heads: heads.RegressionHead(2, "pairs", inverse_link_fn=tf.tanh, name="pair"),
  _numbers((2,), -1, 1),
  ("pairs",),
  penalties=True,
)
public(
  "RegressionHead_with_a_loss",
  lambda tf, heads: heads.RegressionHead(loss_fn=_doubled),
  _numbers((1,), -1, 1),
  updates=True,
  modes=("train",),
)
public(
  "PoissonRegressionHead",
  lambda tf, heads: heads.PoissonRegressionHead(weight_column="w"),
  _choices(4, (1,)),
  ("w",),
)
public(
  "LogisticRegressionHead",
  lambda tf, heads: heads.LogisticRegressionHead("w"),
  _numbers((1,), 0, 1),
  ("w",),
)
public(
  "MultiHead",
  lambda tf, heads: heads.MultiHead(
    [heads.BinaryClassHead(name="one"), heads.RegressionHead(2, name="two")], [0.5, 2.0]
  ),
  {"one": _choices(2), "two": _numbers((2,), -1, 1)},
  penalties=True,
  updates=True,
)


def _fed(tf, array, batch):
  """Returns a placeholder of an array, and what it is fed with in a batch."""
  dtype = tf.string if array.dtype == object else array.dtype
  tensor = tf.compat.v1.placeholder(dtype, [None, *array.shape[1:]])
  return tensor, array[batch * ROWS : (batch + 1) * ROWS]


class _Model:
  """The inputs and the logits of a case, in the default graph."""

  def __init__(self, tf, heads, case):
    v1 = tf.compat.v1
    self.step = v1.train.get_or_create_global_step()
    v1.set_random_seed(3)
    self.head = case["head"](tf, heads)
    # How many operations the head has added decides these numbers.
    self.random = v1.random_uniform([])
    self._arrays = {"x": _numbers((INPUTS,), -2, 2)}
    self._arrays.update((key, WEIGHTS[key]) for key in case["features"])
    self.features = {key: _fed(tf, array, 0)[0] for key, array in self._arrays.items()}
    labels = case["labels"]
    self._labels = labels if isinstance(labels, dict) else {"": labels}
    given = {key: _fed(tf, array, 0)[0] for key, array in self._labels.items()}
    self._given = given
    self.labels = given if isinstance(labels, dict) else given[""]
    if case.get("depth"):
      self.labels = tf.sparse.from_dense(self.labels)
    shape = [*case["spread"], self.head.logits_dimension]
    size = int(np.prod(shape))
    values = np.linspace(-1.0, 1.0, INPUTS * size).reshape(INPUTS, size).astype(np.float32)
    self.kernel = v1.get_variable(
      "kernel", initializer=values * values[::-1, :1], use_resource=True
    )
    self.logits = tf.reshape(tf.matmul(self.features["x"], self.kernel), [-1, *shape])
    self.moved = v1.get_variable("moved", [], initializer=v1.zeros_initializer(), use_resource=True)
    v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, v1.assign_add(self.moved, 1.0).op)
    self.penalties = None
    if case["penalties"]:
      self.penalties = [tf.reduce_sum(tf.abs(self.kernel)) * 0.1, tf.constant(0.25)]

  def feed(self, batch):
    part = slice(batch * ROWS, (batch + 1) * ROWS)
    fed = {self.features[key]: array[part] for key, array in self._arrays.items()}
    fed.update((self._given[key], array[part]) for key, array in self._labels.items())
    return fed


def _plain(value):
  """Returns a value as JSON holds it: text, or [dtype, shape, numbers]."""
  if isinstance(value, (bytes, str)):
    return value.decode() if isinstance(value, bytes) else value
  value = np.asarray(value)
  if value.dtype.kind in "OSU":
    words = [one.decode() if isinstance(one, bytes) else one for one in value.ravel()]
    return ["string", list(value.shape), words]
  numbers = [float(format(float(one), ".9g")) for one in value.ravel()]
  return [value.dtype.name, list(value.shape), numbers]


def _flat(values):
  """Returns a dict of plain values whose keys may be tuples."""
  return {
    "/".join(key) if isinstance(key, tuple) else key: _plain(value) for key, value in values.items()
  }


def _exported(outputs):
  return {
    key: {
      field: getattr(output, field) for field in FIELDS if getattr(output, field, None) is not None
    }
    for key, output in outputs.items()
  }


def run(tf, heads, name, modes=None):
  """Tells what the specs of a case are and compute; what is "random" differs between versions of TensorFlow.

  Args:
    tf: TensorFlow.
    heads: object with the functions of `tf.contrib.estimator`, and the private ones as `canned_...`.
    name: of the case.
    modes: of the specs; those of the case by default.
  """
  found = {}
  found_case = CASES.get(name) or PUBLIC[name]
  for mode in modes or found_case.get("modes", ("train", "eval", "infer")):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
      found[mode] = _run_mode(tf, heads, found_case, mode, session)
  return found


def _run_mode(tf, heads, case, mode, session):
  v1 = tf.compat.v1
  model = _Model(tf, heads, case)
  arguments = {"features": model.features, "mode": mode, "logits": model.logits}
  if mode != "infer":
    arguments["labels"] = model.labels
  if model.penalties:
    arguments["regularization_losses"] = model.penalties
  if mode == "train":
    optimizer = v1.train.AdamOptimizer(0.1)
    if case["train_op_fn"]:
      arguments["train_op_fn"] = lambda loss: optimizer.minimize(loss, global_step=model.step)
    else:
      arguments["optimizer"] = optimizer
    if case.get("updates"):
      arguments["update_ops"] = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
  spec = model.head.create_estimator_spec(**arguments)
  result = {
    "mode": spec.mode,
    "logits_dimension": model.head.logits_dimension,
    "name": model.head.name,
    "variables": sorted(one.op.name for one in v1.global_variables()),
    "tensors": {
      "/".join(key) if isinstance(key, tuple) else key: one.op.name
      for key, one in spec.predictions.items()
    },
  }
  if mode == "train" or not case.get("public"):  # the classes compute those of an evaluation again
    losses = v1.get_collection(v1.GraphKeys.LOSSES)
    result["losses"] = [one.op.name.split("/")[0] for one in losses]
  session.run(
    [v1.global_variables_initializer(), v1.local_variables_initializer(), v1.tables_initializer()]
  )
  result["random"] = _plain(session.run(model.random))
  if mode == "infer":
    fetched = session.run(
      {"predictions": spec.predictions, "outputs": _exported(spec.export_outputs)}, model.feed(0)
    )
    result["predictions"] = _flat(fetched["predictions"])
    result["exported"] = {
      key: {
        field: _flat(one) if field == "outputs" else _plain(one) for field, one in fields.items()
      }
      for key, fields in fetched["outputs"].items()
    }
    result["kinds"] = {key: type(one).__name__ for key, one in spec.export_outputs.items()}
  elif mode == "eval":
    for batch in range(BATCHES):
      updates = {key: pair[1] for key, pair in spec.eval_metric_ops.items()}
      loss, updated = session.run([spec.loss, updates], model.feed(batch))
      result[f"loss_{batch}"] = _plain(loss)
      if not case.get("public"):  # what an update of Keras gives is no value
        result[f"updated_{batch}"] = _flat(updated)
    values = {key: pair[0] for key, pair in spec.eval_metric_ops.items()}
    result["metrics"] = _flat(session.run(values))
  else:
    merged = v1.summary.merge_all()
    loss, shown = session.run([spec.loss, merged], model.feed(0))
    result["loss"] = _plain(loss)
    summary = v1.Summary.FromString(shown)
    result["summaries"] = {one.tag: _plain(np.float32(one.simple_value)) for one in summary.value}
    for batch in range(BATCHES):
      session.run(spec.train_op, model.feed(batch))
    after = session.run({one.op.name: one for one in v1.global_variables()})
    result["after"] = _flat(after)
  return result


def train(tf, make, head_of, directory):
  """Trains a model with a head, evaluates it and predicts.

  Args:
    tf: TensorFlow.
    make: makes an Estimator of (model_fn, directory).
    head_of: makes its head.
    directory: of the model.

  Returns:
    The variables of its last checkpoint, the metrics and the predictions.
  """
  v1 = tf.compat.v1

  def model_fn(features, labels, mode):
    head = head_of()
    logits = v1.matmul(features["x"], _kernel(v1, head.logits_dimension))
    optimizer = v1.train.AdamOptimizer(0.1)
    return head.create_estimator_spec(features, mode, logits, labels, optimizer=optimizer)

  def input_fn():
    features = {"x": _numbers((INPUTS,), -2, 2), "w": WEIGHTS["w"]}
    return tf.data.Dataset.from_tensor_slices((features, _words(2))).batch(ROWS)

  estimator = make(model_fn, directory)
  estimator.train(lambda: input_fn().repeat(), max_steps=20)
  names = sorted(estimator.get_variable_names())
  return {
    "variables": {name: _plain(estimator.get_variable_value(name)) for name in names},
    "metrics": {key: _plain(one) for key, one in sorted(estimator.evaluate(input_fn).items())},
    "predictions": [_flat(one) for one in estimator.predict(input_fn)],
  }


def _kernel(v1, size):
  values = np.linspace(-1.0, 1.0, INPUTS * size).reshape(INPUTS, size).astype(np.float32)
  return v1.get_variable("kernel", initializer=values, use_resource=True)
