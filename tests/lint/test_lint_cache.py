"""The cache: what it knows again, what it must not, and that it is never in the way."""

import json
import os
import subprocess
import sys
import time
import zlib

import pytest

from migrator.analysis.span import Span
from migrator.lint import cache as caches
from migrator.lint import derived, engine, plain, rules, run
from migrator.lint.examined import Directive, Examined
from migrator.lint.finding import Finding
from migrator.source import walk

BAD = "import tensorflow as tf\nsaver = tf.compat.v1.train.Saver()  # noqa: E501\n"
GOOD = "import tensorflow as tf\n"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  monkeypatch.delenv("MIGRATOR_CACHE_DIR", raising=False)
  monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))


@pytest.fixture(name="examined")
def _examined(monkeypatch):
  """The paths that the engine examines."""
  real, paths = engine.examine_bytes, []

  def examine_bytes(raw, path, **options):
    paths.append(path)
    return real(raw, path, **options)

  monkeypatch.setattr(engine, "examine_bytes", examine_bytes)
  return paths


def _write(path, text, *, old=True):
  """Writes a file; an old one was modified long ago, so that its time says something."""
  os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
  with open(path, "w", encoding="utf-8") as file:
    file.write(text)
  if old:
    _age(path, 1000)


def _age(path, seconds):
  moment = time.time() - seconds
  os.utime(path, (moment, moment))


def _run(*paths, explicit=False, folder=None, root="."):
  files = [walk.SourceFile(path, explicit) for path in paths]
  return list(run.examine_all(files, jobs=1, cache=caches.Cache(root, folder)))


def _kept(folder=caches.FOLDER):
  return [n for n in sorted(os.listdir(folder)) if n.startswith("lint-")]


def test_an_unchanged_file_is_not_examined_again(examined):
  _write("a.py", BAD)
  _write("sub/b.py", GOOD)
  first = _run("a.py", "sub/b.py")
  assert examined == ["a.py", "sub/b.py"]
  assert _run("a.py", "sub/b.py") == first
  assert len(examined) == 2
  assert [f.code for f in first[0].examined.findings] == ["EM401"]
  assert len(first[0].examined.directives) == 1


def test_an_unchanged_file_is_not_even_read(monkeypatch):
  _write("a.py", BAD)
  first = _run("a.py")
  monkeypatch.setattr(run, "examiner", lambda *a: pytest.fail("it was read"))
  assert _run("a.py") == first


def test_a_checkout_with_new_times_is_known_by_content(examined):
  _write("a.py", BAD)
  first = _run("a.py")
  _age("a.py", 500)
  assert _run("a.py") == first
  assert len(examined) == 1


def test_a_file_that_was_moved_is_known_under_its_new_name(examined):
  _write("a.py", BAD)
  (first,) = _run("a.py")
  os.rename("a.py", "b.py")
  (second,) = _run("b.py")
  assert len(examined) == 1
  assert {f.path for f in second.examined.findings} == {"b.py"}
  assert len(second.examined.findings) == len(first.examined.findings)


def test_a_path_spelled_otherwise_is_the_same_file(examined, tmp_path):
  _write("sub/a.py", BAD)
  _run("sub/a.py")
  (second,) = _run(str(tmp_path / "sub" / "a.py"))
  assert len(examined) == 1
  assert {f.path for f in second.examined.findings} == {str(tmp_path / "sub" / "a.py")}


def test_a_changed_file_is_examined_again(examined):
  _write("a.py", BAD)
  _run("a.py")
  _write("a.py", GOOD)
  assert _run("a.py")[0].examined.findings == ()
  assert len(examined) == 2


def test_a_change_of_the_same_size_within_one_tick_of_the_clock_is_seen():
  _write("a.py", BAD, old=False)
  status = os.stat("a.py")
  assert _run("a.py")[0].examined.findings
  _write("a.py", "#" * status.st_size, old=False)
  os.utime("a.py", ns=(status.st_atime_ns, status.st_mtime_ns))
  assert not _run("a.py")[0].examined.findings


def test_a_change_that_restores_size_and_time_is_seen():
  _write("a.py", BAD)
  status = os.stat("a.py")
  assert _run("a.py")[0].examined.findings
  _write("a.py", "#" * status.st_size)
  os.utime("a.py", ns=(status.st_atime_ns, status.st_mtime_ns))
  assert not _run("a.py")[0].examined.findings


def test_what_is_written_while_a_run_goes_on_is_examined_by_the_next(monkeypatch):
  _write("a.py", BAD, old=False)
  status = os.stat("a.py")
  real = engine.examine_bytes

  def examine_bytes(raw, path, **options):
    monkeypatch.setattr(caches.time, "time_ns", lambda: status.st_mtime_ns + 10**12)  # a long run
    return real(raw, path, **options)

  monkeypatch.setattr(engine, "examine_bytes", examine_bytes)
  assert _run("a.py")[0].examined.findings
  assert derived.read_json(os.path.join(caches.FOLDER, *_kept()))[1]["found"]["."]["a.py"][0] == -1


def test_thousands_of_findings_in_one_long_line_are_not_kept():
  _write("a.py", BAD)
  _write("b.py", "import tensorflow as tf\nx = [" + "tf.train.Saver()," * 500 + "]\n")
  first = _run("a.py", "b.py")
  assert len(first[1].examined.findings) == 500
  assert os.path.getsize(os.path.join(caches.FOLDER, *_kept())) < 10_000
  assert _run("a.py", "b.py") == first


def test_a_named_file_and_one_that_was_found_are_apart(examined):
  _write("a.py", "x = (\n")
  assert _run("a.py")[0].examined.findings == ()  # the gate: nothing for us
  assert [f.code for f in _run("a.py", explicit=True)[0].examined.findings] == ["EM001"]
  assert _run("a.py")[0].examined.findings == ()
  assert len(examined) == 2


def test_a_notebook_is_not_a_program_of_the_same_content(examined):
  text = json.dumps({"cells": [], "tensorflow": 1})
  _write("a.ipynb", text)
  _write("a.py", text)
  _run("a.ipynb")
  _run("a.py")
  assert len(examined) == 2


def test_other_rules_make_another_cache(examined):
  _write("a.py", BAD)
  _write(
    "acme.toml",
    'code = "ACME001"\nname = "acme"\nmessage = "No."\nwhy = "So."\n'
    '[[match]]\nsymbols = ["acme.train"]\n[[examples]]\nbad = "import acme\\nacme.train()"\n',
  )
  _run("a.py")
  rules.use(["acme.toml"])
  try:
    _run("a.py")
    assert len(examined) == 2
  finally:
    rules.use([])
  _run("a.py")
  assert len(examined) == 2
  assert len(_kept()) == 2


def test_git_and_backups_leave_it_out():
  _write("a.py", BAD)
  _run("a.py")
  with open(os.path.join(caches.FOLDER, ".gitignore")) as file:
    assert file.read() == "*\n"
  with open(os.path.join(caches.FOLDER, "CACHEDIR.TAG")) as file:
    assert file.read().startswith("Signature: 8a477f597d28d172789f06886806bc55")


def test_a_folder_of_the_user_gets_no_gitignore():
  _write("mine/notes.txt", "")
  _write("a.py", BAD)
  _run("a.py", folder="mine")
  assert os.path.exists(os.path.join("mine", _kept("mine")[0]))
  assert not os.path.exists(os.path.join("mine", ".gitignore"))


def test_the_environment_names_the_folder(monkeypatch):
  monkeypatch.setenv("MIGRATOR_CACHE_DIR", "elsewhere")
  _write("a.py", BAD)
  _run("a.py")
  assert len(_kept("elsewhere")) == 1
  assert not os.path.exists(caches.FOLDER)


def test_projects_that_share_a_folder_have_files_of_their_own():
  _write("one/a.py", BAD)
  _write("two/a.py", GOOD)
  _run("one/a.py", folder="shared", root="one")
  _run("two/a.py", folder="shared", root="two")
  assert len(_kept("shared")) == 2


def test_nothing_is_made_when_there_is_nothing_to_keep():
  _run()
  _run("gone.py")
  assert not os.path.exists(caches.FOLDER)


@pytest.mark.parametrize(
  "garbage",
  [
    b"",
    b"\xff\xfe\x00",
    b"[1, 2]",
    b'["?", {}]',
    b"[" * 90_000,
    b'[VERSION, {"found": {"": {"a.py": 3}}}]',
    b'[VERSION, {"found": {"": {"a.py": [MODIFIED, SIZE, "x", 3, 4]}}}]',
    b'[VERSION, {"found": {"": {"a.py": [MODIFIED, SIZE, "x", [[1, 2]], []]}}}]',
    b'[VERSION, {"found": {".": {"a.py": [MODIFIED, SIZE, "x", [[1, 2]], []]}}}]',
    b'[VERSION, {"found": {".": {"a.py": [MODIFIED, SIZE, "x", "y"]}}}]',
    b"[VERSION, []]",
  ],
)
@pytest.mark.parametrize("checksum", [b"", b"%08x\n"], ids=["without", "with"])
def test_garbage_is_ignored_and_written_anew(garbage, checksum, examined):
  _write("a.py", BAD)
  first = _run("a.py")
  (name,) = _kept()
  path = os.path.join(caches.FOLDER, name)
  version = json.dumps(derived.read_json(path)[0]).encode()
  status = os.stat("a.py")
  garbage = garbage.replace(b"VERSION", version)
  garbage = garbage.replace(b"MODIFIED", str(status.st_mtime_ns).encode())
  garbage = garbage.replace(b"SIZE", str(status.st_size).encode())
  with open(path, "wb") as file:
    file.write(checksum % zlib.crc32(garbage) + garbage if checksum else garbage)
  assert _run("a.py") == first
  assert len(examined) == 2
  assert _run("a.py") == first
  assert len(examined) == 2


def test_an_entry_that_was_changed_is_not_used(examined):
  _write("a.py", BAD)
  first = _run("a.py")
  (name,) = _kept()
  path = os.path.join(caches.FOLDER, name)
  with open(path, "rb") as file:
    content = file.read()
  with open(path, "wb") as file:
    file.write(content.replace(b'"EM401"', b'"EM402"'))
  assert _run("a.py") == first
  assert len(examined) == 2


def test_a_cache_of_another_version_of_the_tool_is_not_used(examined, monkeypatch):
  _write("a.py", BAD)
  _run("a.py")
  monkeypatch.setattr(caches, "_version", lambda: "another")
  _run("a.py")
  assert len(examined) == 2


@pytest.mark.parametrize("place", ["file", "below a file"])
def test_a_folder_that_cannot_be_made_is_the_same_as_no_cache(place, examined):
  _write("a.py", BAD)
  _write("blocked", "")
  folder = "blocked" if place == "file" else os.path.join("blocked", "sub")
  assert _run("a.py", folder=folder)[0].examined.findings
  assert _run("a.py", folder=folder)[0].examined.findings
  assert len(examined) == 2


def test_a_checkout_that_cannot_be_written_has_no_cache(examined, monkeypatch):
  _write("a.py", BAD)
  monkeypatch.setattr(os, "access", lambda *a: False)
  monkeypatch.setattr(os, "makedirs", lambda *a, **o: (_ for _ in ()).throw(PermissionError(13)))
  assert _run("a.py")[0].examined.findings
  assert not os.path.exists(caches.FOLDER)


def test_a_large_cache_is_not_read_for_a_small_file(examined):
  _write("a.py", BAD)
  _run("a.py")
  path = os.path.join(caches.FOLDER, _kept()[0])
  with open(path, "a") as file:
    file.write(" " * 200_000)
  _run("a.py")
  assert len(examined) == 2
  assert os.path.getsize(path) > 200_000


def test_what_a_run_did_not_look_at_stays(examined):
  _write("a.py", BAD)
  _write("b.py", BAD + "# b")
  _run("a.py")
  _run("b.py")
  _run("a.py", "b.py")
  assert len(examined) == 2


def test_many_files_that_are_gone_are_dropped():
  _write("a.py", BAD)
  names = [f"{n}.py" for n in range(1200)]
  for name in names:
    _write(name, "")
  _run(*names)
  for name in names[:-1]:
    os.unlink(name)
  _write("a.py", BAD + " " * 100_000)
  _run("a.py")
  assert sorted(derived.read_json(os.path.join(caches.FOLDER, _kept()[0]))[1]["found"]["."]) == [
    "1199.py",
    "a.py",
  ]


def test_two_runs_at_once_keep_what_both_found(examined):
  _write("a.py", BAD)
  _write("b.py", BAD + "# b")
  first, second = caches.Cache("."), caches.Cache(".")
  one = run.examine_all([walk.SourceFile("a.py", False)], jobs=1, cache=first)
  two = run.examine_all([walk.SourceFile("b.py", False)], jobs=1, cache=second)
  next(one), next(two)
  list(one), list(two)
  _run("a.py", "b.py")
  assert len(examined) == 2


def test_many_processes_at_once_never_damage_it(repository):
  for number in range(20):
    _write(f"{number}.py", BAD)
  program = (
    "from migrator.lint import cache, run\nfrom migrator.source import walk\n"
    "import os, sys\n"
    "for turn in range(5):\n"
    "  for n in range(20): os.utime(f'{n}.py', (turn, int(sys.argv[1]) * 100 + turn))\n"
    "  files = [walk.SourceFile(f'{n}.py', False) for n in range(20)]\n"
    "  found = run.examine_all(files, jobs=1, cache=cache.Cache('.'))\n"
    "  assert all(len(o.examined.findings) == 1 for o in found)\n"
  )
  environment = {**os.environ, "PYTHONPATH": str(repository)}
  processes = [
    subprocess.Popen([sys.executable, "-c", program, str(n)], env=environment) for n in range(4)
  ]
  assert [process.wait() for process in processes] == [0] * 4
  (name,) = _kept()
  assert len(derived.read_json(os.path.join(caches.FOLDER, name))[1]["found"]["."]) == 20
  assert not [n for n in os.listdir(caches.FOLDER) if n.endswith(".tmp")]


def test_files_of_old_versions_are_removed_when_the_cache_is_written():
  _write("a.py", BAD)
  _run("a.py")
  for name, age in (("lint-00000000.json", 20), ("lint-00000001.json", 2), ("other", 20)):
    path = os.path.join(caches.FOLDER, name)
    _write(path, "")
    _age(path, age * 86400)
  _write("b.py", BAD)
  _run("a.py", "b.py")
  left = os.listdir(caches.FOLDER)
  assert "lint-00000000.json" not in left
  assert {"lint-00000001.json", "other"} <= set(left)


def test_several_processes_use_the_cache_too(examined):
  for number in range(6):
    _write(f"{number}.py", BAD)
  files = [walk.SourceFile(f"{n}.py", False) for n in range(6)]
  first = list(run.examine_all(files, jobs=2, cache=caches.Cache(".")))
  for number in range(6):
    _age(f"{number}.py", 500)
  assert list(run.examine_all(files, jobs=2, cache=caches.Cache("."))) == first
  assert list(run.examine_all(files, jobs=1, cache=caches.Cache("."))) == first
  assert examined == []  # only the first run examined anything, in other processes


def test_all_fields_of_findings_and_directives_survive():
  finding = Finding("EM1", "n", "é", "a.py", Span(1, 2, 3, 4), "safe", 5, "\udcff", "r", "p")
  assert all(finding)
  directives = (Directive(1, 2, 3, ("EM1",), 4, "s", 5, True, True), Directive(1, 2, 3))
  assert all(directives[0])
  examined = Examined("a.py", (finding,), directives)
  values = json.loads(json.dumps(plain.dump(examined)))
  assert plain.load(values, "a.py") == examined
  assert plain.load(values, "b.py").findings[0].path == "b.py"
  assert plain.dump(Examined("a.py")) == []
