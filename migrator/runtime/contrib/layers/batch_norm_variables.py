"""The variables of a batch normalization, which its forms made in two ways."""

from __future__ import annotations

import contextlib

import tensorflow as tf

from migrator.runtime.contrib.framework.variables import model_variable
from migrator.runtime.contrib.layers import utils
from migrator.runtime.contrib.layers.weights import add_to_collections, weight

v1 = tf.compat.v1
_INITIAL = {
  "beta": v1.zeros_initializer(),
  "gamma": v1.ones_initializer(),
  "moving_mean": v1.zeros_initializer(),
  "moving_variance": v1.ones_initializer(),
}


@contextlib.contextmanager
def _unpartitioned():
  """A scope whose variables are whole: moving statistics never have parts."""
  with v1.variable_scope(v1.get_variable_scope()) as scope:
    scope.set_partitioner(None)
    yield


class _Variables:
  """The variables of one batch normalization."""

  def __init__(self, make, center, scale, order):
    made = {name: make(name, True) for name in order if {"beta": center, "gamma": scale}[name]}
    self.beta = made.get("beta")
    self.gamma = made.get("gamma")
    with _unpartitioned():
      self.moving_mean = make("moving_mean", False)
      self.moving_variance = make("moving_variance", False)


def model_variables(shape, dtype, center, scale, trainable, initializers, regularizers, among):
  """Makes the variables as `model_variable` does: an own penalty takes the place of the scope's."""

  def make(name, trained):
    return model_variable(
      name,
      shape=shape,
      dtype=dtype,
      initializer=initializers.get(name, _INITIAL[name]),
      regularizer=regularizers.get(name) if trained else None,
      collections=utils.get_variable_collections(among, name),
      trainable=trained and trainable,
    )

  return _Variables(make, center, scale, ("beta", "gamma"))


def layer_variables(shape, dtype, center, scale, trainable, initializers, regularizers, among):
  """Makes the variables as the layer of `tf.layers` does: an own penalty counts besides the scope's."""

  def make(name, trained):
    return weight(
      name,
      shape,
      dtype,
      initializers.get(name, _INITIAL[name]),
      regularizers.get(name) if trained else None,
      trained and trainable,
      None,
      name,
    )

  made = _Variables(make, center, scale, ("gamma", "beta"))
  for name in ("moving_mean", "moving_variance", "beta", "gamma"):
    variable = getattr(made, name)
    if variable is not None:
      add_to_collections(variable, among, name)
  return made
