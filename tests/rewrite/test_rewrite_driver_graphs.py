"""Programs that build graphs outside of their model_fn: TF2 has none there unless it is told."""

import textwrap

import pytest

from tests.rewrite.helpers import codes, run

PROGRAM = """
import tensorflow as tf

# The flags.
FLAGS = tf.app.flags.FLAGS


def model_fn(features, labels, mode):
  predictions = tf.layers.dense(features["x"], 1)
  if mode == tf.estimator.ModeKeys.PREDICT:
    return tf.estimator.EstimatorSpec(mode, predictions={"y": predictions})
  loss = tf.losses.mean_squared_error(labels, predictions)
  train_op = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
  return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
  return tf.data.Dataset.from_tensors(({"x": [[1.0] * 4]}, [[0.0]])).repeat()

{functions}

def main(_):
  estimator = tf.estimator.Estimator(model_fn, "models")
  estimator.train(input_fn, max_steps=10)
{main}


if __name__ == "__main__":
  tf.app.run()
"""
SWITCH = "tf.disable_eager_execution()"
SERVE = """
def features():
  return {"x": tf.placeholder(tf.float32, [None, 4])}


def serve():
  found = features()
  return tf.estimator.export.ServingInputReceiver(found, found)
"""


def rewritten(main, functions="", **options):
  text = PROGRAM.replace("{main}", textwrap.indent(textwrap.dedent(main), "  "))
  result = run(text.replace("{functions}", functions), **options)
  assert result.changed and not result.left, [str(f) for f in result.findings]
  return result


@pytest.mark.parametrize(
  "main",
  [
    "x = tf.placeholder(tf.float32, [None, 4])\nprint(x)",
    "with tf.Session() as session:\n  print(session.run(tf.constant(1)))",
    'writer = tf.summary.FileWriter("logs")\nwriter.close()',
  ],
)
def test_a_driver_with_a_graph_of_its_own_turns_eager_execution_off_below_the_imports(main):
  lines = rewritten(main).text.split("\n")
  place = next(i for i, line in enumerate(lines) if line.startswith(SWITCH))
  assert lines[place - 2] == "from migrator import runtime"
  assert lines[place + 2 : place + 4] == ["# The flags.", "FLAGS = tf.app.flags.FLAGS"]


@pytest.mark.parametrize("start", ["import sys\nprint(sys.path)\n", "if True:\n  TOP = 1\n"])
def test_the_switch_stands_below_the_import_of_tensorflow_where_other_things_come_first(start):
  main = "x = tf.placeholder(tf.float32, [None, 4])"
  text = start + PROGRAM.replace("{main}", f"  {main}").replace("{functions}", "")
  result = run(text)
  assert result.changed and not result.left
  lines = result.text.split("\n")
  place = next(i for i, line in enumerate(lines) if line.startswith(SWITCH))
  assert lines.index("import tensorflow.compat.v1 as tf") < place
  assert place < lines.index("FLAGS = tf.app.flags.FLAGS")


def test_a_model_fn_is_not_taken_apart_beside_graphs_and_the_finding_names_the_call():
  result = rewritten("print(tf.placeholder(tf.float32, [None]))")
  reason = next(f.message for f in result.findings if f.code == "EM234")
  assert "`tf.placeholder`" in reason
  assert {unit.target for unit in result.units} == {"hosted"}
  assert "EM234" not in codes(rewritten("print(1)"))


def test_what_functions_of_the_driver_run_is_the_drivers():
  found = rewritten("features()", SERVE, hosted=True)
  assert SWITCH in found.text


def test_functions_that_are_handed_on_get_their_graph_from_who_calls_them():
  export = 'estimator.export_saved_model("exported", serve)'
  assert SWITCH not in rewritten(export, SERVE, hosted=True).text


def test_a_graph_of_its_own_in_a_with_needs_no_switch():
  main = """
    with tf.Graph().as_default():
      x = tf.placeholder(tf.float32, [None, 4])
    with tf.Session(graph=x.graph) as session:
      print(session.run(x, {x: [[1.0] * 4]}))
  """
  assert SWITCH not in rewritten(main, hosted=True).text


def test_a_program_that_says_itself_whether_it_is_eager_is_left_alone():
  main = "tf.disable_v2_behavior()\nprint(tf.placeholder(tf.float32, [None]))"
  assert SWITCH not in rewritten(main).text


def test_a_program_that_reads_tf_config_keeps_its_model_fn_and_the_reason_says_why():
  workers = 'import os\n\nWORKERS = os.environ.get("TF_CONFIG")\n'
  result = rewritten("print(WORKERS)", workers)
  reason = next(f.message for f in result.findings if f.code == "EM234")
  assert "TF_CONFIG may ask for several workers" in reason


ITERATOR = """
def examples(files):
  data = tf.data.TextLineDataset(tf.matching_files(files)).batch(10)
  return data.make_one_shot_iterator().get_next()
"""


@pytest.mark.parametrize(
  ("main", "functions"),
  [
    ('print(examples("nothing"))', ITERATOR),
    ("print(tf.data.make_one_shot_iterator(input_fn()).get_next())", ""),
  ],
)
def test_what_a_driver_only_shows_of_a_dataset_is_read_by_nobody(main, functions):
  result = rewritten(f"{main}\n", functions, hosted=True)
  assert SWITCH in result.text
  # As such it is no reason to keep a model_fn.
  assert SWITCH not in rewritten(f"{main}\n", functions).text


def test_an_iterator_of_an_input_fn_leaves_eager_execution_on():
  main = 'estimator.evaluate(lambda: examples("data"))\n'
  assert SWITCH not in rewritten(main, ITERATOR, hosted=True).text
