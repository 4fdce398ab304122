"""How many files with a model_fn are rewritten, run with TensorFlow 2.21, and why the others are not.

  python benchmarks/model_fns.py DIRECTORY [--python PYTHON] [--hosted] [--json FILE] [--kept FOLDER]

DIRECTORY holds one folder for each repository. Every file counts, .py or notebook, that holds a model_fn: model_fn_finder.py.
The first count is of those that make the Estimator, too. Those of a repository are rewritten in one run, with the modules that they
import. It is rewritten when each of its estimators is, no TODO is left in it, and all of the modules are carried over that have to be. With PYTHON
(TensorFlow 2.21) it is imported from a folder with these modules, and each of its model_fns takes a step on the program's own examples,
else on made-up ones: made_up_model_fns.py. Files that are the same count once.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import dataclasses
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Optional

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import model_fn_finder

from migrator.rewrite import engine, files, libraries, run
from migrator.source import walk

_TODO = re.compile(r"#\s*TODO\((EM\d{3})\): (.*)")
_KINDS = ("Estimator", "TPUEstimator", "module")
# Notes on what was rewritten: no reason to leave anything.
_NOTES = frozenset("EM203 EM213 EM234 EM236 EM238".split())
_SHOWN = 150


@dataclasses.dataclass
class Outcome:
  """What became of a file.

  Attributes:
    file: the file.
    modules: how many modules of its repository it imports, directly and through each other.
    forms: what its estimators became: "hosted", "loop".
    rewritten: all of them, no TODO is left, and no module either.
    reasons: code and sentence, for a file that is not rewritten.
    imported: whether it can be imported; None when that was not tried.
    but_for_data: whether it could but for data that are not there: a notebook runs as it is imported.
    lacks_data: whether a step could not be tried, since the data of the program are not there.
    stepped: whether its models took a step.
    how: with which examples.
    why: what the import or the step ended with.
  """

  file: model_fn_finder.ModelFnFile
  modules: int = 0
  forms: tuple[str, ...] = ()
  rewritten: bool = False
  reasons: tuple[tuple[str, str], ...] = ()
  imported: Optional[bool] = None
  but_for_data: bool = False
  lacks_data: bool = False
  stepped: Optional[bool] = None
  how: str = ""
  why: str = ""


def main() -> int:
  """Prints the tables; returns 1 if a file is neither rewritten nor has a code."""
  parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
  )
  parser.add_argument("directory", type=Path)
  parser.add_argument("--python", help="a Python with TensorFlow 2.21")
  parser.add_argument("--hosted", action="store_true", help="keep each model_fn")
  parser.add_argument("--only", default="", help="a part of the path of the files that count")
  parser.add_argument("--without", default="", help="a part of the path of those that do not")
  parser.add_argument("--jobs", type=int, default=2, help="how many processes")
  parser.add_argument("--json", type=Path, help="where each file and its outcome is written")
  parser.add_argument("--kept", type=Path, help="where the rewritten programs are left")
  arguments = parser.parse_args()
  found = [f for f in model_fn_finder.find(arguments.directory) if arguments.only in f.place]
  if arguments.without:
    found = [f for f in found if arguments.without not in f.place]
  with tempfile.TemporaryDirectory(prefix="migrator-model-fns-") as scratch:
    folder = (arguments.kept or Path(scratch, "new")).resolve()
    options = engine.Options(hosted=arguments.hosted)
    jobs = [
      (arguments.directory, list(files), folder / name, options)
      for name, files in itertools.groupby(found, lambda f: f.repository)
    ]
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
      outcomes = [one for of_it in pool.map(rewrite, jobs) for one in of_it]
    if arguments.python:
      check(arguments.python, outcomes, arguments.directory, folder, Path(scratch), arguments.jobs)
  both = [o for o in outcomes if o.file.makes]
  print("\n".join([*table(outcomes), "", *repositories(both), ""]))
  print("\n".join(["With the estimator in the same file:", *summary(both), ""]))
  print("\n".join(["All:", *summary(outcomes)]))
  if arguments.json:
    text = json.dumps([dataclasses.asdict(o) for o in outcomes], indent=1)
    arguments.json.write_text(text + "\n", encoding="utf-8")
  return 1 if any(not o.rewritten and not o.reasons for o in outcomes) else 0


# --- rewriting


def rewrite(job: tuple[Path, Sequence[model_fn_finder.ModelFnFile], Path, engine.Options]):
  """Rewrites the files of a repository and what they import, into a folder: an outcome for each."""
  directory, programs, folder, options = job
  root = (directory / programs[0].repository).resolve()
  graph = libraries.ImportGraph([f.path for f in walk.find([str(root)])])
  modules = {}
  for file in programs:
    path = str(root / file.path)
    modules[path] = list(dict.fromkeys(i.path for i in graph.reached(path) if i.path != path))
  paths = list(dict.fromkeys([*modules, *(path for found in modules.values() for path in found)]))
  one = run.Run(options, False, lambda line: print(line, file=sys.stderr))
  one.rewrite_files(walk.SourceFile(path, path in modules) for path in paths)
  results = {result.path: result for result in one.results}
  for path in paths:
    new = folder / os.path.relpath(path, root)
    new.parent.mkdir(parents=True, exist_ok=True)
    if path.endswith(".ipynb"):
      new_file(new).write_text(results[path].text, encoding="utf-8")
      continue
    raw = results[path].raw if path in results else None
    new.write_bytes(raw if raw is not None else Path(path).read_bytes())
  found = (results[path] for path in modules)
  return [outcome(f, r, len(m)) for f, r, m in zip(programs, found, modules.values())]


def new_file(path: Path) -> Path:
  """Where a rewritten file is: a notebook's code may have a script of the same name beside it."""
  return path if path.suffix == ".py" else path.with_name(f"{path.stem}_notebook.py")


def outcome(file: model_fn_finder.ModelFnFile, result: files.FileResult, modules: int) -> Outcome:
  """What the result of a rewrite shows."""
  own = [u for u in result.units if u.kind in _KINDS]
  forms = tuple(sorted({u.target for u in own if u.target}))
  one = Outcome(file, modules, forms)
  left = [(m[1], m[2]) for m in map(_TODO.search, result.text.split("\n")) if m]
  left += [(f.code, f.message) for f in result.findings if f.code == "EM909"]
  done = all(unit.target for unit in result.units)
  one.rewritten = bool(own and done and result.raw is not None and not left)
  if not one.rewritten:
    said = [(f.code, f.message) for f in result.findings if f.code not in _NOTES]
    said = said or [(f.code, f.message) for f in result.findings]
    if not said and not own:
      said = [("", "nothing in it is known to be an estimator or its model_fn")]
    one.reasons = tuple(dict.fromkeys([*left, *said]))
  return one


# --- running


def check(
  python: str,
  outcomes: Sequence[Outcome],
  directory: Path,
  folder: Path,
  scratch: Path,
  jobs: int,
) -> None:
  """Imports the new files, and lets their model_fns take a step, in other processes."""
  tried = [(number, o) for number, o in enumerate(outcomes) if o.rewritten]
  tasks = []
  for number, one in tried:
    root = folder / one.file.repository
    path = new_file(root / one.file.path)
    tasks.append(
      {
        "path": str(path),
        "root": str(root),
        "data": str((directory / one.file.repository / one.file.path).parent.resolve()),
        "makes": one.file.makes,
        "functions": one.file.functions,
        "scratch": str(scratch / f"run{number}"),
      }
    )
  with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
    parts = list(pool.map(lambda n: _check(python, tasks[n::jobs]), range(jobs)))
  for position, (_, one) in enumerate(tried):
    answer = parts[position % jobs][position // jobs]
    one.imported = answer["imported"] is None
    one.but_for_data = answer.get("imports_but_for_data", False)
    one.stepped = answer["stepped"] is None if one.file.makes else None
    one.lacks_data = one.stepped is False and answer.get("lacks_data", False)
    one.how = answer.get("how", "")
    told = (answer["imported"], answer["stepped"] if one.file.makes else None)
    one.why = "; ".join(dict.fromkeys(text for text in told if text))


def _check(python: str, tasks: Sequence[dict]) -> list[dict]:
  quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "TF_NUM_INTRAOP_THREADS": "1"}
  process = subprocess.run(
    [python, str(Path(__file__).with_name("made_up_model_fns.py"))],
    input="".join(json.dumps(task) + "\n" for task in tasks),
    env={**os.environ, **quiet},
    capture_output=True,
    text=True,
    check=False,
  )
  answers = [json.loads(line) for line in process.stdout.splitlines()]
  if len(answers) != len(tasks):
    raise SystemExit(f"{process.stderr[-2000:]}\n{python} did not run all of the new files")
  return answers


# --- printing


def table(outcomes: Iterable[Outcome]) -> list[str]:
  """The lines of a Markdown table: a row for each file."""
  lines = [
    "| file | estimator | modules | form | without TODO | imports | step | how | why not |",
    "|---|---|---|---|---|---|---|---|---|",
  ]
  for o in outcomes:
    copies = f" (+{o.file.copies})" if o.file.copies else ""
    why = o.why or "; ".join(f"{code} {text}" for code, text in o.reasons[:3])
    cells = [
      o.file.place + copies,
      "here" if o.file.makes else "",
      str(o.modules),
      " ".join(o.forms),
      _mark(o.rewritten),
      "needs data" if o.but_for_data else _mark(o.imported),
      "needs data" if o.lacks_data else _mark(o.stepped),
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


def repositories(outcomes: Iterable[Outcome]) -> list[str]:
  """The lines of a Markdown table: a row for each repository."""
  rows: dict[str, list[Outcome]] = {}
  for one in outcomes:
    rows.setdefault(one.file.repository, []).append(one)
  lines = [
    "| repository | files | without TODO | hosted | split | imports | step |",
    "|---|---|---|---|---|---|---|",
  ]
  for name, of_it in sorted(rows.items()):
    done = [o for o in of_it if o.rewritten]
    counts = (
      len(of_it),
      len(done),
      sum("hosted" in o.forms for o in done),
      sum("loop" in o.forms for o in done),
      sum(bool(o.imported) for o in done),
      sum(bool(o.stepped) for o in done),
    )
    lines.append(f"| {' | '.join([name, *map(str, counts)])} |")
  return lines


def summary(outcomes: Sequence[Outcome]) -> list[str]:
  """Lines that count the files, and the reasons of those that are left."""
  done = [o for o in outcomes if o.rewritten]
  copies = sum(o.file.copies for o in outcomes)
  share = 100 * len(done) / max(len(outcomes), 1)
  lines = [
    f"{len(outcomes)} files ({copies} more are copies of them): {len(done)} rewritten without TODO "
    f"({share:.0f} %), of these {sum('loop' in o.forms for o in done)} taken apart",
  ]
  if any(o.imported is not None for o in outcomes):
    lines.append(
      f"of the {len(done)}: {sum(bool(o.imported) for o in done)} import "
      f"(and {sum(o.but_for_data for o in done)} but for data that are not there), "
      f"{sum(bool(o.stepped) for o in done)} take a step, "
      f"{sum(o.lacks_data for o in done)} need data that are not there"
    )
  left = [o for o in outcomes if not o.rewritten]
  counts = collections.Counter(reason for o in left for reason in set(o.reasons))
  alone = collections.Counter(o.reasons[0] for o in left if len(set(o.reasons)) == 1)
  lines += ["", "| files left | by this alone | code | reason |", "|---|---|---|---|"]
  for (code, text), count in counts.most_common():
    lines.append(f"| {count} | {alone[code, text]} | {code} | {_cell(text)} |")
  return lines


if __name__ == "__main__":
  sys.exit(main())
