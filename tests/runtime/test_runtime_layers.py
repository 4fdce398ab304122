"""Layers of the runtime against TF1's: recordings of TF 1.15, and this TensorFlow's own."""

import inspect

import layer_comparisons as same
import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime
from migrator.runtime import layers

v1 = tf.compat.v1
NORMALIZATIONS = ("normalization", "more_normalization", "getters")


@pytest.mark.parametrize("name", sorted(same.LAYERS.CASES))
def test_layers_have_the_names_and_numbers_of_tf_1_15(name):
  same.assert_same(same.ours(same.LAYERS.CASES[name], steps=2), same.RECORDED[name])


@pytest.mark.parametrize("name", sorted(same.LAYERS.CASES))
def test_layers_have_the_names_and_numbers_of_this_tensorflow(name):
  if name in NORMALIZATIONS and not same.has_own_normalization():
    # Nothing to compare with after TF 2.15: the case has to fail for exactly that reason.
    with pytest.raises(AttributeError, match="batch_normalization"):
      same.theirs(same.LAYERS.CASES[name])
    return
  case = same.LAYERS.CASES[name]
  same.assert_same(same.ours(case), same.theirs(case), names=True)


@pytest.mark.parametrize("name", sorted(n for n in layers.__all__ if n.islower()))
def test_functions_have_the_arguments_of_this_tensorflow(name):
  if name == "batch_normalization" and not same.has_own_normalization():
    return
  theirs = inspect.signature(getattr(same.own_modules()[0], name)).parameters
  ours = inspect.signature(getattr(layers, name)).parameters
  assert list(ours) == list(theirs)
  plain = (type(None), bool, int, float, str, tuple)
  for key in theirs:
    default = theirs[key].default
    if isinstance(default, plain) and not isinstance(default, tuple):
      assert ours[key].default == default or key in ("data_format", "strides", "dilation_rate"), key


@pytest.mark.parametrize("shape", [None, (4, 1), (None, 5)])
def test_dropout_with_a_seed_has_the_mask_of_this_tensorflow(shape):
  def masks(module):
    with tf.Graph().as_default():
      v1.set_random_seed(3)
      x = tf.ones([4, 5])
      training = v1.placeholder_with_default(True, [])
      made = [
        module.dropout(x, 0.4, noise_shape=shape, seed=5, training=on) for on in (True, training)
      ]
      with v1.Session() as session:
        return session.run(made)

  ours, theirs = masks(layers), masks(same.own_modules()[0])
  assert 0 < np.sum(ours[0] == 0) < 20
  np.testing.assert_array_equal(ours, theirs)


def test_layers_find_their_variables_in_every_graph_of_a_function():
  layer = layers.Dense(2, kernel_regularizer=lambda w: tf.reduce_sum(w * w))

  def forward(features, training):
    hidden = layers.dense(layer(features), 3)
    return layers.batch_normalization(hidden, training=training) + layer(features)[:, :1]

  network = runtime.Network(forward)

  @tf.function
  def step(x):
    outputs = network(x, training=True)
    return outputs, tf.add_n(network.losses)

  wide, loss = step(tf.ones([4, 3]))
  variables = {v.name.split(":")[0]: v for v in network.variables}
  before = variables["batch_normalization/moving_mean"].numpy()
  _, again = step(tf.ones([2, 3]))
  assert np.any(variables["batch_normalization/moving_mean"].numpy() != before)
  assert sorted(n for n in variables if "dense" in n) == [
    "dense/bias",
    "dense/kernel",
    "dense_1/bias",
    "dense_1/kernel",
  ]
  np.testing.assert_allclose(loss, np.sum(variables["dense/kernel"].numpy() ** 2), rtol=1e-6)
  assert float(loss) == float(again)
  assert wide.shape == (4, 3)


@pytest.mark.parametrize("renorm", [False, True])
@pytest.mark.parametrize("shape", [(8, 2), (8, 3, 2, 2)])
def test_a_network_does_not_move_the_statistics_of_a_layer_that_is_not_trained(shape, renorm):
  def forward(features, training):
    return layers.batch_normalization(features, training=training, trainable=False, renorm=renorm)

  features = tf.constant(np.random.RandomState(0).uniform(3, 5, shape), tf.float32)
  network = runtime.Network(forward, tf.TensorSpec([None, *shape[1:]]))
  before = {name: v.numpy() for name, v in network.named_variables.items()}
  outputs = network(features, training=True)
  for name, value in before.items():
    np.testing.assert_array_equal(network.named_variables[name], value, name)
  if not renorm:
    # They are not what it normalizes with in training.
    assert abs(float(tf.reduce_mean(outputs))) < 1e-5


@pytest.mark.parametrize("fused", [None, True])
@pytest.mark.parametrize("training", [True, False])
def test_images_of_double_precision_are_normalized_without_the_fused_operation(fused, training):
  with tf.Graph().as_default():
    x = tf.constant(np.random.RandomState(0).uniform(size=(2, 4, 3, 2)))
    found, expected = (
      layers.batch_normalization(x, training=training, fused=one) for one in (fused, False)
    )
    with v1.Session() as session:
      session.run(v1.global_variables_initializer())
      np.testing.assert_array_equal(*session.run([found, expected]))


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("spec", [layers.InputSpec, tf.keras.layers.InputSpec])
def test_layers_of_a_program_may_say_what_their_inputs_are_as_in_keras(many, spec):
  class Scaled(layers.Layer):
    def build(self, input_shape):
      del input_shape
      self.input_spec = [spec(ndim=2), spec(axes={-1: 3})] if many else spec(ndim=2)
      self.factor = self.add_weight("factor", [3])
      self.built = True

    def call(self, inputs):
      return inputs[0] * self.factor if many else inputs * self.factor

  def inputs(*shape):
    return [tf.zeros([2, 3]), tf.zeros(shape)] if many else tf.zeros(shape)

  with tf.Graph().as_default():
    assert Scaled()(inputs(2, 3)).shape == (2, 3)
    with pytest.raises(ValueError, match=r"needs (2 dimensions|size 3 in axis -1)"):
      Scaled()(inputs(2, 4) if many else inputs(2, 3, 1))


def test_channels_in_front_give_what_channels_at_the_end_give():
  with tf.Graph().as_default():
    last = tf.constant(np.random.RandomState(0).uniform(size=(2, 6, 5, 3)), tf.float32)
    front = tf.transpose(last, [0, 3, 1, 2])
    pairs = []
    for i, make in enumerate(
      (
        lambda x, **k: layers.conv2d_transpose(x, 2, 3, 2, **k),
        lambda x, **k: layers.max_pooling2d(x, 2, 2, data_format=k["data_format"]),
        lambda x, **k: layers.average_pooling2d(x, 2, 1, "same", data_format=k["data_format"]),
      )
    ):
      at_end = make(last, data_format="channels_last", name=f"made_{i}")
      with v1.variable_scope("", reuse=v1.AUTO_REUSE):
        in_front = make(front, data_format="channels_first", name=f"made_{i}", reuse=True)
      pairs.append((at_end, tf.transpose(in_front, [0, 2, 3, 1])))
    with v1.Session() as session:
      session.run(v1.global_variables_initializer())
      for one, other in session.run(pairs):
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize(
  ("make", "message"),
  [
    (lambda: layers.dense(tf.zeros([2]), 3), "at least 2 dimensions"),
    (lambda: layers.dense(tf.zeros([2, 3]), 3, activation="unknown"), "Unknown activation"),
    (lambda: layers.dense(v1.placeholder(tf.float32, [2, None]), 3), "last dimension is not known"),
    (lambda: layers.conv2d(tf.zeros([1, 4, 4, 2]), 3, (1, 2, 3)), "`kernel_size` must be"),
    (lambda: layers.conv2d(tf.zeros([1, 4, 4, 2]), 3, 2, padding="full"), "`padding` must be"),
    (lambda: layers.max_pooling1d(tf.zeros([1, 4, 4]), 2, None), "`strides` must not be None"),
    (lambda: layers.BatchNormalization(fused=True, renorm=True), "`fused=True` is for one axis"),
    (lambda: layers.batch_normalization(tf.zeros([2, 3]), axis=4), "axis 4 of inputs with 2"),
    (lambda: layers.Dense(3).scope_name, "has no name before its first call"),
  ],
)
def test_wrong_arguments_are_said(make, message):
  with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
    make()
