"""Input functions of other modules are called as the Estimator called them, and must give a Dataset."""

import functools

import pytest
import tensorflow as tf

from migrator import runtime


def data(*values):
  return tf.data.Dataset.from_tensors(values)


class Source:
  """Input functions in an object."""

  def method(self, mode, batch_size=2):
    return data(mode, batch_size)

  def __call__(self, params, mode="nothing"):
    return data(mode, str(params))


def of_mode(mode, size=3):
  return data(mode, size)


def keyword_only(size=3, *, mode="its default"):
  return data(mode, size)


@functools.wraps(of_mode)
def wrapped(size=3):
  return data("nothing", size)


CASES = {
  "a lambda": (lambda: data(b"x"), (b"x",)),
  "a function of the mode": (of_mode, (b"eval", 3)),
  "a partial": (functools.partial(of_mode, size=5), (b"eval", 5)),
  "a partial that binds the mode": (functools.partial(of_mode, "mine"), (b"mine", 3)),
  "a method": (Source().method, (b"eval", 2)),
  "an object": (Source(), (b"eval", b"{}")),
  "a keyword-only mode": (keyword_only, (b"its default", 3)),
  "a wrapped function": (wrapped, (b"nothing", 3)),
}


@pytest.mark.parametrize("name", CASES)
def test_it_gets_what_the_estimator_gave_it(name):
  function, expected = CASES[name]
  dataset = runtime.input_dataset(function, mode="eval")
  assert next(dataset.as_numpy_iterator()) == expected


if hasattr(tf, "estimator"):  # the real one went with TensorFlow 2.16

  def test_the_estimator_gave_the_same(tmp_path):
    made = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], str(tmp_path))
    for function, expected in CASES.values():
      with tf.Graph().as_default():
        iterator = tf.compat.v1.data.make_one_shot_iterator(made._call_input_fn(function, "eval"))
        with tf.compat.v1.Session() as session:
          assert session.run(iterator.get_next()) == expected


def test_tensors_are_no_dataset():
  with pytest.raises(
    TypeError, match=r"function .*tensors returned a tuple, not a tf.data.Dataset"
  ):

    def tensors():
      return {"x": tf.constant([1.0])}, tf.constant([0])

    runtime.input_dataset(tensors)


def test_a_run_config_and_an_unknown_mode_are_refused():
  with pytest.raises(TypeError, match="of_config takes `config`"):

    def of_config(config=None):
      return data(0)

    runtime.input_dataset(of_config, mode="train")
  with pytest.raises(TypeError, match="of_mode takes `mode`"):
    runtime.input_dataset(of_mode)
