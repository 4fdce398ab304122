"""Reads the values of a name-based checkpoint, by what `dialects` knows of its names."""

from __future__ import annotations

import dataclasses
from typing import Optional

import numpy as np
import tensorflow as tf

from migrator.runtime import dialects, keras_aliases, object_names, state, tensor_values
from migrator.runtime.bundle import DamagedIndexError, Index
from migrator.runtime.contents import Contents
from migrator.runtime.errors import CheckpointError
from migrator.runtime.slots import Slot

GLOBAL_STEP = "global_step"


class Tf1Checkpoint:
  """A name-based checkpoint, or one of `model_to_estimator`, whose variables have names as well.

  Attributes:
    prefix: the path without suffix.
    contents: its variables, slots and optimizers.
    flavour: "v1" or "v2", by the names of the slots.
    shapes: key -> shape; for a part of a partitioned slot the shape of the whole.
  """

  contents: Contents

  def __init__(
    self, prefix: str, index: Optional[Index] = None, contents: Optional[Contents] = None
  ):
    """Opens the checkpoint.

    Args:
      prefix: its path without suffix.
      index: what `state.check_intact` returned for it, if that has been asked.
      contents: what `dialects.describe` returned for it, if that has been asked.

    Raises:
      CheckpointError: if it is damaged, or not a name-based one.
    """
    self.prefix = prefix
    self._index = index or state.check_intact(prefix)
    keys: dict[str, str] = {}
    if object_names.is_keras_estimator(self._index):
      self._index, keys = object_names.by_names(prefix, self._index)
      contents = None
    elif dialects.OBJECT_GRAPH in self._index.entries:
      raise CheckpointError(
        f"{prefix} is an object checkpoint (tf.train.Checkpoint), not one of an Estimator."
      )
    self._describe(keys, contents)

  def _describe(self, keys: dict[str, str], contents: Optional[Contents] = None) -> None:
    """Tells the names of the index apart; `keys` are those of the file that differ from them."""
    try:
      self.contents = contents or dialects.describe(self.prefix, self._index)
    except DamagedIndexError as e:
      raise CheckpointError(f"{self.prefix}.index {e}. The checkpoint is damaged.") from e
    self._keys = keys
    self._values = tensor_values.Reader(self.prefix, self._index, keys)
    self.shapes = {key: entry.shape for key, entry in self._index.entries.items()}
    self.flavour = "v2" if self.contents.dialect_id == "v2" else "v1"

  def rename(self, names: dict[str, str]) -> None:
    """Lets variables, and their slots with them, have other names.

    Args:
      names: old name -> new name.
    """
    if not names:
      return
    keys, entries = {}, {}
    for old, entry in self._index.entries.items():
      new = keras_aliases.rename_key(old, names)
      if entry.slices and new != old:
        return  # Parts are found by the name; no Keras model had any.
      keys[new], entries[new] = self._keys.get(old, old), entry
    self._index = dataclasses.replace(self._index, entries=entries)
    self._describe(keys)

  @property
  def optimizer(self) -> str:
    """The optimizer, "GradientDescent" if there are no slots; v2 names are Keras's."""
    for name, optimizer in self.contents.optimizers.items():
      if self.flavour == "v2":
        return name.rpartition("/")[2]
      return "RMSProp" if optimizer.kind == "CenteredRMSProp" else optimizer.kind
    return "GradientDescent"

  @property
  def step(self) -> int:
    """The global step.

    Raises:
      CheckpointError: if there is none.
    """
    if self.contents.step is None:
      raise CheckpointError(f"{self.prefix} has no global_step: it is not one of an Estimator.")
    return self.contents.step

  def dtype(self, key: str) -> tf.DType:
    """Returns the data type of a key."""
    return tf.as_dtype(self._index.entries[key].dtype)

  def slot_keys(self, weights: tuple, slot: Slot) -> dict[str, list[str]]:
    """Finds one slot of all weights.

    Args:
      weights: the names of the trainable weights.
      slot: which slot.

    Returns:
      Weight -> the keys of its slot: one, or one for each part of a partitioned variable, in the order
      of the rows. Weights without the slot are absent.
    """
    suffix = slot.suffix if self.flavour == "v2" else slot.v1_suffix
    found = {w: list(self.contents.slot_keys(w, suffix)) for w in weights}
    return {w: keys for w, keys in found.items() if keys}

  def counters(self) -> list[str]:
    """Returns the keys that hold Adam's running powers of beta."""
    return dialects.beta_powers(self.contents)

  def hyperparameters(self, owner: Optional[str] = None) -> dict[str, float]:
    """Returns the scalars of a v2 checkpoint: `training/<optimizer>/<name>` -> value.

    Args:
      owner: of which optimizer; by default of all.
    """
    return {
      f"{optimizer.name}/{name}": float(value)
      for optimizer in self.contents.optimizers.values()
      if owner in (None, optimizer.name)
      for name, value in optimizer.hyperparameters.items()
      if value is not None
    }

  def adam_updates(self, beta1: float, beta2: float, optimizer: Optional[str] = None) -> int:
    """Returns the number of updates that Adam has made; see `dialects.adam_updates`.

    Raises:
      CheckpointError: if the powers cannot come from these betas, or there are several.
    """
    updates = dialects.adam_updates(self.contents, optimizer, beta1, beta2)
    return self.step if updates is None else updates

  def read(self, keys: list[str]) -> np.ndarray:
    """Returns the value of one key, or of several parts of a partitioned slot, joined.

    Raises:
      CheckpointError: if the data are damaged.
    """
    return self._values.read(keys)
