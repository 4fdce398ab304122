"""Exports a model as the Estimator exported it: the same signatures, in a directory named by the time."""

from __future__ import annotations

import os
from typing import Any, Callable, Optional

import tensorflow as tf

from migrator.runtime import heads, inputs, keras_inputs, steps
from migrator.runtime.export import directories, resources, signatures
from migrator.runtime.network import Network
from migrator.runtime.network import export as network_export
from migrator.runtime.policy import UNSET
from migrator.runtime.slots import inner


def export_saved_model(
  model: Any,
  loss_fn: Any,
  export_dir_base: str,
  serving_input_receiver_fn: Callable[[], Any],
  assets_extra: Optional[dict] = None,
  as_text: bool = False,
  checkpoint_path: Any = UNSET,
) -> bytes:
  """Exports what a model holds to `<export_dir_base>/<seconds since 1970>`.

  The signatures have the names, inputs, outputs and methods of the Estimator's export. Tensors within the graph have
  other names, and variables those of the model's checkpoints.

  Args:
    model: a built Keras model that gives logits, or a `runtime.Network`.
    loss_fn: its head, or the Keras loss that stands for one. Of a `runtime.Network` the function of its outputs
      that returns `export_outputs` as given to an EstimatorSpec, or the predictions.
    export_dir_base: where the directory is made.
    serving_input_receiver_fn: returns a `ServingInputReceiver`; it is run in a graph, so that it may make
      placeholders.
    assets_extra: path below `assets.extra` -> the file that is copied there.
    as_text: whether the SavedModel is written as text.
    checkpoint_path: what `manager.newest()` gave, if the model holds a checkpoint; None is an error.

  Returns:
    The directory, as bytes like the Estimator's.

  Raises:
    ValueError: with the Estimator's message, without a function or a checkpoint.
    RuntimeError: if there is no new name for the directory after some seconds.
  """
  check_receiver_fn(serving_input_receiver_fn)
  if checkpoint_path is None:
    raise ValueError(f"Couldn't find trained model for {export_dir_base}: there is no checkpoint.")
  made: dict[str, Any] = {}

  def trace() -> list:
    made["receiver"] = receiver = serving_input_receiver_fn()
    if isinstance(model, Network):
      made["outputs"] = network_export.outputs(model, loss_fn, receiver.features)
      return []
    if isinstance(loss_fn, heads.FunctionHead):
      function = loss_fn.export_outputs_fn or loss_fn.predictions_fn
      network = loss_fn.network(model)
      made["outputs"] = network_export.outputs(network, function, receiver.features)
      return []
    own = loss_fn if isinstance(loss_fn, heads.CompiledHead) else None
    adapt = keras_inputs.model_inputs(model) if own else inputs.InputAdapter(model)
    outputs = model(adapt(receiver.features), training=False)
    made["outputs"] = own.exports(model, outputs) if own else heads.export_outputs(loss_fn, outputs)
    return []

  with resources.recorded() as recorded:
    traced = tf.compat.v1.wrap_function(trace, [])
  found = signatures.make(traced, made["receiver"], made["outputs"])
  directory = directories.new(os.fspath(export_dir_base))
  temporary = directories.temporary(directory)
  tables = model.tables if isinstance(model, Network) else resources.of_model(model)
  tf.saved_model.save(
    _tracked(model, [*recorded, *tables], traced.graph),
    temporary,
    signatures={key: signature.function for key, signature in found.items()},
  )
  signatures.rename(temporary, found, as_text)
  directories.copy_extra(temporary, assets_extra or {})
  tf.io.gfile.rename(temporary, directory)
  return os.fsencode(directory)


def check_receiver_fn(serving_input_receiver_fn: Any) -> None:
  """Raises the Estimator's ValueError if there is no function."""
  if not serving_input_receiver_fn:
    raise ValueError("An input_receiver_fn must be defined.")


def _tracked(model: Any, tables: list, graph: Any) -> tf.Module:
  """Returns an object that owns the variables by their names, and those tables that the graph reads.

  Not the model itself: that would bring the functions of all of its layers into the export.
  """
  owner = tf.Module()
  checkpoint = steps.checkpoint_of(model)
  named = set()
  for name in () if checkpoint is None else (*checkpoint.weights, steps.GLOBAL_STEP):
    variable = checkpoint.by_name[name]
    setattr(owner, name, variable)
    named.add(id(variable))
  # What a checkpoint does not hold, but a function may read, as the state of random generators.
  owner.other_variables = [v for v in map(inner, model.variables) if id(v) not in named]
  captured = {id(tensor) for tensor in graph.external_captures}
  owner.tables = [table for table in tables if id(table.resource_handle) in captured]
  # No table of the export reads them, but the Estimator's exports had them in `assets`.
  owner.vocabularies = [tf.saved_model.Asset(path) for path in _vocabulary_files(model)]
  return owner


def _vocabulary_files(model: Any) -> list[str]:
  """Returns the vocabulary files of the layers of a model, each once, as far as there still are any."""
  files: dict[str, None] = {}
  for layer in () if isinstance(model, Network) else model._flatten_layers():
    path = getattr(layer, "vocabulary_file", None)
    if not path:
      continue
    if tf.io.gfile.exists(path):
      files[os.fspath(path)] = None
    else:
      tf.get_logger().warning("%s is gone, and no asset of the export.", path)
  return list(files)
