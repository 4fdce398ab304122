"""Initial weights from another model's checkpoint, as `warm_start_from` of the Estimators.

Which variables it takes, the matching of names and the remapping of vocabularies were measured with TensorFlow 2.15's
Estimators; the remapping runs TensorFlow's own operations.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from typing import Any, Optional, Union

import numpy as np
import tensorflow as tf

from migrator.runtime import dialects, files, named, state
from migrator.runtime.errors import CheckpointError
from migrator.runtime.tf1_reader import Tf1Checkpoint

_CANNED = re.compile(
  r"dnn/(hiddenlayer_\d+|logits|input_from_feature_columns)/.*|linear/linear_model/.*"
)


@dataclasses.dataclass(frozen=True)
class VocabInfo:
  """Which row (or column) of a variable belongs to which word, before and now; as TensorFlow's.

  Attributes:
    new_vocab: the file of the words of the model, one a line.
    new_vocab_size: how many of them it has.
    num_oov_buckets: the number of rows behind them.
    old_vocab: the file of the words of the checkpoint.
    old_vocab_size: how many of them it has; -1 for all.
    backup_initializer: makes the values of new words and buckets; None for 0.
    axis: 0 for rows, 1 for columns.
  """

  new_vocab: str
  new_vocab_size: int
  num_oov_buckets: int
  old_vocab: str
  old_vocab_size: int = -1
  backup_initializer: Any = None
  axis: int = 0

  def __post_init__(self):
    if self.axis not in (0, 1):
      raise ValueError(
        f"The only supported values for the axis argument are 0 and 1.  Provided axis: {self.axis}"
      )


@dataclasses.dataclass(frozen=True)
class WarmStartSettings:
  """What to begin with; as `tf.estimator.WarmStartSettings`.

  Attributes:
    ckpt_to_initialize_from: a checkpoint, or a directory, which means its newest one.
    vars_to_warm_start: a pattern for the names of the variables that are trained. A list of patterns also means those
      that are not, and `[".*"]` all of the state: slots and step as well. None for those alone that
      have a vocabulary. A pattern has to match the beginning of a name.
    var_name_to_vocab_info: name -> `VocabInfo`, where words have other rows than before.
    var_name_to_prev_var_name: name -> what it is called in the checkpoint.
  """

  ckpt_to_initialize_from: str
  vars_to_warm_start: Union[str, list, None] = ".*"
  var_name_to_vocab_info: Optional[Mapping[str, Any]] = None
  var_name_to_prev_var_name: Optional[Mapping[str, str]] = None

  def __post_init__(self):
    if not self.ckpt_to_initialize_from:
      raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")


def warm_start(checkpoint: named.NamedCheckpoint, warm_start_from: Any) -> tuple[str, list[str]]:
  """Gives the weights of a model the values that they have in a checkpoint of another one.

  Args:
    checkpoint: of the model that is going to be trained.
    warm_start_from: a path: of a checkpoint, a directory that has some, or a SavedModel of TF1; or
      `WarmStartSettings`.

  Returns:
    The prefix of the checkpoint, and the names of what was loaded.

  Raises:
    CheckpointError: if there is no such checkpoint, or a variable is not in it or has another shape. Nothing has been
      loaded then.
    ValueError: with the Estimator's messages, for settings that it refuses.
  """
  settings = _settings(warm_start_from)
  tf.get_logger().info("Warm-starting from: %s", settings.ckpt_to_initialize_from)
  source = _Source(_prefix(settings.ckpt_to_initialize_from))
  candidates, whole = _candidates(checkpoint, settings.vars_to_warm_start)
  vocabularies = dict(settings.var_name_to_vocab_info or {})
  earlier = dict(settings.var_name_to_prev_var_name or {})
  if whole and not (vocabularies or earlier):
    return source.prefix, _load_all(checkpoint, source)
  values: dict[str, Any] = {}
  faults: list[str] = []
  for name in candidates:
    variable = checkpoint.by_name[name]
    old = earlier.get(name) or name
    if name in vocabularies:
      values[name] = _remapped(name, variable, vocabularies[name], source, old)
    elif settings.vars_to_warm_start:
      fault = source.fault(old, name, variable)
      if fault:
        faults.append(fault)
      else:
        values[name] = source.read(old)
  _check_used("var_name_to_prev_var_name", earlier, candidates)
  _check_used("var_name_to_vocab_info", vocabularies, candidates)
  if faults:
    raise CheckpointError(
      "\n".join(
        [
          f"{source.prefix} does not have what the model begins with; nothing has been loaded.",
          *(f"  {fault}" for fault in faults),
          "Ways out: vars_to_warm_start and var_name_to_prev_var_name of runtime.WarmStartSettings.",
        ]
      )
    )
  if whole:
    raise ValueError(
      "A warm start of all of the state, with slots and step, takes neither vocabularies nor other names."
    )
  for name, value in values.items():
    checkpoint.by_name[name].assign(value)
  tf.get_logger().info("Warm-started %d variables.", len(values))
  return source.prefix, list(values)


def _settings(warm_start_from: Any) -> WarmStartSettings:
  """Returns the settings that a path, or settings, mean.

  Raises:
    ValueError: for anything else.
  """
  if isinstance(warm_start_from, bytes):
    warm_start_from = warm_start_from.decode()
  if isinstance(warm_start_from, (str, os.PathLike)):
    path = os.fspath(warm_start_from)
    variables = os.path.join(path, "variables", "variables")
    return WarmStartSettings(variables if files.exists(variables + ".index") else path)
  if hasattr(warm_start_from, "ckpt_to_initialize_from"):
    return warm_start_from
  raise ValueError(
    f"warm_start_from must be a string or a WarmStartSettings, instead got {type(warm_start_from)}"
  )


def _prefix(path: Any) -> str:
  """Returns the checkpoint that a path means: in a directory the newest one, of the migrated program first.

  Raises:
    CheckpointError: if there is none.
  """
  path = os.fspath(path)
  found = None
  if files.isdir(path):
    found = state.newest(os.path.join(path, state.NEW_DIRECTORY))
    if found is not None:
      named.check_not_overtaken(found)
  found = found or state.resolve(path)
  if found is None:
    raise CheckpointError(f"There is no checkpoint in {path} to begin with (warm_start_from).")
  return found


class _Source:
  """The variables of a checkpoint by name, of TF1 or of a migrated program.

  Attributes:
    prefix: its path.
    ours: whether a migrated program wrote it.
    keys: name -> key.
  """

  def __init__(self, prefix: str):
    self.prefix = prefix
    index = state.check_intact(prefix)
    self.ours = dialects.STAMP + dialects.VALUE in index.entries
    if self.ours:
      self.keys = {dialects.decoded(key): key for key in index.entries}
      self._reader: Any = tf.train.load_checkpoint(prefix)
    else:
      self.tf1 = Tf1Checkpoint(prefix, index)
      self.keys = {key: key for key in index.entries}
    self._entries = index.entries

  def fault(self, old: str, name: str, variable: tf.Variable) -> str:
    """Returns why a variable cannot have the value of a name; "" if it can."""
    shape = list(variable.shape)
    called = name if old == name else f"{name} ({old})"
    if old not in self.keys:
      return f"{called}: not in the checkpoint, {shape} in the model"
    entry = self._entries[self.keys[old]]
    if list(entry.shape) != shape:
      return f"{called}: {list(entry.shape)} in the checkpoint, {shape} in the model"
    if entry.dtype != variable.dtype.base_dtype.name:
      return f"{called}: {entry.dtype} in the checkpoint, {variable.dtype.name} in the model"
    return ""

  def read(self, name: str) -> np.ndarray:
    """Returns a value.

    Raises:
      CheckpointError: if the data are damaged.
    """
    if not self.ours:
      return self.tf1.read([name])
    try:
      return self._reader.get_tensor(self.keys[name])
    except (tf.errors.OpError, RuntimeError) as e:
      raise CheckpointError(f"{name} of {self.prefix} cannot be read: {e}") from e


def _candidates(checkpoint: named.NamedCheckpoint, wanted: Any) -> tuple[list[str], bool]:
  """Returns the names of the weights that are meant, and whether all of the state is.

  The patterns match names of TF1's graph: those of the canned Estimators had one part at least.

  Raises:
    ValueError: if it is neither a string, nor None, nor a list of strings; or for a list that means some of
      the slots.
  """
  canned = checkpoint.flavour == "v1" and any(_CANNED.fullmatch(n) for n in checkpoint.weights)
  part = "/part_0" if canned else ""
  graph_names = {
    name: f"{name}{part if name in checkpoint.trainable else ''}:0" for name in checkpoint.weights
  }
  if wanted is None or isinstance(wanted, str):
    pattern = re.compile(wanted or "")
    return [name for name in checkpoint.trainable if pattern.match(graph_names[name])], False
  if not isinstance(wanted, list):
    raise ValueError(
      f"`vars_to_warm_start must be a `list` or `str`.  Given type is {type(wanted)}"
    )
  if not all(isinstance(pattern, str) for pattern in wanted):
    raise ValueError(
      "If `vars_to_warm_start` is a list, its elements must be strings: names of variables."
    )
  patterns = [re.compile(pattern) for pattern in wanted]
  found = [n for n in checkpoint.weights if any(p.match(graph_names[n]) for p in patterns)]
  others = _other_names(checkpoint, part)
  matched = [name for name in others if any(p.match(name) for p in patterns)]
  if matched and (len(matched) < len(others) or len(found) < len(checkpoint.weights)):
    raise ValueError(
      f'vars_to_warm_start also names {matched[0][:-2]}, which is no weight: give [".*"] for all of the state, '
      "or patterns that only weights match."
    )
  return found, bool(matched)


def _other_names(checkpoint: named.NamedCheckpoint, part: str) -> list[str]:
  """Returns the graph's names of the step and the slots."""
  names = ["global_step:0"]
  scopes = {name.partition("/")[0] for name in checkpoint.trainable}
  # What a single canned network made within its scope has that twice.
  scope = f"{scopes.pop()}/" if part and len(checkpoint.states) == 1 and len(scopes) == 1 else ""
  for weight in checkpoint.trainable:
    kind = checkpoint.states[checkpoint.trained_by[weight]].kind
    for slot in kind.slots:
      if checkpoint.flavour == "v2":
        names.append(f"training/{kind.legacy}/{weight}/{slot.legacy}:0")
      else:
        names.append(f"{scope}{weight}{part}/{slot.v1_suffix}:0")
  return names


def _load_all(checkpoint: named.NamedCheckpoint, source: _Source) -> list[str]:
  """Loads all of the state, with slots and step."""
  from migrator.runtime.load import load_tf1_checkpoint  # It imports this module.

  if source.ours:
    checkpoint.restore(source.prefix)
    return list(checkpoint.by_name)
  return list(load_tf1_checkpoint(checkpoint, source.prefix, allow_unused=True).loaded)


def _check_used(what: str, given: Mapping[str, Any], candidates: list[str]) -> None:
  """Raises if something is said of a variable that is not loaded.

  Raises:
    ValueError: with TensorFlow's message.
  """
  unused = set(given) - set(candidates)
  if unused:
    raise ValueError(
      f"You provided the following variables in {what} that were not used: {unused}.  Perhaps you misspelled "
      f"them?  Here is the list of viable variable names: {candidates}"
    )


def _remapped(name: str, variable: tf.Variable, info: Any, source: _Source, old: str) -> tf.Tensor:
  """Returns the value of a variable whose rows, or columns, are those of words.

  Raises:
    CheckpointError: if a shape or a vocabulary does not fit, or a file cannot be read.
  """
  shape = variable.shape.as_list()
  words = info.new_vocab_size
  wanted = words + info.num_oov_buckets
  if variable.dtype.base_dtype != tf.float32 or len(shape) != 2 or shape[info.axis] != wanted:
    raise CheckpointError(
      f"{name}: {variable.dtype.name} {shape} in the model; with {words} words and {info.num_oov_buckets} buckets "
      f"its axis {info.axis} is {wanted}, and TensorFlow remaps float32 of two dimensions. Nothing has been loaded."
    )
  if old not in source.keys:
    raise CheckpointError(f"{old} is not in {source.prefix}; nothing has been loaded.")
  initializer = info.backup_initializer or tf.zeros
  try:
    remapping, present = tf.raw_ops.GenerateVocabRemapping(
      new_vocab_file=info.new_vocab,
      old_vocab_file=info.old_vocab,
      new_vocab_offset=0,
      num_new_vocab=words,
      old_vocab_size=info.old_vocab_size if info.axis == 0 else -1,
    )
    rows, columns = (words, shape[1]) if info.axis == 0 else (shape[0], words)
    other = shape[1 - info.axis]
    value = tf.raw_ops.LoadAndRemapMatrix(
      ckpt_path=source.prefix,
      old_tensor_name=source.keys[old],
      row_remapping=remapping if info.axis == 0 else tf.range(shape[0], dtype=tf.int64),
      col_remapping=remapping if info.axis == 1 else tf.zeros([0], tf.int64),
      initializing_values=initializer([words * other - int(present) * other, 1]),
      num_rows=rows,
      num_cols=columns,
    )
    if info.num_oov_buckets:
      buckets = [info.num_oov_buckets, other][:: 1 if info.axis == 0 else -1]
      value = tf.concat([value, tf.convert_to_tensor(initializer(buckets))], info.axis)
  except tf.errors.OpError as e:
    raise CheckpointError(
      f"The words of {name} cannot be taken from {info.old_vocab} to {info.new_vocab}: {e.message} "
      "Nothing has been loaded."
    ) from e
  return value
