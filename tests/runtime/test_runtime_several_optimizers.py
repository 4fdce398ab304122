"""Programs with several optimizers, each of which trains its own part of the model."""

import contextlib

import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime

v1 = tf.compat.v1
layers = tf.keras.layers
X = np.random.RandomState(3).rand(6, 4).astype(np.float32)
AFTER = 3


def net(name):
  return tf.keras.Sequential([tf.keras.Input((4,)), layers.Dense(1, name="fc")], name=name)


class Pair(tf.keras.Model):
  """Two nets."""

  def __init__(self):
    super().__init__()
    self.gen, self.disc = net("gen"), net("disc")

  def call(self, x):
    return self.gen(x) + self.disc(x)


def pair():
  model = Pair()
  model(tf.zeros((1, 4)))
  return model


def losses(outputs):
  """The losses of the two nets."""
  return [tf.reduce_mean((output - goal) ** 2) for output, goal in zip(outputs, (1.0, -2.0))]


def graph_net(name):
  with v1.variable_scope(name + "/fc"):
    kernel = v1.get_variable("kernel", (4, 1))
    bias = v1.get_variable("bias", (1,), initializer=v1.zeros_initializer())
  return tf.constant(X) @ kernel + bias, [kernel, bias]


OPTIMIZERS = {
  "two adams": (
    [lambda: v1.train.AdamOptimizer(0.1, name="G"), lambda: v1.train.AdamOptimizer(0.05, name="D")],
    lambda: [runtime.optimizers.Adam(0.1), runtime.optimizers.Adam(0.05)],
    (2, 5),
  ),
  "adagrad and ftrl": (
    [lambda: v1.train.AdagradOptimizer(0.1), lambda: v1.train.FtrlOptimizer(0.05)],
    lambda: [runtime.optimizers.Adagrad(0.1), runtime.optimizers.Ftrl(0.05)],
    (5, 5),
  ),
}


def train_tf1(name, directory, scopes=("train_gen", "train_disc")):
  """Trains in TF1; returns the checkpoint, and the variables some steps later.

  Args:
    name: in `OPTIMIZERS`.
    directory: for the checkpoint.
    scopes: in which the optimizers make their slots; None is no scope.
  """
  makers, _, updates = OPTIMIZERS[name]
  with tf.Graph().as_default(), v1.Session() as session:
    v1.set_random_seed(2)
    outputs, variables = zip(*(graph_net(n) for n in ("gen", "disc")))
    step = v1.train.get_or_create_global_step()
    trains = []
    for i, (make, loss, own) in enumerate(zip(makers, losses(outputs), variables)):
      with v1.variable_scope(scopes[i]) if scopes[i] else contextlib.nullcontext():
        trains.append(make().minimize(loss, step if i else None, var_list=own))
    session.run(v1.global_variables_initializer())
    for train, count in zip(trains, updates):
      for _ in range(count):
        session.run(train)
    prefix = v1.train.Saver().save(session, str(directory / "model.ckpt"), global_step=step)
    for _ in range(AFTER):
      session.run(trains)
    values = session.run({v.op.name: v for v in v1.global_variables()})
  return prefix, values


def checkpoint_of(model, optimizers):
  pairs = [(o, n.trainable_variables) for o, n in zip(optimizers, (model.gen, model.disc))]
  return runtime.named_checkpoint(model, pairs, flavour="v1")


def train(model, optimizers):
  for _ in range(AFTER):
    with tf.GradientTape(persistent=True) as tape:
      both = losses([model.gen(X), model.disc(X)])
    for optimizer, loss, own in zip(optimizers, both, (model.gen, model.disc)):
      gradients = tape.gradient(loss, own.trainable_variables)
      optimizer.apply_gradients(zip(gradients, own.trainable_variables))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_each_optimizer_goes_on_with_its_own_slots_and_count(name, tmp_path):
  prefix, values = train_tf1(name, tmp_path)
  _, make, updates = OPTIMIZERS[name]
  model, optimizers = pair(), make()
  checkpoint = checkpoint_of(model, optimizers)
  report = runtime.load_tf1_checkpoint(checkpoint, prefix)
  assert report.step == 5
  counts = [int(checkpoint.by_name[n].numpy()) for n in ("iterations", "iterations_1")]
  assert counts == list(updates)
  train(model, optimizers)
  compared = 0
  for old, value in values.items():
    old = old.replace("train_gen/", "").replace("train_disc/", "")
    for suffix, role in (
      ("/G", "/Adam"),
      ("/G_1", "/Adam_1"),
      ("/D", "/Adam"),
      ("/D_1", "/Adam_1"),
    ):
      if old.endswith(suffix):
        old = old[: -len(suffix)] + role
    if old in checkpoint.by_name and old != "global_step":
      ours = checkpoint.by_name[old].numpy()
      assert np.abs(ours - value).max() <= 1e-6 * max(1.0, np.abs(value).max()), old
      compared += 1
  assert compared == len(checkpoint.by_name) - 3


def test_counts_that_the_names_do_not_assign_are_refused_if_they_differ(tmp_path):
  """Two Adams without a scope: `beta1_power` and `beta1_power_1`."""
  prefix, _ = train_tf1("two adams", tmp_path, scopes=(None, None))
  with pytest.raises(runtime.CheckpointError, match="have made 2 and 5 updates"):
    runtime.load_tf1_checkpoint(checkpoint_of(pair(), OPTIMIZERS["two adams"][1]()), prefix)


def test_what_is_saved_by_name_is_restored_with_both_counts(tmp_path):
  prefix, _ = train_tf1("two adams", tmp_path)
  first = checkpoint_of(pair(), OPTIMIZERS["two adams"][1]())
  runtime.load_tf1_checkpoint(first, prefix)
  saved = first.write(str(tmp_path / "saved"))
  second = checkpoint_of(pair(), OPTIMIZERS["two adams"][1]())
  second.restore(saved)
  for name, variable in first.by_name.items():
    np.testing.assert_array_equal(variable.numpy(), second.by_name[name].numpy())
  one = pair()
  with pytest.raises(
    runtime.CheckpointError, match="It was written with Adam and Adam, the program"
  ):
    runtime.named_checkpoint(one, runtime.optimizers.Adam()).restore(saved)


def test_the_optimizers_exchanged_are_an_error(tmp_path):
  prefix, _ = train_tf1("adagrad and ftrl", tmp_path)
  model = pair()
  checkpoint = checkpoint_of(model, OPTIMIZERS["adagrad and ftrl"][1]()[::-1])
  before = [np.array(w) for w in model.get_weights()]
  with pytest.raises(runtime.CheckpointError, match="gen/fc/kernel/Ftrl: not in the checkpoint"):
    runtime.load_tf1_checkpoint(checkpoint, prefix)
  for old, now in zip(before, model.get_weights()):
    np.testing.assert_array_equal(old, now)


def test_what_the_program_does_not_have_is_an_error_unless_allowed(tmp_path):
  prefix, _ = train_tf1("adagrad and ftrl", tmp_path)
  optimizers = [runtime.optimizers.Adagrad(0.1), runtime.optimizers.GradientDescent(0.1)]
  checkpoint = checkpoint_of(pair(), optimizers)
  with pytest.raises(runtime.CheckpointError, match="disc/fc/kernel/Ftrl_1"):
    runtime.load_tf1_checkpoint(checkpoint, prefix)
  report = runtime.load_tf1_checkpoint(checkpoint, prefix, allow_unused=True)
  assert "train_disc/disc/fc/kernel/Ftrl_1" in report.unused


@pytest.mark.parametrize(
  ("parts", "message"),
  [
    (lambda m: [m.gen.trainable_variables], "None of the optimizers trains"),
    (lambda m: [m.trainable_variables, m.gen.trainable_variables], "Two of the optimizers train"),
    (lambda m: [m.trainable_variables, net("x").trainable_variables], "The model does not train"),
  ],
)
def test_each_weight_has_one_optimizer(parts, message):
  model = pair()
  pairs = [(runtime.optimizers.Adam(), variables) for variables in parts(model)]
  with pytest.raises(ValueError, match=message):
    runtime.named_checkpoint(model, pairs, flavour="v1")


def test_optimizers_are_given_as_pairs():
  with pytest.raises(TypeError, match="are given as pairs"):
    runtime.named_checkpoint(pair(), [runtime.optimizers.Adam()], flavour="v1")
