"""Every replacement of the rewrite exists on this TensorFlow and takes TF1's arguments."""

import functools
import importlib
import inspect

import tensorflow as tf

from migrator.rewrite import replacements

# What no program gives by its name.
_INTERNAL = frozenset(("self", "cls", "args", "kwargs", "_sentinel"))


def _follow(path):
  head, *parts = path.split(".")
  value = importlib.import_module("migrator.runtime") if head == "runtime" else tf
  for i, part in enumerate(parts):
    if head == "runtime" and inspect.ismodule(value):
      try:
        value = getattr(value, part)
      except AttributeError:
        value = importlib.import_module(".".join(["migrator.runtime", *parts[: i + 1]]))
    else:
      value = getattr(value, part)
  return value


def _parameters(function):
  """The parameters by name, None where a signature cannot be told."""
  try:
    return inspect.signature(function).parameters
  except (TypeError, ValueError):
    return None


@functools.cache
def _cases():
  return sorted(replacements.all_names().items())


def test_every_replacement_exists():
  missing = []
  for name, path in _cases():
    try:
      _follow(path)
    except (AttributeError, ImportError) as error:
      missing.append(f"{name} -> {path}: {error}")
  assert len(_cases()) > 300
  assert not missing, "\n".join(missing)


def _originals():
  """What TF 2.15 still has of the names that were replaced."""
  for name, path in _cases():
    if not path.startswith("runtime"):
      continue
    try:
      yield name, path, _follow(f"tf.compat.v1.{name[3:]}")
    except AttributeError:
      continue


def test_the_replacements_take_the_arguments_of_the_originals_in_their_order():
  compared, wrong = 0, []
  for name, path, original in _originals():
    old, new = _parameters(original), _parameters(_follow(path))
    if old is None or new is None:
      continue
    compared += 1
    open_end = any(p.kind is p.VAR_KEYWORD for p in new.values())
    wanted = [n for n in old if n not in _INTERNAL and not n.startswith("_")]
    known = [n for n in new if n not in _INTERNAL]
    missing = [n for n in wanted if n not in new]
    if missing and not open_end:
      wrong.append(f"{name} -> {path}: {', '.join(missing)} missing")
    elif not missing and known[: len(wanted)] != wanted:
      wrong.append(f"{name} -> {path}: {known} instead of {wanted}")
  assert not wrong, "\n".join(wrong)
  # On TF 2.16 and later the originals are gone, which is why there are replacements.
  assert compared >= (40 if hasattr(tf.compat.v1, "estimator") else 1)


def test_the_replacements_have_the_methods_of_the_originals():
  wrong = []
  for name, path, original in _originals():
    new = _follow(path)
    if not inspect.isclass(original) or not inspect.isclass(new):
      continue
    own = {n for n in dir(original) if n[0] != "_" and callable(getattr(original, n))}
    missing = sorted(own - {*dir(new)} - {*dir(tuple)})
    if missing and name.startswith("tf.estimator"):
      wrong.append(f"{name} -> {path}: {', '.join(missing)}")
  assert not wrong, "\n".join(wrong)
