"""Finds the files of a repository that make a canned estimator, or an estimator of a Keras model.

It knows nothing of rules and rewriting: what counts is a call, or a base of a class, with the name of one of TensorFlow's estimators,
however it is spelled. Names decide, not imports: what a benchmark counts must not depend on what the product understands.
"""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import os
import re
from pathlib import Path
from typing import Optional

from migrator.source import document, errors, walk

NAMES = frozenset(
  [f"{kind}{what}" for kind in ("DNN", "Linear", "DNNLinearCombined", "Baseline", "BoostedTrees")
   for what in ("Classifier", "Regressor", "Estimator")]
  + ["KMeans", "KMeansClustering", "model_to_estimator"]
)  # fmt: skip
_MENTIONED = re.compile("|".join(sorted(NAMES)).encode())


@dataclasses.dataclass
class CannedFile:
  """A file that makes one of the estimators.

  Attributes:
    repository: the name of its folder.
    path: relative to that folder.
    kinds: the names of the estimators, sorted.
    calls: how many calls there are.
    copies: how many later files of the corpus have the same code.
    broken: it cannot be read as Python 3.
  """

  repository: str
  path: str
  kinds: tuple[str, ...]
  calls: int
  copies: int = 0
  broken: bool = False

  @property
  def place(self) -> str:
    return f"{self.repository}/{self.path}"


def find(directory: Path) -> list[CannedFile]:
  """The files below a directory that holds one folder for each repository.

  Args:
    directory: the folders in it may be symbolic links.

  Returns:
    The files in the order of their paths; of those with the same code the first one only.
  """
  found: dict[str, CannedFile] = {}
  for repository in sorted(p for p in directory.iterdir() if p.is_dir()):
    root = repository.resolve()
    for file in walk.find([str(root)]):
      raw = Path(file.path).read_bytes()
      if not _MENTIONED.search(raw):
        continue
      one = _examine(raw, repository.name, os.path.relpath(file.path, root))
      if one is None:
        continue
      key = hashlib.sha256(raw).hexdigest()
      if key in found:
        found[key].copies += 1
      else:
        found[key] = one
  return sorted(found.values(), key=lambda f: f.place)


def _examine(raw: bytes, repository: str, path: str) -> Optional[CannedFile]:
  """What a file makes; None for one that makes no such estimator."""
  tree: Optional[ast.Module] = None
  try:
    source = document.Document.from_bytes(raw, path)
    tree = ast.parse(source.text) if source.check() is None else None
  except (errors.SourceError, SyntaxError):
    tree = None
  if tree is None:
    made = re.findall(rb"\b(" + _MENTIONED.pattern + rb")\s*\(", raw)
    names = sorted({name.decode() for name in made})
    return CannedFile(repository, path, tuple(names), len(made), broken=True) if made else None
  made = []
  for node in ast.walk(tree):
    if isinstance(node, ast.Call):
      # `functools.partial(DNNClassifier, ...)` makes one, too.
      made += [name for name in map(_last, [node.func, *node.args[:1]]) if name in NAMES]
    elif isinstance(node, ast.ClassDef):
      made += [name for name in map(_last, node.bases) if name in NAMES]
  return CannedFile(repository, path, tuple(sorted(set(made))), len(made)) if made else None


def _last(node: ast.expr) -> str:
  """The last name of `a.b.c`; "" for anything else."""
  return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
