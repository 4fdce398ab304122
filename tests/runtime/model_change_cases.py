"""What `tf.contrib.estimator` changes of models and optimizers.

Runs in Python 3.7 with TensorFlow 1.15, too. A case is a function (tf, contrib, make) -> what it tells; `make` makes
an Estimator of a model_fn.
"""

import numpy as np

CASES = {}


def case(function):
  """Registers a case under the name of its function."""
  CASES[function.__name__] = function
  return function


def _numbers(value):
  return [float(format(float(one), ".9g")) for one in np.asarray(value).ravel()]


def _after(tf, train_op, steps=2):
  """Returns the values of all variables after some steps, by their names."""
  v1 = tf.compat.v1
  with v1.Session() as session:
    session.run(v1.global_variables_initializer())
    for _ in range(steps):
      session.run(train_op)
    values = session.run({one.op.name: one for one in v1.global_variables()})
  return {name: _numbers(value) for name, value in values.items()}


def _weights(tf, name="w"):
  return tf.compat.v1.get_variable(name, initializer=np.float32([3.0, -4.0]), use_resource=True)


@case
def gradients_are_clipped_by_their_norm(tf, contrib, make):
  v1 = tf.compat.v1
  first, second = _weights(tf), _weights(tf, "v")
  loss = tf.reduce_sum(first * [30.0, 40.0]) + tf.reduce_sum(second * second)
  made = v1.train.MomentumOptimizer(0.1, 0.9)
  optimizer = contrib.clip_gradients_by_norm(made, 2.0)
  step = v1.train.get_or_create_global_step()
  train_op = optimizer.minimize(loss, global_step=step)
  return {
    "name": optimizer.get_name(),
    "slots": optimizer.get_slot_names(),
    "slot": optimizer.get_slot(first, "momentum").op.name,
    "after": _after(tf, train_op),
  }


@case
def one_tower_is_the_model_itself(tf, contrib, make):
  v1 = tf.compat.v1

  def model_fn(features, labels, mode, params):
    params["seen"] = True  # of a copy
    logits = features["x"] * _weights(tf)
    loss = tf.reduce_mean(tf.square(logits - labels))
    optimizer = contrib.TowerOptimizer(lambda: v1.train.AdamOptimizer(params["rate"]))
    train_op = optimizer.minimize(loss, global_step=v1.train.get_global_step())
    found["tower"] = [optimizer.get_name(), optimizer.get_slot_names()]
    return found["spec"](mode, loss=loss, train_op=train_op)

  found = {"spec": make.spec}
  params = {"rate": 0.1}
  step = v1.train.get_or_create_global_step()
  replicated = contrib.replicate_model_fn(model_fn, devices=["/device:CPU:0"])
  features = {"x": tf.constant([[1.0, 2.0], [3.0, 1.0]])}
  labels = tf.constant([[0.5, 0.5], [1.0, 1.0]])
  spec = replicated(features, labels, "train", params=params)
  return {
    "params": sorted(params),
    "tower": found["tower"],
    "step": step.op.name,
    "after": _after(tf, spec.train_op),
  }


def _forwarded(tf, contrib, make, *arguments, **more):
  def model_fn(features, labels, mode):
    predictions = {"p": features["x"] * 2.0}
    outputs = {
      "serving_default": make.outputs.RegressionOutput(predictions["p"]),
      "predict": make.outputs.PredictOutput(predictions),
    }
    return make.spec(mode, predictions=predictions, export_outputs=outputs)

  estimator = contrib.forward_features(make(model_fn), *arguments, **more)
  features = {
    "x": tf.constant([[1.0], [2.0]]),
    "id": tf.constant([7, 8]),
    "tags": tf.SparseTensor([[0, 1]], [5], [2, 2]),
  }
  if more.get("keys") is None and not arguments and "sparse_default_values" not in more:
    del features["tags"]
  spec = estimator.model_fn(features, None, "infer", estimator.config)
  outputs = spec.export_outputs["predict"].outputs
  with tf.compat.v1.Session() as session:
    values, exported = session.run([spec.predictions, outputs])
  return {
    "predictions": {key: _numbers(value) for key, value in values.items()},
    "exported": {key: _numbers(value) for key, value in exported.items()},
  }


@case
def a_feature_is_forwarded(tf, contrib, make):
  return _forwarded(tf, contrib, make, "id")


@case
def all_features_are_forwarded(tf, contrib, make):
  return _forwarded(tf, contrib, make)


@case
def sparse_features_are_forwarded_with_a_default(tf, contrib, make):
  return _forwarded(tf, contrib, make, keys=["tags", "x"], sparse_default_values={"tags": -1})


def run(tf, contrib, make, name):
  """Tells what a case does, in a graph of its own."""
  with tf.Graph().as_default():
    return CASES[name](tf, contrib, make)
