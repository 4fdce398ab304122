"""What the graph of an Estimator called the weights of a Keras model (`model_to_estimator`).

Keras 2 named them by their layer, also within a model in the model, and those of recurrent layers by the cell as
well: `inner/dense/kernel` was `dense/kernel`, `lstm/kernel` was `lstm/lstm_cell/kernel` (measured with TensorFlow
2.15).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

_CELL = re.compile(r"/[a-z_]+_cell(_\d+)?(?=/[^/]+$)")


def nested_models(model: Any, prefix: str = "") -> Iterator[str]:
  """Yields the ways to the functional and sequential models within a model, the outer ones first.

  Args:
    model: the model.
    prefix: the way to it.
  """
  for layer in getattr(model, "layers", ()):
    if any(c.__name__ in ("Functional", "Sequential") for c in type(layer).__mro__):
      path = f"{prefix}/{layer.name}" if prefix else layer.name
      yield path
      yield from nested_models(layer, path)


def renames(weights: Collection[str], nested: Collection[str], old: Collection[str]) -> dict:
  """Returns old name -> name of the weights that the checkpoint has under the name of the graph only.

  Args:
    weights: the names of the model's weights.
    nested: what `nested_models` yielded.
    old: the variables of the checkpoint.
  """
  free: dict[str, list[str]] = {}
  for name in old:
    if name not in weights:
      # TF1's own cells have one kernel, whose gates are in another order: a map has to say so.
      is_keras = name.rpartition("/")[0] + "/recurrent_kernel" in old
      for alias in {name, _CELL.sub("", name) if is_keras else name}:
        free.setdefault(alias, []).append(name)
  found: dict[str, str] = {}
  for weight in weights:
    if weight in old:
      continue
    inside = max((p for p in nested if weight.startswith(p + "/")), key=len, default="")
    alias = weight[len(inside) + 1 :] if inside else weight
    candidates = free.get(alias, [])
    if len(candidates) == 1 and candidates[0] not in found:
      found[candidates[0]] = weight
  return found


def rename_key(key: str, names: dict[str, str]) -> str:
  """Returns the key of a variable, or of a slot that has its name within, by the new name."""
  for old, new in names.items():
    if key == old or key.startswith(old + "/"):
      return new + key[len(old) :]
    begin, found, slot = key.partition(f"/{old}/")
    if found and "/" not in slot:
      return f"{begin}/{new}/{slot}"
  return key
