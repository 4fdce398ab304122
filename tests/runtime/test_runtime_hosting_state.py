"""Where hosted programs keep their state, and what they say when it does not fit."""

import json
import shutil

import hosted_programs
import hosted_sessions
import numpy as np
import pytest
import tensorflow as tf
from observed import steps_on_disk

from migrator import runtime

v1 = tf.compat.v1


@pytest.fixture
def api():
  return hosted_sessions.runtime_api()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
  """The directory of a program that has trained four steps and saved in its old place, as TF1 did."""
  root = tmp_path_factory.mktemp("trained")
  api = hosted_sessions.runtime_api()
  model = make(api, root / "new", save_checkpoints_steps=2)
  model.train(hosted_programs.linear_input, max_steps=4)
  shutil.copytree(root / "new" / "tf2", root / "old")
  return root / "old"


def make(api, directory, model_fn=hosted_programs.linear, params=None, **config):
  """Returns a model."""
  config = runtime.RunConfig(tf_random_seed=1, **config)
  return runtime.ModelFn(model_fn, str(directory), config, {"api": api, **(params or {})})


def wider(features, labels, mode, params):
  """`linear` with other variables: one of another shape, and one more."""
  v1.get_variable("more", [2])
  weights = v1.get_variable("weights", [3, 2])
  bias = v1.get_variable("bias", [1], initializer=v1.zeros_initializer())
  loss = tf.reduce_mean(tf.matmul(features["x"], weights) + bias)
  train_op = v1.train.get_global_step().assign_add(1)
  return runtime.EstimatorSpec(mode, loss=loss, train_op=train_op)


def test_the_old_checkpoints_are_read_and_never_touched(api, trained, tmp_path):
  shutil.copytree(trained, tmp_path / "m")
  before = {path.name: path.read_bytes() for path in (tmp_path / "m").iterdir()}
  model = make(api, tmp_path / "m", save_checkpoints_steps=2, keep_checkpoint_max=1)
  assert model.latest_checkpoint() == str(tmp_path / "m" / "model.ckpt-4")
  model.train(hosted_programs.linear_input, max_steps=7)
  after = {path.name: path.read_bytes() for path in (tmp_path / "m").iterdir() if path.is_file()}
  assert {name: after[name] for name in before} == before
  assert steps_on_disk(tmp_path / "m" / "tf2") == [7]
  assert model.latest_checkpoint() == str(tmp_path / "m" / "tf2" / "model.ckpt-7")
  state = runtime.get_checkpoint_state(tmp_path / "m")
  assert state.model_checkpoint_path == model.latest_checkpoint()


def test_what_a_programs_own_hooks_save_to_the_old_place_goes_to_the_new_one(
  api, trained, tmp_path
):
  shutil.copytree(trained, tmp_path / "m")
  (tmp_path / "m" / "graph.pbtxt").write_text("of the old program")

  class Best(v1.train.SessionRunHook):
    def begin(self):
      self.saver = v1.train.Saver()

    def end(self, session):
      self.saved = self.saver.save(
        session, str(tmp_path / "m" / "best"), latest_filename="best_state"
      )

  best = Best()
  savers = []

  def model_fn(features, labels, mode, params):
    spec = hosted_programs.linear(features, labels, mode, params)
    savers.append(v1.train.Saver(max_to_keep=1))
    hook = v1.train.CheckpointSaverHook(str(tmp_path / "m"), save_steps=2, saver=savers[0])
    return spec._replace(training_hooks=[hook])

  model = make(api, tmp_path / "m", model_fn)
  model.train(hosted_programs.linear_input, [best], steps=3)
  names = {path.name for path in (tmp_path / "m").iterdir() if path.is_file()}
  names = {name for name in names if "tfevents" not in name}
  assert names == {path.name for path in trained.iterdir()} | {"graph.pbtxt"}
  assert (tmp_path / "m" / "graph.pbtxt").read_text() == "of the old program"
  assert best.saved == str(tmp_path / "m" / "tf2" / "best")
  assert steps_on_disk(tmp_path / "m" / "tf2") == [7]
  assert (tmp_path / "m" / "tf2" / "graph.pbtxt").exists()


def test_a_checkpoint_that_does_not_fit_is_told_in_one_error(api, trained, tmp_path):
  shutil.copytree(trained, tmp_path / "m")
  model = make(api, tmp_path / "m", wider)
  with pytest.raises(runtime.CheckpointError) as error:
    model.train(hosted_programs.linear_input, steps=1)
  message = str(error.value)
  assert "more: not in the checkpoint, [2] in the program" in message
  assert "weights: [3, 1] in the checkpoint, [3, 2] in the program" in message
  assert "model.ckpt-4" in message
  assert not (tmp_path / "m" / "tf2").exists()


def test_an_old_program_that_has_gone_on_is_told(api, trained, tmp_path):
  shutil.copytree(trained, tmp_path / "m")
  model = make(api, tmp_path / "m")
  model.train(hosted_programs.linear_input, max_steps=5)
  state = tmp_path / "m" / "tf2"
  for path in state.iterdir():
    if "-5." in path.name:
      shutil.copy(path, tmp_path / "m" / path.name)
    if "model.ckpt" in path.name and "-5." in path.name:
      path.unlink()
  (tmp_path / "m" / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-5"\n')
  (state / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-4"\n')
  for call in (
    lambda: model.train(hosted_programs.linear_input, steps=1),
    lambda: model.evaluate(hosted_programs.linear_input, 1),
    lambda: runtime.latest_checkpoint(tmp_path / "m"),
  ):
    with pytest.raises(runtime.CheckpointError, match="the old program was run again in between"):
      call()


def test_batches_are_given_one_by_one_in_a_session_that_stays_open(api, tmp_path):
  rows = list(hosted_programs.linear_input().take(7).as_numpy_iterator())
  whole = make(api, tmp_path / "whole", save_checkpoints_steps=3)
  watch = hosted_sessions.Watch()
  whole.train(hosted_programs.linear_input, [watch], max_steps=7)
  with make(api, tmp_path / "single", save_checkpoints_steps=3) as model:
    assert model.global_step == 0
    losses = [float(model.train_step(*row)) for row in rows[:5]]
    assert model.global_step == 5
    assert model.save() == str(tmp_path / "single" / "tf2" / "model.ckpt-5")
    losses += [float(model.train_step({"x": rows[5][0]["x"][:8]}, tf.constant(rows[5][1])))]
    losses += [float(model.train_step(*rows[6]))]
  np.testing.assert_allclose(losses, watch.losses, rtol=1e-6)
  assert steps_on_disk(tmp_path / "single" / "tf2") == [0, 3, 5, 6, 7]
  assert model.global_step == 7
  for name in ("weights", "bias"):
    np.testing.assert_allclose(
      model.get_variable_value(name), whole.get_variable_value(name), rtol=1e-6
    )


def dense_by_adam(features, labels, mode, params):
  """What a Keras layer called `top` and the runtime's Adam are, as a model_fn."""
  kernel = v1.get_variable("top/kernel", [3, 1], partitioner=params.get("partitioner"))
  bias = v1.get_variable("top/bias", [1], initializer=v1.zeros_initializer())
  loss = tf.reduce_mean(tf.square(tf.matmul(features["x"], kernel) + bias - labels))
  optimizer = v1.train.AdamOptimizer(0.1)
  train_op = optimizer.minimize(loss, global_step=v1.train.get_global_step())
  return runtime.EstimatorSpec(mode, loss=loss, train_op=train_op)


def split_program():
  """Returns (step function, checkpoint) of the same program without its model_fn."""
  model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1, name="top")])
  optimizer = runtime.optimizers.Adam(0.1)
  checkpoint = runtime.named_checkpoint(model, optimizer)

  def step(features, labels):
    with tf.GradientTape() as tape:
      loss = tf.reduce_mean(tf.square(model(features["x"]) - labels))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    checkpoint.by_name["global_step"].assign_add(1)
    return float(loss)

  return step, checkpoint


@pytest.mark.parametrize("parts", [None, 2])
def test_a_program_goes_from_its_model_fn_to_split_functions_and_back(api, parts, tmp_path):
  rows = list(hosted_programs.linear_input().take(12).as_numpy_iterator())
  params = {"partitioner": v1.fixed_size_partitioner(parts) if parts else None}

  def model(directory):
    return make(api, directory, dense_by_adam, params)

  with model(tmp_path / "whole") as hosted:
    whole = [float(hosted.train_step(*row)) for row in rows]
  with model(tmp_path / "m") as hosted:
    losses = [float(hosted.train_step(*row)) for row in rows[:4]]
  step, checkpoint = split_program()
  manager = runtime.CheckpointManager(
    checkpoint,
    str(tmp_path / "m" / "tf2"),
    step_counter=checkpoint.by_name["global_step"],
    keep_checkpoint_max=2,
  )
  assert manager.restore_or_initialize() == str(tmp_path / "m" / "tf2" / "model.ckpt-4")
  losses += [step(*row) for row in rows[4:8]]
  manager.end_session()
  # The older of the hosted program's is deleted with its graph.
  assert sorted(p.name for p in (tmp_path / "m" / "tf2").glob("*.meta")) == ["model.ckpt-4.meta"]
  with model(tmp_path / "m") as hosted:
    losses += [float(hosted.train_step(*row)) for row in rows[8:]]
    assert hosted.global_step == 12
  np.testing.assert_allclose(losses, whole, rtol=2e-6)


def test_an_iterator_of_checkpoints_sees_new_and_old_places(api, trained, tmp_path):
  shutil.copytree(trained, tmp_path / "m")
  timeouts = []
  seen = runtime.checkpoints_iterator(
    tmp_path / "m", timeout=0, timeout_fn=lambda: timeouts.append(1) or True
  )
  assert next(seen) == str(tmp_path / "m" / "model.ckpt-4")
  make(api, tmp_path / "m").train(hosted_programs.linear_input, max_steps=5)
  assert list(seen) == [str(tmp_path / "m" / "tf2" / "model.ckpt-5")]
  assert timeouts == [1]
  assert runtime.latest_checkpoint(tmp_path / "nowhere") is None
  steps = [runtime.load_global_step(tmp_path / name) for name in ("m", "nowhere")]
  assert runtime.load_global_step(None) == 0
  assert steps == [5, 0]


def test_a_predictions_graph_is_not_the_callers(api, trained):
  rows = make(api, trained).predict(hosted_programs.linear_input)
  others = make(api, trained).predict(hosted_programs.linear_input)
  assert next(rows) == next(others)
  assert tf.executing_eagerly()
  assert next(rows) == next(others)
  rows.close()
  others.close()


def test_a_configuration_is_that_of_one_process(monkeypatch):
  config = runtime.RunConfig("/m", tf_random_seed=3)
  assert (config.task_type, config.is_chief, config.num_worker_replicas) == ("worker", True, 1)
  assert (config.save_checkpoints_secs, config.save_checkpoints_steps) == (600, None)
  changed = config.replace(save_checkpoints_steps=5, model_dir="/n")
  assert (changed.save_checkpoints_secs, changed.save_checkpoints_steps) == (None, 5)
  assert (config.model_dir, changed.model_dir, changed.tf_random_seed) == ("/m", "/n", 3)
  alone = {"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 0}, "model_dir": "/e"}
  monkeypatch.setenv("TF_CONFIG", json.dumps(alone))
  config = runtime.RunConfig()
  assert (config.model_dir, config.task_type, config.num_ps_replicas) == ("/e", "chief", 0)
  assert config.cluster_spec.as_dict() == {"chief": ["a:1"]}
  many = {"cluster": {"chief": ["a:1"], "worker": ["b:1"]}, "task": {"type": "worker", "index": 0}}
  monkeypatch.setenv("TF_CONFIG", json.dumps(many))
  with pytest.raises(ValueError, match="a cluster of 2 tasks"):
    runtime.RunConfig()


def test_a_strategy_of_several_replicas_is_refused():
  class Two:
    num_replicas_in_sync = 2

  with pytest.raises(ValueError, match="train_distribute has 2 replicas"):
    runtime.RunConfig(train_distribute=Two())


def test_a_metric_of_keras_works_where_it_did(api, tmp_path):
  def more(mode, loss):
    metric = tf.keras.metrics.Mean(name="average")
    metric.update_state(loss)
    return {"eval_metric_ops": {"average": metric}}

  params = {"more": hosted_sessions.Uncopied(more)}
  model = make(api, tmp_path, params=params)
  if tf.__version__.startswith("2.15."):
    values = model.evaluate(hosted_programs.linear_input, 3)
    np.testing.assert_allclose(values["average"], values["loss"], rtol=1e-6)
  else:
    with pytest.raises(ValueError, match="metric of Keras 3"):
      model.evaluate(hosted_programs.linear_input, 3)
