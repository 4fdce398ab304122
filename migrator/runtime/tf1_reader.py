"""Reads the checkpoint of a canned Estimator: which key holds which weight, slot and count.

Two dialects are known. v1 Estimators write TF1's names, `<variable>/t_0/Adam`, where the part between
the variable and the slot is an accident of the scope in which the optimizer ran. v2 Estimators write
`training/Adam/<variable>/m` and the scalar hyperparameters.
"""

from __future__ import annotations

import math
import re
from typing import Optional

import numpy as np
import tensorflow as tf

from migrator.runtime import state
from migrator.runtime.errors import CheckpointError
from migrator.runtime.slots import Kind, Slot

GLOBAL_STEP = "global_step"
_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_BETA_POWER = re.compile(r"(?:^|/)beta([12])_power(?:_\d+)?$")
_V2 = re.compile(r"^training/([^/]+)/(.+)$")
# The last slot of each TF1 optimizer tells which one it was.
_V1_OPTIMIZERS = (
  ("Adam_1", "Adam"),
  ("Adagrad", "Adagrad"),
  ("Momentum", "Momentum"),
  ("RMSProp", "RMSProp"),
  ("Ftrl", "Ftrl"),
  ("Adadelta", "Adadelta"),
)
# Below this, float32 counts in denormal numbers and the exponent cannot be told any more.
_SMALLEST_POWER = 1e-37


class Tf1Checkpoint:
  """A name-based checkpoint.

  Attributes:
    prefix: the path without suffix.
    flavour: "v1" or "v2", by the names of the slots.
    shapes: key -> shape; for a part of a partitioned slot the shape of the whole.
  """

  def __init__(self, prefix: str):
    """Opens the checkpoint.

    Raises:
      CheckpointError: if it is damaged, or not a name-based one.
    """
    self.prefix = prefix
    self._index = state.check_intact(prefix)
    if _OBJECT_GRAPH in self._index.entries:
      raise CheckpointError(
        f"{prefix} is an object checkpoint (tf.train.Checkpoint), not one of an Estimator."
      )
    self._reader = tf.train.load_checkpoint(prefix)
    self.shapes = {key: entry.shape for key, entry in self._index.entries.items()}
    self.flavour = "v2" if any(_V2.match(key) for key in self.shapes) else "v1"

  @property
  def optimizer(self) -> str:
    """The name of the optimizer, or "GradientDescent" if there are no slots."""
    for key in self.shapes:
      match = _V2.match(key)
      if match:
        return match.group(1)
    for suffix, name in _V1_OPTIMIZERS:
      if any(key.endswith("/" + suffix) for key in self.shapes):
        return name
    return "GradientDescent"

  @property
  def step(self) -> int:
    """The global step."""
    if GLOBAL_STEP not in self.shapes:
      raise CheckpointError(f"{self.prefix} has no global_step: it is not one of an Estimator.")
    return int(self._reader.get_tensor(GLOBAL_STEP))

  def dtype(self, key: str) -> tf.DType:
    """Returns the data type of a key."""
    return self._reader.get_variable_to_dtype_map()[key]

  def slot_keys(self, weights: tuple, slot: Slot, kind: Kind) -> dict[str, list[str]]:
    """Finds one slot of all weights.

    Args:
      weights: the names of the trainable weights.
      slot: which slot.
      kind: the optimizer of the slot.

    Returns:
      Weight -> the keys of its slot: one, or one for each part of a partitioned variable. Weights
      without the slot are absent.
    """
    if self.flavour == "v2":
      keys = {w: f"training/{kind.legacy}/{w}/{slot.legacy}" for w in weights}
      return {w: [key] for w, key in keys.items() if key in self.shapes}
    found: dict[str, list[str]] = {}
    if not slot.in_v1:
      return found
    for key in self.shapes:
      if not key.endswith("/" + slot.suffix):
        continue
      rest = key[: -len(slot.suffix) - 1]
      owners = [
        w for w in weights if rest == w or rest.startswith(w + "/") or rest.endswith("/" + w)
      ]
      if owners:
        found.setdefault(max(owners, key=len), []).append(key)
    return found

  def counters(self) -> list[str]:
    """Returns the keys that hold Adam's running powers of beta."""
    return [key for key in self.shapes if _BETA_POWER.search(key)]

  def hyperparameters(self) -> dict[str, float]:
    """Returns the scalars of a v2 checkpoint: `training/<optimizer>/<name>` -> value."""
    keys = (key for key, shape in self.shapes.items() if shape == () and _V2.match(key))
    return {key: float(self._reader.get_tensor(key)) for key in keys}

  def adam_updates(self, beta1: float, beta2: float) -> int:
    """Returns the number of updates that Adam has made.

    The global step is what the program made of it. The powers of beta begin at beta and are
    multiplied by it after each update, so they count the updates themselves.

    Raises:
      CheckpointError: if the powers cannot come from these betas, or there are several.
    """
    powers: dict[str, list[float]] = {"1": [], "2": []}
    for key in self.counters():
      match = _BETA_POWER.search(key)
      if match:
        powers[match.group(1)].append(float(self._reader.get_tensor(key)))
    if not powers["1"] and not powers["2"]:
      return self.step
    if len(powers["1"]) > 1 or len(powers["2"]) > 1:
      raise CheckpointError(f"{self.prefix} was written with several Adam optimizers.")
    counts = [
      math.log(power[0]) / math.log(np.float32(beta)) - 1
      for beta, power in ((beta1, powers["1"]), (beta2, powers["2"]))
      if power and 0.0 < beta < 1.0 and power[0] > _SMALLEST_POWER
    ]
    if not counts:
      return self.step  # So many updates that the correction is 1 whatever their number.
    count = round(counts[0])
    if any(abs(c - count) > 0.05 + 1e-3 * count for c in counts):
      raise CheckpointError(
        f"{self.prefix} was written by an Adam with other decay rates than the program's "
        f"beta1={beta1:g}, beta2={beta2:g}."
      )
    return count

  def read(self, keys: list[str]) -> np.ndarray:
    """Returns the value of one key, or of several parts of a partitioned slot, joined.

    Raises:
      CheckpointError: if the data are damaged.
    """
    try:
      if len(keys) == 1:
        return self._reader.get_tensor(keys[0])
      return self._read_parts(keys)
    except (tf.errors.OpError, IndexError, RuntimeError) as e:
      raise CheckpointError(f"{keys[0]} of {self.prefix} cannot be read: {e}") from e

  def _read_parts(self, keys: list[str]) -> np.ndarray:
    """Returns the parts of a partitioned slot, joined in the order of their bounds."""
    shape = self.shapes[keys[0]]
    value: Optional[np.ndarray] = None
    for key in keys:
      for bounds in self._index.entries[key].slices:
        extents = [
          (start, length if length >= 0 else n) for (start, length), n in zip(bounds, shape)
        ]
        spec = "{} {}".format(
          " ".join(map(str, shape)), ":".join(f"{start},{length}" for start, length in extents)
        )
        part = tf.raw_ops.RestoreV2(
          prefix=self.prefix, tensor_names=[key], shape_and_slices=[spec], dtypes=[self.dtype(key)]
        )[0].numpy()
        if value is None:
          value = np.full(shape, np.nan, part.dtype)
        value[tuple(slice(start, start + length) for start, length in extents)] = part
    if value is None or np.isnan(value).any():
      raise CheckpointError(f"The parts of {keys[0]} in {self.prefix} do not make up the whole.")
    return value
