"""The output of a conversion for a model: what the runtime plans to load, written instead."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import Any, Optional

import tensorflow as tf

from migrator.checkpoint import keras_formats, template, tensors
from migrator.checkpoint.batch import Request
from migrator.checkpoint.source import Source
from migrator.checkpoint.straight import FORMAT, ITERATIONS, STAMP
from migrator.checkpoint.tensors import Selection, Tensor
from migrator.runtime import differences, load, named_checkpoint, suggesting
from migrator.runtime.contents import Contents
from migrator.runtime.errors import CheckpointError
from migrator.runtime.name_map import NameMap
from migrator.runtime.plan import Item, Plan, make_plan
from migrator.runtime.tf1_reader import Tf1Checkpoint

STEP = "global_step"


class Model:
  """The model of the user's factory, and what it takes from a checkpoint.

  Attributes:
    seconds: how long the factory took.
  """

  def __init__(
    self, request: Request, with_values: bool, flavour: str, name_map: Optional[NameMap]
  ):
    """Calls the factory.

    Raises:
      CheckpointError: if that fails.
    """
    self._request = request
    self._flavour = request.flavour or flavour
    self._map = name_map
    self._template = self._build(with_values)
    states = self._template.checkpoint.states
    if self.light and any(slot.transform for state in states for slot in state.kind.slots):
      self._template = self._build(True)  # The learning rate has to be known.
    self.seconds = self._template.seconds

  @classmethod
  def make(cls, request: Request, format_: str, flavour: str) -> Model:
    """Returns the model of a request.

    Args:
      request: names the factory and the map file.
      format_: of the output.
      flavour: of the checkpoints, "v1" or "v2", unless the request says.

    Raises:
      CheckpointError: if the map file cannot be read, or the factory fails.
    """
    name_map = NameMap.read(request.map_file) if request.map_file else None
    keras = format_ in ("keras", "weights.h5")
    model = cls(request, keras, flavour, name_map)
    if keras and model._template.model is None:
      raise CheckpointError(
        f"--format {format_} saves a Keras model: let the factory return it, not its checkpoint."
      )
    own = getattr(model._template.model, "optimizer", None)
    if keras and own is not None and own is not model._template.optimizer:
      raise CheckpointError(
        f"--format {format_}: Keras saves the optimizer that the model is compiled with, not the one that "
        "the factory returns beside it. Compile the model with that one, or use --format checkpoint."
      )
    return model

  @property
  def light(self) -> bool:
    """Whether the variables have no values."""
    return self._template.light

  def _build(self, with_values: bool) -> template.Template:
    return template.build(str(self._request.model), self._wrap, with_values)

  def _wrap(self, model: Any, optimizer: Any) -> Any:
    return named_checkpoint(model, optimizer, scope=self._request.scope, flavour=self._flavour)

  def _plan(self, reader: Tf1Checkpoint) -> Plan:
    """Returns where everything comes from.

    Raises:
      CheckpointError: if a shape or a type does not fit, or the flavour.
    """
    checkpoint = self._template.checkpoint
    if checkpoint.optimizer_state.iterations is not None and reader.flavour != checkpoint.flavour:
      raise CheckpointError(
        differences.flavour_message(reader.prefix, reader.flavour, checkpoint.flavour)
      )
    plan = make_plan(
      checkpoint, reader, self._map, self._request.weights, tuple(self._request.allow_missing)
    )
    if plan.faults or not self._request.dry_run:
      plan.check()
    return plan

  def select(self, source: Source, contents: Contents) -> Selection:
    """Returns what the output consists of.

    Raises:
      CheckpointError: if a variable of the model is missing, or does not fit.
    """
    reader = Tf1Checkpoint(source.prefix, source.index, contents)
    plan = self._plan(reader)
    values = [_tensor(source, reader, item) for item in plan.items.values()]
    values += [self._initial(name) for name in plan.allowed]
    checkpoint = self._template.checkpoint
    values.append(_step(source, contents, plan.step))
    if ITERATIONS in checkpoint.by_name:
      values += [tensors.number(name, count) for name, count in plan.counts.items()]
    used = {key for tensor in values for key in tensor.keys}
    if checkpoint.optimizer_state.iterations is not None:
      rate_keys = load.check_hyperparameters(reader, checkpoint, plan)
      values += [_unchanged(source, name, (key,)) for name, key in rate_keys.items()]
      used.update(rate_keys.values())
    return Selection(
      values=tuple(values),
      stamp=self._stamp(),
      variables=sum(tensor.name in checkpoint.weights for tensor in values),
      unused=tuple(key for key in plan.unused if key not in used),
      missing=plan.missing,
      notes=tuple(note for note in plan.notes if note not in contents.notes),
    )

  def _initial(self, name: str) -> Tensor:
    """Returns a variable that the checkpoint does not have: it keeps what the factory gave it."""
    if self.light:
      self._template = self._build(True)
    variable = self._template.checkpoint.by_name[name]
    return Tensor(
      name,
      variable.dtype.base_dtype.name,
      tuple(variable.shape),
      compute=variable.numpy,
      changes=("not in the checkpoint: the initial value of the factory",),
      slot=name not in self._template.checkpoint.weights,
    )

  def _stamp(self) -> Tensor:
    checkpoint = self._template.checkpoint
    stamp = {
      "format": FORMAT,
      "flavour": checkpoint.flavour,
      "optimizer": checkpoint.optimizer_state.kind.name,
    }
    return tensors.text(STAMP, json.dumps(stamp).encode())

  def suggest(self, prefix: str, path: str, say: Any) -> Optional[str]:
    """Writes a map file to start from.

    Args:
      prefix: the checkpoint.
      path: the file; "-" prints it.
      say: is given lines to print.

    Returns:
      What the user has to do by hand, None if nothing.

    Raises:
      CheckpointError, OSError: if the checkpoint cannot be read, or the file not be written.
    """
    suggestion = suggesting.suggestion_for(self._template.checkpoint, Tf1Checkpoint(prefix))
    text = suggestion.to_toml()
    if path == "-":
      say(text.splitlines())
    else:
      with open(path, "w", encoding="utf-8") as file:
        file.write(text)
      say([f"{path}: {len(suggestion.pairs)} variables, {len(suggestion.open)} left open"])
    if suggestion.open:
      return f"The names of {prefix} leave open what {', '.join(suggestion.open)} is: complete the map file."
    return None

  def save(self, prefix: str, path: str, format_: str) -> None:
    """Loads a checkpoint into the model, and lets Keras save it.

    Raises:
      CheckpointError: if something does not fit, or Keras cannot save the model.
      OSError: if the file cannot be written.
    """
    load.load_tf1_checkpoint(
      self._template.checkpoint,
      prefix,
      name_map=self._map,
      weights=self._request.weights,
      allow_missing=tuple(self._request.allow_missing),
      allow_unused=True,
    )
    keras_formats.save(self._template.model, path, format_)

  def verify(self, prefix: str, path: str, format_: str) -> tuple[int, int, list[str]]:
    """Loads what Keras saved into a fresh model and compares it with the source.

    Returns:
      The number of tensors, that of their bytes, and sentences for the report.

    Raises:
      CheckpointError: if anything differs.
    """
    fresh = self._build(True)
    return keras_formats.verify(path, format_, self._wanted(prefix), fresh, self._wrap)

  def _wanted(self, prefix: str) -> Iterator[tuple[str, Any]]:
    """Yields name and value of what came from the source."""
    reader = Tf1Checkpoint(prefix)
    plan = self._plan(reader)
    for item in plan.items.values():
      yield item.name, item.value(reader)
    if ITERATIONS in self._template.checkpoint.by_name:
      for name, count in plan.counts.items():
        yield name, tf.constant(count, tf.int64).numpy()


def _tensor(source: Source, reader: Tf1Checkpoint, item: Item) -> Tensor:
  """Returns the tensor of an item of the plan."""
  if item.unchanged:
    return _unchanged(source, item.name, item.keys[0], item.slot)
  changes = [transform.name for transform in item.transforms]
  if len(item.keys) > 1:
    changes.insert(0, f"{len(item.keys)} joined along axis {item.axis}")
  return Tensor(
    item.name,
    item.dtype,
    item.shape,
    keys=tuple(key for keys in item.keys for key in keys),
    compute=functools.partial(item.value, reader),
    changes=tuple(changes),
    slot=item.slot,
  )


def _unchanged(source: Source, name: str, keys: tuple[str, ...], slot: bool = False) -> Tensor:
  entry = source.index.entries[keys[0]]
  pieces = tensors.joined(source.prefix, source.index, keys)
  return Tensor(name, entry.dtype, entry.shape, tuple(keys), pieces, slot=slot)


def _step(source: Source, contents: Contents, step: int) -> Tensor:
  """Returns the global step: the source's own if it is the same value of the same type."""
  key = contents.step_key
  if key is not None and contents.step == step and source.index.entries[key].dtype == "int64":
    return _unchanged(source, STEP, (key,))
  return tensors.number(STEP, step)
