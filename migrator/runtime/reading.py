"""What else an Estimator was asked for: results of its checkpoints, exports, values of variables."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, Callable, Optional

import tensorflow as tf

from migrator.runtime import evaluation, named, variables
from migrator.runtime.other_checkpoints import checkpoint_at, restore_any


class Reading:
  """The methods of `BackupAndRestore` that read checkpoints; a part of that class."""

  _of: Any
  _model_dir: str
  _manager: Any
  _checkpoint: named.NamedCheckpoint
  _held: Optional[str]
  _failed: bool
  _stepped: bool
  _metrics: tuple
  _head: Any
  _restore_if_changed: Callable[[], Optional[str]]

  @property
  def global_step(self) -> int:
    """The number of steps that the weights have been trained."""
    raise NotImplementedError

  @property
  def latest_checkpoint(self) -> Optional[str]:
    """The checkpoint that is read, None if there is none."""
    raise NotImplementedError

  def evaluate(
    self,
    dataset: tf.data.Dataset,
    steps: Optional[int] = None,
    name: Optional[str] = None,
    callbacks: Sequence[Any] = (),
    checkpoint_path: Optional[str] = None,
  ) -> dict:
    """Evaluates the newest checkpoint, or another one; see `runtime.evaluate`.

    In an empty directory it evaluates the initial weights, with a warning.

    Args:
      dataset: batches of (features, labels).
      steps: how many batches to take; None takes all.
      name: of the evaluation; its events go to `<model_dir>/eval_<name>`.
      callbacks: Keras callbacks; their `on_test_*` methods are called.
      checkpoint_path: the prefix of the checkpoint, for this call only.

    Returns:
      The metrics of the head (float32) and `global_step` (int64).

    Raises:
      ValueError: with the Estimator's message, if there is no such checkpoint.
    """
    more: dict[str, Any] = {"metrics": self._metrics} if self._metrics else {}
    with self._holding("evaluate", checkpoint_path) as path:
      return evaluation.evaluate(
        self._of,
        self._head or self._of.loss,
        dataset,
        global_step=self.global_step,
        model_dir=self._model_dir,
        steps=steps,
        name=name,
        checkpoint_path=path,
        callbacks=callbacks,
        **more,
      )

  def predict(
    self,
    dataset: tf.data.Dataset,
    predict_keys: Any = None,
    yield_single_examples: bool = True,
    callbacks: Sequence[Any] = (),
    checkpoint_path: Optional[str] = None,
  ) -> Iterator[dict]:
    """Yields the predictions of the newest checkpoint, or another one; see `runtime.predict`."""
    with self._holding("predict", checkpoint_path) as path:
      rows = evaluation.predict(
        self._of,
        dataset,
        loss_fn=self._head,
        predict_keys=predict_keys,
        yield_single_examples=yield_single_examples,
        callbacks=callbacks,
      )
      with contextlib.closing(rows):  # type: ignore[type-var]
        for row in rows:
          yield row
          if checkpoint_path and self._held != path:
            # Whoever took this value has asked for another checkpoint in between.
            restore_any(self._checkpoint, str(path))
            self._held = path

  def get_variable_names(self) -> list[str]:
    """Returns the names of the variables in the newest checkpoint, sorted, as the Estimator did.

    Of a checkpoint that the migrated program wrote these are the weights, the slots and `global_step`.

    Raises:
      ValueError: with the Estimator's message, if there is no checkpoint.
    """
    return variables.get_variable_names(self._model_dir)

  def get_variable_value(self, name: str) -> Any:
    """Returns the value of a variable in the newest checkpoint, as a numpy array.

    Args:
      name: one of `get_variable_names()`.

    Raises:
      ValueError: with the Estimator's message, if there is no checkpoint.
      NotFoundError: of TensorFlow, if it has no such variable.
    """
    return variables.get_variable_value(self._model_dir, name)

  def export_saved_model(
    self,
    export_dir_base: str,
    serving_input_receiver_fn: Callable[[], Any],
    assets_extra: Optional[dict] = None,
    as_text: bool = False,
    checkpoint_path: Optional[str] = None,
  ) -> bytes:
    """Exports the newest checkpoint, or another one; see `runtime.export_saved_model`.

    Raises:
      ValueError: with the Estimator's message, if there is no checkpoint.
    """
    from migrator.runtime.export import saved_model

    saved_model.check_receiver_fn(serving_input_receiver_fn)
    if not checkpoint_path and not self.latest_checkpoint:
      raise ValueError(f"Couldn't find trained model at {self._model_dir}.")
    with self._holding("export", checkpoint_path) as path:
      return saved_model.export_saved_model(
        self._of,
        self._head or self._of.loss,
        export_dir_base,
        serving_input_receiver_fn,
        assets_extra=assets_extra,
        as_text=as_text,
        checkpoint_path=path,
      )

  @contextlib.contextmanager
  def _holding(
    self, purpose: str, checkpoint_path: Optional[str] = None
  ) -> Iterator[Optional[str]]:
    """Lets the model hold a checkpoint: the newest, or the initial weights with a warning.

    During training (a callback may evaluate), after it failed, and after another checkpoint than the newest
    the model gets its state back.

    Yields:
      The path of the checkpoint, or None.
    """
    held, stepped, failed = self._held, self._stepped, self._failed

    def given_back() -> None:
      self._held, self._failed, self._stepped = held, failed, stepped

    if checkpoint_path:
      prefix = checkpoint_at(checkpoint_path, self._model_dir)
      with self._manager.lending(given_back):
        restore_any(self._checkpoint, prefix)
        self._held = prefix
        yield prefix
      return
    lending = self._manager.lending(given_back) if failed else contextlib.nullcontext()
    with lending:
      path = self._restore_if_changed()
      if path is None:
        tf.get_logger().warning(
          "Could not find trained model in model_dir: %s, running initialization to %s.",
          self._model_dir,
          purpose,
        )
      yield path
