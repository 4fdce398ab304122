"""Writes and deletes checkpoints exactly when the Estimator's saver did."""

from __future__ import annotations

import contextlib
import os
import time
import weakref
from collections.abc import Iterable, Iterator
from typing import Any, Callable, Optional

import tensorflow as tf

from migrator.runtime import listeners, other_checkpoints, state
from migrator.runtime.policy import UNSET, Number, Timer, make_policy

# By the id of the step counter, which a manager keeps alive.
_managers: weakref.WeakValueDictionary[int, CheckpointManager] = weakref.WeakValueDictionary()


def manager_of(step_counter: Optional[tf.Variable]) -> Optional[CheckpointManager]:
  """Returns the newest manager that counts by this variable, or None."""
  return _managers.get(id(step_counter))


class CheckpointManager:
  """Manages the checkpoints of a directory by RunConfig's rules.

  It has the methods of `tf.train.CheckpointManager`, and differs in three points: it can save by time;
  it deletes at most one checkpoint for each one that it writes, so that a lowered
  `keep_checkpoint_max` takes effect gradually; and `keep_checkpoint_every_n_hours` counts from the
  start of the session. With both cadences None or 0 nothing is saved, unless by a `CheckpointSaver`.
  """

  def __init__(
    self,
    checkpoint: tf.train.Checkpoint,
    directory: str,
    *,
    step_counter: tf.Variable,
    save_checkpoints_steps: Any = UNSET,
    save_checkpoints_secs: Any = UNSET,
    keep_checkpoint_max: Optional[int] = 5,
    keep_checkpoint_every_n_hours: Optional[Number] = 10000,
    checkpoint_name: str = "model.ckpt",
    init_fn: Optional[Callable[[], Any]] = None,
    recover_last_checkpoints: bool = True,
  ):
    """Makes a manager.

    Args:
      checkpoint: what to save and restore.
      directory: where to; it must not be the model directory of an Estimator.
      step_counter: the global step, int64, shape [].
      save_checkpoints_steps: as in RunConfig.
      save_checkpoints_secs: as in RunConfig; 600 if neither is given.
      keep_checkpoint_max: as in RunConfig.
      keep_checkpoint_every_n_hours: as in RunConfig.
      checkpoint_name: what the files begin with.
      init_fn: called by `restore_or_initialize` if there is nothing to restore.
      recover_last_checkpoints: whether a session goes on with the list of the state file, as an Estimator and a
        monitored session do. A Saver alone does not: it never deletes what an earlier process saved.

    Raises:
      ValueError: with RunConfig's message, for arguments that it refuses.
    """
    self._checkpoint = checkpoint
    self._directory = os.fspath(directory)
    self._step_counter = step_counter
    self._policy = make_policy(
      save_checkpoints_steps,
      save_checkpoints_secs,
      keep_checkpoint_max,
      keep_checkpoint_every_n_hours,
    )
    hours = self._policy.keep_checkpoint_every_n_hours
    self._kept_interval = float("inf") if hours is None else hours * 3600
    self._name = checkpoint_name
    self._init_fn = init_fn
    self._recovers = recover_last_checkpoints
    self._claims: list[Any] = []
    self._lent: list[object] = []
    self.saved: Optional[Callable[[str], None]] = None
    """Called with the path of each checkpoint, before the listeners hear of it."""
    _managers[id(step_counter)] = self
    self.begin_session()

  @property
  def checkpoint(self) -> tf.train.Checkpoint:
    """What is saved."""
    return self._checkpoint

  @property
  def directory(self) -> str:
    """Where it is saved."""
    return self._directory

  @property
  def enabled(self) -> bool:
    """Whether the policy saves anything at all."""
    return self._policy.enabled

  @property
  def latest_checkpoint(self) -> Optional[str]:
    """The newest checkpoint, by the state file; None if there is none."""
    return state.newest(self._directory)

  @property
  def checkpoints(self) -> list[str]:
    """The checkpoints in the state file, oldest first."""
    return state.recorded(self._directory)

  @property
  def last_saved_step(self) -> Optional[int]:
    """The step of the last save of this session, None before the first."""
    return self._timer.last_step

  def begin_session(
    self, model: Any = None, saving_listeners: Optional[Iterable[Any]] = None
  ) -> None:
    """Begins a session: forgets when it saved last, and takes over the checkpoints of the state file.

    Args:
      model: what the listeners get as `model`; its `stop_training` becomes True if one of them wants it.
      saving_listeners: CheckpointSaverListeners, which hear of the saves up to `end_session`.

    Raises:
      TypeError: with the Estimator's message, for what is no CheckpointSaverListener.
      ValueError: with the Estimator's message, if there are listeners, but nothing is ever saved.
    """
    heard = listeners.checked(saving_listeners)
    self._lent.clear()
    self._savers, self._claims = self._claims, []
    if self._savers:
      self._savers[0].add_listeners(heard)
      heard = ()
    elif heard and not self.enabled:
      raise ValueError(listeners.NO_SAVER)
    self._listeners = listeners.Session(model, heard)
    self._timer = Timer(self._policy.save_checkpoints_steps, self._policy.save_checkpoints_secs)
    # The saver of each session takes the time of a file for the time of its save.
    found = self.checkpoints if self._recovers else []
    self._kept = [(p, tf.io.gfile.stat(p + ".index").mtime_nsec / 1e9) for p in found]
    self._next_kept_time = time.time() + self._kept_interval

  def end_session(self) -> None:
    """Ends a session: saves the last step, unless that has been done, and tells the listeners."""
    self.save(check_interval=False)
    self._listeners.end(int(self._step_counter))
    self._listeners, self._savers = listeners.Session(), []

  def leave_to(self, saver: Any) -> None:
    """Leaves the saves of the next session to a `CheckpointSaver`: `save` does nothing in it.

    Args:
      saver: of several, the first one gets the listeners of the session.
    """
    if saver not in self._claims:
      self._claims.append(saver)

  def restore_or_initialize(self) -> Optional[str]:
    """Restores the newest checkpoint, else calls `init_fn`; begins a session.

    Returns:
      The path of the restored checkpoint, or None.
    """
    newest = self.latest_checkpoint
    self._restore()
    self.begin_session()
    return newest

  def _restore(self, checkpoint_path: Optional[str] = None) -> Optional[str]:
    if checkpoint_path:
      path = other_checkpoints.checkpoint_at(checkpoint_path)
      other_checkpoints.restore_any(self._checkpoint, path)
      return path
    newest = self.latest_checkpoint
    if newest is not None:
      other_checkpoints.restore_newest(self._checkpoint, newest)
      return newest
    loaded = self._init_fn() if self._init_fn is not None else None
    return getattr(loaded, "prefix", None)  # of load_tf1_checkpoint's report

  @contextlib.contextmanager
  def newest(self, checkpoint_path: Optional[str] = None) -> Iterator[Optional[str]]:
    """Restores as `restore_or_initialize`, and gives the checkpoint its values back at the end.

    For an evaluation that a callback or a listener makes in the middle of a training, which goes on
    as if nothing had been, and for one of another checkpoint.

    Args:
      checkpoint_path: another checkpoint than the newest, also one of the Estimator.

    Yields:
      The path of the restored checkpoint, also of one that `init_fn` has loaded; or None.

    Raises:
      ValueError: with the Estimator's message, if there is no such checkpoint.
    """
    with self.lending():
      yield self._restore(checkpoint_path)

  @contextlib.contextmanager
  def lending(self, given_back: Optional[Callable[[], Any]] = None) -> Iterator[None]:
    """Gives the checkpoint its values back at the end, and refuses to save before.

    Not once another session has begun, which has restored what it needs: a prediction that nobody
    took to its end ends only when it is forgotten.

    Args:
      given_back: called after that.
    """
    held = [(v, v.numpy()) for v in self._checkpoint.by_name.values()]
    loan = object()
    self._lent.append(loan)
    try:
      yield
    finally:
      if loan in self._lent:
        self._lent.remove(loan)
        for variable, value in held:
          variable.assign(value)
        if given_back is not None:
          given_back()

  def save(
    self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None
  ) -> Optional[str]:
    """Saves, if it is time.

    Args:
      checkpoint_number: the step, for the name; by default the step counter.
      check_interval: whether to save only when the cadence says so (always, the first time in a
        session). Otherwise it saves unless this step has been saved in this session.
      options: as in `tf.train.Checkpoint.write`.

    Returns:
      The path of the new checkpoint; None if nothing was saved.

    Raises:
      RuntimeError: if a prediction that began in the training has not come to its end.
    """
    if self._lent:
      # Its end would take the model back to where it began.
      raise RuntimeError(
        "The training cannot go on before a prediction has ended that holds the weights of a "
        "checkpoint: take all of its values, or close() it."
      )
    step = int(self._step_counter if checkpoint_number is None else checkpoint_number)
    if not self.enabled or self._savers:
      return None
    if not (self._timer.due(step) if check_interval else self._timer.last_step != step):
      return None
    first = self._timer.last_step is None
    self._timer.mark(step)
    may_stop = check_interval and not first
    return self.write(step, self._listeners, may_stop=may_stop, options=options)

  def write(
    self,
    step: int,
    heard: listeners.Session,
    *,
    may_stop: bool,
    name: Optional[str] = None,
    options: Any = None,
  ) -> str:
    """Saves now; deletes what is not to be kept.

    Args:
      step: for the name.
      heard: who hears of it.
      may_stop: whether the listeners may stop the training.
      name: what the files begin with; by default `checkpoint_name`.
      options: as in `tf.train.Checkpoint.write`.

    Returns:
      The path of the new checkpoint.
    """
    heard.before_save(step)
    path = os.path.join(self._directory, f"{name or self._name}-{step}")
    tf.get_logger().info("Saving checkpoints for %d into %s.", step, path)
    self._checkpoint.write(path, options=options)
    surplus = self._record(path)
    self._write_state(path)
    if surplus is not None:
      self._delete(*surplus)
    if self.saved is not None:
      self.saved(path)
    heard.after_save(step, may_stop)
    return path

  def _record(self, path: str) -> Optional[tuple[str, float]]:
    """Adds a checkpoint to the kept ones; returns the oldest if they are too many."""
    limit = self._policy.keep_checkpoint_max
    if not limit:
      return None
    self._kept = [entry for entry in self._kept if entry[0] != path]
    self._kept.append((path, time.time()))
    return self._kept.pop(0) if len(self._kept) > limit else None

  def _delete(self, prefix: str, saved: float) -> None:
    """Deletes a checkpoint, unless it is the one to be kept of these hours."""
    if saved > self._next_kept_time:
      self._next_kept_time += self._kept_interval
      return
    # A graph is there if a program with a model_fn wrote the checkpoint.
    for path in (*state.files_of(prefix), prefix + ".meta"):
      if tf.io.gfile.exists(path):
        tf.io.gfile.remove(path)

  def _write_state(self, newest: str) -> None:
    """Writes the state file, at once or not at all."""
    # Where all are kept, the list is only what was found at the start of the session.
    listed = self._kept and self._kept[-1][0] == newest
    kept = self._kept if listed else [*self._kept, (newest, time.time())]
    lines = [f'model_checkpoint_path: "{os.path.basename(newest)}"']
    lines += [f'all_model_checkpoint_paths: "{os.path.basename(path)}"' for path, _ in kept]
    # tf.train.CheckpointManager needs the times if it takes the directory over.
    lines += [f"all_model_checkpoint_timestamps: {saved!r}" for _, saved in kept]
    path = os.path.join(self._directory, "checkpoint")
    temporary = path + ".tmp"
    with tf.io.gfile.GFile(temporary, "w") as file:
      file.write("\n".join(lines) + "\n")
    tf.io.gfile.rename(temporary, path, overwrite=True)
