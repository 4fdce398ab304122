"""The output is complete or absent, whatever happens; what was there before stays as it was."""

import errno
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
import written

from migrator.checkpoint import batch, checkpoint_format, data_files, placing, readback
from migrator.runtime import bundle


@pytest.fixture
def source(tmp_path):
  """A checkpoint with a partitioned table and its slots."""
  return written.save(tmp_path / "old", written.table(parts=3))


def no_space(*arguments, **keywords):
  raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


WAYS = {
  "checkpoint": ("new/", []),
  "copied checkpoint": ("new/", ["--link", "copy"]),
  "safetensors": ("new/x.safetensors", []),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_file_system_that_takes_no_more_bytes_leaves_nothing(way, source, tmp_path):
  # A limit of the process on the length of its files: what is written ends as on a full disk.
  out, options = WAYS[way]
  code = (
    "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    "from migrator.cli import main\n"
    "from migrator.cli import convert\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))\n"
    "main(sys.argv[1:])\n"
  )
  before = written.snapshot(tmp_path)
  command = [sys.executable, "-c", code, "convert", source, "--out", f"{tmp_path}/{out}", *options]
  result = subprocess.run(command, capture_output=True, text=True, check=False)
  assert result.returncode == 2, result.stderr
  assert "cannot be written" in result.stderr
  assert "Traceback" not in result.stderr
  assert written.snapshot(tmp_path) == before


@pytest.mark.parametrize("way", ["checkpoint", "copied checkpoint"])
@pytest.mark.parametrize("place", ["copy", "write_index", "_write_new", "commit", "state_text"])
def test_a_full_disk_at_any_point_leaves_the_old_output(
  way, place, source, tmp_path, convert, monkeypatch
):
  out, options = WAYS[way]
  convert(source, "--out", f"{tmp_path}/{out}", *options)
  assert convert.code == 0
  before = written.snapshot(tmp_path)
  module = {
    "copy": data_files,
    "_write_new": checkpoint_format,
    "write_index": checkpoint_format.bundle_writer,
    "commit": placing.Place,
    "state_text": convert_module().destination,
  }[place]
  monkeypatch.setattr(module, place, no_space)
  printed = convert(source, "--out", f"{tmp_path}/{out}", "--force", *options)
  if place == "copy" and way == "checkpoint":
    assert convert.code == 0  # Nothing is copied there.
    return
  assert convert.code == 2
  assert "No space left on device" in printed
  assert written.snapshot(tmp_path) == before


def convert_module():
  from migrator.checkpoint import convert

  return convert


@pytest.mark.parametrize("number", range(12))
def test_a_failing_move_puts_the_old_output_back(number, source, tmp_path, convert, monkeypatch):
  convert(source, "--out", tmp_path / "new")
  before = written.snapshot(tmp_path)
  calls = []
  original = os.replace

  def replace(old, new):
    calls.append(new)
    if len(calls) == number + 1 and ".migrator-" in str(old) + str(new):
      no_space()
    return original(old, new)

  monkeypatch.setattr(os, "replace", replace)
  convert(source, "--out", tmp_path / "new", "--force", "--link", "copy")
  monkeypatch.undo()
  if convert.code == 0:
    assert len(calls) <= number  # It was done before.
  else:
    assert written.snapshot(tmp_path) == before


@pytest.mark.parametrize("link", ["auto", "copy"])
def test_an_interrupt_removes_what_is_unfinished(link, source, tmp_path):
  class Impatient:
    def expect(self, count):
      pass

    def advance(self, count):
      raise KeyboardInterrupt

  before = written.snapshot(tmp_path)
  request = batch.Request([source], f"{tmp_path}/deep/new/", link=link)
  with pytest.raises(KeyboardInterrupt):
    batch.run(request, None, Impatient())
  assert written.snapshot(tmp_path) == before


def test_a_terminated_process_leaves_nothing(source, tmp_path):
  before = written.snapshot(tmp_path)
  code = (
    "import os, signal, sys\n"
    "from migrator.cli import main\n"
    "from migrator.checkpoint import readback\n"
    "readback.verify = lambda *a: os.kill(os.getpid(), signal.SIGTERM)\n"
    "main(sys.argv[1:])\n"
  )
  command = [sys.executable, "-c", code, "convert", source, "--out", f"{tmp_path}/new/"]
  result = subprocess.run(command, capture_output=True, text=True, check=False)
  assert result.returncode == 130, result.stderr
  assert written.snapshot(tmp_path) == before


def test_an_existing_output_is_only_replaced_with_force(source, tmp_path, convert):
  convert(source, "--out", tmp_path / "new")
  before = written.snapshot(tmp_path)
  printed = convert(source, "--out", tmp_path / "new", "--link", "copy")
  assert convert.code == 2
  assert "--force" in printed
  assert written.snapshot(tmp_path) == before
  convert(source, "--out", tmp_path / "new", "--link", "copy", "--force")
  assert convert.code == 0
  assert written.snapshot(tmp_path / "old") == {
    name[4:]: value for name, value in before.items() if name.startswith("old/")
  }
  tf.train.load_checkpoint(str(tmp_path / "new"))


@pytest.mark.parametrize("out", ["old", "old/", "old/model.ckpt-7", "link/model.ckpt-7", "link"])
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_the_source_is_never_the_output(out, force, source, tmp_path, convert):
  (tmp_path / "link").symlink_to(tmp_path / "old")
  before = written.snapshot(tmp_path)
  convert(source, "--out", f"{tmp_path}/{out}", *force)
  assert convert.code == 2
  assert written.snapshot(tmp_path) == before


@pytest.mark.parametrize("code", [errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP])
def test_where_linking_is_refused_the_data_are_copied(code, source, tmp_path, convert, monkeypatch):
  def refuse(*arguments, **keywords):
    raise OSError(code, os.strerror(code))

  monkeypatch.setattr(os, "link", refuse)
  report = convert.json(source, "--out", tmp_path / "new")[0]
  assert convert.code == 0, convert.output
  assert (report["way"], report["reason"]) == ("copied", os.strerror(code))
  assert report["shared"] == 0
  found = tf.train.load_checkpoint(str(tmp_path / "new")).get_tensor(
    "ids.Sembedding_weights/.ATTRIBUTES/VARIABLE_VALUE"
  )
  assert written.bits(found) == written.bits(written.value(source, ["ids/embedding_weights"]))
  convert(source, "--out", tmp_path / "other", "--link", "hard")
  assert convert.code == 2
  assert not list(tmp_path.glob("other*"))


@pytest.mark.parametrize("missing", [("copy_file_range",), ("copy_file_range", "sendfile")])
def test_data_are_copied_also_where_the_system_has_no_call_for_it(
  missing, source, tmp_path, convert, monkeypatch
):
  def refuse(*arguments, **keywords):
    raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

  for name in missing:
    monkeypatch.setattr(os, name, refuse, raising=False)
  convert(source, "--out", tmp_path / "new", "--link", "copy", "--verify", "full")
  assert convert.code == 0, convert.output


@pytest.mark.parametrize("verify", ["quick", "full"])
def test_a_byte_that_changes_on_the_way_is_found(verify, source, tmp_path, convert, monkeypatch):
  def by_range(reader, writer, position, end, done):
    data = bytearray(reader.read())
    data[100] ^= 1
    writer.write(data)
    done(len(data))

  monkeypatch.setattr(data_files, "_by_range", by_range)
  printed = convert(source, "--out", tmp_path / "new", "--link", "copy", "--verify", verify)
  assert convert.code == 2
  assert "Reading back shows a difference" in printed
  assert not list(tmp_path.glob("new*"))


def test_an_index_that_is_written_wrongly_is_found(source, tmp_path, convert, monkeypatch):
  original = checkpoint_format.bundle_writer.write_index

  def write_index(prefix, count, entries, pieces):
    key = next(k for k in entries if "global_step" in k)
    entries[key] = checkpoint_format.dataclasses.replace(
      entries[key], offset=entries[key].offset + 1
    )
    original(prefix, count, entries, pieces)

  monkeypatch.setattr(checkpoint_format.bundle_writer, "write_index", write_index)
  convert(source, "--out", tmp_path / "new")
  assert convert.code == 2
  assert not list(tmp_path.glob("new*"))


def test_only_what_is_used_is_copied(tmp_path):
  path = tmp_path / "data"
  path.write_bytes(bytes(range(256)) * 1000)
  ranges = data_files.merged([(200_000, 200_010), (5, 9), (9, 12), (100_000, 100_000)])
  data_files.copy(str(path), str(tmp_path / "copy"), ranges, lambda count: None)
  data = path.read_bytes()
  assert (tmp_path / "copy").read_bytes() == data[5:12] + data[200_000:200_010]
  offset = data_files.moved(ranges)
  assert (offset(9), offset(200_000)) == (4, 7)


def test_a_source_that_ends_too_early_is_an_error(tmp_path):
  (tmp_path / "data").write_bytes(b"abc")
  with pytest.raises(OSError, match="ends before"):
    data_files.copy(str(tmp_path / "data"), str(tmp_path / "copy"), [(0, 10)], lambda count: None)


def truncated_data(prefix):
  path = pathlib.Path(prefix + ".data-00000-of-00001")
  path.write_bytes(path.read_bytes()[:-40])


def truncated_index(prefix):
  path = pathlib.Path(prefix + ".index")
  path.write_bytes(path.read_bytes()[:-20])


def missing_shard(prefix):
  pathlib.Path(prefix + ".data-00000-of-00001").unlink()


@pytest.mark.parametrize("damage", [truncated_data, truncated_index, missing_shard])
def test_a_damaged_source_is_one_line(damage, source, tmp_path, convert):
  damage(source)
  before = written.snapshot(tmp_path)
  printed = convert(source, "--out", tmp_path / "new/")
  assert convert.code == 2
  assert printed.startswith("Error: ")
  assert "damaged" in printed
  assert len(printed.splitlines()) == 1
  assert written.snapshot(tmp_path) == before


def test_a_damaged_value_never_gets_into_safetensors(source, tmp_path, convert):
  path = pathlib.Path(source + ".data-00000-of-00001")
  data = bytearray(path.read_bytes())
  data[100] ^= 1
  path.write_bytes(data)
  printed = convert(source, "--out", tmp_path / "x.safetensors")
  assert convert.code == 2
  assert "cannot be read" in printed
  assert not (tmp_path / "x.safetensors").exists()


def test_a_damaged_value_keeps_the_checksum_that_tells_it(source, tmp_path, convert):
  # Bytes that are linked or copied are not looked at: TensorFlow refuses them as it did before.
  path = pathlib.Path(source + ".data-00000-of-00001")
  index = bundle.read_index(source)
  ((_, piece),) = index.pieces("global_step")
  data = bytearray(path.read_bytes())
  data[piece.offset + 4] ^= 1
  path.write_bytes(data)
  convert(source, "--out", tmp_path / "new", "--link", "copy")
  if convert.code == 0:
    with pytest.raises((tf.errors.OpError, RuntimeError, IndexError)):
      tf.train.load_checkpoint(str(tmp_path / "new")).get_tensor(
        "global_step/.ATTRIBUTES/VARIABLE_VALUE"
      )


def test_several_are_done_although_one_is_damaged(tmp_path, convert):
  prefixes = [written.save(tmp_path / "old", written.table(), step=step) for step in (3, 10, 20)]
  truncated_data(prefixes[1])
  reports = convert.json(tmp_path / "old", "--all", "--out", tmp_path / "new")
  assert convert.code == 2
  assert [r["error"] is None for r in reports] == [True, False, True]
  text = (tmp_path / "new" / "checkpoint").read_text()
  state = tf.train.get_checkpoint_state(str(tmp_path / "new"))
  assert [os.path.basename(p) for p in state.all_model_checkpoint_paths] == [
    "model.ckpt-3",
    "model.ckpt-20",
  ], text
  assert tf.train.latest_checkpoint(str(tmp_path / "new")) == str(
    tmp_path / "new" / "model.ckpt-20"
  )


def test_an_older_checkpoint_does_not_become_the_newest_of_a_running_program(tmp_path, convert):
  old = written.save(tmp_path / "old", written.table(), step=3)
  checkpoint = tf.train.Checkpoint(x=tf.Variable(1.0))
  manager = tf.train.CheckpointManager(
    checkpoint, str(tmp_path / "new"), 5, checkpoint_name="model.ckpt"
  )
  manager.save(checkpoint_number=9)
  convert(old, "--out", f"{tmp_path}/new")
  assert convert.code == 0, convert.output
  assert tf.train.latest_checkpoint(str(tmp_path / "new")).endswith("model.ckpt-9")
  again = tf.train.CheckpointManager(
    checkpoint, str(tmp_path / "new"), 5, checkpoint_name="model.ckpt"
  )
  assert [os.path.basename(p) for p in again.checkpoints] == ["model.ckpt-3", "model.ckpt-9"]


def test_two_sources_of_one_step_are_not_written_over_each_other(tmp_path, convert):
  one = written.save(tmp_path / "one", written.table(), step=3)
  other = written.save(tmp_path / "other", written.table(), step=3)
  printed = convert(one, other, "--force", "--out", f"{tmp_path}/new/")
  assert convert.code == 2
  assert "would both become" in printed


def test_a_broken_state_file_is_not_replaced(source, tmp_path, convert):
  (tmp_path / "new").mkdir()
  (tmp_path / "new" / "checkpoint").write_text("")
  before = written.snapshot(tmp_path)
  printed = convert(source, "--out", f"{tmp_path}/new")
  assert convert.code == 2
  assert "checkpoint is broken" in printed
  assert written.snapshot(tmp_path) == before


@pytest.mark.parametrize(
  ("arguments", "said"),
  [
    (["{source}", "--out", "{tmp}/file/x"], "file"),
    (["{source}", "--out", "{tmp}/a*b"], "*, ? and ["),
    (["{source}", "--format", "safetensors", "--out", "{tmp}/x"], "x.safetensors"),
    (["{source}", "--format", "keras", "--out", "{tmp}/x.keras"], "--model"),
    (["{tmp}/nothing", "--out", "{tmp}/x"], "There is no checkpoint"),
    (["{tmp}/old/model.ckpt-8", "--out", "{tmp}/x"], "model.ckpt-7"),
    (["{source}"], "--out"),
    (["{source}", "--out", "{tmp}/x", "--map", "m.toml"], "--model"),
    (["{source}", "{tmp}/old/model.ckpt-8", "--out", "{tmp}/file"], "directory"),
  ],
)
def test_what_cannot_be_done_is_said_and_nothing_written(
  arguments, said, source, tmp_path, convert
):
  (tmp_path / "file").write_text("")
  before = written.snapshot(tmp_path)
  printed = convert(*(a.format(source=source, tmp=tmp_path) for a in arguments))
  assert convert.code == 2
  assert said in printed
  assert written.snapshot(tmp_path) == before


def test_a_dry_run_writes_nothing(source, tmp_path, convert):
  before = written.snapshot(tmp_path)
  printed = convert(source, "--out", f"{tmp_path}/new/", "--dry-run")
  assert convert.code == 0
  assert "1 variable, 2 slots" in printed
  assert written.snapshot(tmp_path) == before


def test_the_comparison_reads_all_bytes_of_two_files(tmp_path):
  data = np.random.RandomState(0).bytes(3_000_000)
  (tmp_path / "a").write_bytes(data)
  for position in (0, 1_048_575, 1_048_576, 2_999_999):
    changed = bytearray(data)
    changed[position] ^= 128
    (tmp_path / "b").write_bytes(changed)
    pair = [(str(tmp_path / "a"), 0, str(tmp_path / "b"), 0, len(data))]
    with pytest.raises(readback.CheckpointError):
      readback._compare_bytes(pair, lambda count: None)
  pair = [(str(tmp_path / "a"), 0, str(tmp_path / "a"), 0, len(data))]
  assert readback._compare_bytes(pair, lambda count: None) == len(data)


def test_the_report_can_be_read_by_a_machine(source, tmp_path, convert):
  (report,) = convert.json(source, "--out", f"{tmp_path}/new/")
  assert json.loads(json.dumps(report)) == report
  assert report["files"][-1].endswith("model.ckpt-7.index")
  assert report["state_file"] == str(tmp_path / "new" / "checkpoint")
  assert report["slots_renamed"]["ids/embedding_weights/Adam"] == [
    f"ids/embedding_weights/t_{i}/Adam" for i in range(3)
  ]
