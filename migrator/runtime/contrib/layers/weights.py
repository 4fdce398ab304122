"""Variables of a layer: the scope they stand in, their names, collections and penalties."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.contrib.framework.variables import model_variable
from migrator.runtime.contrib.layers import utils

v1 = tf.compat.v1
_KEYS = v1.GraphKeys


def layer_scope(scope, default_name, inputs, reuse, renamed=None):
  """Returns the variable scope of a layer, in which all variables are those of the model.

  Args:
    scope: the name of the layer, or a variable scope.
    default_name: its name if there is none, made unique.
    inputs: what the layer reads.
    reuse: as for `tf.compat.v1.variable_scope`.
    renamed: {last part of a name: what takes its place}, also in the scopes within.
  """
  renamed = renamed or {}

  def getter(
    getter,
    name,
    shape=None,
    dtype=None,
    initializer=None,
    regularizer=None,
    trainable=True,
    collections=None,
    caching_device=None,
    partitioner=None,
    use_resource=None,
    synchronization=tf.VariableSynchronization.AUTO,
    aggregation=v1.VariableAggregation.NONE,
    **_,
  ):
    *scopes, last = name.split("/")
    return model_variable(
      "/".join([*scopes, renamed.get(last, last)]),
      shape=shape,
      dtype=dtype,
      initializer=initializer,
      regularizer=regularizer,
      collections=collections,
      trainable=trainable,
      caching_device=caching_device,
      partitioner=partitioner,
      custom_getter=getter,
      use_resource=use_resource,
      synchronization=synchronization,
      aggregation=aggregation,
    )

  return v1.variable_scope(scope, default_name, [inputs], reuse=reuse, custom_getter=getter)


def parts(variable: Any) -> list[Any]:
  """Returns the variables that a partitioned one consists of; a whole one by itself."""
  return [variable] if isinstance(variable, tf.Variable) else list(variable)


def _known() -> set[int]:
  return {id(one) for one in v1.get_collection(_KEYS.GLOBAL_VARIABLES)}


def weight(
  name, shape, dtype, initializer, regularizer, trainable, variables_collections, kind
) -> Any:
  """Gets or makes a variable of a layer of `tf.layers`, which the contributed layers were made of.

  Its own penalty counts once, when it is new, and besides the penalty of the variable scope.

  Args:
    name: its name within the layer, before renaming.
    shape: its shape.
    dtype: its type.
    initializer: its initial value; that of the variable scope if there is none.
    regularizer: a function weights -> penalty or None.
    trainable: whether it is trained.
    variables_collections: further collections, or {kind of variable: further collections}.
    kind: its kind there.
  """
  known = _known()
  found = v1.get_variable(
    name,
    shape,
    dtype,
    initializer if initializer is not None else v1.get_variable_scope().initializer,
    trainable=trainable,
  )
  if regularizer and not any(id(one) in known for one in parts(found)):
    for one in parts(found):
      with v1.name_scope(f"{name}/Regularizer"):
        penalty = regularizer(one)
      if penalty is not None:
        v1.add_to_collection(_KEYS.REGULARIZATION_LOSSES, penalty)
  add_to_collections(found, variables_collections, kind)
  return found


def add_to_collections(variable: Any, variables_collections: Any, kind: str) -> None:
  """Adds a variable to the collections of its kind, once."""
  for collection in utils.get_variable_collections(variables_collections, kind) or []:
    for one in parts(variable):
      if not any(one is other for other in v1.get_collection(collection)):
        v1.add_to_collection(collection, one)


def finished(
  outputs,
  activation_fn,
  outputs_collections,
  name,
  normalizer_fn=None,
  normalizer_params=None,
):
  """Returns the outputs of a layer, normalized, activated and collected under its name."""
  if normalizer_fn is not None:
    outputs = normalizer_fn(outputs, **(normalizer_params or {}))
  if activation_fn is not None:
    outputs = activation_fn(outputs)
  return utils.collect_named_outputs(outputs_collections, name, outputs)


def channels_axis(data_format, allowed=("NHWC", "NCHW")) -> int:
  """Returns the axis of the channels.

  Raises:
    ValueError: if the format is not one of the allowed.
  """
  if data_format not in allowed:
    raise ValueError(f"data_format has to be {' or '.join(allowed)}, not {data_format!r}.")
  return 1 if data_format.startswith("NC") else -1
