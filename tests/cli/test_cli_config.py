"""`[tool.migrator]` of pyproject.toml."""

import os

import pytest
from click.testing import CliRunner

from migrator import cli
from migrator.cli import config


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)


def _write(text, name="pyproject.toml"):
  os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
  with open(name, "w") as file:
    file.write(text)


def test_all_options():
  _write(
    '[tool.migrator]\nselect = ["EM1"]\nignore = ["em110"]\nexclude = ["gen"]\n'
    'source-version = 1\ntarget = "loop"\n'
  )
  settings = config.load()
  assert settings == config.Config(
    root=os.getcwd(),
    select=("EM1",),
    ignore=("EM110",),
    exclude=("gen",),
    source_version=1,
    target="loop",
  )


def test_the_nearest_file_with_the_table_counts():
  _write('[tool.migrator]\ntarget = "fit"\n')
  _write("[tool.ruff]\nline-length = 80\n", "a/pyproject.toml")
  os.makedirs("a/b")
  assert config.load("a/b").target == "fit"
  _write('[tool.migrator]\ntarget = "loop"\n', "a/b/pyproject.toml")
  assert config.load("a/b").target == "loop"


@pytest.mark.parametrize(
  ("text", "message"),
  [
    ("[tool.migrator]\nselct = []\n", "has no option 'selct'"),
    ('[tool.migrator]\nselect = "EM1"\n', "select must be a list of strings"),
    ('[tool.migrator]\nselect = ["XX"]\n', "select: no rule begins with 'XX'"),
    ("[tool.migrator]\nsource-version = 3\n", "source-version must be 1 or 2, is 3"),
    ("[tool.migrator]\nsource-version = true\n", "source-version must be 1 or 2"),
    ('[tool.migrator]\ntarget = "keras"\n', "target must be one of auto, fit, loop"),
    ("[tool]\nmigrator = 3\n", "[tool.migrator] must be a table"),
    ("[tool.migrator\n", "line 1"),
  ],
)
def test_a_faulty_file_is_named_with_the_key(text, message):
  _write(text)
  result = CliRunner().invoke(cli.main, ["lint", "."])
  assert result.exit_code == 2
  assert "pyproject.toml" in result.output
  assert message in result.output
  assert result.output.startswith("Error: ")
  assert result.output.count("\n") == 1


def test_the_command_line_wins():
  _write('[tool.migrator]\nselect = ["EM4"]\nignore = ["EM401"]\n')
  _write("import tensorflow as tf\ntf.compat.v1.train.Saver()\ntf.estimator.ModeKeys\n", "a.py")
  invoke = CliRunner().invoke
  assert invoke(cli.main, ["lint", "a.py"]).exit_code == 0
  assert "EM216" in invoke(cli.main, ["lint", "a.py", "--select", "EM2"]).output
  assert "EM401" in invoke(cli.main, ["lint", "a.py", "--ignore", "EM402"]).output
