"""Layers without a window: fully connected, biases, dropout, and reshaping ones."""

from __future__ import annotations

import functools

import tensorflow as tf

from migrator.runtime.contrib.framework.arg_scope import add_arg_scope
from migrator.runtime.contrib.framework.variables import model_variable
from migrator.runtime.contrib.layers import utils
from migrator.runtime.contrib.layers.initializers import XAVIER, ZEROS
from migrator.runtime.contrib.layers.weights import (
  channels_axis,
  finished,
  layer_scope,
  weight,
)

v1 = tf.compat.v1


@add_arg_scope
def fully_connected(
  inputs,
  num_outputs,
  activation_fn=tf.nn.relu,
  normalizer_fn=None,
  normalizer_params=None,
  weights_initializer=XAVIER,
  weights_regularizer=None,
  biases_initializer=ZEROS,
  biases_regularizer=None,
  reuse=None,
  variables_collections=None,
  outputs_collections=None,
  trainable=True,
  scope=None,
):
  """Adds a fully connected layer: `fully_connected/weights` and, without normalizer, `.../biases`.

  Args:
    inputs: a tensor [..., inputs] of known last size.
    num_outputs: the number of outputs.
    activation_fn: a function, or None.
    normalizer_fn: a function called in place of the biases.
    normalizer_params: its arguments.
    weights_initializer, weights_regularizer: of the weights.
    biases_initializer, biases_regularizer: of the biases; without initializer there are none.
    reuse: as for `tf.compat.v1.variable_scope`.
    variables_collections: collections of all variables, or {"weights": ..., "biases": ...}.
    outputs_collections: collections of the outputs.
    trainable: whether the variables are trained.
    scope: the name of the layer.

  Returns:
    The outputs, [..., num_outputs].

  Raises:
    ValueError: if the number of outputs is no integer, or the last size of the inputs not known.
  """
  if not isinstance(num_outputs, int):
    raise ValueError(f"num_outputs must be an integer, not {type(num_outputs)}.")
  renamed = {"bias": "biases", "kernel": "weights"}
  with layer_scope(scope, "fully_connected", inputs, reuse, renamed) as sc:
    inputs = tf.convert_to_tensor(inputs)
    size = utils.last_dimension(inputs.shape, min_rank=2)
    kernel = weight(
      "kernel",
      [size, num_outputs],
      inputs.dtype.base_dtype,
      weights_initializer,
      weights_regularizer,
      trainable,
      variables_collections,
      "weights",
    )
    rank = inputs.shape.ndims
    if rank == 2:
      outputs = tf.matmul(inputs, kernel)
    else:
      outputs = tf.tensordot(inputs, tf.convert_to_tensor(kernel), [[rank - 1], [0]])
      outputs.set_shape([*inputs.shape.as_list()[:-1], num_outputs])
    if not normalizer_fn and biases_initializer:
      bias = weight(
        "bias",
        [num_outputs],
        inputs.dtype.base_dtype,
        biases_initializer,
        biases_regularizer,
        trainable,
        variables_collections,
        "biases",
      )
      outputs = tf.nn.bias_add(outputs, bias)
    return finished(
      outputs, activation_fn, outputs_collections, sc.name, normalizer_fn, normalizer_params
    )


elu = functools.partial(fully_connected, activation_fn=tf.nn.elu)
relu = functools.partial(fully_connected, activation_fn=tf.nn.relu)
relu6 = functools.partial(fully_connected, activation_fn=tf.nn.relu6)
linear = functools.partial(fully_connected, activation_fn=None)


@add_arg_scope
def bias_add(
  inputs,
  activation_fn=None,
  initializer=ZEROS,
  regularizer=None,
  reuse=None,
  variables_collections=None,
  outputs_collections=None,
  trainable=True,
  data_format="NHWC",
  scope=None,
):
  """Adds biases: `BiasAdd/biases`, one for each channel; arguments as for `fully_connected`.

  Raises:
    ValueError: if the rank or the number of channels is not known, or NCHW inputs have no rank of 4.
  """
  axis = channels_axis(data_format)
  with v1.variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as sc:
    inputs = tf.convert_to_tensor(inputs)
    if axis == 1 and inputs.shape.ndims not in (None, 4):
      raise ValueError("Data format NCHW needs inputs of rank 4.")
    channels = utils.channel_dimension(
      inputs.shape, "channels_first" if axis == 1 else "channels_last"
    )
    biases = model_variable(
      "biases",
      shape=[channels],
      dtype=inputs.dtype.base_dtype,
      initializer=initializer,
      regularizer=regularizer,
      collections=utils.get_variable_collections(variables_collections, "biases"),
      trainable=trainable,
    )
    outputs = tf.nn.bias_add(inputs, biases, data_format=data_format)
    return finished(outputs, activation_fn, outputs_collections, sc.name)


@add_arg_scope
def dropout(
  inputs,
  keep_prob=0.5,
  noise_shape=None,
  is_training=True,
  outputs_collections=None,
  scope=None,
  seed=None,
):
  """Drops elements and scales the others by 1 / keep_prob, in training only.

  Args:
    inputs: a tensor.
    keep_prob: the probability that an element is kept; a number or a tensor.
    noise_shape: the shape of what is drawn, broadcast to that of the inputs.
    is_training: a bool or a boolean tensor.
    outputs_collections: collections of the outputs.
    scope: the name of the layer.
    seed: the seed of the operation.
  """
  with v1.variable_scope(scope, "Dropout", [inputs]) as sc:
    inputs = tf.convert_to_tensor(inputs)
    outputs = utils.smart_cond(
      is_training,
      lambda: v1.nn.dropout(inputs, noise_shape=noise_shape, seed=seed, rate=1 - keep_prob),
      lambda: tf.identity(inputs),
    )
    return utils.collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def flatten(inputs, outputs_collections=None, scope=None):
  """Reshapes [batch, ...] to [batch, size]."""
  with v1.name_scope(scope, "Flatten", [inputs]) as sc:
    inputs = tf.convert_to_tensor(inputs)
    batch, *sizes = inputs.shape.as_list()
    outputs = tf.reshape(inputs, [tf.shape(inputs)[0] if batch is None else batch, -1])
    size = None if None in sizes else functools.reduce(lambda one, other: one * other, sizes, 1)
    outputs.set_shape([batch, size])
    return utils.collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def one_hot_encoding(
  labels, num_classes, on_value=1.0, off_value=0.0, outputs_collections=None, scope=None
):
  """Returns the one-hot code of integers [...] as [..., num_classes]."""
  with v1.name_scope(scope, "OneHotEncoding", [labels, num_classes]) as sc:
    labels = tf.convert_to_tensor(labels)
    if labels.dtype == tf.int32:
      labels = tf.cast(labels, tf.int64)
    outputs = tf.one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
    return utils.collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def softmax(logits, scope=None):
  """Returns the softmax along the last axis, whose size must be known, of a tensor of rank 2 or more."""
  with v1.variable_scope(scope, "softmax", [logits]):
    size = utils.last_dimension(logits.shape, min_rank=2)
    predictions = tf.reshape(tf.nn.softmax(tf.reshape(logits, [-1, size])), tf.shape(logits))
    predictions.set_shape(logits.shape)
    return predictions


@add_arg_scope
def unit_norm(inputs, dim, epsilon=1e-7, scope=None):
  """Divides by the Euclidean length along a dimension: sqrt(epsilon + the sum of squares).

  Raises:
    ValueError: if the rank is not known or the dimension not within it.
  """
  with v1.variable_scope(scope, "UnitNorm", [inputs]):
    rank = inputs.shape.ndims
    if not rank:
      raise ValueError("The input rank must be known.")
    if not 0 <= dim < rank:
      raise ValueError("dim must be positive but smaller than the input rank.")
    squares = tf.reduce_sum(tf.square(inputs), dim, keepdims=True)
    return inputs / tf.sqrt(epsilon + squares)


def _scope_of(layer, default: str) -> str:
  for function in (layer, getattr(layer, "func", None)):
    name = getattr(function, "__name__", None)
    if name is not None:
      return name
  return default


def repeat(inputs, repetitions, layer, *args, **kwargs):
  """Applies a layer several times, in the scopes `scope/scope_1`, `scope/scope_2`, ...

  Args:
    inputs: a tensor.
    repetitions: how often.
    layer: a function that takes inputs and `scope`.
    *args: its further arguments.
    **kwargs: its further arguments by name; `scope` names the whole.
  """
  scope = kwargs.pop("scope", None)
  with v1.variable_scope(scope, "Repeat", [inputs]):
    outputs = tf.convert_to_tensor(inputs)
    scope = _scope_of(layer, "repeat") if scope is None else scope
    for number in range(repetitions):
      outputs = layer(outputs, *args, **{**kwargs, "scope": f"{scope}_{number + 1}"})
    return outputs


def stack(inputs, layer, stack_args, **kwargs):
  """Applies a layer once for each of `stack_args`, in the scopes `scope/scope_1`, `scope/scope_2`, ...

  Args:
    inputs: a tensor.
    layer: a function that takes inputs, some arguments and `scope`.
    stack_args: the arguments of each: a list or tuple of them, or a single one.
    **kwargs: its further arguments by name; `scope` names the whole.

  Raises:
    ValueError: if `stack_args` is no list or tuple.
  """
  scope = kwargs.pop("scope", None)
  if not isinstance(stack_args, (list, tuple)):
    raise ValueError("stack_args need to be a list or tuple")
  with v1.variable_scope(scope, "Stack", [inputs]):
    outputs = tf.convert_to_tensor(inputs)
    scope = _scope_of(layer, "stack") if scope is None else scope
    for number, given in enumerate(stack_args):
      each = given if isinstance(given, (list, tuple)) else [given]
      outputs = layer(outputs, *each, **{**kwargs, "scope": f"{scope}_{number + 1}"})
    return outputs
