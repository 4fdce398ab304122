"""`migrator rule` and `migrator rules`."""

import json

import pytest
from click.testing import CliRunner

from migrator import cli
from migrator.lint import docs, rules


def _run(*arguments):
  result = CliRunner().invoke(cli.main, list(arguments))
  return result.exit_code, result.output


@pytest.mark.parametrize("rule", rules.load().values(), ids=lambda r: r.code)
def test_the_page_of_a_rule(rule):
  code, output = _run("rule", rule.code)
  assert (code, output) == (0, docs.page(rule))
  for part in (rule.name, rule.message, rule.why, rule.became, rule.url):
    assert part in output


@pytest.mark.parametrize("name", ["em101", "run-config", "Run-Config"])
def test_other_spellings(name):
  assert _run("rule", name) == _run("rule", "EM101")


@pytest.mark.parametrize(
  ("name", "hint"),
  [("EM5O3", "do you mean EM503?"), ("run-confg", "run-config"), ("zzz", "`migrator rules`")],
)
def test_an_unknown_rule(name, hint):
  code, output = _run("rule", name)
  assert code == 2
  assert hint in output


def test_a_rule_as_json():
  code, output = _run("rule", "EM503", "--json")
  data = json.loads(output)
  assert code == 0
  assert (data["code"], data["fix"]) == ("EM503", "review")
  assert data["examples"][0]["bad"]


def test_all_rules():
  code, output = _run("rules")
  assert code == 0
  assert [line.split()[:2] for line in output.splitlines()] == [
    [rule.code, rule.name] for rule in rules.load().values()
  ]


def test_all_rules_as_json():
  code, output = _run("rules", "--json")
  assert code == 0
  assert [data["code"] for data in json.loads(output)] == list(rules.load())
