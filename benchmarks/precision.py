"""Precision and recall of `migrator lint` on places that were labelled by hand.

  python benchmarks/precision.py draw --corpus DIR --seed 1 --places 230 >> labels.tsv
  python benchmarks/precision.py show --corpus DIR [--labels FILE] [--unlabelled]
  python benchmarks/precision.py score --corpus DIR [--labels FILE]

`draw` searches the text of the development set for words and draws lines that have one; it knows
nothing of rules and findings. `show` prints each of them in its context for whoever labels. `score`
lints the files, and compares the codes of each labelled line. DIR holds a checkout of every
repository of `COMMITS` as `owner+name`. See precision.md.
"""

from __future__ import annotations

import argparse
import collections
import csv
import dataclasses
import hashlib
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

COMMITS = {
  "DSXiangLi/Embedding": "ea55f7a7c32fe1b9741c0a07dc472fbe2df94f67",
  "GoogleCloudPlatform/cloudml-samples": "efddc4a9898127e55edc0946557aca4bfaf59705",
  "GoogleCloudPlatform/tf-estimator-tutorials": "ed1d56c08606478f012c67ef9a1fd78d90938512",
  "MarkDaoust/models": "9e3550e510a7560b596157627c18cde0b5a50e9d",
  "akkiboeing/tf_estimators_project": "cfb012b44645521d636cad987f45f837cf0e67f4",
  "avi202020/tensorflow_estimator_examples": "bd826a6d22067cbec7e2aead65e41e54875cc94b",
  "google-research/bert": "eedf5716ce1268e56f0a50264a88cafad334ac61",
  "guillaumegenthial/tf-estimator-basics": "06ce656aa5ceb8bcd586f61fcd54227dd97daf86",
  "horovod/horovod": "2626dc87a3a8eb8fb7d2216198ce45bce0f9e65a",
  "lambdaji/tf_repos": "b531ff12cdab65acc9551025f73fade2b6f425a7",
  "omoindrot/tensorflow-triplet-loss": "fc698369bb6c9acdc9f0e9e1ea00de0ddf782f12",
  "qiaoguan/deep-ctr-prediction": "f8d83d6da2ee07158922474d11f444533ec6a7a3",
  "tensorflow/docs": "7c3650212740204359d4ceae481abc79345541be",
  "tensorflow/tensor2tensor": "bafdc1b67730430d38d6ab802cbd51f9d053ba2e",
}
# Not in the development set: nobody looked at them while the rules were written.
UNSEEN = {
  "JayYip/m3tl": "63c44c37d4b2d695d5074dd76e28a0273d00064f",
  "NVIDIA/OpenSeq2Seq": "8681d381ed404fde516e2c1b823de5a213c59aba",
  "OpenNMT/OpenNMT-tf": "6f3b952ebb973dec31250a806bf0f56ff730d0b5",
  "alibaba/EasyRec": "bd230cb1a3eeb1112f35597aede4c23880804d88",
  "google-research/bigbird": "5e7d375950f9b001e13f1bbafb814c2956ed80af",
  "google-research/pegasus": "1b4929016aba883d2f06fa1a51e343ccdbd631ed",
  "google-research/simclr": "383d4143fd8cf7879ae10f1046a9baeb753ff438",
  "google/compare_gan": "19922d3004b675c1a49c4d7515c06f6f75acdcc8",
  "google/seq2seq": "7f485894d412e8d81ce0e07977831865e44309ce",
  "kyzhouhzau/BERT-NER": "0f77e478872453df51cd3c65d1a39b12d9617f9d",
  "shenweichen/DeepCTR": "1b5fe40e158d1ee6af8b1d9df217a5ed5aea9136",
  "tensorflow/adanet": "0364cc46810ff3831b3e4a37125de862a28da9bd",
  "tensorflow/ranking": "5b1d1338c1cb76507466d062e2d48bae57b17ac4",
  "vahidk/TensorflowFramework": "a9377d0dd8f5ac93e810876fbe8987990e3c728f",
}
# One stratum each. A line counts for the rarest of those that it matches.
WORDS = r"""
  \bestimator\b  RunConfig  \bEstimator\(  (DNN|Linear|BoostedTrees|Baseline)\w+\(
  train_and_evaluate  TrainSpec  EvalSpec  ModeKeys  EstimatorSpec  model_to_estimator
  \w*Exporter\b  (numpy|pandas)_input_fn  ServingInputReceiver  export_saved_?model
  save_checkpoints_steps  save_checkpoints_secs  keep_checkpoint_max
  keep_checkpoint_every_n_hours  max_to_keep  save_checkpoint_(secs|steps)  tf_random_seed
  session_config  train_distribute  TF_CONFIG  max_steps
  SessionRunHook  SessionRun(Args|Values|Context)  \w+Hook\b  _hook\b  CheckpointSaverListener
  (before|after)_run\b  \bSaver\b  MonitoredTrainingSession  Monitored\w*Session  Supervisor
  Scaffold  init_from_checkpoint  warm_?start\w*|WarmStartSettings  latest_checkpoint
  load_checkpoint  get_checkpoint_state  checkpoints_iterator  CheckpointReader
  import_meta_graph  queue_runners|Coordinator  input_producer|shuffle_batch|train\.batch\b
  global_step  train\.\w+Optimizer  \w+_decay\(  optimize_loss  contrib  TPUEstimator\w*
  TPUConfig  disable_(v2_behavior|eager_execution)  tensorflow[.]python  tensorflow[.]examples
  BackupAndRestore  ModelCheckpoint  CheckpointManager  train\.Checkpoint\b
  (load|save)_weights\(  \.restore\(  [sS]trategy\w*\(  EarlyStopping  steps_per_execution
""".split()
# Stand for the whole file or cell, on whatever line Python stops.
UNREADABLE = ("EM001", "EM002", "EM003", "EM004")
COLUMNS = ("seed", "repository", "blob", "path", "cell", "line", "codes", "reason")
LABELS = Path(__file__).with_name("labels.tsv")
BAR = 0.99


@dataclasses.dataclass(frozen=True)
class Place:
  """A line: 1-based, within its cell (1-based, all cells count) in a notebook."""

  repository: str
  path: str
  cell: str
  line: int

  def file(self, corpus: Path) -> Path:
    """The file in a folder of checkouts."""
    return corpus / self.repository.replace("/", "+") / self.path

  def __str__(self) -> str:
    cell = f"cell {self.cell}:" if self.cell else ""
    return f"{self.repository}/{self.path}:{cell}{self.line}"


def main() -> int:
  """Runs one of the three commands; returns the exit code."""
  parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
  )
  parser.add_argument("command", choices=("draw", "show", "score"))
  parser.add_argument("--corpus", type=Path, required=True)
  parser.add_argument("--labels", type=Path, default=LABELS)
  parser.add_argument("--seed", type=int, help="draw: the seed; score and show: only its places")
  parser.add_argument("--places", type=int, default=230)
  parser.add_argument("--unlabelled", action="store_true", help="show: only those")
  parser.add_argument("--repositories", nargs="+", help="draw: from these only")
  arguments = parser.parse_args()
  if arguments.command == "draw":
    repositories = arguments.repositories or COMMITS
    strata = _strata(arguments.corpus, repositories)
    return _draw(strata, arguments)
  rows = _rows(arguments.labels, arguments.seed)
  if arguments.command == "show":
    chosen = [row for row in rows if row["codes"] == "?" or not arguments.unlabelled]
    return _show(arguments.corpus, chosen)
  return _score(arguments.corpus, rows)


# --- draw


def _draw(strata, arguments: argparse.Namespace) -> int:
  """Prints rows for a label file; places that it has are not drawn again."""
  labels, seed = arguments.labels, arguments.seed or 0
  taken = {_place(row) for row in _rows(labels, None)} if labels.exists() else set()
  drawn = _sample(strata, random.Random(seed), arguments.places, taken)
  writer = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
  if not labels.exists() or not labels.stat().st_size:
    writer.writerow(COLUMNS)
  for place in sorted(drawn, key=lambda p: (p.repository, p.path, int(p.cell or 0), p.line)):
    blob = _blob(place.file(arguments.corpus))
    writer.writerow((seed, place.repository, blob, place.path, place.cell, place.line, "?", ""))
  return 0


def _strata(corpus: Path, repositories: Iterable[str]) -> dict[str, dict[str, list[Place]]]:
  """Word -> repository -> places, each of them once, under its rarest word."""
  patterns = [re.compile(word) for word in WORDS]
  matching = {}
  for repository in sorted(repositories):
    for place, text in _lines(corpus, repository):
      words = [i for i, pattern in enumerate(patterns) if pattern.search(text)]
      if words:
        matching[place] = words
  counts = collections.Counter(i for words in matching.values() for i in words)
  strata: dict[str, dict[str, list[Place]]] = {}
  for place, words in matching.items():
    rarest = WORDS[min(words, key=lambda i: (counts[i], i))]
    strata.setdefault(rarest, {}).setdefault(place.repository, []).append(place)
  return {word: strata[word] for word in sorted(strata)}


def _sample(strata, generator: random.Random, number: int, taken: set[Place]) -> set[Place]:
  """Goes round the words; draws a repository that has the word, then a line in it."""
  drawn: set[Place] = set()
  while len(drawn) < number:
    before = len(drawn)
    for by_repository in strata.values():
      left = {
        name: [p for p in places if p not in drawn and p not in taken]
        for name, places in by_repository.items()
      }
      names = sorted(name for name, places in left.items() if places)
      if names and len(drawn) < number:
        drawn.add(generator.choice(left[generator.choice(names)]))
    if len(drawn) == before:
      break
  return drawn


def _lines(corpus: Path, repository: str) -> Iterator[tuple[Place, str]]:
  root = corpus / repository.replace("/", "+")
  if not root.is_dir():
    commit = {**COMMITS, **UNSEEN}[repository]
    raise SystemExit(f"{root}: no checkout of {repository} at {commit}")
  for file in sorted(root.rglob("*")):
    if file.suffix in (".py", ".ipynb") and file.is_file():
      for cell, line, text in _source_lines(file):
        yield Place(repository, file.relative_to(root).as_posix(), cell, line), text


def _source_lines(file: Path) -> Iterator[tuple[str, int, str]]:
  """(cell, line, text) of a Python file, or of the code cells of a notebook."""
  text = file.read_text(encoding="utf-8", errors="replace")
  if file.suffix == ".py":
    yield from (("", i, line) for i, line in enumerate(text.split("\n"), 1))
    return
  try:
    cells = json.loads(text)["cells"]
  except (ValueError, KeyError) as error:
    print(f"{file}: no notebook of version 4 ({error!r}), not searched", file=sys.stderr)
    return
  for number, cell in enumerate(cells, 1):
    if cell["cell_type"] == "code":
      lines = "".join(cell["source"]).split("\n")
      yield from ((str(number), i, line) for i, line in enumerate(lines, 1))


def _blob(file: Path) -> str:
  """What git calls the content, shortened: tells whether a checkout has the labelled text."""
  raw = file.read_bytes()
  return hashlib.sha1(b"blob %d\0" % len(raw) + raw).hexdigest()[:12]


# --- label


def _rows(labels: Path, seed: int | None) -> list[dict[str, str]]:
  with open(labels, encoding="utf-8", newline="") as file:
    rows = list(csv.DictReader(file, delimiter="\t"))
  return [row for row in rows if seed is None or row["seed"] == str(seed)]


def _place(row: dict[str, str]) -> Place:
  return Place(row["repository"], row["path"], row["cell"], int(row["line"]))


def _show(corpus: Path, rows: Iterable[dict[str, str]], around: int = 8) -> int:
  """Prints each place with the lines around it and the imports of TensorFlow above it."""
  for number, row in enumerate(rows, 1):
    place = _place(row)
    lines = list(_source_lines(place.file(corpus)))
    at = lines.index(next(x for x in lines if x[:2] == (place.cell, place.line)))
    print(f"\n=== {number} {place}  [{row['codes']}] {row['reason']}")
    for cell, line, text in lines[: max(0, at - around)]:
      if re.match(r"\s*(from|import) .*(tensorflow|contrib|keras|estimator)", text):
        print(f"      {cell and cell + ':'}{line}: {text.strip()[:110]}")
    for i in range(max(0, at - around), min(len(lines), at + around + 1)):
      print(f"{'>' if i == at else ' '} {lines[i][1]:4} {lines[i][2][:130]}")
  return 0


# --- score


def _score(corpus: Path, rows: list[dict[str, str]]) -> int:
  """Prints recall, precision and each disagreement; returns 1 below the bar, 2 for bad input."""
  unlabelled = [row for row in rows if row["codes"] == "?"]
  wrong = [str(_place(row)) for row in rows if not _is_labelled_text(corpus, row)]
  for name in wrong:
    print(f"{name}: missing, or not the text that was labelled")
  if unlabelled or wrong or not rows:
    print(f"{len(unlabelled)} places without a label, {len(wrong)} without their file")
    return 2
  found = _findings({_place(row).file(corpus) for row in rows})
  counts: collections.Counter[str] = collections.Counter()
  for row in rows:
    place = _place(row)
    expected = set(row["codes"].split(",")) - {"-"}
    file = str(place.file(corpus))
    reported = found[file, place.cell, place.line] | found[file, place.cell, 0]
    counts["uses"] += bool(expected)
    counts["found"] += len(expected & reported)
    counts["missed"] += len(expected - reported)
    counts["false"] += len(reported - expected)
    for kind, codes in (("missed", expected - reported), ("false", reported - expected)):
      for code in sorted(codes):
        print(f"{place}: {kind} {code} (label: {row['codes']}, {row['reason']})")
  recall = counts["found"] / max(1, counts["found"] + counts["missed"])
  precision = counts["found"] / max(1, counts["found"] + counts["false"])
  print(f"{len(rows)} places, {counts['uses']} of them uses")
  print(f"recall {recall:.2%}: {counts['found']} found, {counts['missed']} missed")
  print(f"precision {precision:.2%}: {counts['false']} false")
  return 0 if recall >= BAR and precision >= BAR else 1


def _is_labelled_text(corpus: Path, row: dict[str, str]) -> bool:
  file = _place(row).file(corpus)
  return file.is_file() and _blob(file) == row["blob"]


def _findings(files: set[Path]) -> dict[tuple[str, str, int], set[str]]:
  """(file, cell, line) -> codes, as the command reports them; line 0: not readable at all."""
  command = [sys.executable, "-m", "migrator.cli", "lint", "--isolated", "--no-cache"]
  options = ["--output-format", "json", "--ignore-noqa"]
  done = subprocess.run(
    [*command, *options, *sorted(map(str, files))], capture_output=True, text=True, check=False
  )
  if done.returncode not in (0, 1, 2) or not done.stdout.startswith("["):
    raise SystemExit(done.stderr)
  for line in done.stderr.splitlines()[:-1]:  # the last one counts
    print(line, file=sys.stderr)
  codes = collections.defaultdict(set)
  for finding in json.loads(done.stdout):
    cell = str(finding["cell"] or "")
    line = 0 if finding["code"] in UNREADABLE else finding["line"]
    codes[finding["path"], cell, line].add(finding["code"])
  return codes


if __name__ == "__main__":
  sys.exit(main())
