"""Hooks that write files, use the session or hear of saves: real Estimator against migrated."""

import pytest
from hooks import stories, table

# What the hooks are passed to, by program and scenario: a tuple of arguments per process.
SCENARIOS = {
  "hooks_files": {
    "plain": [()],
    "resumed": [("--max_steps", "6"), ()],
    "error": [("--fail_at", "6")],
    "error_resumed": [("--fail_at", "6"), ()],
  },
  "hooks_sessions": {
    "plain": [()],
    "again": [(), ()],
    "input_ends": [("--rows", "40")],
    "error": [("--fail_at", "3")],
  },
  "hooks_listeners": {
    "plain": [()],
    "resumed": [("--max_steps", "5"), ()],
    "input_ends": [("--rows", "40")],
    "stopped": [("--stop_at", "6")],
    "always": [("--stop_at", "0")],
    "error": [("--fail_at", "5")],
    "error_at_save": [("--fail_at", "6")],
  },
  "hooks_saver": {
    "plain": [()],
    "resumed": [("--max_steps", "7"), ()],
    "input_ends": [("--rows", "70")],
    "error": [("--fail_at", "7")],
    "error_at_save": [("--fail_at", "5")],
  },
}

TABLES = {
  "hooks_files": """
                 plain     resumed        error  error_resumed
  losses.csv     13        21             -      9
  heartbeat      3         4              2      4
  heartbeat.txt  1         2              1      2
  summaries      1         2              1      2
  ValueError:    -         -              1      1
  saved:         0,4,8,12  0,4,6,6,10,12  0,4    0,4,4,8,12
  kept:          0,4,8,12  0,4,6,10,12    0,4    0,4,8,12
  resumed:       0         0,6            0      0,4
  """,
  "hooks_sessions": """
                 plain      again                    input_ends  error
  training       2          4                        2           2
  all_methods    22         44                       21          17
  session_step   12         24                       11          9
  eval_step      8          16                       7           6
  steps_done     8          16                       7           6
  session_end    2          4                        2           1
  ValueError:    -          -                        -           1
  all:           55         110                      51          43
  saved:         0,4,5,5,8  0,4,5,5,8,8,12,13,13,16  0,4,4,7     0,0,3
  kept:          0,4,5,8    5,8,12,13,16             0,4,7       0,3
  resumed:       0,5        0,5,8,13                 0,4         0,0
  """,
  "hooks_listeners": """
                 plain       resumed       input_ends  stopped  always  error  error_at_save
  first          12          16            8           8        6       5      7
  last           12          16            8           8        6       5      7
  stop           -           -             -           1        2       -      -
  calls          22          24            11          14       8       11     13
  ValueError:    -           -             -           -        -       1      1
  saved:         0,3,6,9,10  0,3,5,5,8,10  0,3,4       0,3,6    0,3     0,3    0,3,6
  kept:          9,10        8,10          3,4         3,6      0,3     0,3    3,6
  resumed:       0           0,5           0           0        0       0      0
  """,
  "hooks_saver": """
               plain      resumed     input_ends  error  error_at_save
  calls        14         16          9           8      6
  listener     10         14          8           5      3
  ValueError:  -          -           -           1      1
  all:         25         32          18          15     11
  saved:       0,5,10,12  0,5,7,7,12  0,5,7       0,5    0
  kept:        10,12      7,12        5,7         0,5    0
  resumed:     0          0,7         0           0      0
  """,
}
CASES = table.cases(TABLES.items(), SCENARIOS)


@pytest.fixture(scope="module")
def told(tmp_path_factory, legacy_python, target_pythons):
  directory = tmp_path_factory.mktemp("hooks")
  with stories.telling(directory, legacy_python, target_pythons, SCENARIOS) as found:
    yield found


@pytest.mark.parametrize(("row", "target", "python"), CASES, indirect=["target", "python"], ids=str)
def test_hook_does_what_it_did_under_the_estimator(told, row, target, python):
  assert stories.difference(told, row, target, python) == ""
