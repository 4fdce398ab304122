"""What a conversion says: as text and as data."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, Optional

from migrator.checkpoint.wording import plural, size


@dataclasses.dataclass
class Report:
  """Everything there is to say about the conversion of one checkpoint.

  Attributes:
    source: prefix of the source.
    dialect: how it spells names.
    step: the global step, None without one.
    optimizers: one text for each optimizer.
    format: of the output.
    out: the path or prefix of the output.
    variables: how many variables are written, slots and numbers not counted.
    slots: how many slots are written.
    others: how many other tensors are written.
    num_bytes: of all that is written.
    renamed: name in the output -> keys of the source, where they differ; without slots.
    slots_renamed: the same of the slots.
    changed: name in the output -> what is done to the value.
    missing: names of the model that the source does not have; only in a dry run.
    unused: keys of the source that are not in the output.
    skipped: names that are left out because the format does not have their type.
    notes: sentences on the source and the plan.
    remarks: sentences on the output.
    dry_run: whether nothing was written.
    way: "linked", "copied" or "written".
    reason: why the data are not linked.
    shared: bytes shared with the source.
    dead: bytes among them that the output does not use.
    copied: bytes copied.
    new: bytes written anew.
    files: paths of the output.
    state_file: the state file that names the output, None if none does.
    verified: None if nothing was read back, else the numbers of tensors, linked and compared bytes.
    seconds: of the parts of the work.
  """

  source: str
  dialect: str
  step: Optional[int]
  optimizers: list[str]
  format: str
  out: str
  variables: int = 0
  slots: int = 0
  others: int = 0
  num_bytes: int = 0
  renamed: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
  slots_renamed: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
  changed: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
  missing: list[str] = dataclasses.field(default_factory=list)
  unused: list[str] = dataclasses.field(default_factory=list)
  skipped: list[str] = dataclasses.field(default_factory=list)
  notes: list[str] = dataclasses.field(default_factory=list)
  remarks: list[str] = dataclasses.field(default_factory=list)
  dry_run: bool = False
  way: str = ""
  reason: str = ""
  shared: int = 0
  dead: int = 0
  copied: int = 0
  new: int = 0
  files: list[str] = dataclasses.field(default_factory=list)
  state_file: Optional[str] = None
  verified: Optional[dict[str, int]] = None
  seconds: dict[str, float] = dataclasses.field(default_factory=dict)

  def to_dict(self) -> dict[str, Any]:
    """Returns the report as what JSON can hold."""
    data = dataclasses.asdict(self)
    data["seconds"] = {name: round(value, 3) for name, value in self.seconds.items()}
    return data

  def plan_lines(self) -> list[str]:
    """Returns what will be done: said before anything is written."""
    step = "no step" if self.step is None else f"step {self.step}"
    lines = [f"{self.source}: {self.dialect}, {step}"]
    if self.optimizers:
      lines.append(f"  optimizer: {'; '.join(self.optimizers)}")
    counts = [(self.variables, "variable"), (self.slots, "slot"), (self.others, "other value")]
    counted = ", ".join(plural(n, what) for n, what in counts if n)
    lines.append(f"  {counted or 'nothing'}, {size(self.num_bytes)} -> {self.out} ({self.format})")
    lines += _listed("under another name", [f"{n} <- {_keys(k)}" for n, k in self.renamed.items()])
    slots = [f"{n} <- {_keys(k)}" for n, k in self.slots_renamed.items()]
    lines += _listed("slots under another name", slots, _FEW)
    lines += _listed("changed", [f"{n}: {', '.join(c)}" for n, c in self.changed.items()])
    lines += _listed("MISSING in the checkpoint", self.missing)
    lines += _listed("not used", self.unused)
    lines += _listed("left out", self.skipped)
    lines += [f"  note: {note}" for note in self.notes]
    return lines

  def result_lines(self) -> list[str]:
    """Returns what was done."""
    lines = []
    if self.way == "linked":
      dead = f", {size(self.dead)} of them not used by it" if self.dead else ""
      lines.append(
        f"  linked: {size(self.shared)} shared with the source{dead}; {size(self.new)} new"
      )
    elif self.way == "copied":
      because = f" (not linked: {self.reason})" if self.reason else ""
      lines.append(f"  copied: {size(self.copied)}{because}; {size(self.new)} new")
    else:
      lines.append(f"  written: {size(self.new)}")
    if self.verified is None:
      lines.append("  not read back")
    else:
      linked = self.verified["linked"]
      parts = [f"{size(linked)} are the source's own file"] if linked else []
      parts += [f"{size(self.verified['compared'])} compared"]
      lines.append(
        f"  read back: {plural(self.verified['tensors'], 'tensor')} equal bit for bit, "
        f"{', '.join(parts)}"
      )
    lines += [f"  note: {remark}" for remark in self.remarks]
    lines += [f"  {_near(path)}" for path in self.files]
    if self.state_file:
      lines.append(f"  {_near(self.state_file)} names it")
    return lines


_MANY, _FEW = 200, 3


def _near(path: str) -> str:
  """Returns a path relative to the current directory, if it is below."""
  relative = os.path.relpath(path)
  return path if relative.startswith(os.pardir) else relative


def _listed(title: str, items: list[str], shown: int = _MANY) -> list[str]:
  """Returns a heading with its items, none if there are none."""
  if not items:
    return []
  lines = [f"  {title}: {len(items)}", *(f"    {item}" for item in items[:shown])]
  if len(items) > shown:
    lines.append(f"    and {len(items) - shown} more (--json lists all)")
  return lines


def _keys(keys: tuple[str, ...]) -> str:
  return keys[0] if len(keys) == 1 else f"{keys[0]} and {len(keys) - 1} other parts"
