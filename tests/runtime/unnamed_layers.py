"""Networks of Keras layers without names, as model_fns have them; `named_layers.py` is what the rewrite makes of them."""

import tensorflow as tf


def stack(x, training):
  hidden = tf.keras.layers.Dense(5, activation=tf.nn.relu)(x)
  hidden = tf.keras.layers.Dropout(0.5)(hidden, training=False)
  hidden = tf.keras.layers.LayerNormalization()(tf.keras.layers.Dense(4)(hidden))
  return tf.keras.layers.Dense(1, name="last")(tf.keras.layers.PReLU()(hidden))


def deferred(x, training):
  model = tf.keras.Sequential(
    [
      tf.keras.layers.Dense(5),
      tf.keras.layers.BatchNormalization(momentum=0.9),
      tf.keras.layers.Dropout(0.0),
      tf.keras.layers.Dense(4),
      tf.keras.layers.BatchNormalization(),
    ]
  )
  head = tf.keras.Sequential([tf.keras.layers.Dense(1)])
  return head(model(x, training=training))


def begun(x, training):
  layers = tf.keras.layers
  pool = layers.MaxPooling2D((2, 2), padding="same")
  model = tf.keras.Sequential(
    [
      layers.Reshape(target_shape=[2, 3, 1], input_shape=(2 * 3,)),
      layers.Conv2D(3, 2, padding="same", activation=tf.nn.relu),
      pool,
      layers.Conv2D(2, 1),
      pool,
      layers.Flatten(),
      layers.Dense(4),
      layers.Dropout(0.0),
    ]
  )
  logits = model(x, training=training)
  return tf.keras.layers.Dense(1)(logits)


def convolutions(x, training):
  image = tf.reshape(x, [-1, 2, 3, 1])
  hidden = tf.keras.layers.Conv2DTranspose(2, 2)(tf.keras.layers.SeparableConv2D(2, 1)(image))
  line = tf.keras.layers.Conv1D(2, 2)(tf.reshape(hidden, [-1, 12, 2]))
  cube = tf.keras.layers.Conv3D(2, 1)(tf.reshape(line, [-1, 11, 1, 1, 2]))
  codes = tf.keras.layers.Embedding(5, 2)(tf.cast(x > 0, tf.int32))
  return tf.reduce_sum(cube, [1, 2, 3, 4])[:, None] + tf.reduce_sum(codes, [1, 2])[:, None]


def scopes(x, training):
  with tf.name_scope("tower"):
    hidden = tf.keras.layers.Dense(5)(x)
    hidden = tf.keras.layers.Dense(4)(hidden)
  inputs = tf.keras.Input((4,))
  outputs = tf.keras.layers.Dense(3)(inputs)
  model = tf.keras.Model(inputs, outputs)
  with tf.compat.v1.variable_scope("head"):
    return tf.keras.layers.Dense(1)(model(hidden))


NETWORKS = (stack, deferred, begun, convolutions, scopes)
