"""Reads the tables of the tests: a row per hook, a column per scenario.

A cell says what the real hook did under the real Estimator: how many lines it printed. The rows with
these names are of the whole run:

  all:      lines of all hooks, in one order
  steps:    the same from the first step on
  saved:    steps that were saved, in order
  kept:     steps on disk in the end
  resumed:  steps at which the trainings began
"""

import dataclasses

# Target and TensorFlow of the migrated programs. Two of them are the other two of a product.
BOTH = (("fit", "2.21"), ("loop", "2.15")), (("fit", "2.15"), ("loop", "2.21"))
OF_THE_RUN = ("all:", "steps:", "saved:", "kept:", "resumed:")


@dataclasses.dataclass(frozen=True)
class Row:
  """One cell of a table.

  Attributes:
    program: The fixture.
    hook: The name with which its lines begin, or one of OF_THE_RUN.
    scenario: What happened.
    expected: The cell.
  """

  program: str
  hook: str
  scenario: str
  expected: str

  def __str__(self):
    return f"{self.program.replace('hooks_', '')}-{self.hook.strip(':')}-{self.scenario}"


def rows(program, text):
  """Returns the cells of a table; a "-" is none."""
  header, *lines = [line.split() for line in text.strip().splitlines() if line.strip()]
  found = []
  for name, *cells in lines:
    assert len(cells) == len(header), f"the row {name} has {len(cells)} cells, not {len(header)}"
    found += [Row(program, name, s, cell) for s, cell in zip(header, cells) if cell != "-"]
  return found


def cases(tables, scenarios, only=None):
  """Returns the tests of tables: tuples (row, target, version).

  The first scenario of a program runs with both targets on both versions. The others do so by turns:
  each with both targets and on both versions, but in two runs.

  Args:
    tables: Pairs of program and text.
    scenarios: Names in order, by program.
    only: By scenario, the one target that does what the real hooks did.
  """
  found = []
  for program, text in tables:
    names = list(scenarios[program])
    for row in rows(program, text):
      place = names.index(row.scenario)
      target = (only or {}).get(row.scenario)
      pairs = BOTH[0] + BOTH[1] if target or not place else BOTH[place % 2]
      found += [(row, *pair) for pair in pairs if target in (None, pair[0])]
  return found
