"""What the calls of a program write, and where."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple, Optional

from migrator.lint import values
from migrator.lint.checks import fits, keras_models, paths
from migrator.lint.checks.registry import Context

MANAGER = "tf.train.CheckpointManager"
CHECKPOINT = "tf.train.Checkpoint"
_KERAS_FILES = (".keras", ".h5", ".hdf5")
_LOGS = {
  "tf.keras.callbacks.TensorBoard": ("TensorBoard", "log_dir"),
  "tf.keras.callbacks.CSVLogger": ("CSVLogger", "filename"),
  "tf.summary.create_file_writer": ("create_file_writer", "logdir"),
}


class Writer(NamedTuple):
  """One call that writes files.

  Attributes:
    name: what is called, for example "ModelCheckpoint".
    call: the call.
    node: the argument that says where.
    place: the file, prefix or directory, as `paths.parts` gives it.
    directory: the directory of the files.
    is_keras_file: whether it certainly writes .keras or .h5 files.
    is_checkpoint: whether it certainly writes TensorFlow checkpoints and the `checkpoint` file,
      on Keras 2.
  """

  name: str
  call: ast.Call
  node: ast.expr
  place: paths.Parts
  directory: paths.Parts
  is_keras_file: bool = False
  is_checkpoint: bool = False


def writers(context: Context) -> Iterator[Writer]:
  """The calls of a module that write files to a place that can be compared."""
  module = context.module
  for call, symbol in context.calls:
    if symbol.path == fits.MODEL_CHECKPOINT:
      found = values.arguments(module, call, fits.MODEL_CHECKPOINT_PARAMETERS)
      weights = values.literal(module, found.get("save_weights_only")) is True
      yield from _file(context, call, found.get("filepath"), "ModelCheckpoint", weights)
    elif symbol.path == MANAGER:
      found = values.arguments(module, call, ("checkpoint", "directory"))
      yield from _directory(context, call, found.get("directory"), "CheckpointManager", True)
    elif symbol.path in _LOGS:
      name, parameter = _LOGS[symbol.path]
      node = values.arguments(module, call, (parameter,)).get(parameter)
      make = _file if name == "CSVLogger" else _directory
      yield from make(context, call, node, name, False)
  yield from _by_methods(context)


def _by_methods(context: Context) -> Iterator[Writer]:
  module = context.module
  for call in fits.method_calls(module, "save", "save_weights", "write"):
    assert isinstance(call.func, ast.Attribute)
    owner, method = call.func.value, call.func.attr
    node = call.args[0] if call.args else None
    if method != "save_weights" and values.always_call_of(module, owner, (CHECKPOINT,)):
      yield from _file(context, call, node, f"Checkpoint.{method}", True)
    elif method != "write" and keras_models.is_model(module, owner):
      yield from _file(context, call, node, f"Model.{method}", method == "save_weights")


def _file(
  context: Context,
  call: ast.Call,
  node: Optional[ast.expr],
  name: str,
  checkpoint: bool,
) -> Iterator[Writer]:
  place = paths.parts(context.module, node)
  if node is None or not place:
    return
  end = paths.ending(context.module, node)
  keras = end.has(_KERAS_FILES)
  directory = place[:-1]
  if not directory and not _is_text(place[0]):
    return  # a variable: its directory is not known
  yield Writer(
    name,
    call,
    node,
    place,
    directory,
    is_keras_file=keras and not name.startswith("Checkpoint."),
    is_checkpoint=checkpoint and (end.lacks(_KERAS_FILES) or name.startswith("Checkpoint.")),
  )


def _is_text(part: str) -> bool:
  return not part.startswith("<")


def _directory(
  context: Context, call: ast.Call, node: Optional[ast.expr], name: str, checkpoint: bool
) -> Iterator[Writer]:
  place = paths.parts(context.module, node)
  if node is not None and place is not None:
    yield Writer(name, call, node, place, place, is_checkpoint=checkpoint)
