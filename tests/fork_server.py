"""Imports TensorFlow once and forks a process for each program that it is told to run.

  python fork_server.py OBSERVER_DIRECTORY

A line of JSON on stdin is a job: {"arguments": the observer's, "cwd", "path", "stdout", "stderr"}.
The answers are {"pid": ...} when it has begun and {"status": as of os.waitpid} when it has ended.
A fork is taken before TensorFlow has made a context: the child is a fresh process in all but the
four seconds that the import takes.

With MIGRATOR_SERIAL_SESSIONS=1 the sessions of Estimators run one operation after the other. A
session orders a read of the global step and its increment in no way: the executor of TensorFlow
2.15 ran the one first or the other. Its serial executor reads first (28 of 28 runs).
"""

import atexit
import functools
import importlib
import json
import logging
import os
import pathlib
import random
import sys
import traceback

SERIAL = "MIGRATOR_SERIAL_SESSIONS"
PRELOADED = ("tensorflow", "keras", "tensorflow_estimator.python.estimator.api._v2.estimator")
# What nearly each migrated program imports.
RUNTIME = (
  "migrator.runtime.backup",
  "migrator.runtime.columns",
  "migrator.runtime.evaluation",
  "migrator.runtime.heads",
  "migrator.runtime.load",
  "migrator.runtime.manager",
  "migrator.runtime.named",
  "migrator.runtime.optimizers",
  "migrator.runtime.summaries",
)


def serialize_sessions():
  """Gives each Estimator that is made a session with the serial executor."""
  module = sys.modules.get("tensorflow_estimator.python.estimator.estimator")
  if module is None:
    return  # no Estimators with this TensorFlow
  original = module.Estimator.__init__

  @functools.wraps(original)
  def initialize(self, *args, **kwargs):
    original(self, *args, **kwargs)
    self._session_config.experimental.executor_type = "SINGLE_THREADED_EXECUTOR"

  module.Estimator.__init__ = initialize


def run(job):
  """Runs the observer in this process, which was forked for it; never returns."""
  os.setsid()
  for name, descriptor in (("stdout", 1), ("stderr", 2)):
    file = os.open(job[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, descriptor)
  os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
  os.chdir(job["cwd"])
  sys.path[1:1] = job["path"]
  sys.argv = ["observer.py", *job["arguments"]]
  # The children must not have their random numbers from one and the same state.
  random.seed()
  sys.modules["numpy"].random.seed()
  if os.environ.get(SERIAL) == "1":
    serialize_sessions()
  code = 0
  try:
    importlib.import_module("observer").main()
  except SystemExit as error:
    if isinstance(error.code, str):
      print(error.code, file=sys.stderr)
    code = error.code if isinstance(error.code, int) else int(error.code is not None)
  except BaseException:
    traceback.print_exc()
    code = 1
  atexit._run_exitfuncs()
  sys.stdout.flush()
  sys.stderr.flush()
  os._exit(code)


def main():
  sys.path[0] = sys.argv[1]
  for name in PRELOADED:
    try:
      importlib.import_module(name)
    except ImportError:
      if name == "tensorflow":
        raise
  importlib.import_module("tensorflow").keras.layers.Layer  # lazily imported  # noqa: B018
  root = str(pathlib.Path(__file__).resolve().parent.parent)
  sys.path.insert(1, root)
  for name in RUNTIME:
    importlib.import_module(name)
  sys.path.remove(root)
  # TensorFlow 2.21 logs a save with absl, which gives the root logger a handler then: all lines of
  # TensorFlow's logger would be written twice from there on.
  logging.getLogger("tensorflow").propagate = False
  answer = os.fdopen(os.dup(1), "w")
  os.dup2(2, 1)  # what TensorFlow prints is no answer
  for line in sys.stdin:
    pid = os.fork()
    if not pid:
      run(json.loads(line))
    print(json.dumps({"pid": pid}), file=answer, flush=True)
    _, status = os.waitpid(pid, 0)
    print(json.dumps({"status": status}), file=answer, flush=True)


if __name__ == "__main__":
  main()
