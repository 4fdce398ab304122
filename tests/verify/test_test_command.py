"""tests/run.py, which makes the environments and runs all stages."""

import importlib.util
import sys

import pytest


@pytest.fixture
def run(repository):
  spec = importlib.util.spec_from_file_location("test_command", repository / "tests" / "run.py")
  module = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(module)
  return module


def test_a_missing_python_is_one_clear_error(run, tmp_path, monkeypatch):
  monkeypatch.setattr(run, "VENVS", tmp_path)
  environment = run.Environment("tf0.1", [(2, 1), (2, 2)], ["tensorflow==0.1"])
  with pytest.raises(SystemExit, match=r"tf0\.1 needs Python 2\.1 or 2\.2") as error:
    environment.ensure()
  assert "pyenv install" in str(error.value)
  assert list(tmp_path.iterdir()) == []


def test_an_environment_is_made_anew_when_its_requirements_change(run):
  first = run.Environment("tf", [(3, 11)], ["tensorflow==2.15.*"])
  second = run.Environment("tf", [(3, 11)], ["tensorflow==2.16.*"])
  assert first.stamp() == run.Environment("tf", [(3, 11)], ["tensorflow==2.15.*"]).stamp()
  assert first.stamp() != second.stamp()


def test_this_python_is_found(run):
  assert run.find_python([(2, 1), sys.version_info[:2]])


@pytest.mark.parametrize("code", [0, 1, 5])
def test_a_stage_has_the_exit_code_of_its_command(run, code):
  stage = run.Stage("stage", "base", ["-c", f"print('seen'); raise SystemExit({code})"])
  found, seconds, output = stage.run({"base": sys.executable}, {}, None, captured=True)
  assert (found, output) == (code, "seen\n")
  assert seconds > 0


def test_a_failed_stage_fails_the_whole(run, monkeypatch, capsys):
  def stages():
    commands = {"good": "pass", "bad": "raise SystemExit(3)"}
    return [run.Stage(name, "base", ["-c", text]) for name, text in commands.items()]

  environment = run.Environment("base", [], [])
  environment.python = sys.executable
  monkeypatch.setattr(environment, "ensure", lambda: None)
  monkeypatch.setattr(run, "stages", stages)
  monkeypatch.setattr(
    run, "environments", lambda: dict.fromkeys(("base", "tf2.15", "tf2.21"), environment)
  )
  monkeypatch.setattr(sys, "argv", ["run.py"])
  assert run.main() == 1
  assert capsys.readouterr().out.splitlines()[-1] == "stages: 1 passed, 1 failed"
