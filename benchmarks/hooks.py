"""How many hook classes of public repositories are migrated, and why the others are not.

  python benchmarks/hooks.py DIRECTORY [--python PYTHON] [--json FILE] [--list] [--kept FOLDER]

DIRECTORY holds one folder for each repository. Every class that derives from a hook or listener of TensorFlow is
counted, in .py files and notebooks; of those with the same text only the first one. What is a pure observer, hook_finder.py
says. Each file is rewritten alone with `--hooks all`.

A class is rewritten when the new file has it, or its twin `<Name>Callback`, as a callback or listener, without a TODO in it. It
is migrated when, with PYTHON (TensorFlow 2.21), the new file can also be imported and the new class takes five
steps in a made-up training: made_up_hooks.py. Without --python nothing is run, and nothing counts as migrated.
"""

from __future__ import annotations

import argparse
import ast
import collections
import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import hook_finder

from migrator.lint.finding import Finding
from migrator.rewrite import engine, files, run
from migrator.source import document, errors

GOALS = {"pure observers": 0.8, "all": 0.5}
_TODO = re.compile(r"#\s*TODO\((EM\d{3})\)")


@dataclasses.dataclass
class Outcome:
  """What became of a hook class.

  Attributes:
    hook: the class.
    rewritten: whether the new file has it as a callback or listener, without a TODO.
    name: its qualified name there.
    codes: what is said of the class, sorted.
    reasons: the messages of those, for a class that is not rewritten.
    imported: whether the new file can be imported; None when that was not tried.
    stepped: whether the new class took its steps; in a file that cannot be imported, without what fails.
    why: what the import or the steps ended with.
  """

  hook: hook_finder.HookClass
  rewritten: bool
  name: str = ""
  codes: tuple[str, ...] = ()
  reasons: tuple[str, ...] = ()
  imported: Optional[bool] = None
  stepped: Optional[bool] = None
  why: str = ""

  @property
  def migrated(self) -> bool:
    return bool(self.rewritten and self.imported and self.stepped)

  def to_json(self) -> dict[str, Any]:
    shown = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "hook"}
    of_hook = dataclasses.fields(self.hook)
    hook = {f.name: getattr(self.hook, f.name) for f in of_hook if f.name != "node"}
    return {
      **hook,
      **shown,
      "new_name": self.name,
      "name": self.hook.name,
      "migrated": self.migrated,
    }


def main() -> int:
  """Prints the tables; returns 1 if a goal is missed or a class has no code."""
  parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
  )
  parser.add_argument("directory", type=Path)
  parser.add_argument(
    "--python", help="a Python with TensorFlow 2.21, to import and run what is new"
  )
  parser.add_argument("--json", type=Path, help="where each class and its outcome is written")
  parser.add_argument("--list", action="store_true", help="a line for each class")
  parser.add_argument("--kept", type=Path, help="where the rewritten files are left")
  arguments = parser.parse_args()
  repositories = [p for p in sorted(arguments.directory.iterdir()) if p.is_dir()]
  hooks, unreadable = [], []
  for repository in repositories:
    found, broken = hook_finder.find(repository)
    hooks += found
    unreadable += [f"{repository.name}/{path}" for path in broken]
  distinct = hook_finder.distinct(hooks)
  with tempfile.TemporaryDirectory(prefix="migrator-hooks-") as scratch:
    folder = (arguments.kept or Path(scratch, "new")).resolve()
    outcomes = rewrite(arguments.directory, distinct, folder)
    if arguments.python:
      check(arguments.python, outcomes, folder, Path(scratch))
  print(
    f"{len(repositories)} repositories, {len(hooks)} hook classes, {len(distinct)} of them distinct; "
    f"{len(unreadable)} files with hooks that are no Python 3"
  )
  print("\n".join([*table(outcomes), "", *rest(outcomes)]))
  if arguments.list:
    print("\n".join(["", *listed(outcomes)]))
  if arguments.json:
    text = json.dumps([o.to_json() for o in outcomes], indent=1)
    arguments.json.write_text(text + "\n", encoding="utf-8")
  missed = arguments.python and any(
    share(of, migrated) < GOALS[name]
    for name, of, migrated in _counts(outcomes)
    if name in GOALS and of
  )
  return 1 if missed or any(not o.rewritten and not o.codes for o in outcomes) else 0


# --- rewriting


def rewrite(directory: Path, hooks: Sequence[hook_finder.HookClass], folder: Path) -> list[Outcome]:
  """Rewrites the files of hook classes into a folder, and looks for the classes there."""
  one = run.Run(engine.Options(hooks="all"), False, lambda line: print(line, file=sys.stderr))
  done: dict[tuple[str, str], files.FileResult] = {}
  outcomes = []
  for hook in hooks:
    key = (hook.repository, hook.path)
    if key not in done:
      raw = (directory / hook.repository / hook.path).read_bytes()
      done[key] = one.rewrite_text(raw, hook.path)
      done[key].findings = in_all_cells(done[key].findings, raw, hook.path)
      if done[key].text:
        new = new_file(folder, hook)
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(done[key].text, encoding="utf-8")
    outcomes.append(outcome(hook, done[key]))
  return outcomes


def new_file(folder: Path, hook: hook_finder.HookClass) -> Path:
  return folder / hook.repository / hook.path


def outcome(hook: hook_finder.HookClass, result: files.FileResult) -> Outcome:
  """What the rewritten file has of a class."""
  name = converted(result.text, hook.qualified) if result.text else ""
  said = [f for f in result.findings if of_class(f, hook)]
  codes = tuple(sorted({f.code for f in said}))
  if name:
    return Outcome(hook, True, name, codes)
  reasons = tuple(dict.fromkeys(f"{f.code} {f.message}" for f in said if f.code != "EM301"))
  return Outcome(hook, False, "", codes, reasons)


def in_all_cells(findings: Sequence[Finding], raw: bytes, path: str) -> list[Finding]:
  """Findings of a notebook at their lines of all cells together, as hook classes have them."""
  if not path.endswith(".ipynb"):
    return list(findings)
  try:
    source = document.Document.from_bytes(raw, path)
  except errors.SourceError:
    return list(findings)
  assert source.notebook is not None
  known = {cell.number for cell in source.notebook.cells}
  found = []
  for finding in findings:
    if finding.cell in known:
      row = source.notebook.row(finding.cell, finding.span.line)
      finding = finding._replace(cell=None, span=finding.span._replace(line=row, end_line=row))
    found.append(finding)
  return found


def of_class(finding: Finding, hook: hook_finder.HookClass) -> bool:
  """Whether a finding is about a class: it stands there, or is about the whole file."""
  whole = finding.code.startswith("EM00")
  inside = finding.cell is None and hook.line <= finding.span.line <= hook.end
  return whole or inside or bool(re.search(rf"\b{hook.name}\b", finding.message))


def converted(text: str, qualified: str) -> str:
  """The qualified name under which a file has a hook class as a callback or listener; "" if it has not."""
  tree = ast.parse(text)
  classes = dict(hook_finder.classes(tree))
  lines = text.split("\n")
  for name in (f"{qualified}Callback", qualified):
    node = classes.get(name)
    if node is None or not _is_callback(node, classes):
      continue
    first = max(node.lineno - 2, 0)
    if not any(_TODO.search(line) for line in lines[first : node.end_lineno]):
      return name
  return ""


def _is_callback(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
  """Whether a class derives from Keras' Callback, or from a callback or listener of the runtime."""
  for base in node.bases:
    text = ast.unparse(base)
    if text.endswith("callbacks.Callback") or text.startswith("runtime."):
      return True
    named = [c for name, c in classes.items() if name.rpartition(".")[2] == text and c is not node]
    if any(_is_callback(c, classes) for c in named):
      return True
  return False


# --- running


def check(python: str, outcomes: Sequence[Outcome], folder: Path, scratch: Path) -> None:
  """Imports the new files and lets the new classes take their steps, in another Python."""
  tried = [o for o in outcomes if o.rewritten]
  tasks = [
    {"path": str(new_file(folder, o.hook)), "name": o.name, "scratch": str(scratch / f"run{i}")}
    for i, o in enumerate(tried)
  ]
  quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "TF_NUM_INTRAOP_THREADS": "1"}
  process = subprocess.run(
    [python, str(Path(__file__).with_name("made_up_hooks.py"))],
    input="".join(json.dumps(task) + "\n" for task in tasks),
    env={**os.environ, **quiet},
    capture_output=True,
    text=True,
    check=False,
  )
  answers = [json.loads(line) for line in process.stdout.splitlines()]
  if len(answers) != len(tasks):
    raise SystemExit(f"{process.stderr[-2000:]}\n{python} did not run all of the new hooks")
  for one, answer in zip(tried, answers):
    one.imported, one.stepped = answer["imported"] is None, answer["stepped"] is None
    one.why = "; ".join(filter(None, (answer["imported"], answer["stepped"])))


# --- printing


def _groups(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
  return {
    "pure observers": [o for o in outcomes if o.hook.observes],
    "others": [o for o in outcomes if not o.hook.observes],
    "listeners among them": [o for o in outcomes if o.hook.base == hook_finder.LISTENER],
    "in notebooks": [o for o in outcomes if o.hook.path.endswith(".ipynb")],
    "of built-in hooks": [o for o in outcomes if o.hook.base in hook_finder.BUILT_IN],
    "all": list(outcomes),
  }


def _counts(outcomes: Sequence[Outcome]) -> list[tuple[str, int, int]]:
  return [(n, len(g), sum(o.migrated for o in g)) for n, g in _groups(outcomes).items()]


def share(of: int, part: int) -> float:
  return part / of if of else 0.0


def table(outcomes: Sequence[Outcome]) -> list[str]:
  """The lines of a Markdown table: a row for each kind of class."""
  lines = [
    "| | classes | rewritten | takes steps | its file imports | both: migrated | share | goal |",
    "|---|---|---|---|---|---|---|---|",
  ]
  for name, group in _groups(outcomes).items():
    migrated = sum(o.migrated for o in group)
    cells = [
      name,
      len(group),
      sum(o.rewritten for o in group),
      sum(bool(o.stepped) for o in group),
      sum(bool(o.imported) for o in group),
      migrated,
      f"{share(len(group), migrated):.0%}" if group else "",
      f"{GOALS[name]:.0%}" if name in GOALS else "",
    ]
    lines.append(f"| {' | '.join(map(str, cells))} |")
  return lines


def rest(outcomes: Sequence[Outcome]) -> list[str]:
  """A table of the codes of what is not rewritten, and what of the rewritten fails."""
  left = [o for o in outcomes if not o.rewritten]
  counts = collections.Counter(code for o in left for code in o.codes if code != "EM301")
  plain = sum(o.codes == ("EM301",) for o in left)
  silent = [o for o in left if not o.codes]
  lines = ["| code | classes that are not rewritten | observers among them |", "|---|---|---|"]
  for code, count in counts.most_common():
    lines.append(f"| {code} | {count} | {sum(code in o.codes and o.hook.observes for o in left)} |")
  lines.append(f"| EM301 alone | {plain} | |")
  lines.append(f"| none | {len(silent)} | |")
  failed = [o for o in outcomes if o.rewritten and o.why]
  return lines + [f"{_place(o.hook)}: {o.why}" for o in failed]


def listed(outcomes: Sequence[Outcome]) -> list[str]:
  """A line or more for each class: what it is, what became of it, and why."""
  lines = []
  for o in outcomes:
    kind = "observer" if o.hook.observes else "; ".join(o.hook.effects)
    state = "migrated" if o.migrated else "rewritten" if o.rewritten else "left"
    copies = f", {o.hook.copies} copies" if o.hook.copies else ""
    lines.append(f"{state:9} {_place(o.hook)} ({kind}{copies}) {' '.join(o.codes)}")
    lines += [f"          {reason}" for reason in o.reasons]
    if o.why:
      lines.append(f"          {o.why}")
  return lines


def _place(hook: hook_finder.HookClass) -> str:
  return f"{hook.repository}/{hook.path}:{hook.line} {hook.qualified}"


if __name__ == "__main__":
  sys.exit(main())
