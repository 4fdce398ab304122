"""The names that TF 1.15 and 2.15 had and plain `tf` of TF 2.21 lacks."""

from __future__ import annotations

import functools

from migrator.analysis import tables


@functools.cache
def _table() -> dict[str, tuple[str, ...]]:
  """{public module: names}; made by tests/rules/make_symbol_list.py."""
  lines = (line.split() for line in tables.read("removed_names.txt").splitlines())
  return {module: tuple(names) for module, *names in lines}


def names(module: str) -> tuple[str, ...]:
  """The names that a public module lost; () for a module that lost none.

  Args:
    module: for example "tf.estimator" or "tf.contrib.tpu".
  """
  return _table().get(module, ())


def all_names() -> dict[str, tuple[str, ...]]:
  """All of them by public module."""
  return dict(_table())
