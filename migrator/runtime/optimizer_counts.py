"""How many updates each optimizer of a model has made, by the checkpoint that it goes on from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Optional

from migrator.runtime.named import NamedCheckpoint, iterations_name
from migrator.runtime.plan_items import Item
from migrator.runtime.tf1_reader import Tf1Checkpoint


def counts(
  checkpoint: NamedCheckpoint,
  source: Tf1Checkpoint,
  items: Mapping[str, Item],
  owners: Sequence[Optional[str]],
) -> tuple[dict[str, int], list[str]]:
  """Returns the count of each optimizer by its name in the model's checkpoint, and what a person should know.

  Args:
    checkpoint: of the model.
    source: the checkpoint.
    items: what is loaded, by name.
    owners: of each optimizer the name in a v2 checkpoint, None if it has none there.

  Raises:
    CheckpointError: if Adam's powers of beta do not fit its decay rates.
  """
  notes: list[str] = []
  found = {}
  for place, state in enumerate(checkpoint.states):
    if source.flavour == "v2":
      found[iterations_name(place)] = _keras_updates(source, owners[place], notes)
      continue
    weights = {name for name, p in checkpoint.trained_by.items() if p == place}
    own = [
      item
      for item in items.values()
      if item.name in weights or (item.slot and item.name.rpartition("/")[0] in weights)
    ]
    found[iterations_name(place)] = _updates(source, state.adam_betas(), own, notes)
  return found, notes


def _keras_updates(source: Tf1Checkpoint, owner: Optional[str], notes: list[str]) -> int:
  """Returns the count of a Keras optimizer; without one of its own it used the global step."""
  step = source.contents.step or 0
  counted: Optional[float] = source.contents.keras_updates()
  if owner is not None:
    counted = source.contents.optimizers[owner].hyperparameters.get("iter")
  if counted not in (None, step):
    notes.append(
      f"The optimizer has made {counted} updates, the global step is {step}: both are kept."
    )
  return step if counted is None else int(counted)


def _updates(
  source: Tf1Checkpoint,
  betas: Optional[tuple[float, float]],
  items: list[Item],
  notes: list[str],
) -> int:
  """Returns the count of the optimizer that trains `items`; `betas` if it is an Adam."""
  contents = source.contents
  step = contents.step or 0
  if betas is None:
    return step
  if not any(item.slot for item in items):
    return 0  # New moments, so the correction of their bias begins anew.
  names = {
    optimizer
    for item in items
    for keys in item.keys
    for key in keys
    if key in contents.variables
    for optimizer in contents.variables[key].optimizers[:1]
  }
  adams = [n for n in sorted(names) if contents.optimizers[n].kind == "Adam"]
  if contents.step is None and not adams:
    return 0
  updates = source.adam_updates(*betas, optimizer=adams[0] if len(adams) == 1 else None)
  if updates != step:
    notes.append(f"Adam has made {updates} updates, the global step is {step}: both are kept.")
  return updates
