"""Trains the networks of unnamed_layers.py with the real Estimator; needs TensorFlow 2.15.

Usage: python legacy_unnamed_layers.py <directory>
Each leaves its model directory there, with checkpoints of the first step and of the third.
"""

import pathlib
import sys

import numpy as np
import tensorflow.compat.v1 as tf
import unnamed_layers


def input_fn():
  random = np.random.RandomState(3)
  x = random.randn(8, 6).astype(np.float32)
  return tf.data.Dataset.from_tensors((x, x[:, :1] - x[:, 1:2])).repeat()


def model_fn(features, labels, mode, params):
  outputs = params["network"](features, mode == tf.estimator.ModeKeys.TRAIN)
  loss = tf.reduce_mean(tf.square(outputs - labels))
  # Those of Keras layers are in no collection; those in no model's scope are of a model's own input.
  operations = tf.get_default_graph().get_operations()
  updates = [op for op in operations if op.type.startswith("AssignSub")]
  updates = [op for op in updates if op.name.startswith("sequential")]
  train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_global_step())
  return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.group(train_op, *updates))


def main():
  for network in unnamed_layers.NETWORKS:
    config = tf.estimator.RunConfig(tf_random_seed=5, save_summary_steps=None)
    directory = str(pathlib.Path(sys.argv[1]) / network.__name__)
    estimator = tf.estimator.Estimator(model_fn, directory, config, {"network": network})
    estimator.train(input_fn, max_steps=1)
    estimator.train(input_fn, max_steps=3)


if __name__ == "__main__":
  main()
