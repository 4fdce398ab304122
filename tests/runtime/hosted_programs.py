"""Programs with their own model_fn, each of another kind; they run with any API (see hosted_sessions.py).

A program is a pair of functions: `input_fn()`, the batches in order, and `model_fn(features, labels, mode,
params)`. `params["api"]` has the names that TensorFlow 2.16 removed: the real ones or the runtime's.
"""

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
ROWS = 96


def batches(features, labels=None):
  """Returns the dataset of a program, in order and without end."""
  data = features if labels is None else (features, labels)
  return tf.data.Dataset.from_tensor_slices(data).repeat().batch(8, drop_remainder=True)


def classified(params, mode, labels, logits, train_op, **spec):
  """Returns the spec of a classifier; `train_op(loss)` makes the operation."""
  api = params["api"]
  predictions = {"best": tf.argmax(logits, 1), "probabilities": tf.nn.softmax(logits)}
  if mode == api.ModeKeys.PREDICT:
    return api.EstimatorSpec(mode, predictions=predictions)
  loss = v1.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
  if v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES):
    loss = v1.losses.get_total_loss()
  metrics = {
    "accuracy": v1.metrics.accuracy(labels=labels, predictions=predictions["best"]),
    "rows": v1.metrics.mean(tf.cast(labels, tf.float32)),
  }
  if mode == api.ModeKeys.EVAL:
    return api.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
  return api.EstimatorSpec(mode, loss=loss, train_op=train_op(loss), **spec)


def perceptron_input():
  random = np.random.RandomState(1)
  x = random.rand(ROWS, 4).astype(np.float32)
  return batches({"x": x}, (x.sum(1) * 1.5).astype(np.int32) % 3)


def perceptron(features, labels, mode, params):
  """Layers without names, dropout, Adagrad."""
  layers = params["api"].layers
  hidden = features["x"]
  for number, width in enumerate((6, 5)):
    hidden = layers.dense(hidden, units=width, activation=tf.nn.relu)
    hidden = layers.dropout(hidden, rate=0.3, training=mode == "train", seed=7 + number)
  logits = layers.dense(hidden, 3)
  step = v1.train.get_global_step()
  optimizer = v1.train.AdagradOptimizer(0.1)
  return classified(
    params, mode, labels, logits, lambda loss: optimizer.minimize(loss, global_step=step)
  )


def images_input():
  random = np.random.RandomState(2)
  x = random.rand(ROWS, 6, 6, 1).astype(np.float32)
  return batches(x, (x.mean((1, 2, 3)) * 30).astype(np.int64) % 3)


def images(features, labels, mode, params):
  """Convolutions, batch normalization with its updates, a penalty, momentum with a rate that falls."""
  layers = params["api"].layers
  training = mode == params["api"].ModeKeys.TRAIN
  x = features
  for filters in (4, 6):
    x = layers.conv2d(
      x,
      filters,
      3,
      padding="same",
      use_bias=False,
      kernel_regularizer=lambda weights: 1e-3 * tf.nn.l2_loss(weights),
    )
    x = tf.nn.relu(layers.batch_normalization(x, training=training, momentum=0.9))
    x = layers.max_pooling2d(x, 2, 2)
  logits = layers.dense(layers.flatten(x), 3)

  def train_op(loss):
    step = v1.train.get_or_create_global_step()
    rate = v1.train.piecewise_constant(step, [13, 17], [0.1, 0.02, 0.004])
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
      return v1.train.MomentumOptimizer(rate, 0.9).minimize(loss, global_step=step)

  return classified(params, mode, labels, logits, train_op)


def pairs_input():
  random = np.random.RandomState(3)
  words = random.randint(0, 20, (ROWS, 2, 5)).astype(np.int32)
  length = random.randint(2, 6, (ROWS,)).astype(np.int32)
  labels = (words[:, 0, 0] + words[:, 1, 0]) % 2
  return batches({"left": words[:, 0], "right": words[:, 1], "length": length}, labels)


def pairs(features, labels, mode, params):
  """One encoder for two sentences, cells, clipped gradients, Adam; the spec has no single minimize."""
  cells = params["api"].rnn_cell

  def encode(words, reuse):
    with v1.variable_scope("encoder", reuse=reuse):
      table = v1.get_variable("table", [20, 4])
      outputs, state = v1.nn.dynamic_rnn(
        cells.LSTMCell(3),
        tf.gather(table, words),
        sequence_length=features["length"],
        dtype=tf.float32,
      )
      return tf.concat([tf.reduce_max(outputs, 1), state.h], 1)

  both = tf.concat([encode(features["left"], None), encode(features["right"], True)], 1)
  logits = params["api"].layers.dense(both, 2, name="top")

  def train_op(loss):
    optimizer = v1.train.AdamOptimizer(0.02)
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    gradients, _ = tf.clip_by_global_norm(gradients, 0.5)
    return optimizer.apply_gradients(
      zip(gradients, variables), global_step=v1.train.get_global_step()
    )

  return classified(params, mode, labels, logits, train_op)


class OwnAdam(v1.train.Optimizer):
  """An optimizer of the program's own, in the manner of BERT's: it names its variables itself."""

  def __init__(self, rate, decay):
    super().__init__(False, "OwnAdam")
    self._rate, self._decay = rate, decay

  def apply_gradients(self, grads_and_vars, global_step=None, name=None):
    assignments = []
    for gradient, variable in grads_and_vars:
      moments = [
        v1.get_variable(
          f"{variable.op.name}/{suffix}",
          variable.shape.as_list(),
          trainable=False,
          initializer=v1.zeros_initializer(),
        )
        for suffix in ("own_m", "own_v")
      ]
      gradient = tf.convert_to_tensor(gradient)
      first = 0.9 * moments[0] + 0.1 * gradient
      second = 0.99 * moments[1] + 0.01 * tf.square(gradient)
      update = first / (tf.sqrt(second) + 1e-6)
      if variable.shape.rank > 1:
        update += self._decay * variable
      assignments += [
        variable.assign(variable - self._rate * update),
        moments[0].assign(first),
        moments[1].assign(second),
      ]
    return tf.group(*assignments, name=name)


def attention_input():
  random = np.random.RandomState(4)
  words = random.randint(0, 20, (ROWS, 5)).astype(np.int32)
  return batches({"words": words, "labels": words.sum(1) % 3})


def attention(features, labels, mode, params):
  """Attention with variables of its own, labels among the features, warmup, an own optimizer, averages."""
  api = params["api"]
  del labels
  with v1.variable_scope("net"):
    table = v1.get_variable("table", [20, 6], partitioner=v1.fixed_size_partitioner(2))
    x = tf.nn.embedding_lookup(table, features["words"])
    query, key = (api.layers.dense(x, 6, name=name) for name in ("query", "key"))
    weights = tf.nn.softmax(tf.matmul(query, key, transpose_b=True) / 6**0.5)
    x = tf.reduce_mean(tf.matmul(weights, x), 1)
    logits = api.layers.dense(x, 3, activation=None, name="top")

  def train_op(loss):
    step = v1.train.get_global_step()
    warmed = tf.minimum(tf.cast(step + 1, tf.float32) / 15.0, 1.0)
    optimizer = OwnAdam(0.02 * warmed, 0.01)
    variables = v1.trainable_variables()
    trained = optimizer.apply_gradients(zip(tf.gradients(loss, variables), variables))
    averages = v1.train.ExponentialMovingAverage(0.9)
    with tf.control_dependencies([trained]):
      averaged = averages.apply(variables)
    with tf.control_dependencies([averaged]):
      return step.assign_add(1)

  return classified(params, mode, features["labels"], logits, train_op)


def keras_layers(features, labels, mode, params):
  """A Keras model within the model_fn: TensorFlow 2.15 alone runs it in a graph."""
  keras = tf.keras
  model = keras.Sequential(
    [
      keras.layers.Dense(5, activation="relu"),
      keras.layers.BatchNormalization(),
      keras.layers.Dense(3),
    ]
  )
  logits = model(features["x"], training=mode == "train")

  def train_op(loss):
    optimizer = v1.train.RMSPropOptimizer(0.01)
    with tf.control_dependencies(model.updates):
      return optimizer.minimize(loss, global_step=v1.train.get_global_step())

  return classified(params, mode, labels, logits, train_op)


PROGRAMS = {
  "perceptron": (perceptron_input, perceptron),
  "images": (images_input, images),
  "pairs": (pairs_input, pairs),
  "attention": (attention_input, attention),
  "keras_layers": (perceptron_input, keras_layers),
}


def linear_input():
  random = np.random.RandomState(5)
  x = random.rand(ROWS, 3).astype(np.float32)
  return batches({"x": x}, x.sum(1, keepdims=True))


def linear(features, labels, mode, params):
  """A straight line; small, for all that is around a model. `params["more"](loss)` gives parts of the spec."""
  api = params["api"]
  weights = v1.get_variable("weights", [3, 1])
  bias = v1.get_variable("bias", [1], initializer=v1.zeros_initializer())
  value = tf.matmul(features["x"], weights) + bias
  if mode == api.ModeKeys.PREDICT:
    return api.EstimatorSpec(mode, predictions=value)
  loss = tf.reduce_mean(tf.square(value - labels))
  train_op = None
  if mode == api.ModeKeys.TRAIN:
    optimizer = v1.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, global_step=v1.train.get_global_step())
  more = params["more"](mode, loss) if "more" in params else {}
  return api.EstimatorSpec(mode, loss=loss, train_op=train_op, **more)
