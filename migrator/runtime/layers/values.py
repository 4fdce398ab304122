"""What arguments of `tf.layers` may be besides functions: names, classes and configurations."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Optional

import tensorflow as tf

v1 = tf.compat.v1

# As TF 1.15 reads them. Not tf.keras.activations: Keras 3 has another hard_sigmoid.
_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
  "elu": tf.nn.elu,
  "exponential": tf.exp,
  "gelu": tf.nn.gelu,
  "hard_sigmoid": lambda x: tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0),
  "linear": lambda x: x,
  "relu": tf.nn.relu,
  "selu": tf.nn.selu,
  "sigmoid": tf.nn.sigmoid,
  "softmax": tf.nn.softmax,
  "softplus": tf.nn.softplus,
  "softsign": tf.nn.softsign,
  "swish": tf.nn.swish,
  "tanh": tf.nn.tanh,
}

# The scales are those of tf.keras in TF 1.15, which `tf.layers` reads names with.
_INITIALIZERS: dict[str, Callable[[], Any]] = {
  "constant": v1.constant_initializer,
  "glorot_normal": v1.glorot_normal_initializer,
  "glorot_uniform": v1.glorot_uniform_initializer,
  "he_normal": lambda: v1.variance_scaling_initializer(2.0, "fan_in", "truncated_normal"),
  "he_uniform": lambda: v1.variance_scaling_initializer(2.0, "fan_in", "uniform"),
  "identity": v1.initializers.identity,
  "lecun_normal": lambda: v1.variance_scaling_initializer(1.0, "fan_in", "truncated_normal"),
  "lecun_uniform": lambda: v1.variance_scaling_initializer(1.0, "fan_in", "uniform"),
  "normal": lambda: v1.random_normal_initializer(0.0, 0.05),
  "one": v1.ones_initializer,
  "ones": v1.ones_initializer,
  "orthogonal": v1.orthogonal_initializer,
  "random_normal": lambda: v1.random_normal_initializer(0.0, 0.05),
  "random_uniform": lambda: v1.random_uniform_initializer(-0.05, 0.05),
  "truncated_normal": lambda: v1.truncated_normal_initializer(0.0, 0.05),
  "uniform": lambda: v1.random_uniform_initializer(-0.05, 0.05),
  "variance_scaling": v1.variance_scaling_initializer,
  "zero": v1.zeros_initializer,
  "zeros": v1.zeros_initializer,
}


def activation(value: Any) -> Optional[Callable[[Any], Any]]:
  """Returns the function that an activation argument means, None for none.

  Raises:
    ValueError: no activation of TF1 has this name.
  """
  if value is None or callable(value):
    return value
  if value in _ACTIVATIONS:
    return _ACTIVATIONS[value]
  raise ValueError(
    f"Unknown activation {value!r}: give a function, or one of {_names(_ACTIVATIONS)}"
  )


def initializer(value: Any) -> Any:
  """Returns what `get_variable` takes for an initializer argument.

  Raises:
    ValueError: no initializer of TF1 has this name.
  """
  if isinstance(value, str):
    name = "".join(f"_{c.lower()}" if c.isupper() else c for c in value).lstrip("_")
    if name not in _INITIALIZERS:
      raise ValueError(
        f"Unknown initializer {value!r}: give an object, or one of {_names(_INITIALIZERS)}"
      )
    return _INITIALIZERS[name]()
  if isinstance(value, dict):
    return tf.keras.initializers.get(value)
  return value() if inspect.isclass(value) else value


def regularizer(value: Any) -> Optional[Callable[[Any], Any]]:
  """Returns the function from a variable to its loss that a regularizer argument means."""
  return value if value is None or callable(value) else tf.keras.regularizers.get(value)


def constraint(value: Any) -> Optional[Callable[[Any], Any]]:
  """Returns the function from a variable's value to the permitted one that a constraint means."""
  return value if value is None or callable(value) else tf.keras.constraints.get(value)


def numbers(value: Any, count: int, what: str) -> tuple[int, ...]:
  """Returns `count` integers from one for all, or from a sequence of them.

  Args:
    value: an integer, or `count` of them.
    count: the number of dimensions.
    what: name of the argument, for the message.

  Raises:
    ValueError: it is neither.
  """
  if isinstance(value, int):
    return (value,) * count
  try:
    found = tuple(int(v) for v in value)
  except (TypeError, ValueError):
    found = ()
  if len(found) != count:
    raise ValueError(f"`{what}` must be an integer or {count} of them, not {value!r}")
  return found


def one_of(value: Any, allowed: tuple[str, ...], what: str) -> str:
  """Returns a name in lower case.

  Raises:
    ValueError: it is not one of those allowed.
  """
  name = value.lower() if isinstance(value, str) else value
  if name not in allowed:
    raise ValueError(f"`{what}` must be one of {', '.join(allowed)}, not {value!r}")
  return str(name)


def data_format(value: Any) -> str:
  """Returns channels_last (also for None) or channels_first.

  Raises:
    ValueError: it is neither.
  """
  layouts = ("channels_last", "channels_first")
  return one_of("channels_last" if value is None else value, layouts, "data_format")


def layout(order: str, rank: int) -> str:
  """Returns TensorFlow's name of a data format: NHWC for channels_last at rank 4."""
  spatial = {3: "W", 4: "HW", 5: "DHW"}[rank]
  return f"NC{spatial}" if order == "channels_first" else f"N{spatial}C"


def on(condition: Any) -> Optional[bool]:
  """Returns whether a training argument is on where that is known while the graph is built."""
  if isinstance(condition, (tf.Tensor, tf.Variable)):
    known = tf.get_static_value(condition) if isinstance(condition, tf.Tensor) else None
    return None if known is None else bool(known)
  return bool(condition)


def choose(condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
  """Returns yes() or no(), or a conditional in the graph where the condition is not known."""
  known = on(condition)
  if known is None:
    return tf.cond(tf.cast(condition, tf.bool), yes, no)
  return yes() if known else no()


def _names(table: dict[str, Any]) -> str:
  return ", ".join(sorted(table))
