"""A `tf.train.Checkpoint` whose names on disk do not depend on the version of Keras.

Object checkpoints of a model and an optimizer are laid out differently by Keras 2 and by Keras 3, and
each reads the other's wrongly without an error. Here every variable is tracked by its own stable name:
`<scope>/<layer>/<attribute>` for weights, `<weight>/<TF1 slot>` for slots, `global_step`, `iterations`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from typing import Any, Optional, Union

import tensorflow as tf

from migrator.runtime import differences, keras_aliases, state, steps
from migrator.runtime.errors import CheckpointError
from migrator.runtime.several_optimizers import SeveralOptimizers, make_state, single_states
from migrator.runtime.slots import NoOptimizer, OptimizerState, inner
from migrator.runtime.weight_names import weight_names

STAMP = "migrator_format"
STEP = "global_step"
ITERATIONS = "iterations"
LEARNING_RATE = "learning_rate"
_FORMAT = 1
_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"
# How tf.train.Checkpoint writes "/" and "." within a name.
_ESCAPED = re.compile(r"\.([S.])")
_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
# What tf.train.Checkpoint and an iterator write besides.
_COUNTER = "save_counter"
_ITERATOR = "iterator"


def named_checkpoint(
  model: Any, optimizer: Any, *, scope: str = "", flavour: Optional[str] = None
) -> NamedCheckpoint:
  """Returns a checkpoint of the weights, the optimizer and an own global step, by stable names.

  Args:
    model: a built Keras model, or a `runtime.Network`, which may be built later.
    optimizer: a Keras optimizer that is known to the runtime; it is built here if it is not. None for
      the weights and the step alone. A `runtime.optimizers.Combined`, or pairs `[(optimizer, variables), ...]`,
      where several optimizers train a part of the model each; their counts are `iterations`,
      `iterations_1`, ... in this order.
    scope: what the names of the weights begin with: the scope of the old program, e.g. "dnn".
    flavour: "v1" or "v2", the flavour of the Estimator that the program used before. By default
      what the compiled loss shows (a sum is v1, a mean is v2), else "v1".

  Raises:
    ValueError: if the model is not built, or for an unknown flavour.
    TypeError: if the optimizer is not known.
  """
  if hasattr(model, "when_built"):  # A runtime.Network, which may have no variables yet.
    from migrator.runtime.network.checkpoint import NetworkCheckpoint

    checkpoint: NamedCheckpoint = NetworkCheckpoint(model, optimizer, _flavour(model, flavour))
  else:
    checkpoint = unregistered(model, optimizer, scope=scope, flavour=flavour)
  steps.register(model, checkpoint)
  return checkpoint


def unregistered(
  model: Any, optimizer: Any, *, scope: str = "", flavour: Optional[str] = None
) -> NamedCheckpoint:
  """Returns what `named_checkpoint` does, for a moment: callbacks go on reading the model's own one."""
  return NamedCheckpoint(model, optimizer, scope, _flavour(model, flavour))


def _flavour(model: Any, flavour: Optional[str]) -> str:
  """Returns the flavour, checked, or found from the reduction of the compiled loss."""
  if flavour is None:
    reduction = getattr(getattr(model, "loss", None), "reduction", "sum")
    return "v1" if reduction == "sum" else "v2"
  if flavour not in ("v1", "v2"):
    raise ValueError(f'flavour must be "v1" or "v2", given: {flavour!r}')
  return flavour


def iterations_name(place: int) -> str:
  """Returns the name of the count of one of several optimizers."""
  return f"{ITERATIONS}_{place}" if place else ITERATIONS


def rate_name(place: int) -> str:
  """Returns the name of the learning rate of one of several optimizers."""
  return f"{LEARNING_RATE}_{place}" if place else LEARNING_RATE


class NamedCheckpoint(tf.train.Checkpoint):
  """A checkpoint by stable names. Made by `named_checkpoint`.

  `restore` checks the whole file first and loads all of it or nothing; there is no status to assert.

  Attributes:
    by_name: name -> `tf.Variable`; includes "global_step" (int64, shape []), which the training loop
      has to count up.
    optimizer_state: the optimizer, seen through its checkpoint names.
    flavour: "v1" or "v2".
    weights: the names of the weights.
    trainable: the names of those that the optimizer trains.
    states: the single optimizers; one, unless the program gives several.
    trained_by: the name of a trainable weight -> the place of its optimizer in `states`.
    nested: the names of the models within the model.
  """

  by_name: dict[str, tf.Variable]
  optimizer_state: Union[OptimizerState, NoOptimizer, SeveralOptimizers]
  flavour: str
  weights: tuple[str, ...]
  trainable: tuple[str, ...]
  states: tuple[Union[OptimizerState, NoOptimizer], ...]
  trained_by: dict[str, int]
  nested: tuple[str, ...]
  built = True

  def __init__(
    self,
    model: Any,
    optimizer: Any,
    scope: str,
    flavour: str,
    step: Optional[tf.Variable] = None,
  ):
    if tf.keras.backend.backend() != "tensorflow":
      raise RuntimeError("migrator.runtime needs Keras on TensorFlow: unset KERAS_BACKEND.")
    weights = weight_names(model, scope)
    optimizer_state = make_state(optimizer, model.trainable_variables, flavour)
    states = single_states(optimizer_state)
    optimizer_state.use_names(weights)
    trainable = {id(v) for v in model.trainable_variables}
    by_name = {name: inner(weight) for name, weight in weights.items()}
    slots = {}
    trained_by = {}
    for name, weight in weights.items():
      if id(weight) in trainable:
        state = (
          optimizer_state.of(weight)
          if isinstance(optimizer_state, SeveralOptimizers)
          else optimizer_state
        )
        trained_by[name] = states.index(state)
        for slot in state.kind.slots:
          slots[f"{name}/{slot.suffix}"] = state.slot(slot, weight)
    by_name.update(slots)
    if step is None:
      step = tf.Variable(0, dtype=tf.int64, trainable=False, name=STEP)
    by_name[STEP] = step
    for place, state in enumerate(states):
      if state.iterations is not None:
        by_name[iterations_name(place)] = state.iterations
      if flavour == "v2" and state.learning_rate is not None:
        # The v2 Estimators keep the learning rate in the checkpoint, and it wins over the program's.
        by_name[rate_name(place)] = state.learning_rate
    stamp = {"format": _FORMAT, "flavour": flavour, "optimizer": optimizer_state.kind.name}
    stamp_variable = tf.Variable(json.dumps(stamp), trainable=False, name=STAMP)
    super().__init__(**by_name, **{STAMP: stamp_variable})
    # Made on demand by TensorFlow, and then expected in every file.
    _ = self.save_counter
    # Attributes of a Checkpoint are saved with it, unless they are put past its __setattr__.
    self.__dict__.update(
      by_name=by_name,
      optimizer_state=optimizer_state,
      flavour=flavour,
      weights=tuple(weights),
      trainable=tuple(trained_by),
      states=tuple(states),
      trained_by=trained_by,
      nested=tuple(keras_aliases.nested_models(model, scope)),
    )

  def track_iterator(self, iterator: Any) -> None:
    """Keeps the position of a `tf.data` iterator in the checkpoint from now on.

    To be called before `restore`, so that the position is restored as well.
    """
    setattr(self, _ITERATOR, iterator)

  def restore(self, save_path: Optional[str], options: Any = None) -> Any:
    """Restores a checkpoint written by a `NamedCheckpoint`, wholly or not at all.

    Args:
      save_path: a checkpoint prefix, or None to do nothing.
      options: as in `tf.train.Checkpoint.restore`.

    Returns:
      The load status, which has been asserted already.

    Raises:
      CheckpointError: if it is damaged, not of this kind, of another model, optimizer or flavour, or
        if the directory above holds a TF1 checkpoint of a later step.
    """
    if save_path is None:
      return super().restore(save_path, options=options)
    save_path = os.fspath(save_path)
    rates = [differences.number(single.learning_rate) for single in self.states]
    keys = self._checked(save_path)
    check_not_overtaken(save_path)
    lost_position = hasattr(self, _ITERATOR) and not any(
      k.startswith(_ITERATOR + "/") for k in keys
    )
    if lost_position:
      tf.get_logger().warning(
        "%s has no data position: the input begins at its first element.", save_path
      )
    try:
      status = super().restore(save_path, options=options)
    except tf.errors.OpError as e:
      raise CheckpointError(f"{save_path} cannot be read, it is damaged: {e.message}") from e
    if not lost_position:
      status.assert_existing_objects_matched()
    status.expect_partial()
    for rate, single in zip(rates, self.states):
      differences.report_learning_rate(save_path, rate, single.learning_rate)
    step = int(self.by_name[STEP].numpy())
    tf.get_logger().info("Restored step %d from %s.", step, save_path)
    return status

  def _checked(self, prefix: str) -> Iterable[str]:
    """Raises unless the whole of the checkpoint fits; returns its keys."""
    index = state.check_intact(prefix)
    reader = tf.train.load_checkpoint(prefix)
    found = {
      _decoded(key): tuple(entry.shape)
      for key, entry in index.entries.items()
      if key.endswith(_VALUE)
    }
    if STAMP not in found:
      kind = (
        "an object checkpoint of another program"
        if _OBJECT_GRAPH in index.entries
        else ("a name-based (TF1) checkpoint, which load_tf1_checkpoint reads")
      )
      raise CheckpointError(
        f"{prefix} was not written by migrator.runtime: it is {kind}. Object checkpoints of Keras "
        "models depend on the version of Keras and are not read. Use another directory."
      )
    stamp = json.loads(reader.get_tensor(STAMP + _VALUE))
    if stamp["format"] > _FORMAT:
      raise CheckpointError(f"{prefix} was written by a newer version of migrator.runtime.")
    if stamp["flavour"] != self.flavour:
      raise CheckpointError(differences.flavour_message(prefix, stamp["flavour"], self.flavour))
    expected = {name: tuple(v.shape) for name, v in self.by_name.items()}
    expected[STAMP] = ()
    found.pop(_COUNTER, None)
    # What a conversion kept of the old program, and slots that have no influence.
    unneeded = set(stamp.get("extra", ())) - set(expected)
    ignored = tuple("/" + suffix for suffix in self.optimizer_state.kind.ignored)
    unneeded.update(n for n in found if n not in expected and ignored and n.endswith(ignored))
    for name in unneeded:
      found.pop(name, None)
    for name in map(rate_name, range(len(self.states))):
      if name not in expected:
        found.pop(name, None)
    differences.compare(
      prefix,
      expected,
      found,
      optimizers=(stamp["optimizer"], self.optimizer_state.kind.name),
    )
    return index.entries


def _decoded(key: str) -> str:
  """Returns the attribute name of a key of an object checkpoint."""
  return _ESCAPED.sub(lambda m: "/" if m.group(1) == "S" else ".", key[: -len(_VALUE)])


def check_not_overtaken(prefix: str) -> None:
  """Raises if `prefix` lies in `<model_dir>/tf2` and the model_dir holds a later TF1 checkpoint.

  Raises:
    CheckpointError: naming both.
  """
  directory = os.path.dirname(os.path.abspath(prefix))
  if os.path.basename(directory) != state.NEW_DIRECTORY:
    return
  model_dir = os.path.dirname(directory)
  if "://" in prefix:
    model_dir = os.path.dirname(os.path.dirname(prefix))
  old = state.newest(model_dir)
  if old is None:
    return
  old_step, step = state.step_of(old), state.step_of(prefix)
  if old_step > step:
    raise CheckpointError(
      f"{old} (step {old_step}) is later than the newest checkpoint of the migrated program, {prefix} "
      f"(step {step}): the old program was run again in between. To go on from {old}, move "
      f"{os.path.dirname(prefix)} away; to go on from {prefix}, move the old checkpoints away."
    )
