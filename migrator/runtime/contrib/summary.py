"""Summaries that an operation of the graph writes: `tf.contrib.summary`, in graphs.

The values are those of TF1's event files (a scalar is a `simple_value`): `tf.summary` of TF2 writes tensors.
What a function adds is run by whoever fetches `all_summary_ops()`, mostly a `host_call`.
"""

from __future__ import annotations

import contextlib
import functools
import re
import threading
from collections.abc import Iterator
from typing import Any, Callable, Optional

import tensorflow as tf

v1 = tf.compat.v1

__all__ = [
  "all_summary_ops",
  "always_record_summaries",
  "create_file_writer",
  "flush",
  "histogram",
  "image",
  "initialize",
  "never_record_summaries",
  "record_summaries_every_n_global_steps",
  "scalar",
  "should_record_summaries",
  "summary_writer_initializer_op",
]

_SUMMARIES = "_SUMMARY_V2"
_WRITERS = "_SUMMARY_WRITER_V2"
_QUEUE = 10
_FLUSH_MILLISECONDS = 120_000


class _State(threading.local):
  """What holds in a thread: the default writer, and whether anything is written."""

  writer: Any = None
  recording: Any = None


_STATE = _State()


class SummaryWriter:
  """Writes to an event file; without a directory it writes nothing."""

  def __init__(self, resource: Any, opener: Optional[Callable[[], Any]]):
    self._resource = resource
    self._open = opener
    if opener is not None:
      v1.add_to_collection(_WRITERS, opener())

  @property
  def resource(self) -> Any:
    """The handle of the writer; None for one that writes nothing."""
    return self._resource

  def set_as_default(self) -> None:
    """Lets this thread write with it from now on."""
    if self._resource is not None:
      _STATE.writer = self

  @contextlib.contextmanager
  def as_default(self) -> Iterator[Any]:
    """Lets this thread write with it."""
    before = _STATE.writer
    self.set_as_default()
    try:
      yield self
    finally:
      _STATE.writer = before

  def init(self) -> Any:
    """Returns the operation that opens the file."""
    return None if self._open is None else self._open()

  def flush(self) -> Any:
    """Returns the operation that writes what is left."""
    return flush(self)

  def close(self) -> Any:
    """Returns the operation that writes what is left, and closes the file."""
    if self._resource is None:
      return None
    with tf.control_dependencies([self.flush()]), tf.device("cpu:0"):
      return tf.raw_ops.CloseSummaryWriter(writer=self._resource)


def create_file_writer(
  logdir: Any,
  max_queue: Any = None,
  flush_millis: Any = None,
  filename_suffix: Any = None,
  name: Optional[str] = None,
) -> SummaryWriter:
  """Returns a writer of event files, to be opened by `summary_writer_initializer_op()`.

  Args:
    logdir: a directory; None for a writer that writes nothing.
    max_queue: how many summaries wait to be written; by default 10.
    flush_millis: milliseconds after which they are written; by default 120,000.
    filename_suffix: of the event files; by default ".v2".
    name: writers of the same name are one; by default `logdir:` and the directory.

  Raises:
    RuntimeError: outside of a graph.
  """
  if tf.executing_eagerly():
    raise RuntimeError("runtime.contrib.summary writes from graphs; use tf.summary in eager code.")
  if logdir is None:
    return SummaryWriter(None, None)
  shared = f"logdir:{logdir}" if name is None else name
  with tf.device("cpu:0"):
    resource = tf.raw_ops.SummaryWriter(shared_name=shared, container="", name=name)

  def opener() -> Any:
    with tf.device("cpu:0"):
      return tf.raw_ops.CreateSummaryFileWriter(
        writer=resource,
        logdir=logdir,
        max_queue=_QUEUE if max_queue is None else max_queue,
        flush_millis=_FLUSH_MILLISECONDS if flush_millis is None else flush_millis,
        filename_suffix=".v2" if filename_suffix is None else filename_suffix,
      )

  return SummaryWriter(resource, opener)


def summary_writer_initializer_op() -> list[Any]:
  """Returns the operations that open the writers of the graph.

  Raises:
    RuntimeError: outside of a graph.
  """
  if tf.executing_eagerly():
    raise RuntimeError("summary_writer_initializer_op is only supported in graph mode.")
  return v1.get_collection(_WRITERS)


def initialize(graph: Any = None, session: Any = None) -> None:
  """Opens the writers of the graph.

  Args:
    graph: None; a graph is not written.
    session: by default the default session.

  Raises:
    RuntimeError: if there is no default writer.
    ValueError: if there is no session, or a graph is to be written.
  """
  if graph is not None:
    raise ValueError(
      "runtime.contrib.summary writes no graph: use tf.compat.v1.summary.FileWriter."
    )
  if _STATE.writer is None:
    raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
  session = session or v1.get_default_session()
  if session is None:
    raise ValueError("session must be passed if no default session exists")
  session.run(summary_writer_initializer_op())


@contextlib.contextmanager
def _recording(condition: Any) -> Iterator[None]:
  before = _STATE.recording
  _STATE.recording = condition
  try:
    yield
  finally:
    _STATE.recording = before


def always_record_summaries() -> Any:
  """Returns a context in which all is written."""
  return _recording(True)


def never_record_summaries() -> Any:
  """Returns a context in which nothing is written."""
  return _recording(False)


def record_summaries_every_n_global_steps(n: int, global_step: Any = None) -> Any:
  """Returns a context in which summaries are written when the step is a multiple of `n`."""
  if global_step is None:
    global_step = v1.train.get_or_create_global_step()
  with tf.device("cpu:0"):
    return _recording(tf.equal(tf.convert_to_tensor(global_step) % n, 0))


def should_record_summaries() -> Any:
  """Returns whether summaries are written: a bool, or a bool tensor []."""
  if _STATE.writer is None or _STATE.recording is None:
    return False
  return _STATE.recording() if callable(_STATE.recording) else _STATE.recording


def all_summary_ops() -> list[Any]:
  """Returns the operations that write the summaries of the graph."""
  return v1.get_collection(_SUMMARIES)


def flush(writer: Optional[SummaryWriter] = None, name: Optional[str] = None) -> Any:
  """Returns the operation that writes what is left, of the default writer if none is given."""
  writer = writer or _STATE.writer
  if writer is None or writer.resource is None:
    return tf.no_op()
  with tf.device("cpu:0"):
    return tf.raw_ops.FlushSummaryWriter(writer=writer.resource, name=name)


def _write(
  name: str, tensor: Any, write: Callable[..., Any], step: Any, family: Optional[str]
) -> Any:
  """Adds the operation that writes a summary, and returns it.

  Args:
    name: of the summary; the name scopes around come before it.
    tensor: the value.
    write: a raw operation but for writer, step and tag.
    step: an int64 tensor []; by default the global step.
    family: a prefix.
  """
  clean = re.sub(r"[^-/\w\.]", "_", name).lstrip("/")
  base = clean if family is None else f"{family}/{clean}"
  with v1.name_scope(base, values=[tensor]) as scope:
    tag = scope.rstrip("/")
    tag = tag if family is None else f"{family}/{tag}"
    writer, condition = _STATE.writer, should_record_summaries()
    if writer is None:
      return tf.no_op()
    if step is None:
      step = v1.train.get_or_create_global_step()

    def record() -> Any:
      write_op = write(writer=writer.resource, step=tf.cast(step, tf.int64), tag=tag)
      with tf.control_dependencies([write_op]):
        return tf.constant(True)

    with tf.device("cpu:0"):
      if isinstance(condition, bool):
        written = record() if condition else tf.constant(False)
      else:
        written = tf.cond(condition, record, lambda: tf.constant(False))
      v1.add_to_collection(_SUMMARIES, written)
    return written


def scalar(name: str, tensor: Any, family: Optional[str] = None, step: Any = None) -> Any:
  """Writes a real number []."""
  write = functools.partial(tf.raw_ops.WriteScalarSummary, value=tensor)
  return _write(name, tensor, write, step, family)


def histogram(name: str, tensor: Any, family: Optional[str] = None, step: Any = None) -> Any:
  """Writes a histogram of the values of a tensor of any shape."""
  write = functools.partial(tf.raw_ops.WriteHistogramSummary, values=tensor)
  return _write(name, tensor, write, step, family)


def image(
  name: str,
  tensor: Any,
  bad_color: Any = None,
  max_images: int = 3,
  family: Optional[str] = None,
  step: Any = None,
) -> Any:
  """Writes images [batch, height, width, channels]; `bad_color` (uint8 [channels]) stands for NaN."""
  if bad_color is None:
    bad_color = tf.constant([255, 0, 0, 255], tf.uint8)
  write = functools.partial(
    tf.raw_ops.WriteImageSummary, tensor=tensor, bad_color=bad_color, max_images=max_images
  )
  return _write(name, tensor, write, step, family)
