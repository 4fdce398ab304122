"""Hooks that watch a training, and hooks that end it: real Estimator against migrated."""

import pytest
from hooks import stories, table

# What the hooks are passed to, by program and scenario: a tuple of arguments per process.
SCENARIOS = {
  "hooks_observers": {
    "plain": [()],
    "resumed": [("--max_steps", "5"), ()],
    "input_ends": [("--rows", "70")],
    "stop": [("--stop_at", "4")],
    "error": [("--fail_at", "5")],
  },
  "hooks_stopping": {
    "loss_below": [("--loss_below", "11")],
    "patience": [("--patience", "2")],
    "last_call": [("--last_call", "5")],
    "last_resumed": [("--last_call", "5"), ("--last_call", "3")],
    "begin": [("--fail_in", "begin")],
    "before_run": [("--fail_in", "before_run")],
    "at_step": [("--fail_at_step", "6")],
    "end": [("--fail_in", "end")],
    "data_ends": [("--data_ends_at", "5")],
    "nan": [("--learning_rate", "1e30")],
  },
}

TABLES = {
  "hooks_observers": """
                       plain     resumed        input_ends  stop  error
  first                26        28             17          10    11
  counting             26        28             -           10    11
  every_other          20        21             -           8     8
  elapsed              13        14             8           5     5
  examples_per_second  2         2              -           -     -
  rate                 2         2              1           1     1
  loss_by_position     12        12             7           4     5
  every_n              4         5              3           2     2
  dict                 12        12             7           4     5
  list                 12        12             7           4     5
  named_tuple          12        12             7           4     5
  numpy                12        12             7           4     5
  timer                3         3              2           1     1
  average              1         2              1           1     -
  attributes           1         2              1           1     -
  stop                 -         -              -           1     -
  ValueError:          -         -              -           -     1
  last                 26        28             17          10    10
  all:                 185       197            -           71    76
  saved:               0,4,8,12  0,4,5,5,9,12   0,4,7       0,4   0,4
  kept:                8,12      9,12           4,7         0,4   0,4
  resumed:             0         0,5            0           0     0
  """,
  "hooks_stopping": """
              loss_below  patience  last_call  last_resumed
  first       22          8         12         20
  last        22          8         12         20
  loss_below  1           -         -          -
  patience    -           3         -          -
  last_call   -           -         1          2
  all:        46          20        26         44
  saved:      0,4,8,10    0,3       0,4,5      0,4,5,5,8
  kept:       0,4,8,10    0,3       0,4,5      0,4,5,8
  resumed:    0           0         0          0,5
  """,
}
MORE = """
                               begin  before_run  at_step  end       data_ends  nan
  first                        1      2           15       26        12         5
  last                         -      1           14       25        11         5
  data_ends                    -      -           -        -         1          -
  RuntimeError:                1      1           1        1         -          -
  NanLossDuringTrainingError:  -      -           -        -         -          1
  all:                         3      5           31       53        25         12
  saved:                       -      0           0,4      0,4,8,12  0,4,5      0
  kept:                        -      0           0,4      0,4,8,12  0,4,5      0
  resumed:                     -      -           0        0         0          0
"""
CASES = table.cases(
  [*TABLES.items(), ("hooks_stopping", MORE)], SCENARIOS, only={"data_ends": "fit"}
)


@pytest.fixture(scope="module")
def told(tmp_path_factory, legacy_python, target_pythons):
  directory = tmp_path_factory.mktemp("hooks")
  with stories.telling(directory, legacy_python, target_pythons, SCENARIOS) as found:
    yield found


@pytest.mark.parametrize(("row", "target", "python"), CASES, indirect=["target", "python"], ids=str)
def test_hook_does_what_it_did_under_the_estimator(told, row, target, python):
  assert stories.difference(told, row, target, python) == ""
