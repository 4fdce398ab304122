"""The names of a model's weights are the same under every Keras, and for every model of a process.

The lists stand here, and the tests run within both versions.
"""

import pytest
import tensorflow as tf

from migrator import runtime
from migrator.runtime.weight_names import weight_names

keras = tf.keras
layers = tf.keras.layers


def chain(shape, *parts):
  """Returns a sequential model; Keras makes up its name."""
  return keras.Sequential([keras.Input(shape), *parts])


class Block(layers.Layer):
  """Layers in attributes, in a list and in a dictionary; the last ones have made-up names."""

  def __init__(self, **kwargs):
    super().__init__(**kwargs)
    self.first = layers.Dense(2, name="fc")
    self.many = [layers.Dense(2) for _ in range(2)]
    self.heads = {"x": layers.Dense(2)}

  def build(self, shape):
    self.scale = self.add_weight(name="s", shape=(2,))
    self.first.build(shape)
    for layer in [*self.many, *self.heads.values()]:
      layer.build((None, 2))
    self.built = True

  def call(self, x):
    x = self.first(x)
    for layer in [*self.many, *self.heads.values()]:
      x = layer(x)
    return x * self.scale


class Subclassed(keras.Model):
  """Two parts with layers of one name, blocks in a list, and weights of its own."""

  def __init__(self):
    super().__init__()
    self.encoder = keras.Sequential([layers.Dense(2, name="fc")], name="enc")
    self.decoder = keras.Sequential([layers.Dense(2, name="fc")])
    self.blocks = [Block() for _ in range(2)]
    self.scales = [self.add_weight(name="scale", shape=(2,)) for _ in range(2)]

  def call(self, x):
    x = self.decoder(self.encoder(x))
    for block, scale in zip(self.blocks, self.scales):
      x = block(x) * scale
    return x


def subclassed():
  model = Subclassed()
  model(tf.zeros((1, 3)))
  return model


def attention():
  x = keras.Input((5, 8))
  return keras.Model(x, layers.MultiHeadAttention(2, 4, name="att")(x, x))


def shared():
  """One layer twice, and two nested models with layers of one name."""
  parts = [keras.Sequential([keras.Input((3,)), layers.Dense(3, name="fc")], name=n) for n in "ab"]
  layer = layers.Dense(3, name="fc")
  x = keras.Input((3,))
  return keras.Model(x, parts[1](parts[0](layer(layer(x)))))


class Tied(layers.Layer):
  """Holds a layer that stands in the model as well."""

  def __init__(self, layer, **kwargs):
    super().__init__(**kwargs)
    self.table = layer

  def call(self, x):
    return tf.matmul(x, self.table.embeddings, transpose_b=True)


def tied():
  table = layers.Embedding(7, 3, name="emb")
  x = keras.Input((5,), dtype="int32")
  return keras.Model(x, Tied(table, name="a")(table(x)))


BLOCK = "scale fc/{0} many/0/{0} many/1/{0} heads/x/{0}"
CELL = "kernel recurrent_kernel bias"


def expand(prefix, names):
  """Returns full names; {0} stands for a kernel and a bias."""
  each = [n.format(a) for n in names.split() for a in (("kernel", "bias") if "{" in n else ("",))]
  return [prefix + name for name in each]


CASES = {
  "lstm": (lambda: chain((5, 3), layers.LSTM(2, name="r")), expand("r/", CELL)),
  "gru": (lambda: chain((5, 3), layers.GRU(2, name="r")), expand("r/", CELL)),
  "cell": (lambda: chain((5, 3), layers.RNN(layers.LSTMCell(2), name="r")), expand("r/", CELL)),
  "stacked cells": (
    lambda: chain((5, 3), layers.RNN([layers.LSTMCell(2), layers.GRUCell(2, name="g")], name="r")),
    [*expand("r/cells/0/", CELL), *expand("r/g/", CELL)],
  ),
  "bidirectional": (
    lambda: chain((5, 3), layers.Bidirectional(layers.LSTM(2), name="b")),
    [*expand("b/forward_lstm/", CELL), *expand("b/backward_lstm/", CELL)],
  ),
  "bidirectional, named": (
    lambda: chain((5, 3), layers.Bidirectional(layers.LSTM(2, name="enc"), name="b")),
    [*expand("b/forward_enc/", CELL), *expand("b/backward_enc/", CELL)],
  ),
  "time distributed": (
    lambda: chain((5, 3), layers.TimeDistributed(layers.Dense(2), name="t")),
    expand("t/", "{0}"),
  ),
  "spectral normalization": (
    lambda: chain((3,), layers.SpectralNormalization(layers.Dense(2), name="s")),
    [*expand("s/", "{0}"), "s/vector_u"],
  ),
  "attention": (attention, expand("att/", "query/{0} key/{0} value/{0} attention_output/{0}")),
  "einsum": (
    lambda: chain(
      (5, 8), layers.EinsumDense("abc,cde->abde", (None, 2, 4), bias_axes="de", name="q")
    ),
    expand("q/", "{0}"),
  ),
  "convolutions": (
    lambda: chain(
      (8, 8, 3),
      layers.SeparableConv2D(2, 3, name="s"),
      layers.DepthwiseConv2D(3, name="d"),
      layers.Conv2DTranspose(2, 3, name="c"),
    ),
    "s/depthwise_kernel s/pointwise_kernel s/bias d/depthwise_kernel d/bias c/kernel c/bias".split(),
  ),
  "convolutional lstm": (
    lambda: chain((4, 8, 8, 1), layers.ConvLSTM2D(2, 3, name="c")),
    expand("c/", CELL),
  ),
  "normalizations": (
    lambda: chain(
      (3,),
      layers.BatchNormalization(name="b"),
      layers.LayerNormalization(name="l"),
      layers.PReLU(name="p"),
    ),
    "b/gamma b/beta b/moving_mean b/moving_variance l/gamma l/beta p/alpha".split(),
  ),
  "embedding and dropout": (
    lambda: chain((5,), layers.Embedding(7, 3, name="e"), layers.Dropout(0.5, name="d")),
    ["e/embeddings"],
  ),
  "a layer of layers": (lambda: chain((3,), Block(name="k")), expand("k/", BLOCK)),
  "a subclassed model": (
    subclassed,
    [
      *expand("", "scales/0 scales/1 enc/fc/{0} decoder/fc/{0}"),
      *expand("blocks/0/", BLOCK),
      *expand("blocks/1/", BLOCK),
    ],
  ),
  "shared layers": (shared, expand("", "a/fc/{0} b/fc/{0} fc/{0}")),
  "tied weights": (tied, ["emb/embeddings"]),
}


@pytest.mark.parametrize("case", CASES)
def test_names_are_the_same_under_every_keras_and_for_every_model_of_a_process(case):
  make, expected = CASES[case]
  models = [make(), make()]
  for model in models:
    names = weight_names(model)
    assert sorted(names) == sorted(expected)
    assert [id(w) for w in names.values()] == [id(w) for w in model.weights]


def test_a_scope_stands_before_all_names():
  model = chain((3,), layers.Dense(2, name="fc"))
  assert list(weight_names(model, "dnn/x")) == ["dnn/x/fc/kernel", "dnn/x/fc/bias"]


def test_two_weights_of_one_name_are_refused():
  class Twice(layers.Layer):
    def __init__(self):
      super().__init__(name="k")
      self.first = layers.Dense(2, name="fc")
      self.second = layers.Dense(2, name="fc")

    def build(self, shape):
      self.first.build(shape)
      self.second.build(shape)
      self.built = True

    def call(self, x):
      return self.first(x) + self.second(x)

  with pytest.raises(ValueError, match="Two weights of the model are called k/fc/"):
    weight_names(chain((3,), Twice()))


def test_what_keras_does_not_track_is_never_left_behind_in_silence():
  class Hidden(keras.Model):
    def __init__(self):
      super().__init__()
      self.shift = tf.Variable([1.0])

    def call(self, x):
      return x + self.shift

  model = Hidden()
  model(tf.zeros((1, 1)))
  if isinstance(model, tf.Module):  # Keras 2 tracks it.
    assert list(weight_names(model)) == ["shift"]
  else:
    with pytest.raises(ValueError, match=r"shift is a tf\.Variable that Keras"):
      weight_names(model)


def test_a_checkpoint_by_name_fits_the_second_model_of_a_process(tmp_path):
  first, second = subclassed(), subclassed()
  for weight in first.weights:
    weight.assign(tf.random.normal(weight.shape))
  prefix = runtime.named_checkpoint(first, None).write(str(tmp_path / "ckpt"))
  runtime.named_checkpoint(second, None).restore(prefix)
  for old, new in zip(first.get_weights(), second.get_weights()):
    assert (old == new).all()
