"""Checkpoints that were brought from elsewhere: another machine, Windows, a repository with Git LFS."""

import shutil

import pytest

from migrator.runtime import bundle, state
from migrator.runtime.errors import CheckpointError

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 81\n"


@pytest.fixture
def copied(repository, tmp_path):
  """A directory with one checkpoint, `model.ckpt-3`."""
  source = repository / "fixtures/checkpoints/tf1.15/dialects/adam"
  directory = tmp_path / "model"
  shutil.copytree(source, directory)
  return directory


@pytest.mark.parametrize(
  "path",
  ["C:\\\\runs\\\\first\\\\model.ckpt-3", "/runs/first/model.ckpt-3", "runs\\\\model.ckpt-3"],
)
def test_a_directory_of_another_machine_is_found_by_its_names(copied, caplog, path):
  lines = f'model_checkpoint_path: "{path}"\nall_model_checkpoint_paths: "{path}"\n'
  (copied / "checkpoint").write_text(lines)
  assert state.newest(str(copied)) == str(copied / "model.ckpt-3")
  assert state.recorded(str(copied)) == [str(copied / "model.ckpt-3")]
  assert "was moved or copied" in caplog.text


def test_a_name_with_a_backslash_is_itself_where_that_can_be(copied):
  for file in copied.glob("model.ckpt-3.*"):
    shutil.copy(file, copied / file.name.replace("model.", "odd\\model."))
  (copied / "checkpoint").write_text('model_checkpoint_path: "odd\\\\model.ckpt-3"\n')
  assert state.newest(str(copied)) == str(copied / "odd\\model.ckpt-3")


def test_pointers_of_git_lfs_are_said_to_be_such(copied):
  prefix = str(copied / "model.ckpt-3")
  (copied / "model.ckpt-3.data-00000-of-00001").write_bytes(POINTER)
  with pytest.raises(
    CheckpointError, match="00000-of-00001 is a pointer of Git LFS: `git lfs pull`"
  ):
    state.check_intact(prefix)
  (copied / "model.ckpt-3.index").write_bytes(POINTER)
  with pytest.raises(bundle.DamagedIndexError, match="is a pointer of Git LFS"):
    bundle.read_index(prefix)
  (copied / "checkpoint").write_bytes(POINTER)
  with pytest.raises(CheckpointError, match="is broken: it is a pointer of Git LFS"):
    state.newest(str(copied))


def test_a_directory_that_is_called_checkpoint_is_no_state_file(copied, tmp_path):
  (copied / "checkpoint").rename(tmp_path / "kept")
  (copied / "checkpoint").mkdir()
  with pytest.raises(CheckpointError, match="holds checkpoints but no state file"):
    state.newest(str(copied))
  assert state.recorded(str(copied)) == []
  assert state.newest(str(tmp_path)) is None
  (tmp_path / "checkpoint").mkdir()
  assert state.newest(str(tmp_path)) is None
