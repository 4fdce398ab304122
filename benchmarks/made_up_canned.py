"""Imports rewritten files with this Python, builds their models, and trains each for one step on made-up examples.

  python benchmarks/made_up_canned.py < tasks

Each line of the input is a task: {"path": file, "data": folder, "factories": names, "scratch": folder}. Each line of the output
tells of one, in their order: "imported", "built" and "stepped", null or why not; "lacks_data", whether the first is for want of files; "how" the models came about; "stand_ins",
the modules that are not installed. Needs TensorFlow 2.16 or later; `benchmarks/canned.py` calls it.

The data of a program are mostly not there, so its training is watched from outside: `Model.fit` takes one step, with the
program's examples if it has them, else with made-up ones, and the runtime's `evaluate` and `predict` do nothing. The models come about in one of these ways, the most faithful that works:

  run: the program made them, as it was imported, or in a function of it that was called
  part by part: statements of the program ran one by one, without those that fail, mostly for want of data
"""

from __future__ import annotations

import ast
import contextlib
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

import made_up_data
import made_up_examples
import made_up_hooks
import stand_ins

LIMIT_SECONDS = 240
_NO_DATA = ("FileNotFoundError", "NotFoundError", "URLError", "HTTPError", "IsADirectoryError")
_ENTRIES = ("main", "run", "train", "train_and_evaluate", "run_experiment")


def main() -> int:
  import tensorflow  # noqa: F401

  keys = ("imported", "built", "stepped")
  for line in sys.stdin:
    print(
      json.dumps(made_up_hooks.apart(json.loads(line), attempt, keys, LIMIT_SECONDS)), flush=True
    )
  return 0


class Watch:
  """What becomes of the models of a program.

  Attributes:
    backups: what the program made of its models.
    done: the ids of the models that took their step.
    real: how many steps had the program's own examples.
    scratch: the folder for model directories.
  """

  def __init__(self, scratch: str):
    self.backups: list[Any] = []
    self.done: set[int] = set()
    self.real = 0
    self.scratch = scratch
    self.fit: Any = None

  def install(self) -> None:
    """Puts made-up examples in the place of the program's, from now on."""
    import tensorflow as tf

    from migrator import runtime

    watch, backups = self, runtime.BackupAndRestore
    self.fit = tf.keras.Model.fit
    start = backups.__init__

    def begin(backup, model, model_dir, **arguments):
      # The program's own directory may hold anything, or lie where nothing can be written.
      del model_dir
      folder = os.path.join(watch.scratch, f"model{len(watch.backups)}")
      start(backup, model, folder, **arguments)
      watch.backups.append(backup)

    def take_step(model, *args, **kwargs):
      given = kwargs.get("x", args[0] if args else None)
      return watch.step(model, kwargs.get("callbacks") or [], given)

    def evaluate(backup, *args, **kwargs):
      del args, kwargs
      return Answers()

    def predict(backup, *args, **kwargs):
      del backup, args, kwargs
      return iter(())

    for owner, name, value in (
      (backups, "__init__", begin),
      (backups, "evaluate", evaluate),
      (backups, "predict", predict),
      (backups, "export_saved_model", lambda backup, *args, **kwargs: b"export"),
      (tf.keras.Model, "fit", take_step),
    ):
      setattr(owner, name, value)

  def step(self, model: Any, callbacks: list, given: Any = None) -> Any:
    """Trains a model for one step.

    Args:
      model: compiled.
      callbacks: the program's.
      given: the Dataset that the program trains on, if its files are there.

    Raises:
      RuntimeError: it took none, or the loss is no number.
    """
    import tensorflow as tf

    from migrator import runtime

    before = int(model.optimizer.iterations.numpy())
    examples = given if isinstance(given, tf.data.Dataset) and _has_data(given) else None
    if examples is None:
      examples = made_up_examples.dataset(model, model.loss).map(runtime.only_inputs(model))
    else:
      self.real += 1
    history = self.fit(model, examples.take(1), callbacks=callbacks, verbose=0)
    loss = float(history.history["loss"][-1])
    if int(model.optimizer.iterations.numpy()) != before + 1 or not tf.math.is_finite(loss):
      raise RuntimeError(f"the step gave the loss {loss}")
    self.done.add(id(model))
    return history


class Answers(dict):
  """Metrics of an evaluation: every one is 0."""

  def __init__(self) -> None:
    super().__init__(dict.fromkeys(("accuracy", "auc", "average_loss", "global_step", "loss"), 0.0))

  def __missing__(self, key: str) -> float:
    del key
    return 0.0


def _has_data(examples: Any) -> bool:
  """Whether the files of a Dataset are there."""
  import tensorflow as tf

  try:
    return next(iter(examples), None) is not None
  except (tf.errors.NotFoundError, tf.errors.FailedPreconditionError):
    return False


def attempt(task: dict[str, Any]) -> dict[str, Any]:
  """Imports the file of a task, makes its models, and trains them."""
  finder = stand_ins.install()
  made_up_hooks.make_up_flags(task["scratch"])
  made_up_hooks.make_up_data()
  os.makedirs(task["scratch"], exist_ok=True)
  os.chdir(task["scratch"])
  made_up_data.copy_data(task["data"], task["scratch"])
  text = Path(task["path"]).read_text(encoding="utf-8")
  made_up_data.make_up_command_line(task["scratch"])
  tables = made_up_data.make_up_tables(text)
  made_up_data.make_up_downloads()
  made_up_data.make_folders(text)
  made_up_data.import_siblings(text, task["data"])
  watch = Watch(task["scratch"])
  watch.install()
  imported = None
  try:
    module = made_up_hooks.load(text, task["path"])
  except BaseException as error:
    imported = made_up_hooks.why(error)
    module = made_up_hooks.load(text, task["path"], parts=True)
  if watch.backups:
    how, built = ("part by part" if imported else "run"), None
  else:
    how, built = _build(module, ast.parse(text), task, watch)
  stepped = built
  if built is None:
    try:
      for backup in watch.backups:
        if id(backup.model) not in watch.done:
          watch.step(backup.model, [backup])
    except BaseException as error:
      stepped = made_up_hooks.why(error)
  return {
    "imported": imported,
    "lacks_data": imported is not None and (bool(tables) or imported.startswith(_NO_DATA)),
    "built": built,
    "stepped": stepped,
    "how": f"{how}, own examples" if watch.real else how,
    "stand_ins": finder.made,
  }


def _build(
  module: types.ModuleType, tree: ast.Module, task: dict[str, Any], watch: Watch
) -> tuple[str, Optional[str]]:
  """Calls the functions of a module that make its models: how they came about, and why they did not."""
  first: Optional[BaseException] = None
  for node in _makers(tree, task["factories"]):
    function = getattr(module, node.name, None)
    try:
      if not callable(function):
        raise LookupError(f"there is no {node.name} after the import")
      with contextlib.redirect_stdout(io.StringIO()):
        call(function, task["scratch"])
    except BaseException as error:
      first = first or error
    if watch.backups:
      return "run", None
  for node in _makers(tree, task["factories"]):
    try:
      run_apart(node, module, task["scratch"])
    except BaseException as error:
      first = first or error
    if watch.backups:
      return "part by part", None
  return "", made_up_hooks.why(first) if first else "nothing makes the model"


def _makers(tree: ast.Module, factories: list[str]) -> Iterator[ast.FunctionDef]:
  """The functions of a module that call a factory, the program's entry first."""
  found = []
  for node in tree.body:
    if isinstance(node, ast.FunctionDef) and node.name not in factories:
      names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
      inner = {n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef)}
      if (names | inner) & set(factories):
        found.append(node)
  yield from sorted(found, key=lambda n: n.name not in _ENTRIES)


def call(function: Any, scratch: str) -> None:
  """Calls a function with what its parameters' names tell; what has a default keeps it."""
  values = {}
  for name, parameter in inspect.signature(function).parameters.items():
    plain = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    if plain and parameter.default is parameter.empty:
      values[name] = made_up_data.argument(name, parameter.annotation, scratch)
  function(**values)


def run_apart(node: ast.FunctionDef, module: types.ModuleType, scratch: str) -> None:
  """Runs the statements of a function one by one, in names of its own; those that fail are left out.

  Raises:
    Exception: that of the last statement that failed.
  """
  names = dict(module.__dict__)
  positional = [*node.args.posonlyargs, *node.args.args]
  for parameter in [*positional, *node.args.kwonlyargs]:
    names[parameter.arg] = made_up_data.argument(parameter.arg, inspect.Parameter.empty, scratch)
  for parameter, default in zip(positional[::-1], node.args.defaults[::-1]):
    with contextlib.suppress(Exception):
      names[parameter.arg] = eval(ast.unparse(default), names)
  failed: Optional[BaseException] = None
  for statement in node.body:
    if isinstance(statement, ast.Return):
      statement = ast.copy_location(ast.Expr(statement.value or ast.Constant(None)), statement)
    alone = ast.fix_missing_locations(ast.Module([statement], type_ignores=[]))
    try:
      with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(alone, module.__file__ or "", "exec", dont_inherit=True), names)
    except BaseException as error:
      failed = error
  if failed is not None:
    raise failed


if __name__ == "__main__":
  sys.exit(main())
