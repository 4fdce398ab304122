"""Runs a program in a scenario, on both sides, and keeps what it did for all rows of a table."""

import dataclasses

import harness
from hooks import lines

from migrator.verify import directories

MODEL_DIR = ("--model_dir", "{model_dir}")


@dataclasses.dataclass(frozen=True)
class Story:
  """What the processes of one scenario did, one after the other in one directory.

  Attributes:
    lines: All that they printed.
    errors: What they wrote to stderr, by lines.
    saved: Steps of the saved checkpoints, in order.
    resumed: The step at which each training began.
    kept: Steps of the checkpoint files in the end.
    listed: Steps that the state file lists in the end.
    scratch: Where they ran.
    changed: Names of files of the old directory that were changed.
  """

  lines: list
  errors: list
  saved: list
  resumed: list
  kept: list
  listed: list
  scratch: object
  changed: list

  def cell(self, hook):
    """Returns what the table says of this story in the row of a hook."""
    if hook == "all:":
      return str(len(self.lines))
    if hook.endswith(":"):
      return ",".join(map(str, getattr(self, hook[:-1]))) or "none"
    return str(len(lines.of(hook, self.lines)))

  def of(self, hook):
    """Returns what is compared in the row of a hook: lines."""
    if hook == "all:":
      return self.lines
    if hook.endswith(":"):
      return [self.cell(hook)]
    return lines.of(hook, self.lines)


class Stories:
  """The stories of the programs, each told once.

  Args:
    lab: harness.Lab.
    scenarios: By name, the arguments of each process that runs one after the other.
  """

  def __init__(self, lab, scenarios):
    self._lab = lab
    self._scenarios = scenarios
    self._told = {}

  def legacy(self, program, scenario):
    """Returns what the real hooks did under the real Estimator."""
    key = program, scenario
    if key not in self._told:
      path = harness.before(program)
      self._told[key] = self._tell(path, scenario, self._lab.scratch(), legacy=True)
    return self._told[key]

  def migrated(self, program, scenario, target, python):
    """Returns what the migrated hooks did, begun with the legacy program's first checkpoint."""
    key = program, scenario, target, python
    if key not in self._told:
      scratch = self._lab.scratch()
      first = self.legacy(program, scenario).scratch.first
      directories.start_from(first, scratch.cwd / "model_dir")
      path = harness.after(program, target)
      self._told[key] = self._tell(path, scenario, scratch, python=python)
    return self._told[key]

  def _tell(self, path, scenario, scratch, **options):
    told, changed = [], []
    for number, arguments in enumerate(self._scenarios[scenario]):
      more = dict(options)
      if options.get("legacy") and not number:
        more.update(seed=1, first=True)
      else:
        more.update(model_dir="model_dir")
      outcome = self._lab.start(path, (*MODEL_DIR, *arguments), scratch, **more)
      told.append(outcome)
      changed += outcome.changed
    runs = [outcome.run for outcome in told]
    return Story(
      lines=[line for run in runs for line in run.output.splitlines()],
      errors=[line for run in runs for line in run.errors.splitlines()],
      saved=[step for run in runs for step in run.saved_steps],
      resumed=[step for run in runs for step in run.resumed_at],
      kept=told[-1].on_disk,
      listed=told[-1].listed,
      scratch=scratch,
      changed=changed,
    )


def assert_row(stories, row, target, python):
  """Asserts that the real hook did what the table says, and that the migrated one did the same."""
  legacy = stories.legacy(row.program, row.scenario)
  assert legacy.cell(row.hook) == row.expected, "\n".join(legacy.of(row.hook))
  migrated = stories.migrated(row.program, row.scenario, target, python)
  assert lines.difference(legacy.of(row.hook), migrated.of(row.hook)) is None
  assert migrated.changed == []
