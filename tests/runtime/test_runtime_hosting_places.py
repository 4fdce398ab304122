"""A ModelFn without a TPU, in a cluster of one, and its exports of what the old program left."""

import json
import os
import shutil

import evaluation_sessions
import export_sessions
import hosted_services
import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime

v1 = tf.compat.v1


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
  """The directory of a program that has been trained, with its checkpoints where the old program had them."""
  directory = tmp_path_factory.mktemp("trained")
  make(directory).train(hosted_services.input_fn(), max_steps=3)
  for path in (directory / "tf2").iterdir():
    shutil.move(path, directory / path.name)
  (directory / "tf2").rmdir()
  return directory


def make(directory, **arguments):
  """Returns the model of the sessions."""
  api = hosted_services.runtime_api()
  return runtime.ModelFn(
    hosted_services.classifier(api),
    os.fspath(directory),
    hosted_services.run_config(api),
    **arguments,
  )


def receiver_fn():
  return evaluation_sessions.serving_input_fn(runtime.export)


def test_the_checkpoint_of_the_old_program_is_exported_and_loads_in_tf2(trained, tmp_path):
  path = os.fsdecode(make(trained).export_savedmodel(os.fspath(tmp_path), receiver_fn()))
  loaded = tf.saved_model.load(path)
  served = loaded.signatures["serving_default"](tf.constant(export_sessions.requests()["string"]))
  expected = list(
    make(trained).predict(
      lambda: tf.data.Dataset.from_tensors({"x": export_sessions.requests()["x"]})
    )
  )
  np.testing.assert_allclose(
    served["probabilities"].numpy(), [row["probabilities"] for row in expected], rtol=1e-6
  )
  assert not (trained / "tf2").exists()


def test_an_export_of_another_network_names_what_the_checkpoint_lacks(trained, tmp_path):
  def other(features, mode):
    logits = hosted_services.network(features["x"]) * v1.get_variable("scale", [])
    return runtime.EstimatorSpec(mode, predictions=logits)

  with pytest.raises(runtime.CheckpointError, match="scale: not in the checkpoint"):
    runtime.ModelFn(other, os.fspath(trained)).export_saved_model(
      os.fspath(tmp_path), receiver_fn()
    )


def test_without_a_checkpoint_the_one_to_warm_start_from_is_exported(trained, tmp_path):
  model = make(tmp_path / "new", warm_start_from=os.fspath(trained))
  path = os.fsdecode(model.export_saved_model(os.fspath(tmp_path / "export"), receiver_fn()))
  values = tf.train.load_checkpoint(os.path.join(path, "variables", "variables"))
  np.testing.assert_array_equal(
    values.get_tensor("net/kernel"), make(trained).get_variable_value("net/kernel")
  )


@pytest.mark.parametrize(("task", "evaluations"), [("master", [2, 3]), ("chief", [])])
def test_the_only_task_of_a_cluster_trains_and_evaluates_if_it_is_the_master(
  tmp_path, monkeypatch, task, evaluations
):
  monkeypatch.setenv(
    "TF_CONFIG", json.dumps({"cluster": {task: ["a:1"]}, "task": {"type": task, "index": 0}})
  )
  api = hosted_services.runtime_api()
  model = runtime.ModelFn(
    hosted_services.classifier(api),
    os.fspath(tmp_path),
    hosted_services.run_config(api, save_checkpoints_steps=2),
  )
  result = runtime.train_and_evaluate(
    model,
    runtime.TrainSpec(hosted_services.input_fn(), 3),
    runtime.EvalSpec(hosted_services.input_fn(1), throttle_secs=0),
  )
  assert result is None
  assert model.global_step == 3
  losses = evaluation_sessions.evaluated(os.fspath(tmp_path)).get("eval", [])
  assert [step for step, _ in losses] == evaluations


def test_a_cluster_of_several_workers_is_refused(monkeypatch):
  cluster = {"chief": ["a:1"], "worker": ["b:1"]}
  task = {"type": "worker", "index": 0}
  monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))
  with pytest.raises(ValueError, match="cluster of 2 tasks"):
    runtime.RunConfig()


def test_a_cross_shard_optimizer_does_what_the_optimizer_inside_does():
  def weights(wrap):
    with tf.Graph().as_default(), v1.Session() as session:
      variable = v1.get_variable("w", initializer=[1.0, 2.0])
      optimizer = wrap(v1.train.AdamOptimizer(0.1))
      step = v1.train.create_global_step()
      train = optimizer.minimize(tf.reduce_sum(variable**2), step)
      session.run(v1.global_variables_initializer())
      for _ in range(3):
        session.run(train)
      assert optimizer.get_slot_names() == ["m", "v"]
      assert optimizer.get_slot(variable, "m").op.name == "w/Adam"
      assert len(optimizer.variables()) == 4
      return sorted(v.op.name for v in v1.global_variables()), session.run([variable, step])

  names, values = weights(lambda inner: inner)
  wrapped_names, wrapped = weights(runtime.tpu.CrossShardOptimizer)
  assert wrapped_names == names
  np.testing.assert_array_equal(wrapped[0], values[0])
  assert wrapped[1] == values[1] == 3


def test_a_cross_shard_optimizer_refuses_what_the_real_one_refuses():
  inner = v1.train.GradientDescentOptimizer(0.1)
  for error, arguments in (
    (ValueError, (inner, "none")),
    (TypeError, (tf.keras.optimizers.SGD(0.1),)),
  ):
    for optimizer in (v1.tpu.CrossShardOptimizer, runtime.tpu.CrossShardOptimizer):
      with pytest.raises(error):
        optimizer(*arguments)
  with pytest.raises(ValueError, match="permutation"):
    runtime.tpu.CrossShardOptimizer(inner, group_assignment=[[0, 1]])


def test_a_session_on_a_tpu_is_refused_with_the_way_out():
  for arguments in ({"master": "grpc://a:1"}, {"evaluation_master": "b"}, {"cluster": object()}):
    with pytest.raises(ValueError, match=r"leave .* out"):
      runtime.tpu.RunConfig(**arguments)
  assert runtime.tpu.RunConfig(master="", evaluation_master=None).master == ""


def test_what_a_tpu_would_run_is_refused_with_the_way_out(tmp_path):
  def model_fn(features, labels, mode, params):
    raise AssertionError("not called")

  def make_tpu(**arguments):
    config = runtime.tpu.RunConfig(model_dir=os.fspath(tmp_path))
    return runtime.TPUModelFn(model_fn, config=config, train_batch_size=2, **arguments)

  model = make_tpu()
  calls = (
    lambda: model.train(lambda params: None, max_steps=1),
    lambda: model.evaluate(lambda params: None),
    lambda: next(model.predict(lambda params: None)),
  )
  for call in calls:
    with pytest.raises(RuntimeError, match="Pass use_tpu=False"):
      call()
  with pytest.raises(ValueError, match="embedding_config_spec"):
    make_tpu(embedding_config_spec=3)
  with pytest.raises(ValueError, match="does not include params"):
    make_tpu(use_tpu=False).train(lambda: None, max_steps=1)


def test_train_and_evaluate_refuses_what_is_no_model_and_no_specification(trained):
  train, evaluation = runtime.TrainSpec(len), runtime.EvalSpec(len)
  with pytest.raises(TypeError, match="`estimator` must have type"):
    runtime.train_and_evaluate(object(), train, evaluation)
  with pytest.raises(TypeError, match="`train_spec` must have type"):
    runtime.train_and_evaluate(make(trained), evaluation, evaluation)
  with pytest.raises(TypeError, match="`eval_spec` must have type"):
    runtime.train_and_evaluate(make(trained), train, train)
