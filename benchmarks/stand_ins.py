"""Stand-ins for modules that are not installed, so that a file of a repository can be imported alone.

An import that fails gets a module whose names are all stand-ins. TensorFlow and Keras never get one: a file that
asks them for what they do not have must fail.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import inspect
import operator
import os
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any, Optional

PACKAGE = "stand_in_package"
# What must be there itself: TensorFlow's own, and what only Python 2 had.
_NEVER = frozenset(
  """
  tensorflow tensorflow_core tensorflow_estimator keras
  ConfigParser Queue StringIO __builtin__ cPickle commands urllib2 urlparse
  """.split()
)


class StandIn:
  """Takes part in everything: it is called, indexed, entered, derived from and counted with as 1."""

  def __init__(self, name: str = "stand_in"):
    self.__dict__["_stand_in_name"] = name

  def __getattr__(self, name: str) -> Any:
    if name.startswith("__") and name.endswith("__"):
      raise AttributeError(name)
    value = StandIn(name)
    self.__dict__[name] = value
    return value

  def __call__(self, *args: Any, **kwargs: Any) -> Any:
    # As a decorator it leaves what it decorates.
    if len(args) == 1 and not kwargs and (inspect.isclass(args[0]) or inspect.isfunction(args[0])):
      return args[0]
    return StandIn(self._stand_in_name)

  def __mro_entries__(self, bases: tuple) -> tuple:
    return ()

  def __instancecheck__(self, instance: Any) -> bool:
    return False

  def __subclasscheck__(self, subclass: Any) -> bool:
    return False

  def __getitem__(self, key: Any) -> StandIn:
    return StandIn(str(key))

  def __setitem__(self, key: Any, value: Any) -> None:
    del key, value

  def __iter__(self) -> Iterator[Any]:
    return iter(())

  def __contains__(self, item: Any) -> bool:
    return False

  def __len__(self) -> int:
    return 0

  def __bool__(self) -> bool:
    return True

  def __enter__(self) -> StandIn:
    return self

  def __exit__(self, *exception: Any) -> None:
    return None

  def __int__(self) -> int:
    return 1

  def __float__(self) -> float:
    return 1.0

  def __index__(self) -> int:
    return 1

  def __fspath__(self) -> str:
    return self._stand_in_name

  def __str__(self) -> str:
    return self._stand_in_name

  def __format__(self, spec: str) -> str:
    try:
      return format(self._stand_in_name, spec)
    except ValueError:
      return format(1, spec)


def _binary(function, swapped):
  def method(self, other):
    other = 1 if isinstance(other, StandIn) else other
    return function(other, 1) if swapped else function(1, other)

  return method


for _name in "add sub mul truediv floordiv mod pow".split():
  setattr(StandIn, f"__{_name}__", _binary(getattr(operator, _name), False))
  setattr(StandIn, f"__r{_name}__", _binary(getattr(operator, _name), True))
for _name in "lt le gt ge".split():
  setattr(StandIn, f"__{_name}__", _binary(getattr(operator, _name), False))


class _Module(types.ModuleType):
  """A module that has every name."""

  def __getattr__(self, name: str) -> Any:
    if name.startswith("__") and name.endswith("__"):
      raise AttributeError(name)
    value = StandIn(name)
    setattr(self, name, value)
    return value


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
  """Comes last in `sys.meta_path`: it is asked for what nobody else has.

  Attributes:
    made: the names of the modules for which it made stand-ins, in order.
  """

  def __init__(self, folder: Optional[str] = None) -> None:
    self.made: list[str] = []
    self._folder = folder

  def find_spec(self, fullname: str, path: Optional[Sequence[str]] = None, target: Any = None):
    if fullname.partition(".")[0] in _NEVER or not _asked_by_a_file_of_ours(self._folder):
      return None
    return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

  def create_module(self, spec):
    self.made.append(spec.name)
    module = _Module(spec.name)
    module.__all__ = []
    return module

  def exec_module(self, module) -> None:
    del module


def _asked_by_a_file_of_ours(folder: Optional[str]) -> bool:
  """Whether the import stands in the file that is tried: TensorFlow must not find what it can do without."""
  frame = sys._getframe(2)
  while frame is not None and "importlib" in frame.f_code.co_filename:
    frame = frame.f_back
  if frame is None:
    return False
  if folder is not None:
    return str(frame.f_globals.get("__file__")).startswith(folder + os.sep)
  return str(frame.f_globals.get("__name__")).startswith(PACKAGE)


def install(folder: Optional[str] = None) -> Finder:
  """Adds a finder to this process, and returns it.

  Args:
    folder: whose files get stand-ins; None for modules of the package of that name.
  """
  finder = Finder(folder)
  sys.meta_path.append(finder)
  return finder
