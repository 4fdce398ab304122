"""Checkpoints of canned Estimators: what was trained there goes on as it did there.

From step 10 on the migrated model is trained with `fit`, for as long and on the same batches as the real
Estimator; the losses of the steps, and all weights and slots in the end, are compared. What the real ones did is
recorded by fixtures/canned/make.py.
"""

import json
import shutil

import numpy as np
import pytest
import tensorflow as tf
from canned_models import canned_estimators as canned
from canned_models import make_model
from click.testing import CliRunner
from interpreter import HERE

from migrator import runtime
from migrator.cli import main
from migrator.runtime.plan import make_plan
from migrator.runtime.tf1_reader import Tf1Checkpoint

CASES = canned.CASES
RECORDED = HERE.parents[1] / "fixtures" / "canned"
LOSSES = {
  version: json.loads((RECORDED / version / "losses.json").read_text())
  for version in ("tf2.15", "tf1.15")
}
# Those whose stock optimizers are close: neither Ftrl nor RMSProp nor Adam on sparse gradients.
STOCK = ("v1_baseline", "v2_both_sgd")
REMEASURED = "v2_both_adams"


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
  for path in source.glob(f"model.ckpt-{canned.SAVED}.*"):
    shutil.copy(path, directory)
  (directory / "checkpoint").write_text(f'model_checkpoint_path: "model.ckpt-{canned.SAVED}"\n')
  tf.keras.utils.set_random_seed(9)
  model, scope = make_model(case, exact)
  backup = runtime.BackupAndRestore(
    model, directory, variable_scope=scope, flavour=case["flavour"], save_checkpoints_steps=100
  )
  assert backup.global_step == canned.SAVED
  features, labels = canned.data()
  pairs = (features, canned.labels_of(case, labels))
  dataset = tf.data.Dataset.from_tensor_slices(pairs).batch(canned.BATCH)
  dataset = dataset.skip(canned.SAVED).map(runtime.only_inputs(model))
  losses = _Losses()
  model.fit(dataset, callbacks=[backup, losses], verbose=0)
  assert backup.global_step == canned.STEPS
  return losses.values, backup


def compare(case, source, losses, tmp_path, exact, tolerance):
  """Goes on, and compares the losses, and every variable with the last checkpoint in `source`."""
  ours, backup = go_on(case, source, tmp_path / "model", exact)
  np.testing.assert_allclose(ours, losses[canned.SAVED :], rtol=tolerance)
  last = Tf1Checkpoint(str(source / f"model.ckpt-{canned.STEPS}"))
  plan = make_plan(backup.checkpoint, last)
  plan.check()
  assert set(plan.items) == {
    name
    for name in backup.checkpoint.by_name
    if not name.startswith(("global_step", "iterations", "learning_rate"))
  }
  rounding = of_rounding(case, plan, last)
  for name, item in plan.items.items():
    value = item.value(last)
    ours = backup.checkpoint.by_name[name].numpy()
    if name in rounding:
      ours = np.where(rounding[name], value, ours)
    np.testing.assert_allclose(
      ours,
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


def of_rounding(case, plan, last):
  """Returns the name of a variable -> its elements that Adam moves by nothing but rounding.

  Batch normalization takes the bias of a unit away again that is active for all rows, so that its gradient is 0 but for
  rounding (1e-7 beside 0.1, as the real Adam's second moments show), and Adam divides that by its size: the bias makes
  steps of up to the learning rate. It has no influence on the loss; the moving mean of the unit follows it.
  """
  found = {}
  for i in range(len(case["hidden"]) if case.get("batch_norm") else 0):
    layer = f"dnn/hiddenlayer_{i}"
    moments = plan.items[f"{layer}/bias/Adam_1"].value(last)
    units = moments < 1e-10 * moments.max()
    assert units.sum() <= 1
    found[f"{layer}/bias"] = found[f"{layer}/batchnorm_{i}/moving_mean"] = units
  return found


@pytest.mark.parametrize("name", [name for name in LOSSES["tf2.15"] if name not in STOCK])
def test_a_canned_estimator_goes_on_from_its_checkpoint(name, tmp_path):
  compare(CASES[name], RECORDED / "tf2.15" / name, LOSSES["tf2.15"][name], tmp_path, True, 1e-6)


@pytest.mark.parametrize("name", STOCK)
def test_the_stock_optimizers_go_on_from_it_too(name, tmp_path):
  compare(CASES[name], RECORDED / "tf2.15" / name, LOSSES["tf2.15"][name], tmp_path, False, 1e-5)


@pytest.mark.parametrize("name", LOSSES["tf1.15"])
def test_a_canned_estimator_of_tensorflow_1_15_goes_on_from_its_checkpoint(name, tmp_path):
  case = {**CASES[name], "key": "id"}
  compare(case, RECORDED / "tf1.15" / name, LOSSES["tf1.15"][name], tmp_path, True, 1e-6)


def converted(name, version, directory):
  """Converts the checkpoint of step 10 without a model.

  Returns:
    The output's prefix, what was printed, and the checkpoint of a migrated model that is to restore it.
  """
  source = RECORDED / version / name / f"model.ckpt-{canned.SAVED}"
  out = str(directory / "converted")
  result = CliRunner().invoke(main, ["convert", str(source), "--out", out])
  assert result.exit_code == 0, result.output
  case = {**CASES[name], "key": "id"} if version == "tf1.15" else CASES[name]
  model, scope = make_model(case)
  checkpoint = runtime.named_checkpoint(
    model, model.optimizer, scope=scope, flavour=case["flavour"]
  )
  return out, " ".join(result.output.split()), checkpoint


def test_a_conversion_without_a_model_has_the_counts_of_both_optimizers(tmp_path):
  out, printed, checkpoint = converted("v1_both_parts", "tf1.15", tmp_path)
  assert "2 optimizers (Adagrad, Ftrl), and each has made 10 updates" in printed
  checkpoint.restore(out)
  counted = [checkpoint.by_name[n] for n in ("global_step", "iterations", "iterations_1")]
  assert [int(variable.numpy()) for variable in counted] == [canned.SAVED] * 3
  restored = {name: variable.numpy() for name, variable in checkpoint.by_name.items()}
  source = str(RECORDED / "tf1.15" / "v1_both_parts" / f"model.ckpt-{canned.SAVED}")
  assert set(runtime.load_tf1_checkpoint(checkpoint, source).loaded) == set(restored)
  for name, variable in checkpoint.by_name.items():
    np.testing.assert_array_equal(restored[name], variable.numpy(), err_msg=name)


def test_a_conversion_without_a_model_leaves_out_rates_whose_order_it_does_not_know(tmp_path):
  out, printed, checkpoint = converted("v2_both_adams", "tf2.15", tmp_path)
  assert "no `learning_rate` is written. Convert with --model." in printed
  with pytest.raises(runtime.CheckpointError, match="learning_rate_1: not in the checkpoint"):
    checkpoint.restore(out)


if tf.__version__.startswith("2.15."):

  def test_the_estimator_of_this_tensorflow_still_does_what_was_recorded(tmp_path):
    losses = canned.train(tf, CASES[REMEASURED], str(tmp_path))
    np.testing.assert_allclose(losses, LOSSES["tf2.15"][REMEASURED], rtol=1e-6)
    last = f"model.ckpt-{canned.STEPS}"
    now = tf.train.load_checkpoint(str(tmp_path / last))
    then = tf.train.load_checkpoint(str(RECORDED / "tf2.15" / REMEASURED / last))
    assert now.get_variable_to_shape_map() == then.get_variable_to_shape_map()
    for key in then.get_variable_to_shape_map():
      value = then.get_tensor(key)
      np.testing.assert_allclose(now.get_tensor(key), value, rtol=1e-5, atol=1e-7, err_msg=key)
