"""benchmarks/made_up_hooks.py: rewritten files are imported alone, and their callbacks take some steps."""

import json
import subprocess
import sys

import pytest

REWRITTEN = """\
from absl import flags
import not_installed.logger as logger
from . import first_party
import tensorflow as tf
from migrator import runtime

FLAGS = flags.FLAGS
flags.DEFINE_integer("every", 2, "")


class Speed(tf.keras.callbacks.Callback):
  def __init__(self, batch_size, every_n_steps=None, every_n_secs=None, log=None):
    if (every_n_steps is None) == (every_n_secs is None):
      raise ValueError("one of them")
    self.log, self.rate = log or logger.Logger(), batch_size / 2.0

  def on_train_batch_end(self, batch, logs=None):
    loss, other = runtime.fetch(["loss", "cross_loss_ref:0"], self.model, logs)
    if runtime.global_step(self.model) % FLAGS.every == FLAGS.defined_by_first_party_step - 1:
      self.log.write("{:.3f}".format(loss + other), first_party.name)


class Upload(runtime.CheckpointSaverListener):
  def after_save(self, model, global_step):
    if global_step not in (0, 2, 4, 5):
      raise AssertionError(f"saved at {global_step}")


class Abstract(tf.keras.callbacks.Callback):
  def on_train_batch_end(self, batch, logs=None):
    self.tell()

  def tell(self):
    raise NotImplementedError()


class Concrete(Abstract):
  def tell(self):
    pass


class Stops(tf.keras.callbacks.Callback):
  def on_train_batch_end(self, batch, logs=None):
    self.model.stop_training = True


class Asks(tf.keras.callbacks.Callback):
  def on_train_batch_end(self, batch, logs=None):
    logs["loss" + str(batch)]


class Plain:
  pass


def train(loss):
  class Local(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
      loss.record(logs["loss"])
"""


@pytest.fixture(scope="module")
def answers(repository, tmp_path_factory):
  """What is said of each class, by its name; of files that cannot be imported, by theirs."""
  folder = tmp_path_factory.mktemp("made_up")
  (folder / "rewritten.py").write_text(REWRITTEN)
  (folder / "old.py").write_text(
    "import tensorflow as tf\n\ntf.contrib.layers\n\nclass A(tf.keras.callbacks.Callback):\n  pass\n"
  )
  (folder / "private.py").write_text("import tensorflow.contrib.slim\n\nclass A: pass\n")
  names = ["Speed", "Upload", "Abstract", "Stops", "Asks", "Plain", "train.Local", "Absent"]
  tasks = [("rewritten", name) for name in names] + [("old", "A"), ("private", "A")]
  lines = [
    {"path": str(folder / f"{file}.py"), "name": name, "scratch": str(folder / str(number))}
    for number, (file, name) in enumerate(tasks)
  ]
  process = subprocess.run(
    [sys.executable, str(repository / "benchmarks" / "made_up_hooks.py")],
    input="".join(json.dumps(line) + "\n" for line in lines),
    capture_output=True,
    text=True,
    check=False,
  )
  told = [json.loads(line) for line in process.stdout.splitlines()]
  assert len(told) == len(tasks), process.stderr
  return {name if file == "rewritten" else file: t for (file, name), t in zip(tasks, told)}


def test_callbacks_and_listeners_take_their_steps_with_made_up_arguments(answers):
  for name in ("Speed", "Upload", "Stops", "train.Local"):
    assert (name, answers[name]["imported"], answers[name]["stepped"]) == (name, None, None)


def test_what_is_not_installed_is_stood_in_for_and_named(answers):
  assert {"not_installed", "not_installed.logger"} <= set(answers["Speed"]["stand_ins"])


def test_a_class_that_leaves_a_method_to_others_runs_as_one_of_them(answers):
  assert answers["Abstract"]["stepped"] is None


def test_a_hook_that_fails_or_is_none_is_told_with_why(answers):
  assert answers["Asks"]["stepped"] == "KeyError: 'loss0'"
  assert answers["Plain"]["stepped"] == "TypeError: Plain is neither a callback nor a listener"
  assert answers["Absent"]["stepped"] == "LookupError: there is no Absent"


def test_tensorflow_is_never_stood_in_for(answers):
  assert answers["old"]["imported"].startswith("AttributeError: ")
  assert answers["private"]["imported"].startswith("ModuleNotFoundError: ")


def test_a_class_of_a_file_that_cannot_be_imported_is_tried_without_what_fails(answers):
  assert answers["old"]["stepped"] is None
  assert answers["private"]["stepped"] == "TypeError: A is neither a callback nor a listener"
