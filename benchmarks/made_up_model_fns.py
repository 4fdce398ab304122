"""Imports rewritten programs with this Python, and trains each of their models for one step.

  python benchmarks/made_up_model_fns.py < tasks

Each line of the input is a task: {"path": file, "root": the folder of its repository with what it imports, "data": the folder
of the original, "makes": whether it makes estimators, "functions": its model_fns, "scratch": folder}. Each line of the output tells of one, in their
order: "imported" and "stepped", null or why not; "lacks_data", whether the second is for want of data; "how"
the step came about; "stand_ins", the modules that are not installed. Needs TensorFlow 2.16 or later; `benchmarks/model_fns.py` calls it.

A program is run as far as it goes; its training is watched from outside, and takes one step: with the program's own examples
if they are there, else with made-up ones of the shapes and types that its input function says.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import inspect
import io
import json
import os
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import made_up_canned
import made_up_data
import made_up_hooks
import made_up_training
import stand_ins

LIMIT_SECONDS = 150
_ENTRIES = ("main", "run", "train", "train_and_evaluate", "run_experiment")
# The last names of what makes or trains a model in a rewritten file.
_SIGNS = frozenset(("ModelFn", "TPUModelFn", "train_and_evaluate", "Network", "train"))
# An input that is not there ends in one of these.
_NO_DATA = (
  *("FileNotFoundError", "NotFoundError", "URLError", "HTTPError", "IsADirectoryError"),
  *("EmptyDataError", "FailedPreconditionError", "OutOfRangeError"),
)


def main() -> int:
  import tensorflow  # noqa: F401

  keys = ("imported", "stepped")
  for line in sys.stdin:
    print(
      json.dumps(made_up_hooks.apart(json.loads(line), attempt, keys, LIMIT_SECONDS)), flush=True
    )
  return 0


def attempt(task: dict[str, Any]) -> dict[str, Any]:
  """Imports the program of a task, and trains its models."""
  finder = stand_ins.install(task["root"])
  made_up_hooks.make_up_flags(task["scratch"])
  made_up_hooks.make_up_data()
  os.makedirs(task["scratch"], exist_ok=True)
  os.chdir(task["scratch"])
  made_up_data.copy_data(task["data"], task["scratch"])
  text = Path(task["path"]).read_text(encoding="utf-8")
  made_up_data.make_up_command_line(task["scratch"])
  made_up_training.make_up_required_flags(task["scratch"])
  tables = made_up_data.make_up_tables(text)
  made_up_training.make_up_machine()
  made_up_data.make_up_downloads()
  made_up_data.make_folders(text)
  watch = made_up_training.Watch(task["scratch"], task["path"])
  watch.install()
  imported = None
  try:
    module = load(text, task)
  except BaseException as error:
    imported = made_up_hooks.why(error)
    module = load(text, task, parts=True)
  stepped = None
  if task["makes"] and not watch.done:
    stepped = _train(module, ast.parse(text), task, watch)
  stepped = stepped if not watch.done else None
  said = watch.failed or stepped if not watch.done else None
  return {
    "imported": imported,
    "imports_but_for_data": bool(imported and (imported.startswith(_NO_DATA) or tables)),
    "stepped": said,
    "lacks_data": bool(said) and (watch.lacks_data or said.startswith(_NO_DATA) or bool(tables)),
    "how": watch.how,
    "stand_ins": finder.made,
  }


def load(text: str, task: dict[str, Any], parts: bool = False) -> types.ModuleType:
  """Runs a program as a module of its repository.

  Args:
    text: its code.
    task: with "path" and "root".
    parts: whether each statement runs apart, and those that fail are left out.
  """
  path, root = Path(task["path"]), Path(task["root"])
  folders = [folder for folder in path.parents if folder == root or root in folder.parents]
  for folder in folders:
    if str(folder) not in sys.path:
      sys.path.insert(len(sys.path) and 1, str(folder))
  name = ".".join(path.relative_to(root).with_suffix("").parts)
  spec = importlib.util.spec_from_file_location(name, path)
  assert spec is not None
  module = importlib.util.module_from_spec(spec)
  sys.modules[name] = module
  sys.argv = [str(path)]
  if parts:
    for statement in ast.parse(text).body:
      alone = compile(ast.Module([statement], type_ignores=[]), path, "exec", dont_inherit=True)
      with contextlib.suppress(Exception, SystemExit):
        exec(alone, module.__dict__)
  else:
    exec(compile(text, path, "exec", dont_inherit=True), module.__dict__)
  made_up_training.mark_flags()
  return module


def _train(
  module: types.ModuleType, tree: ast.Module, task: dict[str, Any], watch: made_up_training.Watch
) -> Optional[str]:
  """Calls the functions of a program that train its models; returns why none of them did."""
  first = _run_as_program(module, tree)
  if watch.done:
    return None
  calls = (made_up_canned.call, lambda function, scratch: _apart(function, tree, module, scratch))
  for call in calls:
    for function in _makers(tree, module):
      try:
        with contextlib.redirect_stdout(io.StringIO()):
          call(function, task["scratch"])
      except BaseException as error:
        first = first or error
      if watch.done:
        return None
  try:
    watch.train_left(module)
  except BaseException as error:
    first = first or error
  return made_up_hooks.why(first) if first else "nothing trains the model"


def _run_as_program(module: types.ModuleType, tree: ast.Module) -> Optional[BaseException]:
  """Runs what a module does when it is the program; returns what it ended with."""
  for node in tree.body:
    if not isinstance(node, ast.If) or "__main__" not in ast.unparse(node.test):
      continue
    body = compile(ast.Module(node.body, type_ignores=[]), module.__file__ or "", "exec", 0, True)
    # `app.run()` looks there for `main`.
    own, sys.modules["__main__"] = sys.modules["__main__"], module
    try:
      with contextlib.redirect_stdout(io.StringIO()):
        exec(body, module.__dict__)
    except BaseException as error:
      made_up_training.mark_flags()
      return None if isinstance(error, SystemExit) else error
    finally:
      sys.modules["__main__"] = own
  return None


def _apart(function: Any, tree: ast.Module, module: types.ModuleType, scratch: str) -> None:
  for node in tree.body:
    if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
      made_up_canned.run_apart(node, module, scratch)


def _makers(tree: ast.Module, module: types.ModuleType) -> Iterator[Any]:
  """The functions of a module that make or train models, the program's entry first."""
  found = []
  for node in tree.body:
    if isinstance(node, ast.FunctionDef):
      names = {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
      names |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
      if names & _SIGNS or node.name in _ENTRIES:
        found.append(node)
  for node in sorted(found, key=lambda n: n.name not in _ENTRIES):
    function = getattr(module, node.name, None)
    if inspect.isfunction(function):
      yield function


if __name__ == "__main__":
  sys.exit(main())
