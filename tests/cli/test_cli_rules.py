"""`migrator rule` and `migrator rules`."""

import json
import re

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from migrator import cli
from migrator.cli import rule as rule_command
from migrator.lint import docs, rule_examples, rules


@pytest.fixture(autouse=True)
def no_rules_left():
  yield
  rules.use([])


def _run(*arguments):
  result = CliRunner().invoke(cli.main, list(arguments))
  return result.exit_code, result.output


@pytest.mark.parametrize("rule", rules.load().values(), ids=lambda r: r.code)
def test_the_page_of_a_rule(rule):
  code, output = _run("rule", rule.code)
  assert (code, output) == (0, docs.page(rule))
  for part in (rule.name, rule_examples.message(rule), rule.why, rule.became, rule.url):
    assert part in output


@pytest.mark.parametrize("name", ["em101", "run-config", "Run-Config"])
def test_other_spellings(name):
  assert _run("rule", name) == _run("rule", "EM101")


def test_several_rules_at_once():
  known = rules.load()
  code, output = _run("rule", "EM101", "backup-unbuilt-model")
  assert (code, output) == (0, docs.page(known["EM101"]) + "\n" + docs.page(known["EM502"]))
  assert [data["code"] for data in json.loads(_run("rule", "EM101", "EM102", "--json")[1])] == [
    "EM101",
    "EM102",
  ]


@pytest.mark.parametrize(
  ("name", "hint"),
  [
    ("EM5O3", "do you mean EM503"),
    ("EM999", "do you mean EM9"),
    ("run-confg", "run-config (EM101)"),
    ("zzz", "`migrator rules`"),
  ],
)
def test_an_unknown_rule(name, hint):
  code, output = _run("rule", name)
  assert code == 2
  assert hint in output


def test_the_beginning_of_codes_is_pointed_to_the_list():
  code, output = _run("rule", "EM60")
  assert code == 2
  assert "'EM60' is the beginning of 4 rules; `migrator rules --select EM60` lists them." in output


def test_a_rule_as_json():
  code, output = _run("rule", "EM503", "--json")
  data = json.loads(output)
  assert code == 0
  assert (data["code"], data["fix"]) == ("EM503", "review")
  assert data["examples"][0]["bad"]
  assert data["example_message"] == rule_examples.message(rules.load()["EM503"])


def test_a_page_on_a_terminal_is_bold_and_not_markdown():
  text = rule_command._render(docs.page(rules.load()["EM502"]), 60)
  assert "\x1b[1mbackup-unbuilt-model (EM502)\x1b[0m" in text
  assert "\x1b[1mFix\x1b[0m: " in text
  assert not re.search(r"^#|\*\*|```", text, re.MULTILINE)
  assert "    model.compile(" in text
  prose = [line for line in text.splitlines() if not line.startswith("    ")]
  assert max(map(len, prose)) <= 70  # with the escape codes


def test_all_rules():
  code, output = _run("rules")
  assert code == 0
  lines = output.splitlines()
  for line, rule in zip(lines, rules.load().values()):
    cells = [rule.code, rule.name, rule.fix, rule.removed_in or "-", rule.reported_by]
    assert line.split()[:5] == cells
    assert line.endswith(rule_examples.message(rule))
  assert len(lines) == len(rules.load())


def test_some_rules():
  assert [line[:5] for line in _run("rules", "--select", "EM101,EM50")[1].splitlines()][:2] == [
    "EM101",
    "EM501",
  ]
  assert [r["code"] for r in json.loads(_run("rules", "--json", "--select", "EM101")[1])] == [
    "EM101"
  ]
  assert _run("rules", "--select", "XY")[0] == 2


def test_all_rules_as_json():
  code, output = _run("rules", "--json")
  assert code == 0
  assert [data["code"] for data in json.loads(output)] == list(rules.load())


@pytest.mark.parametrize("words", [["rule"], ["rule", "EM401"], ["rules", "--select"]])
def test_shells_complete_codes(words):
  shell = ShellComplete(cli.main, {}, "migrator", "_MIGRATOR_COMPLETE")
  found = [item.value for item in shell.get_completions(words, "EM50")]
  assert found == [code for code in rules.load() if code.startswith("EM50")]


RULE = """code = "ACME001"
name = "own"
message = "`{name}` is ours."
why = "Because."
[[match]]
symbols = ["acme.make"]
[[examples]]
bad = "import acme; acme.make()"
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
  """A project with a rule of its own; the current folder is a sub-folder of it."""
  (tmp_path / "ci" / "own").mkdir(parents=True)
  (tmp_path / "ci" / "own" / "acme.toml").write_text(RULE)
  (tmp_path / "pyproject.toml").write_text('[tool.migrator]\nrules = ["ci/own"]\n')
  (tmp_path / "src").mkdir()
  monkeypatch.chdir(tmp_path / "src")
  return tmp_path


def test_rules_of_the_project_are_listed_and_explained(project):
  assert _run("rules")[1].splitlines()[-1].split()[:2] == ["ACME001", "own"]
  code, output = _run("rule", "acme001")
  assert code == 0
  assert "- any use of `acme.make`" in output
  assert _run("rule", "own")[1] == output


def test_check_runs_the_examples_of_own_rules(project):
  assert _run("rules", "--check") == (0, "1 rule, 1 example: all as they should be.\n")
  path = project / "ci" / "own" / "acme.toml"
  path.write_text(RULE.replace("acme.make()", "acme.take()") + 'good = "acme.make"\n')
  assert _run("rules", "--check") == (
    1,
    "ACME001 own, example 1: 'bad' is not reported\n1 rule, 1 example: 1 failed.\n",
  )
  path.write_text(RULE + 'good = "x = ("\n')
  code, output = _run("rules", "--check")
  assert code == 1
  assert output.startswith("ACME001 own, example 1: 'good' cannot be read: ")


def test_check_of_a_named_folder(project, monkeypatch, tmp_path_factory):
  monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
  code, output = _run("rules", "--check")
  assert code == 2
  assert "there are no rules of your own" in output
  assert _run("rules", "--check", str(project / "ci" / "own"))[0] == 0
  assert _run("rules", "--check", str(project / "ci" / "own" / "acme.toml"))[0] == 0
  assert _run("rules", "--check", str(project / "ci"))[0] == 2


@pytest.mark.parametrize("command", [["rules"], ["rules", "--check"], ["rule", "EM101"]])
def test_a_faulty_rule_is_one_line_and_exit_code_2(project, command):
  (project / "ci" / "own" / "acme.toml").write_text(RULE.replace("why", "wy"))
  code, output = _run(*command)
  assert code == 2
  assert "acme.toml:4: unknown key 'wy'; do you mean 'why'?" in output
  assert len(output.splitlines()) == 1


def test_the_output_in_the_guide_is_what_is_printed(repository, tmp_path, monkeypatch):
  text = (repository / "docs" / "plugins.md").read_text(encoding="utf-8")
  folder = tmp_path / "ci" / "migrator_rules"
  folder.mkdir(parents=True)
  for number, block in enumerate(re.findall(r"```toml\n(code = .*?)```", text, re.DOTALL)):
    (folder / f"{number}.toml").write_text(block, encoding="utf-8")
  command, output = re.search(r"```console\n\$ migrator (.*)\n((?:.*\n)*?)```", text).groups()
  monkeypatch.chdir(tmp_path)
  assert _run(*command.split()) == (0, output)
