"""The command group: help, version, exit codes, start-up."""

import os
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

import migrator
from migrator import cli

HEAVY = ("libcst", "tensorflow", "keras", "numpy", "pathspec")


def _run(*arguments, cwd, text=None):
  """Runs `python -m migrator.cli`; returns (exit code, stdout, stderr)."""
  process = subprocess.run(
    [sys.executable, "-m", "migrator.cli", *arguments],
    cwd=cwd,
    input=text,
    capture_output=True,
    text=True,
  )
  return process.returncode, process.stdout, process.stderr


def _imported(arguments, names, cwd):
  """Which of the modules a command imports."""
  program = (
    "import sys\nfrom migrator.cli import main\n"
    f"try:\n  main({list(arguments)!r}, prog_name='migrator')\n"
    "except SystemExit as e:\n  code = e.code\n"
    f"print('imported', code, [m for m in {list(names)!r} if m in sys.modules])\n"
  )
  process = subprocess.run(
    [sys.executable, "-c", program], cwd=cwd, capture_output=True, text=True, check=True
  )
  return process.stdout.splitlines()[-1]


def test_version(repository):
  code, output, _ = _run("--version", cwd=repository)
  assert (code, output) == (0, f"migrator, version {migrator.__version__}\n")


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_lists_all_commands(repository, option):
  code, output, _ = _run(option, cwd=repository)
  assert code == 0
  for name in ("rewrite", "lint", "verify", "eject", "rule", "rules"):
    assert f"\n  {name} " in output


@pytest.mark.parametrize("name", ["rewrite", "lint", "verify", "rule", "rules"])
def test_every_command_is_there_and_has_help(name):
  command = cli.main.get_command(click.Context(cli.main), name)
  assert isinstance(command, click.Command)
  assert command.name == name
  result = CliRunner().invoke(cli.main, [name, "--help"])
  assert result.exit_code == 0
  assert result.output.startswith(f"Usage: main {name}")


def test_an_unknown_command(repository):
  code, _, errors = _run("lnit", cwd=repository)
  assert code == 2
  assert "No such command 'lnit'" in errors


def test_help_imports_no_command(repository):
  names = (*HEAVY, "migrator.lint", "migrator.cli.lint", "migrator.rewrite", "migrator.verify")
  assert _imported(["--help"], names, repository) == "imported 0 []"


def test_lint_imports_neither_libcst_nor_tensorflow(repository, tmp_path):
  (tmp_path / "a.py").write_text("import tensorflow as tf\ntf.estimator.RunConfig()\n")
  line = _imported(["lint", str(tmp_path)], HEAVY, repository)
  assert line == "imported 1 []"


def test_an_interrupt_is_exit_code_130(repository, tmp_path):
  (tmp_path / "a.py").write_text("import tensorflow as tf\n")
  program = (
    "import os, signal, time\nfrom migrator.cli import main\nfrom migrator.lint import engine\n"
    "def wait(raw, path, **options):\n"
    "  os.kill(os.getpid(), signal.SIGINT)  # as Ctrl-C does, in the middle of the work\n"
    "  time.sleep(60)\n"
    "engine.examine_bytes = wait\n"
    f"main(['lint', '--jobs=1', '--no-cache', {str(tmp_path)!r}])\n"
  )
  process = subprocess.run(
    [sys.executable, "-c", program], cwd=repository, capture_output=True, text=True
  )
  assert process.returncode == 130
  assert process.stdout == ""
  assert process.stderr.strip() == "Interrupted."


def test_a_reader_that_goes_away(repository, tmp_path):
  text = "import tensorflow as tf\n" + "tf.train.Saver()\n" * 5000
  (tmp_path / "a.py").write_text(text)
  command = f'"{sys.executable}" -m migrator.cli lint "{tmp_path}" | head -1'
  process = subprocess.run(["bash", "-c", command], cwd=repository, capture_output=True, text=True)
  assert len(process.stdout.splitlines()) == 1
  assert "Traceback" not in process.stderr
  assert "BrokenPipe" not in process.stderr


def test_what_the_system_refuses_is_one_line(monkeypatch):
  def fail(*args, **options):
    raise PermissionError(13, "Permission denied", "some/file")

  monkeypatch.setattr("migrator.cli.config.load", fail)
  result = CliRunner().invoke(cli.main, ["lint", "."])
  assert result.exit_code == 2
  assert result.output == "Error: some/file: Permission denied\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_streams_that_are_closed(closed, repository, tmp_path):
  (tmp_path / "a.py").write_text("import tensorflow as tf\ntf.train.Saver()\n")
  command = f'"{sys.executable}" -m migrator.cli lint --jobs=2 --output-format=concise - {closed}'
  process = subprocess.run(
    ["bash", "-c", f'{command} "{tmp_path}"'],
    cwd=repository,
    capture_output=True,
    text=True,
    input="",
  )
  assert process.returncode == 1
  assert process.stdout.count("EM401") == (">&-" not in closed.split())
  assert process.stderr.count("1 finding in 1 file; 2 files checked.") == ("2>&-" not in closed)
  assert process.stderr.count("\n") <= 1


def test_a_current_folder_that_is_gone(repository, tmp_path):
  folder = tmp_path / "gone"
  folder.mkdir()
  process = subprocess.run(
    ["bash", "-c", f'rmdir "{folder}"; "{sys.executable}" -m migrator.cli lint'],
    cwd=folder,
    env={**os.environ, "PYTHONPATH": str(repository)},
    capture_output=True,
    text=True,
  )
  assert process.returncode == 2
  assert process.stderr == "Error: the current folder is gone: No such file or directory\n"
