"""`migrator verify` from the outside, on programs that know nothing of it."""

import json
import os
import pathlib
import subprocess
import sys

import forking
import pytest
from click.testing import CliRunner

from migrator.cli import verify as command
from migrator.verify import verification

PROGRAMS = pathlib.Path(__file__).with_name("fixtures")
BEFORE = PROGRAMS / "line_before.py"
AFTER = PROGRAMS / "line_after.py"


@pytest.fixture
def verify(tmp_path, legacy_python):
  """Runs the command in an empty directory, with one environment unless told otherwise."""

  def run(*arguments, python=legacy_python, legacy=legacy_python):
    line = [sys.executable, "-m", "migrator.cli", "verify"]
    line += ["--legacy-python", legacy, "--python", python, *map(str, arguments)]
    environment = dict(os.environ, TMPDIR=str(tmp_path))
    return subprocess.run(
      line, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )

  return run


@pytest.fixture(scope="module")
def interpreters():
  """Those that import TensorFlow once, by Python."""
  made = {}
  yield made
  for interpreter in made.values():
    interpreter.close()


@pytest.fixture
def compared(tmp_path, legacy_python, interpreters, monkeypatch):
  """Runs the command here, and the programs in processes that are forked."""

  def interpreter(python, runtime, timeout):
    if (python, runtime) not in interpreters:
      interpreters[python, runtime] = forking.ForkingInterpreter(python, runtime, timeout)
    return interpreters[python, runtime]

  monkeypatch.setattr(verification, "Interpreter", interpreter)

  def run(*arguments, python=legacy_python):
    options = ["--legacy-python", legacy_python, "--python", python]
    return CliRunner().invoke(command.verify, [*options, *map(str, arguments)])

  return run


def changed(tmp_path, source, *replacements):
  """Writes a copy of a program in which texts are replaced."""
  text = source.read_text()
  for old, new in replacements:
    assert old in text
    text = text.replace(old, new)
  path = tmp_path / f"changed_{source.name}"
  path.write_text(text)
  return path


def row(output, name):
  (line,) = [line for line in output.splitlines() if line.startswith(name)]
  return line


OWN_RESTORE = """if manager.latest_checkpoint:
  checkpoint.restore(manager.latest_checkpoint)
else:
  initialize()
"""


def test_equal_programs(verify, target_pythons, tmp_path):
  result = verify("--kill-at", "5", BEFORE, AFTER, python=target_pythons[1])
  assert result.returncode == 0, result.stdout + result.stderr
  assert "legacy, TF 2.15" in result.stdout
  assert "migrated, TF 2.21" in result.stdout
  assert "0 3 6 9 10" in row(result.stdout, "saved steps")
  assert "9 10" in row(result.stdout, "steps on disk")
  # Three are the steps of before the kill, ten those of another pass over the data.
  assert "3 6 9 12 13" in row(result.stdout, "killed after step 5: saves then")
  assert row(result.stdout, "killed after step 5: resumes at").endswith("ok")
  assert row(result.stdout, "losses from the same checkpoint, 10 steps").endswith("ok")
  assert "does what the legacy program did" in result.stdout
  assert "killed after step 5 and started again" in result.stderr
  assert os.listdir(tmp_path) == []  # the scratch directory is gone


def test_program_that_restores_with_its_own_lines_is_equal(compared, target_pythons, tmp_path):
  after = changed(tmp_path, AFTER, ("manager.restore_or_initialize()\n", OWN_RESTORE))
  result = compared("--kill-at", "5", BEFORE, after, python=target_pythons[1])
  assert result.exit_code == 0, result.output
  assert row(result.stdout, "killed after step 5: resumes at").endswith("ok")


def test_other_cadence_and_other_losses_differ(compared, tmp_path):
  path = changed(tmp_path, AFTER, ("EVERY = 3", "EVERY = 4"), ("0.1 *", "0.11 *"))
  result = compared("--json", "--no-kill", BEFORE, path)
  assert result.exit_code == 1, result.output
  report = json.loads(result.stdout)
  assert not report["equal"]
  found = {check["name"]: check["migrated"][0] for check in report["checks"]}
  assert found["saved steps"] == {"found": "0 4 8 10", "equal": False}
  losses = found["losses from the same checkpoint, 10 steps"]
  assert not losses["equal"]
  assert losses["found"].endswith("from step 2")


def test_touched_old_files_and_lost_state_differ(compared, tmp_path):
  path = changed(tmp_path, AFTER, ('"models/line/tf2"', '"models/line"'))
  result = compared("--kill-at", "4", BEFORE, path)
  assert result.exit_code == 1
  assert row(result.stdout, "files of the old directory").endswith("DIFFERS")


def test_shuffled_program_is_not_called_different(compared, tmp_path):
  shuffled = [(".batch(4)", ".shuffle(40).batch(4)")]
  before = changed(tmp_path, BEFORE, *shuffled)
  after = changed(tmp_path, AFTER, *shuffled)
  result = compared("--no-kill", before, after)
  assert result.exit_code == 0, result.output
  assert row(result.stdout, "losses").endswith("-")
  assert "Two runs of the legacy program" in result.stdout


def test_program_without_checkpoints(compared, tmp_path):
  before = changed(tmp_path, BEFORE, ("save_checkpoints_steps=3", "save_checkpoints_steps=None"))
  after = changed(tmp_path, AFTER, ("manager.save(", "print("), ("checkpoint_number=", ""))
  result = compared(before, after)
  assert result.exit_code == 0, result.output
  assert "saves no checkpoint" in result.stdout


def test_failing_program_is_exit_2_with_its_last_lines(verify, tmp_path):
  path = changed(tmp_path, AFTER, ("manager.restore_or", "1 / 0\nmanager.restore_or"))
  result = verify(BEFORE, path)
  assert result.returncode == 2
  assert str(path) in result.stderr
  assert "ZeroDivisionError" in result.stderr
  assert result.stdout == ""


def test_program_that_writes_elsewhere_is_stopped_before_it_does(verify, tmp_path):
  elsewhere = tmp_path / "elsewhere"
  path = changed(tmp_path, BEFORE, ('"models/line"', repr(str(elsewhere))))
  result = verify(path, AFTER)
  assert result.returncode == 2
  assert str(elsewhere) in result.stderr
  assert "{model_dir}" in result.stderr
  assert not elsewhere.exists()


def test_timeout(verify):
  result = verify("--timeout", "0.5", BEFORE, AFTER)
  assert result.returncode == 2
  assert "longer than 0.5 seconds" in result.stderr


def test_usage_errors_are_exit_2(verify, tmp_path):
  result = verify(BEFORE, tmp_path / "missing.py")
  assert result.returncode == 2
  assert "missing.py" in result.stderr
  result = verify(BEFORE, AFTER, python=str(tmp_path / "python"))
  assert result.returncode == 2
  assert "no interpreter" in result.stderr


def test_missing_environments_are_named(tmp_path, monkeypatch):
  # As installed elsewhere: neither the variables of the test command nor a checkout above.
  monkeypatch.delenv("MIGRATOR_LEGACY_PYTHON", raising=False)
  monkeypatch.chdir(tmp_path)
  monkeypatch.setattr(command, "__file__", str(tmp_path / "verify.py"))
  result = CliRunner().invoke(command.verify, [str(BEFORE), str(AFTER)])
  assert result.exit_code == 2
  assert ".venvs/tf2.15" in result.output
  assert "--legacy-python" in result.output
