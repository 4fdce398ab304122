"""A Network hands Python values among its outputs on as they are."""

import tensorflow as tf

from migrator import runtime

v1 = tf.compat.v1


def forward(features, training, params):
  """Some layers, how many there were, and what else a model_fn knows when it makes its graph."""
  found = [runtime.layers.dense(features, 2, name=f"layer_{i}") for i in range(params["layers"])]
  width = tf.compat.dimension_value(features.shape[1])
  known = {"count": len(found), "width": width, "name": "sum" if training else "mean", "none": None}
  return {"layers": found, **known}


def loss_fn(labels, layers, count, name):
  assert isinstance(count, int) and count == len(layers)
  reduce = {"sum": tf.reduce_sum, "mean": tf.reduce_mean}[name]
  return tf.add_n([reduce(tf.square(layers[i] - labels)) for i in range(count)])


def metrics_fn(labels, layers, count, width):
  return {
    "last": v1.metrics.mean(layers[count - 1] - labels),
    "sum": v1.metrics.mean(tf.constant([float(i + width) for i in range(count)])),
  }


def network():
  return runtime.Network(forward, tf.TensorSpec([None, 3], tf.float32), params={"layers": 2})


def test_values_are_those_of_the_trace_eagerly_and_in_functions():
  made = network()
  found = made(tf.ones([4, 3]), training=True)
  assert {k: found[k] for k in ("count", "width", "name", "none")} == {
    "count": 2,
    "width": 3,
    "name": "sum",
    "none": None,
  }
  assert found["layers"][1].shape == (4, 2)
  traced = []

  @tf.function(reduce_retracing=True)
  def both(x):
    traced.append([made(x, training=mode)["name"] for mode in (True, False)])
    return x

  for rows in (1, 2, 3):
    both(tf.ones([rows, 3]))
    assert made(tf.ones([rows, 3]))["name"] == "mean"
  assert traced and all(names == ["sum", "mean"] for names in traced)


def test_a_step_an_evaluation_and_a_prediction_take_them():
  made = network()
  x, y = tf.constant([[1.0, 2.0, 3.0]] * 4), tf.ones([4, 2])

  @tf.function
  def train_step(features, labels):
    with tf.GradientTape() as tape:
      outputs = made(features, training=True)
      names = ("layers", "count", "name")
      loss = loss_fn(labels, *[outputs[name] for name in names])
    return loss, tape.gradient(loss, made.trainable_variables)

  loss, gradients = train_step(x, y)
  layers = made(x)["layers"]
  expected = sum(tf.reduce_sum(tf.square(layer - y)) for layer in layers)
  tf.debugging.assert_near(loss, expected)
  assert len(gradients) == 4 and all(gradient is not None for gradient in gradients)

  dataset = tf.data.Dataset.from_tensors((x, y))
  result = runtime.evaluate(
    made, loss_fn, dataset, global_step=made.global_step, metrics=metrics_fn
  )
  tf.debugging.assert_near(result["loss"], expected / 8)
  tf.debugging.assert_near(result["last"], tf.reduce_mean(layers[1] - y))
  assert result["sum"] == 3.5  # the mean of 3 and 4

  def predictions_fn(layers, count):
    return {"last": layers[count - 1]}

  predicted = list(runtime.predict(made, dataset, loss_fn=predictions_fn))
  tf.debugging.assert_near(tf.stack([p["last"] for p in predicted]), layers[1])
