"""TensorFlow's own hooks, and hooks of evaluate and predict: real Estimator against migrated."""

import pytest
from hooks import stories, table

# What the hooks are passed to, by program and scenario: a tuple of arguments per process.
SCENARIOS = {
  "hooks_built_in": {
    "plain": [()],
    "resumed": [("--max_steps", "5"), ()],
    "input_ends": [("--rows", "70")],
    "last_step": [("--last_step", "7")],
    "last_resumed": [("--last_step", "5"), ("--last_step", "7")],
    "num_steps": [("--num_steps", "4"), ("--num_steps", "4")],
    "evaluated": [("--evaluate_every", "5")],
    "nan": [("--learning_rate", "1e30")],
    "nan_stops": [("--learning_rate", "1e30", "--nan_stops")],
  },
  "hooks_early_stopping": {
    "lower": [("--kind", "lower")],
    "higher": [("--kind", "higher")],
    "no_decrease": [("--kind", "no_decrease", "--learning_rate", "1")],
    "no_increase": [("--kind", "no_increase", "--learning_rate", "1e-5")],
    "own": [("--kind", "own")],
  },
  "hooks_evaluate": {
    "plain": [()],
    "steps": [("--eval_steps", "2", "--predictions", "12")],
    "stop": [("--eval_stop_at", "2")],
    "all_rows": [("--predictions", "100")],
    "resumed": [(), ("--max_steps", "8")],
  },
}

TABLES = {
  "hooks_built_in": """
                               plain     resumed       input_ends  last_step  last_resumed  num_steps  nan  nan_stops  evaluated
  calls                        25        26            16          15         16            18         4    4          25
  logging                      4         5             3           3          3             4          1    1          4
  formatted                    3         3             2           2          2             2          1    1          -
  at_end                       1         2             -           1          2             2          -    -          -
  own_logging                  12        12            7           7          7             8          2    2          -
  own_counter                  3         3             2           2          1             2          -    -          -
  evaluated                    -         -             -           -          -             -          -    -          4
  final_ops                    1         2             -           1          2             2          -    -          -
  profiles                     1         2             1           1          2             2          1    1          -
  loss                         1         2             1           1          2             2          1    1          -
  global_step/sec:             5         5             3           3          2             2          -    -          -
  NanLossDuringTrainingError:  -         -             -           -          -             -          1    1          -
  all:                         43        47            -           27         30            34         9    9          -
  saved:                       0,4,8,12  0,4,5,5,9,12  0,4,7       0,4,7      0,4,5,5,7     0,4,4,8    0    0          0,4,8,12
  kept:                        0,4,8,12  0,4,5,9,12    0,4,7       0,4,7      0,4,5,7       0,4,8      0    0          0,4,8,12
  resumed:                     0         0,5           0           0          0,5           0,4        0    0          0
  """,
  "hooks_early_stopping": """
               lower               higher                    no_decrease                  no_increase                own
  calls        15                  16                        20                           20                         17
  evaluation   4                   4                         4                            4                          4
  asked        -                   -                         -                            -                          7
  all:         20                  21                        25                           25                         29
  saved:       0,4,5,5,7,7,9,9,11  0,4,5,5,9,10,10,11,11,12  0,4,5,5,9,10,10,14,15,15,16  0,4,5,5,9,10,10,13,13,16   0,4,5,5,9,10,10,11,11,13
  kept:        4,5,7,9,11          5,9,10,11,12              9,10,14,15,16                5,9,10,13,16                        5,9,10,11,13
  resumed:     0,5,7,9             0,5,10,11                 0,5,10,15                    0,5,10,13                       0,5,10,11
  """,
  "hooks_evaluate": """
               plain  steps  stop   all_rows  resumed
  counter      7      7      7      8         14
  training     15     15     15     15        22
  evaluating   28     14     14     28        56
  eval_step    10     4      4      10        20
  eval_loss    12     6      6      12        24
  eval_stop    -      -      2      -         -
  metrics      2      2      2      2         4
  predicting   10     6      10     14        20
  prediction   40     12     40     45        80
  all:         125    67     101    135       242
  saved:       0,4,6  0,4,6  0,4,6  0,4,6     0,4,6,6,8
  kept:        0,4,6  0,4,6  0,4,6  0,4,6     0,4,6,8
  resumed:     0      0      0      0         0,6
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
