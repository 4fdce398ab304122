"""Writing: at once, keeping what is not the content."""

import os
import stat

import pytest

from migrator.source import write


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600])
def test_mode_bits_stay(tmp_path, mode):
  path = tmp_path / "a.py"
  path.write_bytes(b"old")
  path.chmod(mode)
  write.write(str(path), b"new")
  assert path.read_bytes() == b"new"
  assert stat.S_IMODE(path.stat().st_mode) == mode
  assert os.listdir(tmp_path) == ["a.py"]


def test_a_symlink_is_followed_not_replaced(tmp_path):
  target = tmp_path / "real" / "a.py"
  target.parent.mkdir()
  target.write_bytes(b"old")
  link = tmp_path / "link.py"
  link.symlink_to(os.path.join("real", "a.py"))
  write.write(str(link), b"new")
  assert link.is_symlink()
  assert target.read_bytes() == b"new"
  assert os.listdir(tmp_path / "real") == ["a.py"]


def test_a_read_only_file_is_refused(tmp_path):
  path = tmp_path / "a.py"
  path.write_bytes(b"old")
  path.chmod(0o444)
  with pytest.raises(write.WriteError, match="read-only") as caught:
    write.write(str(path), b"new")
  assert caught.value.filename == str(path)
  assert path.read_bytes() == b"old"


def test_a_file_that_has_vanished(tmp_path):
  with pytest.raises(write.WriteError, match="cannot write"):
    write.write(str(tmp_path / "gone.py"), b"new")
  assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, failing):
  path = tmp_path / "a.py"
  path.write_bytes(b"old")

  def fail(*args):
    raise OSError(28, "No space left on device")

  monkeypatch.setattr(os, failing, fail)
  with pytest.raises(write.WriteError, match="No space left"):
    write.write(str(path), b"new")
  assert path.read_bytes() == b"old"
  assert os.listdir(tmp_path) == ["a.py"]


def test_a_new_file_has_the_mode_bits_of_any_new_file(tmp_path):
  plain = tmp_path / "plain"
  plain.write_bytes(b"")
  path = tmp_path / "new"
  write.save(str(path), b"data")
  assert path.read_bytes() == b"data"
  assert path.stat().st_mode == plain.stat().st_mode
  assert sorted(p.name for p in tmp_path.iterdir()) == ["new", "plain"]


def test_saving_over_a_file_keeps_its_mode_bits(tmp_path):
  path = tmp_path / "old"
  path.write_bytes(b"old")
  path.chmod(0o640)
  write.save(str(path), b"new")
  assert path.read_bytes() == b"new"
  assert path.stat().st_mode & 0o777 == 0o640


def test_saving_where_nothing_can_be_written_says_so(tmp_path):
  for path in (tmp_path / "none" / "new", tmp_path):
    with pytest.raises(write.WriteError) as caught:
      write.save(str(path), b"data")
    assert caught.value.filename == str(path)
    assert "cannot write" in str(caught.value)


def test_what_is_no_file_is_written_to(tmp_path):
  write.save("/dev/null", b"data")
  assert not stat.S_ISREG(os.stat("/dev/null").st_mode)
