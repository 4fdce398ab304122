"""Paths that Keras 3 refuses because of how they end, and what does not find its files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import UNKNOWN, Module
from migrator.lint import values
from migrator.lint.checks import fits, formats, keras_models, keras_versions, paths, writers
from migrator.lint.checks.registry import Context, Report, check

_LATEST = "tf.train.latest_checkpoint"
_WEIGHTS = (".weights.h5", ".weights.json")
_MODELS = (".keras", ".h5", ".hdf5")
# Method -> the suffixes that Keras 3 takes, and the one to write.
_METHODS = {
  "save_weights": (_WEIGHTS, ".weights.h5"),
  "save": (_MODELS, ".keras"),
  "load_weights": ((*_MODELS, ".weights.json"), None),
}
# What does the same with a SavedModel, as a part of the sentence.
_SAVED_MODEL = {
  "save": "; `model.export` writes a SavedModel",
  "load_model": "; `keras.layers.TFSMLayer` loads a SavedModel",
}
_REPLACED = (".ckpt", ".h5", ".hdf5", ".keras", ".tf", ".weights")


@check(
  "EM515",
  words=("ModelCheckpoint(", ".save_weights(", ".load_weights(", "load_model", "model.save("),
  also=("keras",),
)
def suffixes(context: Context) -> Iterator[Report]:
  """Files of weights and models whose suffix Keras 3 does not take."""
  yield from _model_checkpoints(context)
  yield from _methods(context)
  module = context.module
  for call, _ in context.calls_of("tf.keras.models.load_model"):
    found = values.arguments(module, call, ("filepath",))
    yield from _refused(context, found.get("filepath"), "load_model", _MODELS, None)


def _model_checkpoints(context: Context) -> Iterator[Report]:
  module = context.module
  for call, _ in context.calls_of(fits.MODEL_CHECKPOINT):
    found = values.arguments(module, call, fits.MODEL_CHECKPOINT_PARAMETERS)
    node = found.get("save_weights_only")
    only = values.literal(module, node) if node is not None or not found.complete else False
    if only is UNKNOWN:
      continue
    path = found.get("filepath")
    if only:
      name = "ModelCheckpoint(save_weights_only=True)"
      yield from _refused(context, path, name, (".weights.h5",), ".weights.h5")
    else:
      wanted = (".keras", ".h5")
      yield from _refused(context, path, "ModelCheckpoint", wanted, ".keras")


def _methods(context: Context) -> Iterator[Report]:
  module = context.module
  for call in fits.method_calls(module, *_METHODS):
    function = call.func
    assert isinstance(function, ast.Attribute)
    if not keras_models.is_model(module, function.value):
      continue
    if keras_models.overrides(module, function.value, function.attr):
      continue
    node = values.arguments(module, call, ("filepath",)).get("filepath")
    wanted, right = _METHODS[function.attr]
    if function.attr == "load_weights" and node is not None:
      if formats.tf1_reason(context, node) is not None:
        continue  # EM518 says more
      if values.always_call_of(module, node, (_LATEST,)):
        if not keras_versions.is_silent_in_keras_3(module, node):
          yield _report(context, node, "load_weights", "a TensorFlow checkpoint", wanted, None)
        continue
    yield from _refused(context, node, function.attr, wanted, right)


def _refused(
  context: Context,
  node: Optional[ast.expr],
  function: str,
  wanted: tuple[str, ...],
  right: Optional[str],
) -> Iterator[Report]:
  """Reports a path that certainly ends with none of the suffixes."""
  end = paths.ending(context.module, node)
  if node is None or not end.lacks(wanted) or (end.whole and "hf://" in end.text):
    return
  if keras_versions.is_silent_in_keras_3(context.module, node):
    return
  shown = _shown(context.module, node, end)
  yield _report(context, node, function, shown, wanted, _fixed(node, right))


def _report(
  context: Context,
  node: ast.expr,
  function: str,
  shown: str,
  wanted: tuple[str, ...],
  fixed: Optional[str],
) -> Report:
  suffix = " or ".join(f"`{s}`" for s in wanted if s != ".weights.json")
  suffix += _SAVED_MODEL.get(function, "")
  place = context.module.span(node)
  return Report("EM515", place, {"function": function, "shown": shown, "suffix": suffix}, fixed)


def _shown(module: Module, node: ast.expr, end: paths.Ending) -> str:
  """The path as the program writes it, else its last component."""
  if isinstance(node, (ast.Constant, ast.JoinedStr)):
    return f"`{values.text(module, node)}`"
  if end.whole or "/" in end.text:
    text = module.constant(node)
    known = text if isinstance(text, str) else end.shown
    return f"`{known}`" if known.strip("/") else f"`{values.text(module, node)}`"
  return f"`...{end.text}`"


def _fixed(node: ast.expr, right: Optional[str]) -> Optional[str]:
  """The literal with the right suffix, where the path is a literal of one line."""
  if right is None or not isinstance(node, ast.Constant) or node.lineno != node.end_lineno:
    return None
  text = str(node.value)
  for suffix in _REPLACED:
    if text.endswith(suffix):
      text = text[: -len(suffix)]
      break
  if not text or text.endswith(("/", "\\")) or not text.isprintable():
    return None
  escaped = text.removesuffix(".weights").replace("\\", "\\\\").replace('"', '\\"')
  return f'"{escaped}{right}"'


@check("EM517", words=("latest_checkpoint",), evidence=r"\.keras[\"']|\.h5|\.hdf5")
def latest_of_h5(context: Context) -> Iterator[Report]:
  """`tf.train.latest_checkpoint` of a directory into which only Keras files are written."""
  module = context.module
  calls = list(context.calls_of(_LATEST))
  found = list(writers.writers(context)) if calls else []
  for call, _ in calls:
    node = values.arguments(module, call, ("checkpoint_dir",)).get("checkpoint_dir")
    place = paths.parts(module, node)
    here = [w for w in found if place is not None and w.directory == place]
    files = [w for w in here if w.is_keras_file]
    if files and len(files) == len(here) and not _is_given_away(module, node):
      line = module.span(files[0].call).line
      yield context.report("EM517", call, writer=files[0].name, line=line)


def _is_given_away(module: Module, directory: Optional[ast.expr]) -> bool:
  """Whether other code gets the directory as well: it may write checkpoints there."""
  if not isinstance(directory, (ast.Name, ast.Attribute)):
    return False
  text = ast.unparse(directory)
  for call in fits.nodes(module, ast.Call):
    arguments = [*call.args, *(k.value for k in call.keywords)]
    given = [a for a in arguments if isinstance(a, type(directory)) and ast.unparse(a) == text]
    if given and not _only_looks(module, call):
      return True
  return False


def _only_looks(module: Module, call: ast.Call) -> bool:
  symbol = module.resolve(call.func)
  path = symbol.path if symbol is not None else ""
  if path.startswith(("os.", "shutil.", "glob.", "pathlib.", "tf.io.gfile.", "tf.gfile.")):
    return True
  if path == _LATEST or path.startswith("tf.keras.callbacks."):
    return True
  return isinstance(call.func, ast.Name) and call.func.id in ("print", "str", "sorted", "len")
