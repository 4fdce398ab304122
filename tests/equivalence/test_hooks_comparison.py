"""The comparison of hooks finds what differs."""

import pytest
from hooks import lines, reported, table

LINES = ["counting begin", "dict after_run 4 2.500000", "counting end 5"]


def test_equal_lines_have_no_difference():
  assert lines.difference(LINES, list(LINES)) is None


def test_numbers_within_the_tolerance_have_no_difference():
  found = [LINES[0], "dict after_run 4 2.500020", LINES[2]]
  assert lines.difference(LINES, found) is None


@pytest.mark.parametrize(
  "found",
  [
    pytest.param(LINES[:2], id="a call is missing"),
    pytest.param([*LINES, "counting end 5"], id="a call is made twice"),
    pytest.param([LINES[1], LINES[0], LINES[2]], id="the order differs"),
    pytest.param([LINES[0], "dict after_run 5 2.500000", LINES[2]], id="the step differs"),
    pytest.param([LINES[0], "dict after_run 4 2.500050", LINES[2]], id="the value differs"),
    pytest.param([LINES[0], "dict after_run 4.0 2.500000", LINES[2]], id="the type differs"),
    pytest.param([LINES[0], "dict after_run 4 nan", LINES[2]], id="the value is not a number"),
  ],
)
def test_difference_is_found(found):
  assert lines.difference(LINES, found)


def test_lines_of_a_hook_are_those_that_begin_with_its_whole_name():
  assert lines.of("count", LINES) == []
  assert lines.of("counting", LINES) == [LINES[0], LINES[2]]


def test_table_has_a_row_per_cell():
  rows = table.rows("hooks_x", "  plain error\ncounting 26 -\nsaved: 0,4 0")
  assert [str(row) for row in rows] == ["x-counting-plain", "x-saved-plain", "x-saved-error"]
  assert [row.expected for row in rows] == ["26", "0,4", "0"]


def test_one_call_for_which_there_was_no_data_is_left_out():
  run = ["a before_run", "b before_run", "a after_run", "b after_run"]
  last = ["a before_run", "b before_run"]
  end = ["a end", "b end"]
  assert reported.without_last_before_run([*run, *last, *end]) == [*run, *end]
  assert reported.without_last_before_run([*run, *end]) == [*run, *end]


def test_only_the_count_in_the_end_is_left_out():
  run = ["a before_run 1", "a after_run 1", "b end 1"]
  assert reported.without_counts([*run, "a end 2"], ["a"]) == run


def test_only_the_value_that_a_hook_fetched_in_the_end_is_left_out():
  run = ["own 2.5", "final_ops 2.5", "at_end loss = 1.5"]
  assert reported.without_values_of_the_end(run) == ["own 2.5", "final_ops *", "at_end loss = *"]


def test_only_the_start_of_hooks_is_put_in_one_order():
  start = ["a begin", "b begin", "a after_create_session", "b after_create_session"]
  migrated = [start[0], start[2], start[1], start[3]]
  assert reported.begins_first([*migrated, "b end", "a end"]) == [*start, "b end", "a end"]
