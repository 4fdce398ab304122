"""`migrator eject` where there is no TensorFlow."""

import sys

from click.testing import CliRunner

from migrator.cli import main


def run(*arguments):
  result = CliRunner().invoke(main, ["eject", *arguments])
  return result.exit_code, result.output


def test_without_tensorflow_it_says_what_to_install(tmp_path, monkeypatch):
  (tmp_path / "job.py").write_text("raise RuntimeError('imported')\n")
  monkeypatch.chdir(tmp_path)
  monkeypatch.setitem(sys.modules, "tensorflow", None)
  assert run("job:create") == (
    2,
    "Error: eject needs TensorFlow, which is not installed: "
    "pip install 'estimator-migrator[runtime]'.\n",
  )


def test_it_takes_one_factory():
  code, output = run()
  assert code == 2
  assert "Missing argument 'MODULE:FACTORY'" in output
  code, output = run("a:b", "c:d")
  assert code == 2
  assert "unexpected extra argument (c:d)" in output


def test_the_help_has_an_example_and_the_exit_codes():
  code, output = run("--help")
  assert code == 0
  assert "migrator eject my.models:create > my/explicit.py" in output
  assert "Exit code: 0 printed; 1 printed" in output
