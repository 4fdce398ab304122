"""`predict` calls its input function at once; the Estimator did at the first `next()`."""

import pytest
from helpers import codes, program, run

from migrator.lint import rules


def predicts(statement, target):
  source = program(f"import itertools\nlabels = [0]\n{statement}\n")
  result = run(source, target=target)
  assert not result.left
  return [f for f in result.findings if f.code == "EM285"], source


@pytest.mark.parametrize("target", ["fit", "loop"])
@pytest.mark.parametrize(
  "statement",
  [
    "p = e.predict(input_fn)",
    "p: object = e.predict(input_fn)",
    "p = zip(e.predict(input_fn), labels)",
    "p = itertools.islice(e.predict(input_fn), 3)",
    "p = (row['probabilities'] for row in e.predict(input_fn))",
    "p, n = e.predict(input_fn), 3",
    "def late():\n    return e.predict(input_fn)\n\n\nprint(next(late()))",
  ],
)
def test_result_that_outlives_its_statement_is_noted(statement, target):
  found, source = predicts(statement, target)
  assert [source.split("\n")[f.span.line - 1].count("e.predict(input_fn)") for f in found] == [1]
  assert rules.load()["EM285"].fix == "review"


@pytest.mark.parametrize("target", ["fit", "loop"])
@pytest.mark.parametrize(
  "statement",
  [
    "p = list(e.predict(input_fn))",
    "p = next(e.predict(input_fn))['probabilities']",
    "p = [row['probabilities'] for row in e.predict(input_fn)]",
    "p = list(zip(e.predict(input_fn), labels))",
    "p = sum(row['probabilities'][0] for row in e.predict(input_fn))",
    "for row in e.predict(input_fn):\n    print(row)",
    "for row, label in zip(e.predict(input_fn), labels):\n    print(row)",
    "first, second = e.predict(input_fn)",
  ],
)
def test_result_that_its_statement_reads_is_not(statement, target):
  found, _ = predicts(statement, target)
  assert not found


def test_other_methods_are_not_noted():
  assert "EM285" not in codes(run(program("r = e.evaluate(input_fn, steps=3)\n")))
