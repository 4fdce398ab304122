"""The session of a training: the hooks that the Estimator had, in its order."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from migrator.runtime import listeners as listeners_module
from migrator.runtime.hosting import places, saver_hooks, savers

v1 = tf.compat.v1


def add_loss(spec: Any) -> None:
  """Puts the loss where hooks and summaries of the program look for it."""
  summaries = v1.get_collection(v1.GraphKeys.SUMMARIES)
  if not any(summary.op.name == "loss" for summary in summaries):
    v1.summary.scalar("loss", spec.loss)
  v1.add_to_collection(v1.GraphKeys.LOSSES, spec.loss)


def make_session(
  spec: Any,
  *,
  config: Any,
  model_dir: str,
  hooks: Iterable[Any],
  saving_listeners: Iterable[Any],
) -> Any:
  """Returns the monitored session of a training, to be entered in the graph of the spec.

  Args:
    spec: of the training.
    config: the RunConfig.
    model_dir: of the program; checkpoints go to its sub-directory `tf2`, events to itself.
    hooks: of the input and of the caller.
    saving_listeners: `CheckpointSaverListener`s.

  Raises:
    ValueError: with the Estimator's message, if there are listeners, but nothing is ever saved.
  """
  worker_hooks = list(hooks)
  worker_hooks.append(v1.train.NanTensorHook(spec.loss))
  if config.log_step_count_steps is not None:
    shown = {"loss": spec.loss, "step": v1.train.get_global_step()}
    worker_hooks.append(v1.train.LoggingTensorHook(shown, every_n_iter=config.log_step_count_steps))
  worker_hooks += spec.training_hooks
  chief_hooks = list(spec.training_chief_hooks)
  host = savers.Host(model_dir, write_graph=config.checkpoint_save_graph_def, training=True)
  host.take(
    [
      savers.session_saver(
        spec.scaffold,
        max_to_keep=config.keep_checkpoint_max,
        keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
        save_relative_paths=True,
      )
    ]
  )
  heard: list[Any] = []
  for listener in saving_listeners:
    if listener not in heard:
      heard.append(listener)
  given = worker_hooks + chief_hooks
  if any(_saves(hook) for hook in given):
    # The Estimator gave the listeners to the first one.
    first = iter([heard])
    worker_hooks, chief_hooks = (
      [
        saver_hooks.Listening(hook, next(first, ()), host) if _saves(hook) else hook
        for hook in hooks_of
      ]
      for hooks_of in (worker_hooks, chief_hooks)
    )
  elif config.save_checkpoints_secs or config.save_checkpoints_steps:
    if config.checkpoint_save_graph_def:
      chief_hooks.insert(0, saver_hooks.GraphWriter(places.new_place(model_dir)))
    chief_hooks.insert(
      0,
      v1.train.CheckpointSaverHook(
        model_dir,
        save_secs=config.save_checkpoints_secs,
        save_steps=config.save_checkpoints_steps,
        scaffold=spec.scaffold,
        listeners=heard,
        save_graph_def=False,  # It would write over the old program's; ours is in `tf2`.
      ),
    )
  elif heard:
    raise ValueError(listeners_module.NO_SAVER)
  all_hooks = [*chief_hooks, *_summary_hooks(spec, config, model_dir), *worker_hooks]
  all_hooks.append(saver_hooks.Taking(host, [*given, *all_hooks]))
  creator = savers.Creator(
    spec.scaffold, lambda: places.newest(model_dir), config.master, config.session_config, host
  )
  return v1.train.MonitoredSession(creator, hooks=all_hooks)


def _saves(hook: Any) -> bool:
  """Returns whether a hook of the program saves."""
  return isinstance(hook, v1.train.CheckpointSaverHook)


def _summary_hooks(spec: Any, config: Any, model_dir: str) -> list[Any]:
  """Returns the hooks that write events."""
  result = []
  if config.log_step_count_steps:
    result.append(
      v1.train.StepCounterHook(
        every_n_steps=config.log_step_count_steps, output_dir=os.fspath(model_dir)
      )
    )
  if config.save_summary_steps:
    result.append(
      v1.train.SummarySaverHook(
        save_steps=config.save_summary_steps,
        output_dir=os.fspath(model_dir),
        scaffold=spec.scaffold,
      )
    )
  return result
