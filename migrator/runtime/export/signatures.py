"""The signatures of an export: which there are, and what they are called in the file."""

from __future__ import annotations

import keyword
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf
from google.protobuf import text_format
from tensorflow.core.protobuf import saved_model_pb2

from migrator.runtime.heads.base import CLASSIFY, PREDICT, REGRESS

# The only input of what classifies or regresses.
_INPUTS = "inputs"
_BINARY, _TEXT = "saved_model.pb", "saved_model.pbtxt"


class Signature(NamedTuple):
  """One signature.

  Attributes:
    function: takes the parts of the inputs one after the other, named by `_arguments`.
    method: as TF Serving calls it.
    inputs: name -> tensor of the traced graph.
  """

  function: Any
  method: str
  inputs: dict[str, Any]


def make(traced: Any, receiver: Any, outputs: dict[str, tuple[str, dict]]) -> dict[str, Signature]:
  """Returns the signatures that the Estimator would have exported, by name.

  Args:
    traced: the wrapped function in whose graph the tensors are.
    receiver: what the `serving_input_receiver_fn` returned.
    outputs: name -> (method, output name -> tensor), as `heads.export_outputs` gives them.
  """
  found: dict[str, Signature] = {}
  left_out: dict[str, str] = {}
  groups = {"": receiver.receiver_tensors}
  alternatives = receiver.receiver_tensors_alternatives or {}
  groups.update({f"{name or 'None'}:": tensors for name, tensors in alternatives.items()})
  functions: dict[tuple, Any] = {}
  for prefix, tensors in groups.items():
    for name, (method, result) in outputs.items():
      key = f"{prefix}{name or 'None'}"
      fed = dict(tensors)
      if method in (CLASSIFY, REGRESS):
        if len(fed) != 1 or next(iter(fed.values())).dtype != tf.string:
          left_out[key] = "it can only take a single string tensor"
          continue
        fed = {_INPUTS: next(iter(fed.values()))}
      lacking = _unfed(list(result.values()), _flat(fed), traced.graph)
      if lacking:
        left_out[key] = f"it depends on the placeholder {lacking[0]!r}, which is no input of it"
        continue
      # Two signatures of one function take half of the space.
      same = (prefix, method, tuple(sorted((k, id(v)) for k, v in result.items())))
      if same not in functions:
        functions[same] = _function(traced, fed, result)
      found[key] = Signature(functions[same], method, fed)
  _report(found, left_out)
  return found


def _report(found: dict[str, Signature], left_out: dict[str, str]) -> None:
  """Logs which signatures there are, as the Estimator did."""
  logger = tf.get_logger()
  for method in (CLASSIFY, REGRESS, PREDICT):
    names = [name for name, signature in found.items() if signature.method == method]
    label = method.rpartition("/")[2].capitalize()
    logger.info("Signatures INCLUDED in export for %s: %s", label, names or "None")
  for name, reason in left_out.items():
    logger.info("Signature EXCLUDED from export: %r: %s", name, reason)
  if not found:
    logger.warning("Export includes no signatures!")
  elif "serving_default" not in found:
    logger.warning("Export includes no default signature!")


def _unfed(outputs: Sequence[tf.Tensor], fed: Sequence[tf.Tensor], graph: Any) -> list[str]:
  """Returns the names of the placeholders on which outputs depend, and that are not fed."""
  known = {id(tensor) for tensor in [*fed, *graph.internal_captures]}
  seen: set[Any] = set()
  found = []
  waiting = list(outputs)
  while waiting:
    tensor = waiting.pop()
    if id(tensor) in known or tensor.op in seen:
      continue
    # All outputs of an operation depend on the same; one of them that is fed is not asked again.
    seen.add(tensor.op)
    if tensor.op.type == "Placeholder":
      found.append(tensor.op.name)
    waiting += tensor.op.inputs
    waiting += [o for op in tensor.op.control_inputs for o in op.outputs]
  return found


def _keywords(inputs: dict[str, Any]) -> list[str]:
  """Returns the names of the function's arguments: of a sparse input each part has one."""
  keywords = []
  for name, tensor in inputs.items():
    parts: Sequence[str] = ("",)
    if isinstance(tensor, tf.SparseTensor):
      parts = ("_indices", "_values", "_dense_shape")
    elif isinstance(tensor, tf.RaggedTensor):
      parts = [f"_component_{i}" for i in range(tensor.ragged_rank + 1)]
    keywords += [name + part for part in parts]
  return keywords


def _arguments(keywords: list[str]) -> list[str]:
  """Returns names that a function may have, as `tf.saved_model.save` knows no others."""
  return [
    k if k.isidentifier() and not keyword.iskeyword(k) and keywords.count(k) == 1 else f"input_{i}"
    for i, k in enumerate(keywords)
  ]


def _function(traced: Any, fed: dict[str, Any], outputs: dict) -> Any:
  """Returns the concrete function from the fed tensors to the outputs."""
  flat = _flat(fed)
  pruned = traced.prune(flat, dict(outputs))

  def serve(*tensors: Any) -> dict:
    return pruned(*tensors)

  names = _arguments(_keywords(fed))
  specs = [tf.TensorSpec(t.shape, t.dtype, name) for t, name in zip(flat, names)]
  return tf.function(serve, autograph=False).get_concrete_function(*specs)


def _flat(inputs: dict[str, Any]) -> list[tf.Tensor]:
  """Returns the parts of all inputs, in the order of the dict."""
  return tf.nest.flatten(list(inputs.values()), expand_composites=True)


def rename(directory: str, signatures: dict[str, Signature], as_text: bool) -> None:
  """Gives the signatures of an export their methods, and their inputs the names of the receiver.

  `tf.saved_model.save` calls all methods "predict", allows no characters but those of a Python name, and knows
  no inputs that are sparse.

  Args:
    directory: of the export.
    signatures: by name.
    as_text: whether the file is to be text.
  """
  path = os.path.join(directory, _BINARY)
  saved = saved_model_pb2.SavedModel()
  with tf.io.gfile.GFile(path, "rb") as file:
    saved.ParseFromString(file.read())
  for graph in saved.meta_graphs:
    nodes = graph.object_graph_def.nodes
    owner = _child(nodes, nodes[0], "signatures")
    for name, signature in signatures.items():
      definition = graph.signature_def[name]
      definition.method_name = signature.method
      _set_inputs(definition, signature.inputs)
      bare = _child(nodes, owner, name).bare_concrete_function
      keywords = _keywords(signature.inputs)
      arguments = dict(zip(_arguments(keywords), keywords))
      if list(arguments) != keywords:
        functions = graph.object_graph_def.concrete_functions
        _rename_arguments(bare, functions[bare.concrete_function_name], arguments)
  if as_text:
    with tf.io.gfile.GFile(os.path.join(directory, _TEXT), "w") as file:
      file.write(text_format.MessageToString(saved))
    tf.io.gfile.remove(path)
  else:
    with tf.io.gfile.GFile(path, "wb") as file:
      file.write(saved.SerializeToString(deterministic=True))
  fingerprint = os.path.join(directory, "fingerprint.pb")
  if tf.io.gfile.exists(fingerprint):
    # It is one of the file as it was, and an Estimator wrote none.
    tf.io.gfile.remove(fingerprint)


def _child(nodes: Any, node: Any, name: str) -> Any:
  """Returns a child of a node of the object graph."""
  return nodes[next(c.node_id for c in node.children if c.local_name == name)]


def _rename_arguments(bare: Any, function: Any, names: dict[str, str]) -> None:
  """Lets a function be called by names that no Python function has, as an Estimator's export can be.

  Args:
    bare: the function's entry in the graph of objects.
    function: the function itself.
    names: old name -> new name.
  """
  bare.argument_keywords[:] = [names[k] for k in bare.argument_keywords]
  # It has the old names, too; without it the function is called by the keywords.
  bare.ClearField("function_spec")
  fields = function.canonicalized_input_signature.tuple_value.values[1].dict_value.fields
  for old, new in names.items():
    if old != new and old in fields:
      fields[new].CopyFrom(fields[old])
      del fields[old]


def _set_inputs(definition: Any, inputs: dict[str, Any]) -> None:
  """Gives the inputs of a signature their names, and those that are sparse or ragged their parts."""
  names = {key: info.name for key, info in definition.inputs.items()}
  sources = iter([names[argument] for argument in _arguments(_keywords(inputs))])
  definition.ClearField("inputs")
  for name, tensor in inputs.items():
    info = definition.inputs[name]
    info.dtype = tensor.dtype.as_datatype_enum
    info.tensor_shape.CopyFrom(tensor.shape.as_proto())
    if isinstance(tensor, tf.SparseTensor):
      info.coo_sparse.indices_tensor_name = next(sources)
      info.coo_sparse.values_tensor_name = next(sources)
      info.coo_sparse.dense_shape_tensor_name = next(sources)
    elif isinstance(tensor, tf.RaggedTensor):
      with tensor.flat_values.graph.as_default():
        info.CopyFrom(tf.compat.v1.saved_model.build_tensor_info(tensor))
      for component in info.composite_tensor.components:
        component.name = next(sources)
    else:
      info.name = next(sources)
