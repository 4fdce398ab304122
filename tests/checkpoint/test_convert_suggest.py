"""`migrator convert --suggest-map`: a map file to start from, and the conversion with it."""

import pathlib
import sys

import numpy as np
import pytest
import tensorflow as tf
import written

from migrator import runtime

SOURCE = written.FIXTURES / "tf1.15" / "dnn_classifier_adam"
FACTORY = """
import tensorflow as tf

def network(last=3):
  inputs = tf.keras.Input((4,))
  net = tf.keras.layers.Dense(4, activation="relu", name="first")(inputs)
  net = tf.keras.layers.Dense(3, activation="relu", name="second")(net)
  model = tf.keras.Model(inputs, tf.keras.layers.Dense(last, name="last")(net))
  model.compile(tf.keras.optimizers.Adam(0.01, epsilon=1e-8), "mse")
  return model

def wide():
  return network(5)
"""


@pytest.fixture(autouse=True)
def factory(tmp_path, monkeypatch):
  """A module with factories in the current directory."""
  monkeypatch.chdir(tmp_path)
  monkeypatch.setattr(sys, "path", list(sys.path))
  pathlib.Path("suggested_models.py").write_text(FACTORY)
  yield
  sys.modules.pop("suggested_models", None)


def test_the_suggested_file_converts(convert, tmp_path):
  pytest.importorskip("tomllib")
  output = convert(SOURCE, "--model", "suggested_models:network", "--suggest-map", "map.toml")
  assert (convert.code, output) == (0, "map.toml: 6 variables, 0 left open\n")
  text = pathlib.Path("map.toml").read_text(encoding="utf-8")
  assert '"first/kernel" = "dnn/hiddenlayer_0/kernel"  # the only one of this shape\n' in text
  assert '"last/bias" = "dnn/logits/bias"  # beside what else is of dnn/logits\n' in text
  convert(SOURCE, "--model", "suggested_models:network", "--map", "map.toml", "--out", "out/ckpt")
  assert convert.code == 0, convert.output
  import suggested_models

  model = suggested_models.network()
  checkpoint = runtime.named_checkpoint(model, model.optimizer, flavour="v1")
  checkpoint.restore("out/ckpt")
  reader = tf.train.load_checkpoint(str(SOURCE))
  for name, old in (("first", "hiddenlayer_0"), ("second", "hiddenlayer_1"), ("last", "logits")):
    value = checkpoint.by_name[f"{name}/kernel"].numpy()
    np.testing.assert_array_equal(value, reader.get_tensor(f"dnn/{old}/kernel"))


def test_what_is_left_open_stands_as_a_comment_and_nothing_else_is_written(convert):
  output = convert(
    SOURCE, "--model", "suggested_models:wide", "--suggest-map", "-", "--out", "out/"
  )
  assert convert.code == 2
  assert '"second/kernel" = "dnn/hiddenlayer_1/kernel"' in output
  assert any(line.startswith('# "last/kernel"') for line in output.splitlines())
  assert "leave open what last/kernel, last/bias is: complete the map file." in output
  assert not pathlib.Path("out").exists()
