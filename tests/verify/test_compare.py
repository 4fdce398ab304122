"""What counts as equal; needs no TensorFlow."""

import ast
import math
import pathlib

import pytest

from migrator.verify import compare, directories, report, runs, session


@pytest.mark.parametrize(
  ("steps", "text"),
  [
    ([], "none"),
    ([4], "4"),
    ([0, 3, 6, 9, 10], "0 3 6 9 10"),
    ([*range(7), *range(6, 11)], "0..6 6..10"),
    ([0, 1, 5, 6, 7], "0 1 5..7"),
    (list(range(0, 100, 5)), "0 5 10 15 20 25 ... 70 75 80 85 90 95"),
  ],
)
def test_steps_are_shown_in_short(steps, text):
  assert compare.show(steps) == text


def test_relative_difference():
  assert compare.relative_difference(2.0, 2.0) == 0
  assert compare.relative_difference(0.0, 0.0) == 0
  assert compare.relative_difference(100.0, 101.0) == pytest.approx(1 / 101)
  assert compare.relative_difference(-1.0, 1.0) == 2
  assert compare.relative_difference(math.nan, math.nan) == 0
  assert compare.relative_difference(math.nan, 1.0) == math.inf
  assert compare.relative_difference(math.inf, math.inf) == 0
  assert compare.relative_difference(math.inf, 1.0) == math.inf


def test_losses_of_other_steps_cannot_be_compared():
  assert compare.loss_difference([(1, 2.0)], [(2, 2.0)]) is None
  assert compare.loss_difference([(1, 2.0)], []) is None
  assert compare.loss_difference([], []) == 0
  assert compare.loss_difference([(1, 2.0), (2, 4.0)], [(1, 2.0), (2, 3.0)]) == 0.25


ROW = {"loss": ["float32", [1.0, 1e-9]], "class_ids": ["int64", [2]]}


@pytest.mark.parametrize(
  ("found", "fault"),
  [
    ([ROW], ""),
    ([dict(ROW, loss=["float32", [1.000001, 0.0]])], ""),  # small beside the largest
    ([dict(ROW, loss=["float32", [1.01, 1e-9]])], "1: loss is [1.01, 1e-09], not [1.0, 1e-09]"),
    ([dict(ROW, loss=["float64", [1.0, 1e-9]])], "1: loss is float64, not float32"),
    ([dict(ROW, loss=["float32", [[1.0, 1e-9]]])], "1: loss is [[1.0, 1e-09]], not [1.0, 1e-09]"),
    ([dict(ROW, class_ids=["int64", [1]])], "1: class_ids is [1], not [2]"),
    ([{"loss": ROW["loss"], "n": ROW["loss"]}], "1: keys missing ['class_ids'], more ['n']"),
    ([ROW, ROW], "2 instead of 1"),
    ([], "0 instead of 1"),
  ],
)
def test_faults_of_results(found, fault):
  assert compare.result_fault([ROW], found, 1e-5) == fault


def test_results_without_values():
  other = dict(ROW, loss=["float32", [5.0, 1.0]])
  assert compare.result_fault([ROW], [other], 1e-5, values=False) == ""


def test_table_and_verdict():
  cells = [compare.Cell("same", True), compare.Cell("0 4", False)]
  checks = [
    compare.Check("saved steps", "0 3", cells),
    compare.Check("losses", "", [compare.Cell("?", None), compare.Cell("same", True)]),
  ]
  result = compare.Report("TF 2.15", ["TF 2.15", "TF 2.21"], checks, ["Something."])
  assert not result.equal
  lines = report.to_text(result).splitlines()
  assert lines[0].split("  ")[0] == "check"
  assert lines[2].endswith("DIFFERS")
  assert lines[3].endswith("-")
  assert lines[-1] == "1 of 2 checks differ"


def test_a_record_that_a_kill_cut_off(tmp_path):
  path = tmp_path / "record.jsonl"
  path.write_text('{"event": "loss", "step": 1, "loss": 2.0}\n{"event": "lo')
  assert runs.read_record(path) == [{"event": "loss", "step": 1, "loss": 2.0}]


def test_directories(tmp_path):
  assert directories.checkpoint_steps(tmp_path / "absent") == []
  assert directories.state_steps(tmp_path) == []
  for step in (10, 9):
    (tmp_path / f"model.ckpt-{step}.index").touch()
  assert directories.checkpoint_steps(tmp_path) == [9, 10]
  (tmp_path / "checkpoint").write_text(
    'model_checkpoint_path: "model.ckpt-10"\n'
    'all_model_checkpoint_paths: "/moved/model.ckpt-9"\n'
    'all_model_checkpoint_paths: "model.ckpt-10"\n'
  )
  assert directories.state_steps(tmp_path) == [9, 10]


@pytest.mark.parametrize("name", ["observer", "observer_legacy", "observer_migrated"])
def test_observer_runs_on_python_3_7(name):
  # TensorFlow 1.15 has no newer Python; annotations and new syntax would end the run there.
  path = pathlib.Path(runs.OBSERVER).with_name(f"{name}.py")
  tree = ast.parse(path.read_text(), feature_version=(3, 7))
  imported = {
    (node.module if isinstance(node, ast.ImportFrom) else alias.name).split(".")[0]
    for node in ast.walk(tree)
    if isinstance(node, (ast.Import, ast.ImportFrom))
    for alias in node.names
  }
  assert "migrator" not in imported


@pytest.mark.parametrize(
  ("name", "shared"),
  [
    ("events.out.tfevents.1700000010.host", True),  # made in the second in which it began
    ("eval/events.out.tfevents.1700000011.host", True),
    ("events.out.tfevents.1700000009.host", False),  # an older one
    ("model.ckpt-1700000010.index", False),
    ("checkpoint", False),
  ],
)
def test_only_an_event_file_of_the_same_second_may_change(name, shared):
  assert session.shares_event_file(name, 1700000010) == shared
