"""Fits a line with a model_fn; no flag, no print, its model directory is relative."""
import numpy as np
import tensorflow as tf

x = np.linspace(0, 1, 40).astype(np.float32)[:, None]


def input_fn():
  return tf.data.Dataset.from_tensor_slices((x, 3 * x + 1)).batch(4)


def model_fn(features, labels, mode):
  outputs = tf.compat.v1.layers.dense(features, 1, name="line")
  loss = tf.reduce_mean(tf.square(outputs - labels))
  optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)
  train_op = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
  return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


config = tf.estimator.RunConfig(save_checkpoints_steps=3, keep_checkpoint_max=2)
tf.estimator.Estimator(model_fn, "models/line", config).train(input_fn)
