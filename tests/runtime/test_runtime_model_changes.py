"""Changes of models and optimizers of `tf.contrib.estimator`, against recordings of TensorFlow 1.15."""

import json
from pathlib import Path

import model_change_cases
import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime
from migrator.runtime.contrib import estimator

RECORDED = Path(__file__).resolve().parents[2] / "fixtures" / "graph_heads" / "changes.json"
RESULTS = json.loads(RECORDED.read_text())


class Make:
  """Makes models of the runtime."""

  spec = runtime.EstimatorSpec
  outputs = runtime.export

  def __init__(self, directory):
    self._directory = directory

  def __call__(self, model_fn):
    return runtime.ModelFn(model_fn, self._directory)


def same(found, recorded, where):
  """Compares numbers within 1e-6, everything else exactly."""
  if isinstance(recorded, dict):
    assert sorted(found) == sorted(recorded), where
    for key, value in recorded.items():
      same(found[key], value, f"{where} {key}")
  elif isinstance(recorded, list) and all(isinstance(one, float) for one in recorded):
    np.testing.assert_allclose(found, recorded, rtol=1e-6, err_msg=where)
  else:
    assert found == recorded, where


def test_the_recordings_are_those_of_the_cases():
  assert sorted(RESULTS) == sorted(model_change_cases.CASES)


@pytest.mark.parametrize("name", sorted(model_change_cases.CASES))
def test_models_and_optimizers_are_changed_as_in_tensorflow_1(name, tmp_path):
  same(model_change_cases.run(tf, estimator, Make(str(tmp_path)), name), RESULTS[name], name)


def _forward(tmp_path, *arguments):
  def model_fn(features, labels, mode):
    return runtime.EstimatorSpec(mode, predictions={"p": features["x"]})

  model = estimator.forward_features(Make(str(tmp_path))(model_fn), *arguments)
  with tf.Graph().as_default():
    features = {"x": tf.constant([1.0]), "p": tf.constant([1.0]), "s": tf.sparse.eye(2)}
    return model.model_fn(features, None, "infer", model.config)


@pytest.mark.parametrize(
  "keys, said",
  [
    ("y", '"y" is not in features'),
    ("p", "does exist in predictions"),
    ("s", "should be a Tensor"),
  ],
)
def test_features_that_cannot_be_forwarded_are_errors(keys, said, tmp_path):
  with pytest.raises(ValueError, match=said):
    _forward(tmp_path, keys)


@pytest.mark.parametrize("keys", [3, ["x", 3]])
def test_keys_of_features_are_names(keys, tmp_path):
  with pytest.raises(TypeError, match="keys"):
    _forward(tmp_path, keys)


def test_features_are_forwarded_by_models_of_the_runtime_only():
  with pytest.raises(TypeError, match=r"runtime\.ModelFn"):
    estimator.forward_features(object(), "x")


def test_several_towers_are_an_error_that_says_what_to_do():
  with pytest.raises(ValueError, match="CUDA_VISIBLE_DEVICES"):
    estimator.replicate_model_fn(lambda features: None, devices=["/gpu:0", "/gpu:1"])
  with pytest.raises(ValueError, match="reduced"):
    estimator.replicate_model_fn(lambda features: None, loss_reduction="none")


def test_public_heads_train_with_a_function_of_the_loss_only():
  with tf.Graph().as_default():
    head = runtime.graph_heads.v2.BinaryClassHead()
    given = {"features": {}, "mode": "train", "logits": tf.ones([2, 1]), "labels": tf.ones([2, 1])}
    with pytest.raises(ValueError, match="train_op_fn"):
      head.create_estimator_spec(optimizer=tf.compat.v1.train.AdamOptimizer(), **given)
    with pytest.raises(ValueError, match="cannot both be None"):
      head.create_estimator_spec(**given)
    with pytest.raises(ValueError, match="update_ops should be a list"):
      head.create_estimator_spec(train_op_fn=lambda loss: loss, update_ops=tf.no_op(), **given)
