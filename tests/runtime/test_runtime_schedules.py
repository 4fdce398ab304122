"""Falling learning rates: TF1's functions of the global step, and the Keras schedules in their place."""

import math

import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime

train = tf.compat.v1.train
schedules = tf.keras.optimizers.schedules
# Around the boundaries and the ends of the schedules below.
STEPS = (0, 1, 4, 5, 6, 9, 10, 11, 19, 20, 21, 30, 31, 1000)


@pytest.mark.parametrize(
  ("tf1", "keras"),
  [
    (
      lambda step: train.exponential_decay(0.1, step, 10, 0.9),
      schedules.ExponentialDecay(0.1, decay_steps=10, decay_rate=0.9),
    ),
    (
      lambda step: train.exponential_decay(0.1, step, 10, 0.9, staircase=True),
      schedules.ExponentialDecay(0.1, decay_steps=10, decay_rate=0.9, staircase=True),
    ),
    (
      lambda step: train.natural_exp_decay(0.1, step, 10, 0.5),
      schedules.ExponentialDecay(0.1, decay_steps=10, decay_rate=math.exp(-0.5)),
    ),
    (
      lambda step: train.natural_exp_decay(0.1, step, 10, 0.5, staircase=True),
      schedules.ExponentialDecay(0.1, decay_steps=10, decay_rate=math.exp(-0.5), staircase=True),
    ),
    (
      lambda step: train.inverse_time_decay(0.1, step, 10, 0.5),
      schedules.InverseTimeDecay(0.1, decay_steps=10, decay_rate=0.5),
    ),
    (
      lambda step: train.inverse_time_decay(0.1, step, 10, 0.5, staircase=True),
      schedules.InverseTimeDecay(0.1, decay_steps=10, decay_rate=0.5, staircase=True),
    ),
    (
      lambda step: train.polynomial_decay(0.1, step, 20),
      schedules.PolynomialDecay(0.1, decay_steps=20),
    ),
    (
      lambda step: train.polynomial_decay(0.1, step, 10, 0.01, power=2.0, cycle=True),
      schedules.PolynomialDecay(0.1, decay_steps=10, end_learning_rate=0.01, power=2.0, cycle=True),
    ),
    (
      lambda step: train.piecewise_constant(step, [5, 20], [0.1, 0.05, 0.01]),
      schedules.PiecewiseConstantDecay([5, 20], values=[0.1, 0.05, 0.01]),
    ),
    (
      lambda step: train.cosine_decay(0.1, step, 20, alpha=0.1),
      schedules.CosineDecay(0.1, decay_steps=20, alpha=0.1),
    ),
    (
      lambda step: train.cosine_decay_restarts(0.1, step, 10, m_mul=0.5),
      schedules.CosineDecayRestarts(0.1, first_decay_steps=10, m_mul=0.5),
    ),
  ],
)
def test_keras_schedule_gives_the_rates_of_tf1(tf1, keras):
  with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    step = tf.compat.v1.placeholder(tf.int64, [])
    rate = tf1(step)
    rate = rate() if callable(rate) else rate
    expected = [session.run(rate, {step: value}) for value in STEPS]
  rates = [float(keras(tf.constant(value, tf.int64))) for value in STEPS]
  assert len(set(expected)) > 2
  # Near the end of a cosine the first rate is rounded before it is taken off.
  np.testing.assert_allclose(rates, expected, rtol=1e-6, atol=1e-8)


def test_number_of_classes_chooses_the_head():
  two = runtime.heads.for_classes(2, weight_column="w", loss_reduction="sum")
  assert isinstance(two, runtime.heads.BinaryClassHead)
  assert two.logits_dimension == 1
  four = runtime.heads.for_classes(4, label_vocabulary=list("abcd"))
  assert isinstance(four, runtime.heads.MultiClassHead)
  assert four.logits_dimension == 4
  with pytest.raises(ValueError, match="n_classes must be >= 2"):
    runtime.heads.for_classes(1)
