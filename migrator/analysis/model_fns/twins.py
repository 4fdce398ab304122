"""Statements that a model_fn has once for each mode.

Where each mode has a branch of its own, the same statement often stands in all of them, as
`logits = model(image, training=True)` in the one of training and `training=False` in the others. Such twins
are one statement of the network.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Optional

from migrator.analysis import facts, symbols
from migrator.analysis.model_fns.modes import TRAIN, Function, Leaf
from migrator.analysis.model_fns.pieces import TRAINING
from migrator.analysis.module import Module

_Twins = dict[int, tuple[int, frozenset[ast.Constant]]]


def merged(
  function: Function, modes: Iterable[str]
) -> tuple[dict[str, list[Leaf]], set[ast.Constant]]:
  """The statements of each mode, twins of the training's as those of the training.

  Returns:
    Mode -> statements, and the constants of the training's statements that are True where the network is
    trained, and False else.

  Raises:
    Unreadable: as of `Function.live`.
  """
  leaves = {mode: function.live(mode) for mode in modes}
  train = leaves.get(TRAIN)
  if train is None:
    return leaves, set()
  twins = {
    mode: _twins(function.module, train, found) for mode, found in leaves.items() if mode != TRAIN
  }
  # Which constants each other mode has as False; a statement that modes share has none.
  differ: dict[int, set[frozenset[ast.Constant]]] = {}
  positions = {leaf.node: i for i, leaf in enumerate(train)}
  for mode, pairs in twins.items():
    for at, constants in pairs.values():
      differ.setdefault(at, set()).add(constants)
    for leaf in leaves[mode]:
      if leaf.node in positions:
        differ.setdefault(positions[leaf.node], set()).add(frozenset())
  bound = TRAINING in function.scope.bindings
  good = {
    at: next(iter(found))
    for at, found in differ.items()
    if len(found) == 1 and not (bound and any(found))
  }
  for mode, pairs in twins.items():
    for index, (at, _) in pairs.items():
      if at in good:
        leaves[mode][index] = train[at]
  return leaves, {constant for constants in good.values() for constant in constants}


def _twins(module: Module, train: list[Leaf], other: list[Leaf]) -> _Twins:
  """Index in another mode -> index in the training and constants, in the order of both."""
  positions = {leaf.node: i for i, leaf in enumerate(train)}
  shared = [positions.get(leaf.node) for leaf in other]
  found: _Twins = {}
  begin = 0
  for index, leaf in enumerate(other):
    at = shared[index]
    if at is not None:
      begin = at + 1
      continue
    end = next((i for i in shared[index:] if i is not None), len(train))
    for candidate in range(begin, end):
      constants = _same_leaf(module, train[candidate], leaf)
      if constants is not None:
        found[index] = candidate, frozenset(constants)
        begin = candidate + 1
        break
  return found


def _same_leaf(module: Module, train: Leaf, other: Leaf) -> Optional[list[ast.Constant]]:
  if isinstance(train.node, ast.Return) or len(train.withs) != len(other.withs):
    return None
  heads = zip(train.withs, other.withs)
  if not all(_same(module, [*a.items], [*b.items]) == [] for a, b in heads):
    return None
  return _same(module, train.node, other.node)


def _same(module: Module, train, other) -> Optional[list[ast.Constant]]:
  """The constants that are True in the one and False in the other; None if more is different."""
  if type(train) is not type(other):
    return None
  if isinstance(train, list):
    if len(train) != len(other):
      return None
    parts = [_same(module, a, b) for a, b in zip(train, other)]
  elif isinstance(train, ast.Constant):
    if train.value is True and other.value is False:
      return [train]
    equal = type(train.value) is type(other.value) and train.value == other.value
    return [] if equal else None
  elif isinstance(train, ast.Attribute) and _is_same_symbol(module, train, other):
    return []
  elif isinstance(train, ast.AST):
    fields = train._fields
    parts = [_same(module, getattr(train, f, None), getattr(other, f, None)) for f in fields]
  else:
    return [] if train == other else None
  found: list[ast.Constant] = []
  for part in parts:
    if part is None:
      return None
    found += part
  return found


def _is_same_symbol(module: Module, one: ast.Attribute, other: ast.Attribute) -> bool:
  """Whether two spellings mean the same of TensorFlow, as `tf.losses` and `tf.compat.v1.losses`."""
  first, second = module.resolve(one), module.resolve(other)
  if first is None or second is None or not symbols.is_tensorflow(first):
    return False
  if first.path != second.path or first.private or second.private:
    return False
  # Plain `tf` is `tf.compat.v1` in TF1, which is where a name comes from that TF2 does not have.
  is_tf1 = facts.is_tf1_name(first.path) or facts.written_for_tf1(module) is not None
  plain = "v1" if is_tf1 else "v2"
  return (first.api or plain) == (second.api or plain)
