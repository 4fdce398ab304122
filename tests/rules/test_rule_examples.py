"""Every rule's examples: the bad ones are reported with its code, the good ones are not."""

import json

import pytest

from migrator.lint import engine, rules

RULES = rules.load()


def _findings(rule, text):
  path = "example.py"
  if rule.code == "EM004":
    path = "example.ipynb"
    lines = text.strip("\n").splitlines(keepends=True)
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": lines}
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 2})
  return engine.check_bytes(text.encode("utf-8"), path)


def _examples(part):
  return [
    pytest.param(rule, getattr(example, part), id=f"{rule.code}-{rule.name}-{part}{number}")
    for rule in RULES.values()
    for number, example in enumerate(rule.examples, start=1)
    if getattr(example, part)
  ]


@pytest.mark.parametrize(("rule", "text"), _examples("bad"))
def test_bad_example(rule, text):
  codes = [f.code for f in _findings(rule, text)]
  if rule.reported_by == "lint":
    assert rule.code in codes
  else:
    # Said by a rewrite only: lint must not guess it, and must be able to read the example.
    assert rule.code not in codes
    assert not any(code.startswith("EM0") for code in codes)


@pytest.mark.parametrize(("rule", "text"), _examples("good") + _examples("ok"))
def test_good_and_ok_examples(rule, text):
  codes = [f.code for f in _findings(rule, text)]
  assert rule.code not in codes
  assert not any(code.startswith("EM0") for code in codes)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda r: r.code)
def test_one_finding_per_place_and_rule(rule):
  for example in rule.examples:
    found = _findings(rule, example.bad or example.ok)
    places = [(f.code, f.span.line, f.span.column) for f in found]
    assert len(places) == len(set(places))


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda r: r.code)
def test_every_lint_rule_shows_a_bad_example(rule):
  if rule.code != "EM003":  # a TOML file cannot hold bytes that are no UTF-8
    assert any(example.bad for example in rule.examples)
