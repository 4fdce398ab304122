"""Hyperparameters of `tf.contrib.training` against a recording of TensorFlow 1.15."""

import json
from pathlib import Path

import hparam_cases
import pytest

from migrator.runtime.contrib import training

RECORDED = Path(__file__).resolve().parents[2] / "fixtures" / "contrib" / "hparams.json"


def test_hyperparameters_do_what_they_did_in_tensorflow_1():
  recorded = json.loads(RECORDED.read_text())
  found = hparam_cases.run(training.HParams, training.parse_values)
  assert len(recorded) > 150
  assert [pair for pair in zip(found, recorded) if pair[0] != pair[1]] == []
  assert len(found) == len(recorded)


def test_a_message_of_tensorflow_1_is_refused():
  with pytest.raises(ValueError, match="does not have: give the values by name"):
    training.HParams(hparam_def="message")
