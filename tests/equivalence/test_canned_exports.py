"""What migrated programs export answers as the Estimator's export did."""

import json
import math
import pathlib
import subprocess

import canned_cases
import harness
import pytest

REQUESTS = {
  "housing": {
    "rooms": [5.5, 7.0, 6.0],
    "age": [0.1, 0.5, 0.9],
    "distances": [[0.2, 0.4], [1.0, 0.0], [0.5, 0.5]],
    "river": [0, 2, 7],
  },
  "babyweight": {
    "is_male": ["True", "Unknown", "?"],
    "mother_age": [20.0, 33.0, 41.0],
    "plurality": ["Single(1)", "Twins(2)", ""],
    "gestation_weeks": [39.0, 30.0, 41.0],
  },
}


def exports(scratch):
  """Returns the directories of the exports of a run, oldest first."""
  return sorted(str(path.parent) for path in scratch.cwd.rglob("saved_model.pb"))


def served(interpreter, name, directories):
  """Returns the answers of several exports."""
  script = pathlib.Path(__file__).with_name("serve.py")
  command = [interpreter, str(script), json.dumps(REQUESTS[name]), *directories]
  result = subprocess.run(command, capture_output=True, text=True, check=False)
  assert not result.returncode, result.stderr
  return json.loads(result.stdout.splitlines()[-1])


def close(found, expected):
  """Returns whether nested lists of numbers and texts are equal, numbers to 1e-5."""
  if isinstance(expected, list):
    return len(found) == len(expected) and all(map(close, found, expected))
  if isinstance(expected, float):
    return math.isclose(found, expected, rel_tol=1e-5, abs_tol=1e-6)
  return found == expected


@pytest.mark.parametrize("name", REQUESTS)
def test_exports_answer_as_the_estimators_do(lab, tmp_path, target_pythons, name):
  case = canned_cases.CASES[name]
  scratch, _ = lab.legacy(case.legacy(tmp_path), case.arguments)
  expected = exports(scratch)
  assert expected
  found = []
  for target, python in (("fit", target_pythons[1]), ("loop", target_pythons[0])):
    path = harness.after(case.program, target)
    migrated, _ = lab.from_first(path, case.arguments, python, scratch, case.model_dir)
    found.append(exports(migrated))
    assert len(found[-1]) == len(expected)
  answers = served(target_pythons[1], name, [d for run in (expected, *found) for d in run])
  legacy, *others = (answers[i : i + len(expected)] for i in range(0, len(answers), len(expected)))
  for migrated in others:
    for right, other in zip(legacy, migrated):
      assert set(other) == set(right)
      for signature, outputs in right.items():
        if isinstance(outputs, list):  # the names of the inputs of another kind of signature
          assert other[signature] == outputs
          continue
        assert set(other[signature]) == set(outputs)
        for key, value in outputs.items():
          assert close(other[signature][key], value), (signature, key)
