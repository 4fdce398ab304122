"""Loads the checkpoint of a canned Estimator into a `NamedCheckpoint`: everything or nothing."""

from __future__ import annotations

import dataclasses
import difflib
from typing import Optional

import numpy as np
import tensorflow as tf

from migrator.runtime import differences, named, state
from migrator.runtime.errors import CheckpointError
from migrator.runtime.tf1_reader import GLOBAL_STEP, Tf1Checkpoint


@dataclasses.dataclass(frozen=True)
class LoadReport:
  """What `load_tf1_checkpoint` has done.

  Attributes:
    prefix: the checkpoint, None if there was none.
    step: its global step.
    loaded: the names of the variables that were assigned.
    missing: the names of the variables that the checkpoint lacks.
    unused: the keys of the checkpoint that nothing in the program asked for.
    mismatched: the names of the variables of other shapes.
  """

  prefix: Optional[str]
  step: int
  loaded: tuple = ()
  missing: tuple = ()
  unused: tuple = ()
  mismatched: tuple = ()


def load_tf1_checkpoint(checkpoint: named.NamedCheckpoint, path: str) -> LoadReport:
  """Loads weights, optimizer slots and steps from a checkpoint of a canned Estimator.

  Args:
    checkpoint: what to load into.
    path: a checkpoint prefix, a model directory (its newest checkpoint is taken), or one of the files.

  Returns:
    What was loaded. In an empty directory nothing is, with a warning.

  Raises:
    CheckpointError: unless every variable is in the checkpoint, and every variable of the checkpoint
      is in the program; the message lists all that differ. Nothing has been loaded then.
  """
  prefix = state.resolve(path)
  if prefix is None:
    tf.get_logger().warning(
      "There is no checkpoint in %s: starting from the initial weights.", path
    )
    return LoadReport(prefix=None, step=0)
  source = Tf1Checkpoint(prefix)
  if source.flavour != checkpoint.flavour:
    raise CheckpointError(differences.flavour_message(prefix, source.flavour, checkpoint.flavour))
  keys = _match(source, checkpoint)
  rate_key = _check_hyperparameters(source, checkpoint)
  if rate_key is not None:
    keys[named.LEARNING_RATE] = [rate_key]
  step = source.step
  betas = checkpoint.optimizer_state.adam_betas()
  updates = source.adam_updates(*betas) if betas and source.flavour == "v1" else step
  # All is read before anything is assigned: a damaged value must not leave half a model.
  values = {name: source.read(parts) for name, parts in keys.items()}
  rate = differences.number(checkpoint.by_name.get(named.LEARNING_RATE))
  for name, value in values.items():
    checkpoint.by_name[name].assign(value)
  checkpoint.by_name[named.STEP].assign(step)
  checkpoint.by_name[named.ITERATIONS].assign(updates)
  differences.report_learning_rate(prefix, rate, checkpoint.by_name.get(named.LEARNING_RATE))
  tf.get_logger().info("Restored step %d from %s.", step, prefix)
  return LoadReport(prefix=prefix, step=step, loaded=(*values, named.STEP, named.ITERATIONS))


def _match(source: Tf1Checkpoint, checkpoint: named.NamedCheckpoint) -> dict[str, list[str]]:
  """Returns the keys that hold each variable, by the name of the variable.

  Raises:
    CheckpointError: if the variables of the two sides differ.
  """
  optimizer = checkpoint.optimizer_state
  keys = {name: [name] for name in checkpoint.weights if name in source.shapes}
  ignored = {GLOBAL_STEP, *source.hyperparameters()}
  if optimizer.kind.name == "Adam":
    ignored.update(source.counters())
  for slot in optimizer.kind.slots:
    for weight, parts in source.slot_keys(checkpoint.trainable, slot, optimizer.kind).items():
      keys[f"{weight}/{slot.suffix}"] = parts
    if source.flavour == "v1" and slot.in_v1:
      # What is no slot of a known optimizer still has its own name; it must not pass as loaded.
      names = (f"{weight}/{slot.suffix}" for weight in checkpoint.trainable)
      keys.update({n: [n] for n in names if n in source.shapes and n not in keys})
  for suffix in optimizer.kind.ignored:
    ignored.update(key for key in source.shapes if key.endswith("/" + suffix))
  used = ignored.union(*keys.values())
  not_weights = (named.STEP, named.ITERATIONS, named.LEARNING_RATE)
  expected = {n: tuple(v.shape) for n, v in checkpoint.by_name.items() if n not in not_weights}
  found = {name: source.shapes[parts[0]] for name, parts in keys.items()}
  found.update({key: shape for key, shape in source.shapes.items() if key not in used})
  optimizers = (source.optimizer, _name(optimizer.kind, source.flavour))
  try:
    differences.compare(source.prefix, expected, found, optimizers)
  except CheckpointError as e:
    # Another optimizer says it all; else the names may differ in their scope only.
    same = source.optimizer == _name(optimizer.kind, source.flavour)
    raise CheckpointError(f"{e}{_candidates(expected, found) if same else ''}") from None
  for name, parts in keys.items():
    if source.dtype(parts[0]) != checkpoint.by_name[name].dtype.base_dtype:
      raise CheckpointError(
        f"{name} is {source.dtype(parts[0]).name} in {source.prefix}, and "
        f"{checkpoint.by_name[name].dtype.name} in the model; nothing has been loaded."
      )
  return keys


def _name(kind, flavour: str) -> str:
  return kind.legacy if flavour == "v2" else kind.name


def _candidates(expected: dict, found: dict) -> str:
  """Returns a sentence on the scope, if the names differ in nothing but their beginning."""
  missing = [name for name in expected if name not in found]
  unused = [name for name in found if name not in expected]
  for name in missing:
    tail = name.split("/", 1)[-1]
    near = [n for n in unused if n == tail or n.endswith("/" + tail)]
    near = near or difflib.get_close_matches(name, unused, n=2)
    if near:
      return f"\nIs {name} of the program called {' or '.join(sorted(near)[:3])} in the checkpoint?"
  return ""


def _check_hyperparameters(
  source: Tf1Checkpoint, checkpoint: named.NamedCheckpoint
) -> Optional[str]:
  """Compares the hyperparameters of a v2 checkpoint with the program's.

  Returns:
    The key of the learning rate that has to be loaded, or None.

  Raises:
    CheckpointError: if one differs that cannot be loaded.
  """
  optimizer = checkpoint.optimizer_state
  attributes = dict(optimizer.kind.hyperparameters)
  rate_key = None
  differences = []
  for key, value in source.hyperparameters().items():
    name = key.rsplit("/", 1)[-1]
    if name == "learning_rate":
      # A schedule is a function of the step; the Estimator did not store it.
      rate_key = key if named.LEARNING_RATE in checkpoint.by_name else None
      continue
    given = optimizer.hyperparameter(attributes[name]) if name in attributes else 0.0
    if np.float32(given) != np.float32(value):
      differences.append(f"{key} is {value:g}, the program has {given:g}")
  if differences:
    raise CheckpointError(
      f"The Estimator would go on with the values of {source.prefix}: {'; '.join(differences)}. "
      "Write them into the program. Nothing has been loaded."
    )
  return rate_key
