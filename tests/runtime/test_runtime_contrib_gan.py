"""`tf.contrib.gan` of the runtime against recordings of TensorFlow 1.14, the last one that had it."""

import json
from pathlib import Path

import gan_cases
import gan_runs
import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime
from migrator.runtime import layers
from migrator.runtime.contrib import gan

RECORDED = Path(__file__).resolve().parents[2] / "fixtures" / "contrib" / "gan.json"
RECORDING = json.loads(RECORDED.read_text())
v1 = tf.compat.v1


# Of the greatest of a tensor. TensorFlow 1.14 itself is 9e-7 away from the recording on another kind of processor.
TOLERANCE = 3e-6


def same(found, recorded, where):
  """Compares numbers, and text and shapes exactly."""
  if isinstance(recorded, dict):
    assert sorted(found) == sorted(recorded), where
    for name, value in recorded.items():
      same(found[name], value, f"{where} {name}")
    return
  if isinstance(recorded, str):
    assert found == recorded, where
    return
  shape, numbers = recorded
  assert found[0] == shape, where
  scale = max([abs(one) for one in numbers if np.isfinite(one)], default=0.0)
  np.testing.assert_allclose(
    found[1], numbers, rtol=TOLERANCE, atol=TOLERANCE * scale, err_msg=where
  )


def test_the_recording_is_that_of_the_cases():
  assert sorted(RECORDING["cases"]) == sorted(gan_cases.CASES)
  assert sorted(RECORDING["errors"]) == sorted(gan_cases.ERRORS)


@pytest.mark.parametrize("name", sorted(gan_cases.CASES))
def test_networks_lose_and_train_as_in_tensorflow_1(name):
  recorded = RECORDING["cases"][name]
  found = json.loads(json.dumps(gan_runs.run(tf, gan, layers, name)))
  for key in ("variables", "trainable", "networks", "counts"):
    assert found[key] == recorded[key], key
  for key in ("outputs", "tags", "images", "after"):
    same(found[key], recorded[key], key)
  for key in ("collected", "trained"):
    assert len(found[key]) == len(recorded[key])
  for i, one in enumerate(recorded["collected"]):
    same(found["collected"][i], one, f"loss {i} of the collection")
  for i, step in enumerate(recorded["trained"]):
    for j, one in enumerate(step):
      same(found["trained"][i][j], one, f"what operation {j} gives in step {i}")


class Api:
  """What takes the place of the names that TensorFlow 2.16 removed."""

  Estimator = runtime.ModelFn
  EstimatorSpec = runtime.EstimatorSpec
  latest_checkpoint = staticmethod(runtime.latest_checkpoint)
  layers = layers
  while_loop = staticmethod(runtime.tpu.while_loop)


@pytest.mark.parametrize("name", sorted(gan_cases.PROGRAMS))
def test_a_program_trains_and_goes_on_as_its_estimator_did(name, tmp_path):
  found = json.loads(json.dumps(gan_runs.train(tf, gan, Api, name, str(tmp_path))))
  same(found, RECORDING["programs"][name], name)


def test_what_was_an_error_is_one():
  assert set(RECORDING["errors"].values()) <= {"ValueError", "TypeError"}
  assert gan_runs.errors(tf, gan, layers) == RECORDING["errors"]


def test_hooks_run_the_networks_as_often_and_in_the_order_of_tensorflow_1():
  assert json.loads(json.dumps(gan_runs.hooks(gan))) == RECORDING["hooks"]


def test_tuples_have_the_fields_of_tensorflow_1():
  assert gan_runs.fields(gan) == RECORDING["fields"]
  assert gan.GANTrainOps(1, 2, 3).train_hooks == ()


def test_functions_take_the_arguments_of_tensorflow_1():
  modules = {
    "gan": gan,
    "losses": gan.losses,
    "wargs": gan.losses.wargs,
    "eval": gan.eval,
    "features": gan.features,
  }
  for where, module in modules.items():
    found, recorded = gan_runs.signatures(module), RECORDING["signatures"][where]
    offered = [name for name in module.__all__ if name in found]
    assert offered
    for name in offered:
      assert found[name] == recorded[name], f"{where}.{name}"


def test_an_optimizer_of_several_workers_is_refused():
  with tf.Graph().as_default():
    made = gan_cases.model(tf, gan, layers)
    optimizer, other = gan_cases.optimizers(tf)
    synchronized = v1.train.SyncReplicasOptimizer(other, 1)
    with pytest.raises(ValueError, match="give the optimizer inside of it"):
      gan.gan_train_ops(made, gan.gan_loss(made), optimizer, synchronized)
