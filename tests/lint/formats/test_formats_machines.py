"""json, github, gitlab and junit: what machines read."""

import json
import os

import junitparser
import pytest
from findings import MESSAGE, finding, unreadable

from migrator.analysis.span import Span
from migrator.lint import formats
from migrator.lint.formats import places


def _render(name, *findings, **options):
  return formats.render(name, findings, formats.Options(**options))


def test_json_has_the_place_the_rule_and_the_replacement():
  (found,) = json.loads(_render("json", finding(replacement="tf.train.Checkpoint")))
  url = found.pop("url")
  assert url.startswith("https://")
  assert found == {
    "code": "EM401",
    "name": "tf1-saver",
    "message": MESSAGE,
    "path": "src/a.py",
    "cell": None,
    "line": 2,
    "column": 9,
    "end_line": 2,
    "end_column": 33,
    "fix": "review",
    "replacement": "tf.train.Checkpoint",
  }


@pytest.mark.parametrize("name", ["json", "gitlab"])
def test_no_findings_are_an_empty_list(name):
  assert json.loads(_render(name)) == []


def test_a_github_annotation_escapes_what_would_end_it():
  assert _render("github", finding(path="a,b:c.py")) == (
    "::error title=EM401 tf1-saver,file=a%2Cb%3Ac.py,line=2,endLine=2,col=9,endColumn=33"
    f"::EM401 {MESSAGE.replace('%', '%25')}\n"
  )
  assert _render("github", finding(message="a\r\nb")).endswith("::EM401 a%0D%0Ab\n")


def test_a_github_annotation_of_several_lines_has_no_columns():
  text = _render("github", finding(span=Span(2, 8, 4, 1)))
  assert ",line=2,endLine=4::" in text


def test_what_works_in_every_tensorflow_is_a_warning():
  text = _render("github", finding(code="EM503", name="load-checkpoint-dropped"))
  assert text.startswith("::warning ")


def test_what_raises_in_every_tensorflow_is_an_error():
  assert _render("github", finding(code="EM102")).startswith("::error ")


def test_the_message_of_a_cell_says_which():
  cell = finding(path="n.ipynb", cell=3)
  assert "::cell 3, line 2: EM401 " in _render("github", cell)
  assert json.loads(_render("gitlab", cell))[0]["description"].endswith("(cell 3, line 2)")
  assert json.loads(_render("json", cell))[0]["cell"] == 3
  assert "(cell 3, line 2, column 9)" in _render("junit", cell)


def test_gitlab_has_what_its_report_requires():
  (found,) = json.loads(_render("gitlab", finding()))
  assert found["check_name"] == "EM401"
  assert found["description"] == f"EM401 {MESSAGE}"
  assert found["severity"] in ("info", "minor", "major", "critical", "blocker")
  assert found["location"]["path"] == "src/a.py"
  assert found["location"]["positions"]["begin"] == {"line": 2, "column": 9}


def _fingerprints(*findings):
  return [entry["fingerprint"] for entry in json.loads(_render("gitlab", *findings))]


def test_a_fingerprint_survives_moved_and_indented_lines_and_says_what_it_is_of():
  (first,) = _fingerprints(finding())
  moved = finding(span=Span(90, 12, 90, 36), source="    " + finding().source)
  assert _fingerprints(moved) == [first]
  others = [finding(path="src/b.py"), finding(source="x = Saver()"), finding(code="EM402")]
  assert len({first, *_fingerprints(*others)}) == 4


def test_equal_lines_have_fingerprints_of_their_own():
  first, second = _fingerprints(finding(), finding(span=Span(5, 8, 5, 32)))
  assert first != second
  assert _fingerprints(finding()) == [first]


def test_paths_are_relative_to_the_root_where_they_are_below_it(tmp_path, monkeypatch):
  inner = tmp_path / "project" / "src"
  inner.mkdir(parents=True)
  monkeypatch.chdir(inner)
  root = str(tmp_path / "project")
  assert places.relative_path("./a.py", root) == "src/a.py"
  assert places.relative_path(str(inner / "a.py"), root) == "src/a.py"
  outside = os.path.join("..", "..", "a.py")
  assert places.relative_path(outside, root) == str(tmp_path / "a.py")
  assert places.relative_path("<stdin>", root) == "stdin"


def test_junit_is_read_by_a_parser_of_junit(tmp_path):
  text = _render("junit", finding(), finding(code="EM402"), unreadable(), problems=["b.py: gone"])
  (tmp_path / "report.xml").write_text(text)
  report = junitparser.JUnitXml.fromfile(str(tmp_path / "report.xml"))
  assert (report.tests, report.failures, report.errors) == (4, 2, 2)
  assert [suite.name for suite in report] == ["src/a.py", "src/old.py", "not checked"]
  case = next(iter(next(iter(report))))
  assert case.name == "EM401 tf1-saver (line 2, column 9)"
  (result,) = case.result
  assert isinstance(result, junitparser.Failure)
  assert result.message == MESSAGE


def test_junit_without_findings_has_a_case_that_passes():
  report = junitparser.JUnitXml.fromstring(_render("junit").encode())
  assert (report.tests, report.failures, report.errors) == (1, 0, 0)


def test_junit_holds_characters_of_all_kinds():
  text = _render("junit", finding(message="<é & \x1b 名>", path="ä\udcff.py"))
  assert text.isascii()
  suite = next(iter(junitparser.JUnitXml.fromstring(text.encode())))
  assert suite.name == "ä\N{REPLACEMENT CHARACTER}.py"
  assert next(iter(suite)).result[0].message == "<é & \N{REPLACEMENT CHARACTER} 名>"
