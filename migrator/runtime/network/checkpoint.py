"""The checkpoint of a network whose variables are made only when the input is known."""

from __future__ import annotations

import functools
import os
from typing import Any, Callable, Optional

import tensorflow as tf

from migrator.runtime import named, other_checkpoints
from migrator.runtime.load import load_tf1_checkpoint

_KEYS_OF_STEP = (named.STEP, f"{named.STEP}/.ATTRIBUTES/VARIABLE_VALUE")


class NetworkCheckpoint(named.NamedCheckpoint):
  """A `NamedCheckpoint` of a `runtime.Network`. Made by `runtime.named_checkpoint`.

  Until the network is built there is nothing but the global step. What is restored before that gives the
  global step at once, and everything else as soon as the network is built; it is checked then.

  `restore` also takes the checkpoints of `runtime.ModelFn` and of the Estimator.

  Attributes:
    built: whether the variables are there.
  """

  def __init__(self, network: Any, optimizer: Any, flavour: str):
    """Makes the checkpoint; the optimizer is built together with the network.

    Args:
      network: a `Network`.
      optimizer: as for `named_checkpoint`, or a function that returns it: several optimizers need the variables
        which they train.
      flavour: "v1" or "v2".
    """
    # Attributes of a Checkpoint are saved with it, unless they are put past its __setattr__.
    self.__dict__.update(
      built=False, _put_off=None, flavour=flavour, by_name={named.STEP: network.global_step}
    )
    network.when_built(functools.partial(self._complete, network, optimizer))

  def _complete(self, network: Any, optimizer: Any) -> None:
    """Adds the variables and slots, and does what has been put off."""
    if callable(optimizer) and not isinstance(optimizer, tf.keras.optimizers.Optimizer):
      optimizer = optimizer()
    super().__init__(network, optimizer, "", self.flavour, step=network.global_step)
    self.__dict__["built"] = True
    action, self.__dict__["_put_off"] = self._put_off, None
    if action is not None:
      action()

  def put_off(self, prefix: Optional[str], action: Callable[[], Any]) -> int:
    """Does something when the network is built, in place of what was put off before; sets the step now.

    Args:
      prefix: the checkpoint that will be loaded; None for a warm start, which has no step.
      action: loads it.

    Returns:
      The step.
    """
    step = 0
    if prefix is not None:
      reader = tf.train.load_checkpoint(prefix)
      keys = [key for key in _KEYS_OF_STEP if reader.has_tensor(key)]
      step = int(reader.get_tensor(keys[0])) if keys else 0
    self.by_name[named.STEP].assign(step)
    self.__dict__["_put_off"] = action
    return step

  def restore(self, save_path: Optional[str], options: Any = None) -> Any:
    """Restores a checkpoint wholly or not at all, as soon as the network is built.

    Args:
      save_path: a checkpoint prefix, or None to do nothing.
      options: as in `tf.train.Checkpoint.restore`.

    Returns:
      The load status, which has been asserted already; None if that is put off, or for a checkpoint of
      TF1's form.

    Raises:
      CheckpointError: as of `NamedCheckpoint.restore`.
    """
    self.__dict__["_put_off"] = None
    if save_path is None:
      return None
    save_path = os.fspath(save_path)
    if not self.built:
      named.check_not_overtaken(save_path)
      self.put_off(save_path, functools.partial(self.restore, save_path, options))
      return None
    if other_checkpoints.is_ours(save_path):
      return super().restore(save_path, options)
    named.check_not_overtaken(save_path)
    load_tf1_checkpoint(self, save_path)
    return None

  def write(self, file_prefix: str, options: Any = None) -> str:
    """Writes a checkpoint.

    Raises:
      RuntimeError: if the network is not built.
    """
    if not self.built:
      raise RuntimeError(
        "The network has no variables yet that could be saved: build it with the dataset first."
      )
    return super().write(file_prefix, options=options)
