"""Input functions of which only the running program knows what they give."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Optional

import tensorflow as tf


def input_dataset(
  input_fn: Callable, mode: Optional[str] = None, params: Any = None
) -> tf.data.Dataset:
  """Calls an input function as the Estimator called it, and returns its Dataset.

  The Estimator gave it those of the arguments `mode`, `params` and `config` that it took (`_call_input_fn` in
  tensorflow_estimator/python/estimator/estimator.py); the `params` of a canned one were empty.

  Args:
    input_fn: what the `input_fn=` of the Estimator was.
    mode: "train", "eval" or "infer".
    params: those of the Estimator, if it had any.

  Raises:
    TypeError: if it returns anything but a Dataset, as tensors of a TF1 graph, or takes a RunConfig.
  """
  name = _name(input_fn)
  parameters = _parameters(input_fn)
  if "config" in parameters:
    raise TypeError(
      f"{name} takes `config`, the Estimator's RunConfig, which there is no more. Give it what it reads of it."
    )
  if "mode" in parameters and mode is None:
    raise TypeError(f"{name} takes `mode`; call input_dataset(..., mode=) with it.")
  given: dict[str, Any] = {"mode": mode, "params": {} if params is None else params}
  result = input_fn(**{key: value for key, value in given.items() if key in parameters})
  if not isinstance(result, tf.data.Dataset):
    raise TypeError(
      f"{name} returned a {type(result).__name__}, not a tf.data.Dataset. Return the Dataset itself, without "
      "make_one_shot_iterator().get_next(); tensors, as Dataset.from_tensors((features, labels)).repeat()."
    )
  return result


def _parameters(function: Any) -> list[str]:
  """The names of the parameters that the Estimator looked at (tensorflow/python/util/function_utils.py).

  Neither those that a partial has bound, nor keyword-only ones, nor those of what a decorator wraps.
  """
  if isinstance(function, functools.partial):
    return [
      name
      for name in _parameters(function.func)[len(function.args) :]
      if name not in function.keywords
    ]
  called = getattr(function, "__call__", None)  # noqa: B004
  if inspect.ismethod(called):
    function = called
  names = inspect.getfullargspec(function).args
  return names[1:] if inspect.ismethod(function) else names


def _name(function: Any) -> str:
  while isinstance(function, functools.partial):
    function = function.func
  return f"The input function {getattr(function, '__qualname__', type(function).__name__)}"
