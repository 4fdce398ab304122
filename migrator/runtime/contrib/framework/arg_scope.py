"""Default arguments for functions within a scope, as `tf.contrib.framework.arg_scope` gave them."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any, Callable, Union

Scope = dict[str, dict[str, Any]]

# The innermost scope is the last one.
_SCOPES: list[Scope] = [{}]
_DECORATED: set[str] = set()


def arg_scope_func_key(op: Callable[..., Any]) -> str:
  """Returns what a function is called in a scope."""
  return getattr(op, "_key_op", str(op))


def current_arg_scope() -> Scope:
  """Returns the defaults in force: {key of a function: {argument: value}}."""
  return _SCOPES[-1]


def has_arg_scope(func: Callable[..., Any]) -> bool:
  """Returns whether the function was decorated with `add_arg_scope`."""
  return arg_scope_func_key(func) in _DECORATED


def _extended(functions: list[Any] | tuple[Any, ...], defaults: dict[str, Any]) -> Scope:
  scope = dict(current_arg_scope())
  for function in functions:
    if not has_arg_scope(function):
      name = getattr(function, "__name__", function)
      raise ValueError(
        f"arg_scope: {name} takes no defaults, as it is not decorated with @add_arg_scope."
      )
    key = arg_scope_func_key(function)
    scope[key] = {**scope.get(key, {}), **defaults}
  return scope


@contextlib.contextmanager
def arg_scope(
  list_ops_or_scope: Union[list[Any], tuple[Any, ...], Scope], **kwargs: Any
) -> Iterator[Scope]:
  """Sets default arguments of functions; arguments of a call itself win.

  Args:
    list_ops_or_scope: functions decorated with `add_arg_scope`, or a scope that an earlier `arg_scope`
      gave, which then replaces all defaults in force.
    **kwargs: the defaults, added to those of the scopes around.

  Yields:
    The scope, to be entered again later.

  Raises:
    TypeError: if it is neither a list, a tuple nor a scope.
    ValueError: if a function is not decorated, or a scope comes with defaults.
  """
  if isinstance(list_ops_or_scope, dict):
    if kwargs:
      raise ValueError("arg_scope: a scope that is entered again takes no further defaults.")
    scope = list_ops_or_scope.copy()
  elif isinstance(list_ops_or_scope, (list, tuple)):
    scope = _extended(list_ops_or_scope, kwargs)
  else:
    raise TypeError("arg_scope takes a list or tuple of functions, or a scope to be entered again.")
  _SCOPES.append(scope)
  try:
    yield scope
  finally:
    _SCOPES.pop()


def add_arg_scope(func: Callable[..., Any]) -> Any:
  """Decorates a function so that `arg_scope` can set its default arguments."""
  key = arg_scope_func_key(func)

  @functools.wraps(func)
  def with_defaults(*args: Any, **kwargs: Any) -> Any:
    return func(*args, **{**current_arg_scope().get(key, {}), **kwargs})

  _DECORATED.add(key)
  with_defaults._key_op = key  # type: ignore[attr-defined]
  return with_defaults
