"""TF1's recurrent cells in the LSTM and GRU of Keras, against recordings of TensorFlow 1.15.

Case 37: the shapes fit in several ways, the values in one.
"""

import copy
import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "checkpoints" / "tf1.15"
INPUTS, UNITS, TIME = 3, 4, 5


def lstm_map(cell, forget_bias):
  kernel = f"rnn/{cell}/kernel"
  return {
    "variables": {
      "rnn/kernel": {"from": kernel, "rows": [0, INPUTS], "gates": "lstm"},
      "rnn/recurrent_kernel": {"from": kernel, "rows": [INPUTS], "gates": "lstm"},
      "rnn/bias": {"from": f"rnn/{cell}/bias", "gates": "lstm", "forget_bias": forget_bias},
    }
  }


def gru_map():
  def both(what):
    return [f"rnn/gru_cell/gates/{what}", f"rnn/gru_cell/candidate/{what}"]

  entry = {"from": both("kernel"), "axis": 1, "gates": "gru"}
  return {
    "variables": {
      "rnn/kernel": {**entry, "rows": [0, INPUTS]},
      "rnn/recurrent_kernel": {**entry, "rows": [INPUTS]},
      "rnn/bias": {"from": both("bias"), "gates": "gru"},
    }
  }


CASES = {
  "basic_lstm": (tf.keras.layers.LSTM, {}, lstm_map("basic_lstm_cell", 1.0)),
  "lstm_cell": (tf.keras.layers.LSTM, {}, lstm_map("lstm_cell", 0.5)),
  "gru_cell": (tf.keras.layers.GRU, {"reset_after": False}, gru_map()),
}


def build(case):
  """Returns a model that goes on as the recorded program did, and one that shows the cell's outputs."""
  layer_class, arguments, _ = CASES[case]
  x = tf.keras.Input((TIME, INPUTS))
  states = layer_class(UNITS, return_sequences=True, name="rnn", **arguments)(x)
  model = tf.keras.Model(x, tf.keras.layers.Dense(1, name="head")(states[:, -1]))
  model.compile(runtime.optimizers.Adam(0.01), "mse")
  return model, tf.keras.Model(x, states)


def recorded(case):
  return json.loads((FIXTURES / case / "recording.json").read_text())


def outputs(states, recording):
  return np.array(states(tf.constant(recording["x"], tf.float32)))


@pytest.mark.parametrize("case", CASES)
def test_outputs_five_further_losses_and_all_slots_are_those_of_tf1(case):
  model, states = build(case)
  report = runtime.load_tf1_checkpoint(
    model, str(FIXTURES / case / "model.ckpt-5"), name_map=CASES[case][2]
  )
  assert (report.step, report.updates, report.unused) == (5, 5, ())
  recording = recorded(case)
  x, y = (tf.constant(recording[key], tf.float32) for key in "xy")
  np.testing.assert_allclose(outputs(states, recording), recording["before"], rtol=0, atol=5e-7)
  losses = [float(model.train_on_batch(x, y)) for _ in recording["losses"]]
  np.testing.assert_allclose(losses, recording["losses"], rtol=2e-6)
  np.testing.assert_allclose(outputs(states, recording), recording["after"], rtol=0, atol=1e-6)
  after, _ = build(case)
  runtime.load_tf1_checkpoint(
    after, str(FIXTURES / case / "model.ckpt-10"), name_map=CASES[case][2]
  )
  ours, theirs = (runtime.named_checkpoint(m, m.optimizer).by_name for m in (model, after))
  assert len(ours) == 3 * 5 + 2
  for name in theirs:
    value = theirs[name].numpy()
    difference = np.abs(ours[name].numpy() - value).max() / max(np.abs(value).max(), 1e-12)
    assert difference <= 1e-5, name


def test_without_the_forget_bias_or_the_order_of_the_gates_the_outputs_are_others():
  """The transforms are needed: what fits by shape gives other numbers."""
  recording = recorded("basic_lstm")
  plain = lstm_map("basic_lstm_cell", 0.0)
  unordered = lstm_map("basic_lstm_cell", 1.0)
  for name, entry in unordered["variables"].items():
    entry["gates"] = "keep"
    if name == "rnn/bias":
      del entry["forget_bias"]
  for name_map in (plain, unordered):
    model, states = build("basic_lstm")
    runtime.load_tf1_checkpoint(
      model, str(FIXTURES / "basic_lstm" / "model.ckpt-5"), name_map=name_map
    )
    assert np.abs(outputs(states, recording) - recording["before"]).max() > 0.01


def test_slots_follow_the_gates_and_get_no_forget_bias():
  model, _ = build("basic_lstm")
  prefix = str(FIXTURES / "basic_lstm" / "model.ckpt-5")
  runtime.load_tf1_checkpoint(model, prefix, name_map=CASES["basic_lstm"][2])
  reader = tf.train.load_checkpoint(prefix)
  by_name = runtime.named_checkpoint(model, model.optimizer).by_name
  for suffix, added in (("", 1.0), ("/Adam", 0.0), ("/Adam_1", 0.0)):
    i, j, f, o = np.split(reader.get_tensor(f"rnn/basic_lstm_cell/bias{suffix}"), 4)
    expected = np.concatenate([i, f + np.float32(added), j, o])
    np.testing.assert_array_equal(by_name[f"rnn/bias{suffix}"].numpy(), expected)


@pytest.mark.parametrize("case", ["basic_lstm", "lstm_cell"])
def test_a_bias_without_the_forget_bias_of_its_cell_is_refused(case):
  names = copy.deepcopy(CASES[case][2])
  del names["variables"]["rnn/bias"]["forget_bias"]
  with pytest.raises(runtime.CheckpointError, match="the bias of an LSTM needs forget_bias"):
    runtime.load_tf1_checkpoint(
      build(case)[0], str(FIXTURES / case / "model.ckpt-5"), name_map=names
    )


def test_a_forget_bias_for_a_gru_is_refused():
  names = copy.deepcopy(gru_map())
  names["variables"]["rnn/bias"]["forget_bias"] = 1.0
  with pytest.raises(runtime.CheckpointError, match='forget_bias goes with gates = "lstm"'):
    runtime.load_tf1_checkpoint(
      build("gru_cell")[0], str(FIXTURES / "gru_cell" / "model.ckpt-5"), name_map=names
    )


def test_the_average_of_a_bias_gets_the_forget_bias_as_the_bias_does(tmp_path):
  """An average is one of values, unlike the other slots."""
  numbers = np.random.RandomState(1)
  shapes = {"kernel": (7, 16), "bias": (16,)}
  values = {"global_step": np.int64(3)}
  for name, shape in shapes.items():
    for suffix in ("", "/ExponentialMovingAverage"):
      values[f"rnn/basic_lstm_cell/{name}{suffix}"] = numbers.rand(*shape).astype(np.float32)
  with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    variables = {n: tf.compat.v1.Variable(v, name=n) for n, v in values.items()}
    session.run(tf.compat.v1.global_variables_initializer())
    prefix = tf.compat.v1.train.Saver(variables).save(session, str(tmp_path / "model.ckpt"))
  model = tf.keras.Sequential([tf.keras.Input((5, 3)), tf.keras.layers.LSTM(4, name="rnn")])
  optimizer = runtime.optimizers.GradientDescent(0.1, use_ema=True, ema_momentum=0.9)
  checkpoint = runtime.named_checkpoint(model, optimizer, flavour="v1")
  runtime.load_tf1_checkpoint(checkpoint, prefix, name_map=CASES["basic_lstm"][2])
  for suffix in ("", "/ExponentialMovingAverage"):
    i, j, f, o = np.split(values[f"rnn/basic_lstm_cell/bias{suffix}"], 4)
    expected = np.concatenate([i, f + np.float32(1.0), j, o])
    np.testing.assert_array_equal(checkpoint.by_name[f"rnn/bias{suffix}"].numpy(), expected)
