"""The TF2 code for the checkpoints of a session unit, to be shown: it is not put into the file."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple, Optional, Union

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks import estimators
from migrator.lint.finding import Finding
from migrator.rewrite import emit
from migrator.rewrite.sessions import (
  found,
  graph,
  loops,
  monitored,
  reading,
  restores,
  steps,
  varying,
)
from migrator.rewrite.sessions.found import Unit
from migrator.rewrite.sessions.text import WIDTH, comments, spell, with_comment


class Names(NamedTuple):
  """Names for the new variables, which the file does not use."""

  checkpoint: str
  step: str
  manager: str


class Proposal:
  """The code for one unit, and what stands around it.

  Args:
    module: the file.
    unit: the unit.
    names: for the new variables.
    lint: what lint finds in the file.
    directories: those that managers of other units have; the unit's own is added.

  Attributes:
    text: a block of Python: comments say what has to change first and which lines the code replaces.
    saves: whether anything is saved; else it is about reading only.
    applies: whether the unit saves or reads anything at all.
    told: what the comments at the top are about, in words; "" without any.
  """

  def __init__(
    self,
    module: Module,
    unit: Unit,
    names: Names,
    lint: Iterable[Finding],
    directories: set[str],
  ):
    self._module = module
    self._unit = unit
    self._lint = list(lint)
    self._names = names
    self._directories = directories
    self._policy = monitored.policy_of(module, unit)
    self._is_saver = unit.kind in (found.SAVER, found.META_GRAPH)
    self._places = [p for p in (steps.of(module, unit, c) for c in unit.saves) if p is not None]
    self._restored = [r for r in (restores.of(module, c) for c in unit.restores) if r is not None]
    self.saves = bool(self._places or self._policy.cadence)
    self.applies = self.saves or bool(self._restored or self._reads_by_itself())
    # Without a session a Saver works on the variables of TF2, and in TF2.
    self.applies = self.applies and not self._is_eager()
    self.told = ""
    self.text = "\n".join(self._lines()) + "\n" if self.applies else ""

  def _lines(self) -> list[str]:
    if not self.saves:
      body = reading.lines(self._module, self._unit, self._policy, self._restored)
    elif self._is_written_once() or self._changing():
      body = self._writing(self._changing())
    else:
      body = self._saving()
    counted = not self._is_saver or any(p.number == "" for p in self._places)
    changes = graph.changes(
      self._module, self._unit, self._lint, self._names.step, self.saves, counted
    )
    head: list[str] = []
    told = []
    if changes:
      head += ["# To change first:", *comments([f"- {c}" for c in changes])]
      told.append("what has to change first")
    if self._policy.questions:
      head += ["# To know, or to decide:", *comments([f"- {q}" for q in self._policy.questions])]
      told.append("what is to be known or decided")
    self.told = " and ".join(told)
    return [*head, *body]

  def _is_eager(self) -> bool:
    """Whether a Saver is called with None for its session."""
    calls = [*self._unit.saves, *self._unit.restores]
    given = [values.arguments(self._module, c, ("sess",)).get("sess") for c in calls]
    return bool(given) and all(values.literal(self._module, g) is None for g in given)

  def _reads_by_itself(self) -> bool:
    """Whether the session restores without being told."""
    path = self._unit.arguments.get("checkpoint_filename_with_path")
    given = path is not None and values.literal(self._module, path) is not None
    return not self._is_saver and (bool(self._policy.directory) or given)

  # -- a unit that goes on and on saving ---------------------------------------------------

  def _saving(self) -> list[str]:
    directory, name, keep = self._place()
    if self._is_saver:
      self._add_unknown()
    new = self._new_directory(directory, name)
    old = self._old(directory)
    lines = ["import functools"] if old else []
    lines += ["import os", "from migrator import runtime", *self._checkpoint()]
    checkpoint, step, manager = self._names
    lines.append(f'{step} = {checkpoint}.by_name["global_step"]')
    arguments = [checkpoint, new, f"step_counter={step}"]
    arguments += [self._policy.cadence] if self._policy.cadence else []
    arguments += keep
    arguments += [f"checkpoint_name={name}"] if name != '"model.ckpt"' else []
    arguments += [] if self._policy.recovers else ["recover_last_checkpoints=False"]
    if old:
      loading = f"functools.partial(runtime.load_tf1_checkpoint, {checkpoint}, {old})"
      arguments.append(f"init_fn={loading}")
    style = emit.Style("  ", WIDTH)
    lines += emit.bracketed(f"{manager} = runtime.CheckpointManager(", arguments, ")", style)
    if not self._is_saver:
      lines += loops.lines(self._module, self._unit, self._policy, step, manager)
    return [*lines, *self._calls(directory, name)]

  def _checkpoint(self) -> list[str]:
    lines = [f"# In place of {spell([c.lineno for c in self._unit.calls])}:"]
    made = f"{self._names.checkpoint} = runtime.named_checkpoint(model, optimizer)"
    if not graph.trains(self._module):
      # Nothing in the file tells whether there is one.
      made += "  # None where nothing is trained"
    return [*lines, made]

  def _add_unknown(self) -> None:
    """Asks for what has no value where the Saver is made."""
    for saved in self._places:
      names = varying.elsewhere(self._module, self._unit, saved)
      changing = varying.changing(self._module, self._unit, saved)
      if names or changing:
        shown = ", ".join(f"`{n}`" for n in dict.fromkeys([*names, *changing]))
        what = "may be another at each save" if changing else "is known there only"
        self._policy.questions.append(
          f"line {saved.call.lineno}: {shown} {what}: the manager, which has one directory and one name, is made once, "
          "where all of its path is known."
        )

  def _place(self) -> tuple[str, str, list[str]]:
    """Directory, name and what is kept."""
    keep = list(self._policy.keep)
    if not self._is_saver or not self._places:
      return self._policy.directory or "MODEL_DIR", self._policy.name, keep
    numbered = [p for p in self._places if p.number is not None]
    first = (numbered or self._places)[0]
    if not numbered:
      keep = ["keep_checkpoint_max=1"]
      self._policy.recovers = True
      lines = spell([p.call.lineno for p in self._places])
      self._policy.questions.append(
        f"{lines}: without `global_step=` each save replaced the one before. One checkpoint stays "
        "here as well; its name has the step."
      )
    return first.place.directory, first.place.name, keep

  def _new_directory(self, directory: str, name: str) -> str:
    """Source of the directory of the manager, which no other manager has."""
    parts = ['"tf2"']
    if directory in self._directories:
      parts.append(emit.string(self._unit.name.rpartition(".")[2] or "other"))
      self._policy.questions.append(
        f"another manager has `{directory}`: two in one directory delete each other's files, so "
        "this one has a directory of its own."
      )
    self._directories.add(directory)
    node = ast.parse(directory, mode="eval").body
    joins = isinstance(node, ast.Call) and ast.unparse(node.func) == "os.path.join"
    head = directory[:-1] if joins and not node.keywords else f"os.path.join({directory}"  # type: ignore[attr-defined]
    return f"{head}, {', '.join(parts)})"

  def _old(self, directory: str) -> str:
    """The place of the old checkpoints, if the program goes on from there."""
    if not self._is_saver:
      return self._policy.directory
    own = [r for r in self._restored if self._is_own(r, directory) is not False]
    return next((r.directory for r in own if r.directory), directory if own else "")

  def _is_own(self, restored: restores.Restored, directory: str) -> Optional[bool]:
    """Whether what is restored is what the unit saves; None where that cannot be known."""
    if restored.directory:
      return restored.directory == directory or None
    if any(restored.text == p.text for p in self._places):
      return True
    own = {k for p in self._places for k in estimators.keys(self._module, p.node)}
    return True if own & estimators.keys(self._module, restored.node) else None

  def _calls(self, directory: str, name: str) -> list[str]:
    """The lines in place of `restore` and `save`."""
    lines: list[tuple[int, list[str]]] = []
    for restored in self._restored:
      own = self._is_own(restored, directory)
      code = [f"{self._names.manager}.restore_or_initialize()"]
      read = restored.directory or restored.text
      loading = f"runtime.load_tf1_checkpoint({self._names.checkpoint}, {read})"
      if not self._is_saver:
        code = with_comment(loading, "of the old program")
      elif own is None:
        code += comments([f"Where `{read}` is another place than `{directory}`: `{loading}`."])
      else:
        code += reading.rest_of_guard(restored, self._names.step)
      place = restored.guard or restored.call
      lines.append((place.lineno, [*self._instead_of(place), *code]))
    for saved in self._places:
      saving = self._save(saved, directory, name)
      lines.append((saved.call.lineno, [*self._instead_of(saved.call), *saving]))
    return [line for _, some in sorted(lines) for line in some]

  def _save(self, saved: steps.Saved, directory: str, name: str) -> list[str]:
    checkpoint, step, manager = self._names
    same = saved.place.directory == directory and saved.place.name == name
    if saved.keeps_no_state or not (same or not self._is_saver):
      why = "no list of it, never deleted" if saved.keeps_no_state else "beside the manager's"
      path = f'os.path.join({saved.place.directory}, "tf2", {saved.place.name})'
      if saved.number is not None:
        path = f'"%s-%d" % ({path}, int({saved.number or step}))'
      return with_comment(f"{checkpoint}.write({path})", why)
    number = f"checkpoint_number={saved.number}, " if saved.number else ""
    return [f"{manager}.save({number}check_interval=False)"]

  def _instead_of(self, place: Union[ast.Call, ast.If]) -> list[str]:
    return reading.instead(self._module, self._unit, place)

  # -- a unit that writes single files ------------------------------------------------------

  def _is_written_once(self) -> bool:
    """Whether each save makes a file of its own, which nobody looks for in a directory."""
    if not self._is_saver or any(p.number is not None for p in self._places):
      return False
    looped = any(
      isinstance(a, (ast.For, ast.While))
      for p in self._places
      for a in self._module.ancestors(p.call)
    )
    return not looped and not any(
      self._is_own(r, self._places[0].place.directory) for r in self._restored
    )

  def _changing(self) -> list[str]:
    """Names in the paths of a Saver which make each save one of another name."""
    if not self._is_saver:
      return []
    of_each = [varying.changing(self._module, self._unit, p) for p in self._places]
    return [n for names in of_each for n in names] if all(of_each) else []

  def _writing(self, changing: list[str]) -> list[str]:
    checkpoint, step, _ = self._names
    lines = ["from migrator import runtime", *self._checkpoint()]
    if any(p.number == "" for p in self._places):
      lines.append(f'{step} = {checkpoint}.by_name["global_step"]')
    calls = []
    for restored in self._restored:
      read = restored.directory or restored.text
      loading = f"runtime.load_tf1_checkpoint({checkpoint}, {read})"
      calls.append(
        (
          restored.call.lineno,
          [*self._instead_of(restored.call), *with_comment(loading, "of the old program")],
        )
      )
    for saved in self._places:
      path = saved.text
      # The number in the text itself is a part of it; that of `global_step=` is not.
      if saved.number is not None and saved.number != saved.place.number:
        path = f'"%s-%d" % ({path}, int({saved.number or step}))'
      calls.append(
        (saved.call.lineno, [*self._instead_of(saved.call), f"{checkpoint}.write({path})"])
      )
    if changing:
      names = ", ".join(f"`{n}`" for n in dict.fromkeys(changing))
      keep = self._policy.keep[0].partition("=")[2]
      kept = f"the newest {keep}: the program has to delete the older ones itself"
      kept = "all of them" if keep in ("None", "0") else kept
      self._policy.questions.append(
        f"{spell([p.call.lineno for p in self._places])}: the name changes with each save ({names}), which no manager "
        f"can do. The Saver kept {kept}."
      )
    self._policy.questions.append(
      "`write` makes the file of this name, and no `checkpoint` file beside it for "
      "`latest_checkpoint`."
    )
    return [*lines, *(line for _, some in sorted(calls) for line in some)]
