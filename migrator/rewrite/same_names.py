"""Functions of which TF2 has another one than TF1 that does the same with most arguments.

Such a call stays `tf.reduce_mean(x, axis=1)` where every argument that it gives has the same name or
place and the same meaning in both. `same_names.txt` lists them by hand: the names, how many arguments may
be given by their place, and those that may be given by their name. tests/runtime compares the results.
"""

from __future__ import annotations

import ast
import functools
import os
from typing import NamedTuple

from migrator.analysis.module import Module, Use


class Same(NamedTuple):
  """What may be given.

  Attributes:
    positions: how many arguments without a name.
    keywords: the names of arguments.
  """

  positions: int
  keywords: tuple[str, ...]


# `layers.dense(x, 3, activation=tf.nn.tanh)` calls the function with the tensor alone.
_ACTIVATIONS = ("activation", "activation_fn")
_DATASETS = tuple(
  f"tf.data.{n}"
  for n in ("Dataset", "FixedLengthRecordDataset", "TFRecordDataset", "TextLineDataset")
)
# What only the datasets of TF1 have.
_OLD_DATASET = (
  "_make_one_shot_iterator",
  "filter_with_legacy_function",
  "make_initializable_iterator",
  "make_one_shot_iterator",
  "map_with_legacy_function",
  "output_classes",
  "output_shapes",
  "output_types",
)


@functools.cache
def table() -> dict[str, Same]:
  """{name of a function: what may be given}."""
  path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "same_names.txt")
  found = {}
  with open(path, encoding="utf-8") as file:
    for line in file:
      names, _, arguments = line.partition(" : ")
      positions, *keywords = arguments.split()
      found.update(dict.fromkeys(names.split(), Same(int(positions), tuple(keywords))))
  return found


def is_same(module: Module, use: Use) -> bool:
  """Whether plain `tf` of TF2 does the same at a use as TF1 did."""
  path, node = use.symbol.path, use.node
  if any(f"{path}.".startswith(f"{name}.") for name in _DATASETS):
    return not _has_old_datasets(module)
  same = table().get(path)
  if same is None:
    return False
  parent = module.parents.get(node)
  if isinstance(parent, ast.keyword):
    return parent.arg in _ACTIVATIONS and same.positions > 0
  if not isinstance(parent, ast.Call) or parent.func is not node:
    return False
  if len(parent.args) > same.positions or any(isinstance(a, ast.Starred) for a in parent.args):
    return False
  return all(k.arg in same.keywords for k in parent.keywords)


def _has_old_datasets(module: Module) -> bool:
  """Whether a file asks something for what only datasets of TF1 have."""
  return any(
    isinstance(node, ast.Attribute) and node.attr in _OLD_DATASET and not _is_function(module, node)
    for node in module.nodes()
  )


def _is_function(module: Module, node: ast.Attribute) -> bool:
  """Whether an attribute is a function of TensorFlow, as `tf.data.make_one_shot_iterator`."""
  symbol = module.resolve(node)
  return symbol is not None and symbol.path.rpartition(".")[0] == "tf.data"
