"""Exports a model_fn as a SavedModel with the Estimator's graphs and signatures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.export import directories, outputs
from migrator.runtime.hosting import places, savers
from migrator.runtime.hosting.modes import ModeKeys

# The first mode of an export is the one whose variables are saved.
_ORDER = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)
_TAGS = {ModeKeys.TRAIN: ["train"], ModeKeys.EVAL: ["eval"], ModeKeys.PREDICT: ["serve"]}
_TRAIN_OP = "saved_model_train_op"
_LABELS = {
  outputs.CLASSIFY: "Classify",
  outputs.REGRESS: "Regress",
  outputs.PREDICT: "Predict",
  outputs.TRAIN: "Train",
  outputs.EVAL: "Eval",
}


def export(
  call: Callable[..., Any],
  receiver_fns: dict[str, Callable[[], Any]],
  export_dir_base: str,
  checkpoint_path: str,
  *,
  config: Any,
  model_dir: str,
  assets_extra: Optional[dict] = None,
  as_text: bool = False,
) -> bytes:
  """Exports to `<export_dir_base>/<seconds since 1970>`.

  Args:
    call: takes features, labels and mode, builds the model in the current graph, and returns the EstimatorSpec.
    receiver_fns: mode -> function that returns a receiver; it runs in the graph, too.
    export_dir_base: where the directory is made.
    checkpoint_path: the values.
    config: the RunConfig.
    model_dir: of the program.
    assets_extra: path below `assets.extra` -> the file that is copied there.
    as_text: whether the SavedModel is written as text.

  Returns:
    The directory, as bytes like the Estimator's.

  Raises:
    ValueError: with the Estimator's message, if there is no mode.
    CheckpointError: if the checkpoint does not fit.
    RuntimeError: if there is no new name for the directory after some seconds.
  """
  modes = [mode for mode in _ORDER if receiver_fns.get(mode)]
  if not modes:
    raise ValueError(f"No valid modes for exporting found. Got {receiver_fns.keys()}.")
  directory = directories.new(os.fspath(export_dir_base))
  temporary = directories.temporary(directory)
  builder = tf.compat.v1.saved_model.Builder(temporary)
  host = savers.Host(model_dir)
  for mode in modes:
    with tf.Graph().as_default() as graph:
      tf.compat.v1.train.create_global_step(graph)
      tf.compat.v1.set_random_seed(config.tf_random_seed)
      receiver = receiver_fns[mode]()
      spec = call(receiver.features, getattr(receiver, "labels", None), mode)
      found = signatures(receiver, _outputs(spec), serving_only=mode == ModeKeys.PREDICT)
      with tf.compat.v1.Session(config=config.session_config) as session:
        saver = _restored(session, spec.scaffold.saver, checkpoint_path, host)
        if spec.train_op is not None:
          tf.compat.v1.add_to_collection(_TRAIN_OP, spec.train_op)
        arguments = {
          "tags": _TAGS[mode],
          "signature_def_map": found,
          "assets_collection": tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.ASSET_FILEPATHS),
          "main_op": spec.scaffold.local_init_op
          if spec.scaffold.local_init_op is not None
          else tf.compat.v1.train.Scaffold.default_local_init_op(),
          "saver": saver,
          "strip_default_attrs": True,
        }
        if mode == modes[0]:
          builder.add_meta_graph_and_variables(session, **arguments)
        else:
          builder.add_meta_graph(**arguments)
  builder.save(as_text)
  directories.copy_extra(temporary, assets_extra or {})
  tf.io.gfile.rename(temporary, directory)
  return os.fsencode(directory)


def _restored(session: Any, saver: Any, checkpoint_path: str, host: savers.Host) -> Any:
  """Restores a checkpoint; returns the saver of the export.

  Args:
    session: of the export.
    saver: the scaffold's, None if it has none.
    checkpoint_path: the values.
    host: of the program.
  """
  if isinstance(saver, tf.train.Checkpoint):
    # A saver finds its variables in a checkpoint by object names, too.
    held = tf.train.TrackableView(saver).descendants()
    saver = tf.compat.v1.train.Saver([v for v in held if isinstance(v, tf.Variable)], sharded=True)
    saver.restore(session, places.given(checkpoint_path, host.model_dir))
    return saver
  saver = saver or tf.compat.v1.train.Saver(sharded=True)
  host.take([saver])
  saver.restore(session, checkpoint_path)
  return saver


def _outputs(spec: Any) -> dict[str, outputs.ExportOutput]:
  """Returns what a graph of a mode gives, by the names of its signatures."""
  if spec.mode == ModeKeys.PREDICT:
    return outputs.serving_outputs(spec.export_outputs, spec.predictions)
  kind, key = (
    (outputs.TrainOutput, outputs.TRAIN_KEY)
    if spec.mode == ModeKeys.TRAIN
    else (outputs.EvalOutput, outputs.EVAL_KEY)
  )
  return {key: kind(spec.loss, spec.predictions, spec.eval_metric_ops)}


def signatures(
  receiver: Any, given: dict[str, outputs.ExportOutput], serving_only: bool
) -> dict[str, Any]:
  """Returns the SignatureDefs of a graph, by name.

  Args:
    receiver: what the `serving_input_receiver_fn` returned.
    given: what the graph gives, by the names of its signatures.
    serving_only: whether only those are wanted that can be served.
  """
  groups = {"": receiver.receiver_tensors}
  alternatives = getattr(receiver, "receiver_tensors_alternatives", None) or {}
  groups.update({f"{name or 'None'}:": tensors for name, tensors in alternatives.items()})
  found: dict[str, Any] = {}
  left_out: dict[str, str] = {}
  for prefix, tensors in groups.items():
    for name, output in given.items():
      key = f"{prefix}{name or 'None'}"
      try:
        signature = output.as_signature_def(tensors)
        _check_fed(signature, tensors.values())
      except ValueError as error:
        left_out[key] = str(error)
      else:
        found[key] = signature
  _report(found, left_out)
  if serving_only:
    valid = tf.compat.v1.saved_model.is_valid_signature
    found = {key: signature for key, signature in found.items() if valid(signature)}
  return found


def _check_fed(signature: Any, fed: Iterable[Any]) -> None:
  """Raises ValueError if an output needs a placeholder that no input feeds."""
  graph = tf.compat.v1.get_default_graph()
  known = {tensor.ref() for tensor in tf.nest.flatten(list(fed), expand_composites=True)}
  read = [
    tf.compat.v1.saved_model.get_tensor_from_tensor_info(info, graph=graph)
    for info in signature.outputs.values()
  ]
  waiting = tf.nest.flatten(read, expand_composites=True)
  seen = set()
  while waiting:
    tensor = waiting.pop()
    if tensor.ref() in known or tensor.ref() in seen:
      continue
    seen.add(tensor.ref())
    if tensor.op.type == "Placeholder":
      raise ValueError(
        f"The signature's inputs are insufficient to compute {sorted(signature.outputs)}, because "
        f"of the dependency on `{tensor.op.name}` which is not given as a signature input."
      )
    waiting += tensor.op.inputs


def _report(found: dict[str, Any], left_out: dict[str, str]) -> None:
  """Logs which signatures there are, as the Estimator did."""
  logger = tf.compat.v1.logging
  for method, label in _LABELS.items():
    names = [name for name, signature in found.items() if signature.method_name == method]
    logger.info("Signatures INCLUDED in export for %s: %s", label, names or "None")
  for name, reason in left_out.items():
    logger.info("Signature EXCLUDED from export: %r: %s", name, reason)
  if not found:
    logger.warning("Export includes no signatures!")
  elif outputs.DEFAULT_KEY not in found:
    logger.warning("Export includes no default signature!")
