"""Shell completion."""

import os
import shutil
import subprocess
import sys

import pytest

SHELLS = ("bash", "zsh", "fish")


def _complete(words, repository, cwd):
  """What bash is offered for the last of the words; the other commands must not be imported."""
  process = subprocess.run(
    [sys.executable, "-m", "migrator.cli"],
    capture_output=True,
    text=True,
    cwd=cwd,
    check=True,
    env={
      **os.environ,
      "PYTHONPATH": str(repository),
      "_MIGRATOR_COMPLETE": "bash_complete",
      "COMP_WORDS": " ".join(words),
      "COMP_CWORD": str(len(words) - 1),
    },
  )
  assert process.stderr == ""
  return [tuple(line.split(",", 1)) for line in process.stdout.splitlines()]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_each_shell_asks_the_program(shell, repository):
  process = subprocess.run(
    [sys.executable, "-m", "migrator.cli", "completion", shell],
    capture_output=True,
    text=True,
    cwd=repository,
    check=True,
  )
  assert f"_MIGRATOR_COMPLETE={shell}_complete" in process.stdout
  assert process.stderr == ""
  if shutil.which(shell):
    check = subprocess.run([shell, "-n"], input=process.stdout, text=True, check=False)
    assert check.returncode == 0


def test_an_unknown_shell(repository):
  process = subprocess.run(
    [sys.executable, "-m", "migrator.cli", "completion", "tcsh"],
    capture_output=True,
    text=True,
    cwd=repository,
    check=False,
  )
  assert process.returncode == 2
  assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in process.stderr


def test_commands_options_and_codes_are_offered(repository, tmp_path):
  assert ("plain", "lint") in _complete(["migrator", "l"], repository, tmp_path)
  options = _complete(["migrator", "lint", "--ex"], repository, tmp_path)
  assert {option for _, option in options} == {
    "--extend-select",
    "--exclude",
    "--extend-exclude",
    "--exit-zero",
  }
  codes = [
    code for _, code in _complete(["migrator", "lint", "--select", "em5"], repository, tmp_path)
  ]
  assert "EM501" in codes
  assert all(code.startswith("EM5") for code in codes)


def test_the_last_code_of_a_list_is_completed(repository, tmp_path):
  found = _complete(["migrator", "lint", "--ignore", "EM1,EM401"], repository, tmp_path)
  assert found == [("plain", "EM1,EM401")]


def test_codes_of_own_rules_are_offered_and_faulty_ones_do_not_disturb(repository, tmp_path):
  (tmp_path / "pyproject.toml").write_text('[tool.migrator]\nrules = ["own.toml"]\n')
  words = ["migrator", "lint", "--select", ""]
  (tmp_path / "own.toml").write_text(
    'code = "ACME001"\nname = "x"\nmessage = "x"\nwhy = "x"\n[[match]]\nsymbols = ["a.b"]\n'
    '[[examples]]\nbad = "import a; a.b"\n'
  )
  assert ("plain", "ACME001") in _complete(words, repository, tmp_path)
  (tmp_path / "own.toml").write_text("code = 3\n")
  assert ("plain", "EM101") in _complete(words, repository, tmp_path)


def test_formats_and_files_are_offered(repository, tmp_path):
  found = _complete(["migrator", "lint", "--output-format", "s"], repository, tmp_path)
  assert found == [("plain", "sarif")]
  assert _complete(["migrator", "lint", "src"], repository, tmp_path) == [("file", "src")]


def test_bash_completes_with_the_script(repository, tmp_path):
  (tmp_path / "migrator").write_text(
    f'#!/bin/sh\nPYTHONPATH="{repository}" exec "{sys.executable}" -m migrator.cli "$@"\n'
  )
  (tmp_path / "migrator").chmod(0o755)
  script = (
    'eval "$(migrator completion bash)"\n'
    "COMP_WORDS=(migrator lint --output-format g)\nCOMP_CWORD=3\n"
    '_migrator_completion migrator\necho "${COMPREPLY[*]}"\n'
  )
  process = subprocess.run(
    ["bash", "-c", script],
    capture_output=True,
    text=True,
    check=True,
    env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
  )
  assert process.stdout.split() == ["github", "gitlab"]
