"""The Estimator's checkpoint policy as one Keras callback."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterable, Sequence
from typing import Any, Callable, Optional

import numpy as np
import tensorflow as tf

from migrator.runtime import listeners, named, policy, state, steps, summaries
from migrator.runtime.errors import CheckpointError
from migrator.runtime.load import load_tf1_checkpoint
from migrator.runtime.manager import CheckpointManager
from migrator.runtime.policy import UNSET, Number
from migrator.runtime.reading import Reading


class BackupAndRestore(Reading, tf.keras.callbacks.Callback):
  """Saves, keeps and restores checkpoints of a Keras model as its Estimator did.

  It must come first in the callbacks of `fit`: the Estimator saved a step before its hooks saw it. A
  checkpoint is written when training starts (also when it is resumed), every N steps or seconds after
  the last one, and when it ends; not when it fails. New checkpoints go to `<model_dir>/tf2`; those of the
  Estimator are read as long as there are none, and never touched.

  It resets the model's metrics at the beginning of each batch, so that `logs["loss"]` is the loss of the
  step itself, as the Estimator's hooks saw it. A NaN loss ends the training with the Estimator's error
  after the other callbacks of that step. The input begins at its first element on resume, as the
  Estimator's did.
  """

  def __init__(
    self,
    model: Any,
    model_dir: Optional[str],
    *,
    variable_scope: str = "",
    flavour: Optional[str] = None,
    save_checkpoints_steps: Any = UNSET,
    save_checkpoints_secs: Any = UNSET,
    keep_checkpoint_max: Optional[int] = 5,
    keep_checkpoint_every_n_hours: Optional[Number] = 10000,
    save_summary_steps: Optional[int] = 100,
    log_step_count_steps: Optional[int] = 100,
    metrics: Sequence[Callable[..., dict]] = (),
    warm_start_from: Any = None,
    head: Any = None,
  ):
    """Makes the callback, and restores the newest checkpoint of `model_dir` at once.

    Args:
      model: a built and compiled Keras model that gives logits.
      model_dir: the Estimator's model directory; may be absent or empty. None makes a temporary
        one, with a warning, as the Estimator did.
      variable_scope: what the old variable names begin with, e.g. "dnn".
      flavour: "v1" or "v2", which Estimator it was; by default what the loss shows: a sum is v1.
      save_checkpoints_steps: as in RunConfig.
      save_checkpoints_secs: as in RunConfig; 600 if neither is given; both None save nothing.
      keep_checkpoint_max: as in RunConfig.
      keep_checkpoint_every_n_hours: as in RunConfig.
      save_summary_steps: as in RunConfig.
      log_step_count_steps: as in RunConfig.
      metrics: what was given to `tf.estimator.add_metrics`, for `evaluate`.
      warm_start_from: a path, or `runtime.WarmStartSettings`: what the weights begin with as long as
        model_dir has no checkpoint.
      head: what evaluations, predictions and exports are made of, by default the loss that the model is
        compiled with: `runtime.heads.CompiledHead()` for a Keras model that was in an Estimator.

    Raises:
      ValueError: for arguments that RunConfig refuses, or a model that is not built or compiled.
      TypeError: if the optimizer is not known.
      CheckpointError: if there is a checkpoint that cannot be restored as a whole, or model_dir
        is a file.
      NotImplementedError: if TF_CONFIG describes several tasks.
    """
    super().__init__()
    policy.check_single_task()
    if getattr(model, "optimizer", None) is None:
      raise ValueError(f"The model {model.name} must be compiled before BackupAndRestore is made.")
    self._of = model
    # Known before a `fit` says it, as the handle that programs pass on.
    super().set_model(model)
    self._metrics = tuple(metrics)
    self._head = head
    self._max_steps: Optional[Number] = None
    if not model_dir:
      model_dir = tempfile.mkdtemp()
      tf.get_logger().warning("Using temporary folder as model directory: %s", model_dir)
    self._model_dir = os.fspath(model_dir)
    state.check_directory(self._model_dir)
    self._checkpoint = named.named_checkpoint(
      model, model.optimizer, scope=variable_scope, flavour=flavour
    )
    self._step = self._checkpoint.by_name[named.STEP]
    self._manager = CheckpointManager(
      self._checkpoint,
      os.path.join(self._model_dir, state.NEW_DIRECTORY),
      step_counter=self._step,
      save_checkpoints_steps=save_checkpoints_steps,
      save_checkpoints_secs=save_checkpoints_secs,
      keep_checkpoint_max=keep_checkpoint_max,
      keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
    )
    self._manager.saved = self._note_save
    self._summaries = summaries.SummarySaver(
      self._model_dir,
      self._step,
      save_summary_steps=save_summary_steps,
      log_step_count_steps=log_step_count_steps,
    )
    # Without checkpoints every session of an Estimator began with the initial weights.
    self._initial = (
      None if self._manager.enabled else [(v, v.numpy()) for v in self._checkpoint.by_name.values()]
    )
    self._warm_start_from = warm_start_from
    self._first_step = 0
    self._listeners: tuple[Any, ...] = ()
    self._held: Optional[str] = None
    self._failed = False
    self._stepped = False  # Whether the weights may be others than those of the last restore.
    self.restore()

  @property
  def model_dir(self) -> str:
    """The Estimator's model directory."""
    return self._model_dir

  @property
  def global_step(self) -> int:
    """The number of steps that the weights have been trained."""
    return int(self._step.numpy())

  @property
  def max_steps(self) -> Optional[Number]:
    """The step at which the training ends for which `remaining_steps` was asked last; None if there is none."""
    return self._max_steps

  @property
  def checkpoint(self) -> named.NamedCheckpoint:
    """What is saved."""
    return self._checkpoint

  @property
  def latest_checkpoint(self) -> Optional[str]:
    """The checkpoint that `restore` takes, None if there is none."""
    return self._manager.latest_checkpoint or state.newest(self._model_dir)

  def restore(self) -> Optional[str]:
    """Restores the newest checkpoint: of the sub-directory `tf2`, else the Estimator's.

    Returns:
      The path of the checkpoint; None if there is none, and the weights are the initial ones.

    Raises:
      CheckpointError: if it cannot be restored as a whole; the model is unchanged then.
    """
    path = self._manager.latest_checkpoint
    if path is not None:
      self._checkpoint.restore(path)
    else:
      path = state.newest(self._model_dir)
      if path is not None:
        load_tf1_checkpoint(self._checkpoint, path)
      else:
        self._restore_initial()
        if self._warm_start_from is not None:
          load_tf1_checkpoint(
            self._checkpoint, self._model_dir, warm_start_from=self._warm_start_from
          )
          self._first_step = self.global_step
    self._held = path
    self._failed = self._stepped = False
    return path

  def _restore_initial(self) -> None:
    """Goes back to the initial weights, if there are any to go back to."""
    if self._initial is not None:
      for variable, value in self._initial:
        variable.assign(value)
    elif self._stepped or self.global_step != self._first_step:
      raise CheckpointError(
        f"There is no checkpoint in {self._model_dir} any more, and the model has been trained: make "
        "the model again to start afresh."
      )

  def _restore_if_changed(self) -> Optional[str]:
    """Restores the newest checkpoint unless the model holds it already; returns its path."""
    path = self.latest_checkpoint
    if (
      self._failed or path != self._held or (path is None and self.global_step != self._first_step)
    ):
      return self.restore()
    return path

  def remaining_steps(
    self, max_steps: Optional[Number] = None, steps: Optional[Number] = None
  ) -> int:
    """Returns how many steps are left to train, for `dataset.take`.

    Args:
      max_steps: train until the global step is this one.
      steps: train this many steps.

    Returns:
      The number of steps, 0 if there is nothing to do; -1 (all) if neither argument is given.

    Raises:
      ValueError: with the Estimator's message, for both arguments or one that is not positive.
    """
    policy.check_steps(steps, max_steps)
    self._max_steps = max_steps
    self._restore_if_changed()
    if steps is not None:
      return math.ceil(steps)
    if max_steps is None:
      return -1
    if self.global_step >= max_steps:
      tf.get_logger().info("Skipping training since max_steps has already saved.")
      return 0
    # The Estimator compared numbers: it took 1e3, and went on to the first step not below it.
    return math.ceil(max_steps - self.global_step)

  def set_model(self, model: Any) -> None:
    """Makes its step the one that the callbacks behind it read, also if another one was made since."""
    super().set_model(model)
    if model is self._of:
      steps.register(model, self._checkpoint)

  def with_listeners(self, saving_listeners: Optional[Iterable[Any]]) -> BackupAndRestore:
    """Lets listeners hear of the saves of the next `fit`, as `train(saving_listeners=)` did.

    Args:
      saving_listeners: `runtime.CheckpointSaverListener`s; one that is given twice hears once.

    Returns:
      This callback, for `fit(callbacks=[backup.with_listeners(...)])`.

    Raises:
      TypeError: with the Estimator's message, for what is no CheckpointSaverListener. Where nothing
        is ever saved, `fit` raises its ValueError.
    """
    self._listeners = listeners.checked(saving_listeners)
    return self

  def on_train_begin(self, logs: Optional[dict] = None) -> None:
    """Restores the newest checkpoint if need be, and saves the first one of the session."""
    self._check_fit()
    self._restore_if_changed()
    self._failed = True  # Until the end is reached.
    self._nan = False
    self._first_iterations = [count - self.global_step for count in self._iterations()]
    heard, self._listeners = self._listeners, ()
    self._manager.begin_session(self.model, heard)
    self._manager.save()
    self._summaries.on_train_begin(logs)

  def _check_fit(self) -> None:
    """Raises if `fit` cannot be followed step by step."""
    if self.model is not self._of:
      raise ValueError(f"BackupAndRestore was made for another model than {self.model.name}.")
    # A variable in Keras 2, a number in Keras 3.
    steps = getattr(self.model, "_steps_per_execution", None)
    if int(getattr(self.model, "steps_per_execution", 1) if steps is None else steps) != 1:
      raise ValueError("BackupAndRestore needs steps_per_execution=1.")

  def _iterations(self) -> list[int]:
    """Returns the counts of the optimizers."""
    return [int(count.numpy()) for count in self._counts()]

  def _counts(self) -> list[tf.Variable]:
    places = range(len(self._checkpoint.states))
    return [self._checkpoint.by_name[named.iterations_name(place)] for place in places]

  def on_train_batch_begin(self, batch: int, logs: Optional[dict] = None) -> None:
    """Makes `logs["loss"]` the loss of this step."""
    self._raise_if_nan()
    self._stepped = True
    self.model.reset_metrics()

  def on_train_batch_end(self, batch: int, logs: Optional[dict] = None) -> None:
    """Counts the step, saves if it is time."""
    self._step.assign_add(1)
    self._manager.save()
    self._summaries.on_train_batch_end(batch, logs)
    self._nan = bool(np.isnan((logs or {}).get("loss", 0.0)))

  def on_epoch_end(self, epoch: int, logs: Optional[dict] = None) -> None:
    """Corrects the optimizers' counts: Keras counts one too many when the input ends."""
    self._raise_if_nan()
    for count, first in zip(self._counts(), self._first_iterations):
      if int(count.numpy()) != self.global_step + first:
        count.assign(self.global_step + first)

  def on_train_end(self, logs: Optional[dict] = None) -> None:
    """Saves the last step."""
    self._raise_if_nan()
    self._manager.end_session()
    self._summaries.on_train_end(logs)
    self._failed = False

  def _raise_if_nan(self) -> None:
    """Raises the Estimator's error, once the other callbacks of the step have run."""
    if self._nan:
      tf.get_logger().error("Model diverged with loss = NaN.")
      raise tf.compat.v1.train.NanLossDuringTrainingError

  def _note_save(self, path: str) -> None:
    """Remembers what has been saved, as the event file does."""
    self._held = path
    summaries.log_checkpoint(self._model_dir, path, self.global_step)
