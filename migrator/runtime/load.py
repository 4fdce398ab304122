"""Loads a TF1 checkpoint into a `NamedCheckpoint` or a Keras model: everything or nothing."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import os
from collections.abc import Sequence
from typing import Any, Optional, Union

import tensorflow as tf

from migrator.runtime import differences, keras_aliases, named, paths, state, suggesting
from migrator.runtime import plan as plan_module
from migrator.runtime.errors import CheckpointError
from migrator.runtime.hyperparameters import check_hyperparameters
from migrator.runtime.name_map import NameMap
from migrator.runtime.tf1_reader import GLOBAL_STEP, Tf1Checkpoint
from migrator.runtime.warm_start import warm_start

AUTO = "auto"
"""In place of a map: the suggested one."""
# What a hook of tf.estimator's early stopping has in the graph: whether it has said so. One process never
# reads it again.
_OF_HOOKS = frozenset(("signal_early_stopping/STOP",))


@dataclasses.dataclass(frozen=True)
class LoadReport:
  """What `load_tf1_checkpoint` has done.

  Attributes:
    prefix: the checkpoint, None if there was none.
    step: its global step.
    updates: the optimizer's own count, which is another one than the step in some programs.
    loaded: the names of the variables that were assigned.
    missing: the names of the variables that the checkpoint lacks, and that were allowed to be missing.
    unused: the keys of the checkpoint that nothing in the program asked for.
    mismatched: the names of the variables of other shapes; () as these are an error.
    sources: name -> where it came from and what was done to it, where that is not the key of that name.
    renamed: name -> its older name in the checkpoint, found by a built-in rule.
    not_trainable: those of the loaded weights that are not trained, such as moving averages of batch
      normalization.
    notes: sentences that a person should read.
  """

  prefix: Optional[str]
  step: int
  updates: int = 0
  loaded: tuple = ()
  missing: tuple = ()
  unused: tuple = ()
  mismatched: tuple = ()
  sources: dict[str, str] = dataclasses.field(default_factory=dict)
  renamed: dict[str, str] = dataclasses.field(default_factory=dict)
  not_trainable: tuple = ()
  notes: tuple = ()

  def __str__(self) -> str:
    lines = [f"{self.prefix}: step {self.step}, {len(self.loaded)} variables loaded"]
    lines += [f"  {name} <- {source}" for name, source in self.sources.items()]
    lines += [f"  {name} was called {old}" for name, old in self.renamed.items()]
    lines += [f"  not in the checkpoint: {name}" for name in self.missing]
    lines += [f"  not used: {key}" for key in self.unused]
    return "\n".join([*lines, *(f"  {note}" for note in self.notes)])


def load_tf1_checkpoint(
  checkpoint: Any,
  path: str,
  *,
  name_map: Union[NameMap, dict, str, None] = None,
  weights: Optional[str] = None,
  allow_missing: Sequence[str] = (),
  allow_unused: Optional[bool] = None,
  warm_start_from: Any = None,
) -> LoadReport:
  """Loads weights, optimizer slots and steps from a TF1 checkpoint.

  Args:
    checkpoint: what to load into: a `NamedCheckpoint`, or a built Keras model. Of a compiled model the
      optimizer is loaded as well.
    path: a checkpoint prefix, a model directory (its newest checkpoint is taken), or one of the files.
    name_map: a map file's path or its content: names that differ, and transforms. See `name_map`. "auto"
      takes what `suggest_map` suggests, and the report lists every pair.
    weights: "raw" (the default) or "ema": moving averages in place of the variables that have one.
    allow_missing: names or patterns (`head/*`) of variables of the model that may keep their values.
    allow_unused: whether the checkpoint may hold what the model does not have. By default a
      `NamedCheckpoint` alone takes all of the checkpoint or nothing; a model, and a call with any of the
      arguments above, may leave some, which the report lists.
    warm_start_from: where `path` has no checkpoint, the weights begin with those of this one, without
      slots and step: a path, or `runtime.WarmStartSettings`. As the Estimators' argument.

  Returns:
    What was loaded. Into a `NamedCheckpoint` nothing is from an empty directory, with a warning, as a
    program begins that way; for a model that is an error.

  Raises:
    CheckpointError: unless every variable of the model, trainable or not, and every slot of its optimizer
      is in the checkpoint; the message lists all that differ. Nothing has been loaded then.
    ValueError: if the model is not built, or for an unknown `weights`.
    TypeError: if the optimizer is not known.
  """
  if weights not in (None, "raw", "ema"):
    raise ValueError(f'weights must be "raw" or "ema", given: {weights!r}')
  auto = name_map == AUTO
  if isinstance(name_map, str) and not auto:
    name_map = NameMap.read(name_map)
  elif isinstance(name_map, dict):
    name_map = NameMap(name_map)
  named_given = isinstance(checkpoint, named.NamedCheckpoint)
  if allow_unused is None:
    allow_unused = not named_given or bool(name_map or weights or allow_missing)
  lenient = named_given or warm_start_from is not None
  prefix = state.resolve(path) if lenient else paths.prefixes(os.fspath(path))[0]
  if named_given and not checkpoint.built and (prefix or warm_start_from is not None):
    later = functools.partial(
      load_tf1_checkpoint,
      checkpoint,
      prefix or path,
      name_map=name_map,
      weights=weights,
      allow_missing=allow_missing,
      allow_unused=allow_unused,
      warm_start_from=warm_start_from,
    )
    return LoadReport(prefix=prefix, step=checkpoint.put_off(prefix, later))
  if prefix is None and warm_start_from is not None:
    if not named_given:
      checkpoint = named.unregistered(checkpoint, getattr(checkpoint, "optimizer", None))
    begun, names = warm_start(checkpoint, warm_start_from)
    step = int(checkpoint.by_name[named.STEP].numpy())
    return LoadReport(prefix=begun, step=step, loaded=tuple(names))
  if prefix is None:
    tf.get_logger().warning(
      "There is no checkpoint in %s: starting from the initial weights.", path
    )
    return LoadReport(prefix=None, step=0)
  source = Tf1Checkpoint(prefix)
  if not named_given:
    optimizer = getattr(checkpoint, "optimizer", None)
    checkpoint = named.unregistered(checkpoint, optimizer, flavour=source.flavour)
  if name_map is None or auto:  # A map names the keys as they are.
    source.rename(
      keras_aliases.renames(checkpoint.weights, checkpoint.nested, source.contents.variables)
    )
  has_optimizer = checkpoint.optimizer_state.iterations is not None
  if has_optimizer and source.flavour != checkpoint.flavour:
    raise CheckpointError(differences.flavour_message(prefix, source.flavour, checkpoint.flavour))
  if not allow_unused and len(checkpoint.states) == 1:
    # Says more of what differs than a plan, which lets a checkpoint have more than the model.
    _match(source, checkpoint)
  suggested: tuple[str, ...] = ()
  if auto:
    name_map, suggested = suggesting.suggested(checkpoint, source, allow_missing)
  assert not isinstance(name_map, (str, dict))
  plan = plan_module.make_plan(checkpoint, source, name_map, weights, allow_missing)
  plan.check()
  if not allow_unused:
    _check_unused(plan, checkpoint)
  notes = (*plan.notes, *suggested)
  rate_keys = check_hyperparameters(source, checkpoint, plan) if has_optimizer else {}
  # All is read before anything is assigned: a damaged value must not leave half a model.
  values = {name: item.value(source) for name, item in plan.items.items()}
  values.update({name: source.read([key]) for name, key in rate_keys.items()})
  rates = {name: differences.number(checkpoint.by_name[name]) for name in rate_keys}
  for name, value in values.items():
    checkpoint.by_name[name].assign(value)
  checkpoint.by_name[named.STEP].assign(plan.step)
  if has_optimizer:
    for name, count in plan.counts.items():
      checkpoint.by_name[name].assign(count)
  for name, rate in rates.items():
    differences.report_learning_rate(prefix, rate, checkpoint.by_name[name])
  tf.get_logger().info("Restored step %d from %s.", plan.step, prefix)
  for note in notes:
    tf.get_logger().info("%s: %s", prefix, note)
  return LoadReport(
    prefix=prefix,
    step=plan.step,
    updates=plan.updates,
    loaded=(*values, named.STEP, *(plan.counts if has_optimizer else ())),
    missing=plan.allowed,
    unused=plan.unused,
    sources={
      name: _told(item) for name, item in plan.items.items() if item.note or item.transforms
    },
    renamed=plan.renamed,
    not_trainable=tuple(
      n for n in checkpoint.weights if n not in checkpoint.trainable and n in values
    ),
    notes=notes,
  )


def _check_unused(plan: plan_module.Plan, checkpoint: named.NamedCheckpoint) -> None:
  """Raises if the checkpoint has what the program has not.

  Raises:
    CheckpointError: listing all of it.
  """
  ignored = tuple(f"/{suffix}" for suffix in checkpoint.optimizer_state.kind.ignored)
  unused = [key for key in plan.unused if not (ignored and key.endswith(ignored))]
  unused = [key for key in unused if key not in _OF_HOOKS]
  if unused:
    raise CheckpointError(
      "\n".join(
        [
          f"{plan.contents.prefix} has what the program has not; nothing has been loaded.",
          *(f"  {key}" for key in unused),
          "If that is meant, pass allow_unused=True.",
        ]
      )
    )


def _told(item: plan_module.Item) -> str:
  """Returns where a variable came from, in words."""
  keys = " and ".join(k[0] if len(k) == 1 else f"{k[0]} ({len(k)} parts)" for k in item.keys)
  return ", ".join([keys, *(transform.name for transform in item.transforms)])


def _match(source: Tf1Checkpoint, checkpoint: named.NamedCheckpoint) -> dict[str, list[str]]:
  """Returns the keys that hold each variable, by the name of the variable.

  Raises:
    CheckpointError: if the variables of the two sides differ.
  """
  optimizer = checkpoint.optimizer_state
  keys = {name: [name] for name in checkpoint.weights if name in source.shapes}
  ignored = {GLOBAL_STEP, *source.hyperparameters(), *_OF_HOOKS}
  if optimizer.kind.name == "Adam":
    ignored.update(source.counters())
  for slot in optimizer.kind.slots:
    for weight, parts in source.slot_keys(checkpoint.trainable, slot).items():
      keys[f"{weight}/{slot.suffix}"] = parts
    if source.flavour == "v1" and slot.in_v1:
      # What is no slot of a known optimizer still has its own name; it must not pass as loaded.
      names = (f"{weight}/{slot.suffix}" for weight in checkpoint.trainable)
      keys.update({n: [n] for n in names if n in source.shapes and n not in keys})
  for suffix in optimizer.kind.ignored:
    ignored.update(key for key in source.shapes if key.endswith("/" + suffix))
  used = ignored.union(*keys.values())
  not_weights = (named.STEP, named.ITERATIONS, named.LEARNING_RATE)
  expected = {n: tuple(v.shape) for n, v in checkpoint.by_name.items() if n not in not_weights}
  found = {name: source.shapes[parts[0]] for name, parts in keys.items()}
  found.update({key: shape for key, shape in source.shapes.items() if key not in used})
  optimizers = (source.optimizer, _name(optimizer.kind, source.flavour))
  try:
    differences.compare(source.prefix, expected, found, optimizers)
  except CheckpointError as e:
    # Another optimizer says it all; else the names may differ in their scope only.
    same = source.optimizer == _name(optimizer.kind, source.flavour)
    raise CheckpointError(f"{e}{_candidates(expected, found) if same else ''}") from None
  for name, parts in keys.items():
    if source.dtype(parts[0]) != checkpoint.by_name[name].dtype.base_dtype:
      raise CheckpointError(
        f"{name} is {source.dtype(parts[0]).name} in {source.prefix}, and "
        f"{checkpoint.by_name[name].dtype.name} in the model; nothing has been loaded."
      )
  return keys


def _name(kind, flavour: str) -> str:
  return kind.legacy if flavour == "v2" else kind.name


def _candidates(expected: dict, found: dict) -> str:
  """Returns a sentence on the scope, if the names differ in nothing but their beginning."""
  missing = [name for name in expected if name not in found]
  unused = [name for name in found if name not in expected]
  for name in missing:
    tail = name.split("/", 1)[-1]
    near = [n for n in unused if n == tail or n.endswith("/" + tail)]
    near = near or difflib.get_close_matches(name, unused, n=2)
    if near:
      return f"\nIs {name} of the program called {' or '.join(sorted(near)[:3])} in the checkpoint?"
  return ""
