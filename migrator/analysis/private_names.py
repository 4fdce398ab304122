"""The public names of what private modules of TensorFlow hold."""

from __future__ import annotations

import functools
from typing import Optional

from migrator.analysis import tables

_APIS = {"!": "v1", "~": "v2"}


@functools.cache
def _table() -> dict[str, dict[str, tuple[str, str]]]:
  """{module: {name: (public name, api)}}; made by tests/rules/make_symbol_list.py."""
  table: dict[str, dict[str, tuple[str, str]]] = {}
  for line in tables.read("private_names.txt").splitlines():
    module, prefix, *words = line.split()
    names = table.setdefault(module, {})
    for word in words:
      api = _APIS.get(word[0], "")
      name, _, other = word.lstrip("!~").partition("=")
      names[name] = (f"{prefix}.{other or name}", api)
  return table


def public(module: str, name: str) -> Optional[tuple[str, str]]:
  """The public name of `name` in a private module, and its API: "v1", "v2" or "" for both.

  Args:
    module: for example "tensorflow.python.estimator.canned.dnn"; `tensorflow_estimator.python.`
      counts as `tensorflow.python.`.
    name: for example "DNNClassifierV2", which is `tf.estimator.DNNClassifier` of "v2".

  Returns:
    None where the name is not public.
  """
  return _table().get(module, {}).get(name)


def areas(module: str) -> tuple[str, ...]:
  """The public modules in which the names of a private module are found, for example "tf.train"."""
  found = {path.rpartition(".")[0] for path, _ in _table().get(module, {}).values()}
  return tuple(sorted(found))


def names(module: str) -> tuple[str, ...]:
  """The public names that `from module import *` of a private module binds."""
  return tuple(_table().get(module, ()))


def modules() -> tuple[str, ...]:
  """The private modules that hold public names."""
  return tuple(_table())
