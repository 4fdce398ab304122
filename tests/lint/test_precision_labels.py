"""The labelled places of benchmarks/labels.tsv."""

import csv
import re
from pathlib import Path

import pytest

from migrator.lint import rules

_FILE = Path(__file__).parents[2] / "benchmarks" / "labels.tsv"


@pytest.fixture(scope="module")
def rows():
  with open(_FILE, encoding="utf-8", newline="") as file:
    return list(csv.DictReader(file, delimiter="\t"))


def test_there_are_enough_places_and_uses(rows):
  assert len(rows) >= 200
  assert sum(row["codes"] != "-" for row in rows) >= 150


def test_each_place_is_labelled_once_and_with_codes_that_there_are(rows):
  places = [(row["repository"], row["path"], row["cell"], row["line"]) for row in rows]
  assert len(set(places)) == len(places)
  known = set(rules.load()) | {"-"}
  assert {code for row in rows for code in row["codes"].split(",")} <= known


def test_rows_hold_places_and_no_source_text(rows):
  for row in rows:
    assert re.fullmatch(r"[0-9a-f]{12}", row["blob"])
    assert re.fullmatch(r"\d*", row["cell"])
    assert re.fullmatch(r"[1-9]\d*", row["line"])
    assert re.fullmatch(r"[a-z0-9-]+", row["reason"])
    assert row["path"].endswith((".py", ".ipynb"))
