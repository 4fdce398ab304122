"""What is kept of files of ours: found again while they are unchanged, never in the way."""

import os
import stat

import pytest

from migrator.lint import derived, rules


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
  monkeypatch.setenv("MIGRATOR_CACHE_DIR", str(tmp_path / "kept"))


class Maker:
  """Counts how often a value is made."""

  def __init__(self):
    self.count = 0

  def __call__(self):
    self.count += 1
    return [self.count, "é", None]


def _file(tmp_path, text="a", name="a.toml"):
  path = tmp_path / name
  path.write_text(text)
  return str(path)


def test_a_value_is_made_once_while_its_files_are_unchanged(tmp_path):
  file, make = _file(tmp_path), Maker()
  first = derived.get("x", [file], make)
  second = derived.get("x", [file], make)
  assert first.value == second.value == [1, "é", None]
  assert first.digest == second.digest
  assert make.count == 1


def test_a_changed_file_an_added_file_and_another_version_make_it_anew(tmp_path):
  file, make = _file(tmp_path), Maker()
  first = derived.get("x", [file], make)
  _file(tmp_path, "b")
  os.utime(file, ns=(1, 1))
  second = derived.get("x", [file], make)
  assert (second.value[0], second.digest == first.digest) == (2, False)
  other = _file(tmp_path, "c", "b.toml")
  assert derived.get("x", [file, other], make).value[0] == 3
  assert derived.get("x", [file], make, version="2").value[0] == 4


def test_the_hash_depends_on_content_and_not_on_times(tmp_path):
  file = _file(tmp_path)
  first = derived.get("x", [file], Maker()).digest
  os.utime(file, ns=(1, 1))
  assert derived.get("x", [file], Maker()).digest == first


@pytest.mark.parametrize("garbage", [b"", b"\xff\xfe", b"[1]", b"[[], 3, 4]", b"{" * 100_000])
def test_garbage_is_made_anew(tmp_path, garbage):
  file, make = _file(tmp_path), Maker()
  derived.get("x", [file], make)
  (kept,) = (tmp_path / "kept").iterdir()
  kept.write_bytes(garbage)
  assert derived.get("x", [file], make).value[0] == 2
  assert derived.get("x", [file], make).value[0] == 2


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
  (tmp_path / "kept").write_text("a file where the folder should be")
  file, make = _file(tmp_path), Maker()
  assert derived.get("x", [file], make).value[0] == 1
  assert derived.get("x", [file], make).value[0] == 2


def test_nothing_but_the_file_is_left_in_the_folder(tmp_path):
  derived.get("x", [_file(tmp_path)], Maker())
  (kept,) = (tmp_path / "kept").iterdir()
  assert kept.name.startswith("x-")
  assert stat.S_ISREG(kept.stat().st_mode)


def test_without_a_folder_of_our_own_it_is_the_one_of_the_system(monkeypatch, tmp_path):
  monkeypatch.delenv("MIGRATOR_CACHE_DIR")
  monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
  assert derived.user_folder() == str(tmp_path / "migrator")


def test_kept_rules_are_the_rules_that_the_files_say():
  rules._compiled.cache_clear()
  rules._own.cache_clear()
  rules._load.cache_clear()
  made = rules.load()
  rules._compiled.cache_clear()
  rules._own.cache_clear()
  rules._load.cache_clear()
  kept = rules.load()
  read = rules.load(str(rules.directory()))
  assert made is not kept
  assert list(made.items()) == list(kept.items()) == list(read.items())
