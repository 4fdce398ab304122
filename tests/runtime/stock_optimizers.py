"""Trains with the stock Keras optimizers and with TF1's, in one process."""

import dataclasses

import legacy_optimizers
import numpy as np
import optimizer_cases
import tensorflow as tf
from optimizer_cases import BATCH, SAVED, STEPS, Case

from migrator.rewrite import optimizer_table
from migrator.runtime import named, slots

v1 = tf.compat.v1
# One set of arguments for each optimizer, the one with the most slots or terms.
CASES = {
  "GradientDescent": Case("GradientDescentOptimizer", 0.1),
  "Momentum": Case("MomentumOptimizer", 0.05, {"momentum": 0.9, "use_nesterov": True}),
  "Adagrad": Case("AdagradOptimizer", 0.1),
  "Adam": Case("AdamOptimizer", 0.01),
  # Not centered: with sparse gradients Keras 3 ends in an InvalidArgumentError then.
  "RMSProp": Case("RMSPropOptimizer", 0.01, {"momentum": 0.5}),
  "Ftrl": Case("FtrlOptimizer", 0.1, {"learning_rate_power": -0.7, "beta": 0.5}),
  "Adadelta": Case("AdadeltaOptimizer", 1.0),
}


def tf1_run(case, sparse, data, seed):
  """Trains with TF1's optimizer; returns all variables at the steps 0, 20 and 40."""
  values = []
  with tf.Graph().as_default(), v1.Session() as session:
    v1.set_random_seed(seed)
    ids = v1.placeholder(tf.int64, [BATCH, 3])
    x = v1.placeholder(tf.float32, [BATCH, 4])
    labels = v1.placeholder(tf.int64, [BATCH])
    step = v1.train.get_or_create_global_step()
    loss = legacy_optimizers.loss_of({"ids": ids, "x": x}, labels, sparse)
    update = legacy_optimizers.update_of(case, loss, step)
    session.run(v1.global_variables_initializer())
    variables = {v.name[: -len(":0")]: v for v in v1.global_variables()}
    for number in range(STEPS + 1):
      if number % SAVED == 0:
        values.append(session.run(variables))
      if number < STEPS:
        session.run(update, dict(zip((ids, x, labels), data[number])))
  return values


def stock_optimizer(name, case):
  stock = optimizer_table.STOCK[name]
  written = {key: float(value) for key, value in stock.written.items() if key != "learning_rate"}
  arguments = {**written, **case.arguments}
  renamed = {stock.renames.get(key, key): value for key, value in arguments.items()}
  return getattr(tf.keras.optimizers, stock.name)(optimizer_cases.make_rate(tf, case), **renamed)


def differences(name, sparse, schedule, seed):
  """Trains 20 steps with the stock optimizer, from the beginning and from a TF1 state.

  Returns:
    The greatest difference of a weight from TF1's of the greatest value of its tensor, for both.
  """
  case = CASES[name]
  if schedule:
    case = dataclasses.replace(case, schedule="staircase")
  data = optimizer_cases.batches(seed)
  values = tf1_run(case, sparse, data, seed)
  model = optimizer_cases.make_model(tf, sparse)
  optimizer = stock_optimizer(name, case)
  state = slots.OptimizerState(optimizer, model.trainable_variables, "v1")
  weights = named.weight_names(model)
  step = optimizer_cases.make_step(tf, model, optimizer)
  found = []
  for begin in (0, 1):
    state.iterations.assign(begin * SAVED)
    for weight, variable in weights.items():
      variable.assign(values[begin][weight])
      for slot in state.kind.slots if begin else ():
        value = values[begin][f"{weight}/{slot.v1_suffix}"]
        if slot.transform == "times_minus_rate":
          value = value * -np.float32(case.rate)
        state.slot(slot, variable).assign(value)
    for batch in data[begin * SAVED : (begin + 1) * SAVED]:
      step(batch)
    after = values[begin + 1]
    found.append(
      max(
        np.max(np.abs(np.asarray(variable) - after[weight])) / np.max(np.abs(after[weight]))
        for weight, variable in weights.items()
      )
    )
  return found
