"""Calls the user's factory for the model, or the checkpoint of one, that is to be written.

Only names, shapes and dtypes are needed for a checkpoint, so the factory runs within a graph first, where
variables have no values: that takes no memory, however large the model. A factory that needs values, e.g.
because it calls the model on a batch and looks at the result, is called again outside of the graph.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import os
import sys
import time
import traceback
from typing import Any, Callable, Optional

from migrator.runtime.errors import CheckpointError

_WHAT = "a built Keras model, a pair (model, optimizer), or runtime.named_checkpoint(...)"


class FactoryError(CheckpointError):
  """The factory cannot be found, raises, or returns something else; the cause is chained."""


@dataclasses.dataclass(frozen=True)
class Template:
  """What the factory made.

  Attributes:
    checkpoint: a `NamedCheckpoint`.
    model: the model, None if the factory returned a checkpoint.
    optimizer: the optimizer, None without one.
    light: whether it was made without values.
    seconds: how long the factory took.
  """

  checkpoint: Any
  model: Any
  optimizer: Any
  light: bool
  seconds: float


def find(spec: str) -> Callable[[], Any]:
  """Returns the factory that `pkg.module:factory` names; the current directory is searched first.

  Raises:
    FactoryError: if there is no such module or attribute, or it cannot be called.
  """
  module_name, colon, attribute = spec.partition(":")
  if not (module_name and colon and attribute):
    raise FactoryError(f"--model {spec}: write it as pkg.module:factory.")
  here = os.getcwd()
  if here not in sys.path:
    sys.path.insert(0, here)
  try:
    with contextlib.redirect_stdout(sys.stderr):
      found: Any = importlib.import_module(module_name)
  except ModuleNotFoundError as error:
    if error.name and (module_name == error.name or module_name.startswith(error.name + ".")):
      raise FactoryError(
        f"--model {spec}: there is no module {error.name} in {here} or among the installed ones."
      ) from error
    raise FactoryError(f"--model {spec}: importing {module_name} failed: {_told(error)}") from error
  except Exception as error:
    raise FactoryError(f"--model {spec}: importing {module_name} failed: {_told(error)}") from error
  for part in attribute.split("."):
    if not hasattr(found, part):
      near = [name for name in vars(found) if callable(getattr(found, name)) and name[0] != "_"]
      listed = (
        f" It has {', '.join(sorted(near)[:8])}." if near and hasattr(found, "__file__") else ""
      )
      raise FactoryError(f"--model {spec}: {module_name} has no attribute {part}.{listed}")
    found = getattr(found, part)
  if not callable(found):
    raise FactoryError(
      f"--model {spec}: {attribute} is of type {type(found).__name__}, no function that returns {_WHAT}."
    )
  return found


def build(
  spec: str,
  wrap: Callable[[Any, Any], Any],
  with_values: bool,
) -> Template:
  """Calls the factory.

  Args:
    spec: `pkg.module:factory`.
    wrap: makes a `NamedCheckpoint` of a model and an optimizer (or None).
    with_values: whether the variables need values; else they have none if the factory allows it.

  Raises:
    FactoryError: with the factory's own message and the place where it was raised.
  """
  import tensorflow as tf

  factory = find(spec)
  begin = time.monotonic()
  if not with_values:
    try:
      with tf.Graph().as_default():
        made = _made(spec, factory, wrap)
      return Template(*made, True, time.monotonic() - begin)
    except FactoryError:
      tf.keras.backend.clear_session()
      begin = time.monotonic()
  made = _made(spec, factory, wrap)
  return Template(*made, False, time.monotonic() - begin)


def _made(
  spec: str, factory: Callable[[], Any], wrap: Callable[[Any, Any], Any]
) -> tuple[Any, Any, Any]:
  """Returns the checkpoint, the model and the optimizer that a factory makes."""
  import tensorflow as tf

  from migrator.runtime import NamedCheckpoint

  try:
    with contextlib.redirect_stdout(sys.stderr):
      made = factory()
  except Exception as error:
    raise FactoryError(f"--model {spec}: the factory failed: {_told(error)}") from error
  if isinstance(made, NamedCheckpoint):
    return made, None, None
  model, optimizer = made, None
  if isinstance(made, tuple) and len(made) == 2:
    model, optimizer = made
  if not isinstance(model, tf.keras.Model):
    got = "nothing" if made is None else f"an object of type {type(made).__name__}"
    raise FactoryError(f"--model {spec}: the factory returned {got}; it must return {_WHAT}.")
  if not model.built:
    raise FactoryError(
      f"--model {spec}: the model {model.name} that the factory returned is not built, so it has no "
      "variables: begin it with tf.keras.Input, or call it on a batch before it is returned."
    )
  if optimizer is None:
    optimizer = getattr(model, "optimizer", None)
  try:
    return wrap(model, optimizer), model, optimizer
  except (ValueError, TypeError) as error:
    raise FactoryError(f"--model {spec}: {error}") from error


def _told(error: BaseException) -> str:
  """Returns the message of an error, its class, and the line of the user's code where it was raised."""
  frames = traceback.extract_tb(error.__traceback__)
  installed = (
    f"{os.sep}site-packages{os.sep}",
    f"{os.sep}dist-packages{os.sep}",
    os.path.dirname(os.__file__),
  )
  ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
  own: Optional[traceback.FrameSummary] = None
  for frame in frames:
    inside = any(part in frame.filename for part in installed) or frame.filename.startswith("<")
    if not inside and not frame.filename.startswith(ours):
      own = frame
  text = f"{type(error).__name__}: {error}"
  if isinstance(error, SyntaxError) and error.filename:
    return f"{error.filename}:{error.lineno}: {type(error).__name__}: {error.msg}"
  return f"{os.path.relpath(own.filename)}:{own.lineno}: {text}" if own else text
