"""`tf.contrib.cloud`: what handed credentials to a TPU in Colab."""

from __future__ import annotations

from typing import Any

__all__ = ["configure_gcs"]


def configure_gcs(
  session: Any,
  credentials: Any = None,
  block_cache: Any = None,
  device: Any = None,
) -> None:
  """Cannot do what it did: TF2 has no operation that gives a worker credentials.

  Args:
    session: of the worker.
    credentials: for Google Cloud Storage.
    block_cache: how files are cached.
    device: of the worker.

  Raises:
    RuntimeError: always, with what to do instead.
  """
  del session, credentials, block_cache, device
  raise RuntimeError(
    "tf.contrib.cloud.configure_gcs has no counterpart in TF2, whose processes read their credentials "
    "from the environment: set GOOGLE_APPLICATION_CREDENTIALS to the path of the JSON file, in the "
    "process that reads gs:// paths, and leave the call out."
  )
