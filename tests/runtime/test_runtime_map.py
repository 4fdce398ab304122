"""Loading into models whose names, shapes or parts are others than the checkpoint's."""

import json

import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime
from migrator.runtime.name_map import NameMap

v1 = tf.compat.v1
NUMBERS = np.random.RandomState(5)


def write(directory, values):
  """Writes a name-based checkpoint: name -> value; the step is 7."""
  values = {"global_step": np.int64(7), **values}
  with tf.Graph().as_default(), v1.Session() as session:
    variables = {name: v1.Variable(value, name=name) for name, value in values.items()}
    session.run(v1.global_variables_initializer())
    return v1.train.Saver(variables).save(session, str(directory / "model.ckpt"), global_step=7)


def array(*shape):
  return NUMBERS.rand(*shape).astype(np.float32)


def with_adam(name, value):
  """Returns a variable and its slots."""
  shape = value.shape
  return {name: value, f"{name}/Adam": array(*shape), f"{name}/Adam_1": array(*shape)}


def powers(updates):
  return {
    "beta1_power": np.multiply.accumulate(np.full(updates + 1, 0.9, np.float32))[-1],
    "beta2_power": np.multiply.accumulate(np.full(updates + 1, 0.999, np.float32))[-1],
  }


def dense(inputs, units, name="fc1", compiled=True):
  model = tf.keras.Sequential(
    [tf.keras.layers.Input((inputs,)), tf.keras.layers.Dense(units, name=name)]
  )
  if compiled:
    model.compile(tf.keras.optimizers.Adam(0.01, epsilon=1e-8), "mse")
  return model


def weights(model):
  return [np.array(w) for w in model.get_weights()]


def test_a_plain_keras_model_is_loaded_with_slots_step_and_count(tmp_path):
  """Case 31; the step is 7, Adam has made 5 updates."""
  values = {**with_adam("fc1/kernel", array(4, 3)), **with_adam("fc1/bias", array(3)), **powers(5)}
  model = dense(4, 3)
  report = runtime.load_tf1_checkpoint(model, write(tmp_path, values))
  np.testing.assert_array_equal(weights(model)[0], values["fc1/kernel"])
  checkpoint = runtime.named_checkpoint(model, model.optimizer)
  for name in ("fc1/kernel/Adam", "fc1/kernel/Adam_1", "fc1/bias/Adam", "fc1/bias/Adam_1"):
    np.testing.assert_array_equal(checkpoint.by_name[name].numpy(), values[name])
  assert int(model.optimizer.iterations.numpy()) == 5
  assert (report.step, report.updates) == (7, 5)
  assert "Adam has made 5 updates, the global step is 7" in str(report)


def test_a_model_is_not_left_with_its_initial_weights_where_nothing_is_found(tmp_path):
  """Case 46: only a program that may begin there takes an empty directory."""
  (tmp_path / "weights.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(64))
  faults = {
    tmp_path: "There is no checkpoint in",
    tmp_path / "misspelt": "There is no checkpoint",
    tmp_path / "weights.h5": "is an HDF5 file, as Keras writes it, not a checkpoint",
  }
  for path, message in faults.items():
    with pytest.raises(runtime.CheckpointError, match=message):
      runtime.load_tf1_checkpoint(dense(4, 3), str(path))
  model = dense(4, 3)
  checkpoint = runtime.named_checkpoint(model, model.optimizer)
  with pytest.raises(runtime.CheckpointError, match="is an HDF5 file"):
    runtime.load_tf1_checkpoint(checkpoint, str(tmp_path / "weights.h5"))
  assert runtime.load_tf1_checkpoint(checkpoint, str(tmp_path)).prefix is None


def test_without_an_optimizer_the_weights_alone_are_loaded(tmp_path):
  values = {**with_adam("fc1/kernel", array(4, 3)), "fc1/bias": array(3)}
  model = dense(4, 3, compiled=False)
  report = runtime.load_tf1_checkpoint(model, write(tmp_path, values))
  np.testing.assert_array_equal(weights(model)[0], values["fc1/kernel"])
  assert set(report.unused) == {"fc1/kernel/Adam", "fc1/kernel/Adam_1"}


def test_a_missing_slot_is_an_error_and_nothing_is_loaded(tmp_path):
  values = {**with_adam("fc1/kernel", array(4, 3)), "fc1/bias": array(3)}
  model = dense(4, 3)
  before = weights(model)
  with pytest.raises(runtime.CheckpointError, match="fc1/bias/Adam_1: not in the checkpoint"):
    runtime.load_tf1_checkpoint(model, write(tmp_path, values))
  for a, b in zip(before, weights(model)):
    np.testing.assert_array_equal(a, b)


def test_an_adam_whose_moments_may_be_missing_counts_from_the_beginning(tmp_path):
  prefix = write(tmp_path, {"fc1/kernel": array(4, 3), "fc1/bias": array(3), **powers(5)})
  model = dense(4, 3)
  report = runtime.load_tf1_checkpoint(model, prefix, allow_missing=["*/Adam", "*/Adam_1"])
  assert (report.step, int(model.optimizer.iterations.numpy())) == (7, 0)


def test_moving_statistics_that_are_missing_are_an_error(tmp_path):
  """Case 24: a warm start would leave them at their initial values."""
  model = tf.keras.Sequential(
    [tf.keras.layers.Input((3,)), tf.keras.layers.BatchNormalization(name="bn")]
  )
  values = {"bn/gamma": array(3), "bn/beta": array(3)}
  prefix = write(tmp_path, values)
  with pytest.raises(runtime.CheckpointError) as error:
    runtime.load_tf1_checkpoint(model, prefix)
  assert "bn/moving_mean: not in the checkpoint" in str(error.value)
  assert "bn/moving_variance: not in the checkpoint" in str(error.value)
  report = runtime.load_tf1_checkpoint(model, prefix, allow_missing=["bn/moving_*"])
  assert report.missing == ("bn/moving_mean", "bn/moving_variance")
  np.testing.assert_array_equal(weights(model)[0], values["bn/gamma"])


def test_all_mismatches_are_in_one_error_with_both_shapes(tmp_path):
  prefix = write(tmp_path, {"fc1/kernel": array(3, 4), "fc1/bias": np.zeros(3, np.float64)})
  with pytest.raises(runtime.CheckpointError) as error:
    runtime.load_tf1_checkpoint(dense(4, 3, compiled=False), prefix)
  message = str(error.value)
  assert "fc1/kernel: [3, 4] in the checkpoint" in message
  assert "[4, 3] in the model; a map file may transpose it" in message
  assert "fc1/bias: float64 in the checkpoint, float32 in the model" in message


def test_older_names_are_taken_where_they_fit_and_are_reported(tmp_path):
  """Case 30."""
  values = {"conv1/weights": array(3, 3, 1, 2), "conv1/biases": array(2)}
  model = tf.keras.Sequential(
    [tf.keras.layers.Input((8, 8, 1)), tf.keras.layers.Conv2D(2, 3, name="conv1")]
  )
  report = runtime.load_tf1_checkpoint(model, write(tmp_path, values))
  np.testing.assert_array_equal(weights(model)[0], values["conv1/weights"])
  assert report.renamed == {"conv1/kernel": "conv1/weights", "conv1/bias": "conv1/biases"}
  assert "conv1/kernel was called conv1/weights" in str(report)


def test_an_older_name_does_not_replace_the_exact_one(tmp_path):
  values = {"fc1/kernel": array(4, 3), "fc1/weights": array(4, 3), "fc1/bias": array(3)}
  model = dense(4, 3, compiled=False)
  report = runtime.load_tf1_checkpoint(model, write(tmp_path, values))
  np.testing.assert_array_equal(weights(model)[0], values["fc1/kernel"])
  assert report.renamed == {}


def test_a_map_file_names_reshapes_and_takes_the_slots_along(tmp_path):
  """Case 40: BERT's attention has another rank."""
  old = "bert/encoder/layer_0/attention/self/query"
  inputs = tf.keras.Input((5, 8))
  outputs = tf.keras.layers.EinsumDense(
    "abc,cde->abde", output_shape=(None, 2, 4), bias_axes="de", name="query"
  )(inputs)
  model = tf.keras.Model(inputs, outputs)
  model.compile(runtime.optimizers.AdamWeightDecay(0.01), "mse")
  values = {}
  for name, shape in (("kernel", (8, 8)), ("bias", (8,))):
    for suffix in ("", "/adam_m", "/adam_v"):
      values[f"{old}/{name}{suffix}"] = array(*shape)
  prefix = write(tmp_path, values)
  with pytest.raises(runtime.CheckpointError, match="does not fit the model"):
    runtime.load_tf1_checkpoint(model, prefix)
  path = tmp_path / "map.json"
  path.write_text(
    json.dumps(
      {
        "variables": {
          "query/kernel": {"from": f"{old}/kernel", "reshape": [8, 2, 4]},
          "query/bias": {"from": f"{old}/bias", "reshape": [2, 4]},
        }
      }
    )
  )
  report = runtime.load_tf1_checkpoint(model, prefix, name_map=str(path))
  np.testing.assert_array_equal(weights(model)[0], values[f"{old}/kernel"].reshape(8, 2, 4))
  checkpoint = runtime.named_checkpoint(model, model.optimizer)
  np.testing.assert_array_equal(
    checkpoint.by_name["query/bias/adam_v"].numpy(), values[f"{old}/bias/adam_v"].reshape(2, 4)
  )
  assert report.sources["query/kernel"] == f"{old}/kernel, reshape [8, 2, 4]"
  assert report.unused == ()


def test_slots_of_an_optimizer_of_the_programs_own_are_named_in_the_map(tmp_path):
  values = {}
  for name, shape in (("kernel", (4, 3)), ("bias", (3,))):
    values |= {f"fc1/{name}{suffix}": array(*shape) for suffix in ("", "/my_m", "/my_v")}
  model = dense(4, 3, compiled=False)
  model.compile(runtime.optimizers.AdamWeightDecay(0.01), "mse")
  prefix = write(tmp_path, values)
  with pytest.raises(runtime.CheckpointError, match="fc1/kernel/adam_m: not in the checkpoint"):
    runtime.load_tf1_checkpoint(model, prefix)
  names = {"fc1/kernel": "fc1/kernel", "fc1/bias": "fc1/bias"}
  name_map = {"variables": names, "slots": {"adam_m": "my_m", "adam_v": "my_v"}}
  report = runtime.load_tf1_checkpoint(model, prefix, name_map=name_map)
  by_name = runtime.named_checkpoint(model, model.optimizer).by_name
  for name in ("kernel", "bias"):
    for ours, theirs in (("adam_m", "my_m"), ("adam_v", "my_v")):
      np.testing.assert_array_equal(
        by_name[f"fc1/{name}/{ours}"].numpy(), values[f"fc1/{name}/{theirs}"]
      )
  assert report.unused == ()


def test_statistics_of_batch_normalization_come_from_their_older_names(tmp_path):
  values = {f"BatchNorm/{name}": array(3) for name in ("gamma", "beta")}
  values |= {f"BatchNorm/moving_{name}": array(3) for name in ("mean", "variance")}
  layer = tf.keras.layers.BatchNormalization(name="batch_normalization")
  model = tf.keras.Sequential([tf.keras.layers.Input((3,)), layer])
  report = runtime.load_tf1_checkpoint(model, write(tmp_path, values))
  for value, name in zip(layer.get_weights(), ("gamma", "beta", "moving_mean", "moving_variance")):
    np.testing.assert_array_equal(value, values[f"BatchNorm/{name}"])
    assert report.renamed[f"batch_normalization/{name}"] == f"BatchNorm/{name}"


def test_patterns_carry_what_a_star_stands_for(tmp_path):
  values = {f"net/layer_{i}/w": array(4, 4) for i in range(12)}
  values |= {f"net/layer_{i}/b": array(4) for i in range(12)}
  layers = [tf.keras.layers.Dense(4, name=f"fc_{i}") for i in range(12)]
  model = tf.keras.Sequential([tf.keras.layers.Input((4,)), *layers])
  names = {"fc_*/kernel": "net/layer_*/w", "fc_*/bias": "net/layer_*/b"}
  runtime.load_tf1_checkpoint(model, write(tmp_path, values), name_map={"variables": names})
  for i in range(12):
    np.testing.assert_array_equal(layers[i].get_weights()[0], values[f"net/layer_{i}/w"])


@pytest.mark.parametrize(
  "entry, expected",
  [
    ({"from": "a", "transpose": [1, 0]}, lambda v: v["a"].T),
    ({"from": ["b", "c"], "axis": 1}, lambda v: np.concatenate([v["b"], v["c"]], 1)),
    ({"from": "d", "split": {"axis": 1, "index": 2, "parts": 3}}, lambda v: v["d"][:, 6:]),
    ({"from": "e", "rows": [2, 6]}, lambda v: v["e"][2:6]),
    ({"from": "f", "squeeze": [0]}, lambda v: v["f"][0]),
    ({"from": "g", "cast": "float32"}, lambda v: v["g"].astype(np.float32)),
  ],
)
def test_each_transform_of_a_map_file(tmp_path, entry, expected):
  values = {
    "a": array(3, 4),
    "b": array(4, 1),
    "c": array(4, 2),
    "d": array(4, 9),
    "e": array(7, 3),
    "f": array(1, 4, 3),
    "g": array(4, 3).astype(np.float64),
    "bias": array(3),
  }
  model = dense(4, 3, compiled=False)
  names = {"fc1/kernel": entry, "fc1/bias": "bias"}
  runtime.load_tf1_checkpoint(model, write(tmp_path, values), name_map={"variables": names})
  np.testing.assert_array_equal(weights(model)[0], expected(values))


def test_averages_are_taken_on_demand_and_else_mentioned(tmp_path):
  """Case 34."""
  values = {"fc1/kernel": array(4, 3), "fc1/bias": array(3)}
  values["fc1/kernel/ExponentialMovingAverage"] = array(4, 3)
  prefix = write(tmp_path, values)
  model = dense(4, 3, compiled=False)
  report = runtime.load_tf1_checkpoint(model, prefix)
  np.testing.assert_array_equal(weights(model)[0], values["fc1/kernel"])
  assert "moving averages of 1 variables" in str(report)
  report = runtime.load_tf1_checkpoint(model, prefix, weights="ema")
  np.testing.assert_array_equal(weights(model)[0], values["fc1/kernel/ExponentialMovingAverage"])
  assert "There is no moving average of fc1/bias: raw values." in str(report)


def test_averages_that_are_not_there_are_an_error(tmp_path):
  prefix = write(tmp_path, {"fc1/kernel": array(4, 3), "fc1/bias": array(3)})
  with pytest.raises(runtime.CheckpointError, match="there are no moving averages"):
    runtime.load_tf1_checkpoint(dense(4, 3, compiled=False), prefix, weights="ema")


def test_the_bias_of_an_rnn_cell_is_not_taken_by_its_shape_alone(tmp_path):
  """Case 37: the shapes fit, the gates do not."""
  values = {"rnn/basic_lstm_cell/kernel": array(7, 16), "rnn/basic_lstm_cell/bias": array(16)}
  model = tf.keras.Sequential([tf.keras.layers.Input((5, 3)), tf.keras.layers.LSTM(4, name="lstm")])
  names = [n for n in runtime.named_checkpoint(model, None).weights if n.endswith("bias")]
  prefix = write(tmp_path, values)
  naive = {
    names[0]: "rnn/basic_lstm_cell/bias",
    names[0].replace("bias", "kernel"): {"from": "rnn/basic_lstm_cell/kernel", "rows": [0, 3]},
    names[0].replace("bias", "recurrent_kernel"): {
      "from": "rnn/basic_lstm_cell/kernel",
      "rows": [3],
    },
  }
  with pytest.raises(runtime.CheckpointError, match="gates of TF1's RNN cells"):
    runtime.load_tf1_checkpoint(model, prefix, name_map={"variables": naive})


@pytest.mark.parametrize(
  ("more", "shape", "what"),
  [
    ("w_f_diag", (4,), "peepholes"),
    ("W_O_diag", (4,), "peepholes"),
    ("projection/kernel", (4, 2), "a projection"),
    ("forget/gamma", (4,), "layer normalization"),
  ],
)
@pytest.mark.parametrize("cell", ["rnn/lstm_cell", "named_by_the_program"])
def test_cells_with_more_than_keras_has_are_refused(tmp_path, cell, more, shape, what):
  values = {
    f"{cell}/kernel": array(7, 16),
    f"{cell}/bias": array(16),
    f"{cell}/{more}": array(*shape),
  }
  model = tf.keras.Sequential([tf.keras.layers.Input((5, 3)), tf.keras.layers.LSTM(4, name="rnn")])
  kernel = {"from": f"{cell}/kernel", "gates": "lstm"}
  names = {
    "rnn/kernel": {**kernel, "rows": [0, 3]},
    "rnn/recurrent_kernel": {**kernel, "rows": [3]},
    "rnn/bias": {"from": f"{cell}/bias", "gates": "lstm", "forget_bias": 1.0},
  }
  with pytest.raises(runtime.CheckpointError, match=f"the cell has {what}"):
    runtime.load_tf1_checkpoint(model, write(tmp_path, values), name_map={"variables": names})


def test_the_gates_of_a_layer_are_reordered_all_or_none(tmp_path):
  """A cell that the program named itself: its bias has the name and the shape of the layer's."""
  values = {"rnn/kernel": array(7, 16), "rnn/bias": array(16)}
  model = tf.keras.Sequential([tf.keras.layers.Input((5, 3)), tf.keras.layers.LSTM(4, name="rnn")])
  kernel = {"from": "rnn/kernel", "gates": "lstm"}
  names = {
    "rnn/kernel": {**kernel, "rows": [0, 3]},
    "rnn/recurrent_kernel": {**kernel, "rows": [3]},
  }
  with pytest.raises(
    runtime.CheckpointError, match=r'rnn/bias: kernel of this layer has gates = "lstm"'
  ):
    runtime.load_tf1_checkpoint(model, write(tmp_path, values), name_map={"variables": names})


def test_the_weights_of_cudnn_in_one_piece_are_refused(tmp_path):
  prefix = write(tmp_path, {"cudnn_lstm/opaque_kernel": array(64)})
  model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(16, name="d")])
  names = {"d/kernel": {"from": "cudnn_lstm/opaque_kernel", "reshape": [4, 16]}}
  with pytest.raises(
    runtime.CheckpointError, match="in an order that depends on the version of cuDNN"
  ):
    runtime.load_tf1_checkpoint(model, prefix, name_map={"variables": names})


@pytest.mark.parametrize(
  "data, message",
  [
    ({}, r"it names nothing"),
    ({"variables": {}}, r"it names nothing"),
    ({"names": {"a": "b"}}, r"there is no section \[names\]"),
    ({"variables": {"a": 3}}, r'"a" needs the name in the checkpoint'),
    ({"variables": {"a": {"from": "b", "flip": 1}}}, r'"a": there is no flip'),
    ({"variables": {"a": {"from": "b", "reshape": "x"}}}, r'"a": reshape is a list of integers'),
    ({"variables": {"a": {"from": "b", "gates": "rnn"}}}, r'gates is "lstm", "gru" or "keep"'),
    ({"variables": {"a": {"from": "b", "squeeze": "x"}}}, r"squeeze is true or a list of integers"),
    (
      {"variables": {"a": {"from": "b", "forget_bias": 1.0}}},
      r'forget_bias goes with gates = "lstm"',
    ),
    ({"variables": {"a": {"from": "b", "axis": False}}}, r"axis is an integer, not False"),
    ({"variables": {"a": {"from": "b", "cast": "floaty"}}}, r"cast is the name of a type"),
    (
      {"variables": {"a": {"from": "b", "rows": [1, 2, 3]}}},
      r"rows is a list of one or two integers",
    ),
    ({"variables": {"a": {"from": "b", "transpose": [0, 0]}}}, r"transpose is a list of all axes"),
    (
      {"variables": {"a": {"from": "b", "split": {"axis": "x", "index": 0, "parts": 2}}}},
      r"split is a",
    ),
    ({"variables": {"a": "b_*"}}, r'"a": b_\* has more \* than it'),
    ({"variables": {"a": "b"}, "slots": {"Adam": 1}}, r"\[slots\] Adam is the suffix of a slot"),
    ({"variables": {"a": "b"}, "options": {"weights": "mean"}}, r'weights is "raw" or "ema"'),
  ],
)
def test_a_map_that_is_not_of_the_form_is_refused(data, message):
  with pytest.raises(runtime.CheckpointError, match=message):
    NameMap(data)


def test_a_map_that_does_not_fit_lists_all_its_faults(tmp_path):
  prefix = write(tmp_path, {"k": array(4, 3), "b": array(3)})
  names = {"fc1/kernel": "nothing", "fc2/kernel": "k", "fc1/bias": "b"}
  with pytest.raises(runtime.CheckpointError) as error:
    runtime.load_tf1_checkpoint(dense(4, 3, compiled=False), prefix, name_map={"variables": names})
  assert '"fc1/kernel": there is no nothing in the checkpoint' in str(error.value)
  assert '"fc2/kernel": no variable of the model has such a name' in str(error.value)


def test_two_names_that_would_get_the_same_variable_are_refused(tmp_path):
  prefix = write(tmp_path, {"k": array(4, 4), "b": array(4)})
  layers = [tf.keras.layers.Dense(4, name=name, use_bias=False) for name in ("one", "two")]
  model = tf.keras.Sequential([tf.keras.layers.Input((4,)), *layers])
  names = {"one/kernel": "k", "two/kernel": "k"}
  with pytest.raises(runtime.CheckpointError, match="one/kernel and two/kernel would both get k"):
    runtime.load_tf1_checkpoint(model, prefix, name_map={"variables": names})


def test_a_toml_file_names_its_line_when_it_is_broken(tmp_path):
  path = tmp_path / "map.toml"
  path.write_text('[variables]\n"a" = \n')
  with pytest.raises(runtime.CheckpointError, match=r"map\.toml: .*line 2"):
    NameMap.read(str(path))


def test_the_second_model_of_a_process_has_the_same_names(tmp_path):
  """Case 44."""
  values = {"fc1/kernel": array(4, 3), "fc1/bias": array(3)}
  prefix = write(tmp_path, values)
  for _ in range(2):
    model = dense(4, 3, compiled=False)
    assert list(runtime.named_checkpoint(model, None).weights) == ["fc1/kernel", "fc1/bias"]
    runtime.load_tf1_checkpoint(model, prefix)
    np.testing.assert_array_equal(weights(model)[0], values["fc1/kernel"])
