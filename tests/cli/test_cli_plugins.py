"""Rules of a team's own are like ours in everything that `migrator lint` can do."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from migrator import cli
from migrator.lint import rules

RULE = """code = "ACME001"
name = "make-run-config"
message = "`{name}` makes a RunConfig."
why = "Because."
[[match]]
symbols = ["acme.make"]
at = "call"
replacement = "acme.new({arguments})"
[[examples]]
bad = "import acme; acme.make()"
"""
JOB = "import acme\nacme.make(1)\nacme.make(2)  # noqa: ACME001\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
  """A project with a rule and a file of its own; it is the current folder."""
  (tmp_path / "ci").mkdir()
  (tmp_path / "ci" / "acme.toml").write_text(RULE)
  (tmp_path / "pyproject.toml").write_text('[tool.migrator]\nrules = ["ci"]\n')
  (tmp_path / "src").mkdir()
  (tmp_path / "src" / "job.py").write_text(JOB)
  monkeypatch.chdir(tmp_path)
  yield tmp_path
  rules.use([])


def _lint(*arguments, stdin=None):
  result = CliRunner().invoke(cli.main, ["lint", "--quiet", *arguments], input=stdin)
  return result.exit_code, result.output


def _concise(*arguments, **more):
  return _lint("--output-format", "concise", *arguments, **more)


FOUND = (1, "src/job.py:2:1: ACME001 `acme.make` makes a RunConfig.\n")


def test_a_tree_and_a_named_file(project):
  assert _concise("src") == FOUND
  assert _concise("src/job.py") == FOUND


def test_from_another_folder_the_configuration_of_the_file_counts(
  project, monkeypatch, tmp_path_factory
):
  monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
  code, output = _concise(str(project / "src"))
  assert code == 1
  assert "ACME001" in output


def test_stdin(project):
  code, output = _concise("-", "--stdin-filename", "x.py", stdin=JOB)
  assert (code, output) == (1, "x.py:2:1: ACME001 `acme.make` makes a RunConfig.\n")


@pytest.mark.parametrize(
  ("arguments", "expected"),
  [
    (["--select", "ACME"], FOUND),
    (["--select", "ACME001,EM1"], FOUND),
    (["--select", "EM"], (0, "")),
    (["--ignore", "ACME001"], (0, "")),
    (["--select", "EM", "--extend-select", "ACME"], FOUND),
    (["--per-file-ignores", "job.py:ACME001"], (0, "")),
    (["--per-file-ignores", "other.py:ACME001"], FOUND),
  ],
)
def test_selection(project, arguments, expected):
  assert _concise("src", *arguments) == expected


def test_an_unused_noqa_of_an_own_rule_is_reported(project):
  (project / "src" / "job.py").write_text("x = 1  # noqa: ACME001\n")
  code, output = _concise("src/job.py")
  assert code == 1
  assert " EM006 " in output


def test_statistics(project):
  code, output = _lint("src", "--statistics")
  assert code == 1
  assert output.split()[:3] == ["1", "ACME001", "make-run-config"]


def test_the_baseline_knows_them(project):
  assert _concise("src", "--baseline", "known.json", "--write-baseline")[0] == 0
  assert _concise("src", "--baseline", "known.json") == (0, "")


def test_noqa_comments_are_added_for_them(project):
  _concise("src", "--add-noqa")
  assert "acme.make(1)  # noqa: ACME001\n" in (project / "src" / "job.py").read_text()
  assert _concise("src") == (0, "")


def test_json_and_sarif(project):
  (found,) = json.loads(_lint("src", "--output-format", "json")[1])
  assert (found["code"], found["name"], found["fix"]) == ("ACME001", "make-run-config", "manual")
  (run,) = json.loads(_lint("src", "--output-format", "sarif")[1])["runs"]
  assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["ACME001"]
  change = run["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"][0]
  assert change["insertedContent"]["text"] == "acme.new(1)"


def test_another_rule_is_not_answered_from_the_cache(project):
  (project / "src" / "job.py").write_text("import acme\nacme.make(1)\n")
  rule = project / "ci" / "acme.toml"
  assert _concise("src") == FOUND
  assert _concise("src") == FOUND
  rule.write_text(RULE.replace("makes a RunConfig", "is ours"))
  assert _concise("src")[1] == FOUND[1].replace("makes a RunConfig", "is ours")
  rule.write_text(RULE.replace("acme.make", "acme.take"))
  assert _concise("src") == (0, "")
  rule.write_text(RULE)
  assert _concise("src") == FOUND
  (project / "pyproject.toml").write_text("[tool.migrator]\n")
  assert _concise("src") == (0, "")


def test_a_copy_elsewhere_is_not_answered_from_the_cache(project):
  """A relative import means another package in another folder."""
  for name in ("acme", "other"):
    (project / name).mkdir()
    (project / name / "job.py").write_text("from . import make\nmake(1)\n")
  assert [line.split(":")[0] for line in _concise("acme", "other")[1].splitlines()] == [
    "acme/job.py"
  ]
  assert [line.split(":")[0] for line in _concise("other", "acme")[1].splitlines()] == [
    "acme/job.py"
  ]


def test_other_processes_know_them(project, repository):
  for number in range(40):
    (project / "src" / f"job{number}.py").write_text(JOB * 50)
  command = [sys.executable, "-m", "migrator.cli", "lint", "--jobs", "2", "--no-cache", "src"]
  environment = {**os.environ, "PYTHONPATH": str(repository)}
  process = subprocess.run(
    [*command, "--output-format", "json"], env=environment, capture_output=True, text=True
  )
  assert process.returncode == 1, process.stderr
  assert len(json.loads(process.stdout)) == 1 + 40 * 50


@pytest.mark.parametrize(
  ("old", "new", "message"),
  [
    ("why", "wy", "acme.toml:4: unknown key 'wy'; do you mean 'why'?"),
    ('code = "ACME001"', 'code = "EM101"', "acme.toml:1: 'code' must not begin with EM"),
    ('"acme.make"]', '"acme.make"', "acme.toml: "),
  ],
)
def test_a_faulty_rule_is_one_line_and_exit_code_2(project, old, new, message):
  (project / "ci" / "acme.toml").write_text(RULE.replace(old, new))
  result = CliRunner().invoke(cli.main, ["lint", "src"])
  assert result.exit_code == 2
  assert message in result.output
  assert len(result.output.splitlines()) == 1


def test_a_missing_folder_is_one_line_and_exit_code_2(project):
  (project / "pyproject.toml").write_text('[tool.migrator]\nrules = ["cj"]\n')
  result = CliRunner().invoke(cli.main, ["lint", "src"])
  assert result.exit_code == 2
  assert "cj: there is no such file or folder of rules" in result.output
  assert len(result.output.splitlines()) == 1
