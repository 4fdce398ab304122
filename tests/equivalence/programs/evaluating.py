"""Trains unless told otherwise, may be interrupted, then evaluates and predicts."""
import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--max_steps", type=int, default=10)
parser.add_argument("--interrupt_at", type=int, default=0)
parser.add_argument("--no_training", action="store_true")
args = parser.parse_args()

random = np.random.RandomState(3)
x_train = random.rand(64, 4).astype(np.float32)
y_train = random.randint(3, size=64)


class InterruptHook(tf.estimator.SessionRunHook):
  """Interrupts the training artificially."""

  def begin(self):
    self._steps = 0

  def after_run(self, run_context, run_values):
    self._steps += 1
    if self._steps == args.interrupt_at:
      raise RuntimeError("Interruption")


def train_input_fn():
  return tf.data.Dataset.from_tensor_slices(({"x": x_train}, y_train)).repeat().batch(16)


def eval_input_fn():
  return tf.data.Dataset.from_tensor_slices(({"x": x_train}, y_train)).batch(24)


classifier = tf.estimator.DNNClassifier(
    feature_columns=[tf.feature_column.numeric_column("x", shape=[4])],
    hidden_units=[8],
    n_classes=3,
    model_dir="model_dir",
    config=tf.estimator.RunConfig(save_checkpoints_steps=4))

if not args.no_training:
  try:
    classifier.train(train_input_fn, hooks=[InterruptHook()], max_steps=args.max_steps)
  except RuntimeError as e:
    print(f"{type(e).__name__}: {e}")

for prediction in classifier.predict(eval_input_fn):
  print(prediction["class_ids"][0], end=" ")
print(classifier.evaluate(eval_input_fn))
