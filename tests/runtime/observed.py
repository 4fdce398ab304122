"""What the tests read from a model directory, with either version of TensorFlow."""

import glob
import os
import re

import numpy as np
import tensorflow as tf


def steps_on_disk(directory):
  """Returns the steps of the checkpoints in a directory."""
  paths = glob.glob(os.path.join(directory, "model.ckpt-*.index"))
  return sorted(int(re.search(r"-(\d+)\.index$", path).group(1)) for path in paths)


def listed_steps(directory):
  """Returns the steps in the state file of a directory, in its order."""
  state = tf.train.get_checkpoint_state(directory)
  paths = state.all_model_checkpoint_paths if state else []
  return [int(path.rsplit("-", 1)[1]) for path in paths]


def described(value):
  """Returns an array as JSON."""
  value = np.asarray(value)
  items = [v.decode() if isinstance(v, bytes) else v for v in value.ravel().tolist()]
  return {"value": items, "type": value.dtype.name, "shape": list(value.shape)}


def read_events(directory):
  """Returns {sub-directory: [[step, tag], ...]} of the event files under a directory."""
  result = {}
  for path in sorted(glob.glob(os.path.join(directory, "**", "events.*"), recursive=True)):
    where = os.path.relpath(os.path.dirname(path), directory)
    rows = result.setdefault(where, [])
    for event in tf.compat.v1.train.summary_iterator(path):
      rows += [[event.step, value.tag] for value in event.summary.value]
      if event.HasField("session_log"):
        rows.append([event.step, f"session_log {event.session_log.status}"])
  return result
