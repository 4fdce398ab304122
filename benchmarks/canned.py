"""How many files with canned estimators are rewritten, run with TensorFlow 2.21, and why the others are not.

  python benchmarks/canned.py DIRECTORY [--python PYTHON] [--target fit|loop] [--json FILE] [--kept FOLDER]

DIRECTORY holds one folder for each repository. Every file counts, .py or notebook, that makes a canned estimator or one of a Keras
model: canned_finder.py. Each is rewritten alone. It is rewritten when each of its estimators is, and no TODO
is left in it. With PYTHON (TensorFlow 2.21) it is imported, its models are built, and each takes a step on made-up
examples of its inputs and labels: made_up_canned.py. Files that are the same count once.
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

import canned_finder

from migrator.lint import engine as lint
from migrator.rewrite import engine, files, run
from migrator.source import document, errors

_TODO = re.compile(r"#\s*TODO\((EM\d{3})\): (.*)")
# What lint says of an estimator, beside the sentence why it is not rewritten.
_ALSO_LINT = frozenset("EM107 EM109 EM202 EM203 EM204 EM231 EM260 EM261 EM901".split())
_SHOWN = 150


@dataclasses.dataclass
class Outcome:
  """What became of a file.

  Attributes:
    file: the file.
    units: how many estimators it makes, and how many of them are rewritten.
    done: how many of them are.
    rewritten: all of them, and no TODO is left.
    reasons: code and sentence, for a file that is not rewritten.
    imported: whether it can be imported; None when that was not tried.
    lacks_data: whether it could but for the program's data, which are not there.
    built: whether its models came about.
    stepped: whether each of them took a step.
    how: how the models came about.
    why: what the import, the models or the step ended with.
  """

  file: canned_finder.CannedFile
  units: int = 0
  done: int = 0
  rewritten: bool = False
  reasons: tuple[tuple[str, str], ...] = ()
  imported: Optional[bool] = None
  lacks_data: bool = False
  built: Optional[bool] = None
  stepped: Optional[bool] = None
  how: str = ""
  why: str = ""


def main() -> int:
  """Prints the tables; returns 1 if a file is neither rewritten nor has a code."""
  parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
  )
  parser.add_argument("directory", type=Path)
  parser.add_argument("--python", help="a Python with TensorFlow 2.21; only with the target fit")
  parser.add_argument("--target", choices=["fit", "loop"], default="fit")
  parser.add_argument("--only", default="", help="a part of the path of the files that count")
  parser.add_argument("--json", type=Path, help="where each file and its outcome is written")
  parser.add_argument("--kept", type=Path, help="where the rewritten files are left, as .py")
  arguments = parser.parse_args()
  found = [f for f in canned_finder.find(arguments.directory) if arguments.only in f.place]
  with tempfile.TemporaryDirectory(prefix="migrator-canned-") as scratch:
    folder = (arguments.kept or Path(scratch, "new")).resolve()
    outcomes = rewrite(arguments.directory, found, folder, arguments.target)
    if arguments.python and arguments.target == "fit":
      check(arguments.python, outcomes, arguments.directory, folder, Path(scratch))
  print("\n".join([*table(outcomes), "", *summary(outcomes)]))
  if arguments.json:
    text = json.dumps([dataclasses.asdict(o) for o in outcomes], indent=1)
    arguments.json.write_text(text + "\n", encoding="utf-8")
  return 1 if any(not o.rewritten and not o.reasons for o in outcomes) else 0


# --- rewriting


def rewrite(
  directory: Path, found: Sequence[canned_finder.CannedFile], folder: Path, target: str
) -> list[Outcome]:
  """Rewrites each file alone, into a folder."""
  one = run.Run(engine.Options(target=target), False, lambda line: print(line, file=sys.stderr))
  outcomes = []
  for file in found:
    raw = (directory / file.repository / file.path).read_bytes()
    result = one.rewrite_text(raw, file.path)
    outcomes.append(outcome(file, result, raw))
    if result.text:
      new = new_file(folder, file)
      new.parent.mkdir(parents=True, exist_ok=True)
      new.write_text(result.text, encoding="utf-8")
  return outcomes


def new_file(folder: Path, file: canned_finder.CannedFile) -> Path:
  return (folder / file.repository / file.path).with_suffix(".py")


def outcome(file: canned_finder.CannedFile, result: files.FileResult, raw: bytes) -> Outcome:
  """What the rewritten file shows."""
  one = Outcome(file, units=len(result.units), done=sum(bool(u.target) for u in result.units))
  left = [(m[1], m[2]) for m in map(_TODO.search, result.text.split("\n")) if m]
  one.rewritten = bool(one.units and one.done == one.units and result.text and not left)
  if not one.rewritten:
    said = _reasons(result, raw) if one.done < one.units or not one.units else []
    one.reasons = tuple(dict.fromkeys([*said, *left]))
  return one


def _reasons(result: files.FileResult, raw: bytes) -> list[tuple[str, str]]:
  """Why estimators are left: what rewriting says, and lint does not; else what both say of them."""
  try:
    before = {(f.code, f.span.line, f.cell) for f in _lint(raw, result.path)}
  except errors.SourceError:
    before = set()
  new = [f for f in result.findings if (f.code, f.span.line, f.cell) not in before]
  chosen = [f for f in new if f.code != "EM213"] or [
    f for f in result.findings if f.code in _ALSO_LINT
  ]
  return [(f.code, f.message) for f in chosen or result.findings]


def _lint(raw: bytes, path: str) -> list:
  return lint.check(document.Document.from_bytes(raw, path))


# --- running


def check(
  python: str, outcomes: Sequence[Outcome], directory: Path, folder: Path, scratch: Path
) -> None:
  """Imports the new files, builds their models and lets them take a step, in another Python."""
  tried = [o for o in outcomes if o.rewritten]
  tasks = []
  for number, one in enumerate(tried):
    path = new_file(folder, one.file)
    tasks.append(
      {
        "path": str(path),
        "data": str((directory / one.file.repository / one.file.path).parent.resolve()),
        "factories": factories(path.read_text(encoding="utf-8")),
        "scratch": str(scratch / f"run{number}"),
      }
    )
  quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "TF_NUM_INTRAOP_THREADS": "1"}
  process = subprocess.run(
    [python, str(Path(__file__).with_name("made_up_canned.py"))],
    input="".join(json.dumps(task) + "\n" for task in tasks),
    env={**os.environ, **quiet},
    capture_output=True,
    text=True,
    check=False,
  )
  answers = [json.loads(line) for line in process.stdout.splitlines()]
  if len(answers) != len(tasks):
    raise SystemExit(f"{process.stderr[-2000:]}\n{python} did not run all of the new files")
  for one, answer in zip(tried, answers):
    one.imported, one.built, one.stepped = (
      answer[key] is None for key in ("imported", "built", "stepped")
    )
    one.lacks_data = answer.get("lacks_data", False)
    one.how = answer.get("how", "")
    one.why = "; ".join(
      dict.fromkeys(filter(None, map(answer.get, ("imported", "built", "stepped"))))
    )


def factories(text: str) -> list[str]:
  """The names of what makes the models of a rewritten file: its new functions, or the runtime's class."""
  names = {"runtime"} if "runtime.BackupAndRestore(" in text else set()
  waiting: list[tuple[ast.AST, str]] = [(ast.parse(text), "")]
  for node, function in waiting:
    for child in ast.iter_child_nodes(node):
      waiting.append((child, child.name if isinstance(child, ast.FunctionDef) else function))
    if isinstance(node, ast.Attribute) and node.attr == "compile" and function:
      names.add(function)
  return sorted(names)


# --- printing


def table(outcomes: Sequence[Outcome]) -> list[str]:
  """The lines of a Markdown table: a row for each file."""
  lines = [
    "| file | estimators: rewritten, all | without TODO | imports | builds | step | how | why not |",
    "|---|---|---|---|---|---|---|---|",
  ]
  for o in outcomes:
    copies = f" (+{o.file.copies})" if o.file.copies else ""
    why = o.why or "; ".join(f"{code} {text}" for code, text in o.reasons[:3])
    cells = [
      o.file.place + copies,
      f"{o.done}, {max(o.units, 1)}",
      _mark(o.rewritten),
      "needs data" if o.lacks_data else _mark(o.imported),
      *map(_mark, (o.built, o.stepped)),
      o.how,
      _cell(why),
    ]
    lines.append(f"| {' | '.join(cells)} |")
  return lines


def _mark(what: Optional[bool]) -> str:
  return "" if what is None else "yes" if what else "no"


def _cell(text: str) -> str:
  text = " ".join(text.split()).replace("|", "\\|")
  return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def summary(outcomes: Sequence[Outcome]) -> list[str]:
  """Lines that count the files, and the codes of those that are left."""
  rewritten = [o for o in outcomes if o.rewritten]
  copies = sum(o.file.copies for o in outcomes)
  lines = [
    f"{len(outcomes)} files ({copies} more are copies of them): {len(rewritten)} rewritten without TODO, "
    f"{sum(bool(o.done) and not o.rewritten for o in outcomes)} rewritten with a TODO or in part",
  ]
  if any(o.imported is not None for o in outcomes):
    lines.append(
      f"of the {len(rewritten)}: {sum(bool(o.imported) for o in rewritten)} import "
      f"(and {sum(o.lacks_data for o in rewritten)} but for data that are not there), "
      f"{sum(bool(o.built) for o in rewritten)} build their models, "
      f"{sum(bool(o.stepped) for o in rewritten)} take a step"
    )
  left = [o for o in outcomes if not o.rewritten]
  counts = collections.Counter(code for o in left for code in {code for code, _ in o.reasons})
  lines += ["", "| code | files that are not rewritten | for example |", "|---|---|---|"]
  for code, count in counts.most_common():
    example: Any = next(text for o in left for c, text in o.reasons if c == code)
    lines.append(f"| {code} | {count} | {_cell(example)} |")
  return lines


if __name__ == "__main__":
  sys.exit(main())
