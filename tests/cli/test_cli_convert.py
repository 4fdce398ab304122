"""Conversion without TensorFlow: what needs none works, what needs it says so."""

import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

from migrator.checkpoint import destination, object_graph, tensors
from migrator.runtime import bundle, bundle_values

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
SOURCE = REPOSITORY / "fixtures" / "checkpoints" / "tf1.15" / "dnn_classifier_adam"


def run(*arguments, code=None):
  """Runs the command, in a process in which TensorFlow and numpy cannot be imported."""
  code = code or (
    "import sys\n"
    "sys.modules['tensorflow'] = sys.modules['numpy'] = None\n"
    "from migrator.cli import main\n"
    "main(sys.argv[1:])\n"
  )
  return subprocess.run(
    [sys.executable, "-c", code, "convert", *map(str, arguments)],
    capture_output=True,
    text=True,
    env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    check=False,
  )


@pytest.mark.parametrize("link", ["auto", "copy"])
def test_a_checkpoint_is_converted_without_tensorflow(link, tmp_path):
  process = run(SOURCE, "--out", tmp_path / "new", "--link", link, "--verify", "full")
  assert process.returncode == 0, process.stderr
  new, old = bundle.read_index(str(tmp_path / "new")), bundle.read_index(f"{SOURCE}/model.ckpt-5")
  key = object_graph.key("dnn/hiddenlayer_0/kernel/Adam_1")
  ((_, one),) = new.pieces(key)
  ((_, other),) = old.pieces("dnn/hiddenlayer_0/kernel/t_0/Adam_1")
  assert bundle_values.read_checked(str(tmp_path / "new"), new, one) == bundle_values.read_checked(
    f"{SOURCE}/model.ckpt-5", old, other
  )
  assert bundle_values.read_scalar(str(tmp_path / "new"), new, object_graph.key("iterations")) == 5


@pytest.mark.parametrize(
  ("options", "what"),
  [
    (["--out", "x.safetensors"], "--format safetensors"),
    (["--out", "x", "--model", "a:b"], "--model"),
  ],
)
def test_what_needs_tensorflow_says_so(options, what, tmp_path):
  code = (
    "import importlib.util, sys\n"
    "find = importlib.util.find_spec\n"
    "importlib.util.find_spec = lambda name, *a: None if name == 'tensorflow' else find(name, *a)\n"
    "from migrator.cli import main\n"
    "main(sys.argv[1:])\n"
  )
  process = run(SOURCE, *options, code=code)
  assert process.returncode == 2
  assert process.stderr.startswith(f"Error: {what} needs TensorFlow")
  assert "pip install" in process.stderr


def test_json_is_all_that_is_printed(tmp_path):
  process = run(SOURCE, "--out", tmp_path / "new", "--json")
  (report,) = json.loads(process.stdout)
  assert report["verified"]["tensors"] == 25
  assert not process.stderr


def test_the_handler_of_signals_is_put_back(tmp_path):
  from click.testing import CliRunner

  from migrator.cli import main

  before = signal.getsignal(signal.SIGTERM)
  assert CliRunner().invoke(main, ["convert", str(SOURCE), "--out", f"{tmp_path}/x"]).exit_code == 0
  assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(
  "name", ["a", "a/b", "a.b", "a./.b..", ".S", "/.S/", "x/.ATTRIBUTES/y", "ü"]
)
def test_a_key_tells_its_name(name):
  key = object_graph.key(name)
  assert key.endswith("/.ATTRIBUTES/VARIABLE_VALUE")
  assert "/" not in key[: -len("/.ATTRIBUTES/VARIABLE_VALUE")]
  assert object_graph.name_of(key) == name


def test_parts_that_do_not_make_up_the_whole_are_refused():
  def part(start, length):
    return bundle.Entry("float32", (length, 2), size=length * 8)

  def index(bounds):
    whole = bundle.Entry("float32", (10, 2), slices=tuple(((a, n), (0, 2)) for a, n in bounds))
    parts = {bundle.ordered_code.slice_key("v", ((a, n), (0, 2))): part(a, n) for a, n in bounds}
    return bundle.Index(1, {"v": whole}, parts, {})

  assert len(tensors.joined("p", index([(4, 6), (0, 4)]), ["v"])) == 2
  for bounds in ([(0, 4), (5, 5)], [(0, 4), (3, 6)], [(0, 4)], [(0, 6), (0, 4)]):
    with pytest.raises(tensors.CheckpointError, match="do not make up the whole"):
      tensors.joined("p", index(bounds), ["v"])


def test_a_state_file_keeps_what_it_listed(tmp_path):
  (tmp_path / "checkpoint").write_text(
    'model_checkpoint_path: "model.ckpt-9"\n'
    'all_model_checkpoint_paths: "model.ckpt-2"\n'
    'all_model_checkpoint_paths: "model.ckpt-9"\n'
    "all_model_checkpoint_timestamps: 11.5\n"
    "all_model_checkpoint_timestamps: 12.5\n"
    "last_preserved_timestamp: 3.25\n"
  )
  lines = destination.state_text(str(tmp_path), "model.ckpt-5", 5).splitlines()
  assert lines[:4] == [
    'model_checkpoint_path: "model.ckpt-9"',
    'all_model_checkpoint_paths: "model.ckpt-2"',
    'all_model_checkpoint_paths: "model.ckpt-5"',
    'all_model_checkpoint_paths: "model.ckpt-9"',
  ]
  assert lines[4].endswith(" 11.5") and lines[6].endswith(" 12.5")
  assert lines[7] == "last_preserved_timestamp: 3.25"
  lines = destination.state_text(str(tmp_path), "model.ckpt-12", 12).splitlines()
  assert lines[0] == 'model_checkpoint_path: "model.ckpt-12"'


def test_a_tensorflow_that_cannot_be_imported_is_one_error(repository, tmp_path):
  """An installation that is broken, or not finished."""
  (tmp_path / "tensorflow").mkdir()
  (tmp_path / "tensorflow/__init__.py").write_text("from tensorflow.python import none\n")
  recorded = repository / "fixtures/checkpoints/tf1.15/dnn_classifier_adam"
  arguments = ["convert", str(recorded), "--out", str(tmp_path / "new.safetensors")]
  path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
  process = subprocess.run(
    [sys.executable, "-m", "migrator.cli", *arguments],
    env={**os.environ, "PYTHONPATH": path},
    capture_output=True,
    text=True,
    check=False,
  )
  assert process.returncode == 2
  assert process.stderr == (
    "Error: --format safetensors needs TensorFlow, which is installed but cannot be imported: "
    "No module named 'tensorflow.python'.\n"
  )
