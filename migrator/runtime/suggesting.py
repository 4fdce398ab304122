"""Suggests a map file for a model and a checkpoint: `suggest_map`."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from typing import Any, Optional

from migrator.runtime import named, state
from migrator.runtime.errors import CheckpointError
from migrator.runtime.name_map import NameMap
from migrator.runtime.suggest import Suggestion, Target, suggest
from migrator.runtime.tf1_reader import Tf1Checkpoint

PATH = "the suggested map"


def suggest_map(checkpoint: Any, path: str) -> NameMap:
  """Suggests which variable of a checkpoint each weight of a model is; loads nothing.

  A pair is made by equal names, by the older names of TF1's libraries, by names that are equal below one
  scope, by what stands beside it, or by a shape that nothing else has. It is a suggestion: read it, e.g. as
  `suggest_map(...).to_toml()`, before it is used.

  Args:
    checkpoint: a `NamedCheckpoint`, or a built Keras model.
    path: a checkpoint prefix, a model directory (its newest checkpoint is taken), or one of the files.

  Returns:
    A map with every weight of the model.

  Raises:
    CheckpointError: if there is no checkpoint, or several variables may be what the model has; the message
      lists them.
  """
  prefix = state.resolve(path)
  if prefix is None:
    raise CheckpointError(f"There is no checkpoint in {path}.")
  source = Tf1Checkpoint(prefix)
  if not isinstance(checkpoint, named.NamedCheckpoint):
    checkpoint = named.named_checkpoint(checkpoint, None)
  suggestion = suggestion_for(checkpoint, source)
  check(suggestion, prefix)
  return NameMap(suggestion.to_dict(), PATH)


def suggestion_for(checkpoint: named.NamedCheckpoint, source: Tf1Checkpoint) -> Suggestion:
  """Returns what may be what, for the weights of a checkpoint to be."""
  variables = {name: checkpoint.by_name[name] for name in checkpoint.weights}
  targets = {name: Target(tuple(v.shape), v.dtype.base_dtype.name) for name, v in variables.items()}
  return suggest(targets, source.contents)


def suggested(
  checkpoint: named.NamedCheckpoint, source: Tf1Checkpoint, allow_missing: Sequence[str]
) -> tuple[Optional[NameMap], tuple[str, ...]]:
  """Returns the suggested map, None if there is nothing in it, and a sentence on each pair.

  Raises:
    CheckpointError: if a weight is left open that is not allowed to be missing.
  """
  suggestion = suggestion_for(checkpoint, source)
  check(suggestion, source.prefix, allow_missing)
  notes = tuple(
    f"suggested: {name} <- {pair.old}: {pair.why}"
    for name, pair in suggestion.pairs.items()
    if name != pair.old
  )
  return (NameMap(suggestion.to_dict(), PATH) if suggestion.pairs else None), notes


def check(suggestion: Suggestion, prefix: str, allow_missing: Sequence[str] = ()) -> None:
  """Raises if something is left open.

  Raises:
    CheckpointError: listing all that is, with candidates.
  """
  lines = []
  for name, candidates in suggestion.open.items():
    if any(fnmatch.fnmatchcase(name, pattern) for pattern in allow_missing):
      continue
    hint = f"is it {' or '.join(candidates)}?" if candidates else "nothing resembles it"
    lines.append(f"  {name}: {hint}")
  if lines:
    raise CheckpointError(
      "\n".join(
        [
          f"The names of {prefix} leave open what is what; nothing has been loaded.",
          *lines,
          "Name these in a map file.",
        ]
      )
    )
