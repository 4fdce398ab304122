"""`migrator lint --watch`."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from lint_helpers import BAD, GOOD, TWO, write

PATIENCE = 30  # seconds


class _Watch:
  """The command, running; its lines arrive as they are printed."""

  def __init__(self, repository, *arguments):
    self.lines = []
    self._process = subprocess.Popen(
      [sys.executable, "-u", "-m", "migrator.cli", "lint", "--watch", *arguments],
      stdout=subprocess.PIPE,
      stderr=subprocess.STDOUT,
      text=True,
      env={**os.environ, "PYTHONPATH": str(repository)},
    )
    self._reader = threading.Thread(target=self._read)
    self._reader.start()

  def _read(self):
    for line in self._process.stdout:
      self.lines.append(line.rstrip("\n"))

  def wait_for(self, text):
    """Waits until a line has the text; returns the lines up to it and forgets them."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
      for index, line in enumerate(self.lines):
        if text in line:
          found = self.lines[: index + 1]
          del self.lines[: index + 1]
          return found
      time.sleep(0.02)
    raise AssertionError(f"no {text!r} in {self.lines}")

  def end(self, sent=signal.SIGINT):
    """Ends it as Ctrl-C does; returns the exit code and the last lines."""
    self._process.send_signal(sent)
    code = self._process.wait(PATIENCE)
    self._reader.join(PATIENCE)
    self._process.stdout.close()
    return code, self.lines


@pytest.fixture
def watch(tmp_path, monkeypatch, repository):
  """Starts the command; what is still running afterwards is ended."""
  monkeypatch.chdir(tmp_path)
  started = []

  def start(*arguments):
    started.append(_Watch(repository, *arguments, "--output-format=concise", "--no-cache"))
    return started[-1]

  yield start
  for one in started:
    if one._process.poll() is None:
      one.end(signal.SIGKILL)


def test_it_checks_again_when_files_change_and_ends_cleanly(watch):
  write("a.py", BAD)
  watched = watch()
  assert "EM401" in watched.wait_for("Watching for changes")[0]
  write("a.py", GOOD)
  assert watched.wait_for("Watching for changes")[0] == "No findings; 1 file checked."
  write("sub/b.py", TWO)
  found = watched.wait_for("Watching for changes")
  assert [line.split()[1] for line in found[:2]] == ["EM401", "EM503"]
  os.unlink(os.path.join("sub", "b.py"))
  assert watched.wait_for("Watching for changes")[0] == "No findings; 1 file checked."
  code, lines = watched.end()
  assert code == 130
  assert [line for line in lines if line] == ["Interrupted."]


def test_a_faulty_configuration_can_be_corrected_while_it_watches(watch):
  write("a.py", TWO)
  write("pyproject.toml", '[tool.migrator]\nignore = "EM401"\n')
  watched = watch()
  first = watched.wait_for("Watching for changes")[0]
  assert first.startswith("Error: ")
  assert "ignore must be a list of strings" in first
  write("pyproject.toml", '[tool.migrator]\nignore = ["EM401"]\n')
  assert "EM503" in watched.wait_for("Watching for changes")[0]
  assert watched.end()[0] == 130
