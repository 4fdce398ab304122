"""Fits what an input function yields to a Keras model, as `model_to_estimator` did."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.heads.compiled import output_names

# The two words that `model_to_estimator` knew.
_WITH_WEIGHTS = {"features", "sample_weights"}
# What Keras 3 calls an input without a name, and what Keras 2 called it; both number them as they are made.
_MADE_UP = re.compile(r"(?:keras_tensor|input_layer)(?:_(\d+))?")
_OLD = re.compile(r"input_(\d+)")


def model_inputs(model: Any) -> Callable:
  """Returns a function for `dataset.map` that makes features and labels what a Keras model takes.

  Features in a dict go to the inputs by their names; those without an input are dropped. An input that the
  program gave no name had one in Keras 2 that Keras 3 does not know: `<layer>_input` of a sequential model,
  `input_1` of `tf.keras.Input`. Labels in a dict go to the outputs by their names. A dict of just `features`
  and `sample_weights` gives the weights of the examples.

  Args:
    model: a functional or sequential Keras model with an input shape.

  Returns:
    A function of (features) or (features, labels) or (features, labels, weights); returns as many values,
    and the weights.

  Raises:
    ValueError: when it is called, if an input has no feature.
  """

  def fit(features, *labels):
    weights: tuple = ()
    if isinstance(features, Mapping) and set(features) == _WITH_WEIGHTS:
      features, weights = features["features"], (features["sample_weights"],)
    inputs = _inputs(model, features)
    if not labels:
      return inputs
    return (inputs, _labels(model, labels[0]), *labels[1:], *weights)

  return fit


def _inputs(model: Any, features: Any) -> Any:
  """Returns the inputs of the model, in its structure."""
  if not isinstance(features, Mapping):
    return features
  inputs = getattr(model, "_inputs_struct", None)
  names = list(inputs) if isinstance(inputs, Mapping) else input_names(model)
  keys = _keys(model, names, features)
  missing = [name for name, key in keys.items() if key is None]
  if missing:
    raise ValueError(
      f"The dataset lacks the feature {missing[0]!r} of the model; it has {sorted(features)}. Give "
      "tf.keras.Input the name of the feature."
    )
  if isinstance(inputs, Mapping):
    return {name: features[keys[name]] for name in names}
  found = [features[keys[name]] for name in names]
  # Not a list, which tf.data would stack.
  return found[0] if len(found) == 1 else tuple(found)


def inputs_like(element_spec: Any, *names: str, columns: Iterable[Any] = ()) -> Any:
  """Returns the inputs of a functional model for what an input function gives.

  Args:
    element_spec: of its dataset: of the features, or of (features, labels); or the dataset itself.
    *names: the features that the model reads, if these are a dict.
    columns: numeric feature columns, of which it reads more; see `input_layer`.

  Returns:
    {name: `tf.keras.Input`} of dense features, or one input for features that are a single tensor.

  Raises:
    ValueError: if a feature is missing, a column is not a plain numeric one, or a feature is no dense tensor of float32 whose first axis is the batch.
  """
  if isinstance(element_spec, tf.data.Dataset):
    element_spec = element_spec.element_spec
  features = element_spec[0] if isinstance(element_spec, tuple) else element_spec
  columns = [columns] if hasattr(columns, "key") else columns
  of_columns = {column.key: _column_input(column) for column in columns}
  if not names and not of_columns:
    return _input(features, None)
  twice = of_columns.keys() & set(names)
  if twice:
    raise ValueError(f"The feature {min(twice)!r} is read as it is, and by a column.")
  wanted = [*names, *of_columns]
  missing = [name for name in wanted if not isinstance(features, Mapping) or name not in features]
  if missing:
    raise ValueError(f"The dataset lacks the feature {missing[0]!r} of the model: {features}.")
  return {**{name: _input(features[name], name) for name in names}, **of_columns}


def input_layer(inputs: Mapping, columns: Iterable[Any]) -> Any:
  """Returns what `tf.compat.v1.feature_column.input_layer` made of numeric columns, as a Keras tensor.

  Args:
    inputs: what `inputs_like` returned for these columns.
    columns: numeric feature columns; one, or several in any order.

  Returns:
    Float32 [batch, the sum of their sizes], the columns in the order of their names.
  """
  columns = [columns] if hasattr(columns, "key") else list(columns)
  flat = [
    tf.keras.layers.Flatten()(inputs[column.key])
    for column in sorted(columns, key=lambda c: c.name)
  ]
  return tf.keras.layers.Concatenate()(flat) if len(flat) > 1 else flat[0]


def _column_input(column: Any) -> Any:
  """Returns the input of a column: a model converts to its type, and gives a single value its axis.

  Raises:
    ValueError: for a column that is not a plain numeric one.
  """
  plain = type(column).__name__ == "NumericColumn" and column.normalizer_fn is None
  if not plain or column.dtype != tf.float32:
    raise ValueError(f"Only plain numeric columns can be inputs of the model, not {column}.")
  return tf.keras.Input(column.shape, dtype="float32", name=column.key)


def _input(spec: Any, name: Any) -> Any:
  """Returns the input for one feature."""
  what = "The features" if name is None else f"The feature {name!r}"
  if not isinstance(spec, tf.TensorSpec) or not spec.shape.rank:
    raise ValueError(f"{what} must be a dense tensor with one row for each example, not {spec}.")
  if spec.dtype != tf.float32:
    # TF1's layers took the type of their input; Keras's would convert it.
    raise ValueError(
      f"{what} must be float32, not {spec.dtype.name}: TF1's layers computed in the type of their input. Convert it "
      "in the input function if the checkpoints are of float32."
    )
  return tf.keras.Input(spec.shape[1:].as_list(), dtype=spec.dtype.name, name=name)


class LayerNames:
  """Names for layers as `tf.compat.v1.layers` gave them: `dense`, `dense_1`, ..."""

  def __init__(self) -> None:
    self._used: set[str] = set()

  def __call__(self, base: str) -> str:
    """Returns the next name of a kind of layer."""
    found, number = base, 0
    while found in self._used:
      number += 1
      found = f"{base}_{number}"
    self._used.add(found)
    return found


def input_names(model: Any) -> list[str]:
  """Returns the names of the inputs of a model, in their order.

  Raises:
    ValueError: if the model does not know its inputs.
  """
  names = getattr(model, "input_names", None)
  if names:
    return list(names)
  inputs = getattr(model, "inputs", None)
  if not inputs:
    raise ValueError(f"The model {model.name} does not know its inputs: give it an Input layer.")
  return [tensor.name for tensor in tf.nest.flatten(inputs)]


def _keys(model: Any, names: list[str], features: Mapping) -> dict[str, Any]:
  """Returns the key of the feature of each input, None if there is none."""
  keys: dict[str, Any] = {name: name if name in features else None for name in names}
  unnamed = [name for name in names if _MADE_UP.fullmatch(name) and keys[name] is None]
  if not unnamed:
    return keys
  left = [key for key in features if key not in keys.values()]
  if len(names) == 1 and len(left) == 1:
    keys[names[0]] = left[0]
  elif len(names) == 1 and isinstance(model, tf.keras.Sequential):
    key = f"{model.layers[0].name}_input"
    keys[names[0]] = key if key in features else None
  else:
    old = sorted((k for k in left if _OLD.fullmatch(k)), key=lambda k: _number(_OLD, k))
    if len(old) == len(unnamed):
      keys.update(zip(sorted(unnamed, key=lambda name: _number(_MADE_UP, name)), old))
  return keys


def _number(pattern: re.Pattern, name: str) -> int:
  """Returns the number in a name that Keras made up."""
  match = pattern.fullmatch(name)
  assert match is not None
  return int(match.group(1) or 0)


def _labels(model: Any, labels: Any) -> Any:
  """Returns the labels in the order of the outputs."""
  if not isinstance(labels, Mapping):
    return labels
  names = output_names(model)
  missing = [name for name in names if name not in labels]
  if missing:
    raise ValueError(f"The dataset lacks the label {missing[0]!r}; it has {sorted(labels)}.")
  found = [labels[name] for name in names]
  # Not a list, which tf.data would stack.
  return found[0] if len(found) == 1 else tuple(found)
