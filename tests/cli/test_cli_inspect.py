"""`migrator inspect`: what it prints, and what it says of paths that it cannot read."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner

from migrator.cli import main
from migrator.runtime import bundle, bundle_writer
from migrator.runtime.bundle import Entry


def run(*arguments):
  result = CliRunner().invoke(main, ["inspect", *map(str, arguments)])
  assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
  return result


def error(*arguments):
  """Returns the one line on stderr of a call that fails."""
  result = run(*arguments)
  assert result.exit_code == 2
  assert result.stderr.startswith("Error: ")
  assert "Traceback" not in result.stderr
  lines = result.stderr.splitlines()
  assert len(lines) == 1
  return lines[0]


@pytest.fixture
def recorded(repository):
  return repository / "fixtures/checkpoints/tf1.15/dnn_classifier_adam"


@pytest.fixture
def copy(recorded, tmp_path):
  return shutil.copytree(recorded, tmp_path / "model")


def test_variables_slots_optimizer_and_step_are_shown(recorded):
  output = run(recorded).stdout.splitlines()
  assert output[0].endswith("model.ckpt-5: name-based, TF1 optimizers, step 5")
  assert output[1] == (
    "  optimizer: Adam, of 6 variables, 5 updates (if beta1 = 0.9, beta2 = 0.999)"
  )
  assert output[3].split() == ["variable", "dtype", "shape", "bytes", "slots"]
  assert output[5].split() == [
    "dnn/hiddenlayer_0/kernel", "float32", "[4,4]", "64", "Adam,", "Adam_1",
  ]  # fmt: skip
  assert output[-2:] == [
    "6 variables, 47 parameters, 188 bytes; slots and averages 376 bytes",
    "2 data files, 580 bytes",
  ]


@pytest.mark.parametrize(
  "name",
  ["", "checkpoint", "model.ckpt-5", "model.ckpt-5.index", "model.ckpt-5.data-00001-of-00002"],
)
def test_every_way_to_name_a_checkpoint_means_the_same(recorded, name):
  assert run(recorded / name).stdout == run(recorded).stdout


def test_json_holds_all_that_the_table_says(recorded):
  (data,) = json.loads(run(recorded, "--json").stdout)
  assert data["step"] == 5
  assert data["dialect"] == "v1"
  assert data["totals"] == {"variables": 6, "parameters": 47, "bytes": 188, "slot_bytes": 376}
  kernel = next(v for v in data["variables"] if v["name"] == "dnn/logits/kernel")
  assert kernel["shape"] == [3, 3]
  assert kernel["slots"] == {
    "Adam": ["dnn/logits/kernel/t_0/Adam"],
    "Adam_1": ["dnn/logits/kernel/t_0/Adam_1"],
  }
  assert data["optimizers"][0]["updates"] == 5
  assert [shard["bytes"] for shard in data["shards"]] == [
    shard["expected_bytes"] for shard in data["shards"]
  ]


def test_filter_and_sort_choose_the_rows(recorded):
  output = run(recorded, "--filter", "dnn/*/bias", "--sort", "size").stdout.splitlines()
  names = [line.split()[0] for line in output[4:] if line.startswith("dnn")]
  assert names == ["dnn/hiddenlayer_0/bias", "dnn/hiddenlayer_1/bias", "dnn/logits/bias"]
  assert output[-2].startswith("3 variables, 10 parameters")


def test_layers_are_sorted_by_their_number(tmp_path):
  entries = {f"layer_{i}/kernel": Entry("float32", (1,), size=4) for i in (10, 2, 1)}
  bundle_writer.write_index(str(tmp_path / "model.ckpt"), 1, entries, {})
  (tmp_path / "model.ckpt.data-00000-of-00001").write_bytes(bytes(4))
  output = run(tmp_path / "model.ckpt").stdout
  assert output.index("layer_1/") < output.index("layer_2/") < output.index("layer_10/")


def test_keys_shows_every_key_of_the_index(recorded):
  output = run(recorded, "--keys").stdout
  index = bundle.read_index(str(recorded / "model.ckpt-5"))
  for key, entry in index.entries.items():
    line = next(line for line in output.splitlines() if line.startswith(key + " "))
    assert line.split()[-4:-1] == [str(entry.shard), str(entry.offset), str(entry.size)]


def test_all_shows_each_checkpoint_of_a_directory(copy):
  for path in list(copy.glob("model.ckpt-5.*")):
    shutil.copy(path, path.with_name(path.name.replace("-5.", "-4.")))
  (copy / "model.ckpt-4.data-00001-of-00002").unlink()
  result = run(copy, "--all")
  assert [line.split() for line in result.stdout.splitlines()[1:]] == [
    ["model.ckpt-4", "5", "6", "16", "damaged"],
    ["model.ckpt-5", "5", "6", "580", "whole"],
  ]
  assert "model.ckpt-4.data-00001-of-00002 does not exist" in result.stderr
  assert result.exit_code == 2


def test_diff_names_what_differs(recorded, repository):
  same = run(recorded, "--diff", recorded)
  assert (same.exit_code, same.stdout.count("\n")) == (0, 1)
  assert "are the same" in same.stdout
  other = run(
    recorded, "--diff", repository / "fixtures/checkpoints/tf2.21/dnn_classifier_adam/tf2"
  )
  assert (other.exit_code, "are the same" in other.stdout) == (0, True)


def test_our_own_checkpoints_are_named_and_listed(repository):
  output = run(repository / "fixtures/checkpoints/tf2.21/dnn_classifier_adam/tf2").stdout
  assert "object-based, by name (migrator.runtime), step 7" in output.splitlines()[0]
  assert "dnn/logits/kernel" in output


def test_a_prefix_that_is_wrong_lists_the_ones_that_are_there(copy):
  message = error(copy / "model.ckpt-6")
  assert "model.ckpt-6.index does not exist" in message
  assert "model.ckpt-5" in message


def test_a_directory_without_checkpoints_names_those_below(copy):
  assert f"There are some in {copy}" in error(copy.parent)


def test_nothing_there_is_said(tmp_path):
  assert error(tmp_path / "none") == f"Error: There is no {tmp_path / 'none'}."
  assert error(tmp_path) == f"Error: There is no checkpoint in {tmp_path}."


def test_a_truncated_index_is_named_with_its_size(copy):
  path = copy / "model.ckpt-5.index"
  path.write_bytes(path.read_bytes()[:100])
  assert f"{path} does not end as an index does (it is 100 bytes long)" in error(copy)


def test_truncated_data_are_named_with_both_sizes_and_the_table_is_shown(copy):
  path = copy / "model.ckpt-5.data-00001-of-00002"
  size = path.stat().st_size
  os.truncate(path, 10)
  result = run(copy)
  assert result.exit_code == 2
  assert "dnn/logits/kernel" in result.stdout
  assert result.stderr == (
    f"Error: {path} should have {size} bytes, it has 10. The checkpoint is damaged.\n"
  )


def test_an_empty_state_file_is_said(copy):
  (copy / "checkpoint").write_text("")
  assert "is broken: it is empty (0 bytes)" in error(copy)


def test_other_paths_are_read_although_one_cannot_be(recorded, tmp_path):
  result = run(tmp_path / "none", recorded)
  assert result.exit_code == 2
  assert "step 5" in result.stdout
  assert "There is no" in result.stderr


def test_inspect_imports_neither_tensorflow_nor_numpy(recorded):
  script = (
    "import sys\n"
    "for name in ('tensorflow', 'numpy', 'libcst', 'keras'):\n"
    "  sys.modules[name] = None\n"
    "from migrator.cli import main\n"
    f"main(['inspect', {str(recorded)!r}])\n"
  )
  done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
  assert done.returncode == 0, done.stderr
  assert "step 5" in done.stdout


def test_stats_without_numpy_says_what_to_install(recorded):
  script = (
    "import sys\n"
    "sys.modules['numpy'] = None\n"
    "from migrator.cli import main\n"
    f"main(['inspect', '--stats', {str(recorded)!r}])\n"
  )
  done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
  assert done.returncode == 2
  assert done.stderr == "Error: --stats needs numpy: pip install numpy\n"
