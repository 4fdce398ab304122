"""Hooks around the hooks that save."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from migrator.runtime.hosting import savers

v1 = tf.compat.v1


class Taking(tf.compat.v1.train.SessionRunHook):
  """Takes care of the savers that the program's hooks have made when they began; stands last."""

  def __init__(self, host: savers.Host, hooks: Iterable[Any]):
    self._host = host
    self._hooks = list(hooks)

  def begin(self) -> None:
    self._host.take_from(self._hooks)
    self._host.take(v1.get_collection(v1.GraphKeys.SAVERS))


class GraphWriter(tf.compat.v1.train.SessionRunHook):
  """Writes `graph.pbtxt` beside the checkpoints when a session begins."""

  def __init__(self, directory: str):
    self._directory = directory

  def after_create_session(self, session: Any, coord: Any) -> None:
    tf.io.write_graph(session.graph.as_graph_def(add_shapes=True), self._directory, "graph.pbtxt")


class Listening(tf.compat.v1.train.SessionRunHook):
  """A program's own saver hook, with the listeners of `train` added to it; its graph goes to `tf2`.

  They hear of its saves after its own listeners do, as in the Estimator, which added them at the end of
  its list.
  """

  def __init__(self, hook: Any, listeners: Iterable[Any], host: savers.Host):
    self._hook = hook
    # One that the hook has already is told by the hook.
    known = vars(hook).get("_listeners", ())
    self._listeners = [listener for listener in listeners if listener not in known]
    self._host = host
    self._saved: list[int] = []

  def begin(self) -> None:
    self._hook.begin()
    self._step = v1.train.get_global_step()
    for listener in self._listeners:
      listener.begin()

  def after_create_session(self, session: Any, coord: Any) -> None:
    with self._hearing(), self._host.graph_moved():
      self._hook.after_create_session(session, coord)
    # A stop is heard at the saves of steps only.
    self._tell(session)

  def before_run(self, run_context: Any) -> Any:
    return self._hook.before_run(run_context)

  def after_run(self, run_context: Any, run_values: Any) -> None:
    with self._hearing():
      self._hook.after_run(run_context, run_values)
    if self._tell(run_context.session):
      run_context.request_stop()

  def end(self, session: Any) -> None:
    with self._hearing():
      self._hook.end(session)
    self._tell(session)
    step = int(session.run(self._step))
    for listener in self._listeners:
      listener.end(session, step)

  def _hearing(self) -> Any:
    """Returns a context in which the saves are those of the hook."""
    return self._host.heard_by(self._before, lambda session, step: self._saved.append(step))

  def _before(self, session: Any, step: int) -> None:
    for listener in self._listeners:
      listener.before_save(session, step)

  def _tell(self, session: Any) -> bool:
    """Tells the listeners of what has been saved; returns whether one wants to stop."""
    saved, self._saved = self._saved, []
    # All of them hear of it, also after the first that wants to stop.
    answers = [listener.after_save(session, step) for step in saved for listener in self._listeners]
    return any(answers)
