"""Checkpoints of canned Estimators: what was trained there goes on as it did there.

From step 10 on the migrated model is trained with `fit`, for as long and on the same batches as the real
Estimator; the losses of the steps, and all weights and slots in the end, are compared.
"""

import json
import shutil
import subprocess

import numpy as np
import pytest
import tensorflow as tf
from canned_models import canned_cases, make_model
from interpreter import HERE, legacy_interpreter

from migrator import runtime
from migrator.runtime.plan import make_plan
from migrator.runtime.tf1_reader import Tf1Checkpoint

CASES = canned_cases.CASES
RECORDED = HERE.parents[1] / "fixtures" / "canned" / "tf1.15"
# Those whose stock optimizers are close: neither Ftrl nor RMSProp nor Adam on sparse gradients.
STOCK = ("v1_baseline", "v2_both_sgd")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
  """The directory in which the real Estimators have been trained, and the losses."""
  root = tmp_path_factory.mktemp("canned")
  process = subprocess.run(
    [legacy_interpreter(), str(HERE / "legacy_canned.py"), str(root)],
    stdout=subprocess.PIPE,
    stderr=subprocess.STDOUT,
    text=True,
    check=False,
  )
  assert process.returncode == 0, process.stdout[-5000:]
  return root, json.loads((root / "losses.json").read_text())


class _Losses(tf.keras.callbacks.Callback):
  def __init__(self):
    super().__init__()
    self.values = []

  def on_train_batch_end(self, batch, logs=None):
    self.values.append(float(logs["loss"]))


def go_on(case, source, directory, exact):
  """Trains from the checkpoint of step 10 to the end; returns the losses and the callback.

  Args:
    case: which Estimator it was.
    source: where its checkpoints are.
    directory: the model directory of the migrated program.
    exact: whether to use the optimizers of the runtime.
  """
  directory.mkdir()
  for path in source.glob(f"model.ckpt-{canned_cases.SAVED}.*"):
    shutil.copy(path, directory)
  (directory / "checkpoint").write_text(
    f'model_checkpoint_path: "model.ckpt-{canned_cases.SAVED}"\n'
  )
  tf.keras.utils.set_random_seed(9)
  model, scope = make_model(case, exact)
  backup = runtime.BackupAndRestore(
    model, directory, variable_scope=scope, flavour=case["flavour"], save_checkpoints_steps=100
  )
  assert backup.global_step == canned_cases.SAVED
  features, labels = canned_cases.data()
  pairs = (features, canned_cases.labels_of(case, labels))
  dataset = tf.data.Dataset.from_tensor_slices(pairs).batch(canned_cases.BATCH)
  dataset = dataset.skip(canned_cases.SAVED).map(runtime.only_inputs(model))
  losses = _Losses()
  model.fit(dataset, callbacks=[backup, losses], verbose=0)
  assert backup.global_step == canned_cases.STEPS
  return losses.values, backup


def compare(case, source, losses, tmp_path, exact, tolerance):
  """Goes on, and compares the losses, and every variable with the last checkpoint in `source`."""
  ours, backup = go_on(case, source, tmp_path / "model", exact)
  np.testing.assert_allclose(ours, losses[canned_cases.SAVED :], rtol=tolerance)
  last = Tf1Checkpoint(str(source / f"model.ckpt-{canned_cases.STEPS}"))
  plan = make_plan(backup.checkpoint, last)
  plan.check()
  assert set(plan.items) == {
    name
    for name in backup.checkpoint.by_name
    if not name.startswith(("global_step", "iterations", "learning_rate"))
  }
  for name, item in plan.items.items():
    value = item.value(last)
    np.testing.assert_allclose(
      backup.checkpoint.by_name[name].numpy(),
      value,
      rtol=1e-5,
      atol=1e-5 * np.abs(value).max(),
      err_msg=name,
    )
  assert plan.counts == {
    name: int(variable.numpy())
    for name, variable in backup.checkpoint.by_name.items()
    if name.startswith("iterations")
  }


@pytest.mark.parametrize("name", CASES)
def test_a_canned_estimator_goes_on_from_its_checkpoint(name, trained, tmp_path):
  root, losses = trained
  compare(CASES[name], root / name, losses[name], tmp_path, True, 1e-6)


@pytest.mark.parametrize("name", STOCK)
def test_the_stock_optimizers_go_on_from_it_too(name, trained, tmp_path):
  root, losses = trained
  compare(CASES[name], root / name, losses[name], tmp_path, False, 1e-5)


@pytest.mark.parametrize("name", sorted(path.name for path in RECORDED.iterdir() if path.is_dir()))
def test_a_recorded_canned_estimator_of_tensorflow_1_15_goes_on_from_its_checkpoint(name, tmp_path):
  losses = json.loads((RECORDED / "losses.json").read_text())
  compare({**CASES[name], "key": "id"}, RECORDED / name, losses[name], tmp_path, True, 1e-6)
