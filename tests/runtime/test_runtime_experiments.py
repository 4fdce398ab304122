"""Experiments of `tf.contrib.learn` against a recording of TensorFlow 1.15."""

import json
from pathlib import Path

import experiment_cases as cases
import pytest
import tensorflow as tf

from migrator import runtime
from migrator.runtime.contrib import learn

RECORDED = json.loads(
  (Path(__file__).resolve().parents[2] / "fixtures" / "contrib" / "experiments.json").read_text()
)


class Api:
  """The runtime."""

  tf1 = tf.compat.v1
  Estimator = runtime.ModelFn
  EstimatorSpec = runtime.EstimatorSpec
  RunConfig = runtime.RunConfig
  Experiment = learn.Experiment
  ServingInputReceiver = runtime.export.ServingInputReceiver
  make_export_strategy = staticmethod(learn.make_export_strategy)
  latest = staticmethod(runtime.latest_checkpoint)
  learn_run = staticmethod(learn.run)


def close(found, recorded):
  """Whether numbers agree within 2e-6 relative, and all else exactly."""
  if isinstance(recorded, dict):
    assert sorted(found) == sorted(recorded)
    return all(close(found[key], value) for key, value in recorded.items())
  if isinstance(recorded, list):
    return len(found) == len(recorded) and all(map(close, found, recorded))
  return (
    found == pytest.approx(recorded, rel=2e-6) if isinstance(recorded, float) else found == recorded
  )


@pytest.mark.parametrize("name", cases.CASES)
def test_an_experiment_does_what_it_did_in_tensorflow_1(name, tmp_path):
  found = json.loads(json.dumps(cases.run(Api, name, str(tmp_path))))
  recorded = RECORDED[name]
  assert {k: found[k] for k in ("calls", "checkpoints", "exports")} == {
    k: recorded[k] for k in ("calls", "checkpoints", "exports")
  }
  for key in ("result", "evaluations"):
    assert close(found[key], recorded[key]), (key, found[key], recorded[key])


def experiment(**arguments):
  return learn.Experiment(None, None, None, **arguments)


def test_what_an_experiment_does_not_offer_is_said():
  for arguments in (
    {"eval_metrics": {}},
    {"checkpoint_and_export": True},
    {"train_steps_per_iteration": 1.5},
    {"export_strategies": ["latest"]},
  ):
    with pytest.raises(ValueError, match=next(iter(arguments))):
      experiment(**arguments)


def test_what_a_run_needs_is_said():
  config = runtime.RunConfig(model_dir="d")

  def made(run_config, hparams):
    assert run_config is config
    return hparams

  for arguments, error in (
    ({"output_dir": "d", "run_config": config}, "Cannot provide both"),
    ({}, "Must set value"),
    ({"run_config": runtime.RunConfig()}, "model_dir"),
    ({"output_dir": ""}, "output directory"),
    ({"output_dir": "d", "hparams": 1}, "hparams"),
  ):
    with pytest.raises(ValueError, match=error):
      learn.run(made, **arguments)
  with pytest.raises(TypeError, match="not callable"):
    learn.run("made", output_dir="d")
  with pytest.raises(TypeError, match="did not return an Experiment"):
    learn.run(made, run_config=config, hparams=3)
  with pytest.raises(ValueError, match="'run_std_server' is none of"):
    learn.run(lambda output_dir: experiment(), output_dir="d", schedule="run_std_server")


def test_export_strategies_get_what_they_take():
  def plain(estimator, base):
    return estimator, base

  def more(estimator, base, checkpoint_path=None, eval_result=None):
    return checkpoint_path, eval_result

  def wrong(estimator, base, eval_result=None):
    return base

  assert learn.ExportStrategy("a", plain).export(1, "b", "c", "d") == (1, "b")
  assert learn.ExportStrategy("a", more).export(1, "b", "c", "d") == ("c", "d")
  with pytest.raises(ValueError, match="must also accept checkpoint_path"):
    learn.ExportStrategy("a", wrong).export(1, "b", "c", "d")
  one = experiment(export_strategies=learn.ExportStrategy("a", plain))
  assert [s.name for s in one.reset_export_strategies()] == ["a"]
  assert one.reset_export_strategies() == ()


@pytest.mark.parametrize("takes_path", [True, False])
def test_a_predicate_ends_the_rounds(takes_path, tmp_path):
  seen = []

  class Estimator:
    model_dir = str(tmp_path)

    def train(self, *given, **named):
      seen.append(named["steps"])

    def latest_checkpoint(self):
      return "path"

    def evaluate(self, *given, **named):
      return {"global_step": 4, "path": named["checkpoint_path"]}

  def goes_on(found, checkpoint_path=None):
    seen.append((found and found["path"], checkpoint_path))
    return len(seen) < 4

  predicate = goes_on if takes_path else lambda found: goes_on(found)
  one = learn.Experiment(Estimator(), None, None, train_steps=50)
  found, exports = one.continuous_train_and_eval(predicate)
  assert (found["global_step"], exports) == (4, [])
  path = "path" if takes_path else None
  assert seen == [(None, None), 5, ("path", path), 5, ("path", path)]
