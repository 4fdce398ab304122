"""TF1's RNN cells in Keras: outputs, and five further steps, against recordings of TensorFlow 1.15.

Case 37: the shapes fit in several ways, the values in one.
"""

import json

import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime

CELLS = {"basic_lstm": "basic_lstm_cell", "lstm_cell": "lstm_cell", "gru_cell": "gru_cell"}
FORGET_BIAS = {"basic_lstm": 1.0, "lstm_cell": 0.5}


@pytest.fixture(params=CELLS)
def recording(request, repository):
  directory = repository / "fixtures/checkpoints/tf1.15" / request.param
  return request.param, directory, json.loads((directory / "recording.json").read_text())


def make_model(name):
  """Returns the compiled model, and one that gives the outputs of the cell at each time."""
  inputs = tf.keras.Input((5, 3))
  if name == "gru_cell":
    layer = tf.keras.layers.GRU(4, reset_after=False, return_sequences=True, name="rnn")
  else:
    layer = tf.keras.layers.LSTM(4, return_sequences=True, name="rnn")
  outputs = layer(inputs)
  model = tf.keras.Model(inputs, tf.keras.layers.Dense(1, name="head")(outputs[:, -1]))
  model.compile(runtime.optimizers.Adam(0.01), "mse")
  return model, tf.keras.Model(inputs, outputs)


def make_map(name):
  cell = f"rnn/{CELLS[name]}"
  if name == "gru_cell":
    kernel = {"from": [f"{cell}/gates/kernel", f"{cell}/candidate/kernel"], "axis": 1}
    bias = {"from": [f"{cell}/gates/bias", f"{cell}/candidate/bias"], "gates": "gru"}
    gates = {"gates": "gru"}
  else:
    kernel = {"from": f"{cell}/kernel"}
    bias = {"from": f"{cell}/bias", "gates": "lstm", "forget_bias": FORGET_BIAS[name]}
    gates = {"gates": "lstm"}
  return {
    "variables": {
      "rnn/kernel": {**kernel, **gates, "rows": [0, 3]},
      "rnn/recurrent_kernel": {**kernel, **gates, "rows": [3]},
      "rnn/bias": bias,
    }
  }


def test_outputs_and_five_further_steps_are_those_of_tf1(recording):
  name, directory, recorded = recording
  model, outputs = make_model(name)
  x, y = np.float32(recorded["x"]), np.float32(recorded["y"])
  report = runtime.load_tf1_checkpoint(
    model, str(directory / "model.ckpt-5"), name_map=make_map(name)
  )
  assert (report.step, report.unused) == (5, ())
  np.testing.assert_allclose(outputs(x), recorded["before"], atol=5e-7)
  losses = [float(model.train_on_batch(x, y)) for _ in range(5)]
  np.testing.assert_allclose(losses, recorded["losses"], rtol=2e-6)
  np.testing.assert_allclose(outputs(x), recorded["after"], atol=1e-6)


def test_a_bias_without_the_forget_bias_of_its_cell_is_refused(recording):
  name, directory, _ = recording
  if name == "gru_cell":
    names = {"variables": {"rnn/bias": {**make_map(name)["variables"]["rnn/bias"]}}}
    names["variables"]["rnn/bias"]["forget_bias"] = 1.0
    with pytest.raises(runtime.CheckpointError, match='forget_bias goes with gates = "lstm"'):
      runtime.load_tf1_checkpoint(make_model(name)[0], str(directory), name_map=names)
    return
  names = make_map(name)
  del names["variables"]["rnn/bias"]["forget_bias"]
  with pytest.raises(runtime.CheckpointError, match="the bias of an LSTM needs forget_bias"):
    runtime.load_tf1_checkpoint(
      make_model(name)[0], str(directory / "model.ckpt-5"), name_map=names
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
  runtime.load_tf1_checkpoint(checkpoint, prefix, name_map=make_map("basic_lstm"))
  for suffix in ("", "/ExponentialMovingAverage"):
    i, j, f, o = np.split(values[f"rnn/basic_lstm_cell/bias{suffix}"], 4)
    expected = np.concatenate([i, f + np.float32(1.0), j, o])
    np.testing.assert_array_equal(checkpoint.by_name[f"rnn/bias{suffix}"].numpy(), expected)
