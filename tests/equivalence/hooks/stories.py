"""Runs a program in a scenario, on both sides, and keeps what it did for all rows of a table."""

import contextlib
import dataclasses
import itertools
import re

import harness
import pytest
from hooks import lines, reported, table

from migrator.verify import directories, runs

MODEL_DIR = ("--model_dir", "{model_dir}")
# Programs whose hooks can be made in a graph only.
OF_GRAPHS = ("hooks_built_in",)
GRAPH_MODE = harness.HERE / "hooks" / "graph_mode.py"
LOGGED = "INFO:tensorflow:"
EVALUATED = "Saving dict for global step"
SECONDS = re.compile(r"(?<=\()\d+\.\d+(?= sec\))|(?<=global_step/sec: )\S+")


@dataclasses.dataclass(frozen=True)
class Story:
  """What the processes of one scenario did, one after the other in one directory.

  Attributes:
    lines: All that they printed.
    logged: What they logged, without the time that something took.
    saved: Steps of the saved checkpoints, in order.
    resumed: The step at which each training began.
    kept: Steps of the checkpoint files in the end.
    listed: Steps that the state file lists in the end.
    scratch: Where they ran.
    changed: Names of files of the old directory that were changed.
  """

  lines: list
  logged: list
  saved: list
  resumed: list
  kept: list
  listed: list
  scratch: object
  changed: list

  def cell(self, hook):
    """Returns what the table says of this story in the row of a hook."""
    found = self.of(hook)
    return found[0] if hook in ("saved:", "kept:", "resumed:") else str(len(found))

  def of(self, hook):
    """Returns what is compared in the row of a hook: lines."""
    if hook == "all:":
      return self.lines
    if hook == "steps:":
      return list(itertools.dropwhile(lambda line: " before_run" not in line, self.lines))
    if hook in table.OF_THE_RUN:
      return [",".join(map(str, getattr(self, hook[:-1]))) or "none"]
    return lines.of(hook, self.lines + self.logged)


def logged(errors):
  """Returns the lines that TensorFlow's logger wrote to stderr, without times.

  Those of an evaluation begin with "evaluated".
  """
  found = [line for line in errors.splitlines() if line.startswith(LOGGED)]
  found = [SECONDS.sub("*", line[len(LOGGED) :]) for line in found]
  return [line.replace(EVALUATED, "evaluated") for line in found]


class Stories:
  """The stories of the programs, each told once.

  Args:
    lab: harness.Lab.
    scenarios: By program and name, the arguments of each process that runs one after the other.
  """

  def __init__(self, lab, scenarios):
    self._lab = lab
    self._scenarios = scenarios
    self._told = {}

  def legacy(self, program, scenario):
    """Returns what the real hooks did under the real Estimator, from its own first checkpoint."""
    return self._once((program, scenario), lambda: self._from_first(program, scenario))

  def migrated(self, program, scenario, target, python):
    """Returns what the migrated hooks did, from the same checkpoint."""
    key = program, scenario, target, python
    return self._once(key, lambda: self._from_first(*key))

  def _from_first(self, program, scenario, target=None, python=None):
    scratch = self._lab.scratch()
    directories.start_from(self._first(program), scratch.cwd / "model_dir")
    path = harness.before(program) if target is None else harness.after(program, target)
    arguments = self._scenarios[program][scenario]
    return self._tell(program, path, arguments, scratch, python=python, legacy=target is None)

  def _first(self, program):
    """Returns the directory of a checkpoint with which all of a program's stories begin."""

    def make():
      scratch = self._lab.scratch()
      options = {"seed": 1, "first": True, "legacy": True}
      self._tell(program, harness.before(program), [()], scratch, **options)
      return scratch.first

    return self._once(program, make)

  def _once(self, key, tell):
    """Returns the story, or raises again why it could not be told."""
    if key not in self._told:
      try:
        self._told[key] = tell()
      except runs.CannotRunError as error:
        self._told[key] = error
    found = self._told[key]
    if isinstance(found, Exception):
      raise found
    return found

  def _tell(self, program, path, processes, scratch, **options):
    told = []
    if options["legacy"] and program in OF_GRAPHS:
      processes = [(str(path), *MODEL_DIR, *arguments) for arguments in processes]
      path = GRAPH_MODE
    else:
      processes = [(*MODEL_DIR, *arguments) for arguments in processes]
    if "first" not in options:
      options["model_dir"] = "model_dir"
    for arguments in processes:
      told.append(self._lab.start(path, arguments, scratch, **options))
    made = [outcome.run for outcome in told]
    return Story(
      lines=[line for run in made for line in run.output.splitlines()],
      logged=[line for run in made for line in logged(run.errors)],
      saved=[step for run in made for step in run.saved_steps],
      resumed=[step for run in made for step in run.resumed_at],
      kept=told[-1].on_disk,
      listed=told[-1].listed,
      scratch=scratch,
      changed=[name for outcome in told for name in outcome.changed],
    )


@contextlib.contextmanager
def telling(directory, legacy_python, target_pythons, scenarios):
  """Gives Stories whose programs run operations one at a time.

  A session orders a read of the global step and its increment in no way: fork_server.py says what
  orders them here. The migrated hook reads the step before the increment.
  """
  with pytest.MonkeyPatch.context() as patch:
    patch.setenv("TF_NUM_INTEROP_THREADS", "1")
    patch.setenv("MIGRATOR_SERIAL_SESSIONS", "1")
    lab = harness.Lab(directory, legacy_python, target_pythons)
    yield Stories(lab, scenarios)
    lab.close()


def difference(stories, row, target, python):
  """Compares a row of a table with the real hook, and the migrated hook with the real one.

  Of what the rewriter reports with EM306, EM313 or EM323 just that may differ.

  Returns:
    What differs; "" if nothing does.
  """
  legacy = stories.legacy(row.program, row.scenario)
  expected = legacy.of(row.hook)
  if legacy.cell(row.hook) != row.expected:
    return "\n".join([f"the real hook: {legacy.cell(row.hook)}", *expected])
  migrated = stories.migrated(row.program, row.scenario, target, python)
  if migrated.changed:
    return f"changed: {migrated.changed}"
  found = migrated.of(row.hook)
  if row.scenario == "input_ends":
    expected = reported.without_last_before_run(expected)
  if row.program == "hooks_built_in":
    expected = reported.without_values_of_the_end(expected)
    found = reported.without_values_of_the_end(found)
    if row.scenario != "plain":
      expected, found = reported.without_profiles(expected), reported.without_profiles(found)
  if row.hook == "all:":
    expected, found = reported.begins_first(expected), reported.begins_first(found)
  return lines.difference(expected, found) or ""
