"""`migrator rewrite` as a user meets it: diffs, writing, exit codes, bad input."""

import codecs
import inspect
import json
import os
import shutil
import stat
import subprocess
import sys

import pytest
from click.testing import CliRunner

import migrator
from migrator.cli import main

RUNNER_OPTIONS = inspect.signature(CliRunner.__init__).parameters
HEAD = b"import tensorflow as tf\nimport tensorflow.compat.v1 as tf1\n"
UNIT = b"""columns = [tf.feature_column.numeric_column("x")]
def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [1.0]}, [0]))
e = tf1.estimator.DNNClassifier([4], columns, "model", n_classes=3)
e.train(input_fn, max_steps=10)
"""
PROGRAM = HEAD + UNIT
PYTHON_2 = b"import tensorflow as tf\nprint 'starting'\nc = tf.estimator.RunConfig()\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  return tmp_path


def rewrite(*arguments, stdin=None):
  """Runs the command; returns exit code, stdout and stderr. No exception may get out."""
  # click before 8.2 mixes both streams unless told not to.
  options = {"mix_stderr": False} if "mix_stderr" in RUNNER_OPTIONS else {}
  result = CliRunner(**options).invoke(main, ["rewrite", *map(str, arguments)], input=stdin)
  assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
  return result.exit_code, result.stdout, result.stderr


def test_prints_a_diff_and_changes_nothing(folder):
  path = folder / "p.py"
  path.write_bytes(PROGRAM)
  code, out, err = rewrite("p.py")
  assert code == 1
  assert out.startswith("--- p.py\n+++ p.py\n")
  assert "-e = tf1.estimator.DNNClassifier" in out
  assert "+e = create_e()" in out
  assert "1 of 1 estimator would be rewritten" in err
  assert path.read_bytes() == PROGRAM


def test_modules_that_a_program_imports_are_counted_apart(folder):
  for name in ("nets", "losses"):
    (folder / f"{name}.py").write_text(
      "import tensorflow as tf\n\n\ndef f(x):\n  return tf.layers.flatten(x)\n"
    )
  (folder / "main.py").write_text(
    "import tensorflow as tf\nimport losses\nimport nets\n\n"
    "e = tf.estimator.Estimator(nets.model_fn)\n"
  )
  _, _, err = rewrite("main.py", "nets.py", "losses.py")
  assert "1 of 1 estimator and 2 of 2 modules would be rewritten, 3 files to change" in err
  (folder / "losses.py").write_text("import tensorflow as tf\nx = tf.contrib.gan.gan_train(3)\n")
  _, _, err = rewrite("main.py", "nets.py", "losses.py")
  assert "1 of 1 estimator and 1 of 2 modules would be rewritten, 2 files to change" in err
  assert "left to you: 1 module and" in err


def test_write_applies_and_a_second_run_has_nothing_to_do(folder):
  path = folder / "p.py"
  path.write_bytes(PROGRAM)
  code, out, _ = rewrite("p.py", "--write")
  assert (code, out) == (0, "p.py: rewritten\n")
  written = path.read_bytes()
  assert b"runtime.BackupAndRestore(" in written
  code, out, err = rewrite("p.py", "--write")
  assert (code, out) == (0, "")
  assert "Nothing to rewrite." in err
  assert path.read_bytes() == written


def test_check_prints_no_diff(folder):
  (folder / "p.py").write_bytes(PROGRAM)
  assert rewrite("--check", "p.py")[:2] == (1, "p.py: would be rewritten\n")
  assert (folder / "p.py").read_bytes() == PROGRAM


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_target(folder, target):
  (folder / "p.py").write_bytes(PROGRAM)
  out = rewrite("p.py", "--target", target)[1]
  assert ("e.fit(" in out) == (target == "fit")
  assert ("def train_step(" in out) == (target == "loop")


def test_report_names_units_and_findings(folder):
  (folder / "p.py").write_bytes(PROGRAM)
  rewrite("p.py", "--report", "report.json")
  (file,) = json.loads((folder / "report.json").read_text())["files"]
  assert file["changed"]
  (unit,) = file["units"]
  assert (unit["name"], unit["kind"], unit["flavour"], unit["target"]) == (
    "e",
    "DNNClassifier",
    "v1",
    "fit",
  )
  assert {f["code"] for f in file["findings"]} == {"EM112", "EM210"}


def test_stdin_gives_a_diff_and_with_write_the_source(folder):
  code, out, _ = rewrite("-", stdin=PROGRAM)
  assert code == 1
  assert out.startswith("--- <stdin>")
  code, out, _ = rewrite("-", "--write", stdin=PROGRAM)
  assert code == 0
  assert out.startswith("import tensorflow as tf\n")


def test_missing_path(folder):
  code, _, err = rewrite("nowhere.py")
  assert code == 2
  assert "nowhere.py" in err


def test_directory_without_python(folder):
  (folder / "empty").mkdir()
  code, _, err = rewrite("empty")
  assert code == 0
  assert "No Python files" in err


def test_directory_is_done_file_by_file(folder):
  (folder / "a.py").write_bytes(PROGRAM)
  (folder / "b.py").write_bytes(b"x = 1\n")
  (folder / "c.py").write_bytes(PROGRAM)
  assert rewrite(".", "--write")[0] == 0
  assert b"tf1" not in (folder / "a.py").read_bytes()
  assert b"tf1" not in (folder / "c.py").read_bytes()
  assert (folder / "b.py").read_bytes() == b"x = 1\n"


def test_python_2_file_is_left_and_the_others_are_done(folder):
  # Case 72.
  (folder / "old.py").write_bytes(PYTHON_2)
  (folder / "p.py").write_bytes(PROGRAM)
  code, _, err = rewrite(".", "--write")
  assert code == 2
  assert "old.py:2" in err
  assert "EM002" in err
  assert "2to3" in err
  assert (folder / "old.py").read_bytes() == PYTHON_2
  assert b"tf1" not in (folder / "p.py").read_bytes()


def test_file_that_does_not_parse_is_left(folder):
  source = HEAD + b"def f(:\n    pass\n"
  (folder / "p.py").write_bytes(source)
  code, _, err = rewrite("p.py", "--write")
  assert code == 2
  assert "EM001" in err
  assert (folder / "p.py").read_bytes() == source


def test_latin_1_with_cookie_is_kept(folder):
  source = b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + PROGRAM
  (folder / "p.py").write_bytes(source)
  assert rewrite("p.py", "--write")[0] == 0
  written = (folder / "p.py").read_bytes()
  assert written.startswith(b"# -*- coding: latin-1 -*-\n# caf\xe9\n")
  assert b"tf1" not in written


def test_latin_1_without_cookie_is_left(folder):
  source = b"# caf\xe9\n" + PROGRAM
  (folder / "p.py").write_bytes(source)
  code, _, err = rewrite("p.py", "--write")
  assert code == 2
  assert "EM003" in err
  assert (folder / "p.py").read_bytes() == source


def test_crlf_is_kept(folder):
  (folder / "p.py").write_bytes(PROGRAM.replace(b"\n", b"\r\n"))
  assert rewrite("p.py", "--write")[0] == 0
  written = (folder / "p.py").read_bytes()
  assert b"tf1" not in written
  assert written.count(b"\n") == written.count(b"\r\n")


def test_mixed_line_ends_stay_on_untouched_lines(folder):
  tail = b"a = 1\r\nb = 2\nc = 3\r\n"
  (folder / "p.py").write_bytes(PROGRAM + tail)
  assert rewrite("p.py", "--write")[0] == 0
  assert (folder / "p.py").read_bytes().endswith(tail)


def test_byte_order_mark_is_kept(folder):
  (folder / "p.py").write_bytes(codecs.BOM_UTF8 + PROGRAM)
  assert rewrite("p.py", "--write")[0] == 0
  written = (folder / "p.py").read_bytes()
  assert written.startswith(codecs.BOM_UTF8 + b"import")
  assert written.count(codecs.BOM_UTF8) == 1


def test_tabs_are_kept(folder):
  body = UNIT.replace(b"    ", b"\t")
  source = HEAD + b"def main():\n" + b"".join(b"\t" + line for line in body.splitlines(True))
  (folder / "p.py").write_bytes(source)
  assert rewrite("p.py", "--write")[0] == 0
  written = (folder / "p.py").read_bytes()
  assert b"\n\tdef create_e():\n\t\tinputs" in written
  assert b"\n    " not in written


def test_missing_final_newline_stays_missing(folder):
  (folder / "p.py").write_bytes(PROGRAM + b"x = 1")
  assert rewrite("p.py", "--write")[0] == 0
  assert (folder / "p.py").read_bytes().endswith(b"\nx = 1")


def test_empty_file(folder):
  (folder / "p.py").write_bytes(b"")
  assert rewrite("p.py", "--write")[0] == 0
  assert (folder / "p.py").read_bytes() == b""


def test_read_only_file_is_an_error(folder):
  path = folder / "p.py"
  path.write_bytes(PROGRAM)
  path.chmod(stat.S_IRUSR)
  code, out, err = rewrite("p.py", "--write")
  assert code == 2
  assert "read-only" in err
  assert "rewritten" not in out
  assert path.read_bytes() == PROGRAM


def test_mode_bits_are_kept(folder):
  path = folder / "p.py"
  path.write_bytes(PROGRAM)
  path.chmod(0o755)
  assert rewrite("p.py", "--write")[0] == 0
  assert stat.S_IMODE(path.stat().st_mode) == 0o755


def test_symlink_is_followed_not_replaced(folder):
  (folder / "real").mkdir()
  (folder / "real" / "p.py").write_bytes(PROGRAM)
  os.symlink("real/p.py", folder / "link.py")
  assert rewrite("link.py", "--write")[0] == 0
  assert (folder / "link.py").is_symlink()
  assert b"tf1" not in (folder / "real" / "p.py").read_bytes()


def test_notebook_without_an_estimator_is_left_with_its_findings(folder):
  # Case 65.
  cell = {
    "cell_type": "code",
    "execution_count": None,
    "metadata": {},
    "outputs": [],
    "source": ["%matplotlib inline\n", "import tensorflow as tf\n", "tf.estimator.RunConfig()"],
  }
  book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 2}
  text = json.dumps(book, indent=1)
  (folder / "n.ipynb").write_text(text)
  code, _, err = rewrite("n.ipynb", "--write")
  assert code == 1
  assert "n.ipynb:cell 1:3:1: EM101" in err
  assert (folder / "n.ipynb").read_text() == text


@pytest.mark.parametrize(
  "options",
  [
    ["--stock", "--target", "loop"],
    ["--resume-data"],
    ["--write", "--check"],
    ["--target", "other"],
    ["--source-version", "3"],
  ],
)
def test_options_that_exclude_each_other_are_usage_errors(folder, options):
  (folder / "p.py").write_bytes(PROGRAM)
  code, _, err = rewrite("p.py", *options)
  assert code == 2
  assert err


def test_no_path_is_a_usage_error(folder):
  assert rewrite()[0] == 2


def test_work_left_for_a_person_is_exit_1(folder):
  source = PROGRAM + b"g = tf1.estimator.BoostedTreesRegressor(columns, 1)\n"
  (folder / "p.py").write_bytes(source)
  code, _, err = rewrite("p.py", "--write")
  assert code == 1
  assert "EM260" in err
  assert b"# TODO(EM260)" in (folder / "p.py").read_bytes()


def test_configuration_of_the_project_is_used(folder):
  (folder / "pyproject.toml").write_text('[tool.migrator]\ntarget = "loop"\n')
  (folder / "p.py").write_bytes(PROGRAM)
  assert "def train_step(" in rewrite("p.py")[1]
  assert "e.fit(" in rewrite("p.py", "--target", "fit")[1]


def test_works_without_tensorflow_and_without_running_the_program(folder):
  (folder / "p.py").write_bytes(PROGRAM + b"raise SystemExit('was run')\n")
  script = (
    "import sys; sys.modules['tensorflow'] = None\n"
    "from migrator.cli import main\n"
    "main(['rewrite', 'p.py', '--write'])\n"
  )
  root = os.path.dirname(os.path.dirname(migrator.__file__))
  environment = {**os.environ, "PYTHONPATH": root}
  command = [sys.executable, "-c", script]
  done = subprocess.run(command, capture_output=True, text=True, env=environment)
  assert done.returncode == 0, done.stderr
  assert b"tf1" not in (folder / "p.py").read_bytes()


def test_bundled_program_as_the_readme_shows_it(repository, folder):
  shutil.copy(repository / "fixtures/programs/fault_tolerance/before.py", folder / "before.py")
  assert rewrite("before.py", "--write")[0] == 0
  after = repository / "fixtures/programs/fault_tolerance/after_fit.py"
  assert (folder / "before.py").read_text() == after.read_text()


def test_file_that_imports_what_the_rewrite_changes_is_reported(folder):
  hook = b"class Stop(tf1.train.SessionRunHook):\n    def after_run(self, c, v):\n        pass\n"
  source = HEAD + hook + UNIT.replace(b"max_steps=10", b"hooks=[Stop()], max_steps=10")
  (folder / "a.py").write_bytes(source)
  other = b"from a import Stop, e, input_fn\nimport tensorflow as tf\nprint(Stop(), e)\n"
  (folder / "b.py").write_bytes(other)
  code, _, err = rewrite(".", "--write")
  assert code == 1
  assert "b.py:1:1: EM222 `Stop` comes from ./a.py" in err
  assert "EM222 `e` comes from" in err
  assert "`input_fn`" not in err
  assert (folder / "b.py").read_bytes() == other


def test_only_the_file_that_an_import_can_mean_is_named(folder):
  hook = b"class Stop(tf1.train.SessionRunHook):\n    def after_run(self, c, v):\n        pass\n"
  source = HEAD + hook + UNIT.replace(b"max_steps=10", b"hooks=[Stop()], max_steps=10")
  for package in ("one", "two"):
    (folder / package).mkdir()
    (folder / package / "hooks.py").write_bytes(source)
  (folder / "two" / "use.py").write_bytes(b"from two.hooks import Stop\nimport tensorflow\n")
  (folder / "near.py").write_bytes(b"from .two.hooks import Stop\nimport tensorflow\n")
  (folder / "other.py").write_bytes(b"from other.hooks import Stop\nimport tensorflow\n")
  _, _, err = rewrite(".", "--write")
  assert "two/use.py:1:1: EM222 `Stop` comes from ./two/hooks.py" in err
  assert "near.py:1:1: EM222 `Stop` comes from ./two/hooks.py" in err
  assert err.count("EM222 `Stop`") == 2


def test_a_defect_in_one_file_does_not_cost_the_others(folder, monkeypatch):
  from migrator.rewrite import run

  def rewrite_bytes(raw, path, options):
    if path.endswith("bad.py"):
      raise KeyError("defect")
    return original(raw, path, options)

  original = run.rewrite_bytes
  monkeypatch.setattr(run, "rewrite_bytes", rewrite_bytes)
  (folder / "bad.py").write_bytes(PROGRAM)
  (folder / "good.py").write_bytes(PROGRAM)
  code, out, err = rewrite(".", "--write")
  assert code == 2
  assert "bad.py: internal error (KeyError" in err
  assert out == "./good.py: rewritten\n"
  assert (folder / "bad.py").read_bytes() == PROGRAM


@pytest.mark.parametrize(
  "other",
  [
    b"from pkg import a\nprint(a.e, a.input_fn)\n",
    b"import pkg.a as m\nprint(m.e)\n",
    b"import pkg.a\nprint(pkg.a.e)\n",
    b"from .a import *\n",
  ],
)
def test_file_that_reads_what_the_rewrite_changes_through_the_module_is_reported(folder, other):
  (folder / "pkg").mkdir()
  (folder / "pkg" / "a.py").write_bytes(PROGRAM)
  (folder / "pkg" / "b.py").write_bytes(other)
  code, _, err = rewrite("pkg", "--write")
  assert code == 1
  assert err.count("pkg/b.py:") == 1
  assert "EM222" in err
  assert "e" in err.split("EM222 `")[1].split("`")[0]
