"""evaluate, predict and event files against the real Estimator's."""

import jobs
import numpy as np
import pytest
import tensorflow as tf
from migrated import Migrated, make_loss, make_network, make_optimizer
from observed import described, read_events

from migrator import runtime


def assert_same_results(results, expected):
  for result, wanted in zip(results, expected):
    if "rows" in wanted:
      assert_same_rows(result["rows"], wanted["rows"])
    elif "values" in wanted:
      assert_same_values(result, wanted)
    else:
      assert result.get("error") == wanted.get("error")


def assert_same_values(result, wanted):
  assert result["keys"] == wanted["keys"]
  assert result["types"] == wanted["types"]
  for key, value in wanted["values"].items():
    assert result["values"][key] == pytest.approx(value, rel=1e-6), key


def assert_same_rows(rows, wanted):
  assert len(rows) == len(wanted)
  for row, expected in zip(rows, wanted):
    assert list(row) == list(expected)
    for key, value in expected.items():
      assert (row[key]["type"], row[key]["shape"]) == (value["type"], value["shape"]), key
      if value["type"] == "float32":
        np.testing.assert_allclose(row[key]["value"], value["value"], rtol=1e-5, atol=1e-6)
      else:
        assert row[key]["value"] == value["value"], key


@pytest.mark.parametrize("name", ["v1_adam", "v2_default"])
def test_evaluate_and_predict_on_the_estimators_directory(legacy, tmp_path, name):
  directory = legacy.copy(name, tmp_path / "model", step=30)
  job = legacy.job(name, directory)
  job["calls"] = job["calls"][1:]
  assert_same_results(Migrated(job).run(), legacy.results(name)[1:])


@pytest.mark.parametrize("name", ["v1_adam", "v2_default"])
def test_evaluate_and_predict_of_a_loop(legacy, name):
  job = legacy.job(name, "")
  model = make_network(job)
  checkpoint = runtime.named_checkpoint(
    model, make_optimizer(job), scope="dnn", flavour=job["flavour"]
  )
  runtime.load_tf1_checkpoint(checkpoint, str(legacy.directory(name) / "model.ckpt-30"))

  values = runtime.evaluate(
    model,
    make_loss(job),
    jobs.make_dataset(tf, job, 3),
    global_step=checkpoint.by_name["global_step"],
  )
  result = {
    "keys": list(values),
    "types": {key: type(value).__name__ for key, value in values.items()},
    "values": {key: float(value) for key, value in values.items()},
  }
  expected = legacy.results(name)
  assert_same_values(result, expected[1])
  rows = runtime.predict(model, jobs.make_dataset(tf, job, 1))  # The labels are ignored.
  rows = [{key: described(value) for key, value in row.items()} for row in rows]
  assert_same_rows(rows, expected[3]["rows"])


def test_labels_may_have_a_second_axis_and_features_may_be_too_many(legacy, tmp_path):
  name = "v2_default"
  job = legacy.job(name, legacy.copy(name, tmp_path / "model", step=30))

  dataset = jobs.make_dataset(tf, job, 3).map(
    lambda features, labels: (
      # float64, and a key that sorts between those of the model.
      {**{k: tf.cast(v, tf.float64) for k, v in features.items()}, "aa": 100 * features["a"]},
      labels[:, tf.newaxis],
    )
  )
  values = Migrated(job).backup.evaluate(dataset)
  assert values["loss"] == pytest.approx(legacy.results(name)[1]["values"]["loss"], rel=1e-6)


def test_only_inputs_makes_fit_ignore_other_features(legacy, tmp_path):
  """Keras 3 takes the features in their order when there are too many, without an error."""
  name = "v2_adam"
  job = legacy.job(name, legacy.copy(name, tmp_path / "model", step=0))

  migrated = Migrated(job)
  dataset = jobs.make_dataset(tf, job, 1).map(
    lambda features, labels: ({**features, "aa": 100 * features["a"]}, labels)
  )
  history = migrated.model.fit(
    dataset.map(runtime.only_inputs(migrated.model)), callbacks=[migrated.backup], verbose=0
  )
  expected = legacy.results(name)[0]["losses"][0][1]
  assert history.history["loss"] == [pytest.approx(expected, rel=1e-5)]


def test_untrained_directory_gives_initial_weights_and_a_warning(legacy, tmp_path, caplog):
  job = legacy.job("untrained", tmp_path / "model")
  migrated = Migrated(job)
  initial = [variable.numpy() for variable in migrated.backup.checkpoint.by_name.values()]
  results = migrated.run()
  expected = legacy.results("untrained")
  for result, wanted in zip(results, expected):
    assert result.keys() == wanted.keys()
    assert result.get("types") == wanted.get("types")
  assert results[0]["values"]["global_step"] == 0
  assert results[1]["values"] == expected[1]["values"]  # No data at all.
  for value, variable in zip(initial, migrated.backup.checkpoint.by_name.values()):
    assert (value == variable.numpy()).all()
  assert "Could not find trained model in model_dir" in caplog.text


def test_predict_after_an_exception_uses_the_newest_checkpoint(legacy, tmp_path):
  """Not what the model holds in memory, which is two steps ahead."""
  job = legacy.job("interrupted_4", tmp_path / "model")
  migrated = Migrated(job)
  assert migrated.train(max_steps=10, raise_at=6)["error"][0] == "RuntimeError"
  assert migrated.backup.global_step == 6
  rows = migrated.predict()["rows"]
  fresh = Migrated(job)  # As another process would.
  assert fresh.backup.global_step == 4
  assert_same_rows(rows, fresh.predict()["rows"])
  assert migrated.evaluate() == fresh.evaluate()
  assert migrated.evaluate()["values"]["global_step"] == 4
  in_memory = migrated.model.get_weights()
  assert any((a != b).any() for a, b in zip(in_memory, fresh.model.get_weights()))
  assert migrated.backup.remaining_steps(max_steps=10) == 6
  for a, b in zip(migrated.model.get_weights(), fresh.model.get_weights()):
    np.testing.assert_array_equal(a, b)


def test_evaluate_within_fit_uses_the_newest_checkpoint_and_disturbs_nothing(tmp_path):
  job = jobs.job(tmp_path / "model", config={"save_checkpoints_steps": 4})
  plain = Migrated({**job, "model_dir": str(tmp_path / "plain")})
  expected = plain.train(max_steps=10)
  migrated = Migrated(job)
  steps = []

  class Evaluate(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
      steps.append(migrated.evaluate()["values"]["global_step"])

  migrated.callbacks = [Evaluate()]
  result = migrated.train(max_steps=10)
  assert steps == [0, 0, 0, 4, 4, 4, 4, 8, 8, 8]
  assert result == expected


def test_finished_program_started_again_trains_nothing_and_evaluates_as_before(legacy, tmp_path):
  """Case 63."""
  job = legacy.job("every_3", tmp_path / "model")
  first = Migrated(job)
  first.train(max_steps=10)
  before = first.evaluate()
  second = Migrated(job)
  assert second.backup.remaining_steps(max_steps=10) == 0
  result = second.train(max_steps=10)
  assert result["saved"] == []
  assert result["losses"] == []
  assert second.evaluate() == before


def wanted_events(events):
  """Returns the events without the ones about single layers, which are not written."""
  return {
    directory: [
      row for row in rows if "dnn/" not in row[1] and (directory, row[1]) != (".", "average_loss")
    ]
    for directory, rows in events.items()
  }


@pytest.mark.parametrize("name", ["events_1", "events_3", "no_events"])
def test_event_files_have_the_estimators_tags_at_its_steps(legacy, tmp_path, name):
  job = legacy.job(name, tmp_path / "model")
  results = Migrated(job).run()
  assert wanted_events(results[-1]) == wanted_events(legacy.results(name)[-1])


def test_the_loss_in_the_event_file_is_the_steps_own(legacy, tmp_path):
  job = legacy.job("v1_adam", legacy.copy("v1_adam", tmp_path / "model", step=0))
  job["config"] = {"save_summary_steps": 1}
  migrated = Migrated(job)
  migrated.train(max_steps=4)
  migrated.events()
  paths = sorted((tmp_path / "model").glob("events.*"))
  values = [
    value.simple_value
    for path in paths
    for event in tf.compat.v1.train.summary_iterator(str(path))
    for value in event.summary.value
    if value.tag == "loss"
  ]
  expected = [loss for _, loss in legacy.results("v1_adam")[0]["losses"][:4]]
  np.testing.assert_allclose(values, expected, rtol=1e-5)


def test_what_cannot_be_evaluated_is_refused(tmp_path):
  job = jobs.job(tmp_path / "model")
  dataset = jobs.make_dataset(tf, job, 1)
  model = make_network(job)
  with pytest.raises(TypeError, match="must be a tf"):
    runtime.evaluate(model, lambda labels, logits: 0.0, dataset, global_step=0)
  with pytest.raises(ValueError, match="needs a dataset of"):
    runtime.evaluate(
      model, make_loss(job), dataset.map(lambda features, labels: features), global_step=0
    )
  with pytest.raises(ValueError, match="lacks the feature 'x'"):
    list(runtime.predict(model, dataset.map(lambda features, labels: {"y": features["x"]})))
  with pytest.raises(ValueError, match="three or more classes"):
    list(runtime.predict(make_network({**job, "classes": 1}), dataset))


def test_summary_saver_of_a_loop(legacy, tmp_path):
  name = "events_3"
  config = legacy.job(name, "")["config"]
  step = tf.Variable(0, dtype=tf.int64)
  saver = runtime.SummarySaver(str(tmp_path), step, **config)
  for start, end in ((0, 7), (7, 12)):
    step.assign(start)
    saver.on_train_begin()
    for i in range(start, end):
      step.assign_add(1)
      saver.on_train_batch_end(i, {"loss": 1.0})
    saver.on_train_end()
  tf.compat.v1.summary.FileWriterCache.clear()
  expected = wanted_events(legacy.results(name)[-1])["."]
  assert read_events(str(tmp_path))["."] == [r for r in expected if r[1] != "session_log 3"]
