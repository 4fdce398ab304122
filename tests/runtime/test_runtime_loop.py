"""Loops with named_checkpoint: the stock and the runtime's manager, the data position."""

import os

import jobs
import numpy as np
import pytest
import tensorflow as tf
from migrated import Saves, make_loss, make_network, make_optimizer
from observed import listed_steps, steps_on_disk

from migrator import runtime


class Loop:
  """A migrated program with a loop of its own, as the rewrite writes it."""

  def __init__(self, job, **policy):
    self.job = job
    self.model = make_network(job)
    self.optimizer = make_optimizer(job)
    self.loss_fn = make_loss(job)
    self.checkpoint = runtime.named_checkpoint(
      self.model, self.optimizer, scope="dnn", flavour=job["flavour"]
    )
    self.step = self.checkpoint.by_name["global_step"]
    self.directory = os.path.join(job["model_dir"], "tf2")
    self.manager = runtime.CheckpointManager(
      self.checkpoint,
      self.directory,
      step_counter=self.step,
      init_fn=lambda: runtime.load_tf1_checkpoint(self.checkpoint, job["model_dir"]),
      **{**job["config"], **policy},
    )
    self._train_step = tf.function(self._step)

  def _step(self, features, labels):
    with tf.GradientTape() as tape:
      loss = self.loss_fn(labels, self.model(features, training=True))
    variables = self.model.trainable_variables
    self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    self.step.assign_add(1)
    return loss

  def train(self, batches=None, steps=None, max_steps=None, raise_at=None):
    with Saves() as saves:
      error = None
      try:
        self.manager.restore_or_initialize()
        todo = steps if max_steps is None else max_steps - int(self.step)
        if todo is None or todo > 0:
          self._loop(
            jobs.make_dataset(tf, self.job, batches).take(-1 if todo is None else todo), raise_at
          )
      except RuntimeError as e:
        error = [type(e).__name__, str(e)]
    return {
      "saved": saves.steps,
      "files": steps_on_disk(self.directory),
      "listed": listed_steps(self.directory),
      "error": error,
    }

  def _loop(self, dataset, raise_at):
    self.manager.save(checkpoint_number=self.step, check_interval=False)
    for features, labels in dataset:
      self._train_step(features, labels)
      self.manager.save(checkpoint_number=self.step)
      if int(self.step) == raise_at:
        raise RuntimeError("Interruption")
    self.manager.save(checkpoint_number=self.step, check_interval=False)

  def new(self, config=None):
    self.__init__({**self.job, "config": config or self.job["config"]})
    return {}


@pytest.mark.parametrize(
  "name",
  ["every_1", "every_3", "every_4", "chain", "keep_0", "keep_2", "interrupted_1", "interrupted_4"],
)
def test_loop_saves_at_the_cadence_of_the_estimator(legacy, tmp_path, name):
  job = legacy.job(name, tmp_path / "model")
  loop = Loop(job)
  for (kind, arguments), expected in zip(job["calls"], legacy.results(name)):
    result = getattr(loop, kind)(**arguments)
    for key in ("saved", "files", "listed", "error"):
      assert result.get(key) == expected.get(key), (kind, arguments, key)


def test_loop_goes_on_from_the_estimators_checkpoint(legacy, tmp_path):
  directory = legacy.copy("half_v1_adam_at_6", tmp_path / "model")
  loop = Loop(legacy.job("half_v1_adam", directory))
  assert loop.train(max_steps=10)["saved"] == [6, 10]
  assert steps_on_disk(directory) == [0, 6]


def test_a_policy_that_saves_nothing(tmp_path):
  loop = Loop(jobs.job(tmp_path / "model"), save_checkpoints_steps=None)
  assert loop.train(max_steps=3)["saved"] == []
  assert loop.manager.latest_checkpoint is None
  assert loop.manager.checkpoints == []


def stock_manager(loop, keep=2):
  return tf.train.CheckpointManager(
    loop.checkpoint,
    loop.directory,
    max_to_keep=keep,
    checkpoint_name="model.ckpt",
    step_counter=loop.step,
    checkpoint_interval=2,
  )


def test_the_stock_manager_and_the_runtimes_take_each_others_directory_over(tmp_path):
  job = jobs.job(tmp_path / "model", config={"save_checkpoints_steps": 2, "keep_checkpoint_max": 3})
  Loop(job).train(max_steps=6)
  loop = Loop(job)
  manager = stock_manager(loop)
  assert manager.restore_or_initialize().endswith("model.ckpt-6")
  assert int(loop.step) == 6
  assert [path.rsplit("-", 1)[1] for path in manager.checkpoints] == ["2", "4", "6"][-3:]
  loop.step.assign(8)
  manager.save(checkpoint_number=loop.step)
  assert steps_on_disk(loop.directory) == [6, 8]
  assert Loop(job).train(max_steps=10)["saved"] == [8, 10]


def test_the_stock_manager_restores_whole_or_not_at_all(tmp_path):
  """tf.train.CheckpointManager does not assert; NamedCheckpoint does."""
  job = jobs.job(tmp_path / "model")
  Loop(job).train(max_steps=2)
  loop = Loop({**job, "hidden_units": [7, 5]})
  before = [np.array(w) for w in loop.model.get_weights()]
  with pytest.raises(runtime.CheckpointError, match="hiddenlayer_0/kernel"):
    stock_manager(loop).restore_or_initialize()
  for a, b in zip(before, loop.model.get_weights()):
    np.testing.assert_array_equal(a, b)


def test_track_iterator_resumes_the_data_position(tmp_path, caplog):
  """Case 60: with --resume-data the position is in the checkpoint; by default it is not."""
  job = jobs.job(tmp_path / "model", config={"save_checkpoints_steps": 1})

  def batches(loop, steps, track):
    iterator = iter(tf.data.Dataset.range(100))
    if track:
      loop.checkpoint.track_iterator(iterator)
    loop.manager.restore_or_initialize()
    seen = []
    for _ in range(steps):
      seen.append(int(next(iterator)))
      loop.step.assign_add(1)
      loop.manager.save(checkpoint_number=loop.step)
    return seen

  assert batches(Loop(job), 2, track=False) == [0, 1]
  # The checkpoint has no position yet.
  assert batches(Loop(job), 2, track=True) == [0, 1]
  assert "no data position" in caplog.text
  assert batches(Loop(job), 3, track=True) == [2, 3, 4]
  assert batches(Loop(job), 2, track=False) == [0, 1]


def test_names_and_values_of_by_name(tmp_path):
  loop = Loop(jobs.job(tmp_path / "model", hidden_units=[6]))
  by_name = loop.checkpoint.by_name
  assert by_name["global_step"].dtype == tf.int64
  assert all(isinstance(variable, tf.Variable) for variable in by_name.values())
  layer = loop.model.get_layer("logits")
  by_name["dnn/logits/bias"].assign([1.0, 2.0, 3.0])
  np.testing.assert_array_equal(layer.get_weights()[1], [1.0, 2.0, 3.0])


def test_two_weights_of_one_name_are_refused():
  inputs = tf.keras.Input([2])
  inner = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(2, name="a")], name="m")
  model = tf.keras.Model(inputs, tf.keras.layers.Dense(3, name="logits")(inner(inputs)))
  checkpoint = runtime.named_checkpoint(model, tf.keras.optimizers.SGD(0.1))
  assert "m/a/kernel" in checkpoint.by_name
  with pytest.raises(ValueError, match="flavour must be"):
    runtime.named_checkpoint(model, tf.keras.optimizers.SGD(0.1), flavour="v3")
