"""When to save: the meaning of RunConfig's arguments, with the Estimator's own messages."""

from __future__ import annotations

import dataclasses
import json
import os
import time
from typing import Any, Optional, Union

Number = Union[int, float]

UNSET: Any = object()
"""The default of the two cadences: neither given means every 600 seconds."""

DEFAULT_SECS = 600


@dataclasses.dataclass(frozen=True)
class Policy:
  """RunConfig's arguments about checkpoints and summaries.

  Attributes:
    save_checkpoints_steps: save after this many steps; None or 0 if not by steps.
    save_checkpoints_secs: save after this many seconds; None or 0 if not by time.
    keep_checkpoint_max: how many of the newest to keep; None and 0 keep all.
    keep_checkpoint_every_n_hours: keep one besides, whenever this many hours have passed.
  """

  save_checkpoints_steps: Optional[Number] = None
  save_checkpoints_secs: Optional[Number] = DEFAULT_SECS
  keep_checkpoint_max: Optional[int] = 5
  keep_checkpoint_every_n_hours: Optional[Number] = 10000

  @property
  def enabled(self) -> bool:
    """Whether anything is saved at all."""
    return bool(self.save_checkpoints_steps or self.save_checkpoints_secs)


def make_policy(
  save_checkpoints_steps: Any = UNSET,
  save_checkpoints_secs: Any = UNSET,
  keep_checkpoint_max: Optional[int] = 5,
  keep_checkpoint_every_n_hours: Optional[Number] = 10000,
) -> Policy:
  """Returns the policy that RunConfig makes of its arguments.

  Raises:
    ValueError: with RunConfig's messages, if both cadences are set or a value is negative.
  """
  steps, secs = save_checkpoints_steps, save_checkpoints_secs
  if steps is UNSET and secs is UNSET:
    steps, secs = None, DEFAULT_SECS
  elif secs is UNSET:
    secs = None
  elif steps is UNSET:
    steps = None
  elif steps is not None and secs is not None:
    raise ValueError("`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set.")
  check_not_negative("save_checkpoints_steps", steps)
  check_not_negative("save_checkpoints_secs", secs)
  check_not_negative("keep_checkpoint_max", keep_checkpoint_max)
  check_positive("keep_checkpoint_every_n_hours", keep_checkpoint_every_n_hours)
  return Policy(steps, secs, keep_checkpoint_max, keep_checkpoint_every_n_hours)


def check_not_negative(name: str, value: Optional[Number]) -> None:
  """Raises RunConfig's ValueError if the value is negative."""
  if value is not None and value < 0:
    raise ValueError(f"{name} should be >= 0")


def check_positive(name: str, value: Optional[Number]) -> None:
  """Raises RunConfig's ValueError if the value is not positive."""
  if value is not None and value <= 0:
    raise ValueError(f"{name} should be > 0")


def check_steps(steps: Optional[Number], max_steps: Optional[Number]) -> None:
  """Checks the arguments of `train`.

  Raises:
    ValueError: with the Estimator's messages.
  """
  if steps is not None and max_steps is not None:
    raise ValueError("Can not provide both steps and max_steps.")
  if steps is not None and steps <= 0:
    raise ValueError(f"Must specify steps > 0, given: {steps}")
  if max_steps is not None and max_steps <= 0:
    raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")


def check_single_task() -> None:
  """Raises if the TF_CONFIG of the environment describes a cluster of several tasks.

  Raises:
    NotImplementedError: for several tasks.
    ValueError: if TF_CONFIG is not JSON.
  """
  text = os.environ.get("TF_CONFIG")
  if not text:
    return
  try:
    cluster = json.loads(text).get("cluster", {})
  except (ValueError, AttributeError) as e:
    raise ValueError(f"TF_CONFIG is not a JSON object: {e}") from e
  tasks = sum(len(addresses) for addresses in cluster.values())
  if tasks > 1:
    raise NotImplementedError(
      f"TF_CONFIG describes a cluster of {tasks} tasks. Migrated programs run in one process for now: "
      "unset TF_CONFIG, or train with a tf.distribute strategy and checkpoints of your own."
    )


class Timer:
  """Tells when N steps or seconds have passed since the last time, as the Estimator's hooks did."""

  def __init__(self, steps: Optional[Number] = None, secs: Optional[Number] = None):
    self._steps = steps
    self._secs = secs
    self._step: Optional[int] = None
    self._time = 0.0

  @property
  def last_step(self) -> Optional[int]:
    """The step of the last time, None before the first."""
    return self._step

  def due(self, step: int) -> bool:
    """Returns whether it is time at `step`; always the first time, never twice at one step."""
    if self._step is None:
      return True
    if step == self._step:
      return False
    if self._secs and time.time() >= self._time + self._secs:
      return True
    return self._steps is not None and self._steps > 0 and step >= self._step + self._steps

  def mark(self, step: int) -> tuple[Optional[float], int]:
    """Sets the last time to now; returns the seconds (None the first time) and steps since."""
    now = time.time()
    elapsed = None if self._step is None else now - self._time
    steps = step - (self._step or 0)
    self._step, self._time = step, now
    return elapsed, steps
