"""The methods of a `ModelFn` that export."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.hosting import places
from migrator.runtime.hosting.modes import ModeKeys


class Exports:
  """What a `ModelFn` exports; a part of it."""

  def export_saved_model(
    self,
    export_dir_base: Any,
    serving_input_receiver_fn: Any,
    assets_extra: Optional[dict] = None,
    as_text: bool = False,
    checkpoint_path: Any = None,
    experimental_mode: str = ModeKeys.PREDICT,
  ) -> bytes:
    """Exports one graph as a SavedModel, to `<export_dir_base>/<seconds since 1970>`.

    The signatures are those of `EstimatorSpec.export_outputs`.

    Args:
      export_dir_base: where the directory is made.
      serving_input_receiver_fn: returns a `runtime.export.ServingInputReceiver`; it runs in the graph, and may
        make placeholders.
      assets_extra: path below `assets.extra` -> the file that is copied there.
      as_text: whether the SavedModel is written as text.
      checkpoint_path: by default the newest.
      experimental_mode: of the graph.

    Returns:
      The directory, as bytes.

    Raises:
      ValueError: with the Estimator's messages, without a function or a checkpoint.
      CheckpointError: if the checkpoint does not fit the model.
    """
    if not serving_input_receiver_fn:
      raise ValueError("An input_receiver_fn must be defined.")
    return self.experimental_export_all_saved_models(
      export_dir_base,
      {experimental_mode: serving_input_receiver_fn},
      assets_extra=assets_extra,
      as_text=as_text,
      checkpoint_path=checkpoint_path,
    )

  def export_savedmodel(
    self,
    export_dir_base: Any,
    serving_input_receiver_fn: Any,
    assets_extra: Optional[dict] = None,
    as_text: bool = False,
    checkpoint_path: Any = None,
    strip_default_attrs: bool = False,
  ) -> bytes:
    """Exports as `export_saved_model`, under the name of before.

    Args:
      export_dir_base: as there, like the next four.
      serving_input_receiver_fn: as there.
      assets_extra: as there.
      as_text: as there.
      checkpoint_path: as there.
      strip_default_attrs: attributes with default values are always left out, so that older programs can
        read the graph.
    """
    return self.export_saved_model(
      export_dir_base,
      serving_input_receiver_fn,
      assets_extra=assets_extra,
      as_text=as_text,
      checkpoint_path=checkpoint_path,
    )

  def experimental_export_all_saved_models(
    self,
    export_dir_base: Any,
    input_receiver_fn_map: dict[str, Callable[[], Any]],
    assets_extra: Optional[dict] = None,
    as_text: bool = False,
    checkpoint_path: Any = None,
  ) -> bytes:
    """Exports graphs of several modes as one SavedModel; their variables are written once.

    Args:
      export_dir_base: as in `export_saved_model`.
      input_receiver_fn_map: mode -> function that returns a receiver.
      assets_extra: as in `export_saved_model`.
      as_text: as in `export_saved_model`.
      checkpoint_path: by default the newest.

    Returns:
      The directory, as bytes.

    Raises:
      ValueError: with the Estimator's messages, without a mode or a checkpoint.
      CheckpointError: if the checkpoint does not fit the model.
    """
    # TensorFlow's parts of an export are only needed where something is exported.
    from migrator.runtime.hosting import exporting

    return exporting.export(
      self._build_for_export,
      input_receiver_fn_map,
      export_dir_base,
      self._exported_checkpoint(checkpoint_path),
      config=self._config,
      model_dir=self._model_dir,
      assets_extra=assets_extra,
      as_text=as_text,
    )

  _config: Any
  _model_dir: str
  _warm_start_settings: Any
  _call_model_fn: Callable[..., Any]
  latest_checkpoint: Callable[[], Optional[str]]

  def _build_for_export(self, features: Any, labels: Any, mode: str) -> Any:
    """Builds the graph of an export; returns its spec."""
    return self._call_model_fn(features, labels, mode, self._config)

  def _exported_checkpoint(self, checkpoint_path: Any) -> str:
    """Returns the checkpoint of an export.

    Raises:
      ValueError: with the Estimator's message, if there is none.
    """
    found = checkpoint_path or self.latest_checkpoint()
    if not found and self._warm_start_settings is not None:
      found = self._warm_start_settings.ckpt_to_initialize_from
      if tf.io.gfile.isdir(found):
        found = places.latest_checkpoint(found)
    if not found:
      raise ValueError(f"Couldn't find trained model at {self._model_dir}.")
    return found
