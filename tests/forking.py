"""Runs programs in processes that need not import TensorFlow: they are forked."""

import json
import os
import pathlib
import signal
import subprocess
import threading

from migrator.verify import runs

HERE = pathlib.Path(__file__).resolve().parent


class ForkingInterpreter(runs.Interpreter):
  """An interpreter that imports TensorFlow once for all programs that it runs, one after the other.

  Args:
    variables: Of the process environment, besides those of this process.
  """

  _server = None

  def __init__(self, *args, variables=None, **kwargs):
    super().__init__(*args, **kwargs)
    self._variables = variables or {}
    self._lock = threading.Lock()

  def run(self, job):
    """Runs a program to its end; see runs.Interpreter.run."""
    record = job.scratch.next_record()
    record.touch()
    output, errors = record.with_suffix(".stdout"), record.with_suffix(".stderr")
    task = {
      "arguments": job.observer_arguments(record),
      "cwd": str(job.scratch.cwd),
      "path": [str(runs.link_package(job.scratch.directory / "path"))] if self.runtime else [],
      "stdout": str(output),
      "stderr": str(errors),
    }
    with self._lock:
      server = self._start()
      server.stdin.write(json.dumps(task) + "\n")
      server.stdin.flush()
      pid = json.loads(server.stdout.readline())["pid"]
      timer = threading.Timer(self.timeout, os.killpg, (pid, signal.SIGKILL))
      timer.start()
      status = json.loads(server.stdout.readline())["status"]
      timer.cancel()
    code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    events = runs.read_record(record)
    if code == -signal.SIGKILL and not any(event["event"] == "kill" for event in events):
      raise runs.CannotRunError(f"{job.program} ran longer than {self.timeout:g} seconds")
    return runs.Run(code, events, output.read_text(), errors.read_text(errors="replace"))

  def _start(self):
    if self._server is None:
      variables = {**os.environ, **self._variables}
      variables.pop("PYTHONPATH", None)
      self._server = subprocess.Popen(
        [self.python, str(HERE / "fork_server.py"), str(runs.OBSERVER.parent)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=variables,
      )
    return self._server

  def close(self):
    if self._server is not None:
      self._server.stdin.close()
      self._server.wait()
