"""The rules are found from a wheel, an editable install, and any working directory."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile

import pytest


@pytest.fixture(scope="module")
def checkout(repository, tmp_path_factory):
  """A copy of what makes the distribution, so that building leaves nothing in the tree."""
  copy = tmp_path_factory.mktemp("checkout")
  for name in ("pyproject.toml", "README.md"):
    shutil.copy(repository / name, copy)
  ignore = shutil.ignore_patterns("__pycache__")
  for name in ("migrator", "rules"):
    shutil.copytree(repository / name, copy / name, ignore=ignore)
  return copy


def _run(python, *arguments, cwd, path=()):
  environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
  # Only the packages of this environment: its own migrator must not be found.
  environment["PYTHONPATH"] = os.pathsep.join(path)
  process = subprocess.run(
    [python, *arguments], cwd=cwd, env=environment, capture_output=True, text=True
  )
  assert process.returncode == 0, process.stderr
  return process.stdout


_WHERE = "from migrator.lint import rules; print(rules.directory()); print(len(rules.load()))"


def _count(repository):
  return len(list((repository / "rules").glob("*.toml")))


def test_from_another_working_directory(repository, tmp_path):
  output = _run(sys.executable, "-c", _WHERE, cwd=tmp_path, path=[str(repository)])
  assert output.split("\n")[:2] == [str(repository / "rules"), str(_count(repository))]


def test_from_a_wheel(repository, checkout, tmp_path):
  command = ["-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(tmp_path), str(checkout)]
  _run(sys.executable, *command, cwd=tmp_path)
  (wheel,) = tmp_path.glob("estimator_migrator-*.whl")
  site = tmp_path / "site"
  with zipfile.ZipFile(wheel) as archive:
    names = archive.namelist()
    archive.extractall(site)
  assert sum(n.startswith("migrator/rules/") for n in names) == _count(repository)
  assert not any(n.startswith(("tests/", "rules/")) for n in names)
  # Only the click and the like of this environment come after it on the path.
  path = [str(site), sysconfig.get_path("purelib")]
  output = _run(sys.executable, "-c", _WHERE, cwd=tmp_path, path=path)
  assert output.split("\n")[:2] == [str(site / "migrator" / "rules"), str(_count(repository))]
  listed = _run(sys.executable, "-m", "migrator.cli", "rules", cwd=tmp_path, path=path)
  assert len(listed.splitlines()) == _count(repository)


def test_from_an_editable_install(repository, checkout, tmp_path):
  venv.create(tmp_path / "env", with_pip=False)
  python = str(tmp_path / "env" / "bin" / "python")
  command = ["-m", "pip", "--python", python, "install", "--quiet", "--no-deps"]
  _run(sys.executable, *command, "-e", str(checkout), cwd=tmp_path)
  path = [sysconfig.get_path("purelib")]
  output = _run(python, "-c", _WHERE, cwd=tmp_path, path=path)
  assert output.split("\n")[:2] == [str(checkout / "rules"), str(_count(repository))]
