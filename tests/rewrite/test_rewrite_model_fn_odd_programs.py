"""Programs whose model_fns do what a piece of them, or a network, would not do: they stay whole."""

import textwrap

import pytest
from helpers import run

HEAD = """
import numpy as np
import tensorflow.compat.v1 as tf


def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0] * 4]}, [0])).repeat()


"""
MODEL_FN = """
def model_fn(features, labels, mode, params):
    {first}
    hidden = tf.layers.dense(features["x"], params["n"])
    {middle}
    logits = tf.layers.dense(hidden, 2)
    {last}
    best = tf.argmax(logits, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={{"best": best}})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    {loss}
    if mode == tf.estimator.ModeKeys.EVAL:
        accuracy = tf.metrics.accuracy(labels, best)
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, eval_metric_ops={{"accuracy": accuracy}})
    lr = params["rate"]
    {training}
    optimizer = tf.train.AdagradOptimizer(lr)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""
CALLS = """

e = tf.estimator.Estimator(model_fn, "m", params={"n": 3, "rate": 0.1})
e.train(input_fn, max_steps=10)
e.evaluate(input_fn, steps=2)
print(next(e.predict(input_fn)))
"""
LOSS_OF_EXAMPLES = "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)"
MORE = """
def more(labels, predictions):
    return {"mean": tf.metrics.mean(predictions)}
"""
_PLACES = ("first", "middle", "last", "loss", "training")


def program(before="", changed=(), calls=CALLS, **places):
  """A program; `places` are statements of its model_fn."""
  texts = {}
  for place in _PLACES:
    lines = textwrap.dedent(places.get(place, "pass")).strip("\n").split("\n")
    texts[place] = "\n".join([lines[0], *["    " + line if line else "" for line in lines[1:]]])
  text = MODEL_FN.format(**texts)
  for old, new in changed:
    assert old in text, old
    text = text.replace(old, new)
  return HEAD + textwrap.dedent(before) + text + calls


# Name -> the program, and what the finding says.
HOSTED = {
  "features that are changed under another name": (
    program(first='inputs = features\ninputs["x"] = inputs["x"] / 255.0'),
    "changes `inputs`",
  ),
  "features that have another name and are changed": (
    program(
      first='inputs = features\nfeatures["x"] = features["x"] / 255.0',
      changed=[('(features["x"], params', '(inputs["x"], params')],
    ),
    "has another name, too",
  ),
  "features that a function changes": (
    program('def scale(f):\n    f["x"] = f["x"] / 255.0\n', first="scale(features)"),
    "changes what its function was given",
  ),
  "a part of the features that is changed": (
    program(first='features["a"]["b"] = features["x"]'),
    "changes a part of `features`",
  ),
  "params that a function changes": (
    program('def widen(p):\n    p["n"] = p["n"] * 2\n', first="widen(params)"),
    "changes what its function was given",
  ),
  "params that lose an entry": (
    program(first='n = params.pop("n")', changed=[('params["n"]', "n")]),
    "it changes `params`",
  ),
  "params with an attribute that is bound": (
    program(first="params.n = params.n * 2", changed=[('params["n"]', "params.n")]),
    "it changes `params`",
  ),
  "params that are changed under another name": (
    program(first='p = params\np["n"] = 2 * p["n"]'),
    "changes `p`",
  ),
  "a function that counts its calls": (
    program(
      """
      N = 0


      def dense(x):
          global N
          N += 1
          return tf.layers.dense(x, N)
      """,
      middle="hidden = dense(hidden)",
    ),
    "it binds variables outside of itself",
  ),
  "a function that collects activations": (
    program(
      """
      ACTIVATIONS = []


      def dense(x):
          y = tf.layers.dense(x, 3)
          ACTIVATIONS.append(y)
          return y
      """,
      middle="hidden = dense(hidden)",
      loss="loss = loss + tf.add_n([tf.nn.l2_loss(a) for a in ACTIVATIONS])",
    ),
    "changes what is made outside of its function",
  ),
  "a function of its own that collects": (
    program(
      first="kept = []\ndef keep(x):\n    kept.append(x)\n",
      middle="keep(hidden)",
      loss="loss = loss + tf.add_n([tf.nn.l2_loss(a) for a in kept])",
    ),
    "changes what is made outside of its function",
  ),
  "a variable that is assigned": (
    program(middle='c = tf.get_variable("c", [], trainable=False)\nc.assign_add(1.0)'),
    "it assigns to variables by itself",
  ),
  "weights that numpy draws": (
    program(middle='w = tf.get_variable("w", initializer=np.random.rand(3, 3))'),
    "it draws random numbers outside of the graph",
  ),
  "regularization losses that are taken before the last layer": (
    program(
      middle="regularization = tf.losses.get_regularization_loss()",
      loss="loss = loss + regularization",
      changed=[("(hidden, 2)", "(hidden, 2, kernel_regularizer=tf.nn.l2_loss)")],
    ),
    "before its network ends",
  ),
  "batch normalization that trains in all modes": (
    program(middle="hidden = tf.layers.batch_normalization(hidden, training=True)"),
    "trains in other modes than training",
  ),
  "batch normalization of a function that trains in all modes": (
    program(
      """
      def norm(x, train):
          return tf.layers.batch_normalization(x, training=train)
      """,
      middle="hidden = norm(hidden, True)",
    ),
    "trains in other modes than training",
  ),
  "a function with a layer that a loss maps over tensors": (
    program(
      "def project(x):\n    return tf.layers.dense(x, 1)\n",
      loss="loss = loss + tf.reduce_mean(tf.nest.map_structure(project, logits))",
    ),
    "is part of its network, but stands behind its outputs",
  ),
  "a variable that is named after a scope that counts": (
    program(
      first="""
      with tf.name_scope("a"):
          classes = tf.cast(labels, tf.int64) if labels is not None else None
      with tf.name_scope("a"):
          w = tf.Variable(tf.zeros([4, 4]))
      """,
      changed=[('dense(features["x"]', 'dense(tf.matmul(features["x"], w)')],
    ),
    "`tf.Variable` counts the scopes before it",
  ),
  "a rate that is bounded": (
    program(
      training="""
      lr = tf.train.exponential_decay(lr, tf.train.get_global_step(), 10, 0.9)
      lr = tf.maximum(lr, 1e-4)
      """
    ),
    "its optimizer is made of tensors",
  ),
  "a summary of a layer": (
    program(last='tf.summary.histogram("more", tf.layers.dense(hidden, 5))\nlogits = logits + 1.0'),
    "its loss may not depend on the variables of this `tf.layers.dense`",
  ),
  "a layer that the loss does not read": (
    program(middle="unused = tf.layers.dense(hidden, 7)"),
    "its loss may not depend on the variables of this `tf.layers.dense`",
  ),
  "features that are changed, and read by the loss": (
    program(
      first='features["x"] = features["x"] / 255.0',
      loss='loss = loss * tf.reduce_mean(features["x"])',
    ),
    'it reads `features["x"]`, which it changes, behind its network',
  ),
  "regularization losses of a scope": (
    program(loss='loss += tf.losses.get_regularization_loss("hidden")'),
    "it asks for losses of its network behind it (`tf.losses.get_regularization_loss(",
  ),
  "regularization losses that a function asks for": (
    program(
      """
      def whole(loss):
          return loss + tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
      """,
      loss="loss = whole(loss)",
    ),
    "it asks for losses of its network behind it (`tf.get_collection(",
  ),
  "regularization losses that are chosen by name": (
    program(
      loss='loss += sum(r for r in tf.losses.get_regularization_losses() if "hidden" in r.name)'
    ),
    "it may choose regularization losses by their names (`r.name`)",
  ),
  "features that are taken out, and read by the loss": (
    program(first='weights = features.pop("w")', loss="loss = loss * tf.reduce_mean(weights)"),
    "it needs `features.pop`, which changes them, behind its network",
  ),
  "a module of losses that is called as the parameter of a loss": (
    program(
      "from tensorflow.compat.v1 import losses\n",
      changed=[("loss = tf.losses.", "loss = losses.")],
      loss="loss = loss + losses.get_regularization_loss()",
    ),
    "`losses` is a name of the file, and would be its parameter",
  ),
  "a function that is called as a parameter of the network": (
    program(
      "def training(x):\n    return 2.0 * x\n",
      middle="""
      is_training = mode == tf.estimator.ModeKeys.TRAIN
      hidden = tf.layers.dropout(training(hidden), training=is_training)
      """,
    ),
    "`training` is a name of the file, and would be its parameter",
  ),
  "names of columns that are called as the parameter of the network": (
    program(
      'features = ["x"]\n',
      first="inputs = tf.concat([columns[name] for name in features], 1)",
      changed=[
        ("def model_fn(features,", "def model_fn(columns,"),
        ('dense(features["x"]', "dense(inputs"),
      ],
    ),
    "`features` is a name of the file, and would be its parameter",
  ),
  "gradients that are chosen by the operations of their variables": (
    program(
      training="""
      pairs = []
      for gradient, variable in tf.train.AdagradOptimizer(lr).compute_gradients(loss):
          pairs.append((gradient * (2.0 if variable.op.name == "a" else 1.0), variable))
      """,
      changed=[
        ("tf.train.AdagradOptimizer(lr).comp", "optimizer.comp"),
        ("    optimizer = tf.train.AdagradOptimizer(lr)\n", ""),
        ("    pairs = []", "    optimizer = tf.train.AdagradOptimizer(lr)\n    pairs = []"),
        ("optimizer.minimize(loss,", "optimizer.apply_gradients(pairs,"),
      ],
    ),
    "its clipping of gradients asks for `.op`, which only a graph has",
  ),
  "gradients that are stopped": (
    program(middle="hidden = tf.stop_gradient(hidden)"),
    "its gradients are stopped",
  ),
  "variables that begin with random numbers of the graph": (
    program(
      """
      def weights(shape):
          initial = tf.truncated_normal(shape, stddev=0.1)
          return tf.Variable(initial)
      """,
      middle="hidden = tf.matmul(hidden, weights([3, 3]))",
    ),
    "the initial value of a variable is a tensor",
  ),
  "a layer whose weights are part of the loss": (
    program(
      first="layer = tf.layers.Dense(3)",
      changed=[('tf.layers.dense(features["x"], params["n"])', 'layer(features["x"])')],
      loss="loss = loss + 0.01 * tf.nn.l2_loss(layer.kernel)",
    ),
    "`layer` is no tensor",
  ),
  "a loss of each example": (
    program(
      changed=[
        ("tf.losses.sparse_softmax_cross_entropy(labels, logits)", LOSS_OF_EXAMPLES),
      ]
    ),
    "its loss is not made one number (`tf.nn.sparse_softmax_cross_entropy_with_logits` gives",
  ),
  "a loss of each example and a penalty": (
    program(
      changed=[
        ("tf.losses.sparse_softmax_cross_entropy(labels, logits)", LOSS_OF_EXAMPLES + " + 0.1"),
      ],
    ),
    "its loss is not made one number",
  ),
  "metrics that are added afterwards": (
    program(
      before=MORE,
      calls=CALLS.replace("e.evaluate", "e = tf.estimator.add_metrics(e, more)\ne.evaluate"),
    ),
    "`add_metrics` makes another estimator of it",
  ),
}


def reason(source):
  """What the finding says of a program that stays whole."""
  result = run(source)
  assert [unit.target for unit in result.units] == ["hosted"]
  return " ".join(f.message for f in result.findings if f.code == "EM234")


@pytest.mark.parametrize("name", HOSTED)
def test_these_model_fns_stay_whole(name):
  source, expected = HOSTED[name]
  assert expected in reason(source)


def taken_apart(source):
  """The text of a program whose model_fn is taken apart."""
  result = run(source)
  assert [unit.target for unit in result.units] == ["loop"], [str(f) for f in result.findings]
  return result.text


def test_the_same_program_without_these_is_taken_apart():
  taken_apart(program())


def test_losses_of_examples_that_are_averaged_are_taken_apart():
  text = taken_apart(
    program(
      changed=[
        (
          "tf.losses.sparse_softmax_cross_entropy(labels, logits)",
          f"tf.reduce_mean({LOSS_OF_EXAMPLES})",
        ),
      ]
    )
  )
  assert "sparse_softmax_cross_entropy_with_logits" in text


def test_a_random_number_that_the_loss_reads_is_drawn_once():
  text = taken_apart(
    program(
      first='x = tf.image.random_brightness(features["x"], 0.2)',
      changed=[('(features["x"], params', "(x, params")],
      loss="loss = loss + tf.reduce_mean(tf.square(x))",
    )
  )
  assert text.count("random_brightness") == 1
  assert "return x, logits" in text


def test_batch_normalization_that_trains_in_training_is_taken_apart():
  norm = """
  def norm(x, train):
      return tf.layers.batch_normalization(x, training=train)
  """
  called = "hidden = norm(hidden, mode == tf.estimator.ModeKeys.TRAIN)"
  assert "norm(hidden, training)" in taken_apart(program(norm, middle=called))


def test_a_dict_that_the_model_fn_fills_is_its_own():
  text = taken_apart(
    program(
      first="kept = {}", middle='kept["h"] = hidden', changed=[("(hidden, 2", '(kept["h"], 2')]
    )
  )
  assert 'kept["h"] = hidden' in text


def test_a_dict_with_constant_keys_is_made_where_it_is_read():
  text = taken_apart(
    program(first="kept = {}", middle='kept["h"] = hidden', loss='loss += 0.0 * tf.norm(kept["h"])')
  )
  assert "kept = {}" in text


def notes(source, code):
  result = run(source)
  assert [unit.target for unit in result.units] == ["loop"], [str(f) for f in result.findings]
  return [f.message for f in result.findings if f.code == code]


def test_random_numbers_are_said_to_be_others_or_not_always_the_same():
  dropout = "hidden = tf.layers.dropout(hidden, 0.5, training=mode == 'train'{})"
  assert notes(program(), "EM247") == []
  assert "having no `seed`" in notes(program(middle=dropout.format("")), "EM247")[0]
  assert "one shape" in notes(program(middle=dropout.format(", seed=3")), "EM247")[0]
  noise = "def add(x):\n    return x + tf.random_normal(tf.shape(x))\n"
  assert len(notes(program(noise, middle="hidden = add(hidden)"), "EM247")) == 1


def test_a_file_that_is_hosted_imports_nothing_that_it_does_not_read():
  source, _ = HOSTED["params that lose an entry"]
  text = run(source).text
  assert "import tensorflow as" not in text
  assert "from migrator import runtime" in text


def test_a_list_of_gradients_is_no_list_of_hooks():
  source = program(
    training="optimizer = tf.train.AdagradOptimizer(lr)\npairs = []\n"
    "for gradient, variable in optimizer.compute_gradients(loss):\n"
    "    pairs.append((2.0 * gradient, variable))",
    changed=[
      ("    optimizer = tf.train.AdagradOptimizer(lr)\n    with", "    with"),
      ("optimizer.minimize(loss,", "optimizer.apply_gradients(pairs,"),
    ],
  )
  result = run(source)
  assert "    pairs = []\n    for" in result.text
  assert "EM246" not in [finding.code for finding in result.findings]
