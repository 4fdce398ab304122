"""`migrator inspect`: what it prints, and what it says of paths that it cannot read."""

import json
import os
import re
import shutil
import subprocess
import sys
from inspect import signature

import pytest
from click.testing import CliRunner

from migrator.cli import main
from migrator.runtime import bundle, bundle_writer
from migrator.runtime.bundle import Entry


def run(*arguments):
  # Before click 8.2 both streams are one unless that is asked for.
  options = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
  result = CliRunner(**options).invoke(main, ["inspect", *map(str, arguments)])
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
    "2 data files, 580 bytes (16 bytes, 564 bytes)",
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


GOLDEN = """\
parts_12_linear/model.ckpt-2: name-based, TF1 optimizers, step 2
  optimizer: Ftrl, of 1 variable

variable  dtype    shape   bytes  slots
m/emb     float32  [26,2]    208  Ftrl (12 parts), Ftrl_1 (12 parts), in 12 parts

1 variable, 52 parameters, 208 bytes; slots and averages 416 bytes
1 data file, 632 bytes

ema/model.ckpt-3: name-based, TF1 optimizers, step 3
  optimizer: Momentum, of 2 variables
  moving averages: of 2 of 3 variables

variable        dtype    shape  bytes  slots
bn/moving_mean  float32  [2]        8
m/bias          float32  [2]        8  Momentum, average
m/emb           float32  [4,2]     32  Momentum, average

3 variables, 12 parameters, 48 bytes; slots and averages 80 bytes
1 data file, 136 bytes

two_adams/model.ckpt-3: name-based, TF1 optimizers, step 3
  optimizer: Adam, of 2 variables, 3 updates (if beta1 = 0.9, beta2 = 0.999)
  optimizer: Adam, called Adam (2), of 2 variables, 2 updates (if beta1 = 0.9, beta2 = 0.999)

variable  dtype    shape  bytes  slots
m/bias    float32  [2]        8  Adam, Adam_1, Adam_2, Adam_3
m/emb     float32  [4,2]     32  Adam, Adam_1, Adam_2, Adam_3

2 variables, 10 parameters, 40 bytes; slots and averages 160 bytes
1 data file, 224 bytes
"""


def test_partitions_averages_and_two_optimizers_are_shown_as_recorded(repository, monkeypatch):
  monkeypatch.chdir(repository / "fixtures/checkpoints/tf1.15/dialects")
  assert run("parts_12_linear", "ema", "two_adams").stdout == GOLDEN


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
  rows = [line.split() for line in result.stdout.splitlines()[1:]]
  assert [(*row[:4], row[-1]) for row in rows] == [
    ("model.ckpt-4", "5", "6", "16", "damaged"),
    ("model.ckpt-5", "5", "6", "580", "whole"),
  ]
  assert "model.ckpt-4.data-00001-of-00002 does not exist" in result.stderr
  assert result.exit_code == 2


def test_all_shows_the_others_although_one_index_is_damaged(copy):
  for path in list(copy.glob("model.ckpt-5.*")):
    shutil.copy(path, path.with_name(path.name.replace("-5.", "-4.")))
  (copy / "model.ckpt-4.index").write_bytes(b"no index")
  result = run(copy, "--all")
  assert [line.split()[-1] for line in result.stdout.splitlines()] == ["files", "damaged", "whole"]
  assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


def test_a_checkpoint_does_not_differ_from_itself(recorded):
  same = run(recorded, "--diff", recorded)
  assert (same.exit_code, same.stdout.count("\n")) == (0, 1)
  assert "are the same" in same.stdout


def test_diff_compares_names_and_slots_across_formats(recorded, repository):
  ours = repository / "fixtures/checkpoints/tf2.21/dnn_classifier_adam/tf2"
  result = run(recorded, "--diff", ours)
  assert (result.exit_code, result.stdout) == (1, "! step: 5 and 7\n")


def test_diff_names_what_only_one_has(repository):
  dialects = repository / "fixtures/checkpoints/tf1.15/dialects"
  first, second = dialects / "adam", dialects / "momentum"
  result = run(first, "--diff", second, "--filter", "m/emb")
  assert result.exit_code == 1
  assert result.stdout.splitlines() == [
    f"- m/emb (Adam): only in {first}/model.ckpt-3",
    f"- m/emb (Adam_1): only in {first}/model.ckpt-3",
    f"+ m/emb (Momentum): only in {second}/model.ckpt-3",
  ]
  (difference, *_) = json.loads(run(first, "--diff", second, "--json").stdout)
  assert (difference["name"], difference["kind"]) == ("m/bias (Adam)", "only in the first")


def test_diff_of_a_damaged_checkpoint_is_no_success(recorded, copy):
  os.truncate(copy / "model.ckpt-5.data-00001-of-00002", 300)
  result = run(recorded, "--diff", copy)
  assert result.exit_code == 2
  assert "it has 300." in result.stderr


def test_our_own_checkpoints_are_named_and_listed(repository):
  output = run(repository / "fixtures/checkpoints/tf2.21/dnn_classifier_adam/tf2").stdout
  assert "object-based, by name (migrator.runtime), step 7" in output.splitlines()[0]
  assert "dnn/logits/kernel" in output


def test_a_prefix_that_is_wrong_lists_the_ones_that_are_there(copy):
  message = error(copy / "model.ckpt-6")
  assert message == (
    f"Error: There is no checkpoint {copy}/model.ckpt-6. Checkpoints in {copy}: model.ckpt-5."
  )


def test_the_names_nearest_to_a_wrong_one_come_first(copy):
  for step in (10, 100, 2, 30, 4, 7):
    shutil.copy(copy / "model.ckpt-5.index", copy / f"model.ckpt-{step}.index")
  assert error(copy / "model.ckpt-6").endswith(
    "model.ckpt-7, model.ckpt-5, model.ckpt-4, model.ckpt-10, model.ckpt-2 and 2 more."
  )


def test_a_directory_without_checkpoints_names_those_below(copy):
  assert f"There are some in {copy}" in error(copy.parent)


def test_nothing_there_is_said(tmp_path):
  assert error(tmp_path) == f"Error: There is no checkpoint in {tmp_path}."
  path = tmp_path / "none"
  assert error(path) == f"Error: There is no checkpoint {path}, nor any other in {tmp_path}."
  assert error(path / "x").endswith(f"{path / 'x'}: there is no directory {path}.")


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
  assert result.stderr == (f"Error: {path} should have {size} bytes, it has 10.\n")


def test_a_directory_without_state_file_means_its_highest_step(copy, caplog):
  shutil.copy(copy / "model.ckpt-5.index", copy / "model.ckpt-40.index")
  shutil.copy(copy / "model.ckpt-5.index", copy / "model.ckpt-7.index")
  (copy / "checkpoint").unlink()
  assert "model.ckpt-40: name-based" in run(copy).stdout
  assert "no state file `checkpoint`; using the highest step" in caplog.text


@pytest.mark.parametrize(
  ("name", "content", "said"),
  [
    ("weights.h5", b"\x89HDF\r\n\x1a\n" + bytes(99), "is an HDF5 file"),
    ("model.keras", b"PK\x03\x04" + bytes(99), "is a zip archive"),
    ("graph.pbtxt", b"node {}", "is a graph in text form"),
    ("frozen.pb", b"\n\x00", "is a graph, not a checkpoint"),
    ("events.out.tfevents.1.host", b"\x18", "holds summaries"),
    ("model.ckpt-5", b"", "is empty (0 bytes)"),
    ("model.ckpt-5", b"text", "is not a checkpoint"),
    ("model.ckpt-5.meta", b"\n\x00", "is the graph of a checkpoint whose"),
  ],
)
def test_a_file_that_is_no_checkpoint_is_called_what_it_is(tmp_path, name, content, said):
  path = tmp_path / name
  path.write_bytes(content)
  assert error(path).startswith(f"Error: {path} {said}")


def test_the_graph_of_a_checkpoint_means_the_checkpoint(copy):
  (copy / "model.ckpt-5.meta").write_bytes(b"graph")
  assert run(copy / "model.ckpt-5.meta").stdout == run(copy).stdout


def test_an_index_without_its_ending_is_told_from_a_checkpoint_of_v1_format(copy):
  path = copy / "saved"
  (copy / "model.ckpt-5.index").rename(path)
  assert error(path).endswith("under another name: its name has to end in .index.")


def test_the_variables_of_a_saved_model_are_shown_where(tmp_path):
  (tmp_path / "saved_model.pb").write_bytes(b"graph")
  assert error(tmp_path).endswith(f"its variables are in {tmp_path}/variables/variables.")


def test_names_are_cut_for_a_terminal_only(repository):
  from migrator.checkpoint import inspection, inspection_text

  prefix = str(repository / "fixtures/checkpoints/tf1.15/dialects/canned_combined/model.ckpt-2")
  one = inspection.open_checkpoint(prefix)
  variables = inspection.selected(one, [])
  narrow = inspection_text.lines(one, variables, width=80)
  (row,) = (line for line in narrow if "..." in line)
  assert row.startswith("dnn/input_from_") and "embedding_weights  float32" in row
  assert max(len(line) for line in narrow[1:]) == 80
  assert inspection_text.lines(one, variables) == run(prefix).stdout.splitlines()


def test_nothing_in_a_name_reaches_the_terminal_as_a_command(tmp_path):
  entries = {"a\x1b[31m\nb": Entry("float32", (1,), size=4)}
  bundle_writer.write_index(str(tmp_path / "model.ckpt"), 1, entries, {})
  (tmp_path / "model.ckpt.data-00000-of-00001").write_bytes(bytes(4))
  for option in ([], ["--keys"]):
    output = run(tmp_path / "model.ckpt", *option).stdout
    assert "a\\x1b[31m\\nb  float32" in output
    assert "\x1b" not in output


def test_json_has_the_keys_that_the_page_describes(repository):
  page = (repository / "docs/inspect.md").read_text()
  described = {key for line in page.splitlines() for key in re.findall(r"^\| `(\w+)`", line)}
  checkpoint = repository / "fixtures/checkpoints/tf1.15/dialects/parts_2_dnn"
  (data,) = json.loads(run(checkpoint, "--json", "--keys").stdout)
  nested = [data[name][0] for name in ("variables", "optimizers", "shards", "entries")]
  nested += [data["totals"], data["entries"][0]["pieces"][0]]
  assert {key for part in (data, *nested) for key in part} | {"stats"} == described


def test_a_step_that_was_altered_is_not_shown_as_none(copy):
  index = bundle.read_index(str(copy / "model.ckpt-5"))
  entry = index.entries["global_step"]
  path = copy / f"model.ckpt-5.data-0000{entry.shard}-of-00002"
  data = bytearray(path.read_bytes())
  data[entry.offset] ^= 1
  path.write_bytes(data)
  result = run(copy)
  assert result.exit_code == 2
  assert result.stderr == (
    f"Error: global_step cannot be read: {copy}/model.ckpt-5.index does not agree with {path}: "
    "the checksum of 8 bytes differs.\n"
  )


def test_a_pointer_of_git_lfs_is_called_that(copy):
  path = copy / "model.ckpt-5.data-00001-of-00002"
  path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 564\n")
  result = run(copy)
  assert (result.exit_code, "dnn/logits/kernel" in result.stdout) == (2, True)
  assert result.stderr == (
    f"Error: {path} is a pointer of Git LFS: `git lfs pull` brings the file.\n"
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


def test_the_directory_in_which_one_is_has_a_name_in_messages(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  assert error(".") == "Error: There is no checkpoint in this directory."
  assert error("x") == "Error: There is no checkpoint x, nor any other in this directory."
