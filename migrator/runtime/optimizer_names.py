"""Which optimizer a name in a checkpoint means, and what TF1 called its slots."""

from __future__ import annotations

# How many slots an optimizer of that name has, with TF1's default names.
KINDS = {
  "Adam": ("Adam", ("Adam", "Adam_1")),
  "Adagrad": ("Adagrad", ("Adagrad",)),
  "Momentum": ("Momentum", ("Momentum",)),
  "RMSProp": ("RMSProp", ("RMSProp", "RMSProp_1")),
  "Ftrl": ("Ftrl", ("Ftrl", "Ftrl_1")),
  "Adadelta": ("Adadelta", ("Adadelta", "Adadelta_1")),
  "ProximalAdagrad": ("ProximalAdagrad", ("ProximalAdagrad",)),
}
_CENTERED = ("CenteredRMSProp", ("RMSProp", "RMSProp_1", "RMSProp_2"))
# Optimizers that name each of their slots: BERT's and its descendants', and Mesh TensorFlow's (T5).
_NAMED = {
  "AdamWeightDecay": ("adam_m", "adam_v"),
  "LAMB": ("lamb_m", "lamb_v"),
  "MeshAdafactor": ("slot_v", "slot_vr", "slot_vc", "slot_m"),
}
APART = {
  suffix: (name, number)
  for name, suffixes in _NAMED.items()
  for number, suffix in enumerate(suffixes)
}
"""Suffix -> the optimizer, and the number of the slot."""
FOREIGN = (
  "LAMB MeshAdafactor AdagradDA AdaMax AdamW MomentumW RegAdagrad NadamOptimizer Nadam LARS "
  "LARSOptimizer AddSign AddSignOptimizer PowerSign PowerSignOptimizer GGT Shampoo Adafactor"
).split()
"""Optimizers whose name is known and whose rule is none of the kinds."""
# An optimizer of such a name is none of the kind whose name is within it.
_NOT_ADAM = ("nadam", "radam", "padam", "adamax", "adamod", "adagradda")
# Those of the foreign ones that keep Adam's powers of beta.
_POWERS = ("AdaMax", "AdamW", "NadamOptimizer", "Nadam")


def kind_of(base: str, count: int) -> tuple[str, tuple[str, ...]]:
  """Returns the kind, and TF1's names of its slots.

  Args:
    base: the optimizer's name.
    count: the number of slots of that name that a variable has at most: those of one optimizer, or of
      several.
  """
  if base in _NAMED:
    return base if base not in FOREIGN else "unknown", _NAMED[base]
  if base == "RMSProp" and count % 2 and count % 3 == 0:
    return _CENTERED
  if base in KINDS:
    return KINDS[base]
  words = base.lower()
  if base not in FOREIGN and not any(name in words for name in _NOT_ADAM):
    # A program's own name for it often says it. The longest first: ProximalAdagrad is no Adagrad.
    for name in sorted(KINDS, key=len, reverse=True):
      if name.lower() in words and count == len(KINDS[name][1]):
        return KINDS[name]
    if count == 3:
      return _CENTERED
  return "unknown", tuple(base if not i else f"{base}_{i}" for i in range(count))


def has_powers(kind: str, base: str) -> bool:
  """Returns whether an optimizer keeps the running powers of beta."""
  return kind == "Adam" or base in _POWERS
