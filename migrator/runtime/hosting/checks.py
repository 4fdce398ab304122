"""What a `ModelFn` is given, checked and completed."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import tensorflow as tf

from migrator.runtime.hosting.run_config import RunConfig, default_session_config

v1 = tf.compat.v1


def complete(config: Any, model_dir: Any) -> Any:
  """Returns the configuration with a directory and a session's configuration.

  Raises:
    ValueError: with the Estimator's messages, if it is no RunConfig, or names another directory.
  """
  if config is None:
    config = RunConfig()
    v1.logging.info("Using default config.")
  if not isinstance(config, RunConfig):
    raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
  if config.session_config is None:
    config = config.replace(session_config=default_session_config())
  model_dir = os.fspath(model_dir) if hasattr(model_dir, "__fspath__") else model_dir
  if model_dir is not None and config.model_dir not in (None, model_dir):
    raise ValueError(
      "`model_dir` are set both in constructor and `RunConfig`, but with different values. In constructor: "
      f"'{model_dir}', in `RunConfig`: '{config.model_dir}' "
    )
  if not model_dir and config.model_dir is None:
    model_dir = tempfile.mkdtemp()
    v1.logging.warning("Using temporary folder as model directory: %s", model_dir)
  return config.replace(model_dir=model_dir) if model_dir else config


def checked_hooks(hooks: Any) -> list[Any]:
  """Returns hooks.

  Raises:
    TypeError: with the Estimator's message, if one is no SessionRunHook.
  """
  hooks = list(hooks or ())
  for hook in hooks:
    if not isinstance(hook, v1.train.SessionRunHook):
      raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
  return hooks


def checked_listeners(saving_listeners: Any) -> list[Any]:
  """Returns listeners.

  Raises:
    TypeError: with the Estimator's message, if one is no CheckpointSaverListener.
  """
  found = list(saving_listeners or ())
  for listener in found:
    if not isinstance(listener, v1.train.CheckpointSaverListener):
      raise TypeError(
        f"saving_listeners must be a list of CheckpointSaverListener, given: {listener}"
      )
  return found
