"""The TF2 code for the checkpoints of a session unit, to be shown: it is not put into the file."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Sequence

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.finding import Finding
from migrator.rewrite import emit
from migrator.rewrite.sessions import found, graph, policy, restores, steps
from migrator.rewrite.sessions.found import Unit
from migrator.rewrite.sessions.policy import source

_WIDTH = 96
# What takes the place of a hook; for others the rewrite of hook classes says it.
_COUNTERPARTS = {
  "LoggingTensorHook": "runtime.LoggingTensor",
  "StepCounterHook": "runtime.StepCounter",
  "NanTensorHook": "runtime.NanTensor",
  "FinalOpsHook": "runtime.FinalOps",
  "ProfilerHook": "runtime.Profiler",
}


class Proposal:
  """The code for one unit, and what stands around it.

  Attributes:
    text: a block of Python: comments say what has to change first and which lines the code replaces.
    saves: whether anything is saved; else it is about reading only.
    applies: whether the unit saves or reads anything at all.
    questions: how many things a person has to decide first.
  """

  def __init__(self, module: Module, unit: Unit, names: Sequence[str], lint: Iterable[Finding]):
    self._module = module
    self._unit = unit
    self._lint = list(lint)
    self._checkpoint, self._step, self._manager = names
    self._policy = policy.of(module, unit)
    self._trains = graph.trains(module)
    self._style = emit.Style("  ", _WIDTH)
    self._places = [p for p in (steps.of(module, unit, c) for c in unit.saves) if p is not None]
    self.saves = bool(self._places or self._policy.cadence)
    self.applies = self.saves or bool(self._restored() or self._reads_by_itself())
    self.text = "\n".join(self._lines()) + "\n"
    self.questions = len(self._policy.questions)

  def _lines(self) -> list[str]:
    body = self._saving() if self.saves else self._reading()
    changes = graph.changes(self._module, self._unit, self.saves, self._lint)
    head: list[str] = []
    if changes:
      head += ["# To change first:", *_comments([f"- {c}" for c in changes])]
    if self._policy.questions:
      head += ["# To know, or to decide:", *_comments([f"- {q}" for q in self._policy.questions])]
    return [*head, *body]

  # -- code ------------------------------------------------------------------------------

  def _saving(self) -> list[str]:
    unit = self._unit
    directory, name, keep = self._place()
    old = self._restored_from(directory)
    lines = self._head(old)
    lines += [f"# In place of {graph.spell([c.lineno for c in (unit.call, *unit.others)])}:"]
    optimizer = "optimizer" if self._trains else "None"
    lines += [
      f"{self._checkpoint} = runtime.named_checkpoint(model, {optimizer})",
      f'{self._step} = {self._checkpoint}.by_name["global_step"]',
    ]
    arguments = [self._checkpoint, f'os.path.join({directory}, "tf2")']
    arguments.append(f"step_counter={self._step}")
    arguments += [self._policy.cadence] if self._policy.cadence else []
    arguments += keep
    arguments += [f"checkpoint_name={name}"] if name != '"model.ckpt"' else []
    if not self._policy.recovers:
      arguments.append("recover_last_checkpoints=False")
    if old:
      loading = f"functools.partial(runtime.load_tf1_checkpoint, {self._checkpoint}, {old})"
      arguments.append(f"init_fn={loading}")
    head = f"{self._manager} = runtime.CheckpointManager("
    lines += emit.bracketed(head, arguments, ")", self._style)
    if unit.kind in (found.SAVER, found.META_GRAPH):
      lines += self._calls(directory, name)
    else:
      lines += self._loop()
      lines += self._calls(directory, name)
    return lines

  def _head(self, old: str) -> list[str]:
    return [*(["import functools"] if old else []), "import os", "from migrator import runtime"]

  def _place(self) -> tuple[str, str, list[str]]:
    """Directory, name and what is kept."""
    keep = list(self._policy.keep)
    if self._policy.directory or not self._places:
      return self._policy.directory or "MODEL_DIR", self._policy.name, keep
    numbered = [p for p in self._places if p.number is not None]
    first = (numbered or self._places)[0]
    if not numbered:
      keep = ["keep_checkpoint_max=1"]
      self._policy.questions.append(
        f"{graph.spell([p.call.lineno for p in self._places])}: without `global_step=` each save replaced the one before. "
        "One checkpoint stays here as well; its name has the step."
      )
    return first.place.directory, first.place.name, keep

  def _restored_from(self, directory: str) -> str:
    """The place of the old checkpoints, if the program goes on from there."""
    if self._unit.kind not in (found.SAVER, found.META_GRAPH):
      return self._policy.directory
    for restored in self._restored():
      if restored.directory:
        return restored.directory
    return directory if self._restored() else ""

  def _restored(self) -> list[restores.Restored]:
    return [r for r in (restores.of(self._module, c) for c in self._unit.restores) if r is not None]

  def _reads_by_itself(self) -> bool:
    """Whether the session restores without being told."""
    path = self._unit.arguments.get("checkpoint_filename_with_path")
    return bool(self._policy.directory) or path is not None

  def _calls(self, directory: str, name: str) -> list[str]:
    """The lines in place of `restore` and `save`."""
    lines: list[tuple[int, list[str]]] = []
    if self._unit.kind in (found.SAVER, found.META_GRAPH):
      for restored in self._restored():
        code = f"{self._manager}.restore_or_initialize()"
        lines.append((restored.call.lineno, [self._instead(restored.call), code]))
    for saved in self._places:
      saving = self._save(saved, directory, name)
      lines.append((saved.call.lineno, [self._instead(saved.call), *saving]))
    return [line for _, some in sorted(lines) for line in some]

  def _save(self, saved: steps.Saved, directory: str, name: str) -> list[str]:
    same = saved.place.directory == directory and saved.place.name == name
    if saved.keeps_no_state or not (same or self._policy.directory):
      why = "no list of it, never deleted" if saved.keeps_no_state else "beside the manager's"
      return [f"{self._checkpoint}.write({self._own_path(saved)})  # {why}"]
    number = f"checkpoint_number={saved.number}, " if saved.number else ""
    return [f"{self._manager}.save({number}check_interval=False)"]

  def _own_path(self, saved: steps.Saved) -> str:
    """The path of a checkpoint that the manager does not know."""
    if saved.number is None or saved.place.number:
      return saved.text
    return f'"%s-%d" % ({saved.text}, int({saved.number or self._step}))'

  def _instead(self, call: ast.Call) -> str:
    shown = values.text(self._module, call, 80)
    return f"# In place of line {call.lineno}, `{shown}`:"

  def _loop(self) -> list[str]:
    """The loop of a monitored session or Supervisor."""
    manager = self._manager
    lines = ["# In place of the loop of the session:"]
    lines.append(f"{manager}.restore_or_initialize()")
    stop, last = self._stop()
    lines += stop
    saves = bool(self._policy.cadence)
    lines += [f"{manager}.save()  # at the start"] if saves else []
    lines += self._hooks()
    lines += self._summaries()
    lines += ["for batch in dataset:", "  train_step(batch)"]
    lines += [f"  {manager}.save()  # when due"] if saves else []
    lines += last
    if saves and self._policy.saves_last:
      lines.append(f"{manager}.save(check_interval=False)  # at the end, not after an exception")
    return lines

  def _stop(self) -> tuple[list[str], list[str]]:
    """The statements for a StopAtStepHook: before the loop, and in it."""
    before: list[str] = []
    inside: list[str] = []
    for hook in self._unit.hooks:
      if not values.is_call_of(self._module, hook, (found.STOP_HOOK,)):
        continue
      assert isinstance(hook, ast.Call)
      arguments = found.bind(self._module, hook, found.STOP_HOOK)
      last, number = arguments.get("last_step"), arguments.get("num_steps")
      if last is not None:
        limit = _operand(self._module, last)
      elif number is not None:
        limit = "last_step"
        before.append(f"last_step = int({self._step}) + {_operand(self._module, number)}")
      else:
        continue
      inside += [
        f"  if {self._step} >= {limit}:  # asked after a step: a finished program makes one more",
        "    break",
      ]
    return before, inside

  def _hooks(self) -> list[str]:
    """A comment for each of the other hooks."""
    lines = []
    for hook in self._unit.hooks:
      if values.is_call_of(self._module, hook, (found.STOP_HOOK, found.SAVER_HOOK)):
        continue
      text = values.text(self._module, hook)
      symbol = self._module.resolve(hook.func) if isinstance(hook, ast.Call) else None
      name = symbol.path.rpartition(".")[2] if symbol is not None else ""
      new = f": `{_COUNTERPARTS[name]}`" if name in _COUNTERPARTS else " becomes a callback"
      line = getattr(hook, "lineno", 0)
      lines += _comments([f"line {line}, `{text}`{new}, called around `train_step`."])
    return lines

  def _summaries(self) -> list[str]:
    """A comment for the summaries that a MonitoredTrainingSession writes of itself."""
    arguments = self._unit.arguments
    if self._unit.kind != found.TRAINING_SESSION or not self._policy.directory:
      return []
    shown = {}
    for name in ("summary_dir", "log_step_count_steps", "save_summaries_steps"):
      node = arguments.get(name)
      shown[name] = source(self._module, node) if node is not None else "100"
    place = shown["summary_dir"] if "summary_dir" in arguments.nodes else self._policy.directory
    counter = f"every_n_steps={shown['log_step_count_steps']}, output_dir={place}"
    every = f"{shown['save_summaries_steps']} steps"
    if "save_summaries_secs" in arguments.nodes:
      every = f"{source(self._module, arguments.nodes['save_summaries_secs'])} seconds"
    return _comments(
      [
        f"The session wrote global_step/sec of itself: `runtime.StepCounter({counter})`; and the "
        f"graph's summaries, every {every}: `tf.summary` in `train_step`."
      ]
    )

  def _reading(self) -> list[str]:
    """Code for a unit that only restores."""
    unit, module = self._unit, self._module
    lines = ["import os", "import tensorflow as tf", "from migrator import runtime"]
    averages = ', weights="ema"' if restores.takes_averages(module, unit.saver) else ""
    read = [(r.call, r.directory or r.text, bool(r.directory)) for r in self._restored()]
    if not read and self._policy.directory:
      read = [(unit.call, self._policy.directory, True)]
    path = unit.arguments.get("checkpoint_filename_with_path")
    if path is not None and values.literal(module, path) is not None:
      read = [(unit.call, source(module, path), False)]
    for call, text, is_directory in read:
      lines.append(self._instead(call))
      lines.append(f"runtime.load_tf1_checkpoint(model, {text}{averages})  # of the old program")
      newest = f'tf.train.latest_checkpoint(os.path.join({text}, "tf2"))' if is_directory else text
      lines.append("# Where the migrated program saves, its checkpoint instead:")
      lines.append(f"#   runtime.named_checkpoint(model, None).restore({newest})")
    return lines


def _operand(module: Module, node: ast.expr) -> str:
  text = source(module, node)
  simple = (ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.Subscript)
  return text if isinstance(node, simple) else f"({text})"


def _comments(texts: Iterable[str]) -> list[str]:
  lines = []
  for text in texts:
    first, rest = ("#   ", "#     ") if text.startswith("- ") else ("# ", "#   ")
    lines += textwrap.wrap(
      text,
      _WIDTH,
      initial_indent=first,
      subsequent_indent=rest,
      break_long_words=False,
      break_on_hyphens=False,
    )
  return lines
