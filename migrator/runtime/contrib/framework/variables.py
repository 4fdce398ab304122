"""Variables of a graph, made and looked up as `tf.contrib.framework` and slim did."""

from __future__ import annotations

import functools
import re
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.contrib.framework.arg_scope import add_arg_scope

v1 = tf.compat.v1
_KEYS = v1.GraphKeys


@add_arg_scope
def variable(
  name,
  shape=None,
  dtype=None,
  initializer=None,
  regularizer=None,
  trainable=True,
  collections=None,
  caching_device=None,
  device=None,
  partitioner=None,
  custom_getter=None,
  use_resource=None,
  synchronization=tf.VariableSynchronization.AUTO,
  aggregation=v1.VariableAggregation.NONE,
):
  """Gets or makes a variable, as `get_variable` does, on a device.

  Args:
    name: its name in the current variable scope.
    collections: its collections, GLOBAL_VARIABLES by default; each counts once.
    device: a device or a function that chooses one.
    custom_getter: called instead of `get_variable`, with `reuse` of the current scope.
    shape, dtype, initializer, regularizer, trainable, caching_device, partitioner, use_resource,
      synchronization, aggregation: as for `tf.compat.v1.get_variable`.
  """
  found = [_KEYS.GLOBAL_VARIABLES] if collections is None else list(collections)
  getter = v1.get_variable
  if custom_getter is not None:
    getter = functools.partial(custom_getter, reuse=v1.get_variable_scope().reuse)
  with v1.device(device or ""):
    return getter(
      name,
      shape=shape,
      dtype=dtype,
      initializer=initializer,
      regularizer=regularizer,
      trainable=trainable,
      collections=list(dict.fromkeys(found)),
      caching_device=caching_device,
      partitioner=partitioner,
      use_resource=use_resource,
      synchronization=synchronization,
      aggregation=aggregation,
    )


@add_arg_scope
def model_variable(
  name,
  shape=None,
  dtype=tf.float32,
  initializer=None,
  regularizer=None,
  trainable=True,
  collections=None,
  caching_device=None,
  device=None,
  partitioner=None,
  custom_getter=None,
  use_resource=None,
  synchronization=tf.VariableSynchronization.AUTO,
  aggregation=v1.VariableAggregation.NONE,
):
  """Gets or makes a variable that is also in the collection MODEL_VARIABLES; see `variable`."""
  return variable(
    name,
    shape=shape,
    dtype=dtype,
    initializer=initializer,
    regularizer=regularizer,
    trainable=trainable,
    collections=[*(collections or []), _KEYS.GLOBAL_VARIABLES, _KEYS.MODEL_VARIABLES],
    caching_device=caching_device,
    device=device,
    partitioner=partitioner,
    custom_getter=custom_getter,
    use_resource=use_resource,
    synchronization=synchronization,
    aggregation=aggregation,
  )


def local_variable(initial_value, validate_shape=True, name=None, use_resource=None):
  """Makes a variable that is only in LOCAL_VARIABLES: not saved and not trained."""
  return v1.Variable(
    initial_value,
    trainable=False,
    collections=[_KEYS.LOCAL_VARIABLES],
    validate_shape=validate_shape,
    use_resource=use_resource,
    name=name,
  )


def global_variable(initial_value, validate_shape=True, name=None, use_resource=None):
  """Makes a variable that is saved and not trained."""
  return v1.Variable(
    initial_value,
    trainable=False,
    collections=[_KEYS.GLOBAL_VARIABLES],
    validate_shape=validate_shape,
    use_resource=use_resource,
    name=name,
  )


def _among(variables: Any, wanted: Any) -> bool:
  # Variables of TF2 compare element by element.
  return any(wanted is one for one in variables)


def add_model_variable(var):
  """Adds a variable to MODEL_VARIABLES, once."""
  if not _among(v1.get_collection(_KEYS.MODEL_VARIABLES), var):
    v1.add_to_collection(_KEYS.MODEL_VARIABLES, var)


def get_variables(scope=None, suffix=None, collection=_KEYS.GLOBAL_VARIABLES):
  """Returns the variables of a collection whose name begins with a scope and ends with a suffix.

  Args:
    scope: a variable scope, or a regular expression that the beginning of the name matches.
    suffix: the end of the name, in front of its `:0`; none takes all.
    collection: the collection.
  """
  if isinstance(scope, v1.VariableScope):
    scope = scope.name
  if suffix is not None:
    ending = suffix if ":" in suffix else f"{suffix}:"
    scope = f"{scope or ''}.*{ending}"
  return v1.get_collection(collection, scope)


def get_model_variables(scope=None, suffix=None):
  """Returns the variables of the model; see `get_variables`."""
  return get_variables(scope, suffix, _KEYS.MODEL_VARIABLES)


def get_local_variables(scope=None, suffix=None):
  """Returns the local variables; see `get_variables`."""
  return get_variables(scope, suffix, _KEYS.LOCAL_VARIABLES)


def get_trainable_variables(scope=None, suffix=None):
  """Returns the trainable variables; see `get_variables`."""
  return get_variables(scope, suffix, _KEYS.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix, scope=None):
  """Returns the variables whose name ends so; see `get_variables`."""
  return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name, scope=None):
  """Returns the variables whose last part of the name is the given one."""
  return get_variables(scope=scope, suffix=f"/{given_name}:|^{given_name}:")


def get_unique_variable(var_op_name):
  """Returns the variable of this full name.

  Raises:
    ValueError: if there is none.
  """
  candidates = get_variables(scope=var_op_name)
  for candidate in candidates:
    if candidate.op.name == var_op_name:
      return candidate
  if candidates:
    raise ValueError(f"{var_op_name} is the beginning of several names, and no variable's name.")
  raise ValueError(f"There is no variable {var_op_name}.")


def _scopes(option: str, scopes: Any) -> list[Any]:
  if not isinstance(scopes, (list, tuple)):
    raise TypeError(f"{option} must be a list or tuple of scopes, not {scopes!r}.")
  return [one for scope in scopes for one in get_variables(scope)]


def get_variables_to_restore(include=None, exclude=None):
  """Returns the variables of some scopes (all by default), without those of others.

  Raises:
    TypeError: if the scopes are not in a list or tuple.
  """
  included = get_variables() if include is None else _scopes("include", include)
  excluded = [] if exclude is None else _scopes("exclude", exclude)
  return [one for one in included if not _among(excluded, one)]


def filter_variables(var_list, include_patterns=None, exclude_patterns=None, reg_search=True):
  """Returns the variables whose name matches one of some patterns and none of others.

  Args:
    var_list: variables.
    include_patterns: regular expressions; none takes all.
    exclude_patterns: regular expressions; none leaves out nothing.
    reg_search: whether a match may be anywhere in the name, instead of at its beginning.
  """
  matches = re.search if reg_search else re.match

  def fits(patterns: Any, var: Any) -> bool:
    return any(matches(pattern, var.name) for pattern in patterns)

  return [
    var
    for var in var_list
    if (include_patterns is None or fits(include_patterns, var))
    and not (exclude_patterns is not None and fits(exclude_patterns, var))
  ]


def assert_or_get_global_step(graph=None, global_step_tensor=None):
  """Returns the given global step, which must be one, or else that of the graph."""
  if global_step_tensor is None:
    return v1.train.get_global_step(graph)
  v1.train.assert_global_step(global_step_tensor)
  return global_step_tensor


def variable_collections(variables_collections: Any, name: str) -> Optional[Any]:
  """Returns the collections of a layer's variable: those of its kind, or those of all."""
  if isinstance(variables_collections, dict):
    return variables_collections.get(name)
  return variables_collections
