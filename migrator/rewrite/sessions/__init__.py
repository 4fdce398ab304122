"""Programs around a TF1 session: what their checkpoints become, as code to be shown.

Nothing of such a file is rewritten: the graph has to become TF2 first, which a person does. What can be
said exactly is said: which code saves at the same steps, keeps the same files and resumes at the same step.
"""

from __future__ import annotations

from collections.abc import Sequence

from migrator.analysis.module import Module
from migrator.lint import rules
from migrator.lint.finding import Finding
from migrator.rewrite.plan import Plan
from migrator.rewrite.sessions import compose, search

_WORDS = (
  "Saver",
  "import_meta_graph",
  "MonitoredTrainingSession",
  "MonitoredSession",
  "Supervisor",
)


def findings(text: str, path: str, lint: Sequence[Finding] = ()) -> list[Finding]:
  """One finding for each session unit that saves or restores, with the code for it.

  Args:
    text: the source as it is.
    path: the file's name.
    lint: what lint finds in it.
  """
  if not any(word in text for word in _WORDS):
    return []
  module = Module(text, path)
  results = []
  directories: set[str] = set()
  for unit in search.find(module):
    fresh = Plan(module, path)
    names = compose.Names(
      fresh.fresh("checkpoint"),
      fresh.fresh("step", "step_counter"),
      fresh.fresh("manager", "checkpoint_manager"),
    )
    proposal = compose.Proposal(module, unit, names, lint, directories)
    if not proposal.applies:
      continue
    kind = unit.kind.rpartition(".")[2]
    what = f"`{unit.name}`, a {kind}," if unit.name else f"this {kind}"
    code = "EM417" if proposal.saves else "EM418"
    told = f"; it says {proposal.told}" if proposal.told else ""
    finding = rules.finding(code, module.span(unit.call.func), path, what=what, told=told)
    results.append(finding._replace(proposal=proposal.text))
  return results
