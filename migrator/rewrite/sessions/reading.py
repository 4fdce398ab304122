"""The code in place of what a session unit restores."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Union

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.rewrite.sessions import conditions, restores
from migrator.rewrite.sessions.found import Unit
from migrator.rewrite.sessions.policy import Policy
from migrator.rewrite.sessions.text import comments, excerpt, source, with_comment


def lines(
  module: Module, unit: Unit, policy: Policy, restored: Sequence[restores.Restored]
) -> list[str]:
  """The code of a unit that only restores: into a model, which needs no optimizer.

  Args:
    module: the file.
    unit: the unit.
    policy: its policy.
    restored: what it restores.
  """
  averages = ', weights="ema"' if restores.takes_averages(module, unit.saver) else ""
  read = [(r.call, r.directory or r.text, bool(r.directory)) for r in restored]
  if not read and policy.directory:
    read = [(unit.call, policy.directory, True)]
  path = unit.arguments.get("checkpoint_filename_with_path")
  if path is not None and values.literal(module, path) is not None:
    read = [(unit.call, source(module, path), False)]
  result = ["from migrator import runtime"]
  for call, text, is_directory in read:
    result += instead(module, unit, call)
    loading = f"runtime.load_tf1_checkpoint(model, {text}{averages})"
    result += with_comment(loading, "of the old program")
    newest = text
    if is_directory:
      asked = f"tf.train.latest_checkpoint({text})"
      result += comments(
        [
          "Without a checkpoint there this is an error; where the program went on without one, ask "
          f"`if {asked}:` first."
        ]
      )
      newest = "newest"
    result.append("# A checkpoint of the migrated training, with the optimizer of the training:")
    if is_directory:
      result.append(f'#   newest = tf.train.latest_checkpoint(os.path.join({text}, "tf2"))')
    result.append(f"#   runtime.named_checkpoint(model, optimizer).restore({newest})")
  return result


def rest_of_guard(restored: restores.Restored, step: str) -> list[str]:
  """What to do with the rest of the branch in which something is restored."""
  guard = restored.guard
  if guard is None:
    return []
  result = []
  if len(guard.body) > 1 or isinstance(guard.body[0], ast.If):
    result += comments(
      [f"What else the branch does stays; for a step read from the path take `int({step})`."]
    )
  if guard.orelse:
    result += comments(
      ["Of the other branch nothing that initializes variables is left: they have their values."]
    )
  return result


def instead(module: Module, unit: Unit, place: Union[ast.Call, ast.If]) -> list[str]:
  """The comment above code in place of a call or an `if`, with the condition of it."""
  only = conditions.words(conditions.of(module, place, unit.calls))
  if isinstance(place, ast.Call):
    return comments([f"In place of line {place.lineno}, `{excerpt(module, place)}`{only}:"])
  test = excerpt(module, place.test)
  shown = f"lines {place.lineno}-{place.end_lineno}"
  return comments([f"In place of {shown}, `if {test}`, which it asks itself{only}:"])
