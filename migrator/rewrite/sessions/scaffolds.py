"""The Scaffolds and the creators of sessions: what they bring besides the checkpoints."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks import reaching
from migrator.rewrite.sessions import found
from migrator.rewrite.sessions.found import Unit
from migrator.rewrite.sessions.text import excerpt, source, spell

_SCAFFOLD = "tf.train.Scaffold"
_PARTS = {
  "init_fn": "called where there was no checkpoint to restore: the manager's `init_fn=` has to call "
  "it where the old directory has none",
  "init_op": "variables have their initial values at once",
  "local_init_op": "tables and iterators are ready at once",
  "ready_op": "nothing waits for variables: they exist at once",
  "ready_for_local_init_op": "nothing waits for variables: they exist at once",
  "summary_op": "its summaries are written with `tf.summary` in `train_step`",
}
_SESSION_PARTS = {
  "master": "the program runs in one process; several need a `tf.distribute` strategy",
  "config": "devices, memory and threads are set with `tf.config` at the start",
  "stop_grace_period_secs": "there are no threads of input queues to wait for",
  "max_wait_secs": "there is no chief to wait for",
}


def of(module: Module, node: Optional[ast.AST]) -> Optional[list[ast.Call]]:
  """All Scaffold calls that an expression can stand for; None where it can be anything else."""
  possible = values.possible(module, node) if node is not None else []
  calls = [c for c in possible or () if isinstance(c, ast.Call)]
  known = [c for c in calls if values.is_call_of(module, c, (_SCAFFOLD,))]
  return None if possible is None or len(known) < len(possible) else known


def parts(module: Module, unit: Unit) -> Iterator[tuple[int, str]]:
  """Arguments of Scaffolds, sessions and Supervisors about graph and session: line and words."""
  scaffolds = of(module, unit.arguments.get("scaffold")) or []
  for call in scaffolds:
    lines = [c.lineno for c in scaffolds]
    also = f" (the Scaffold is one of {spell(lines)}; this is of line {call.lineno})"
    also = also if len(lines) > 1 else ""
    for name, node in found.bind(module, call, _SCAFFOLD).nodes.items():
      yield from _told(module, name, node, _PARTS, also)
  if unit.kind in (found.SAVER, found.META_GRAPH):
    return
  for name, node in unit.arguments.nodes.items():
    texts = {**_PARTS, **_SESSION_PARTS} if unit.kind == found.SUPERVISOR else _SESSION_PARTS
    yield from _told(module, name, node, texts, "")


def _told(
  module: Module, name: str, node: ast.expr, texts: dict[str, str], also: str
) -> Iterator[tuple[int, str]]:
  if name in texts and values.literal(module, node) not in (None, ""):
    yield node.lineno, f"`{name}={excerpt(module, node)}`: {texts[name]}{also}"


def questions(module: Module, scaffold: Optional[ast.expr], known: bool) -> Iterator[str]:
  """What a Scaffold may bring that is not seen.

  Args:
    module: the file.
    scaffold: the argument; None for none.
    known: whether its Saver is known, or that another one is taken.
  """
  if scaffold is None or values.literal(module, scaffold) is None:
    return
  calls = of(module, scaffold)
  if calls is None:
    saver = "" if known else "a Saver, whose `max_to_keep` decides what stays, and "
    yield (
      f"`{source(module, scaffold)}` may bring {saver}an `init_fn`, called where there was no checkpoint to "
      "restore."
    )
    return
  if not known:
    for call in calls:
      arguments = found.bind(module, call, _SCAFFOLD)
      node = arguments.get("saver")
      if node is not None and values.literal(module, node) is not None:
        yield (
          f"line {call.lineno}: this Scaffold brings `{source(module, node)}`, whose `max_to_keep` decides what "
          "stays."
        )
      elif not arguments.complete:
        yield f"line {call.lineno}: `**` may give this Scaffold a Saver, which decides what stays."


def creators(module: Module, unit: Unit) -> str:
  """Which sessions a MonitoredSession can have, where that is not certain; "" where it is."""
  node = unit.arguments.get("session_creator")
  if unit.kind != found.MONITORED_SESSION or node is None:
    return ""
  if values.literal(module, node) is None:
    return ""
  if found.known_call(module, node, found.CHIEF_CREATOR) is not None:
    return ""
  made: list[ast.AST] = [node]
  if isinstance(node, ast.Name):
    made = [b.value for b in reaching.reaching(module, node) if b.value is not None] or made
  shown = ", ".join(f"line {_line(m)}: `{excerpt(module, m)}`" for m in made)
  return (
    f"what the session restores is up to its `session_creator` ({shown}): the code restores what it saves itself, "
    "else loads what the hook saved."
  )


def _line(node: ast.AST) -> int:
  return getattr(node, "lineno", 0)


def may_be_none(module: Module, node: Optional[ast.expr]) -> list[int]:
  """The lines that make the directory of a variable None on some paths."""
  if not isinstance(node, ast.Name):
    return []
  bindings = reaching.reaching(module, node)
  given = [b.value for b in bindings if b.value is not None]
  return [v.lineno for v in given if isinstance(v, ast.Constant) and v.value is None]
