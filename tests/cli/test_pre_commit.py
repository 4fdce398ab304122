"""The hook of .pre-commit-hooks.yaml, run by pre-commit itself.

pre-commit installs this project into an environment of its own, which needs the package index.
"""

import os
import shutil
import subprocess
import sys

import pytest
from lint_helpers import BAD, GOOD, write

INSTALLED = ("migrator", "rules", "pyproject.toml", "README.md", ".pre-commit-hooks.yaml")


def _git(folder, *arguments):
  process = subprocess.run(
    ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
    cwd=folder,
    check=True,
    capture_output=True,
    text=True,
  )
  return process.stdout


@pytest.fixture(scope="module")
def hook(tmp_path_factory, repository):
  """A repository with this project as it is now, its revision, and a home for pre-commit."""
  folder = tmp_path_factory.mktemp("hook")
  project = folder / "project"
  project.mkdir()
  for name in INSTALLED:
    source = repository / name
    if source.is_dir():
      ignored = shutil.ignore_patterns("__pycache__")
      shutil.copytree(source, project / name, ignore=ignored)
    else:
      shutil.copy(source, project / name)
  _git(project, "init", "-q")
  _git(project, "add", "-A")
  _git(project, "commit", "-qm", "x")
  return project, _git(project, "rev-parse", "HEAD").strip(), folder / "home"


def _run(hook, folder, *arguments):
  """Runs the hook over all files in a repository; returns (exit code, output)."""
  project, revision, home = hook
  config = (
    f"repos:\n- repo: {project}\n  rev: {revision}\n  hooks:\n"
    f"  - id: migrator-lint\n    args: [{', '.join(arguments)}]\n"
  )
  write(str(folder / ".pre-commit-config.yaml"), config)
  _git(folder, "init", "-q")
  _git(folder, "add", "-A")
  process = subprocess.run(
    [sys.executable, "-m", "pre_commit", "run", "--all-files"],
    cwd=folder,
    capture_output=True,
    text=True,
    env={**os.environ, "PRE_COMMIT_HOME": str(home), "PRE_COMMIT_COLOR": "never"},
    check=False,
  )
  return process.returncode, process.stdout


def test_the_hook_fails_on_findings_and_passes_without(hook, tmp_path):
  write(str(tmp_path / "src" / "a.py"), GOOD)
  write(str(tmp_path / "third_party" / "b.py"), BAD)
  write(str(tmp_path / "pyproject.toml"), '[tool.migrator]\nexclude = ["third_party/"]\n')
  code, output = _run(hook, tmp_path)
  assert code == 0, output
  assert output.count("Passed") == 1

  write(str(tmp_path / "src" / "a.py"), BAD)
  code, output = _run(hook, tmp_path)
  assert code == 1
  assert "hook id: migrator-lint" in output
  assert f"{os.path.join('src', 'a.py')}:2:9: EM401 " in output
  assert "third_party" not in output

  code, output = _run(hook, tmp_path, "--ignore=EM401")
  assert code == 0, output
