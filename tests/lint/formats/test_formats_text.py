"""The text for people: the line of source, its carets, colors."""

import pytest
from findings import MESSAGE, finding, unreadable

from migrator.analysis.span import Span
from migrator.lint import formats, rules
from migrator.lint.formats import colors
from migrator.lint.formats.text import excerpt


def _lines(found, **options):
  return formats.render("text", [found], formats.Options(**options)).splitlines()


def _underlined(source, start, end, room=200):
  """The text that stands over the carets, and all of the line."""
  line, before, count = excerpt(source, start, end, room)
  return line[before : before + count], line


def test_the_source_stands_below_the_message_with_carets_under_the_place():
  assert formats.render("text", [finding()]) == (
    f"src/a.py:2:9: EM401 {MESSAGE}\n"
    "  |\n"
    "2 | saver = tf.compat.v1.train.Saver()\n"
    "  |         ^^^^^^^^^^^^^^^^^^^^^^^^\n"
    f"  = instead: {rules.load()['EM401'].became}\n"
    "\n"
  )


def test_what_to_write_instead_is_said_once_for_each_rule_and_not_beside_a_replacement():
  found = [
    finding(code="EM402", replacement="x"),
    finding(code="EM402"),
    finding(),
    finding(code="EM402"),
  ]
  lines = formats.render("text", found).splitlines()
  assert [line[:13] for line in lines if line.startswith("  =")] == [
    "  = becomes: ",
    "  = instead: ",
    "  = instead: ",
  ]


def test_no_findings_are_no_text():
  assert [formats.render(name, []) for name in ("text", "concise", "github")] == ["", "", ""]


def test_a_finding_without_source_is_its_line_alone():
  assert _lines(unreadable()) == ["src/old.py:3:2: EM001 The file cannot be parsed.", ""]


def test_a_place_of_several_lines_is_marked_to_the_end_of_the_first():
  lines = _lines(finding(span=Span(12, 8, 15, 1), source="saver = Saver(  "))
  assert lines[2:4] == ["12 | saver = Saver(", "   |         ^^^^^^ ... to line 15"]


def test_a_replacement_is_shown():
  lines = _lines(finding(replacement="tf.train.Checkpoint"))
  assert lines[4] == "  = becomes: tf.train.Checkpoint"
  lines = _lines(finding(replacement="Checkpoint(\n  model=model)"))
  assert lines[4] == "  = becomes: Checkpoint( ..."


def test_a_cell_of_a_notebook_is_named():
  assert _lines(finding(path="n.ipynb", cell=3))[0].startswith("n.ipynb:cell 3:2:9: EM401 ")


def test_tabs_become_spaces_and_the_carets_stay_below():
  line, before, count = excerpt("\tif 1:\tx = Saver()", 11, 16, 200)
  assert line == "    if 1:   x = Saver()"
  assert line[before : before + count] == "Saver"


def test_wide_characters_take_two_columns_and_combining_ones_none():
  _, before, count = excerpt('名 = "e\u0301"; Saver()', 10, 15, 200)
  assert before == len("nn = 'e'; ")
  assert count == 5
  assert excerpt("名前", 1, 2, 200)[1:] == (2, 2)


def test_characters_that_would_move_the_cursor_are_escaped():
  found, line = _underlined("a = '\x1b[2J\r'; Saver()", 13, 18)
  assert found == "Saver"
  assert line == "a = '\\x1b[2J\\r'; Saver()"


@pytest.mark.parametrize("start", [0, 40, 50, 450, 899, 980])
def test_of_a_long_line_the_part_around_the_place_stays(start):
  source = "".join(chr(ord("a") + i % 26) for i in range(1000))
  found, line = _underlined(source, start, start + 12, room=60)
  assert found == source[start : start + 12]
  assert 50 <= len(line) <= 60
  assert line.startswith("...") == (start > 40)
  assert line.endswith("...") == (start < 980)


def test_of_a_very_long_line_only_what_is_near_the_place_is_looked_at():
  class Line(str):
    def __iter__(self):
      pytest.fail("all of it was looked at")

    def rstrip(self):
      return self

  line = Line("1, " * 100_000 + "tf.train.Saver()" + ", 1" * 100_000)
  marked, shown = _underlined(line, 300_000, 300_016, room=60)
  assert marked == "tf.train.Saver()"
  assert shown.startswith("...") and shown.endswith("...")
  assert len(shown) <= 60


def test_a_place_longer_than_the_line_is_cut_with_it():
  found, line = _underlined("x" * 1000, 10, 900, room=60)
  assert found == "x" * 54
  assert line == "..." + "x" * 54 + "..."


def test_a_place_at_or_behind_the_end_has_one_caret():
  assert excerpt("abc", 3, 4, 200) == ("abc", 3, 1)
  assert excerpt("abc", 9, 9, 200) == ("abc", 3, 1)
  assert excerpt("ab" * 500, 1000, 1001, 60)[2] == 1


def test_colors_change_nothing_but_the_colors():
  import re

  colored = formats.render("text", [finding()], formats.Options(color=True))
  assert "\033[1;31mEM401\033[0m" in colored
  assert re.sub(r"\033\[[0-9;]*m", "", colored) == formats.render("text", [finding()])
  concise = formats.render("concise", [finding()], formats.Options(color=True))
  assert re.sub(r"\033\[[0-9;]*m", "", concise) == f"{finding()}\n"


@pytest.mark.parametrize(
  ("terminal", "variables", "expected"),
  [
    (True, {"TERM": "xterm"}, True),
    (True, {}, True),
    (True, {"TERM": "dumb"}, False),
    (True, {"NO_COLOR": "1"}, False),
    (True, {"NO_COLOR": ""}, True),
    (True, {"NO_COLOR": "0", "FORCE_COLOR": "1"}, False),
    (False, {}, False),
    (False, {"FORCE_COLOR": "1"}, True),
    (False, {"FORCE_COLOR": "1", "TERM": "dumb"}, True),
    (False, {"FORCE_COLOR": "0"}, False),
    (False, {"FORCE_COLOR": ""}, False),
  ],
)
def test_who_gets_colors(terminal, variables, expected):
  assert colors.wanted(terminal, variables) is expected
