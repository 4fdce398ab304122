"""Evaluation against the real train_and_evaluate: when it evaluates, with what, what it exports and returns."""

import json
import os

import evaluation_sessions as sessions
import numpy as np
import pytest
import tensorflow as tf
from interpreter import HERE

from migrator import runtime

RECORDED = HERE.parents[1] / "fixtures" / "evaluations"


@pytest.fixture(scope="module")
def real():
  """What the real Estimators did."""
  return json.loads((RECORDED / "recording.json").read_text())


class Begins(tf.keras.callbacks.Callback):
  """Notes the evaluations."""

  def __init__(self, notes):
    super().__init__()
    self._notes = notes

  def on_test_begin(self, logs=None):
    self._notes.append("begin")


def make_model(weights, compiled=True):
  inputs = {"x": tf.keras.Input([3], name="x")}
  net = tf.keras.layers.Dense(4, activation="relu", name="hiddenlayer_0")(inputs["x"])
  model = tf.keras.Model(inputs, tf.keras.layers.Dense(3, name="logits")(net), name="dnn")
  names = [
    f"dnn/{layer}/{part}" for layer in ("hiddenlayer_0", "logits") for part in ("kernel", "bias")
  ]
  model.set_weights([np.array(weights[name], np.float32) for name in names])
  if compiled:
    model.compile(make_optimizer(), make_loss())
  return model


def make_optimizer():
  return tf.keras.optimizers.Adagrad(0.001, epsilon=1e-7)


def make_loss():
  return tf.keras.losses.SparseCategoricalCrossentropy(
    from_logits=True, reduction="sum_over_batch_size"
  )


def exporters_of(arguments, notes):
  return sessions.make_exporters(
    arguments.pop("exporters", []),
    runtime.export.Exporter,
    runtime.export,
    sessions.serving_input_fn(runtime.export),
    notes,
  )


def run_fit(model_dir, weights, every, arguments, notes):
  """Runs one call with `fit`; returns its evaluation."""
  max_steps, batches = arguments.pop("max_steps", None), arguments.pop("batches", None)
  model = make_model(weights)
  backup = runtime.BackupAndRestore(
    model, model_dir, variable_scope="dnn", flavour="v2", save_checkpoints_steps=every
  )
  evaluation = runtime.Evaluation(
    backup,
    sessions.evaluation_data(notes),
    callbacks=[Begins(notes)],
    exporters=exporters_of(arguments, notes),
    **arguments,
  )
  if steps := backup.remaining_steps(max_steps=max_steps):
    model.fit(
      sessions.make_data(batches=batches).take(steps),
      steps_per_epoch=-1 if steps < 0 else None,
      callbacks=[backup.with_listeners([evaluation])],
      verbose=0,
    )
  return evaluation


def run_loop(model_dir, weights, every, arguments, notes):
  """Runs one call with a loop; returns its evaluation."""
  max_steps, batches = arguments.pop("max_steps", None), arguments.pop("batches", None)
  model, optimizer, loss_fn = make_model(weights, compiled=False), make_optimizer(), make_loss()
  checkpoint = runtime.named_checkpoint(model, optimizer, scope="dnn", flavour="v2")
  step = checkpoint.by_name["global_step"]
  manager = runtime.CheckpointManager(
    checkpoint,
    os.path.join(model_dir, "tf2"),
    step_counter=step,
    save_checkpoints_steps=every,
  )

  def evaluate(dataset, steps=None, name=None, callbacks=()):
    with manager.newest():
      return runtime.evaluate(
        model,
        loss_fn,
        dataset,
        global_step=step,
        model_dir=model_dir,
        steps=steps,
        name=name,
        callbacks=callbacks,
      )

  def export_saved_model(
    export_dir_base,
    serving_input_receiver_fn,
    assets_extra=None,
    as_text=False,
    checkpoint_path=None,
  ):
    with manager.newest(checkpoint_path) as newest:
      return runtime.export_saved_model(
        model,
        loss_fn,
        export_dir_base,
        serving_input_receiver_fn,
        assets_extra=assets_extra,
        as_text=as_text,
        checkpoint_path=newest,
      )

  evaluation = runtime.Evaluation(
    evaluate,
    sessions.evaluation_data(notes),
    callbacks=[Begins(notes)],
    exporters=exporters_of(arguments, notes),
    max_steps=max_steps,
    export=export_saved_model,
    **arguments,
  )

  @tf.function
  def train_step(features, labels):
    with tf.GradientTape() as tape:
      loss = loss_fn(labels, model(features, training=True))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    step.assign_add(1)

  manager.restore_or_initialize()
  steps = -1 if max_steps is None else max_steps - int(step)
  if steps:
    model.stop_training = False
    manager.begin_session(model, [evaluation])
    manager.save()
    for features, labels in sessions.make_data(batches=batches).take(steps):
      train_step(features, labels)
      manager.save()
    manager.end_session()
  return evaluation


def assert_same_outcome(found, expected):
  for key in ("exported", "exports", "notes", "error"):
    assert found[key] == expected[key], key
  if expected["metrics"] is None:
    assert found["metrics"] is None
  else:
    assert found["metrics"] == pytest.approx(expected["metrics"], rel=1e-5)
  assert set(found["evaluated"]) == set(expected["evaluated"])
  for directory, losses in expected["evaluated"].items():
    np.testing.assert_allclose(found["evaluated"][directory], losses, rtol=1e-5)


@pytest.mark.parametrize("target", [run_fit, run_loop])
@pytest.mark.parametrize("name", sessions.PROGRAMS)
def test_evaluations_exports_and_results_are_the_estimators(real, tmp_path, name, target):
  program, model_dir = sessions.PROGRAMS[name], str(tmp_path / "model")
  for arguments, expected in zip(program["runs"], real["programs"][name]):
    notes, result, error = [], (None, None), None
    try:
      evaluation = target(model_dir, real["weights"], program["every"], dict(arguments), notes)
      result = evaluation.metrics, evaluation.export_results
    except ValueError as e:
      error = str(e)
    found = sessions.outcome(model_dir, result, notes, error)
    assert_same_outcome(json.loads(json.dumps(found)), expected)


if tf.__version__.startswith("2.15."):

  @pytest.mark.parametrize("name", ["all_input", "no_saves"])
  def test_recording_is_what_the_estimator_does(real, tmp_path, monkeypatch, name):
    monkeypatch.syspath_prepend(RECORDED)
    import make_evaluations

    found = json.loads(json.dumps(make_evaluations.run(str(tmp_path), name)))
    for one, two in zip(found, real["programs"][name]):
      assert_same_outcome(one, two)


def test_training_with_evaluations_is_the_training_without(tmp_path):
  def trained(listeners):
    tf.keras.utils.set_random_seed(3)
    inputs = {"x": tf.keras.Input([3], name="x")}
    net = tf.keras.layers.Dropout(0.5)(tf.keras.layers.Dense(9, name="hiddenlayer_0")(inputs["x"]))
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(3, name="logits")(net), name="dnn")
    model.compile(tf.keras.optimizers.Adam(0.1), make_loss())
    directory = str(tmp_path / ("with" if listeners else "without"))
    backup = runtime.BackupAndRestore(
      model, directory, variable_scope="dnn", save_checkpoints_steps=2
    )
    evaluation = runtime.Evaluation(backup, sessions.evaluation_data([]), throttle_secs=0)
    losses = []
    keep = tf.keras.callbacks.LambdaCallback(
      on_batch_end=lambda _, logs: losses.append(logs["loss"])
    )
    backup.with_listeners([evaluation] if listeners else [])
    model.fit(sessions.make_data(batches=7), callbacks=[backup, keep], verbose=0)
    return losses, model.get_weights()

  (plain, plain_weights), (losses, weights) = trained(False), trained(True)
  assert plain == losses
  for one, two in zip(plain_weights, weights):
    np.testing.assert_array_equal(one, two)


def test_other_checkpoints_are_read_for_one_call(real, tmp_path):
  model_dir = str(tmp_path)
  evaluation = run_fit(model_dir, real["weights"], 4, {"max_steps": 10, "throttle_secs": 0}, [])
  backup = evaluation._backup_or_evaluate
  assert backup.model is not None
  data = sessions.make_data(first=2, batches=4)
  # The Estimator would have written it here.
  older = os.path.join(model_dir, "model.ckpt-4")
  newest = backup.evaluate(data)
  assert newest == evaluation.metrics
  found = backup.evaluate(data, checkpoint_path=older)
  assert found["global_step"] == 4
  assert found["loss"] != newest["loss"]
  expected = [row["logits"] for row in backup.predict(data)]
  rows = backup.predict(data, checkpoint_path=older)
  logits = [next(rows)["logits"]]
  assert backup.evaluate(data) == newest
  logits += [row["logits"] for row in rows]
  assert len(logits) == len(expected)
  kernel = backup.get_variable_value("dnn/logits/kernel")
  np.testing.assert_array_equal(kernel, backup.model.get_layer("logits").kernel.numpy())
  old = tf.train.load_checkpoint(os.path.join(model_dir, "tf2", "model.ckpt-4"))
  names = {key.replace(".S", "/"): key for key in old.get_variable_to_shape_map()}
  kernels = [
    old.get_tensor(names[f"dnn/{layer}/{part}/.ATTRIBUTES/VARIABLE_VALUE"])
    for layer in ("hiddenlayer_0", "logits")
    for part in ("kernel", "bias")
  ]
  twin = make_model(real["weights"])
  twin.set_weights(kernels)
  wanted = [row for features, _ in data for row in twin(features).numpy()]
  np.testing.assert_allclose(logits, wanted, atol=1e-6)
  assert np.abs(np.array(logits) - np.array(expected)).max() > 1e-6
  assert backup.evaluate(data) == newest
  with pytest.raises(ValueError, match=r"The passed save_path is not a valid checkpoint: .*-77"):
    backup.evaluate(data, checkpoint_path=os.path.join(model_dir, "model.ckpt-77"))
  names = backup.get_variable_names()
  assert names == sorted(names)
  assert {"dnn/logits/kernel", "dnn/logits/kernel/Adagrad", "global_step"} <= set(names)
  assert not any(name.startswith(("iterations", "save_counter", "migrator")) for name in names)


def test_arguments_are_checked_as_those_of_an_eval_spec(tmp_path):
  def evaluate(dataset, steps, name):
    return {}

  exporter = runtime.export.FinalExporter("one", None)
  for error, message, arguments in (
    (ValueError, "Must specify steps > 0, given: 0", {"steps": 0}),
    (ValueError, "Must specify throttle_secs >= 0, given: -1", {"throttle_secs": -1}),
    (ValueError, "Must specify start_delay_secs >= 0, given: -1", {"start_delay_secs": -1}),
    (TypeError, "`name` must be string, given: 3", {"name": 3}),
    (TypeError, "`exporters` must be an Exporter", {"exporters": [3]}),
    (ValueError, "`exporters` must have unique names", {"exporters": [exporter, exporter]}),
    (ValueError, "need max_steps=", {"exporters": exporter}),
  ):
    with pytest.raises(error, match=message):
      runtime.Evaluation(evaluate, lambda: None, **arguments)
  with pytest.raises(TypeError, match="neither a runtime"):
    runtime.Evaluation(None, lambda: None)
  for message, arguments in (
    ("must not be None", {"compare_fn": None}),
    ("must include best_eval_result", {"compare_fn": lambda current_eval_result: True}),
    ("positive number. Got 0", {"exports_to_keep": 0}),
  ):
    with pytest.raises(ValueError, match=message):
      runtime.export.BestExporter(**arguments)
