"""Savers and steps of hosted programs that are of another kind than those that the Estimator makes."""

import functools

import hosted_programs
import hosted_sessions
import numpy as np
import pytest
import tensorflow as tf
from observed import steps_on_disk

from migrator import runtime

v1 = tf.compat.v1


def make(directory, model_fn=hosted_programs.linear, **arguments):
  """Returns a model."""
  config = runtime.RunConfig(tf_random_seed=1, save_checkpoints_steps=2)
  params = {"api": hosted_sessions.runtime_api()}
  return runtime.ModelFn(model_fn, str(directory), config, params, **arguments)


def receiver_fn():
  x = v1.placeholder(tf.float32, [None, 3])
  return runtime.export.ServingInputReceiver({"x": x}, {"x": x})


def by_objects(features, labels, mode, params):
  """A straight line whose checkpoints are by the names of objects."""
  line = tf.Module()
  line.weights = tf.Variable(np.zeros((3, 1), np.float32), name="weights")
  step = v1.train.get_global_step()
  scaffold = v1.train.Scaffold(saver=tf.train.Checkpoint(step=step, line=line))
  value = tf.matmul(features["x"], line.weights)
  if mode == runtime.ModeKeys.PREDICT:
    return runtime.EstimatorSpec(mode, predictions=value, scaffold=scaffold)
  loss = tf.reduce_mean(tf.square(value - labels))
  train_op = v1.train.GradientDescentOptimizer(0.1).minimize(
    loss, global_step=step, var_list=[line.weights]
  )
  return runtime.EstimatorSpec(mode, loss=loss, train_op=train_op, scaffold=scaffold)


def test_a_checkpoint_in_the_place_of_a_saver_saves_to_the_new_place_too(tmp_path):
  model = make(tmp_path / "m", by_objects)
  model.train(hosted_programs.linear_input, max_steps=3)
  model.train(hosted_programs.linear_input, max_steps=5)
  assert not list((tmp_path / "m").glob("*ckpt*"))
  assert steps_on_disk(tmp_path / "m" / "tf2") == [0, 2, 3, 5]
  key = "line/weights/.ATTRIBUTES/VARIABLE_VALUE"
  trained = model.get_variable_value(key)
  rows = model.predict(lambda: tf.data.Dataset.from_tensors({"x": np.eye(3, dtype=np.float32)}))
  np.testing.assert_allclose(list(rows), trained, rtol=1e-6)
  path = model.export_saved_model(str(tmp_path / "export"), receiver_fn)
  served = tf.saved_model.load(path.decode()).signatures["serving_default"](tf.eye(3))
  np.testing.assert_allclose(served["output"], trained, rtol=1e-6)


class Restoring(v1.train.SessionRunHook):
  """Begins with weights of elsewhere."""

  def __init__(self, path, **arguments):
    self._path = path
    self._arguments = arguments

  def begin(self):
    self._wanted = [v for v in v1.global_variables() if v.op.name == "weights"]
    self.saver = v1.train.Saver(self._wanted, **self._arguments)
    self.without = v1.train.Saver([], allow_empty=True)

  def after_create_session(self, session, coord):
    self.without.restore(session, self._path)
    self.saver.restore(session, self._path)
    (self.begun,) = session.run(self._wanted)


@pytest.mark.parametrize(
  ("shape", "written", "read"),
  [
    ((3, 1), {"write_version": 1}, {}),
    ((3, 1), {"write_version": 1, "sharded": True}, {}),
    ((1, 3), {}, {"reshape": True}),
  ],
)
def test_a_hook_restores_what_its_own_saver_can_read(tmp_path, shape, written, read):
  values = np.arange(3, dtype=np.float32).reshape(shape)
  with tf.Graph().as_default(), v1.Session() as session:
    v1.get_variable("weights", initializer=values)
    session.run(v1.global_variables_initializer())
    path = v1.train.Saver(**written).save(session, str(tmp_path / "weights.ckpt"))
  hook = Restoring(path, **read)
  make(tmp_path / "m").train(hosted_programs.linear_input, [hook], steps=1)
  assert hook.begun.ravel().tolist() == [0, 1, 2]


def test_a_listener_that_a_hook_has_already_is_told_once(tmp_path):
  told = []
  listener = hosted_sessions.Listener("once", told)
  hook = v1.train.CheckpointSaverHook(str(tmp_path), save_steps=2, listeners=[listener])
  model = make(tmp_path)
  model.train(hosted_programs.linear_input, [hook], steps=2, saving_listeners=[listener])
  once = list(told)
  told.clear()
  make(tmp_path / "other").train(hosted_programs.linear_input, steps=2, saving_listeners=[listener])
  assert once == told


def test_an_export_without_a_checkpoint_takes_the_newest_of_the_place_to_warm_start_from(tmp_path):
  source = make(tmp_path / "source")
  source.train(hosted_programs.linear_input, max_steps=2)
  model = make(tmp_path / "m", warm_start_from=str(tmp_path / "source"))
  path = model.export_saved_model(str(tmp_path / "export"), receiver_fn).decode()
  exported = tf.train.load_variable(path + "/variables/variables", "weights")
  np.testing.assert_array_equal(exported, source.get_variable_value("weights"))


def test_a_wrapper_of_an_input_fn_gets_what_the_estimator_passed_to_it(tmp_path):
  got = []

  def input_fn(mode="of its own", *, params=None):
    got.append((mode, params))
    return hosted_programs.linear_input()

  @functools.wraps(input_fn)
  def wrapper(*args, **kwargs):
    return input_fn(*args, **kwargs)

  make(tmp_path).train(wrapper, steps=1)
  make(tmp_path).train(input_fn, steps=1)
  assert got == [("of its own", None), ("train", None)]


@pytest.fixture
def references():
  """Variables are those of TF1, as after `disable_v2_behavior`."""
  v1.disable_resource_variables()
  yield
  v1.enable_resource_variables()


def test_a_program_for_a_tpu_reads_its_step_before_it_moves_also_with_variables_of_tf1(
  references, tmp_path
):
  seen = []

  def model_fn(features, labels, mode, params):
    weights = v1.get_variable("weights", [3, 1])
    step = v1.train.get_global_step()
    shown = tf.reshape(step, [1])
    loss = tf.reduce_mean(tf.square(tf.matmul(features["x"], weights) - labels))
    with tf.control_dependencies([shown]):
      train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)

    def host(step):
      with tf.control_dependencies([train_op]):
        return [tf.numpy_function(lambda value: seen.append(int(value[0])), [step], [])]

    return runtime.tpu.TPUEstimatorSpec(
      mode, loss=loss, train_op=train_op, host_call=(host, [shown])
    )

  model = runtime.TPUModelFn(
    model_fn, config=runtime.tpu.RunConfig(model_dir=str(tmp_path)), use_tpu=False
  )
  model.train(lambda params: hosted_programs.linear_input(), max_steps=3)
  assert seen == [0, 1, 2]


def test_a_sliced_input_is_refused_by_evaluations_only(tmp_path):
  def model_fn(features, mode, params):
    step = v1.train.get_global_step()
    return runtime.EstimatorSpec(mode, loss=tf.constant(1.0), train_op=step.assign_add(1))

  def input_fn(params):
    return tf.data.Dataset.from_tensors(1.0)

  sliced = runtime.tpu.TPUConfig(eval_training_input_configuration=5)
  config = runtime.tpu.RunConfig(model_dir=str(tmp_path), tpu_config=sliced)
  model = runtime.TPUModelFn(model_fn, config=config, use_tpu=False)
  model.train(input_fn, steps=1)
  assert model.global_step == 1
  with pytest.raises(ValueError, match="SLICED mode only works on use_tpu = True"):
    model.evaluate(input_fn, steps=1)
