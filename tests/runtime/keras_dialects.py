"""Programs with Keras optimizers in a TF1 graph, in TensorFlow 2.15; run by an interpreter that has it.

  python keras_dialects.py DIRECTORY

Each sub-directory gets a checkpoint and truth.json: what the graph knew.

  updates: how often the optimizer was applied; the global step stays 0 where it does not count it.
  step: the global step.
  slots: {variable: {slot as Keras calls it: key}}.
  averages: {variable: key of its moving average}.
  scalars: the keys of the optimizer's counters and hyperparameters.
"""

import contextlib
import json
import os
import sys

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
older, newer = tf.keras.optimizers.legacy, tf.keras.optimizers
UPDATES = 3
OLDER = {
  "sgd": lambda: older.SGD(0.1),
  "momentum": lambda: older.SGD(0.1, momentum=0.9),
  "adam": lambda: older.Adam(0.1),
  "amsgrad": lambda: older.Adam(0.1, amsgrad=True),
  "renamed": lambda: older.Adam(0.1, name="Mine"),
  "adamax": lambda: older.Adamax(0.1),
  "nadam": lambda: older.Nadam(0.1),
  "rmsprop": lambda: older.RMSprop(0.1),
  "rmsprop_centered": lambda: older.RMSprop(0.1, momentum=0.5, centered=True),
  "adagrad": lambda: older.Adagrad(0.1),
  "adadelta": lambda: older.Adadelta(0.1),
  "ftrl": lambda: older.Ftrl(0.1),
  "schedule": lambda: older.Adam(older_schedule()),
}
NEWER = {
  "sgd": lambda: newer.SGD(0.1),
  "momentum": lambda: newer.SGD(0.1, momentum=0.9),
  "adam": lambda: newer.Adam(0.1),
  "amsgrad": lambda: newer.Adam(0.1, amsgrad=True),
  "average": lambda: newer.Adam(0.1, use_ema=True),
  "renamed": lambda: newer.Adam(0.1, name="Mine"),
  "adamax": lambda: newer.Adamax(0.1),
  "adamw": lambda: newer.AdamW(0.1),
  "lion": lambda: newer.Lion(0.1),
  "rmsprop": lambda: newer.RMSprop(0.1),
  "rmsprop_centered": lambda: newer.RMSprop(0.1, momentum=0.5, centered=True),
  "adagrad": lambda: newer.Adagrad(0.1),
  "adadelta": lambda: newer.Adadelta(0.1),
  "ftrl": lambda: newer.Ftrl(0.1),
}


def older_schedule():
  return tf.keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)


def model_fn(directory, make, scope=""):
  """Trains by hand and saves with a Saver, as a model_fn's Estimator would at a later global step."""
  with tf.Graph().as_default(), v1.Session() as session:
    v1.train.get_or_create_global_step()
    weights = [v1.get_variable("m/w", [4, 3]), v1.get_variable("m/b", [3])]
    loss = tf.reduce_mean((tf.ones([2, 4]) @ weights[0] + weights[1] - 1.0) ** 2)
    optimizer = make()
    with v1.name_scope(scope) if scope else contextlib.nullcontext():
      if isinstance(optimizer, older.Optimizer):
        update = tf.group(*optimizer.get_updates(loss, weights))
      else:
        update = optimizer.apply_gradients(zip(tf.gradients(loss, weights), weights))
    # One after the other: averages begin with the values of the weights, which the joint initializer
    # reads before or after it has set them.
    for variable in v1.global_variables():
      session.run(variable.initializer)
    for _ in range(UPDATES):
      session.run(update)
    v1.train.Saver().save(session, os.path.join(directory, "model.ckpt"), global_step=0)
    truth(directory, optimizer, weights, 0, UPDATES)


def truth(directory, optimizer, weights, step, updates):
  """Writes what the graph and the optimizer know."""
  slots, averages = {}, {}
  if isinstance(optimizer, older.Optimizer):
    for weight in weights:
      for name in optimizer.get_slot_names():
        slot = optimizer.get_slot(weight, name)
        slots.setdefault(weight.op.name, {})[name] = slot.op.name
  else:
    for name, found in slot_lists(optimizer).items():
      for weight, slot in zip(weights, found):
        where = averages if name == "average" else slots.setdefault(weight.op.name, {})
        where[weight.op.name if name == "average" else name] = slot.op.name
  names = [w.op.name for w in weights] + ["global_step"]
  names += list(averages.values()) + [key for found in slots.values() for key in found.values()]
  scalars = [
    v.op.name for v in v1.global_variables() if v.op.name not in names and v.shape.rank == 0
  ]
  with open(os.path.join(directory, "truth.json"), "w") as file:
    json.dump(
      {"step": step, "updates": updates, "slots": slots, "averages": averages, "scalars": scalars},
      file,
    )


def slot_lists(optimizer):
  """Returns the slots of a newer optimizer: name -> one per weight, by its attributes."""
  attributes = {
    "SGD": {"momentums": "m"},
    "Adam": {"_momentums": "m", "_velocities": "v", "_velocity_hats": "vhat"},
    "Adamax": {"_m": "m", "_u": "u"},
    "Lion": {"momentums": "m"},
    "RMSprop": {
      "_velocities": "velocity",
      "_momentums": "momentum",
      "_average_gradients": "average_gradient",
    },
    "Adagrad": {"_accumulators": "accumulator"},
    "Adadelta": {
      "_accumulated_grads": "accumulated_grad",
      "_accumulated_delta_vars": "accumulated_delta_var",
    },
    "Ftrl": {"_accumulators": "accumulator", "_linears": "linear"},
  }
  attributes["AdamW"] = attributes["Adam"]
  names = {**attributes[type(optimizer).__name__], "_model_variables_moving_average": "average"}
  return {name: getattr(optimizer, attribute, None) or [] for attribute, name in names.items()}


def canned(directory, build, optimizers):
  """Trains a v2 canned Estimator for three steps."""

  class Look(v1.train.SessionRunHook):
    def end(self, session):
      slots, names = {}, ["global_step"]
      for scope, optimizer in optimizers:
        for weight in v1.trainable_variables():
          names.append(weight.op.name)
          for name in optimizer.get_slot_names() if weight.op.name.startswith(scope) else ():
            slot = optimizer.get_slot(weight, name)
            slots.setdefault(weight.op.name, {})[name] = slot.op.name
            names.append(slot.op.name)
      scalars = [
        v.op.name for v in v1.global_variables() if v.op.name not in names and v.shape.rank == 0
      ]
      with open(os.path.join(directory, "truth.json"), "w") as file:
        json.dump(
          {"step": UPDATES, "updates": None, "slots": slots, "averages": {}, "scalars": scalars},
          file,
        )

  config = tf.estimator.RunConfig(model_dir=directory, tf_random_seed=1, save_summary_steps=None)
  build(config).train(input_fn, steps=UPDATES, hooks=[Look()])


def input_fn():
  features = {
    "x": np.linspace(0, 1, 8, dtype=np.float32).reshape(4, 2),
    "color": np.array([b"red", b"green", b"red", b"blue"]),
  }
  return tf.data.Dataset.from_tensors((features, np.array([0, 1, 2, 1]))).repeat()


def canned_cases():
  """Returns name -> (build, [(scope of the variables, optimizer)])."""
  column = tf.feature_column
  numeric = column.numeric_column("x", shape=[2])
  color = column.categorical_column_with_hash_bucket("color", 5)
  wide, deep = [color], [numeric, column.embedding_column(color, 2)]
  adam, ftrl, adagrad, ftrl2 = older.Adam(0.1), older.Ftrl(0.1), older.Adagrad(0.1), older.Ftrl(0.1)
  return {
    "canned_dnn": (
      lambda config: tf.estimator.DNNClassifier(
        [3], deep, n_classes=3, optimizer=adam, batch_norm=True, config=config
      ),
      [("", adam)],
    ),
    "canned_linear": (
      lambda config: tf.estimator.LinearClassifier(
        [numeric, color], n_classes=3, optimizer=ftrl, config=config
      ),
      [("", ftrl)],
    ),
    "canned_combined": (
      lambda config: tf.estimator.DNNLinearCombinedClassifier(
        linear_feature_columns=wide,
        linear_optimizer=ftrl2,
        dnn_feature_columns=deep,
        dnn_optimizer=adagrad,
        dnn_hidden_units=[3],
        n_classes=3,
        config=config,
      ),
      [("dnn", adagrad), ("linear", ftrl2)],
    ),
  }


def model_to_estimator(directory):
  """A Keras model in an Estimator: the checkpoint is an object-based one."""
  layers = tf.keras.layers
  model = tf.keras.Sequential([layers.Dense(2, input_shape=(3,)), layers.Dense(1)])
  model.compile(older.Adam(0.1), "mse")
  estimator = tf.keras.estimator.model_to_estimator(model, model_dir=directory)
  data = np.ones([2, 3], np.float32), np.ones([2, 1], np.float32)
  estimator.train(lambda: tf.data.Dataset.from_tensors(data).repeat(), steps=UPDATES)


def main():
  def target(name):
    directory = os.path.join(sys.argv[1], name)
    os.makedirs(directory)
    return directory

  for generation, cases in (("older", OLDER), ("newer", NEWER)):
    for name, make in cases.items():
      model_fn(target(f"{generation}_{name}"), make)
  for name in ("adam", "momentum"):
    model_fn(target(f"scope_{name}"), OLDER[name], "training")
  for name, (build, optimizers) in canned_cases().items():
    canned(target(name), build, optimizers)
  model_to_estimator(target("model_to_estimator"))


if __name__ == "__main__":
  main()
