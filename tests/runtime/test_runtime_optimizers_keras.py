"""The exact optimizers as Keras optimizers: types, rates, saving, loading, clipping, averages."""

import numpy as np
import optimizer_cases
import pytest
import tensorflow as tf
from optimizer_cases import CASES

from migrator import runtime
from migrator.runtime import optimizers, slots

v1 = tf.compat.v1
KINDS = [c for c in CASES if not CASES[c].schedule] + ["ftrl_beta", "adam_weight_decay"]
START = np.random.RandomState(0).rand(6, 3)
IDS = [0, 2, 2, 5]
STEPS = 5


def loss_of(rows, dense):
  return tf.reduce_sum(tf.sin(3 * rows)) + tf.reduce_sum(tf.square(dense))


def ours(optimizer, dtype="float32", steps=STEPS):
  """Returns the two variables after training: one looked up, one dense."""
  variables = [tf.Variable(START, dtype=dtype), tf.Variable(START, dtype=dtype)]

  @tf.function
  def step():
    with tf.GradientTape() as tape:
      loss = loss_of(tf.gather(variables[0], IDS), variables[1])
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))

  for _ in range(steps):
    step()
  return variables


def theirs(make, dtype="float32", steps=STEPS):
  """Returns the same after training with a TF1 optimizer."""
  with tf.Graph().as_default(), v1.Session() as session:
    table = v1.get_variable("table", initializer=tf.constant(START, dtype))
    dense = v1.get_variable("dense", initializer=tf.constant(START, dtype))
    step = v1.train.get_or_create_global_step()
    update = make(step).minimize(loss_of(tf.gather(table, IDS), dense), global_step=step)
    session.run(v1.global_variables_initializer())
    for _ in range(steps):
      session.run(update)
    return session.run([table, dense])


def tf1_maker(case):
  return lambda step: getattr(v1.train, case.tf1)(case.rate, **case.arguments)


TYPES = {
  # TF1 has no sparse RMSProp in bfloat16.
  "bfloat16": "sgd adagrad adam ftrl_shrinkage",
  "float16": "nesterov adam rmsprop_momentum rmsprop_centered adadelta",
  "float64": "sgd nesterov adagrad adam rmsprop_momentum rmsprop_centered ftrl_shrinkage adadelta",
}


TOLERANCES = {"bfloat16": 0, "float16": 1e-3, "float64": 1e-15}  # One unit in the last place.


@pytest.mark.parametrize(
  ("dtype", "name"), [(dtype, name) for dtype, names in TYPES.items() for name in names.split()]
)
def test_other_types_of_weights_are_equal_to_tf1(dtype, name):
  case = CASES[name]
  expected = theirs(tf1_maker(case), dtype)
  found = ours(optimizer_cases.make_optimizer(tf, optimizers, case), dtype)
  for value, wanted in zip(found, expected):
    assert value.dtype == wanted.dtype
    np.testing.assert_allclose(
      value.numpy().astype(float), wanted.astype(float), rtol=TOLERANCES[dtype]
    )


class Rates:
  """Learning rates other than numbers, and what TF1 programs had in their place."""

  @staticmethod
  def halved(step):
    return 0.1 / (1.0 + tf.cast(step, tf.float32))


@tf.keras.utils.register_keras_serializable(package="tests")
class Halved(tf.keras.optimizers.schedules.LearningRateSchedule):
  def __call__(self, step):
    return Rates.halved(step)

  def get_config(self):
    return {}


@tf.keras.utils.register_keras_serializable(package="tests")
def rate_of_a_function():
  return tf.constant(0.1)


@pytest.mark.parametrize(
  ("rate", "tf1_rate"),
  [
    (1, lambda step: 1.0),
    (np.float32(0.1), lambda step: 0.1),
    (Halved(), Rates.halved),
    (rate_of_a_function, lambda step: 0.1),
  ],
  ids=["integer", "numpy", "schedule", "function"],
)
def test_learning_rates_of_other_kinds(rate, tf1_rate):
  expected = theirs(lambda step: v1.train.MomentumOptimizer(tf1_rate(step), 0.9))
  for value, wanted in zip(ours(optimizers.Momentum(rate, 0.9)), expected):
    np.testing.assert_allclose(value.numpy(), wanted, rtol=1e-6)


def test_learning_rate_that_the_program_keeps_in_a_variable():
  rate = tf.Variable(0.1)
  optimizer = optimizers.GradientDescent(rate)
  weight = tf.Variable([1.0])
  step = tf.function(lambda: optimizer.apply_gradients([(tf.constant([1.0]), weight)]))
  step()
  rate.assign(0.5)
  step()
  assert weight.numpy() == pytest.approx([0.4])


def test_learning_rate_can_be_set():
  optimizer = optimizers.GradientDescent(0.1)
  weight = tf.Variable([1.0])
  optimizer.apply_gradients([(tf.constant([1.0]), weight)])
  optimizer.learning_rate = 0.5
  optimizer.apply_gradients([(tf.constant([1.0]), weight)])
  assert weight.numpy() == pytest.approx([0.4])


@pytest.mark.parametrize("name", KINDS)
def test_config_makes_the_same_optimizer(name):
  case = CASES[name]
  optimizer = optimizer_cases.make_optimizer(tf, optimizers, case)
  config = optimizer.get_config()
  assert type(optimizer).from_config(config).get_config() == config
  given = {**case.arguments, **dict([case.clip] if case.clip else [])}
  assert {argument: config[argument] for argument in given} == given


@pytest.mark.parametrize("rate", [Halved(), rate_of_a_function])
def test_config_keeps_schedules_and_functions(rate):
  optimizer = optimizers.GradientDescent(rate)
  again = optimizers.GradientDescent.from_config(optimizer.get_config())
  assert type(again._learning_rate) is type(rate)
  for value, wanted in zip(ours(again), ours(optimizers.GradientDescent(rate))):
    np.testing.assert_array_equal(value.numpy(), wanted.numpy())


def compiled(name):
  tf.keras.utils.set_random_seed(3)
  model = optimizer_cases.make_model(tf, sparse=True)
  optimizer = optimizer_cases.make_optimizer(tf, optimizers, CASES[name])
  model.compile(optimizer, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
  return model


def fit(model, data):
  parts = [np.stack(part) for part in zip(*data)]
  dataset = tf.data.Dataset.from_tensor_slices(({"ids": parts[0], "x": parts[1]}, parts[2]))
  model.fit(dataset, verbose=0)


@pytest.fixture(scope="module")
def data():
  return optimizer_cases.batches(seed=2, count=12)


@pytest.mark.parametrize(
  ("name", "way"),
  [
    ("adam_clip_ema", "keras"),
    ("adam_clip_ema", "checkpoint"),
    ("adam_weight_decay", "keras"),
    ("ftrl_beta", "weights.h5"),
    ("adadelta", "checkpoint"),
  ],
)
def test_a_saved_model_goes_on_as_if_it_had_not_been_saved(tmp_path, data, name, way):
  model = compiled(name)
  fit(model, data[:6])
  path = str(tmp_path / f"model.{way}")
  if way == "keras":
    model.save(path)
    again = tf.keras.models.load_model(path)
  elif way == "weights.h5":
    model.save_weights(path)
    again = compiled(name)
    again.optimizer.build(again.trainable_variables)
    again.load_weights(path)
  else:
    saved = tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(path)
    again = compiled(name)
    again.optimizer.build(again.trainable_variables)
    tf.train.Checkpoint(model=again, optimizer=again.optimizer).restore(saved).assert_consumed()
  assert type(again.optimizer) is type(model.optimizer)
  fit(model, data[6:])
  fit(again, data[6:])
  for value, wanted in zip(again.get_weights(), model.get_weights()):
    np.testing.assert_array_equal(value, wanted)
  state = slots.OptimizerState(model.optimizer, model.trainable_variables, "v1")
  other = slots.OptimizerState(again.optimizer, again.trainable_variables, "v1")
  for weight, twin in zip(model.trainable_variables, again.trainable_variables):
    for slot in state.kind.slots:
      np.testing.assert_array_equal(
        other.slot(slot, twin).numpy(), state.slot(slot, weight).numpy()
      )


@pytest.mark.parametrize("name", ["adam_clip_ema", "ftrl_shrinkage"])
def test_dense_updates_are_compiled_by_xla(data, name):
  """As Keras 3 does by itself on a GPU."""
  weights = []
  for jit_compile in (True, False):
    tf.keras.utils.set_random_seed(3)
    model = optimizer_cases.make_model(tf, sparse=False)
    optimizer = optimizer_cases.make_optimizer(tf, optimizers, CASES[name])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, jit_compile=jit_compile)
    dataset = tf.data.Dataset.from_generator(
      lambda: (({"x": x}, labels) for _, x, labels in data),
      output_signature=(
        {"x": tf.TensorSpec([optimizer_cases.BATCH, 4])},
        tf.TensorSpec([optimizer_cases.BATCH], tf.int64),
      ),
    )
    model.fit(dataset, verbose=0)
    weights.append(model.get_weights())
  for value, wanted in zip(*weights):
    np.testing.assert_allclose(value, wanted, rtol=0, atol=1e-6)


def test_averages_stay_beside_the_weights_until_they_are_asked_for(data):
  """Other Keras optimizers put them in at the end of fit; a TF1 program did not."""
  model, plain = compiled("sgd_ema"), compiled("sgd")
  fit(model, data)
  fit(plain, data)
  for value, wanted in zip(model.get_weights(), plain.get_weights()):
    np.testing.assert_array_equal(value, wanted)
  model.optimizer.assign_averages(model.trainable_variables)
  assert np.max(np.abs(model.get_weights()[0] - plain.get_weights()[0])) > 1e-4
  with pytest.raises(ValueError, match="no moving averages"):
    plain.optimizer.assign_averages(plain.trainable_variables)
  with pytest.raises(ValueError, match="was not built for"):
    model.optimizer.assign_averages(plain.trainable_variables)


def test_averages_of_weights_without_a_gradient_go_on():
  optimizer = optimizers.GradientDescent(1.0, use_ema=True, ema_momentum=0.5)
  used, other = tf.Variable([1.0]), tf.Variable([1.0])
  optimizer.build([used, other])
  other.assign([3.0])
  optimizer.apply_gradients([(tf.constant([2.0]), used), (None, other)])
  averages = [slots.inner(a) for a in optimizer._model_variables_moving_average]
  np.testing.assert_allclose([a.numpy()[0] for a in averages], [0.0, 2.0])


def test_averages_begin_with_the_weights_also_when_built_within_a_function():
  optimizer = optimizers.GradientDescent(1.0, use_ema=True, ema_momentum=0.5)
  weight = tf.Variable([1.0])
  tf.function(lambda: optimizer.apply_gradients([(tf.constant([2.0]), weight)]))()
  average = slots.inner(optimizer._model_variables_moving_average[0])
  np.testing.assert_allclose(average.numpy(), [0.0])  # Between 1 and -1.


@pytest.mark.parametrize(
  ("arguments", "message"),
  [
    ({"clipnorm": 1.0, "clipvalue": 1.0}, "clipnorm, clipvalue"),
    ({"global_clipnorm": 0.0}, "above 0"),
    ({"clipvalue": -1.0}, "above 0"),
  ],
)
def test_clipping_that_means_nothing_is_refused(arguments, message):
  with pytest.raises(ValueError, match=message):
    optimizers.GradientDescent(0.1, **arguments)


@pytest.mark.parametrize(
  "arguments",
  [
    {"learning_rate_power": 0.5},
    {"initial_accumulator_value": -0.1},
    {"l1_regularization_strength": -1.0},
    {"l2_shrinkage_regularization_strength": -1.0},
  ],
)
def test_ftrl_refuses_what_tf1_refuses(arguments):
  with pytest.raises(ValueError):
    v1.train.FtrlOptimizer(0.1, **arguments)
  with pytest.raises(ValueError, match=next(iter(arguments))):
    optimizers.Ftrl(0.1, **arguments)


def test_weights_are_excluded_from_the_decay_by_their_names():
  model = optimizer_cases.make_model(tf, sparse=True)
  excluded = ["bias", "^bert/hidden/"]
  optimizer = optimizers.AdamWeightDecay(
    0.1, weight_decay_rate=0.1, exclude_from_weight_decay=excluded
  )
  optimizer.build(model.trainable_variables)
  table, hidden, hidden_bias, logits, logits_bias = model.trainable_variables
  # By Keras's names, which have no scope, ...
  assert [optimizer.decays(w) for w in (table, hidden, logits)] == [True, True, True]
  assert not optimizer.decays(hidden_bias)
  # ... and by those of a checkpoint.
  runtime.named_checkpoint(model, optimizer, scope="bert", flavour="v1")
  assert [optimizer.decays(w) for w in (table, hidden, logits)] == [True, False, True]
  assert not optimizer.decays(logits_bias)


@pytest.mark.parametrize(
  ("make", "message"),
  [
    (lambda k: k.AdamW(0.1), "AdamWeightDecay"),
    (lambda k: k.Adam(0.1, amsgrad=True), "amsgrad"),
    (lambda k: k.Nadam(0.1), "Nadam"),
    (lambda k: type("Mine", (k.SGD,), {})(0.1), "Mine"),
  ],
)
def test_state_that_cannot_be_carried_over_is_refused(make, message):
  model = optimizer_cases.make_model(tf, sparse=False)
  with pytest.raises(TypeError, match=message):
    runtime.named_checkpoint(model, make(tf.keras.optimizers))
