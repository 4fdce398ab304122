"""Compares what the two programs did; pure functions over their outcomes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Optional

from migrator.verify.session import Kill, Outcome, Side

EXACT = 1e-6
STOCK = 1e-5


@dataclasses.dataclass(frozen=True)
class Cell:
  """One migrated run in one check.

  Attributes:
    text: What was found.
    equal: Whether it is what the legacy program did; None: it cannot be compared.
  """

  text: str
  equal: Optional[bool]


@dataclasses.dataclass(frozen=True)
class Check:
  """One row of the report: a property, the legacy program's, and each migrated run's."""

  name: str
  legacy: str
  cells: list[Cell]


@dataclasses.dataclass(frozen=True)
class Report:
  """The result of a comparison.

  Attributes:
    labels: One per migrated run, e.g. "TF 2.21.0".
    checks: In the order in which they are shown.
    notes: What could not be compared, and why.
  """

  legacy_label: str
  labels: list[str]
  checks: list[Check]
  notes: list[str]

  @property
  def equal(self) -> bool:
    return all(cell.equal is not False for check in self.checks for cell in check.cells)


def compare(
  legacy: Side,
  again: Optional[Outcome],
  sides: Sequence[Side],
  tolerance: float = STOCK,
  steps: Optional[int] = None,
) -> Report:
  """Compares all runs.

  Args:
    legacy: The legacy program's runs.
    again: Its second run from its own first checkpoint; None: it saves no checkpoint.
    sides: The migrated program's runs.
    tolerance: Of losses, evaluations and predictions, relative.
    steps: Compare the losses of so many steps only; None: of all.
  """
  checks = [
    _values("saved steps", legacy.fresh.run.saved_steps, [s.fresh.run.saved_steps for s in sides]),
    _values("steps on disk", legacy.fresh.on_disk, [s.fresh.on_disk for s in sides]),
    _values("steps in the state file", legacy.fresh.listed, [s.fresh.listed for s in sides]),
  ]
  notes: list[str] = []
  for step in legacy.kills:
    pairs = [side.kills[step] for side in sides]
    checks += _kill_checks(step, legacy.kills[step], pairs, notes)
  if again is None:
    notes.append("The legacy program saves no checkpoint: no common start, losses not compared.")
  else:
    checks += _checks_from_same_checkpoint(legacy, again, sides, tolerance, steps, notes)
  return Report(_label(legacy), [_label(side) for side in sides], checks, notes)


def _checks_from_same_checkpoint(
  legacy: Side,
  again: Outcome,
  sides: Sequence[Side],
  tolerance: float,
  steps: Optional[int],
  notes: list[str],
) -> list[Check]:
  """Checks of the runs that began with the same weights."""
  difference = loss_difference(legacy.fresh.run.losses, again.run.losses)
  deterministic = difference is not None and difference <= tolerance / 2
  if not deterministic:
    notes.append(
      "Two runs of the legacy program from the same checkpoint have different losses (shuffled "
      "data or dropout?): the values of losses, evaluations and predictions cannot be compared. If "
      "the program has a switch for it, give it after --."
    )
  started = [side.started for side in sides if side.started]
  losses = _losses(legacy.fresh, started, tolerance, steps, deterministic)
  changed = [side.changed() for side in sides]
  cells = [Cell(", ".join(names) or "unchanged", not names) for names in changed]
  results = _results(legacy.fresh, started, tolerance, deterministic)
  if any(cell.equal is False and ", from step" in cell.text for cell in losses.cells):
    notes.append(
      "Stock Adam rounds otherwise than TF1's, and a rarely active ReLU unit makes much of that. If the "
      "losses part late and little, repeat (the initial weights are new each time), or decide with "
      "the program that `migrator rewrite --exact` makes and --tolerance 1e-6."
    )
  close = all(cell.equal for cell in losses.cells)
  if close and not all(cell.equal for check in results for cell in check.cells):
    notes.append(
      "The losses agree, results at the end do not: a stock optimizer rounds otherwise than TF1's, "
      "and this grows with the steps. Train fewer steps, or rewrite with --exact."
    )
  return [losses, Check("files of the old directory", "", cells), *results]


def _label(side: Side) -> str:
  return f"TF {side.version}"


def _values(name: str, legacy: Any, migrated: Sequence[Any]) -> Check:
  """A check for equality."""
  cells = [Cell("same" if v == legacy else show(v), v == legacy) for v in migrated]
  return Check(name, show(legacy), cells)


def show(value: Any, longest: int = 12) -> str:
  """Returns a short text; consecutive steps become 3..7, long lists lose their middle.

  Args:
    value: Steps, or something else.
    longest: How many items are shown.
  """
  if not isinstance(value, list):
    return str(value)
  runs: list[list[int]] = []
  for step in value:
    if runs and step == runs[-1][1] + 1:
      runs[-1][1] = step
    else:
      runs.append([step, step])
  texts: list[str] = []
  for first, last in runs:
    texts += [f"{first}..{last}"] if last - first > 1 else map(str, range(first, last + 1))
  if len(texts) > longest:
    texts = [*texts[: longest // 2], "...", *texts[-(longest // 2) :]]
  return " ".join(texts) or "none"


def _kill_checks(step: int, legacy: Kill, pairs: Sequence[Kill], notes: list[str]) -> list[Check]:
  """Checks of the runs around a kill after one step."""
  killed, restarted = legacy
  if killed is None:
    notes.append(f"The legacy program never completed step {step}: nothing was killed there.")
    return []
  reached = [pair for pair in pairs if pair[0] is not None]
  checks = [
    _values("steps on disk", killed.on_disk, [before.on_disk for before, _ in reached if before]),
    _values("resumes at", restarted.run.resumed_at, [p[1].run.resumed_at for p in reached]),
    _values("saves then", restarted.run.saved_steps, [p[1].run.saved_steps for p in reached]),
    _values("steps on disk then", restarted.on_disk, [after.on_disk for _, after in reached]),
  ]
  missed = Cell(f"never completed step {step}", False)
  results = []
  for check in checks:
    found = iter(check.cells)
    cells = [missed if killed is None else next(found) for killed, _ in pairs]
    results.append(Check(f"killed after step {step}: {check.name}", check.legacy, cells))
  return results


def _losses(
  legacy: Outcome,
  outcomes: Sequence[Outcome],
  tolerance: float,
  steps: Optional[int],
  deterministic: bool,
) -> Check:
  """The check of the losses of each step."""
  every = legacy.run.losses
  reference = every[:steps]
  cells = []
  for outcome in outcomes:
    found = outcome.run.losses
    if loss_difference(every, found) is None:
      cells.append(Cell(f"other steps: {show([step for step, _ in found])}", False))
      continue
    difference = loss_difference(reference, found[:steps]) or 0.0
    text = f"max difference {difference:.1e}"
    if deterministic and difference > tolerance:
      pairs = zip(reference, found)
      first = next(a[0] for a, b in pairs if relative_difference(a[1], b[1]) > tolerance)
      text += f", from step {first}"
    cells.append(Cell(text, difference <= tolerance if deterministic else None))
  extent = f"{len(reference)} steps"
  if len(reference) < len(every):
    extent = f"first {len(reference)} of {len(every)} steps"
  return Check(f"losses from the same checkpoint, {extent}", f"within {tolerance:g}", cells)


def relative_difference(first: float, second: float, scale: Optional[float] = None) -> float:
  """Returns |first - second| / scale; two NaNs are equal.

  Args:
    first: A number.
    second: Another.
    scale: Default: the greater of the magnitudes.
  """
  if math.isnan(first) or math.isnan(second) or math.isinf(first) or math.isinf(second):
    same = first == second or (math.isnan(first) and math.isnan(second))
    return 0.0 if same else math.inf
  if first == second:
    return 0.0
  return abs(first - second) / (scale or max(abs(first), abs(second)))


def loss_difference(
  first: Sequence[tuple[int, float]], second: Sequence[tuple[int, float]]
) -> Optional[float]:
  """Returns the greatest relative difference; None if the steps are not the same."""
  if [step for step, _ in first] != [step for step, _ in second]:
    return None
  return max((relative_difference(a, b) for (_, a), (_, b) in zip(first, second)), default=0.0)


def _results(
  legacy: Outcome, outcomes: Sequence[Outcome], tolerance: float, deterministic: bool
) -> list[Check]:
  """Checks of what evaluate() and predict() gave."""
  checks = []
  for name in ("evaluations", "predictions"):
    expected = getattr(legacy.run, name)
    found = [getattr(outcome.run, name) for outcome in outcomes]
    if not expected and not any(found):
      continue
    rows = "calls" if name == "evaluations" else "rows"
    cells = []
    for rows_found in found:
      fault = result_fault(expected, rows_found, tolerance, deterministic)
      cells.append(Cell(fault or ("same" if deterministic else "same keys and types"), not fault))
    checks.append(Check(name, f"{len(expected)} {rows}", cells))
  return checks


def result_fault(
  expected: Sequence[dict[str, Any]],
  found: Sequence[dict[str, Any]],
  tolerance: float,
  values: bool = True,
) -> str:
  """Returns the first difference between two lists of {key: [dtype, value]}; "" if there is none.

  Args:
    expected: The legacy program's.
    found: The migrated program's.
    tolerance: Of floating point values, relative to the largest of the array.
    values: Whether to compare values, or keys and types only.
  """
  if len(expected) != len(found):
    return f"{len(found)} instead of {len(expected)}"
  for number, (left, right) in enumerate(zip(expected, found), 1):
    if set(left) != set(right):
      missing, more = sorted(set(left) - set(right)), sorted(set(right) - set(left))
      return f"{number}: keys missing {missing}, more {more}"
    for key, (dtype, value) in left.items():
      other_dtype, other = right[key]
      if dtype != other_dtype:
        return f"{number}: {key} is {other_dtype}, not {dtype}"
      if values and not _same_value(value, other, tolerance):
        return f"{number}: {key} is {_short(other)}, not {_short(value)}"
  return ""


def _flat(value: Any) -> list[Any]:
  if isinstance(value, list):
    return [item for part in value for item in _flat(part)]
  return [value]


def _shape(value: Any) -> list[int]:
  return [len(value), *(_shape(value[0]) if value else [])] if isinstance(value, list) else []


def _same_value(expected: Any, found: Any, tolerance: float) -> bool:
  if _shape(expected) != _shape(found):
    return False
  left, right = _flat(expected), _flat(found)
  numbers = [abs(v) for v in left + right if isinstance(v, float) and math.isfinite(v)]
  scale = max(numbers, default=0.0) or 1.0
  return all(
    relative_difference(a, b, scale) <= tolerance if isinstance(a, float) else a == b
    for a, b in zip(left, right)
  )


def _short(value: Any) -> str:
  text = str(value)
  return text if len(text) <= 40 else text[:37] + "..."
