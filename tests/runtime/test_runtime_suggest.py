"""A map that is suggested for a hand-written Keras model and a checkpoint of TF1."""

import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime

v1 = tf.compat.v1
layers = tf.keras.layers


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
  """The checkpoint of a graph with Adam, and the values of its variables."""
  directory = tmp_path_factory.mktemp("trained")
  with tf.Graph().as_default(), v1.Session() as session:
    v1.set_random_seed(1)
    variables = {}
    x = tf.constant(np.random.RandomState(0).rand(8, 4), tf.float32)
    with v1.variable_scope("net"):
      for name, units in (("hidden", 6), ("out", 3)):
        with v1.variable_scope(name):
          kernel = v1.get_variable("weights", (x.shape[1], units))
          bias = v1.get_variable("biases", (units,))
        variables.update({kernel.op.name: kernel, bias.op.name: bias})
        x = tf.nn.tanh(x @ kernel + bias)
    step = v1.train.get_or_create_global_step()
    train = v1.train.AdamOptimizer().minimize(tf.reduce_sum(x**2), step)
    session.run(v1.global_variables_initializer())
    for _ in range(3):
      session.run(train)
    prefix = v1.train.Saver().save(session, str(directory / "model.ckpt"), global_step=3)
    return prefix, session.run(variables)


def model(*names, units=(6, 3)):
  parts = [layers.Dense(u, "tanh", name=n) for n, u in zip(names, units)]
  built = tf.keras.Sequential([tf.keras.Input((4,)), *parts])
  built.compile(runtime.optimizers.Adam(), "mse")
  return built


@pytest.mark.parametrize("names", [("hidden", "out"), ("first", "second")])
def test_auto_loads_weights_and_slots_and_tells_every_pair(trained, names):
  prefix, values = trained
  new = model(*names)
  report = runtime.load_tf1_checkpoint(new, prefix, name_map="auto")
  for weight, value in zip(new.get_weights(), values.values()):
    np.testing.assert_array_equal(weight, value)
  assert (report.step, report.updates, report.unused) == (3, 3, ())
  for layer, old in zip(names, ("hidden", "out")):
    assert report.sources[f"{layer}/kernel/Adam_1"] == f"net/{old}/weights/Adam_1"
    for attribute, older in (("kernel", "weights"), ("bias", "biases")):
      pair = f"suggested: {layer}/{attribute} <- net/{old}/{older}: "
      assert sum(note.startswith(pair) for note in report.notes) == 1


def test_without_auto_nothing_is_suggested_in_silence(trained):
  prefix, _ = trained
  new = model("hidden", "out")
  before = new.get_weights()
  with pytest.raises(runtime.CheckpointError, match="is it net/hidden/weights"):
    runtime.load_tf1_checkpoint(new, prefix)
  for old, now in zip(before, new.get_weights()):
    np.testing.assert_array_equal(old, now)


def test_a_suggested_map_is_a_map_file(trained, tmp_path):
  pytest.importorskip("tomllib")
  prefix, values = trained
  path = tmp_path / "map.toml"
  path.write_text(runtime.suggest_map(model("a", "b"), prefix).to_toml(), encoding="utf-8")
  new = model("a", "b")
  runtime.load_tf1_checkpoint(new, prefix, name_map=str(path))
  for weight, value in zip(new.get_weights(), values.values()):
    np.testing.assert_array_equal(weight, value)


def test_what_is_left_open_is_one_error_with_the_candidates_and_loads_nothing(tmp_path):
  with tf.Graph().as_default(), v1.Session() as session:
    names = ("actor/w", "critic/w", "global_step")
    variables = [
      v1.Variable(np.full((4, 3), i, np.float32), name=n) for i, n in enumerate(names[:2])
    ]
    variables.append(v1.Variable(np.int64(1), name="global_step"))
    session.run(v1.global_variables_initializer())
    prefix = v1.train.Saver(variables).save(session, str(tmp_path / "model.ckpt"))
  new = tf.keras.Sequential([tf.keras.Input((4,)), layers.Dense(3, use_bias=False, name="fc")])
  before = new.get_weights()
  message = (
    r"leave open what is what; nothing has been loaded.\n  fc/kernel: is it actor/w or critic/w\?"
  )
  with pytest.raises(runtime.CheckpointError, match=message):
    runtime.load_tf1_checkpoint(new, prefix, name_map="auto")
  with pytest.raises(runtime.CheckpointError, match=message):
    runtime.suggest_map(new, prefix)
  np.testing.assert_array_equal(new.get_weights()[0], before[0])
  report = runtime.load_tf1_checkpoint(new, prefix, name_map="auto", allow_missing=["fc/*"])
  assert report.missing == ("fc/kernel",)


def test_what_is_missing_is_named_with_what_it_may_be_and_the_change_of_rank(tmp_path):
  """Case 40."""
  with tf.Graph().as_default(), v1.Session() as session:
    shapes = {"bert/self/query/kernel": (8, 8), "bert/self/query/bias": (8,)}
    variables = [v1.Variable(np.zeros(shape, np.float32), name=n) for n, shape in shapes.items()]
    session.run(v1.global_variables_initializer())
    prefix = v1.train.Saver(variables).save(session, str(tmp_path / "model.ckpt"))
  query = layers.EinsumDense("abc,cde->abde", (None, 2, 4), bias_axes="de", name="query")
  new = tf.keras.Sequential([tf.keras.Input((5, 8)), query])
  new.compile(runtime.optimizers.Adam(), "mse")
  with pytest.raises(runtime.CheckpointError) as caught:
    runtime.load_tf1_checkpoint(new, prefix)
  lines = str(caught.value).splitlines()
  assert lines[1] == (
    "  query/kernel: not in the checkpoint; is it bert/self/query/kernel ([8, 8] in the checkpoint, "
    "[8, 2, 4] in the model: the same number of values in another rank, which a map file reshapes to "
    "[8, 2, 4])?"
  )
  # Of a weight that is not there, the slots are not mentioned.
  assert [line.split(":")[0].strip() for line in lines[1:3]] == ["query/kernel", "query/bias"]
  assert lines[3].startswith("Ways out")
