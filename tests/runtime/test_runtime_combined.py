"""`runtime.optimizers.Combined`: each optimizer trains its part as it would alone; the model is saved with all."""

import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime

layers = tf.keras.layers
optimizers = runtime.optimizers
STEPS = 6
RANDOM = np.random.RandomState(5)
X = RANDOM.rand(8 * STEPS, 3).astype(np.float32)
Y = RANDOM.rand(8 * STEPS, 1).astype(np.float32)


def pair():
  """Returns the deep part's optimizer, and the wide part's: one of Keras, one of the runtime."""
  return [tf.keras.optimizers.Adam(0.1), optimizers.Ftrl(0.3)]


def make(optimizers_of_parts=None, wide_name="wide"):
  """Returns the model, and the two nets in it; compiled, if there are optimizers."""
  tf.keras.utils.set_random_seed(4)
  inputs = tf.keras.Input([3], name="x")
  hidden = layers.Dense(4, activation="tanh", name="hiddenlayer_0")(inputs)
  deep = tf.keras.Model(inputs, layers.Dense(1, name="logits")(hidden), name="dnn")
  wide = tf.keras.Model(inputs, layers.Dense(1, name=wide_name)(inputs), name="linear")
  model = tf.keras.Model(inputs, layers.Add()([deep(inputs), wide(inputs)]), name="both")
  if optimizers_of_parts is not None:
    combined = optimizers.Combined(list(zip(optimizers_of_parts, (deep, wide))))
    model.compile(combined, tf.keras.losses.MeanSquaredError())
  return model, [deep, wide]


def batches(first=0, last=STEPS):
  return tf.data.Dataset.from_tensor_slices((X, Y)).batch(8).skip(first).take(last - first)


def gradients_of(model, variables, x, y):
  with tf.GradientTape() as tape:
    loss = tf.reduce_mean((model(x) - y) ** 2)
  return tape.gradient(loss, variables)


def trained_apart():
  """Returns the model, trained in a loop that gives each optimizer the gradients of its net."""
  model, nets = make()
  both = pair()
  for optimizer, net in zip(both, nets):
    optimizer.build(net.trainable_variables)
  for x, y in batches():
    gradients = gradients_of(model, [net.trainable_variables for net in nets], x, y)
    for optimizer, own, net in zip(both, gradients, nets):
      optimizer.apply_gradients(zip(own, net.trainable_variables))
  return model


def counts(several):
  return [int(optimizer.iterations.numpy()) for optimizer in several]


def rates(several):
  return [float(tf.convert_to_tensor(optimizer.learning_rate)) for optimizer in several]


def check(model, wanted, tolerance=1e-6):
  """Compares weights; a compiled step may round otherwise than a loop."""
  for weight, other in zip(model.get_weights(), wanted.get_weights()):
    np.testing.assert_allclose(weight, other, rtol=0, atol=tolerance)


def test_each_optimizer_trains_its_part_as_it_would_alone():
  wanted = trained_apart()
  both = pair()
  fitted, _ = make(both)
  fitted.fit(batches(), verbose=0)
  check(fitted, wanted)
  assert counts([*both, fitted.optimizer]) == [STEPS] * 3
  both = pair()
  looped, _ = make(both)
  for x, y in batches():
    variables = looped.trainable_variables[::-1]  # Whatever their order is.
    gradients = gradients_of(looped, variables, x, y)
    looped.optimizer.apply_gradients(zip(gradients, variables))
  check(looped, wanted)
  assert counts([*both, looped.optimizer]) == [STEPS] * 3


def test_a_model_of_a_keras_file_goes_on_as_if_it_had_not_been_saved(tmp_path):
  model, _ = make(pair())
  model.fit(batches(0, 2), verbose=0)
  model.save(tmp_path / "model.keras")
  again = tf.keras.models.load_model(tmp_path / "model.keras")
  assert isinstance(again.optimizer, optimizers.Combined)
  singles = [one.optimizer.singles for one in (model, again)]
  assert [type(o) for o in singles[0]] == [type(o) for o in singles[1]]
  for one in (model, again):
    one.fit(batches(2, STEPS), verbose=0)
  check(again, model, 0.0)
  assert counts([*again.optimizer.singles, again.optimizer]) == [STEPS] * 3
  values = [[tf.convert_to_tensor(v) for v in one.optimizer.variables] for one in (model, again)]
  assert len(values[0]) == len(values[1]) > 4
  for value, wanted in zip(*values):
    np.testing.assert_array_equal(value.numpy(), wanted.numpy())


def test_its_config_makes_the_same_optimizer_before_and_after_it_is_built():
  model, nets = make(pair())
  for built in (False, True):
    if built:
      model.optimizer.build(model.trainable_variables)
    again = optimizers.Combined.from_config(model.optimizer.get_config())
    again.build(model.trainable_variables)
    assert [type(single) for single in again.singles] == [type(o) for o in model.optimizer.singles]
    assert rates(again.singles) == rates(model.optimizer.singles)
    for (_, variables), net in zip(again.pairs(model.trainable_variables), nets):
      assert {id(v) for v in variables} == {id(v) for v in net.trainable_variables}


def test_weights_of_one_name_are_told_apart_only_by_the_places_of_a_built_optimizer():
  model, _ = make(pair(), "logits")
  config = model.optimizer.get_config()
  with pytest.raises(ValueError, match="load the model with compile=False"):
    optimizers.Combined.from_config(config).build(model.trainable_variables)
  model.optimizer.build(model.trainable_variables)
  again = optimizers.Combined.from_config(model.optimizer.get_config())
  again.build(model.trainable_variables)
  owned = [variables for _, variables in again.pairs(model.trainable_variables)]
  assert [len(variables) for variables in owned] == [4, 2]


def test_a_learning_rate_scheduler_sets_the_rate_of_the_first():
  both = pair()
  model, _ = make(both)
  seen = []
  scheduler = tf.keras.callbacks.LearningRateScheduler(lambda _, rate: seen.append(rate) or 0.025)
  scheduler.set_model(model)
  scheduler.on_epoch_begin(0)
  np.testing.assert_allclose(seen, [0.1])
  np.testing.assert_allclose(rates([*both, model.optimizer]), [0.025, 0.3, 0.025])


def test_an_optimizer_without_gradients_does_nothing_and_does_not_count():
  both = pair()
  model, (deep, wide) = make(both)
  model.optimizer.build(model.trainable_variables)
  before = deep.get_weights()
  for x, y in batches():
    gradients = gradients_of(model, wide.trainable_variables, x, y)
    model.optimizer.apply_gradients(zip(gradients, wide.trainable_variables))
  assert counts(both) == [0, STEPS]
  for weight, value in zip(deep.get_weights(), before):
    np.testing.assert_array_equal(weight, value)


def test_what_cannot_be_combined_is_refused():
  model, (deep, _) = make()
  adam, ftrl = pair()
  with pytest.raises(ValueError, match="no optimizers to combine"):
    optimizers.Combined([])
  with pytest.raises(TypeError, match="as pairs"):
    optimizers.Combined([adam])
  with pytest.raises(ValueError, match="None of the optimizers trains"):
    optimizers.Combined([(adam, deep)]).build(model.trainable_variables)
  with pytest.raises(ValueError, match="Two of the optimizers train"):
    optimizers.Combined([(adam, deep), (ftrl, model)]).build(model.trainable_variables)
