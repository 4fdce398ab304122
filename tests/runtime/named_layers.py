"""What the rewrite makes of the networks of `unnamed_layers.py`."""

import tensorflow as tf

from migrator import runtime


def stack(x, training):
  hidden = tf.keras.layers.Dense(5, activation=tf.nn.relu, name="dense")(x)
  hidden = tf.keras.layers.Dropout(0.5)(hidden, training=False)
  hidden = tf.keras.layers.LayerNormalization(name="layer_normalization")(
    tf.keras.layers.Dense(4, name="dense_1")(hidden)
  )
  return tf.keras.layers.Dense(1, name="last")(tf.keras.layers.PReLU(name="p_re_lu")(hidden))


def deferred(x, training):
  model = tf.keras.Sequential(
    [
      tf.keras.layers.Dense(5, name="dense"),
      tf.keras.layers.BatchNormalization(momentum=0.9, name="batch_normalization"),
      tf.keras.layers.Dropout(0.0),
      tf.keras.layers.Dense(4, name="dense_1"),
      tf.keras.layers.BatchNormalization(name="batch_normalization_1"),
    ],
    name="sequential",
  )
  head = tf.keras.Sequential([tf.keras.layers.Dense(1, name="dense_2")], name="sequential_1")
  return head(model(x, training=training))


def begun(x, training):
  layers = tf.keras.layers
  pool = layers.MaxPooling2D((2, 2), padding="same")
  model = runtime.sequential(
    [
      layers.Reshape(target_shape=[2, 3, 1], name="first_layer"),
      layers.Conv2D(3, 2, padding="same", activation=tf.nn.relu, name="conv2d"),
      pool,
      layers.Conv2D(2, 1, name="conv2d_1"),
      pool,
      layers.Flatten(),
      layers.Dense(4, name="dense"),
      layers.Dropout(0.0),
    ],
    input_shape=(2 * 3,),
  )
  logits = model(x, training=training)
  return tf.keras.layers.Dense(1, name="dense_1")(logits)


def convolutions(x, training):
  image = tf.reshape(x, [-1, 2, 3, 1])
  hidden = tf.keras.layers.Conv2DTranspose(2, 2, name="conv2d_transpose")(
    tf.keras.layers.SeparableConv2D(2, 1, name="separable_conv2d")(image)
  )
  line = tf.keras.layers.Conv1D(2, 2, name="conv1d")(tf.reshape(hidden, [-1, 12, 2]))
  cube = tf.keras.layers.Conv3D(2, 1, name="conv3d")(tf.reshape(line, [-1, 11, 1, 1, 2]))
  codes = tf.keras.layers.Embedding(5, 2, name="embedding")(tf.cast(x > 0, tf.int32))
  return tf.reduce_sum(cube, [1, 2, 3, 4])[:, None] + tf.reduce_sum(codes, [1, 2])[:, None]


def scopes(x, training):
  with tf.name_scope("tower"):
    hidden = tf.keras.layers.Dense(5, name="dense")(x)
    hidden = tf.keras.layers.Dense(4, name="dense_1")(hidden)
  inputs = tf.keras.Input((4,))
  outputs = tf.keras.layers.Dense(3, name="dense_2")(inputs)
  model = tf.keras.Model(inputs, outputs)
  with tf.compat.v1.variable_scope("head"):
    return tf.keras.layers.Dense(1, name="dense_3")(model(hidden))


NETWORKS = (stack, deferred, begun, convolutions, scopes)
