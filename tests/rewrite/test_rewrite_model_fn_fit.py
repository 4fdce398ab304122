"""`--target fit`: a model_fn of plain layers becomes a Keras model with the names of the old checkpoints."""

import textwrap

import pytest
from helpers import codes, run, transformed
from test_rewrite_split import CALLS, HEAD, THREE_BRANCHES, functions

from migrator.lint.finding import Finding

LAYER = '    hidden = tf.layers.dense(features["x"], params["n"])  # the only layer\n'
LOSS = "    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)\n"
TRAINING = "training=mode == tf.estimator.ModeKeys.TRAIN"


def program(layer=LAYER, loss=LOSS, calls=CALLS, **replaced):
  """A program with another layer or loss; `replaced` are other pieces of its model_fn."""
  assert LAYER in THREE_BRANCHES
  assert LOSS in THREE_BRANCHES
  text = THREE_BRANCHES.replace(LAYER, layer).replace(LOSS, loss)
  for old, new in replaced.values():
    assert old in text
    text = text.replace(old, new)
  return HEAD + text + calls


def made(**pieces):
  """The function that makes the model, without what does not depend on the layers."""
  text = functions(transformed(program(**pieces), target="fit"))["create_model"]
  return textwrap.dedent(text.partition("\n")[2]).split("model = ")[0].split("\n", 1)[1].strip()


def one_line(text):
  """The text without its layout."""
  return " ".join(text.split()).replace("( ", "(").replace(", )", ")").replace(" )", ")")


def compiled(loss):
  text = functions(transformed(program(loss=textwrap.indent(loss, "    ")), target="fit"))
  return text["create_model"].partition("loss=")[2].partition("\n")[0].rstrip(",")


def refused(**pieces):
  """Why a model_fn becomes no Keras model."""
  result = run(program(**pieces), target="fit")
  assert {unit.target for unit in result.units} <= {"loop", "hosted"}
  (finding,) = [f for f in result.findings if f.code == "EM234"]
  assert isinstance(finding, Finding)
  return finding.message


def test_the_model_is_made_by_a_function_of_the_users_statements():
  found = functions(transformed(program(), target="fit"))
  assert found["create_model"] == textwrap.dedent(
    """\
    def create_model(element_spec, params):
        inputs = runtime.inputs_like(element_spec, "x")
        hidden = tf2.keras.layers.Dense(params["n"], name="dense")(inputs["x"])  # the only layer
        logits = tf2.keras.layers.Dense(2, name="dense_1")(hidden)
        model = tf2.keras.Model(inputs, logits)
        model.compile(
            optimizer=make_optimizer(params),
            loss=tf2.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        )
        return model"""
  )
  assert "forward" not in found
  assert {"loss_fn", "metrics_fn", "predictions_fn", "make_optimizer"} <= set(found)


def test_fit_trains_it_and_the_functions_evaluate_it():
  text = transformed(program(), target="fit")
  for line in (
    'params = {"n": 3, "rate": 0.1}',
    "e = create_model(input_fn().element_spec, params)",
    "runtime.heads.FunctionHead(",
    "loss_fn, predictions_fn=predictions_fn, metrics_fn=metrics_fn",
    "if steps := backup.remaining_steps(max_steps=10):",
    "input_fn().map(runtime.model_inputs(e)).take(steps)",
    "backup.evaluate(input_fn(), steps=2)",
    "print(next(backup.predict(input_fn())))",
  ):
    assert line in text, line


def test_it_is_not_made_unless_asked_for():
  assert [unit.target for unit in run(program()).units] == ["loop"]
  assert [unit.target for unit in run(program(), target="fit").units] == ["fit"]
  assert [unit.target for unit in run(program(), target="fit", hosted=True).units] == ["hosted"]


def test_the_optimizer_is_that_of_a_canned_estimator():
  old = 'tf.train.AdagradOptimizer(params["rate"])'
  for new, stock, exact in (
    ("tf.train.AdamOptimizer(0.1)", "keras.optimizers.Adam(0.1, epsilon=1e-8)", "Adam(0.1)"),
    ("tf.train.MomentumOptimizer(0.1, 0.9)", "runtime.optimizers.Momentum(", "Momentum(0.1"),
  ):
    text = program(optimizer=(old, new))
    assert stock in transformed(text, target="fit")
    assert f"runtime.optimizers.{exact}" in transformed(text, target="fit", exact=True)


def test_layers_get_the_names_that_tf1_gave_them():
  layers = """\
    hidden = tf.layers.dense(features["x"], 4, name="first")
    hidden = tf.layers.dense(tf.nn.relu(hidden), 4, tf.nn.tanh)
    hidden = tf.layers.dense(hidden, 4, activation=None, name=None)
"""
  assert one_line(made(layer=layers)) == (
    'hidden = tf2.keras.layers.Dense(4, name="first")(inputs["x"]) '
    'hidden = tf2.keras.layers.Dense(4, activation="tanh", name="dense")'
    '(tf2.keras.layers.Activation("relu")(hidden)) '
    'hidden = tf2.keras.layers.Dense(4, name="dense_1")(hidden) '
    'logits = tf2.keras.layers.Dense(2, name="dense_2")(hidden)'
  )


def test_layers_of_a_loop_count_their_names_when_it_runs():
  layers = """\
    hidden = features["x"]
    for width in params["n"]:
        hidden = tf.layers.dense(hidden, width, tf.nn.relu)
"""
  assert one_line(made(layer=layers)) == (
    "names = runtime.LayerNames() "
    'hidden = inputs["x"] '
    'for width in params["n"]: '
    'hidden = tf2.keras.layers.Dense(width, activation="relu", name=names("dense"))(hidden) '
    'logits = tf2.keras.layers.Dense(2, name=names("dense"))(hidden)'
  )


def test_images_are_reshaped_convolved_pooled_and_flattened():
  layers = """\
    image = tf.reshape(features["x"], [-1, 8, 8, 1])
    hidden = tf.layers.conv2d(inputs=image, filters=4, kernel_size=[3, 3], padding="SAME",
                              kernel_initializer=tf.truncated_normal_initializer(stddev=0.1))
    hidden = tf.layers.max_pooling2d(hidden, pool_size=[2, 2], strides=2)
    hidden = tf.concat([tf.layers.flatten(hidden), tf.layers.flatten(image)], 1)
"""
  found = one_line(made(layer=layers))
  for part in (
    'image = tf2.keras.layers.Reshape([8, 8, 1])(inputs["x"])',
    'filters=4, kernel_size=[3, 3], padding="same", kernel_initializer=',
    'name="conv2d")(image)',
    "MaxPooling2D(pool_size=[2, 2], strides=2)(hidden)",
    "Concatenate(axis=1)([tf2.keras.layers.Flatten()(hidden), tf2.keras.layers.Flatten()(image)])",
  ):
    assert part in found, part


def test_regularizers_stay_where_the_loss_has_them():
  layer = LAYER.replace(
    'params["n"])', 'params["n"], kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1))'
  )
  sums = (
    "    loss = loss + tf.losses.get_regularization_loss()\n",
    "    loss += tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))\n",
  )
  for line in sums:
    found = transformed(program(layer=layer, loss=LOSS + line), target="fit")
    assert "kernel_regularizer=tf2.keras.regularizers.l2(0.5 * 0.1)" in found
    assert "def loss_fn(labels, logits, losses):" in found
  assert "its layers have regularizers, and its loss has them not" in refused(layer=layer)
  assert "its layers have no regularizers" in refused(loss=LOSS + sums[0])


@pytest.mark.parametrize(
  ("loss", "keras"),
  [
    ("softmax_cross_entropy(tf.one_hot(tf.cast(labels, tf.int32), 2), logits)", "Sparse"),
    ("softmax_cross_entropy(onehot_labels=labels, logits=logits)", "CategoricalCross"),
    ("sigmoid_cross_entropy(tf.reshape(labels, [-1, 1]), logits)", "BinaryCrossentropy(from"),
    ("mean_squared_error(tf.expand_dims(labels, -1), logits)", "MeanSquaredError()"),
  ],
)
def test_losses_of_tf1_are_stock_losses(loss, keras):
  assert f"keras.losses.{keras}" in compiled(f"loss = tf.losses.{loss}\n")


def test_a_mean_of_cross_entropies_is_a_stock_loss():
  loss = """\
each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
loss = tf.reduce_mean(each, name="loss")
"""
  assert "Sparse" in compiled(loss)


def test_a_dropout_says_that_it_draws_other_numbers():
  layer = LAYER + f"    hidden = tf.layers.dropout(hidden, rate=0.4, seed=3, {TRAINING})\n"
  result = run(program(layer=layer), target="fit")
  assert "EM256" in codes(result)
  assert "tf2.keras.layers.Dropout(rate=0.4, seed=3)(hidden)" in result.text
  assert "EM256" not in codes(run(program(layer=layer)))
  assert "EM247" not in codes(result)
  # One that is never in training does nothing.
  assert "Dropout" not in transformed(
    program(layer=layer.replace(f", {TRAINING}", "")), target="fit"
  )


COLUMNS = 'columns = [tf.feature_column.numeric_column("x", shape=[4])]\n\n\ndef model_fn'


def test_an_input_layer_over_numeric_columns_gives_the_inputs():
  layer = """\
    hidden = tf.feature_column.input_layer(features, columns)
    hidden = tf.layers.dense(hidden, 4)
"""
  numeric = ("def model_fn", COLUMNS)
  text = functions(transformed(program(layer=layer, columns=numeric), target="fit"))["create_model"]
  assert "inputs = runtime.inputs_like(element_spec, columns=columns)" in text
  assert "hidden = runtime.input_layer(inputs, columns)" in text
  for old, new in (
    ("shape=[4]", "shape=[4], normalizer_fn=abs"),
    ("numeric_column(", "indicator_column("),
    ("[4])]", "[4]), tf.feature_column.categorical_column_with_identity('y', 3)]"),
  ):
    assert old in COLUMNS
    other = ("def model_fn", COLUMNS.replace(old, new))
    assert "is written as no Keras layer" in refused(layer=layer, columns=other)


UPDATES = (
  "    train_op = optimizer",
  "    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):\n"
  "        train_op = optimizer",
)


def test_batch_normalization_stays_unless_it_may_be_of_images():
  norm = f"    hidden = tf.layers.batch_normalization(hidden, momentum=0.9, {TRAINING})\n"
  flat = "    hidden = tf.layers.flatten(hidden)\n"
  found = made(layer=LAYER + flat + norm, updates=UPDATES)
  assert 'BatchNormalization(momentum=0.9, name="batch_normalization")(hidden)' in one_line(found)
  assert "Keras 3 averages variances" in refused(layer=LAYER + norm, updates=UPDATES)


def test_one_variable_scope_around_all_layers_is_that_of_the_checkpoint():
  scoped = """\
    with tf.variable_scope("net"):
        hidden = tf.layers.dense(features["x"], 4)
        logits = tf.layers.dense(hidden, 2)
"""
  one = ("    logits = tf.layers.dense(hidden, 2)\n    best", "    best")
  text = transformed(program(layer=scoped, one=one), target="fit")
  assert 'variable_scope="net"' in text
  assert "tf.variable_scope" not in text
  split = scoped.replace("        logits", '    with tf.variable_scope("out"):\n        logits')
  assert "in several variable scopes" in refused(layer=split, one=one)


@pytest.mark.parametrize(
  ("pieces", "reason"),
  [
    ({"layer": LAYER + "    hidden = tf.square(hidden)\n"}, "`tf.square(hidden)` is written as"),
    ({"layer": LAYER.replace('"n"]', '"n"], reuse=True')}, "`reuse=True` is written as no"),
    ({"layer": LAYER.replace('"n"]', '"n"], trainable=False')}, "`trainable=False` is written"),
    ({"layer": LAYER.replace('"n"]', '"n"], helper')}, "`helper` is written as no Keras layer"),
    ({"loss": LOSS.replace("logits)", "logits, weights=2.0)")}, "is no stock loss of Keras"),
    ({"loss": LOSS.replace("labels, logits", "1 - labels, logits")}, "is no stock loss"),
    ({"loss": LOSS + "    loss = loss * 2.0\n"}, "its loss `loss * 2.0` is no stock loss"),
    ({"layer": LAYER.replace('"n"]', '"n"], name="x"')}, "the name of a layer and of a feature"),
    (
      {"calls": CALLS.replace("e.train(", "if input_fn:\n    e.train(")},
      "known only where it is trained",
    ),
  ],
)
def test_what_keras_would_do_otherwise_becomes_a_loop_and_says_why(pieces, reason):
  if "helper" in str(pieces):
    pieces = {
      **pieces,
      "helper": ("def model_fn", "def helper(x):\n    return x\n\n\ndef model_fn"),
    }
  message = refused(**pieces)
  assert message.startswith("`e` becomes a loop: "), message
  assert reason in message


def test_a_layer_that_the_loss_does_not_need_keeps_the_model_fn_whole():
  message = refused(layer=LAYER + "    other = tf.layers.dense(hidden, 2)\n")
  assert message.startswith("`e` keeps its model_fn"), message
  assert "its loss may not depend on the variables of this `tf.layers.dense`" in message


def test_losses_that_plain_tensorflow_has_as_others_of_keras_are_those_of_tf1():
  """TF 2.15 has a `tf.losses.mean_squared_error` of Keras, and TF 2.21 none."""
  head = HEAD.replace("tensorflow.compat.v1 as", "tensorflow as")
  text = program(loss="    loss = tf.losses.mean_squared_error(labels, logits)\n")
  text = text.replace(HEAD, head).replace("tf.metrics.accuracy", "tf.metrics.mean_squared_error")
  found = functions(transformed(text, target="fit"))
  assert "return tf.compat.v1.losses.mean_squared_error(labels, logits)" in found["loss_fn"]
  assert "tf.compat.v1.metrics.mean_squared_error(labels" in found["metrics_fn"]
