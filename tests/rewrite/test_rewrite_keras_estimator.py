"""Keras models that an Estimator wrapped: the model itself takes its place."""

import pytest
from helpers import codes, left_whole, run, transformed

HEAD = """
import tensorflow as tf


def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0] * 4]}, [0]))


def build_model():
    net = tf.keras.Sequential([
        tf.keras.Input([4], name="x"),
        tf.keras.layers.Dense(3, activation="softmax"),
    ])
    net.compile(optimizer=OPTIMIZER, loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return net


"""
MADE = 'e = tf.keras.estimator.model_to_estimator(build_model(), model_dir="model")\n'
TRAIN = "e.train(input_fn, max_steps=10)\n"


def program(body=TRAIN, made=MADE, optimizer='"adam"'):
  return HEAD.replace("OPTIMIZER", optimizer) + made + body


def squeezed(text):
  return " ".join(text.split())


def test_the_model_is_trained_itself():
  text = transformed(program())
  assert "e = build_model()" in text
  assert 'e, "model", head=runtime.heads.CompiledHead(), flavour="v2"' in squeezed(text)
  assert "e.fit(input_fn().map(runtime.model_inputs(e)).take(steps)" in squeezed(text).replace(
    "( ", "("
  )
  assert "estimator" not in text


def test_a_loop_takes_the_compiled_loss_and_optimizer():
  text = squeezed(transformed(program(), target="loop"))
  assert "optimizer = e.optimizer" in text
  assert "loss = e.compute_loss(features, labels, e(features, training=True))" in text
  assert "loss_fn = runtime.heads.CompiledHead()" in text


def test_weights_of_examples_go_to_the_compiled_loss():
  body = 'WORDS = ("features", "sample_weights")\n' + TRAIN
  text = squeezed(transformed(program(body), target="loop"))
  assert "e.compute_loss(features, labels, e(features, training=True), *weights)" in text


def test_the_variable_of_the_model_stays_its_name():
  made = "net = build_model()\ne = tf.keras.estimator.model_to_estimator(net, None, None, 'm')\n"
  text = transformed(program(made=made))
  assert "BackupAndRestore(\n    net," in text
  assert "    net.fit(" in text
  assert "e = net" not in text


@pytest.mark.parametrize(
  "made",
  [
    "from tensorflow.keras.estimator import model_to_estimator\n"
    "e = model_to_estimator(keras_model=build_model(), model_dir='m')\n",
    "e = tf.compat.v1.keras.estimator.model_to_estimator(build_model(), model_dir='m')\n",
  ],
)
def test_other_spellings_are_the_same(made):
  assert "BackupAndRestore(" in transformed(program(made=made))


def test_a_factory_gives_the_object_that_saves():
  made = "def make(path):\n    model = build_model()\n"
  made += (
    "    return tf.keras.estimator.model_to_estimator(keras_model=model, model_dir=path)\n\n\n"
  )
  text = transformed(program(made=made + "e = make('m')\n"))
  assert "return runtime.BackupAndRestore(\n        model,\n        path," in text
  assert "e.model.fit(" in text
  assert "runtime.model_inputs(e.model)" in text
  loop = transformed(program(made=made + "e = make('m')\n"), target="loop")
  assert "e_model = model\n" in loop


def test_evaluations_predictions_and_exports_are_of_the_model():
  body = TRAIN + "print(e.evaluate(input_fn, steps=3))\nprint(next(e.predict(input_fn)))\n"
  text = squeezed(transformed(program(body), target="loop"))
  assert "runtime.evaluate( e, loss_fn, dataset, global_step=step" in text
  assert "runtime.predict(e, dataset, loss_fn=loss_fn)" in text


def test_train_and_evaluate_takes_it():
  body = "spec = tf.estimator.TrainSpec(input_fn, max_steps=10)\n"
  body += "evals = tf.estimator.EvalSpec(input_fn, steps=None)\n"
  body += "tf.estimator.train_and_evaluate(e, spec, evals)\n"
  for target in ("fit", "loop"):
    assert "runtime.Evaluation(" in transformed(program(body), target=target)


def test_a_model_in_a_file_is_loaded():
  made = "e = tf.keras.estimator.model_to_estimator(keras_model_path='m.h5', model_dir='m')\n"
  result = run(program(made=made))
  assert "e = tf.keras.models.load_model('m.h5')" in result.text
  assert "EM290" in codes(result)


def test_names_of_metrics_are_handed_on():
  made = MADE.replace(
    'model_dir="model"', 'model_dir="model", metric_names_map={"accuracy": "hits"}'
  )
  assert 'CompiledHead(metric_names_map={"accuracy": "hits"})' in transformed(program(made=made))


@pytest.mark.parametrize(
  "optimizer, written",
  [
    ('"adam"', '"adam"'),
    ("tf.keras.optimizers.Adam(0.01)", "tf.keras.optimizers.Adam(0.01)"),
    ("tf.keras.optimizers.legacy.Adam(0.01)", "tf.keras.optimizers.Adam(0.01, epsilon=1e-7)"),
    ("tf.keras.optimizers.Adam(lr=0.01)", "tf.keras.optimizers.Adam(0.01, epsilon=1e-7)"),
    ("tf.keras.optimizers.legacy.SGD(0.1)", "tf.keras.optimizers.SGD(0.1)"),
  ],
)
def test_optimizers_get_todays_name(optimizer, written):
  assert f"optimizer={written}," in transformed(program(optimizer=optimizer))


def test_an_optimizer_in_a_variable_is_rewritten_where_it_is_made():
  text = program(optimizer="opt").replace(
    "    net.compile", "    opt = tf.keras.optimizers.legacy.SGD(0.1)\n    net.compile"
  )
  text = transformed(text)
  assert "opt = tf.keras.optimizers.SGD(0.1)" in text
  assert "optimizer=opt," in text


def test_an_optimizer_of_tf_train_keeps_its_rule_and_its_slots():
  optimizer = "tf.compat.v1.train.AdagradOptimizer(0.1)"
  text = squeezed(transformed(program(optimizer=optimizer)))
  assert 'flavour="v1"' in text
  assert "optimizer=tf.keras.optimizers.Adagrad(0.1, epsilon=0.0)" in text


def test_rows_that_are_looked_up_need_the_exact_optimizer():
  text = program(optimizer="tf.keras.optimizers.legacy.Adagrad(0.1)")
  text = text.replace(
    "tf.keras.layers.Dense(3", "tf.keras.layers.Embedding(9, 2), tf.keras.layers.Dense(3"
  )
  assert "optimizer=runtime.optimizers.Adagrad(0.1" in transformed(text)


def test_a_decay_that_keras_3_would_ignore_is_refused():
  optimizer = "tf.keras.optimizers.legacy.Adam(0.1, decay=0.01)"
  left_whole(program(optimizer=optimizer), "EM211")


def test_a_model_of_another_module_is_reported():
  text = program(made="import models\ne = tf.keras.estimator.model_to_estimator(models.build())\n")
  assert "EM290" in codes(run(text))


def test_other_models_of_the_file_are_left_alone():
  other = "b = tf.keras.Sequential()\nb.compile(tf.keras.optimizers.legacy.Adam(0.5), 'mse')\n"
  assert "legacy.Adam(0.5)" in run(program(TRAIN + other)).text


@pytest.mark.parametrize("use, reported", [("net.save('m')", True), ("net.summary()", False)])
def test_a_later_use_of_the_model_is_reported(use, reported):
  made = "net = build_model()\ne = tf.keras.estimator.model_to_estimator(net, model_dir='m')\n"
  assert ("EM291" in codes(run(program(TRAIN + use + "\n", made)))) == reported


def test_what_keras_3_refuses_in_a_model_is_reported():
  text = program().replace("Dense(3,", "Dense(3, batch_input_shape=(None, 4),")
  assert "EM292" in codes(run(text))
  assert "EM292" not in codes(run(program()))


def test_the_key_of_the_accuracy_in_tf1_is_reported():
  assert "EM293" in codes(run(program(), source_version=1))
  assert "EM293" not in codes(run(program(), source_version=2))


@pytest.mark.parametrize(
  "argument, version, kept",
  [
    ("", 2, 5),
    ("", 1, 2),
    (', checkpoint_format="saver"', 2, 2),
    (', checkpoint_format="checkpoint"', 1, 5),
  ],
)
def test_the_number_of_checkpoints_that_applied_is_written_out(argument, version, kept):
  made = "c = tf.estimator.RunConfig(model_dir='m', keep_checkpoint_max=2)\n"
  made += f"e = tf.keras.estimator.model_to_estimator(build_model(), config=c{argument})\n"
  result = run(program(made=made), source_version=version)
  assert f"keep_checkpoint_max={kept}," in result.text
  assert ("EM294" in codes(result)) == (kept == 5)


@pytest.mark.parametrize(
  "argument, code",
  [
    ("export_outputs={'y': tf.estimator.export.PredictOutput}", "EM208"),
    ("checkpoint_format=name()", "EM208"),
    ("config=tf.estimator.RunConfig(train_distribute=strategy)", "EM107"),
  ],
)
def test_what_is_not_carried_over_leaves_it_whole(argument, code):
  made = f"e = tf.keras.estimator.model_to_estimator(build_model(), {argument})\n"
  left_whole(program(made=made), code)


def test_added_metrics_leave_it_whole():
  body = "e = tf.estimator.add_metrics(e, more)\n" + TRAIN
  left_whole(program("def more(labels):\n    return {}\n\n\n" + body), "EM209")


def test_recurrent_layers_with_tf1s_defaults_are_reported():
  text = program().replace("Dense(3,", "LSTM(3,")
  assert "EM295" in codes(run(text, source_version=1))
  assert "EM295" not in codes(run(text, source_version=2))
  given = text.replace("LSTM(3,", 'LSTM(3, recurrent_activation="sigmoid",')
  assert "EM295" not in codes(run(given, source_version=1))
