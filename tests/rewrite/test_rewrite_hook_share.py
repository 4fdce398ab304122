"""What benchmarks/hooks.py counts as rewritten, and which codes it gives to the rest."""

import importlib
import json
import sys

import pytest

BEFORE = """\
import tensorflow as tf


class Timer(tf.train.SessionRunHook):
  def before_run(self, run_context):
    self.begin_time = 0


class Feeder(tf.train.SessionRunHook):
  def before_run(self, run_context):
    return tf.train.SessionRunArgs(None, feed_dict={self.rate: 0.1})
"""


@pytest.fixture(scope="module")
def hooks(repository):
  sys.path.insert(0, str(repository / "benchmarks"))
  yield importlib.import_module("hooks")
  sys.path.remove(str(repository / "benchmarks"))


@pytest.fixture
def outcomes(hooks, tmp_path):
  """What becomes of the hooks of `BEFORE`, by their names, and where the new file is."""
  (tmp_path / "corpus" / "owner+name").mkdir(parents=True)
  (tmp_path / "corpus" / "owner+name" / "train.py").write_text(BEFORE)
  found, _ = hooks.hook_finder.find(tmp_path / "corpus" / "owner+name")
  results = hooks.rewrite(tmp_path / "corpus", found, tmp_path / "new")
  return {outcome.hook.name: outcome for outcome in results}


def test_a_class_that_is_a_callback_now_is_rewritten(outcomes, tmp_path):
  assert (outcomes["Timer"].rewritten, outcomes["Timer"].name) == (True, "Timer")
  assert "keras.callbacks.Callback" in (tmp_path / "new/owner+name/train.py").read_text()


def test_a_class_that_stays_has_codes_and_reasons(outcomes):
  left = outcomes["Feeder"]
  assert (left.rewritten, left.name) == (False, "")
  assert {"EM301", "EM302"} <= set(left.codes)
  assert any("feeds" in reason for reason in left.reasons)


@pytest.mark.parametrize(
  ("text", "name"),
  [
    ("class A(tf.keras.callbacks.Callback):\n  pass\n", "A"),
    ("class A(tf.train.SessionRunHook):\n  pass\n", ""),
    ("class A(Base):\n  pass\n", ""),
    ("class Base(tf.keras.callbacks.Callback):\n  pass\n\nclass A(Base):\n  pass\n", "A"),
    ("class A(runtime.CheckpointSaverListener):\n  pass\n", "A"),
    (
      "class ACallback(tf.keras.callbacks.Callback):\n  pass\n\n"
      "class A(tf.train.SessionRunHook):\n  pass\n",
      "ACallback",
    ),
    ("class A(tf.keras.callbacks.Callback):\n  # TODO(EM302): by hand\n  pass\n", ""),
    ("# TODO(EM302): by hand\nclass A(tf.keras.callbacks.Callback):\n  pass\n", ""),
    ("", ""),
  ],
)
def test_the_new_class_is_a_callback_or_listener_without_a_todo(hooks, text, name):
  assert hooks.converted(text, "A") == name


def test_a_class_is_migrated_only_if_it_is_imported_and_takes_its_steps(hooks, outcomes):
  timer = outcomes["Timer"]
  assert not timer.migrated
  timer.imported, timer.stepped = True, False
  assert not timer.migrated
  timer.stepped = True
  assert timer.migrated
  rows = {line.split(" | ")[0].strip("| "): line for line in hooks.table(outcomes.values())}
  assert rows["pure observers"] == "| pure observers | 1 | 1 | 1 | 1 | 1 | 100% | 80% |"
  assert rows["others"] == "| others | 1 | 0 | 0 | 0 | 0 | 0% |  |"
  assert rows["all"] == "| all | 2 | 1 | 1 | 1 | 1 | 50% | 50% |"


def test_hooks_of_notebooks_count_with_what_is_said_in_their_cells(hooks, tmp_path):
  head, timer, feeder = BEFORE.split("\n\n\n")
  cells = [
    {"cell_type": "code", "source": source, "metadata": {}, "outputs": []}
    for source in (head + "\n!ls", timer, feeder)
  ]
  folder = tmp_path / "corpus" / "owner+name"
  folder.mkdir(parents=True)
  (folder / "n.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
  found, _ = hooks.hook_finder.find(folder)
  new, left = hooks.rewrite(tmp_path / "corpus", found, tmp_path / "new")
  assert (new.hook.name, new.rewritten, new.name) == ("Timer", True, "Timer")
  assert "tf.keras.callbacks.Callback" in (tmp_path / "new/owner+name/n.ipynb").read_text()
  assert (left.hook.name, left.rewritten) == ("Feeder", False)
  assert "EM302" in left.codes


def test_findings_of_a_notebook_are_at_the_lines_of_its_hook_classes(hooks):
  cells = [
    {"cell_type": kind, "source": text, "metadata": {}, "outputs": []}
    for kind, text in (("code", "!ls\nx = 1"), ("markdown", "# A"), ("code", "class A:\n  y = 2"))
  ]
  raw = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}).encode()
  span = hooks.files.Span(2, 2, 2, 5)
  finding = hooks.Finding("EM301", "session-hook", "", "n.ipynb", span, "manual", cell=3)
  (found,) = hooks.in_all_cells([finding], raw, "n.ipynb")
  assert (found.cell, found.span.line) == (None, 4)
  assert hooks.in_all_cells([found], b"y = 2\n", "p.py") == [found]
