"""Finds the files of a repository that hold a model_fn.

It knows nothing of rules and rewriting: a function is a model_fn when it makes an EstimatorSpec, or is handed to something as
`model_fn`. Names decide, not imports: what a benchmark counts must not depend on what the product understands.
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

ESTIMATORS = frozenset(("Estimator", "TPUEstimator"))
_SPECS = frozenset(("EstimatorSpec", "TPUEstimatorSpec", "ModelFnOps", "create_estimator_spec"))
_MENTIONED = re.compile(rb"EstimatorSpec|ModelFnOps|create_estimator_spec|Estimator\(|model_fn")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclasses.dataclass
class ModelFnFile:
  """A file that holds a model_fn.

  Attributes:
    repository: the name of its folder.
    path: relative to that folder.
    functions: the names of the model_fns, sorted.
    makes: whether it makes an Estimator or a TPUEstimator, or derives a class from one.
    copies: how many later files of the corpus have the same code.
    broken: it cannot be read as Python 3.
  """

  repository: str
  path: str
  functions: tuple[str, ...]
  makes: bool
  copies: int = 0
  broken: bool = False

  @property
  def place(self) -> str:
    return f"{self.repository}/{self.path}"


def find(directory: Path) -> list[ModelFnFile]:
  """The files below a directory that holds one folder for each repository.

  Args:
    directory: the folders in it may be symbolic links.

  Returns:
    The files in the order of their paths; of those with the same code the first one only.
  """
  found: dict[str, ModelFnFile] = {}
  for repository in sorted(p for p in directory.iterdir() if p.is_dir()):
    root = repository.resolve()
    for file in walk.find([str(root)]):
      raw = Path(file.path).read_bytes()
      if not _MENTIONED.search(raw):
        continue
      one = _examine(raw, repository.name, os.path.relpath(file.path, root))
      if one is None:
        continue
      first = found.setdefault(hashlib.sha256(raw).hexdigest(), one)
      first.copies += first is not one
  return sorted(found.values(), key=lambda f: f.place)


def _examine(raw: bytes, repository: str, path: str) -> Optional[ModelFnFile]:
  """What a file holds; None for one without a model_fn."""
  try:
    source = document.Document.from_bytes(raw, path)
    tree = ast.parse(source.text) if source.check() is None else None
  except (errors.SourceError, SyntaxError):
    tree = None
  if tree is None:
    if not re.search(rb"EstimatorSpec\s*\(", raw):
      return None
    makes = bool(re.search(rb"\b(TPU)?Estimator\s*\(", raw))
    return ModelFnFile(repository, path, ("?",), makes, broken=True)
  functions = {n.name for n in ast.walk(tree) if isinstance(n, _FUNCTIONS[:2])}
  named, makes = _makers(tree), False
  for node in ast.walk(tree):
    if isinstance(node, ast.Call):
      # `functools.partial(Estimator, ...)` makes one, too.
      makes = makes or any(_last(n) in ESTIMATORS for n in [node.func, *node.args[:1]])
      handed = [k.value for k in node.keywords if k.arg == "model_fn"]
      handed += node.args[:1] if _last(node.func) in ESTIMATORS else []
      named |= {_last(n) for n in handed} & functions
    elif isinstance(node, ast.ClassDef):
      makes = makes or any(_last(base) in ESTIMATORS for base in node.bases)
  return ModelFnFile(repository, path, tuple(sorted(named)), makes) if named else None


def _makers(tree: ast.Module) -> set[str]:
  """The names of the functions that make the specification of a model themselves."""
  found = set()
  waiting: list[tuple[ast.AST, str]] = [(tree, "")]
  for node, function in waiting:
    if isinstance(node, ast.Call) and function and _last(node.func) in _SPECS:
      found.add(function)
    for child in ast.iter_child_nodes(node):
      inside = getattr(child, "name", "lambda") if isinstance(child, _FUNCTIONS) else function
      waiting.append((child, inside))
  return found


def _last(node: ast.expr) -> str:
  """The last name of `a.b.c`; "" for anything else."""
  return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
