"""`slim.parallel_reader.get_data_files`; the readers are queues, which have no place here."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["get_data_files"]


def get_data_files(data_sources: Any) -> list:
  """Returns the names of the files that a pattern, a name, or a list of these means.

  Raises:
    ValueError: if there is no file for a pattern, or the list is empty.
  """
  if isinstance(data_sources, (list, tuple)):
    found = [name for source in data_sources for name in get_data_files(source)]
  elif any(sign in data_sources for sign in "*?["):
    found = tf.compat.v1.gfile.Glob(data_sources)
  else:
    found = [data_sources]
  if not found:
    raise ValueError(f"No data files found in {data_sources}")
  return found
