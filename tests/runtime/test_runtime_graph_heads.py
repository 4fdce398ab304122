"""Heads in the graph of a model_fn, against recordings of TensorFlow 1.15's and the real ones of 2.15."""

import functools
import json
from pathlib import Path

import graph_head_cases
import numpy as np
import pytest
import tensorflow as tf
from interpreter import HERE, run_legacy

from migrator import runtime
from migrator.runtime import graph_heads
from migrator.runtime.contrib import estimator
from migrator.runtime.graph_heads import v2

RECORDED = Path(__file__).resolve().parents[2] / "fixtures" / "graph_heads"
RESULTS = json.loads((RECORDED / "results.json").read_text())


class Heads:
  """The runtime's heads, by the names that the cases use."""

  canned_for_classes = staticmethod(graph_heads.for_classes)
  canned_binary = graph_heads.BinaryHead
  canned_multi_class = graph_heads.MultiClassHead
  canned_regression = graph_heads.RegressionHead

  def __getattr__(self, name):
    return getattr(v2 if name.endswith("Head") else estimator, name)


def same(found, recorded, where):
  """Compares numbers within 1e-6 of the greatest, everything else exactly."""
  if isinstance(recorded, dict):
    assert list(found) == list(recorded), where
    for key, value in recorded.items():
      same(found[key], value, f"{where} {key}")
  elif isinstance(recorded, list) and len(recorded) == 3 and isinstance(recorded[2], list):
    assert found[:2] == recorded[:2], where
    if recorded[0] == "string":
      assert found[2] == recorded[2], where
      return
    scale = max([abs(one) for one in recorded[2]], default=0.0)
    np.testing.assert_allclose(found[2], recorded[2], rtol=1e-6, atol=1e-6 * scale, err_msg=where)
  else:
    assert found == recorded, where


def test_the_recordings_are_those_of_the_cases():
  assert sorted(RESULTS) == sorted(graph_head_cases.CASES)


@pytest.mark.parametrize("name", sorted(graph_head_cases.CASES))
def test_specs_are_those_of_the_heads_of_tensorflow_1(name):
  found = json.loads(json.dumps(graph_head_cases.run(tf, Heads(), name), sort_keys=True))
  for mode, recorded in RESULTS[name].items():
    same(found[mode], {**recorded, "random": found[mode]["random"]}, f"{name} {mode}")


LIVE = [name for name in graph_head_cases.CASES if name.startswith("canned_")]
LIVE += graph_head_cases.PUBLIC


@pytest.fixture(scope="session")
def legacy_heads(tmp_path_factory):
  """What the real heads of TensorFlow 2.15 make."""
  script = HERE / "legacy_graph_heads.py"
  root = run_legacy(tmp_path_factory, "graph_heads", lambda root: [script, root / "results.json"])
  return json.loads((root / "results.json").read_text())


@pytest.mark.parametrize("name", LIVE)
def test_specs_are_those_of_the_real_heads(name, legacy_heads):
  modes = list(legacy_heads[name])
  found = json.loads(json.dumps(graph_head_cases.run(tf, Heads(), name, modes), sort_keys=True))
  for mode, recorded in legacy_heads[name].items():
    same(found[mode], recorded, f"{name} {mode}")


def test_a_model_with_a_head_is_trained_evaluated_and_predicts_as_by_the_estimator(
  legacy_heads, tmp_path
):
  reduction = tf.compat.v1.losses.Reduction.MEAN
  head_of = functools.partial(graph_heads.BinaryHead, "w", [0.5], ["a", "b"], reduction)
  found = graph_head_cases.train(tf, runtime.ModelFn, head_of, str(tmp_path))
  recorded = legacy_heads["trained"]
  assert "head/beta1_power" in recorded["variables"]
  found = json.loads(json.dumps(found, sort_keys=True))
  assert len(found["predictions"]) == len(recorded["predictions"])
  for key in ("variables", "metrics"):
    same(found[key], recorded[key], key)
  for mine, other in zip(found["predictions"], recorded["predictions"]):
    same(mine, other, "predictions")
