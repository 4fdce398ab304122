"""The loops of `tf.contrib.tpu`, which are plain loops without a TPU."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Optional

import tensorflow as tf

v1 = tf.compat.v1

__all__ = ["repeat", "while_loop"]


def while_loop(
  condition: Callable[..., Any],
  body: Callable[..., Any],
  inputs: Optional[list] = None,
  infeed_queue: Any = None,
  name: Any = None,
) -> Any:
  """Runs a body as long as a condition holds, one round after the other.

  Args:
    condition: (*values) -> a tensor [] of booleans.
    body: (*values) -> the values of the next round, with operations behind them that each round runs.
    inputs: a list of the values of the first round; None for none.
    infeed_queue: of a TPU only.
    name: says nothing, as in TF1.

  Returns:
    The values at the end: a tensor, or a list of tensors. Without values it is a tensor that has run the loop.

  Raises:
    TypeError: if a function does not take so many values, or the types of the values change.
    ValueError: if the body returns a value behind an operation, or there is an infeed queue.
  """
  del name
  if infeed_queue is not None:
    raise ValueError(
      "while_loop has an infeed_queue, which only a TPU has: give the values as inputs."
    )
  values = [tf.convert_to_tensor(one) for one in inputs or []]
  types = [one.dtype for one in values]
  for which, function in (("condition", condition), ("body", body)):
    _check_count(which, function, len(values))

  def goes_on(*now: Any) -> Any:
    return condition(*now[: len(values)])

  def one_round(*now: Any) -> Any:
    found = body(*now[: len(values)])
    found = list(found) if isinstance(found, (list, tuple)) else [found]
    found = [one if isinstance(one, tf.Operation) else tf.convert_to_tensor(one) for one in found]
    tensors = [one for one in found if not isinstance(one, tf.Operation)]
    if any(isinstance(one, tf.Operation) for one in found[: len(tensors)]):
      raise ValueError("The body of while_loop must return its operations behind its values.")
    if [one.dtype for one in tensors] != types:
      raise TypeError(
        f"The body of while_loop returned {[one.dtype for one in tensors]} for values of {types}."
      )
    operations = found[len(tensors) :]
    tensors = tensors or [tf.constant(0)]
    if operations:
      tensors = tf.tuple(tensors, control_inputs=operations)
    return tensors

  return v1.while_loop(
    goes_on, one_round, values or [tf.constant(0)], parallel_iterations=1, name=""
  )


def repeat(
  n: Any,
  body: Callable[..., Any],
  inputs: Any = None,
  infeed_queue: Any = None,
  name: Any = None,
) -> Any:
  """Runs a body a number of times; see `while_loop`.

  Args:
    n: how many times.
    body: as for `while_loop`, like what is not told here.
    inputs: a value or a list of values; None for none.
    infeed_queue: likewise.
    name: likewise.

  Returns:
    A list of the values at the end, or the operation that runs the loop when there are none.
  """

  def goes_on(i: Any, *now: Any) -> Any:
    del now
    return i < n

  def one_round(i: Any, *now: Any) -> list:
    return [i + 1, *_listed(body(*now))]

  given = [0] if inputs is None else [0, *_listed(inputs)]
  found = _listed(while_loop(goes_on, one_round, given, infeed_queue, name))
  return found[0].op if len(found) == 1 else found[1:]


def _listed(value: Any) -> list:
  return list(value) if isinstance(value, (list, tuple)) else [value]


def _check_count(which: str, function: Callable[..., Any], count: int) -> None:
  """Raises TypeError if a function does not take so many values."""
  try:
    inspect.signature(function).bind(*[None] * count)
  except TypeError as error:
    raise TypeError(
      f"The {which} of while_loop gets {count} values, which it does not take: {error}."
    ) from None
