"""`add_metrics`: its functions go to the evaluations, its calls go."""

import pytest
from helpers import HEAD, TRAIN, left_whole, transformed

METRICS = "def more(labels, predictions):\n    return {}\n\n\n"
NEW = "e = tf1.estimator.DNNClassifier([4], columns, 'm', n_classes=3)\n"
EVALUATE = "e.evaluate(input_fn)\n"


def program(before=METRICS, added="e = tf.estimator.add_metrics(e, more)\n", behind=""):
  return HEAD + before + NEW + added + behind + TRAIN + EVALUATE


def test_functions_are_given_to_the_backup_and_restore():
  text = transformed(program())
  assert "    metrics=[more],\n" in text
  assert "add_metrics" not in text
  assert "e = e" not in text


def test_functions_are_given_to_the_evaluation_of_the_loop():
  text = transformed(program(), target="loop")
  assert "metrics=[more]" in text[text.index("def evaluate(") :]
  assert "add_metrics" not in text


def test_several_functions_keep_their_order():
  added = (
    "e = tf.estimator.add_metrics(e, more)\ne = tf.contrib.estimator.add_metrics(e, lambda: {})\n"
  )
  assert "metrics=[more, lambda: {}]" in transformed(program(added=added))


@pytest.mark.parametrize(
  "source",
  [
    program(before="", behind="", added="e = tf.estimator.add_metrics(e, make())\n"),
    program(before="", added=METRICS + "e = tf.estimator.add_metrics(e, more)\n"),
    program(behind="more = None\n"),
  ],
)
def test_function_that_is_not_known_where_the_model_is_made_is_refused(source):
  assert "add_metrics" in left_whole(source, "EM209")
