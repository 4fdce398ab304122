"""The words about a symbol that the messages of rules share."""

from __future__ import annotations

from typing import Any, Optional

from migrator.analysis import private_names
from migrator.analysis.symbols import Symbol
from migrator.lint import counterparts, successors

_MODE_KEYS = {"TRAIN": '"train"', "EVAL": '"eval"', "PREDICT": '"infer"'}


def of(symbol: Symbol) -> dict[str, Any]:
  """The values of a message about a symbol.

  Returns:
    `symbol`: its canonical name. `removal`: when it went, as a part of a sentence. `successor`:
    what became of it, for one of `tf.contrib`. `counterpart`: what does its work, for a hook.
    `value`: what it stands for, for a mode key.
  """
  path = shown(symbol.path)
  key = mode_key(path)
  return {
    "symbol": path,
    "removal": removal(symbol),
    "successor": successors.sentence(path) if path.startswith("tf.contrib") else "",
    "counterpart": counterparts.sentence(path),
    "value": f"the string {key}" if key else "a class of three strings",
  }


def shown(path: str) -> str:
  """A dotted name without what stands behind `__dict__`, `__init__` and the like."""
  return path.partition(".__")[0]


def removal(symbol: Symbol) -> str:
  """When a symbol went, for example "it left `tf` in TF 2.0"."""
  path = symbol.path
  if path.startswith(("tf.contrib", "tf.examples")):
    return "it was removed in TF 2.0"
  if path.startswith(("tf.estimator", "tf.keras.estimator")):
    return "it was removed in TF 2.16"
  if path.startswith("tf.keras"):
    return "Keras 3 (TF 2.16) does not have it"
  if not path.startswith("tf."):
    return "it is not public"
  if symbol.api == "v1":
    return "TF2 has it in `tf.compat.v1` only"
  return "it left `tf` in TF 2.0"


def custom_estimator(variable: Optional[str], made: bool = True) -> str:
  """The begin of the sentence about an Estimator with a model_fn.

  Args:
    variable: what it is bound to, if that is known.
    made: whether an Estimator is made here; else it is the class that is meant.
  """
  if not made:
    return ""
  owner = f"`{variable}`" if variable else "This"
  return f"{owner} is an Estimator with a model_fn of its own, and "


def spelled(symbol: Symbol) -> str:
  """The public name as TF2 code spells it, `tf.compat.v1` where it is nowhere else."""
  if symbol.api == "v1" and symbol.path.startswith("tf."):
    return "tf.compat.v1" + symbol.path[2:]
  return symbol.path


def public(symbol: Symbol) -> str:
  """Words for the public name of what stands under a private path."""
  if symbol.path.startswith("tf."):
    return f"public: `{spelled(symbol)}`"
  areas = private_names.areas(symbol.path)
  if not areas:
    return "it has no public name"
  return f"its names are public in {' and '.join(f'`{area}`' for area in areas)}"


def mode_key(path: str) -> Optional[str]:
  """The string that a mode key is, as a literal, or None."""
  head, _, key = path.rpartition(".")
  return _MODE_KEYS.get(key) if head == "tf.estimator.ModeKeys" else None
