"""What a program finds beside itself: data, modules, folders, tables and a command line, where they are not there made up."""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import made_up_hooks
import numpy as np
import stand_ins

_BELOW = re.compile(r"(\./)?[\w.-]+(/[\w.*{}-]+)+")
_LARGEST = 4 << 20  # bytes


def copy_data(source: str, scratch: str) -> None:
  """Copies what is no code and not large: a program finds it beside itself."""
  for file in Path(source).iterdir():
    is_data = file.is_file() and file.suffix not in (".py", ".ipynb", ".pyc")
    if is_data and file.stat().st_size <= _LARGEST:
      shutil.copy(file, scratch)


def import_siblings(text: str, source: str) -> None:
  """Imports the modules beside a program that it asks for, as far as TensorFlow 2 has what they need."""
  nodes = list(ast.walk(ast.parse(text)))
  asked = {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
  asked |= {n.module for n in nodes if isinstance(n, ast.ImportFrom) and n.module and not n.level}
  sys.path.append(source)
  for name in asked:
    if Path(source, f"{name}.py").is_file():
      before = set(sys.modules)
      try:
        importlib.import_module(name)
      except BaseException:
        for new in set(sys.modules) & {name} - before:
          del sys.modules[new]
  sys.path.remove(source)


def make_folders(text: str) -> None:
  """Makes the folders below this one that the program names: those of its data would be there."""
  for node in ast.walk(ast.parse(text)):
    path = node.value if isinstance(node, ast.Constant) else None
    if isinstance(path, str) and _BELOW.fullmatch(path) and ".." not in path:
      os.makedirs(os.path.dirname(path), exist_ok=True)


def make_up_downloads() -> None:
  """Gives the path that a file would have had, where it cannot be fetched."""
  import tensorflow as tf

  fetch = tf.keras.utils.get_file

  def get_file(fname=None, origin=None, *args, **kwargs):
    try:
      return fetch(fname, origin, *args, **kwargs)
    except Exception:
      return os.path.abspath(str(fname or origin).rpartition("/")[2])

  tf.keras.utils.get_file = get_file


def make_up_tables(text: str) -> list[Any]:
  """Lets pandas give a table for a file that is not there, with the columns that the program names.

  Returns:
    A list of the tables that were made up: it grows.
  """
  made: list[Any] = []
  try:
    import pandas as pd
  except ImportError:
    return made
  read = pd.read_csv
  found = {
    n.slice.value
    for n in ast.walk(ast.parse(text))
    if isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Constant)
  }
  named = sorted(c for c in found if isinstance(c, str))

  def read_csv(path, *args, **kwargs):
    try:
      return read(path, *args, **kwargs)
    except (OSError, TypeError, ValueError):
      columns = kwargs.get("names") or [*named, "first", "second"]
      random = np.random.RandomState(0)
      made.append(pd.DataFrame({c: random.randint(2, size=64) for c in columns}))
      return made[-1]

  pd.read_csv = read_csv
  return made


def make_up_command_line(scratch: str) -> None:
  """Gives arguments that a command line must have a value by their names."""
  parse = argparse.ArgumentParser.parse_known_args

  def parse_known_args(parser, args=None, namespace=None):
    for action in parser._actions:
      if action.required:
        kind = action.type if isinstance(action.type, type) else inspect.Parameter.empty
        action.required, action.default = False, argument(action.dest, kind, scratch)
        if not action.option_strings:
          action.nargs = "?"
    return parse(parser, args, namespace)

  setattr(argparse.ArgumentParser, "parse_known_args", parse_known_args)  # noqa: B010


def argument(name: str, annotation: Any, scratch: str) -> Any:
  """A value for a parameter of a function that makes an estimator."""
  lower = name.lower()
  if lower in ("argv", "unused_argv", "_", "args_list"):
    return ["program"]
  if "hidden" in lower or lower.endswith("_units"):
    return [4, 2]
  if isinstance(annotation, type) and issubclass(annotation, argparse.Namespace):
    return stand_ins.StandIn(name)
  return made_up_hooks.make_up(name, annotation, scratch)
