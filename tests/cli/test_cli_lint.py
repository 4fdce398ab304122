"""`migrator lint`: output, exit codes, and every kind of bad input."""

import hashlib
import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from migrator import cli
from migrator.lint import engine

BAD = "import tensorflow as tf\nsaver = tf.compat.v1.train.Saver()\n"
GOOD = "import tensorflow as tf\ncheckpoint = tf.train.Checkpoint(model=model)\n"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  monkeypatch.setenv("MIGRATOR_NO_CACHE", "1")


def _lint(*arguments, raw=None):
  """Runs the command in this process; returns (exit code, stdout and stderr)."""
  result = CliRunner().invoke(cli.main, ["lint", *arguments], input=raw)
  assert result.exception is None or isinstance(result.exception, SystemExit)
  return result.exit_code, result.output


def _separate(*arguments, repository, raw=None):
  """Runs it in a process; returns (exit code, stdout, stderr)."""
  process = subprocess.run(
    [sys.executable, "-m", "migrator.cli", "lint", *arguments],
    input=raw,
    capture_output=True,
    env={**os.environ, "PYTHONPATH": str(repository)},
  )
  return process.returncode, process.stdout.decode(), process.stderr.decode()


def _write(name, content):
  os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
  with open(name, "wb") as file:
    file.write(content.encode("utf-8") if isinstance(content, str) else content)


def _hashes(folder="."):
  found = {}
  for root, _, names in os.walk(folder):
    for name in names:
      with open(os.path.join(root, name), "rb") as file:
        found[os.path.join(root, name)] = hashlib.sha256(file.read()).hexdigest()
  return found


def test_text(repository):
  _write("a.py", BAD)
  code, output, errors = _separate("a.py", repository=repository)
  assert code == 1
  first, *source = output.splitlines()
  assert first.startswith("a.py:2:9: EM401 `tf.train.Saver` saves the variables")
  assert source == [
    "  |",
    "2 | saver = tf.compat.v1.train.Saver()",
    "  |         ^^^^^^^^^^^^^^^^^^^^^^^^",
    "  = instead: `tf.train.Checkpoint` and `tf.train.CheckpointManager`, which also sets"
    " `max_to_keep`.",
    "",
  ]
  assert errors == "1 finding in 1 file; 1 file checked.\n"


def test_json(repository):
  _write("a.py", BAD)
  code, output, _ = _separate("a.py", "--output-format", "json", repository=repository)
  (finding,) = json.loads(output)
  assert code == 1
  assert (finding["code"], finding["path"], finding["line"], finding["column"]) == (
    "EM401",
    "a.py",
    2,
    9,
  )


def test_no_findings(repository):
  _write("a.py", GOOD)
  assert _separate("a.py", repository=repository) == (0, "", "No findings; 1 file checked.\n")
  code, output, _ = _separate("--output-format=json", repository=repository)
  assert (code, json.loads(output)) == (0, [])


def test_the_default_is_this_folder():
  _write("sub/a.py", BAD)
  code, output = _lint()
  assert code == 1
  assert os.path.join(".", "sub", "a.py") + ":2:9: EM401" in output


def test_the_order_is_that_of_the_paths_and_names():
  for name in ("b.py", "a.py", "c/a.py"):
    _write(name, BAD)
  _, output = _lint("c", "b.py", ".")
  places = [line.split(":")[0] for line in output.splitlines() if "EM401" in line]
  assert places == [os.path.join("c", "a.py"), "b.py", os.path.join(".", "a.py")]


@pytest.mark.parametrize(
  ("arguments", "codes"),
  [
    (["--select", "EM401"], {"EM401"}),
    (["--select", "EM1,EM4"], {"EM101", "EM110", "EM401"}),
    (["--select", "em1", "--select", "EM4", "--ignore", "EM11"], {"EM101", "EM401"}),
    (["--ignore", "EM1"], {"EM401"}),
  ],
)
def test_select_and_ignore(arguments, codes):
  _write("a.py", BAD + "c = tf.estimator.RunConfig()\n")
  _, output = _lint("a.py", "--output-format", "json", *arguments)
  found = json.loads(output[: output.rindex("]") + 1])
  assert {f["code"] for f in found} == codes


@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_an_unknown_code(option):
  code, output = _lint(".", option, "QX777")
  assert code == 2
  assert output == f"Error: {option}: no rule begins with 'QX777'; see `migrator rules`.\n"


def test_stdin(repository):
  code, output, _ = _separate("-", repository=repository, raw=BAD.encode())
  assert code == 1
  assert output.startswith("<stdin>:2:9: EM401 ")
  arguments = ("-", "--stdin-filename", "src/a.py")
  _, output, _ = _separate(*arguments, repository=repository, raw=BAD.encode())
  assert output.startswith("src/a.py:2:9: EM401 ")


def test_stdin_of_a_notebook(repository):
  cell = {"cell_type": "code", "source": BAD}
  raw = json.dumps({"cells": [cell], "nbformat": 4}).encode()
  arguments = ("-", "--stdin-filename", "n.ipynb")
  _, output, _ = _separate(*arguments, repository=repository, raw=raw)
  assert output.startswith("n.ipynb:cell 1:2:9: EM401 ")


# -- bad input ----------------------------------------------------------------


def test_a_missing_path():
  assert _lint("gone.py") == (2, "gone.py: No such file or directory\n")


def test_a_missing_path_costs_no_other():
  _write("a.py", BAD)
  os.symlink("nowhere.py", "link.py")
  code, output = _lint("gone.py", "a.py", "link.py", "--output-format=concise")
  assert code == 2
  assert "gone.py: No such file or directory\nlink.py: No such file or directory\n" in output
  assert "a.py:2:9: EM401 " in output


def test_a_folder_without_python():
  _write("notes/a.txt", "tensorflow")
  assert _lint("notes") == (0, "No Python files or notebooks under notes.\n")
  code, output = _lint("notes", "--output-format", "json")
  assert code == 0
  assert "[]" in output.splitlines()


def test_python_2_is_left_alone_and_the_others_are_done():
  _write("a.py", BAD)
  _write("old.py", "import tensorflow as tf\nprint 'a'\ntf.train.Saver()\n")
  _write("z.py", BAD)
  before = _hashes()
  code, output = _lint(".", "--output-format=concise")
  assert code == 2
  lines = output.splitlines()
  assert lines[1].startswith(os.path.join(".", "old.py") + ":2:")  # columns differ by Python
  assert "EM002 Python 2 syntax (print statement, line 2)" in lines[1]
  assert "2to3" in lines[1]
  assert [("a.py" in lines[0]), ("z.py" in lines[2])] == [True, True]
  assert _hashes() == before


@pytest.mark.parametrize(
  ("content", "code", "found"),
  [
    (BAD.encode() + b"# caf\xe9\n", 2, "EM003"),
    (b"# -*- coding: latin-1 -*-\n" + BAD.encode() + b"# caf\xe9\n", 1, "a.py:3:9: EM401"),
    (BAD.replace("\n", "\r\n").encode(), 1, "a.py:2:9: EM401"),
    (b"\xef\xbb\xbf" + BAD.encode(), 1, "a.py:2:9: EM401"),
    (BAD.rstrip("\n").encode(), 1, "a.py:2:9: EM401"),
    (b"import tensorflow as tf\nif 1:\n\tx = tf.compat.v1.train.Saver()\n", 1, "a.py:3:6: EM401"),
    (b"", 0, "No findings"),
    (b"\n", 0, "No findings"),
    (b"import tensorflow\nx = (\n", 2, "EM001 The file cannot be parsed"),
    (b"import tensorflow\nx = '\0'\n", 2, "EM001"),
    (b"# coding: klingon\nimport tensorflow\n", 2, "EM003"),
  ],
  ids=[
    "latin-1-without-cookie",
    "latin-1-with-cookie",
    "crlf",
    "bom",
    "no-final-newline",
    "tabs",
    "empty",
    "one-blank-line",
    "syntax-error",
    "null-byte",
    "unknown-cookie",
  ],
)
def test_files_of_all_kinds(content, code, found):
  _write("a.py", content)
  before = _hashes()
  result, output = _lint("a.py")
  assert result == code
  assert found in output
  assert _hashes() == before


def test_a_read_only_file():
  _write("a.py", BAD)
  os.chmod("a.py", 0o444)
  assert _lint("a.py")[0] == 1


def test_a_symlink_to_a_file():
  _write("real/a.py", BAD)
  os.symlink(os.path.join("real", "a.py"), "link.py")
  code, output = _lint("link.py")
  assert code == 1
  assert output.startswith("link.py:2:9: EM401")


def test_a_loop_of_symlinks():
  _write("a/b.py", BAD)
  os.symlink(os.path.abspath("a"), os.path.join("a", "again"))
  _, output = _lint("a")
  assert output.count("EM401") == 1


def test_a_notebook():
  cells = [
    {"cell_type": "code", "source": ["%matplotlib inline\n", "import tensorflow as tf"]},
    {"cell_type": "code", "source": "x = # your code"},
    {"cell_type": "code", "source": ["tf.estimator.RunConfig(save_checkpoints_steps=1)"]},
  ]
  _write("n.ipynb", json.dumps({"cells": cells, "nbformat": 4}))
  code, output = _lint("n.ipynb")
  assert code == 2
  assert "n.ipynb:cell 2:1:5: EM004 " in output
  assert "n.ipynb:cell 3:1:1: EM101 " in output


def test_a_notebook_that_is_no_json():
  _write("n.ipynb", '{"cells": [tensorflow')
  code, output = _lint("n.ipynb")
  assert code == 2
  assert "EM001 The file cannot be parsed: no valid notebook" in output


def test_a_file_that_vanishes_during_the_run(monkeypatch):
  for name in ("a.py", "b.py", "c.py"):
    _write(name, BAD)
  real = engine.examine_bytes

  def examine_bytes(raw, path, **options):
    if "a.py" in path:
      os.unlink("b.py")
    return real(raw, path, **options)

  monkeypatch.setattr(engine, "examine_bytes", examine_bytes)
  code, output = _lint(".", "--jobs=1")
  assert code == 2
  assert os.path.join(".", "b.py") + ": No such file or directory" in output
  assert output.count("EM401") == 2


def test_a_defect_in_one_file_does_not_cost_the_others(monkeypatch):
  for name in ("a.py", "b.py", "c.py"):
    _write(name, BAD)
  real = engine.examine_bytes

  def examine_bytes(raw, path, **options):
    if "b.py" in path:
      raise KeyError("x")
    return real(raw, path, **options)

  monkeypatch.setattr(engine, "examine_bytes", examine_bytes)
  code, output = _lint(".", "--jobs=1")
  assert code == 2
  assert os.path.join(".", "b.py") + ": internal error (KeyError: 'x')" in output
  assert output.count("EM401") == 2


def test_a_faulty_rule_file_is_named():
  _write("a.py", BAD)
  _write("rules/ACME1-x.toml", "code = 3\n")
  _write("pyproject.toml", '[tool.migrator]\nrules = ["rules"]\n')
  code, output = _lint("a.py")
  assert code == 2
  assert output.startswith("Error: ")
  assert os.path.join("rules", "ACME1-x.toml") + ":1: " in output
  assert output.count("\n") == 1


def test_a_folder_that_cannot_be_searched(monkeypatch):
  _write("a/x.py", BAD)
  _write("b/y.py", BAD)
  real = os.scandir

  def scandir(path):
    if os.path.basename(path) == "a":
      raise PermissionError(13, "Permission denied", path)
    return real(path)

  monkeypatch.setattr(os, "scandir", scandir)
  code, output = _lint(".")
  assert code == 2
  assert os.path.join(".", "a") + ": Permission denied" in output
  assert output.count("EM401") == 1


def test_gitignore_and_exclude():
  for name in ("a.py", "gen.py", "third_party/b.py", ".venv/c.py"):
    _write(name, BAD)
  _write(".gitignore", "gen.py\n")
  _write("pyproject.toml", '[tool.migrator]\nexclude = ["third_party"]\n')
  _, output = _lint(".")
  assert output.count("EM401") == 1
  assert _lint("gen.py")[0] == 1
