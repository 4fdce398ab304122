"""Hard input through the command line: a clean message, exit 2 or 130, the others still done."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

BAD = "import tensorflow as tf\nsaver = tf.compat.v1.train.Saver()\n"
CONCISE = "--output-format=concise"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  monkeypatch.delenv("MIGRATOR_CACHE_DIR", raising=False)
  monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.parent / "home"))


@pytest.fixture(name="lint")
def _lint(repository):
  """Runs the command in a process; returns (exit code, stdout, stderr)."""

  def run(*arguments, program=None, **options):
    start = ["-m", "migrator.cli"] if program is None else ["-c", program]
    process = subprocess.run(
      [sys.executable, *start, "lint", CONCISE, *arguments],
      capture_output=True,
      env={**os.environ, "PYTHONPATH": str(repository)},
      text=True,
      timeout=120,
      **options,
    )
    assert "Traceback" not in process.stderr
    return process.returncode, process.stdout, process.stderr

  return run


def _write(name, content=BAD):
  os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
  with open(name, "wb") as file:
    file.write(content.encode("utf-8") if isinstance(content, str) else content)


def _codes(output):
  return [line.split(": ")[1].split()[0] for line in output.splitlines()]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_everything_at_once(lint, jobs):
  for name in ("a.py", "dir/b.py", "z.py"):
    _write(name)
  _write("null.py", BAD + "x = '\0'\n")
  _write("latin.py", BAD.encode() + b"# caf\xe9\n")
  _write("book.ipynb", '{"cells": [tensorflow')
  _write("deep.py", BAD + "x = " + "(" * 5000 + ")" * 5000)
  os.symlink(os.path.abspath("dir"), os.path.join("dir", "loop"))
  os.symlink("gone", "dangling.py")
  os.symlink("self.py", "self.py")
  with open("big.py", "wb") as file:
    file.write(BAD.encode())
    file.truncate(100_000_000)
  code, output, errors = lint("--jobs", jobs, ".", "gone.py", "--no-cache")
  assert code == 2
  assert "gone.py: No such file or directory\n" in errors
  found = {
    (os.path.normpath(line.split(":")[0]), line.split(": ")[1][:5]) for line in output.splitlines()
  }
  others = {(name, "EM401") for name in ("a.py", os.path.join("dir", "b.py"), "z.py")}
  assert others <= found
  assert {("latin.py", "EM003"), ("big.py", "EM007"), ("book.ipynb", "EM001")} <= found
  assert {name for name, _ in found} >= {"null.py", "deep.py"}


@pytest.mark.parametrize(
  "expression",
  [
    "(" * 100_000 + ")" * 100_000,
    "-" * 100_000 + "1",
    "a" + ".b" * 100_000,
    "1" + "+1" * 100_000,
    "f" + "()" * 50_000,
    "lambda: " * 20_000 + "1",
    "[" * 150 + "]" * 150,
    "1 if 1 else " * 50_000 + "1",
  ],
  ids=["parentheses", "signs", "attributes", "sum", "calls", "lambdas", "lists", "conditions"],
)
def test_deep_expressions_are_named_or_read_and_cost_no_other_file(lint, expression):
  _write("a.py")
  _write("deep.py", f"{BAD}x = {expression}\n")
  _write("z.py")
  code, output, errors = lint("a.py", "deep.py", "z.py", "--no-cache")
  lines = output.splitlines()
  assert lines[0].startswith("a.py:2:9: EM401")
  assert lines[-1].startswith("z.py:2:9: EM401")
  named = [line for line in (*lines, *errors.splitlines()) if line.startswith("deep.py")]
  assert len(named) == 1
  assert code == (1 if "EM401" in named[0] else 2)


def test_deep_blocks(lint):
  _write("a.py", BAD + "".join(" " * i + "if x:\n" for i in range(300)) + " " * 300 + "pass\n")
  _write("z.py")
  code, output, _ = lint("a.py", "z.py")
  assert code == 2
  assert _codes(output) == ["EM001", "EM401"]


def test_a_crash_of_the_interpreter_costs_one_file(lint):
  for number in range(12):
    _write(f"{number:02}.py", BAD + ("#crash\n" if number == 5 else ""))
  program = (
    "import os\nfrom migrator.cli import main\nfrom migrator.lint import engine\n"
    "real = engine.examine_bytes\n"
    "def examine_bytes(raw, path, **options):\n"
    "  if b'#crash' in raw: os.kill(os.getpid(), 11)\n"
    "  return real(raw, path, **options)\n"
    "engine.examine_bytes = examine_bytes\n"
    "main()\n"
  )
  code, output, errors = lint("--jobs", "2", ".", program=program)
  assert code == 2
  assert _codes(output) == ["EM401"] * 11
  place = os.path.join(".", "05.py")
  assert f"{place}: the process died while it examined this file; it was not checked." in errors


def test_memory_stays_small_with_a_large_file(lint):
  with open("big.py", "wb") as file:
    for _ in range(100):
      file.write(b"x = [0.25, 0.5]\n" * 65536)
    file.write(BAD.encode())
  program = (
    "import resource\nfrom migrator.cli import main\n"
    "try:\n  main()\n"
    "finally:\n"
    "  peaks = [resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss]\n"
    "  try:\n"  # on Linux ru_maxrss holds that of the process that started this one
    "    lines = open('/proc/self/status').read().splitlines()\n"
    "    peaks += [int(line.split()[1]) for line in lines if line.startswith('VmHWM')]\n"
    "  except OSError:\n"
    "    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    "  print('peak', max(peaks))\n"
  )
  code, output, _ = lint("big.py", program=program)
  finding, peak = output.splitlines()
  assert code == 2
  assert "EM007 The file is not checked: its 104.9 MB" in finding
  # In KiB, on macOS in bytes.
  assert int(peak.split()[1]) < 100_000 * (1024 if sys.platform == "darwin" else 1)


@pytest.mark.parametrize("content", [b"", b"garbage", b"[" * 50_000, b'["0.0.1", {}]'])
def test_a_cache_that_is_garbage_or_of_another_version(lint, content):
  _write("a.py")
  first = lint("a.py")
  (name,) = [n for n in os.listdir(".migrator_cache") if n.startswith("lint-")]
  _write(os.path.join(".migrator_cache", name), content)
  assert lint("a.py") == first
  assert lint("a.py") == first


def test_a_cache_that_cannot_be_written(lint):
  _write("a.py")
  _write(".migrator_cache", "a file where the folder should be")
  code, output, errors = lint("a.py")
  assert (code, _codes(output)) == (1, ["EM401"])
  assert "cache" not in errors


def test_no_cache_leaves_nothing(lint):
  _write("a.py")
  lint("a.py", "--no-cache")
  assert os.listdir(".") == ["a.py"]


def test_the_cache_finds_the_same(lint):
  _write("sub/a.py")
  _write("sub/old.py", BAD + "x = (\n")
  cells = [{"cell_type": "code", "source": BAD}]
  _write("n.ipynb", json.dumps({"cells": cells, "nbformat": 4}))
  plain = lint(".", "--no-cache")
  assert [lint(".") for _ in range(3)] == [plain] * 3


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_is_130_without_a_traceback_and_leaves_no_process(repository, jobs):
  for number in range(20):
    _write(f"{number:02}.py", BAD)
  program = (
    "import os, time\nfrom migrator.cli import main\nfrom migrator.lint import engine\n"
    "def wait(raw, path, **options):\n"
    "  with open('started', 'a') as file: file.write(f'{os.getpid()}\\n')\n"
    "  time.sleep(60)\n"
    "engine.examine_bytes = wait\n"
    f"main(['lint', '--no-cache', '--jobs', '{jobs}', '.'])\n"
  )
  process = subprocess.Popen(
    [sys.executable, "-c", program],
    env={**os.environ, "PYTHONPATH": str(repository)},
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
    text=True,
    start_new_session=True,
  )
  workers = _wait_for_workers(int(jobs))
  os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the whole group
  output, errors = process.communicate(timeout=60)
  assert (process.returncode, output, errors.strip()) == (130, "", "Interrupted.")
  for worker in workers:
    with pytest.raises(ProcessLookupError):
      os.kill(worker, 0)


def _wait_for_workers(count):
  limit = time.monotonic() + 60
  while time.monotonic() < limit:
    if os.path.exists("started"):
      with open("started") as file:
        lines = file.read().split("\n")[:-1]
      if len(lines) == count:
        return [int(line) for line in lines]
    time.sleep(0.05)
  return pytest.fail("the work has not begun")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_reader_that_goes_away_ends_the_run_quietly(repository, jobs):
  for number in range(30):
    _write(f"{number:02}.py", "import tensorflow as tf\n" + "tf.train.Saver()\n" * 500)
  command = f'"{sys.executable}" -m migrator.cli lint {CONCISE} --jobs {jobs} . | head -1'
  process = subprocess.run(
    ["bash", "-c", command],
    env={**os.environ, "PYTHONPATH": str(repository)},
    capture_output=True,
    text=True,
  )
  assert len(process.stdout.splitlines()) == 1
  assert process.stderr == "" or "finding" in process.stderr
  assert "Traceback" not in process.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_file_that_may_not_be_read(lint, jobs):
  for name in ("a.py", "b.py", "c.py"):
    _write(name)
  # Modes mean nothing to root, as which the tests may run.
  program = (
    "import os\nfrom migrator.cli import main\nreal = os.open\n"
    "def refuse(path, *args, **options):\n"
    "  if str(path).endswith('b.py'): raise PermissionError(13, 'Permission denied', path)\n"
    "  return real(path, *args, **options)\n"
    "os.open = refuse\n"
    "main()\n"
  )
  code, output, errors = lint("--jobs", jobs, "--no-cache", ".", program=program)
  assert (code, _codes(output)) == (2, ["EM401", "EM401"])
  assert os.path.join(".", "b.py") + ": Permission denied" in errors
