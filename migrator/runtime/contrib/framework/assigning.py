"""Values of variables from a checkpoint or from arrays, as `tf.contrib.framework` gave them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

v1 = tf.compat.v1


def _named(name: str) -> Any:
  found = v1.get_collection(v1.GraphKeys.GLOBAL_VARIABLES, name)
  if not found:
    raise ValueError(f"There is no variable {name}.")
  if len(found) == 1:
    return found[0]
  for one in found:
    if one.op.name == name:
      return one
  raise ValueError(f"{name} is the beginning of several names, and no variable's name.")


def _fed(var: Any) -> Any:
  return v1.placeholder(var.dtype.base_dtype, var.get_shape(), f"placeholder/{var.op.name}")


def assign_from_values(var_names_to_values):
  """Returns an operation that gives variables their values, and what to feed it.

  Args:
    var_names_to_values: {name of a variable: array of its shape}.

  Raises:
    ValueError: if there is no such variable.
  """
  feeds = {}
  assignments = []
  for name, value in var_names_to_values.items():
    var = _named(name)
    placeholder = _fed(var)
    assignments.append(var.assign(placeholder))
    feeds[_key(placeholder)] = value.reshape(var.get_shape())
  return v1.group(*assignments), feeds


def assign_from_values_fn(var_names_to_values):
  """Returns a function that gives the variables of a session their values."""
  operation, feeds = assign_from_values(var_names_to_values)

  def callback(session):
    return session.run(operation, feeds)

  return callback


def _key(tensor: Any) -> Any:
  # A tensor of TF2 is no key of a dict; the session takes its name as well.
  try:
    hash(tensor)
  except TypeError:
    return tensor.name
  return tensor


def get_variable_full_name(var):
  """Returns the name of a variable in a checkpoint: a part of a partitioned one has that of the whole."""
  part = var._get_save_slice_info() if hasattr(var, "_get_save_slice_info") else None
  return part.full_name if part else var.op.name


def _groups(var_list: Any) -> dict[str, list[Any]]:
  groups: dict[str, list[Any]] = {}
  if isinstance(var_list, (tuple, list)):
    for var in var_list:
      groups.setdefault(get_variable_full_name(var), []).append(var)
    return groups
  for name, value in var_list.items():
    groups[name] = list(value) if isinstance(value, (tuple, list)) else [value]
  return groups


def _value(name: str, stored: Any, var: Any) -> Any:
  part = var._get_save_slice_info() if hasattr(var, "_get_save_slice_info") else None
  if part:
    ends = zip(part.var_offset, part.var_shape)
    return stored[tuple(slice(start, start + size) for start, size in ends)]
  if tuple(var.get_shape()) != tuple(stored.shape):
    raise ValueError(
      f"{name}: the checkpoint holds an array of shape {tuple(stored.shape)}, the variable "
      f"{var.op.name} has {tuple(var.get_shape())}."
    )
  return stored


def assign_from_checkpoint(model_path, var_list, ignore_missing_vars=False):
  """Returns an operation that gives variables the values of a checkpoint, and what to feed it.

  Args:
    model_path: the path of the checkpoint.
    var_list: variables, or {name in the checkpoint: variable, or parts of a partitioned one}.
    ignore_missing_vars: whether variables that the checkpoint lacks keep their values.

  Raises:
    ValueError: if a variable is missing in the checkpoint, or has another shape there.
  """
  reader = tf.train.load_checkpoint(model_path)
  feeds = {}
  assignments = []
  for name, variables in _groups(var_list).items():
    if not reader.has_tensor(name):
      if not ignore_missing_vars:
        raise ValueError(f"The checkpoint {model_path} holds no variable {name}.")
      v1.logging.warning("Checkpoint is missing variable [%s]", name)
      continue
    stored = reader.get_tensor(name)
    for var in variables:
      placeholder = _fed(var)
      assignments.append(var.assign(placeholder))
      feeds[_key(placeholder)] = _value(name, stored, var)
  return v1.group(*assignments), feeds


def assign_from_checkpoint_fn(
  model_path, var_list, ignore_missing_vars=False, reshape_variables=False
):
  """Returns a function that restores variables of a session from a checkpoint.

  Args:
    model_path: the path of the checkpoint.
    var_list: variables, or {name in the checkpoint: variable}.
    ignore_missing_vars: whether variables that the checkpoint lacks keep their values.
    reshape_variables: whether arrays of another shape are reshaped.

  Returns:
    The function, or None if the checkpoint holds none of the variables.

  Raises:
    ValueError: if there are no variables.
  """
  if not var_list:
    raise ValueError("assign_from_checkpoint_fn: var_list is empty.")
  if ignore_missing_vars:
    named = var_list if isinstance(var_list, dict) else {var.op.name: var for var in var_list}
    reader = tf.train.load_checkpoint(model_path)
    var_list = {name: var for name, var in named.items() if reader.has_tensor(name)}
    for name in named:
      if name not in var_list:
        v1.logging.warning("Variable %s missing in checkpoint %s", name, model_path)
  if not var_list:
    v1.logging.warning("No Variables to restore")
    return None
  saver = v1.train.Saver(var_list, reshape=reshape_variables)

  def callback(session):
    saver.restore(session, model_path)

  return callback
