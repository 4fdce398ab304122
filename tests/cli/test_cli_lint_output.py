"""`migrator lint`: formats, where they go, counts, colors."""

import errno
import json
import os
import pty
import re
import subprocess
import sys
import xml.etree.ElementTree

import pytest
from lint_helpers import BAD, GOOD, TWO, lint, separate, write

from migrator.lint import rules

_RULES = rules.load()
FORMATS = ("text", "concise", "json", "github", "gitlab", "sarif", "junit")
MACHINES = {"json": json.loads, "gitlab": json.loads, "sarif": json.loads}
MACHINES["junit"] = xml.etree.ElementTree.fromstring


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR", "NO_COLOR", "FORCE_COLOR"):
    monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("style", FORMATS)
def test_stdout_holds_the_findings_only(style, repository):
  write("a.py", BAD)
  code, output, errors = separate("a.py", "--output-format", style, repository=repository)
  assert code == 1
  assert "EM401" in output
  assert errors == "1 finding in 1 file; 1 file checked.\n"
  if style in MACHINES:
    MACHINES[style](output)


@pytest.mark.parametrize("style", sorted(MACHINES))
@pytest.mark.parametrize("content", [GOOD, None])
def test_machines_always_get_something_to_read(style, content, repository):
  if content is not None:
    write("a.py", content)
  code, output, _ = separate(".", "--output-format", style, repository=repository)
  assert code == 0
  MACHINES[style](output)


@pytest.mark.parametrize("style", FORMATS)
def test_the_places_in_a_notebook_in_every_format(style, repository):
  cells = [{"cell_type": "markdown", "source": "x"}, {"cell_type": "code", "source": BAD}]
  write("n.ipynb", json.dumps({"cells": cells, "nbformat": 4}))
  _, output, _ = separate("n.ipynb", "--output-format", style, repository=repository)
  assert re.search(r"cell[ \"]*:? *2", output, re.I)


def test_paths_of_machine_formats_are_relative_to_the_repository(monkeypatch):
  write("project/.git/HEAD", "")
  write("project/src/a.py", BAD)
  monkeypatch.chdir("project/src")
  _, output = lint("a.py", "--output-format=github", "-q")
  assert "file=src/a.py," in output
  monkeypatch.setenv("GITHUB_WORKSPACE", os.path.dirname(os.path.dirname(os.getcwd())))
  _, output = lint(".", "--output-format=github", "-q")
  assert "file=project/src/a.py," in output
  monkeypatch.setenv("GITHUB_WORKSPACE", "/somewhere/else")
  _, output = lint(".", "--output-format=gitlab", "-q")
  assert json.loads(output)[0]["location"]["path"] == "src/a.py"
  monkeypatch.setenv("GITHUB_WORKSPACE", os.getcwd()[:-1])  # a name's beginning is no folder
  _, output = lint(".", "--output-format=gitlab", "-q")
  assert json.loads(output)[0]["location"]["path"] == "src/a.py"


def test_the_environment_can_name_the_format(monkeypatch):
  write("a.py", BAD)
  monkeypatch.setenv("MIGRATOR_OUTPUT_FORMAT", "github")
  assert lint("a.py")[1].startswith("::error ")
  assert lint("a.py", "--output-format=concise")[1].startswith("a.py:2:9: ")


def test_an_unknown_format():
  code, output = lint("--output-format=xml")
  assert code == 2
  assert "'xml' is not one of 'text', 'concise', 'json'" in output


def test_an_output_file_holds_what_stdout_would(repository):
  write("a.py", BAD)
  _, expected, _ = separate("a.py", "--output-format=sarif", repository=repository)
  arguments = ("a.py", "--output-format=sarif", "--output-file=out.sarif")
  code, output, errors = separate(*arguments, repository=repository, FORCE_COLOR="1")
  assert (code, output) == (1, "")
  assert errors == "1 finding in 1 file; 1 file checked.\n"
  with open("out.sarif") as file:
    assert file.read() == expected
  assert sorted(os.listdir()) == ["a.py", "out.sarif"] or ".migrator_cache" in os.listdir()


def test_an_output_file_that_cannot_be_written():
  write("a.py", BAD)
  code, output = lint("a.py", "-o", os.path.join("gone", "out.txt"))
  assert code == 2
  assert output.startswith("Error: ")
  assert os.path.join("gone", "out.txt") in output


def test_statistics_count_by_rule_the_most_frequent_first():
  write("a.py", TWO + "tf.train.load_checkpoint('x')\n" * 10)
  code, output = lint("a.py", "--statistics", "-q")
  assert code == 1
  first, second = output.splitlines()
  assert first.split() == ["11", "EM503", _RULES["EM503"].name, _RULES["EM503"].fix]
  assert second.split() == ["1", "EM401", _RULES["EM401"].name, _RULES["EM401"].fix]
  assert second.startswith(" 1  EM401  ")
  assert first.index(_RULES["EM503"].fix) == second.index(_RULES["EM401"].fix)


def test_statistics_as_json():
  write("a.py", TWO)
  _, output = lint("a.py", "--statistics", "-q", "--output-format=json")
  assert json.loads(output)[1] == {
    "code": "EM503",
    "name": _RULES["EM503"].name,
    "count": 1,
    "fix": _RULES["EM503"].fix,
    "fixable": _RULES["EM503"].fix != "manual",
  }
  write("a.py", GOOD)
  assert lint("a.py", "--statistics", "-q") == (0, "")
  assert lint("a.py", "--statistics", "-q", "--output-format=json") == (0, "[]\n")


def test_statistics_have_no_other_formats():
  code, output = lint("--statistics", "--output-format=sarif")
  assert (code, output) == (2, "Error: --statistics is text or json, not sarif.\n")


def test_quiet_keeps_findings_and_errors(repository):
  write("a.py", GOOD)
  assert separate("a.py", "--quiet", repository=repository) == (0, "", "")
  os.mkdir("empty")
  assert separate("empty", "--quiet", repository=repository) == (0, "", "")
  write("b.py", BAD)
  _, output, errors = separate("-q", repository=repository)
  assert "EM401" in output
  assert errors == ""


def test_exit_zero_is_for_findings_and_not_for_what_cannot_be_read():
  write("a.py", BAD)
  assert lint("a.py", "--exit-zero")[0] == 0
  write("a.py", "import tensorflow\nx = (\n")
  assert lint("a.py", "--exit-zero")[0] == 2


def test_names_and_sources_that_the_terminal_cannot_show(repository):
  write("名.py", "import tensorflow as tf\nx = '名'; tf.compat.v1.train.Saver()\n")
  variables = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
  code, output, errors = separate(".", repository=repository, **variables)
  assert code == 1
  assert "\\u540d.py:2:10: EM401" in output
  assert "Traceback" not in errors


def test_a_file_name_that_is_no_unicode_keeps_its_bytes(repository, tmp_path):
  name = os.fsencode(tmp_path) + b"/\xff.py"
  try:
    with open(name, "w") as file:
      file.write(BAD)
  except OSError as error:  # a file system of Unicode names
    assert error.errno == errno.EILSEQ
    return
  process = subprocess.run(
    [sys.executable, "-m", "migrator.cli", "lint", ".", "--output-format=concise"],
    capture_output=True,
    env={**os.environ, "PYTHONPATH": str(repository), "PYTHONIOENCODING": "utf-8"},
    check=False,
  )
  assert process.returncode == 1
  assert b"\xff.py:2:9: EM401" in process.stdout


def _on_a_terminal(repository, **variables):
  """The output of lint on a terminal."""
  ours, theirs = pty.openpty()
  process = subprocess.Popen(
    [sys.executable, "-m", "migrator.cli", "lint", "a.py", "-q"],
    stdout=theirs,
    env={**os.environ, "PYTHONPATH": str(repository), "TERM": "xterm", **variables},
  )
  os.close(theirs)
  found = b""
  while True:
    try:
      part = os.read(ours, 10000)
    except OSError:  # the other side is closed
      break
    if not part:
      break
    found += part
  os.close(ours)
  assert process.wait() == 1
  return found.decode()


@pytest.mark.parametrize(
  ("variables", "colored"),
  [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_a_terminal_gets_colors_unless_it_says_no(variables, colored, repository):
  write("a.py", BAD)
  output = _on_a_terminal(repository, **variables)
  assert ("\033[" in output) == colored
  assert "a.py:2:9: EM401" in re.sub(r"\033\[[0-9;]*m", "", output)


def test_a_pipe_gets_colors_only_by_force(repository):
  write("a.py", BAD)
  assert "\033[" not in separate("a.py", repository=repository)[1]
  assert "\033[" in separate("a.py", repository=repository, FORCE_COLOR="1")[1]
  forced = separate("a.py", "--output-format=json", repository=repository, FORCE_COLOR="1")[1]
  assert "\033[" not in forced


def test_the_line_that_cannot_be_parsed_is_shown():
  write("a.py", BAD + "x = 1 1\n")
  cell = {"cell_type": "code", "source": BAD + "y = 2 2\n"}
  write("n.ipynb", json.dumps({"cells": [cell], "nbformat": 4}))
  _, output = lint("a.py", "n.ipynb", "-q")
  assert re.search(r"^3 \| x = 1 1\n  \| {5,7}\^$", output, re.M)  # columns differ by Python
  assert re.search(r"^3 \| y = 2 2\n  \| {5,7}\^$", output, re.M)


def test_every_option_is_one_line_of_the_help():
  _, output = lint("--help")
  options = [line for line in output.splitlines() if re.match(r"  -", line)]
  assert len(options) == output.count("\n  -")
  assert all(re.match(r"  -.* {2,}\S", line) and len(line) <= 80 for line in options)
  assert "[PATH]..." in output.splitlines()[0]


def test_who_looks_for_fix_is_told_about_rewrite():
  write("a.py", BAD)
  code, output = lint("--fix")
  assert code == 2
  assert "lint changes no code: `migrator rewrite` shows a diff" in output
  assert "--fix" not in lint("--help")[1]
