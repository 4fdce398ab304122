"""What stands in for the names that TF 2.16 and later lack even under `tf.compat.v1`.

`replacements.txt` names them: the module of TF1, where the replacements are ("runtime" is the
runtime, "tf" is TensorFlow), and the names, with `=other` where the replacement has another one.
"""

from __future__ import annotations

import ast
import functools
import os
from typing import NamedTuple, Optional

from migrator.analysis import symbols, tables
from migrator.lint import rules, symbol_table
from migrator.rewrite.plan import Plan, Unsupported


class Replacement(NamedTuple):
  """What stands in for a symbol.

  Attributes:
    path: for example "runtime.layers.dense" or "tf.compat.v1.train.NewCheckpointReader".
    length: how many parts of the symbol's path it stands for; attributes follow.
  """

  path: str
  length: int


# `tf_slim` is the same code as a package of its own. It asks for Keras 2 and does not see the argument
# scopes of the runtime, so that a file has the one or the other.
_SLIM = "tf.contrib.slim"


class _Tables(NamedTuple):
  names: dict[str, str]
  homes: dict[str, str]


@functools.cache
def _tables() -> _Tables:
  folder = os.path.dirname(os.path.abspath(__file__))
  with open(os.path.join(folder, "replacements.txt"), encoding="utf-8") as file:
    lines = [line.split() for line in file]
  names: dict[str, str] = {}
  sizes: dict[str, list[tuple[int, str]]] = {}
  for module, home, *words in lines:
    for word in words:
      name, _, other = word.partition("=")
      names[f"{module}.{name}"] = f"{home}.{other or name}"
    sizes.setdefault(module, []).append((len(words), home))
  homes = {module: max(found)[1] for module, found in sizes.items()}
  for table in (names, homes):
    for path in [p for p in table if f"{p}.".startswith(f"{_SLIM}.")]:
      table[f"tf_slim{path[len(_SLIM) :]}"] = table[path]
  return _Tables(names, homes)


def all_names() -> dict[str, str]:
  """{name of TF1: replacement}."""
  return dict(_tables().names)


def home(path: str) -> Optional[str]:
  """The module that stands in for most names of a module of TF1, or None."""
  return _tables().homes.get(path)


def find(path: str) -> Optional[Replacement]:
  """The replacement of a symbol, or of what it is an attribute of; None where there is none.

  Args:
    path: canonical, for example "tf.estimator.ModeKeys.TRAIN".
  """
  names, parts = _tables().names, path.split(".")
  for length in range(len(parts), 1, -1):
    found = names.get(".".join(parts[:length]))
    if found is not None:
      return Replacement(found, length)
  return None


@functools.cache
def _gone() -> frozenset[str]:
  lines = (line.split() for line in tables.read("gone_names.txt").splitlines())
  return frozenset(f"{module}.{name}" for module, *names in lines for name in names)


def is_slim(symbol: symbols.Symbol) -> bool:
  """Whether a symbol is `tf_slim` or in it."""
  return symbol.path.partition(".")[0] == "tf_slim"


_GONE_MODULES = ("tf.contrib", "tf.examples", "tf.layers", "tf.nn.rnn_cell")
_PRIVATE = (
  "tensorflow.python.estimator",
  "tensorflow.python.keras",
  "tensorflow.tools.graph_transforms",
)


def removed(symbol: symbols.Symbol) -> bool:
  """Whether TF 2.16 and later lack a symbol, also as `tf.compat.v1`."""
  path = symbol.path
  if is_slim(symbol):
    return True
  if path in _GONE_MODULES or path.startswith(("tf.contrib.", "tf.examples.")):
    return True
  if path.startswith(_PRIVATE):
    return True
  parts = path.split(".")
  return any(".".join(parts[:n]) in _gone() for n in range(2, len(parts) + 1))


def code_of(symbol: symbols.Symbol) -> str:
  """The rule that reports a symbol without a replacement."""
  if is_slim(symbol):
    return "EM911"
  found = symbol_table.of(rules.load()).code(symbol.path)
  return found or ("EM902" if symbol.private else "EM219")


def plan_file(plan: Plan, *, whole: bool) -> list[Unsupported]:
  """Plans the replacement of every removed name of a file, and TF1's spelling of the others.

  Args:
    plan: gets the edits. Names that have a replacement are planned in any case.
    whole: whether nothing but the names of the file changes, so that `import tensorflow as tf` may
      become `import tensorflow.compat.v1 as tf` where the file is written for TF1.

  Returns:
    One for each use of a removed name that has no replacement.
  """
  from migrator.rewrite import replacements_uses

  return replacements_uses.plan_file(plan, whole)


def unsupported(symbol: symbols.Symbol, node: ast.AST) -> Unsupported:
  """The reason not to rewrite a use of a removed symbol."""
  return Unsupported(code_of(symbol), node, symbol=symbol.path)
