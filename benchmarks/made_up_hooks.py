"""Imports rewritten files with this Python, and lets their hooks take some steps in a made-up training.

  python benchmarks/made_up_hooks.py < tasks

Each line of the input is a task: {"path": file, "name": qualified class, "scratch": folder}. Each line of
the output tells of one, in their order: "imported" and "stepped", null or why not; "stand_ins",
the modules that are not installed. What is "stepped" of a file that cannot be imported ran without those
statements of the file that fail. Each task has a process of its own, forked after the import of TensorFlow.
Needs TensorFlow 2.16 or later; `benchmarks/hooks.py` calls it.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import inspect
import io
import itertools
import json
import os
import re
import signal
import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Callable

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import stand_ins

STEPS = 5
LIMIT_SECONDS = 120
_ONE = re.compile(
  r"step|num|size|every|iter|freq|count|epoch|interval|max|min|rank|secs|seconds|delay|warm|rate|rounds"
)
_PATH = re.compile(r"dir|path|file|folder|events")
_KEY = re.compile(r"tensor|fetch|loss|metric|to_log|values")
_TEXT = re.compile(r"name|prefix|tag|mode|suffix|collection|key|format|split|set|tpu$")


def main() -> int:
  # Its threads would not survive the fork, but it has none before the first operation.
  import tensorflow  # noqa: F401

  for line in sys.stdin:
    print(json.dumps(apart(json.loads(line), attempt, ("imported", "stepped"))), flush=True)
  return 0


def apart(
  task: dict[str, str],
  function: Callable[[dict[str, str]], dict[str, Any]],
  keys: Sequence[str],
  limit: int = LIMIT_SECONDS,
) -> dict[str, Any]:
  """Runs a task in a process of its own, with a time limit.

  Args:
    task: what the function gets.
    function: gives what there is to say, as JSON takes it.
    keys: what says why it failed, if the process ends without an answer.
    limit: in seconds.
  """
  reading, writing = os.pipe()
  child = os.fork()
  if child == 0:
    os.close(reading)
    signal.alarm(limit)
    result: dict[str, Any] = {}
    try:
      with open(os.devnull, "w") as sink:
        os.dup2(sink.fileno(), 1)
        os.dup2(sink.fileno(), 2)
      result = function(task)
    finally:
      os.write(writing, json.dumps(result).encode())
      os._exit(0)
  os.close(writing)
  with os.fdopen(reading, "rb") as stream:
    raw = stream.read()
  os.waitpid(child, 0)
  if not raw:
    return {**dict.fromkeys(keys, f"did not end within {limit} s, or crashed"), "stand_ins": []}
  return json.loads(raw)


def attempt(task: dict[str, str]) -> dict[str, Any]:
  """Imports the file of a task, and trains with its hook."""
  finder = stand_ins.install()
  make_up_flags(task["scratch"])
  make_up_data()
  os.makedirs(task["scratch"], exist_ok=True)
  os.chdir(task["scratch"])
  text = Path(task["path"]).read_text(encoding="utf-8")
  imported = stepped = None
  try:
    module = load(text, task["path"])
  except BaseException as error:
    imported = why(error)
  try:
    if imported:
      module = load(text, task["path"], parts=True)
    cls = find(module, ast.parse(text), task["name"])
    step(cls, text_constants(ast.parse(text), task["name"]), task["scratch"])
  except BaseException as error:
    stepped = why(error)
  return {"imported": imported, "stepped": stepped, "stand_ins": finder.made}


def make_up_flags(scratch: str) -> None:
  """Gives flags that a stand-in would have defined a value by their names."""
  from absl import flags

  defined = flags.FlagValues.__getattr__

  def look_up(self, name):
    try:
      return defined(self, name)
    except AttributeError:
      if name.startswith("_"):
        raise
      return make_up(name, inspect.Parameter.empty, scratch)

  flags.FlagValues.__getattr__ = look_up


def make_up_data() -> None:
  """Puts a few images in the place of those that Keras would download."""
  import numpy as np
  import tensorflow as tf

  def images(*shape):
    def load_data(*args, **kwargs):
      del args, kwargs
      random = np.random.RandomState(0)
      parts = [
        (random.randint(256, size=(n, *shape)), random.randint(10, size=n)) for n in (64, 32)
      ]
      return tuple((x.astype("uint8"), y.astype("uint8")) for x, y in parts)

    return load_data

  tf.keras.datasets.mnist.load_data = images(28, 28)
  tf.keras.datasets.fashion_mnist.load_data = images(28, 28)
  tf.keras.datasets.cifar10.load_data = images(32, 32, 3)


def why(error: BaseException) -> str:
  return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"[:200]


def load(text: str, path: str, parts: bool = False) -> types.ModuleType:
  """Runs a file as a module in the midst of a package of stand-ins.

  Args:
    text: its code.
    path: the file.
    parts: whether each statement runs apart, and those that fail are left out.
  """
  name = f"{stand_ins.PACKAGE}.a.b.c.d.{Path(path).stem}"
  module = types.ModuleType(name)
  module.__package__ = name.rpartition(".")[0]
  module.__file__ = path
  sys.modules[name] = module
  sys.argv = [path]
  if parts:
    for statement in ast.parse(text).body:
      alone = compile(ast.Module([statement], type_ignores=[]), path, "exec", dont_inherit=True)
      with contextlib.suppress(Exception, SystemExit):
        exec(alone, module.__dict__)
  else:
    exec(compile(text, path, "exec", dont_inherit=True), module.__dict__)
  if "absl.flags" in sys.modules:
    sys.modules["absl.flags"].FLAGS.mark_as_parsed()
  return module


def find(module: types.ModuleType, tree: ast.Module, name: str) -> type:
  """The class of that qualified name; one in a function is made without it.

  Raises:
    LookupError: there is none.
  """
  found: Any = module
  node: ast.AST = tree
  local = False
  for part in name.split("."):
    node = _child(node, part)
    local = local or not isinstance(node, ast.ClassDef)
    found = getattr(found, part, None)
  if not isinstance(node, ast.ClassDef):
    raise LookupError(f"{name} is no class")
  if not local:
    if not isinstance(found, type):
      raise LookupError(f"there is no {name} after the import")
    return found
  return _local_class(module, tree, node)


def _child(node: ast.AST, name: str) -> ast.AST:
  kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
  waiting = list(ast.iter_child_nodes(node))
  while waiting:
    child = waiting.pop(0)
    if isinstance(child, kinds):
      if child.name == name:
        return child
    else:
      waiting += ast.iter_child_nodes(child)
  raise LookupError(f"there is no {name}")


def _local_class(module: types.ModuleType, tree: ast.Module, node: ast.ClassDef) -> type:
  """A class of a function, in the module's names; the function's own are stand-ins."""
  names = dict(module.__dict__)
  classes = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)}
  for base in node.bases:
    if isinstance(base, ast.Name) and base.id not in names and base.id in classes:
      names[base.id] = _local_class(module, tree, classes[base.id])
  for inner in ast.walk(node):
    if isinstance(inner, ast.Name) and not hasattr(builtins, inner.id):
      names.setdefault(inner.id, stand_ins.StandIn(inner.id))
  alone = ast.Module([node], type_ignores=[])
  exec(compile(alone, module.__file__ or "", "exec", dont_inherit=True), names)
  return names[node.name]


def text_constants(tree: ast.Module, name: str) -> set[str]:
  """The texts of a class that can be names of a step's values."""
  node: ast.AST = tree
  for part in name.split("."):
    node = _child(node, part)
  texts = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant)}
  return {
    t.partition(":")[0] for t in texts if isinstance(t, str) and re.match(r"[\w/.]+(:0)?$", t)
  }


def arguments(cls: type, scratch: str) -> Iterator[dict[str, Any]]:
  """Arguments for the constructor of a hook, the likeliest first.

  What has a default keeps it; of what is None by default (often one of several is needed) first nothing, then one,
  then everything is given.
  """
  try:
    parameters = list(inspect.signature(cls).parameters.values())
  except (TypeError, ValueError):
    parameters = []
  plain = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
  needed = {p.name: p for p in plain if p.default is p.empty}
  optional = {p.name: p for p in plain if p.default is None}
  shapes = (0, 1, 2) if any(_plural(n) for n in [*needed, *optional]) else (0,)
  for shape in shapes:
    base = {n: make_up(n, p.annotation, scratch, shape) for n, p in needed.items()}
    more = {n: make_up(n, p.annotation, scratch, shape) for n, p in optional.items()}
    yield base
    for name, value in more.items():
      yield {**base, name: value}
    if len(more) > 1:
      yield {**base, **more}


def _plural(name: str) -> bool:
  return bool(_KEY.search(name)) and not _PATH.search(name)


def make_up(name: str, annotation: Any, scratch: str, shape: int = 0) -> Any:
  """A value for a parameter, by its annotation or its name.

  Args:
    name: of the parameter.
    annotation: its class or text; `inspect.Parameter.empty` for none.
    scratch: a folder for paths.
    shape: 0, 1, 2: what is fetched is a dict, a list, one name.
  """
  lower = name.lower()
  kinds = {"int": 1, "float": 1.0, "bool": True, "str": "loss"}
  kind = getattr(annotation, "__name__", str(annotation))
  if _PATH.search(lower) and kind in ("str", "_empty"):
    return os.path.join(scratch, name)
  if kind in kinds and kind != "str":
    return kinds[kind]
  if lower.startswith(("is_", "use_", "should_", "on_")):
    return True
  if _plural(lower) and "fn" not in lower.split("_"):
    return ({"loss": "loss"}, ["loss"], "loss")[shape]
  if "global_step" in lower:
    return "global_step"
  if re.search(
    r"(^|_)(fn|func|function|callback|logger|writer|model|params|hparams|flags)$", lower
  ):
    return stand_ins.StandIn(name)
  if kind == "str" or _TEXT.search(lower):
    return "loss"
  return 1 if _ONE.search(lower) else stand_ins.StandIn(name)


def step(cls: type, names: set[str], scratch: str) -> None:
  """Trains a small model for some steps with a hook.

  Args:
    cls: a callback or a listener.
    names: of values that the hook may ask for: the made-up model has them.
    scratch: a folder.

  Raises:
    Exception: what the hook, or making it, raised with the likeliest arguments.
  """
  first: Any = None
  numbers = itertools.count()
  for number, values in zip(numbers, arguments(cls, scratch)):
    try:
      with contextlib.redirect_stdout(io.StringIO()):
        _train(cls(**values), names, os.path.join(scratch, f"model{number}"))
      return None
    except NotImplementedError as error:
      # A class that is made to be derived from runs as the one that does.
      if cls.__subclasses__():
        return step(cls.__subclasses__()[0], names, scratch)
      first = first or error
    except Exception as error:
      first = first or error
  raise first


def _train(hook: Any, names: set[str], model_dir: str) -> None:
  import numpy as np
  import tensorflow as tf

  from migrator import runtime

  class Values(tf.keras.callbacks.Callback):
    """Gives a step, and the end, the values that the hook asks for, as its model would."""

    def on_train_batch_end(self, batch, logs=None):
      self.on_train_end(logs)

    def on_train_end(self, logs=None):
      for name in names - {"loss", "global_step"}:
        logs.setdefault(name, logs["loss"])

  tf.keras.utils.set_random_seed(0)
  inputs = tf.keras.Input([4], name="x")
  model = tf.keras.Model(inputs, tf.keras.layers.Dense(2, name="logits")(inputs))
  loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
  model.compile(tf.keras.optimizers.SGD(0.1), loss)
  backup = runtime.BackupAndRestore(model, model_dir, save_checkpoints_steps=2)
  if isinstance(hook, tf.keras.callbacks.Callback):
    callbacks = [backup, Values(), hook]
  elif isinstance(hook, getattr(runtime, "CheckpointSaverListener", ())):
    callbacks = [backup.with_listeners([hook])]
  else:
    raise TypeError(f"{type(hook).__name__} is neither a callback nor a listener")
  random = np.random.RandomState(0)
  examples = (random.rand(4 * STEPS, 4).astype("float32"), random.randint(2, size=4 * STEPS))
  data = tf.data.Dataset.from_tensor_slices(examples).batch(4)
  model.fit(data, callbacks=callbacks, verbose=0)
  done = int(model.optimizer.iterations.numpy())
  if done != STEPS and not model.stop_training:
    raise RuntimeError(f"the training ended after {done} of {STEPS} steps")


if __name__ == "__main__":
  sys.exit(main())
