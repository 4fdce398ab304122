"""Whose powers of beta they are: what the names tell is what TensorFlow's graph knows."""

import pytest
import tensorflow as tf

from migrator.runtime import bundle, dialects

v1 = tf.compat.v1


def gan(adam):
  """Two Adams of the default name, and a third that trains a part of one net beforehand."""
  d, g = variable("d/w"), variable("g/w")
  adam(d, first=[d])
  adam(d, g, first=[d])
  adam(d, g, first=[g])


def alternating(adam):
  """Two Adams of the default name for different variables."""
  d, g = variable("d/w"), variable("g/w")
  adam(d, g, first=[d])
  adam(d, g, first=[g])


def alternating_with_names(adam):
  """The second one's name sorts before the first one's."""
  d, g = variable("d/w"), variable("g/w")
  adam(d, g, first=[d], name="ZAdam")
  adam(d, g, first=[g], name="AAdam")


def within_scopes(adam):
  """One variable and two Adams, each in its scope."""
  w = variable("w")
  for scope in ("pretrain", "tune"):
    with v1.variable_scope(scope):
      adam(w, first=[w])


def one_scope_entered_twice(adam):
  """The variables' scope stays, the scope of the powers becomes `loss_1`."""
  d, g = variable("d/w"), variable("g/w")
  for chosen in (d, g):
    with v1.variable_scope("loss"):
      adam(d, g, first=[chosen])


def one_after_the_other(adam):
  """Two Adams for the same variables."""
  d, g = variable("d/w"), variable("g/w")
  adam(d, g, first=[d, g])
  adam(d, g, first=[d, g])


def one_net_in_a_scope(adam):
  """An actor in its scope, a critic in none."""
  d, g = variable("d/w"), variable("g/w")
  with v1.variable_scope("actor"):
    adam(d, first=[d])
  adam(g, first=[g])


def variable(name):
  return v1.get_variable(name, [2], initializer=v1.ones_initializer())


PROGRAMS = {
  gan: False,
  alternating: False,
  alternating_with_names: False,
  within_scopes: True,
  one_scope_entered_twice: False,
  one_after_the_other: True,
  one_net_in_a_scope: True,
}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_the_powers_of_each_slot_are_those_of_its_optimizer(tmp_path, program):
  truth = {}

  def adam(*variables, first, name="Adam"):
    optimizer = v1.train.AdamOptimizer(0.1, name=name)
    loss = tf.add_n([tf.reduce_sum(variable**2) for variable in variables])
    optimizer.minimize(loss, var_list=first)
    accumulators = tuple(power.op.name for power in optimizer._get_beta_accumulators())
    for trained in first:
      for slot in ("m", "v"):
        truth[optimizer.get_slot(trained, slot).op.name] = accumulators

  with tf.Graph().as_default(), v1.Session() as session:
    program(adam)
    session.run(v1.global_variables_initializer())
    prefix = v1.train.Saver().save(session, str(tmp_path / "model.ckpt"), write_meta_graph=False)
  contents = dialects.describe(prefix, bundle.read_index(prefix))
  found = {
    key: optimizer.beta_powers
    for optimizer in contents.optimizers.values()
    for name in optimizer.variables
    for written in optimizer.roles.values()
    for key in contents.variables[name].slots[written]
  }
  assert set(found) == set(truth)
  for key, accumulators in truth.items():
    assert accumulators in found[key]
    assert (len(found[key]) == 1) == PROGRAMS[program]
