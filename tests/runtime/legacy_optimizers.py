"""Trains with the real Estimator and each TF1 optimizer, for test_runtime_optimizers_continued.py.

  python legacy_optimizers.py DIRECTORY JOBS.json

JOBS.json holds [[name of the run, name of the case, whether a table is looked up, seed], ...]. Writes
DIRECTORY/<name of the run>, with checkpoints at the steps 0, 20 and 40, and DIRECTORY/losses.json.
"""

import functools
import json
import os
import re
import sys

import numpy as np
import optimizer_cases
import tensorflow as tf
from optimizer_cases import CASES, ROWS, SAVED, STEPS

v1 = tf.compat.v1


class Bert:
  """The optimizer of BERT's TF1 code, as its paper and its checkpoints describe it."""

  def __init__(self, rate, weight_decay_rate, exclude_from_weight_decay):
    self._rate = rate
    self._decay = weight_decay_rate
    self._excluded = exclude_from_weight_decay

  def apply_gradients(self, pairs, global_step):
    updates = []
    for gradient, weight in pairs:
      name = weight.name[: -len(":0")]
      make = functools.partial(
        v1.get_variable, shape=weight.shape, initializer=v1.zeros_initializer(), trainable=False
      )
      m, v = make(name + "/adam_m"), make(name + "/adam_v")
      new_m = 0.9 * m + tf.multiply(1.0 - 0.9, gradient)
      new_v = 0.999 * v + (1.0 - 0.999) * tf.square(gradient)
      update = new_m / (tf.sqrt(new_v) + 1e-6)
      if not any(re.search(expression, name) for expression in self._excluded):
        update += self._decay * weight
      new_weight = weight - self._rate * update
      updates += [weight.assign(new_weight), m.assign(new_m), v.assign(new_v)]
    return tf.group(*updates, global_step.assign_add(1))


def make_rate(case, step):
  if case.schedule == "staircase":
    return v1.train.exponential_decay(case.rate, step, 8, 0.7, staircase=True)
  if case.schedule == "polynomial":
    return v1.train.polynomial_decay(case.rate, step, 50, 0.001)
  return case.rate


def make_optimizer(case, step):
  rate = make_rate(case, step)
  if case.tf1 == "BERT":
    return Bert(rate, **case.arguments)
  return getattr(v1.train, case.tf1)(rate, **case.arguments)


def clipped(case, gradients):
  way, limit = case.clip or ("", None)
  if way == "global_clipnorm":
    return tf.clip_by_global_norm(gradients, limit)[0]
  if way == "clipnorm":
    return [tf.clip_by_norm(gradient, limit) for gradient in gradients]
  if way == "clipvalue":
    return [tf.clip_by_value(gradient, -limit, limit) for gradient in gradients]
  return gradients


def dense(name, values, units):
  with v1.variable_scope(name):
    kernel = v1.get_variable("kernel", [values.shape[1], units])
    bias = v1.get_variable("bias", [units], initializer=v1.zeros_initializer())
  return tf.nn.bias_add(tf.matmul(values, kernel), bias)


def loss_of(features, labels, sparse):
  """Builds the network; returns its loss."""
  net = features["x"]
  if sparse:
    with v1.variable_scope("lookup"):
      table = v1.get_variable("embeddings", [ROWS, 4])
    net = tf.concat([tf.reduce_mean(tf.gather(table, features["ids"]), axis=1), net], axis=1)
  net = tf.tanh(dense("hidden", net, 8))
  return optimizer_cases.loss_of(tf, labels, dense("logits", net, 3))


def update_of(case, loss, step):
  """Returns the operation that trains."""
  variables = v1.trainable_variables()
  gradients = clipped(case, tf.gradients(loss, variables))
  update = make_optimizer(case, step).apply_gradients(zip(gradients, variables), global_step=step)
  if case.ema is None:
    return update
  with tf.control_dependencies([update]):
    num_updates = step.read_value() if case.ema_num_updates else None
    return v1.train.ExponentialMovingAverage(case.ema, num_updates).apply(variables)


def model_fn(features, labels, mode, params):
  loss = loss_of(features, labels, params["sparse"])
  update = update_of(CASES[params["case"]], loss, v1.train.get_global_step())
  return v1.estimator.EstimatorSpec(mode, loss=loss, train_op=update)


class Losses(v1.train.SessionRunHook):
  def __init__(self):
    self.values = []

  def begin(self):
    self._loss = v1.get_collection(v1.GraphKeys.LOSSES)

  def before_run(self, run_context):
    return v1.train.SessionRunArgs(self._loss)

  def after_run(self, run_context, run_values):
    self.values.append(float(run_values.results[-1]))


def train(directory, case, sparse, seed):
  """Trains from the beginning; returns the losses."""
  data = optimizer_cases.batches(seed)

  def input_fn():
    parts = [np.stack(part) for part in zip(*data)]
    dataset = tf.data.Dataset.from_tensor_slices(tuple(parts))
    return dataset.map(lambda ids, x, labels: ({"ids": ids, "x": x}, labels))

  config = v1.estimator.RunConfig(
    tf_random_seed=seed,
    save_checkpoints_steps=SAVED,
    save_summary_steps=None,
    log_step_count_steps=None,
    checkpoint_save_graph_def=False,
  )
  losses = Losses()
  estimator = v1.estimator.Estimator(
    model_fn, directory, config, params={"case": case, "sparse": sparse}
  )
  estimator.train(input_fn, hooks=[losses], max_steps=STEPS)
  return losses.values


def main():
  directory, jobs = sys.argv[1:]
  with open(jobs, encoding="utf-8") as file:
    runs = json.load(file)
  losses = {
    name: train(os.path.join(directory, name), case, sparse, seed)
    for name, case, sparse, seed in runs
  }
  with open(os.path.join(directory, "losses.json"), "w", encoding="utf-8") as file:
    json.dump(losses, file)


if __name__ == "__main__":
  main()
