"""Runs a program and records, from outside, what it trains, saves, evaluates and predicts.

  python observer.py --record OUT.jsonl [--kill-at STEP] [--seed SEED] [--keep-first DIR] PROGRAM ...

The program is not changed: the Estimator, Keras's `fit`, `GradientTape.gradient`, the checkpoint
managers and migrator.runtime are wrapped when the program imports them. One JSON object per line
is written at once, so that the record survives a kill -9:

  {"event": "tensorflow", "version": "2.15.1"}
  {"event": "begin", "step": 6, "model_dir": ...}   training starts or resumes
  {"event": "loss", "step": 7, "loss": 2.5}         the step after the update, its own loss
  {"event": "save", "step": 7, "path": ...}
  {"event": "evaluate", "values": {key: [dtype, value]}}
  {"event": "predict", "call": 1, "row": {key: [dtype, value]}}
  {"event": "kill", "step": 7}

This file and its two siblings import nothing else of ours and run on Python 3.7 with TensorFlow
1.15 too. The working directory is the scratch directory: temporary directories are made inside
of it, under the same names each time, so that a program that uses one can be resumed.
"""

import argparse
import functools
import importlib.abc
import importlib.util
import json
import os
import re
import runpy
import shutil
import signal
import sys
import tempfile

SAVED_STEP = re.compile(r"-(\d+)$")
OUTSIDE = (
  "migrator verify: the program uses {}, outside of the scratch directory; "
  "pass the model directory as a program argument, written as {{model_dir}}"
)


class Recorder:
  """Writes the record, and kills the process where it is told to.

  Attributes:
    seed: Graph seed for estimators that have none, or None.
    step: The global step, as far as it is known outside of `fit` and of the Estimator.
    counter: The step variable of a training loop, or None.
    model_dir: Where a training loop keeps its state, or None.
    resumed: Whether the next step of a training loop is the first after a restore.
    fit_tap: Sees the losses inside of `fit`, or None before the first one.
    inside: Names of the wrapped calls that are running, outermost first.
  """

  def __init__(self, record, kill_at=None, seed=None, keep_first=None):
    # Open until the process ends, however it ends.
    self._file = open(record, "a", encoding="utf-8")  # noqa: SIM115
    self._kill_at = kill_at
    self._keep_first = keep_first
    self._root = os.path.realpath(os.getcwd())
    self._losses = 0
    self.seed = seed
    self.step = 0
    self.counter = None
    self.model_dir = None
    self.resumed = True
    self.fit_tap = None
    self.inside = []

  def write(self, event, **values):
    self._file.write(json.dumps(dict(values, event=event)) + "\n")
    self._file.flush()

  def tensorflow(self, module):
    self.write("tensorflow", version=module.__version__)

  def check_directory(self, directory):
    """Returns the real path; stops the program before it writes outside of the scratch directory."""
    path = os.path.realpath(os.fspath(directory))
    if not (path + os.sep).startswith(self._root + os.sep):
      raise SystemExit(OUTSIDE.format(path))
    return path

  def resume(self, path):
    """To be called when a training loop has restored a checkpoint, or initialized (path None)."""
    match = SAVED_STEP.search(str(path or ""))
    if self.counter is not None:
      self.step = int(self.counter)
    elif match:
      self.step = int(match.group(1))
    self.resumed = True

  def begin(self, step, model_dir):
    self.step = step
    self.resumed = False
    self.write("begin", step=step, model_dir=model_dir and self.check_directory(model_dir))

  def saved(self, path):
    """Records a checkpoint, unless its name carries no step (an export)."""
    path = os.path.realpath(os.fspath(path))
    match = SAVED_STEP.search(path)
    if match:
      if self._keep_first:
        copy_checkpoint(path, self._keep_first)
        self._keep_first = None
      self.write("save", step=int(match.group(1)), path=path)

  def loss(self, step, loss):
    self._losses += 1
    self.step = step
    self.write("loss", step=step, loss=float(loss))

  def end_of_step(self, step):
    """To be called where a step, its save and the program's own hooks are done."""
    if step == self._kill_at and self._losses:
      self.write("kill", step=step)
      os.kill(os.getpid(), signal.SIGKILL)


def copy_checkpoint(prefix, directory):
  """Copies the files of one checkpoint."""
  os.makedirs(directory)
  folder, name = os.path.split(prefix)
  for entry in os.listdir(folder):
    if entry.startswith(name + "."):
      shutil.copy2(os.path.join(folder, entry), directory)


def wrap(owner, name, make):
  """Replaces owner.name by make(original), once."""
  original = getattr(owner, name)
  if getattr(original, "observed", False):
    return
  replacement = make(original)
  replacement.__name__, replacement.__doc__ = name, original.__doc__
  replacement.__wrapped__ = original  # for inspect.signature
  replacement.observed = True
  setattr(owner, name, replacement)


def watch_results(recorder, owner):
  """Records what evaluate() and predict() of a class or a module give."""
  import numpy as np

  calls = [0]

  def typed(values):
    if not isinstance(values, dict):
      values = {"": values}
    result = {}
    for key, value in values.items():
      array = np.asarray(value)
      if array.dtype.kind in "SO":
        # Bytes, of any length: strings of TensorFlow.
        array = np.asarray([v.decode("latin-1") for v in array.ravel()]).reshape(array.shape)
        result[str(key)] = ["bytes", array.tolist()]
      else:
        result[str(key)] = [str(array.dtype), array.tolist()]
    return result

  def evaluate(original):
    def wrapper(*args, **kwargs):
      recorder.inside.append("evaluate")
      try:
        values = original(*args, **kwargs)
      finally:
        recorder.inside.pop()
      if "evaluate" not in recorder.inside:
        recorder.write("evaluate", values=typed(values))
      return values

    return wrapper

  def predict(original):
    def wrapper(*args, **kwargs):
      calls[0] += 1
      call = calls[0]
      for row in original(*args, **kwargs):
        recorder.write("predict", call=call, row=typed(row))
        yield row

    return wrapper

  wrap(owner, "evaluate", evaluate)
  wrap(owner, "predict", predict)


class AfterImport(importlib.abc.MetaPathFinder):
  """Calls a function with a module as soon as the program has imported it."""

  def __init__(self, actions):
    self._actions = actions

  def install(self):
    sys.meta_path.insert(0, self)
    for name in [name for name in self._actions if name in sys.modules]:
      self._actions.pop(name)(sys.modules[name])

  def find_spec(self, name, path=None, target=None):
    if name not in self._actions:
      return None
    action = self._actions.pop(name)  # the search below comes here again
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
      return None
    execute = spec.loader.exec_module

    def execute_and_act(module):
      execute(module)
      action(module)

    setattr(spec.loader, "exec_module", execute_and_act)  # noqa: B010
    return spec


def keep_temporary_directories(program):
  """Lets the program's tempfile.mkdtemp() give the same directories at each start."""
  parent = os.path.join(os.path.realpath(os.getcwd()), "tmp")
  os.makedirs(parent, exist_ok=True)
  tempfile.tempdir = parent
  original = tempfile.mkdtemp
  owners = (os.path.dirname(program), os.sep + "tensorflow_estimator" + os.sep)
  calls = [0]

  def mkdtemp(*args, **kwargs):
    caller = os.path.abspath(sys._getframe(1).f_code.co_filename)
    if not (caller.startswith(owners[0]) or owners[1] in caller):
      return original(*args, **kwargs)  # a library's: how many there are depends on the version
    calls[0] += 1
    path = os.path.join(parent, "dir" + str(calls[0]))
    os.makedirs(path, exist_ok=True)
    return path

  tempfile.mkdtemp = mkdtemp


def run(program, arguments, recorder):
  """Runs the program as `python program arguments...` does."""
  import observer_legacy
  import observer_migrated

  program = os.path.abspath(program)
  sys.argv = [program, *arguments]
  sys.path[0] = os.path.dirname(program)
  keep_temporary_directories(program)
  watches = dict(observer_legacy.WATCHES, **observer_migrated.WATCHES)
  watches["tensorflow"] = Recorder.tensorflow
  AfterImport(
    {name: functools.partial(watch, recorder) for name, watch in watches.items()}
  ).install()
  runpy.run_path(program, run_name="__main__")


def main():
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--record", required=True)
  parser.add_argument("--kill-at", type=int)
  parser.add_argument("--seed", type=int)
  parser.add_argument("--keep-first")
  parser.add_argument("program")
  parser.add_argument("arguments", nargs=argparse.REMAINDER)
  args = parser.parse_args()
  run(args.program, args.arguments, Recorder(args.record, args.kill_at, args.seed, args.keep_first))


if __name__ == "__main__":
  # The siblings import this file by its name: the same module, not a second one.
  sys.modules["observer"] = sys.modules["__main__"]
  main()
