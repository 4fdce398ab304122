"""From a checkpoint of the real Estimator on, each exact optimizer does what the Estimator does."""

import json

import numpy as np
import optimizer_cases
import pytest
import tensorflow as tf
from interpreter import HERE, run_legacy
from optimizer_cases import CASES, SAVED, STEPS

from migrator import runtime
from migrator.runtime import named

LOSSES = 1e-6  # Relative, of each step.
WEIGHTS = 1e-5  # Of the greatest absolute value of the tensor.
SEED = 1
# Every optimizer where a table is looked up, with ids that occur several times; some without. What is
# left out differs from another one by an argument of the same kernel: benchmarks/optimizers.py has it.
LEFT_OUT = (
  "sgd_staircase sgd_clipvalue momentum adam rmsprop_momentum rmsprop_centered ftrl proximal_sgd"
).split()
RUNS = {
  **{f"{case} sparse": (case, True) for case in CASES if case not in LEFT_OUT},
  **{f"{case} dense": (case, False) for case in ("adam_weight_decay", "adadelta", "ftrl_l1_l2")},
}
# Those whose slots begin each in another way, and averages.
FRESH = (
  "momentum_staircase adagrad adam_clip_ema rmsprop rmsprop_centered_momentum ftrl_power adadelta "
  "adam_weight_decay proximal_adagrad"
).split()


@pytest.fixture(scope="module")
def estimators(tmp_path_factory):
  """(directory of the runs, name of a run -> losses), all from one process."""

  def command(root):
    jobs = [[name, case, sparse, SEED] for name, (case, sparse) in RUNS.items()]
    (root / "jobs.json").write_text(json.dumps(jobs))
    return [HERE / "legacy_optimizers.py", root, root / "jobs.json"]

  root = run_legacy(tmp_path_factory, "optimizers", command)
  return root, json.loads((root / "losses.json").read_text())


def migrated(case, sparse):
  model = optimizer_cases.make_model(tf, sparse)
  optimizer = optimizer_cases.make_optimizer(tf, runtime.optimizers, CASES[case])
  return model, optimizer, runtime.named_checkpoint(model, optimizer, flavour="v1")


def compare(checkpoint, prefix, losses, expected):
  """Holds losses, weights, slots and averages to those of the Estimator."""
  np.testing.assert_allclose(losses, expected, rtol=LOSSES)
  reader = tf.train.load_checkpoint(str(prefix))
  names = set(checkpoint.by_name) - {"global_step", "iterations"}
  slots = len(checkpoint.optimizer_state.kind.slots)
  assert len(names) == len(checkpoint.weights) * (1 + slots)
  for name in names:
    value, wanted = checkpoint.by_name[name].numpy(), reader.get_tensor(name)
    assert np.max(np.abs(value - wanted)) <= WEIGHTS * np.max(np.abs(wanted)), name


@pytest.mark.parametrize("run", RUNS)
def test_training_that_goes_on_from_an_estimators_checkpoint(estimators, run):
  root, losses = estimators
  model, optimizer, checkpoint = migrated(*RUNS[run])
  report = runtime.load_tf1_checkpoint(checkpoint, str(root / run / f"model.ckpt-{SAVED}"))
  assert report.step == SAVED
  assert int(optimizer.iterations.numpy()) == SAVED
  found = optimizer_cases.train(tf, model, optimizer, optimizer_cases.batches(SEED)[SAVED:])
  compare(checkpoint, root / run / f"model.ckpt-{STEPS}", found, losses[run][SAVED:])


@pytest.mark.parametrize("case", FRESH)
def test_training_from_the_beginning(estimators, case):
  """The slots begin as TF1's do: only the weights come from the Estimator."""
  root, losses = estimators
  run = f"{case} sparse"
  model = optimizer_cases.make_model(tf, sparse=True)
  reader = tf.train.load_checkpoint(str(root / run / "model.ckpt-0"))
  for name, weight in named.weight_names(model).items():
    weight.assign(reader.get_tensor(name))
  optimizer = optimizer_cases.make_optimizer(tf, runtime.optimizers, CASES[case])
  checkpoint = runtime.named_checkpoint(model, optimizer, flavour="v1")
  found = optimizer_cases.train(tf, model, optimizer, optimizer_cases.batches(SEED)[:SAVED])
  compare(checkpoint, root / run / f"model.ckpt-{SAVED}", found, losses[run][:SAVED])


@pytest.mark.parametrize("case", ["adam_clip_ema", "adam_weight_decay"])
def test_fit_that_goes_on_from_an_estimators_checkpoint(estimators, case):
  root, losses = estimators
  run = f"{case} sparse"
  model, optimizer, checkpoint = migrated(case, True)
  runtime.load_tf1_checkpoint(checkpoint, str(root / run / f"model.ckpt-{SAVED}"))
  model.compile(optimizer, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
  data = optimizer_cases.batches(SEED)[SAVED:]
  found = []
  for ids, x, labels in data:
    # One step at a time, so that each loss is seen.
    dataset = tf.data.Dataset.from_tensors(({"ids": ids, "x": x}, labels))
    found.append(model.fit(dataset, verbose=0).history["loss"][0])
  compare(checkpoint, root / run / f"model.ckpt-{STEPS}", found, losses[run][SAVED:])


@pytest.mark.parametrize("case", ["adam_clip_ema", "ftrl_beta", "adadelta"])
def test_interruption_with_an_own_checkpoint_changes_nothing(estimators, tmp_path, case):
  root, losses = estimators
  run = f"{case} sparse"
  data = optimizer_cases.batches(SEED)
  model, optimizer, checkpoint = migrated(case, True)
  runtime.load_tf1_checkpoint(checkpoint, str(root / run / f"model.ckpt-{SAVED}"))
  found = optimizer_cases.train(tf, model, optimizer, data[SAVED : SAVED + 10])
  saved = checkpoint.save(str(tmp_path / "model.ckpt"))
  model, optimizer, checkpoint = migrated(case, True)
  checkpoint.restore(saved)
  found += optimizer_cases.train(tf, model, optimizer, data[SAVED + 10 :])
  compare(checkpoint, root / run / f"model.ckpt-{STEPS}", found, losses[run][SAVED:])


STOCK = {
  "sgd_ema sparse": lambda k: k.SGD(0.1, use_ema=True, ema_momentum=0.9),
  "adadelta dense": lambda k: k.Adadelta(1.0, epsilon=1e-8),
  "ftrl_l1_l2 dense": lambda k: k.Ftrl(
    0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.1
  ),
}


@pytest.mark.parametrize("run", STOCK)
def test_stock_optimizer_that_goes_on_from_an_estimators_checkpoint(estimators, run):
  root, losses = estimators
  model = optimizer_cases.make_model(tf, RUNS[run][1])
  optimizer = STOCK[run](tf.keras.optimizers)
  checkpoint = runtime.named_checkpoint(model, optimizer, flavour="v1")
  runtime.load_tf1_checkpoint(checkpoint, str(root / run / f"model.ckpt-{SAVED}"))
  found = optimizer_cases.train(tf, model, optimizer, optimizer_cases.batches(SEED)[SAVED:])
  compare(checkpoint, root / run / f"model.ckpt-{STEPS}", found, losses[run][SAVED:])


def test_averages_in_the_checkpoint_are_no_fault_of_a_program_without_them(estimators):
  root, losses = estimators
  model = optimizer_cases.make_model(tf, True)
  optimizer = runtime.optimizers.GradientDescent(0.1)
  checkpoint = runtime.named_checkpoint(model, optimizer, flavour="v1")
  runtime.load_tf1_checkpoint(checkpoint, str(root / "sgd_ema sparse" / f"model.ckpt-{SAVED}"))
  found = optimizer_cases.train(tf, model, optimizer, optimizer_cases.batches(SEED)[SAVED:])
  np.testing.assert_allclose(found, losses["sgd_ema sparse"][SAVED:], rtol=LOSSES)


def test_averages_that_the_checkpoint_lacks_are_named(estimators):
  root, _ = estimators
  model = optimizer_cases.make_model(tf, True)
  optimizer = runtime.optimizers.GradientDescent(0.1, use_ema=True)
  checkpoint = runtime.named_checkpoint(model, optimizer, flavour="v1")
  with pytest.raises(runtime.CheckpointError, match="hidden/kernel/ExponentialMovingAverage"):
    runtime.load_tf1_checkpoint(checkpoint, str(root / "sgd sparse" / f"model.ckpt-{SAVED}"))


def test_slots_of_another_optimizer_are_refused(estimators):
  root, _ = estimators
  _, _, checkpoint = migrated("proximal_adagrad", True)
  with pytest.raises(runtime.CheckpointError, match="hidden/kernel/ProximalAdagrad"):
    runtime.load_tf1_checkpoint(checkpoint, str(root / "adagrad sparse" / f"model.ckpt-{SAVED}"))
