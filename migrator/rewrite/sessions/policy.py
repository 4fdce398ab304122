"""What a session unit saves and keeps, as arguments of `runtime.CheckpointManager`."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import UNKNOWN, Module
from migrator.lint import values
from migrator.rewrite.sessions import found
from migrator.rewrite.sessions.found import Unit
from migrator.rewrite.sessions.text import source

_DEFAULT_KEEP = "keep_checkpoint_max=5"
DEFAULT_SECONDS = "save_checkpoints_secs=600"


@dataclasses.dataclass
class Policy:
  """When a unit saves of itself, where, and what it keeps; all as source.

  Attributes:
    directory: where it saves and restores; "" for nowhere.
    name: what the names of its files begin with.
    cadence: the argument that says how often; "" for never by itself.
    keep: the arguments that say what stays.
    recovers: whether it goes on deleting what an earlier process saved.
    saves_last: whether it saves at the end.
    questions: what a person has to decide, or to know.
  """

  directory: str = ""
  name: str = '"model.ckpt"'
  cadence: str = ""
  keep: list[str] = dataclasses.field(default_factory=lambda: [_DEFAULT_KEEP])
  recovers: bool = True
  saves_last: bool = True
  questions: list[str] = dataclasses.field(default_factory=list)


def of_saver(module: Module, unit: Unit) -> Policy:
  """The policy of a Saver, with the defaults of TF 1.15 and 2.15."""
  policy = Policy(recovers=bool(unit.recoveries), saves_last=False)
  set_keep(module, unit.saver, policy)
  policy.questions += _other_lists(module, unit)
  for other in unit.others:
    if ast.dump(other) != ast.dump(unit.call):
      policy.questions.append(
        f"line {other.lineno}: on another path it is `{source(module, other)}`; the code is for line "
        f"{unit.call.lineno}."
      )
  return policy


def given(module: Module, arguments: values.Arguments, name: str) -> Optional[ast.expr]:
  """An argument, unless it is None."""
  node = arguments.get(name)
  return None if node is None or values.literal(module, node) is None else node


def _other_lists(module: Module, unit: Unit) -> Iterator[str]:
  """Saves that write the list of checkpoints to another file than `checkpoint`."""
  for call in unit.saves:
    arguments = values.arguments(module, call, found.SAVE_PARAMETERS)
    name = given(module, arguments, "latest_filename")
    if name is not None:
      yield (
        f"line {call.lineno}: `latest_filename={source(module, name)}`: the manager's list is the file "
        "`checkpoint`; what is in the old one is loaded by the path of the checkpoint."
      )


def is_none(module: Module, arguments: values.Arguments, name: str) -> bool:
  """Whether an argument is given as None."""
  return name in arguments.nodes and values.literal(module, arguments.nodes[name]) is None


def set_keep(module: Module, saver: Optional[ast.Call], policy: Policy) -> None:
  """What a Saver keeps; without one what the default one does."""
  if saver is None:
    return
  arguments = found.bind(module, saver, found.SAVER)
  keep = arguments.get("max_to_keep")
  policy.keep = [
    f"keep_checkpoint_max={source(module, keep)}" if keep is not None else _DEFAULT_KEEP
  ]
  hours = arguments.get("keep_checkpoint_every_n_hours")
  if hours is not None:
    policy.keep.append(f"keep_checkpoint_every_n_hours={source(module, hours)}")
  line = module.span(saver).line
  if not arguments.complete:
    policy.questions.append(
      f"line {line}: `**` may give the Saver a `max_to_keep` of its own; 5 is its default."
    )
  if values.literal(module, arguments.get("pad_step_number")) is True:
    policy.questions.append(
      f"line {line}: `pad_step_number` wrote model.ckpt-00000010; the manager writes model.ckpt-10."
    )


def cadence(
  module: Module, arguments: values.Arguments, steps: str, seconds: str, default: str
) -> Optional[str]:
  """The argument for how often; "" for never, None where both are set, which raises."""
  texts = []
  for name, new in ((steps, "save_checkpoints_steps"), (seconds, "save_checkpoints_secs")):
    node = arguments.get(name)
    value = values.literal(module, node)
    certainly_off = value is None or (isinstance(value, (int, float)) and value <= 0)
    if node is None or (value is not UNKNOWN and certainly_off):
      continue
    texts.append((f"{new}={source(module, node)}", value))
  if len(texts) == 2:
    # The two exclude each other where the program runs, so that one of them is None there.
    return None if all(v is not UNKNOWN for _, v in texts) else ", ".join(t for t, _ in texts)
  if texts:
    return texts[0][0]
  asked = arguments.get(steps) is not None or arguments.get(seconds) is not None
  return "" if asked else default
