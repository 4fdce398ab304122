"""Compares the hyperparameters that a v2 Estimator kept in its checkpoint with the program's."""

from __future__ import annotations

from typing import Any

import numpy as np

from migrator.runtime.errors import CheckpointError
from migrator.runtime.named import NamedCheckpoint, rate_name
from migrator.runtime.plan_items import Plan
from migrator.runtime.tf1_reader import Tf1Checkpoint


def check_hyperparameters(
  source: Tf1Checkpoint, checkpoint: NamedCheckpoint, plan: Plan
) -> dict[str, str]:
  """Compares the hyperparameters of a v2 checkpoint with the program's.

  Returns:
    The name of each learning rate of the program that has to be loaded -> its key.

  Raises:
    CheckpointError: if one differs that cannot be loaded.
  """
  rate_keys: dict[str, str] = {}
  differences: list[str] = []
  for place, state in enumerate(checkpoint.states):
    owner = plan.optimizers[place] if len(checkpoint.states) > 1 else None
    if len(checkpoint.states) > 1 and owner is None:
      continue
    attributes = dict(state.kind.hyperparameters)
    for key, value in source.hyperparameters(owner).items():
      name = key.rsplit("/", 1)[-1]
      if name == "iter":
        continue  # A count.
      if name == "learning_rate":
        # A schedule is a function of the step; the Estimator did not store it.
        if rate_name(place) in checkpoint.by_name:
          rate_keys[rate_name(place)] = key
        continue
      _compare(key, value, attributes.get(name), state, differences)
  if differences:
    raise CheckpointError(
      f"The Estimator would go on with the values of {source.prefix}: {'; '.join(differences)}. "
      "Write them into the program. Nothing has been loaded."
    )
  return rate_keys


def _compare(key: str, value: float, attribute: Any, state: Any, differences: list[str]) -> None:
  given = state.hyperparameter(attribute) if attribute is not None else 0.0
  if np.float32(given) != np.float32(value):
    differences.append(f"{key} is {value:g}, the program has {given:g}")
