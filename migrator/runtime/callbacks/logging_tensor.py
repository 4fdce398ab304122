"""Logs values of the training."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Callable, Optional, Union

import numpy as np
import tensorflow as tf

from migrator.runtime.callbacks.base import HookCallback, fetched, is_result


class _Never:
  """The timer of one who logs at the end only."""

  def reset(self) -> None:
    """Has nothing to forget."""

  def should_trigger_for_step(self, step: int) -> bool:
    """Returns False."""
    return False

  def update_last_triggered_step(self, step: int) -> tuple[None, None]:
    """Returns that no time and no steps have passed."""
    return None, None


class LoggingTensor(HookCallback):
  """Logs values every N steps or seconds, or at the end; for `tf.train.LoggingTensorHook`.

  The first step of a session is logged, then counting begins. What is no result of a step (the global
  step, variables, functions) has the value from before the step, as with TF 2's Estimator, where that was
  a race which the read all but always won; in TF 1.15 it was the one after: see `before_step`.

  At the end, results such as the loss are those of the last step; the hook computed them anew, of one more
  batch.
  """

  def __init__(
    self,
    tensors: Union[Mapping[str, Any], Iterable[Any]],
    every_n_iter: Optional[int] = None,
    every_n_secs: Optional[float] = None,
    at_end: bool = False,
    formatter: Optional[Callable[[dict], str]] = None,
    *,
    before_step: bool = True,
  ):
    """Makes the callback.

    Args:
      tensors: tag -> leaf, or only leaves. A leaf is a key of the training's `logs`, "global_step", a
        variable, or a function without arguments.
      every_n_iter: log every this many steps of the session.
      every_n_secs: log every this many seconds.
      at_end: whether to log at the end too.
      formatter: makes the line of a dict of tag -> value; by default "tag = value, ...".
      before_step: False for the values of TF 1.15, from after the step.

    Raises:
      ValueError: with the hook's message: if not exactly one interval is given (none will do with
        `at_end`), or it is not positive.
    """
    super().__init__()
    only_at_end = at_end and every_n_iter is None and every_n_secs is None
    if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
      raise ValueError(
        "either at_end and/or exactly one of every_n_iter and every_n_secs must be provided."
      )
    if every_n_iter is not None and every_n_iter <= 0:
      raise ValueError(f"invalid every_n_iter={every_n_iter}.")
    if isinstance(tensors, Mapping):
      self._tensors = dict(tensors)
      self._tag_order = sorted(self._tensors)
    else:
      self._tensors = {_tag(leaf): leaf for leaf in tensors}
      self._tag_order = list(self._tensors)
    self._formatter = formatter
    self._timer = (
      _Never()
      if only_at_end
      else tf.compat.v1.train.SecondOrStepTimer(every_secs=every_n_secs, every_steps=every_n_iter)
    )
    self._log_at_end = at_end
    self._before_step = before_step
    self._should_trigger = False
    self._iter_count = 0
    self._early: dict = {}
    self._last_logs: dict = {}

  def on_train_begin(self, logs: Optional[dict] = None) -> None:
    """Begins to count anew."""
    self._timer.reset()
    self._iter_count = 0
    self._last_logs = {}

  def on_train_batch_begin(self, batch: int, logs: Optional[dict] = None) -> None:
    """Decides whether this step is logged, and reads what is asked for from before it."""
    self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
    self._early = {}
    if self._should_trigger and self._before_step:
      early = {tag: leaf for tag, leaf in self._tensors.items() if not is_result(leaf)}
      self._early = fetched(early, self.model, None)

  def on_train_batch_end(self, batch: int, logs: Optional[dict] = None) -> None:
    """Logs, if this step is to be."""
    self._last_logs = dict(logs or {})
    if self._should_trigger:
      late = {tag: leaf for tag, leaf in self._tensors.items() if tag not in self._early}
      self._log_tensors({**self._early, **fetched(late, self.model, logs)})
    self._iter_count += 1

  def on_train_end(self, logs: Optional[dict] = None) -> None:
    """Logs at the end."""
    if self._log_at_end:
      logs = {**self._last_logs, **(logs or {})}
      self._log_tensors(fetched(self._tensors, self.model, logs))

  def _log_tensors(self, tensor_values: dict) -> None:
    """Logs; subclasses may do something else with the values.

    Args:
      tensor_values: tag -> value.
    """
    with np.printoptions(suppress=True):
      seconds, _ = self._timer.update_last_triggered_step(self._iter_count)
      if self._formatter:
        tf.get_logger().info(self._formatter(tensor_values))
        return
      text = ", ".join(f"{tag!s} = {tensor_values[tag]!s}" for tag in self._tag_order)
      if seconds is None:
        tf.get_logger().info("%s", text)
      else:
        tf.get_logger().info("%s (%.3f sec)", text, seconds)


def _tag(leaf: Any) -> Any:
  """Returns the name under which a leaf without a tag is logged."""
  return leaf if isinstance(leaf, str) else getattr(leaf, "name", leaf)
