"""Feature columns made of variables that change: each column keeps the value that it was made of."""

import pytest
from column_helpers import layers, program, result_of
from helpers import codes, transformed

_SIZES = "SIZES = {'a': 3, 'b': 4}\nlisted = []\nfor k in ['a', 'b']:\n    n = SIZES[k]\n"
_HASHED = "    listed.append(fc.indicator_column(fc.categorical_column_with_hash_bucket(k, n)))\n"
_SHIFTS = "SHIFTS = {'a': 1.0, 'b': 2.0}\nlisted = []\n"


@pytest.mark.parametrize("after", ["", "print(k, n)\n"], ids=["unread", "read"])
def test_a_variable_of_the_rounds_of_a_loop_gives_each_column_its_own_value(after):
  net = layers("listed", _SIZES + _HASHED + after)[-1]
  assert 'HashIds(3)(inputs["a"])' in net
  assert 'HashIds(4)(inputs["b"])' in net


def test_a_variable_of_the_loop_around_the_estimator_stays_a_variable():
  *top, new, train = program("listed").rstrip().split("\n")
  column = "fc.indicator_column(fc.categorical_column_with_hash_bucket('a', size))"
  body = ["size = n * 2", f"listed = [{column}]", new, train]
  text = transformed("\n".join([*top, "for n in (3, 4):", *(f"    {line}" for line in body), ""]))
  assert "HashIds(size)" in text


@pytest.mark.parametrize(
  "head",
  [
    _SHIFTS + "for k in 'ab':\n    listed.append(fc.numeric_column(k, normalizer_fn="
    "lambda x: x - SHIFTS[k]))\n",
    _SHIFTS + "listed = [fc.numeric_column(k, normalizer_fn=lambda x: x - SHIFTS[k])"
    " for k in 'ab']\n",
    _SHIFTS + "for k in 'ab':\n    m = SHIFTS[k]\n    listed.append(fc.numeric_column("
    "k, normalizer_fn=lambda x: x - m))\n",
    "m = 1.0\nlisted = [fc.numeric_column('a', normalizer_fn=lambda x: x - m)]\nm = 2.0\n",
  ],
  ids=["loop", "comprehension", "assignment in a loop", "another value later"],
)
def test_a_lambda_that_reads_a_variable_with_more_than_one_value_stays_the_programs(head):
  result = result_of("listed", head, "linear")
  assert not result.left
  assert "EM251" in codes(result)
  assert "runtime.columns.LinearFeatures(listed, " in result.text


@pytest.mark.parametrize(
  "head",
  [
    "listed = [fc.numeric_column(k, normalizer_fn=lambda x, k=k: x - len(k)) for k in ('a', 'bc')]\n",
    "def one(k, m):\n    return fc.numeric_column(k, normalizer_fn=lambda x: x - m)\n\n"
    "listed = [one(k, len(k)) for k in ('a', 'bc')]\n",
  ],
  ids=["a default", "the parameter of a function"],
)
def test_a_lambda_with_a_value_of_its_own_is_written_out(head):
  *_, logits = layers("listed", head, "linear")
  assert logits.count("Normalizer(lambda") == 2
  assert '"bc"' in logits


def test_variable_of_the_programs_columns_has_another_name_than_what_it_reads():
  head = "feature_columns = [fc.numeric_column(k) for k in read()]\n"
  text = transformed(program("feature_columns + [fc.numeric_column('z')]", head, "linear"))
  assert "all_feature_columns = feature_columns + [fc.numeric_column('z')]\n" in text
  assert "runtime.columns.inputs(all_feature_columns)" in text


@pytest.mark.parametrize(
  "head",
  [
    "KEY = 'x'\n\ndef setup():\n    global KEY\n    KEY = read()\n\nsetup()\n",
    "KEY = 'x'\nclass A:\n    def setup(self):\n        global KEY\n        KEY = 'y'\n\nA().setup()\n",
  ],
)
def test_name_of_a_feature_that_a_function_binds_anew_is_read_when_the_program_runs(head):
  result = result_of("[fc.numeric_column(KEY)]", head, "linear")
  assert "EM251" in codes(result)
  assert "fc.numeric_column(KEY)" in result.text


def test_list_of_names_that_a_method_grows_is_read_when_the_program_runs():
  grow = "KEYS = ['x']\nclass A:\n    def setup(self):\n        KEYS.append('y')\n\nA().setup()\n"
  result = result_of("[fc.numeric_column(k) for k in KEYS]", grow, "linear")
  assert "EM251" in codes(result)
