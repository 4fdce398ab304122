"""The names pass alone, as its tests call it."""

import textwrap

from migrator.analysis import facts
from migrator.analysis.module import Module
from migrator.rewrite import imports, replacements
from migrator.rewrite.apply import apply
from migrator.rewrite.plan import Plan


def planned(text, whole=True, source_version=None, path="program.py"):
  """(the plan, its obstacles) for a text that may be indented."""
  module = Module(textwrap.dedent(text), path)
  plan = Plan(module, path)
  written_for_tf1 = facts.written_for_tf1(module) is not None
  plan.source_version = source_version or (1 if written_for_tf1 else 2)
  return plan, replacements.plan_file(plan, whole=whole)


def replaced(text, whole=True, source_version=None):
  """The new text of a file without obstacles."""
  plan, obstacles = planned(text, whole, source_version)
  assert not obstacles, [(o.code, o.node.lineno, o.values) for o in obstacles]
  imports.add(plan)
  return apply(plan)


def codes(text, whole=True, source_version=None):
  """The codes of the obstacles of a file, in the order of the lines."""
  _, obstacles = planned(text, whole, source_version)
  return [o.code for o in sorted(obstacles, key=lambda o: o.node.lineno)]
