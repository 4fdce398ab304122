"""The checkpoint policy that a RunConfig asks for."""

from __future__ import annotations

import ast
from typing import Any, Optional

from migrator.analysis import facts
from migrator.analysis.module import UNKNOWN, Module
from migrator.lint import values

_LEARN = "tf.contrib.learn.RunConfig"
RUN_CONFIGS = (
  "tf.estimator.RunConfig",
  "tf.estimator.tpu.RunConfig",
  _LEARN,
  "tf.contrib.tpu.RunConfig",
)
# Of TF 1.15. That of contrib.tpu hands the rest on by keyword.
_LEARN_PARAMETERS = tuple(
  """master num_cores log_device_placement gpu_memory_fraction tf_random_seed save_summary_steps
  save_checkpoints_secs save_checkpoints_steps keep_checkpoint_max
  keep_checkpoint_every_n_hours log_step_count_steps protocol evaluation_master model_dir
  session_config""".split()
)
_TPU_PARAMETERS = ("tpu_config", "evaluation_master", "master", "cluster")
_PARAMETERS = {
  "tf.estimator.RunConfig": facts.RUN_CONFIG_PARAMETERS,
  _LEARN: _LEARN_PARAMETERS,
  "tf.estimator.tpu.RunConfig": _TPU_PARAMETERS,
  "tf.contrib.tpu.RunConfig": _TPU_PARAMETERS,
}
DEFAULT_SECONDS = 600
_UNSET = object()


class Policy:
  """The checkpoint policy of a RunConfig call.

  `tf.contrib.learn.RunConfig` has rules of its own: `save_checkpoints_steps=None` and
  `save_checkpoints_secs=0` leave the default of 600 seconds as it is.

  Attributes:
    found: the arguments of the call.
    steps, seconds: the cadence: a number, None for off, UNKNOWN, or not given (`is_default`).
    keep: keep_checkpoint_max; 5 where it is not given.
  """

  def __init__(self, module: Module, found: values.Arguments, path: str = RUN_CONFIGS[0]):
    self._module = module
    self.found = found
    self.path = path
    self.complete = found.complete
    self.steps = self._value("save_checkpoints_steps")
    self.seconds = self._value("save_checkpoints_secs")
    if path == _LEARN:
      if self.steps is None:
        self.steps = _UNSET
      if self.seconds == 0 and self.seconds is not False:
        self.seconds = _UNSET
    keep = self._value("keep_checkpoint_max")
    self.keep = 5 if keep is _UNSET else keep

  def _value(self, name: str) -> Any:
    node = self.found.get(name)
    return _UNSET if node is None else values.literal(self._module, node)

  @property
  def is_default(self) -> bool:
    return self.complete and self.steps is _UNSET and self.seconds is _UNSET

  @property
  def conflicts(self) -> bool:
    """Whether both are certainly set; None and UNKNOWN are not."""
    return all(v not in (_UNSET, None, UNKNOWN) for v in (self.steps, self.seconds))

  @property
  def saves_nothing(self) -> bool:
    """Whether both are off. Giving one as None or 0 takes the other's default away."""
    given = [v for v in (self.steps, self.seconds) if v is not _UNSET]
    return self.complete and bool(given) and all(v is None or v == 0 for v in given)

  @property
  def known_steps(self) -> Optional[float]:
    """The number of steps between two checkpoints, where that is what is asked for."""
    return self.steps if _is_positive(self.steps) and not self.conflicts else None

  @property
  def known_seconds(self) -> Optional[float]:
    """The number of seconds between two checkpoints, where that is what is asked for."""
    if self.is_default:
      return DEFAULT_SECONDS
    off = self.steps is _UNSET or self.steps is None
    return self.seconds if off and _is_positive(self.seconds) else None

  @property
  def cadence_node(self) -> Optional[ast.expr]:
    """The argument that gives the cadence, or None."""
    name = "save_checkpoints_steps" if self.has_steps else "save_checkpoints_secs"
    return self.found.get(name)

  @property
  def has_steps(self) -> bool:
    """Whether a cadence in steps is written out."""
    return self.steps not in (_UNSET, None)

  @property
  def has_seconds(self) -> bool:
    """Whether a cadence in seconds is written out."""
    return self.seconds not in (_UNSET, None)

  def describe(self) -> str:
    """The policy in words, for example "a checkpoint every 100 steps and ..."."""
    if self.saves_nothing:
      return "no checkpoint at all"
    if self.conflicts:
      return "two cadences, which exclude each other"
    ends = "and at the first and last step"
    if self.has_steps:
      number = self.spell("save_checkpoints_steps")
      cadence = "a checkpoint at every step"
      if self.steps != 1:
        cadence = f"a checkpoint every {number} steps {ends}"
    elif self.has_seconds:
      cadence = f"a checkpoint every {self.spell('save_checkpoints_secs')} seconds {ends}"
    elif self.complete:
      cadence = f"the default of a checkpoint every {DEFAULT_SECONDS} seconds {ends}"
    else:
      return "a checkpoint policy that cannot be read here"
    keep = self.spell("keep_checkpoint_max")
    keep += " (all)" if self.keep in (0, None) else ""
    return f"{cadence}, keep_checkpoint_max={keep}"

  def spell(self, name: str) -> str:
    """A keyword's value as a number if it is known, else its source."""
    node = self.found.get(name)
    if node is None:
      return "5" if name == "keep_checkpoint_max" else "None"
    value = values.literal(self._module, node)
    return f"`{values.text(self._module, node)}`" if value is UNKNOWN else repr(value)

  def keep_words(self) -> str:
    """Which checkpoints stay, in words: "the newest 5" or "all of them"."""
    if self.keep in (0, None):
      return "all of them"
    return f"the newest {self.spell('keep_checkpoint_max')}"


def _is_positive(value: Any) -> bool:
  return isinstance(value, (int, float)) and value > 0


def arguments(module: Module, call: ast.Call) -> values.Arguments:
  """The arguments of a RunConfig call by name."""
  symbol = module.resolve(call.func)
  return values.arguments(module, call, _PARAMETERS.get(symbol.path, ()) if symbol else ())


def read(module: Module, call: ast.Call) -> Policy:
  """The policy of a call of RunConfig."""
  symbol = module.resolve(call.func)
  return Policy(module, arguments(module, call), symbol.path if symbol else RUN_CONFIGS[0])
