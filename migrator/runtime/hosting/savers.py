"""Lets the savers of a program write to `tf2`, and restore what a migrated program may restore."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterable, Iterator
from typing import Any, Callable, Optional

import tensorflow as tf

from migrator.runtime import other_checkpoints, state
from migrator.runtime.hosting import places, restoring

_HOSTED = "hosted_by_migrator"
_GRAPH = "graph.pbtxt"


class Host:
  """The savers of one session."""

  def __init__(self, model_dir: str, *, write_graph: bool = True, training: bool = False):
    """Makes a host.

    Args:
      model_dir: what is saved to there goes to its sub-directory `tf2`.
      write_graph: whether a graph is written with each checkpoint.
      training: whether the session goes on with the list of checkpoints that are kept.
    """
    self.model_dir = model_dir
    self._write_graph = write_graph
    self._training = training
    self._saving: Callable[[Any, Any], None] = _nothing
    self._saved: Callable[[Any, Any], None] = _nothing

  @contextlib.contextmanager
  def heard_by(
    self, saving: Callable[[Any, Any], None], saved: Callable[[Any, Any], None]
  ) -> Iterator[None]:
    """Calls `saving(session, step)` before each save in this context, and `saved` after it."""
    before = self._saving, self._saved
    self._saving, self._saved = saving, saved
    try:
      yield
    finally:
      self._saving, self._saved = before

  @contextlib.contextmanager
  def graph_moved(self) -> Iterator[None]:
    """Moves the graph that a hook of the program writes in this context to `tf2`, too."""
    path = os.path.join(self.model_dir, _GRAPH)
    before = _content(path)
    yield
    if _content(path) == before:
      return
    new = places.new_place(self.model_dir)
    tf.io.gfile.makedirs(new)
    tf.io.gfile.rename(path, os.path.join(new, _GRAPH), overwrite=True)
    if before is not None:
      with tf.io.gfile.GFile(path, "wb") as file:
        file.write(before)

  def take(self, savers: Iterable[Any]) -> None:
    """Takes care of savers of the program."""
    for saver in savers:
      if not isinstance(saver, tf.compat.v1.train.Saver):
        continue
      # A saver of an earlier session may come again, in an object that the program keeps.
      save, restore = saver.__dict__.setdefault(_HOSTED, (saver.save, saver.restore))
      # The class stays TensorFlow's: hooks and scaffolds of the program hold this very object.
      saver.save = functools.partial(self._save, save)
      saver.restore = functools.partial(self._restore, saver, restore)

  def take_from(self, owners: Iterable[Any]) -> None:
    """Takes care of the savers that hooks have as attributes."""
    for owner in owners:
      self.take(vars(owner).values() if hasattr(owner, "__dict__") else ())

  def _save(
    self, save: Callable[..., Any], sess: Any, save_path: Any, *args: Any, **kwargs: Any
  ) -> Any:
    """Saves as `Saver.save`, with other directories."""
    directory, name = os.path.split(os.fspath(save_path))
    if os.path.abspath(directory or ".") == os.path.abspath(self.model_dir):
      new = places.new_place(self.model_dir)
      tf.io.gfile.makedirs(new)
      save_path = os.path.join(new, name)
      kwargs["write_meta_graph"] = self._write_graph
    step = args[0] if args else kwargs.get("global_step")
    self._saving(sess, step)
    path = save(sess, save_path, *args, **kwargs)
    self._saved(sess, step)
    return path

  def _restore(self, saver: Any, restore: Callable[..., Any], sess: Any, save_path: Any) -> None:
    """Restores as `Saver.restore`, all or nothing, whichever program wrote it.

    Raises:
      CheckpointError: if the checkpoint is damaged or does not fit.
      ValueError: if there is none.
    """
    if saver.as_saver_def() is None:
      return  # It has no variables.
    try:
      path = places.given(save_path, self.model_dir)
    except ValueError:
      if not tf.compat.v1.train.checkpoint_exists(save_path):
        raise
      # Of the format that TensorFlow wrote before it had index files, such as many published weights.
      restore(sess, save_path)
      return
    values = restoring.wanted(sess.graph, saver)
    restoring.check(path, values)
    if other_checkpoints.is_ours(path):
      operation = saver.as_saver_def().restore_op_name
      sess.run(operation, restoring.feeds(sess, path, values))
      tf.compat.v1.logging.info("Restoring parameters from %s", path)
    else:
      restore(sess, path)
    place = places.new_place(self.model_dir)
    if self._training and os.path.dirname(os.path.abspath(path)) == os.path.abspath(place):
      saver.recover_last_checkpoints(state.recorded(place))


class Creator(tf.compat.v1.train.SessionCreator):
  """Makes a session with the newest checkpoint, or the one that is given; also after a failure."""

  def __init__(
    self,
    scaffold: Any,
    find: Callable[[], Optional[str]],
    master: str,
    config: Any,
    host: Host,
  ):
    """Makes a creator.

    Args:
      scaffold: of the model_fn.
      find: gives the prefix of the checkpoint; None to initialize.
      master: as in RunConfig.
      config: as in RunConfig.
      host: takes care of the saver that the scaffold makes of a `tf.train.Checkpoint`.
    """
    self._scaffold = scaffold
    self._host = host
    self._find = find
    self._master = master
    self._config = config

  def create_session(self) -> Any:
    """Returns a session with values."""
    self._scaffold.finalize()
    self._host.take([self._scaffold.saver])
    creator = tf.compat.v1.train.ChiefSessionCreator(
      self._scaffold,
      master=self._master,
      config=self._config,
      checkpoint_filename_with_path=self._find(),
    )
    return creator.create_session()


def session_saver(scaffold: Any, **options: Any) -> Any:
  """Returns the saver that a session is going to use; makes one if the program has none.

  Args:
    scaffold: of the model_fn.
    **options: of the saver that is made.
  """
  if scaffold is not None and scaffold.saver is not None:
    return scaffold.saver
  collected = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.SAVERS)
  if collected:
    return collected[0]
  # Built when the session begins: what hooks make is saved, too.
  saver = tf.compat.v1.train.Saver(sharded=True, defer_build=True, **options)
  tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.SAVERS, saver)
  return saver


def _nothing(session: Any, step: Any) -> None:
  """Nobody listens."""


def _content(path: str) -> Optional[bytes]:
  """Returns the bytes of a file, None if there is none."""
  if not tf.io.gfile.exists(path):
    return None
  with tf.io.gfile.GFile(path, "rb") as file:
    return file.read()
