"""Files that keep their model_fn: hooks, savers and sessions are what they run in."""

import pytest

from migrator.lint import engine

HOSTED = """\
import tensorflow.compat.v1 as tf
{imports}


class Clock(tf.train.SessionRunHook):
  pass


def model_fn(features, labels, mode):
  tf.train.init_from_checkpoint("bert", {{"/": "/"}})
  saver = tf.train.Saver()
  return {runtime}.EstimatorSpec(mode, scaffold=tf.train.Scaffold(saver=saver))
"""


def _codes(text):
  return {finding.code for finding in engine.check_text(text, "a.py")}


@pytest.mark.parametrize(
  ("imports", "runtime"),
  [
    ("from migrator import runtime", "runtime"),
    ("from migrator import runtime as migrator_runtime", "migrator_runtime"),
  ],
)
def test_names_of_graphs_are_no_findings_where_the_runtime_runs_the_graph(imports, runtime):
  assert _codes(HOSTED.format(imports=imports, runtime=runtime)) == set()


@pytest.mark.parametrize(
  ("imports", "runtime"),
  [
    ("import runtime", "runtime"),
    ("from migrator import runtime", "other"),
    ("from migrator import runtime", "self.runtime"),
  ],
)
def test_they_are_findings_in_every_other_file(imports, runtime):
  assert {"EM301", "EM401", "EM404", "EM602"} <= _codes(
    HOSTED.format(imports=imports, runtime=runtime)
  )


def test_removed_names_and_faults_of_tf2_are_findings_in_a_hosted_file_too():
  text = HOSTED.format(imports="from migrator import runtime", runtime="runtime")
  text += "tf.estimator.RunConfig()\nclass A(tf.estimator.SessionRunHook):\n  pass\n"
  text += "tf.train.CheckpointManager(c, d, max_to_keep=0)\n"
  assert {"EM101", "EM301", "EM507"} <= _codes(text)
