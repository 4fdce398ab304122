"""Fits a line with a loop written by hand, with nothing but TensorFlow."""
import numpy as np
import tensorflow as tf

EVERY = 3
x = np.linspace(0, 1, 40).astype(np.float32)[:, None]
dataset = tf.data.Dataset.from_tensor_slices((x, 3 * x + 1)).batch(4)

kernel = tf.Variable(tf.random.uniform([1, 1]))
bias = tf.Variable([0.0])
step = tf.Variable(0, dtype=tf.int64)
checkpoint = tf.train.Checkpoint(kernel=kernel, bias=bias, step=step)


def initialize():
  old = tf.train.latest_checkpoint("models/line")
  if old:
    reader = tf.train.load_checkpoint(old)
    kernel.assign(reader.get_tensor("line/kernel"))
    bias.assign(reader.get_tensor("line/bias"))
    step.assign(reader.get_tensor("global_step"))


manager = tf.train.CheckpointManager(
    checkpoint, "models/line/tf2", max_to_keep=2, checkpoint_name="model.ckpt",
    step_counter=step, init_fn=initialize)


@tf.function
def train_step(features, labels):
  with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(features @ kernel + bias - labels))
  for variable, gradient in zip([kernel, bias], tape.gradient(loss, [kernel, bias])):
    variable.assign_sub(0.1 * gradient)
  step.assign_add(1)


manager.restore_or_initialize()
manager.save(checkpoint_number=step)
saved = int(step)
for features, labels in dataset:
  train_step(features, labels)
  if int(step) == saved + EVERY:
    manager.save(checkpoint_number=step)
    saved = int(step)
if int(step) != saved:
  manager.save(checkpoint_number=step)
