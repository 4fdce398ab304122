"""Many files: in order, in several processes, and whatever goes wrong with one of them."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from migrator.lint import engine, large, pool, rules, run, spawned
from migrator.lint.rule import RuleError
from migrator.source import walk

BAD = "import tensorflow as tf\nsaver = tf.compat.v1.train.Saver()\n"
# What a file does to the process that examines it.
CRASH, KILL, DEFECT, FAULTY_RULE = "#crash", "#kill", "#defect", "#rule"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)


def _files(count, special=None):
  """Writes files; `special` maps numbers to texts at their end."""
  special = special or {}
  files = []
  for number in range(count):
    path = f"{number:03}.py"
    with open(path, "w", encoding="utf-8") as file:
      file.write(BAD + special.get(number, ""))
    files.append(walk.SourceFile(path, False))
  return files


@pytest.fixture
def _dangerous(monkeypatch):
  """Makes the engine do what a file asks for."""
  real = engine.examine_bytes

  def examine_bytes(raw, path, **options):
    if CRASH.encode() in raw:
      os._exit(139)
    if KILL.encode() in raw:
      os.kill(os.getpid(), signal.SIGKILL)
    if DEFECT.encode() in raw:
      raise KeyError("x")
    if FAULTY_RULE.encode() in raw:
      raise RuleError("ACME001: the message needs who")
    return real(raw, path, **options)

  monkeypatch.setattr(engine, "examine_bytes", examine_bytes)


def _no_child_is_left():
  with pytest.raises(ChildProcessError):
    os.waitpid(-1, os.WNOHANG)
  return True


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_outcomes_are_in_the_order_of_the_files(jobs):
  files = _files(40, {3: "x = '" + "a" * 150_000 + "'\n"})
  outcomes = list(run.examine_all(files, jobs=jobs))
  assert [o.path for o in outcomes] == [f.path for f in files]
  assert all([f.code for f in o.examined.findings] == ["EM401"] for o in outcomes)
  assert [o.examined.path for o in outcomes] == [f.path for f in files]
  assert _no_child_is_left()


def test_one_process_and_several_find_the_same(repository):
  files = list(walk.find([str(repository / "fixtures"), str(repository / "tests")]))
  assert len(files) > 20
  assert list(run.examine_all(files, jobs=1)) == list(run.examine_all(files, jobs=3))


def test_no_files_are_no_outcomes():
  assert list(run.examine_all([])) == []
  assert list(run.examine_all([], jobs=4)) == []


def test_files_without_findings_have_outcomes_too():
  files = _files(3)
  with open("001.py", "w") as file:
    file.write("x = 1\n")
  outcomes = list(run.examine_all(files))
  assert [len(o.examined.findings) for o in outcomes] == [1, 0, 1]


def test_done_counts_up_to_all_files():
  counts = []
  list(run.examine_all(_files(30), jobs=2, on_done=counts.append))
  assert counts == sorted(counts)
  assert counts[-1] == 30


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_that_is_gone_or_cannot_be_read_is_named(jobs):
  files = _files(4)
  os.unlink("001.py")
  os.unlink("002.py")
  os.mkdir("002.py")
  problems = [o.problem for o in run.examine_all(files, jobs=jobs)]
  assert problems == [None, "001.py: No such file or directory", "002.py: Is a directory", None]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_defect_in_one_file_does_not_cost_the_others(jobs, _dangerous, monkeypatch):
  files = _files(6, {4: DEFECT})
  outcomes = list(run.examine_all(files, jobs=jobs))
  assert outcomes[4].problem.startswith("004.py: internal error (KeyError: 'x'); the file was not")
  assert outcomes[4].examined is None
  assert [o.problem is None for o in outcomes] == [True] * 4 + [False, True]
  monkeypatch.setenv("MIGRATOR_DEBUG", "1")
  outcomes = list(run.examine_all(files, jobs=jobs))
  assert outcomes[4].problem.startswith("Traceback")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_faulty_rule_ends_the_run(jobs, _dangerous):
  with pytest.raises(RuleError, match="ACME001: the message needs who"):
    list(run.examine_all(_files(6, {4: FAULTY_RULE}), jobs=jobs))
  assert _no_child_is_left()


@pytest.mark.parametrize("special", [{0: CRASH}, {39: KILL}, {1: CRASH, 2: CRASH, 20: KILL}])
def test_a_process_that_dies_costs_only_the_file_that_it_was_at(special, _dangerous):
  outcomes = list(run.examine_all(_files(40, special), jobs=2))
  died = {i for i, o in enumerate(outcomes) if o.problem is not None}
  assert died == set(special)
  assert all("the process died while it examined this file" in outcomes[i].problem for i in died)
  assert all(len(o.examined.findings) == 1 for i, o in enumerate(outcomes) if i not in died)
  assert _no_child_is_left()


def test_a_large_file_at_which_python_crashes_is_named_even_in_a_small_run(_dangerous):
  files = _files(2, {1: "x = '" + "a" * 300_000 + "'\n" + CRASH})
  first, second = run.examine_all(files)
  assert len(first.examined.findings) == 1
  assert "the process died" in second.problem


def test_processes_that_die_outside_of_any_task_end_the_run(monkeypatch):
  monkeypatch.setattr(pool._Crew, "_serve", lambda *a: os._exit(1))
  with pytest.raises(RuntimeError, match="killed again and again"):
    list(pool.run(lambda task: None, [[1], [2]], 2))
  assert _no_child_is_left()


def test_closing_early_leaves_no_process():
  outcomes = run.examine_all(_files(40), jobs=2)
  next(outcomes)
  outcomes.close()
  assert _no_child_is_left()


def test_an_interrupt_leaves_no_process(monkeypatch):
  real = engine.examine_bytes
  parent = os.getpid()

  def examine_bytes(raw, path, **options):
    if path == "005.py":
      os.kill(parent, signal.SIGINT)
      time.sleep(60)
    return real(raw, path, **options)

  monkeypatch.setattr(engine, "examine_bytes", examine_bytes)
  begin = time.monotonic()
  with pytest.raises(KeyboardInterrupt):
    list(run.examine_all(_files(20), jobs=2))
  assert time.monotonic() - begin < 30
  assert _no_child_is_left()


@pytest.mark.parametrize("moment", ["before", "after_in_parent"])
def test_an_interrupt_at_a_fork_is_not_lost_where_there_are_threads(repository, moment):
  program = (
    "import os, signal, threading, time\n"
    "from migrator.lint import pool\n"
    "threading.Thread(target=time.sleep, args=(300,), daemon=True).start()\n"
    "sent = []\n"
    "def interrupt():\n"
    "  if not sent:\n"
    "    sent.append(os.kill(os.getpid(), signal.SIGINT))\n"
    "    time.sleep(0.2)  # the handler runs meanwhile\n"
    f"os.register_at_fork({moment}=interrupt)\n"
    "try:\n"
    "  list(pool.run(lambda task: time.sleep(300), [[0], [1]], 2))\n"
    "except KeyboardInterrupt:\n"
    "  print('interrupted')\n"
    "try:\n"
    "  os.wait()\n"
    "except ChildProcessError:\n"
    "  print('no process is left')\n"
    "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)\n"
  )
  process = subprocess.run(
    [sys.executable, "-W", "ignore", "-c", program],
    cwd=repository,
    capture_output=True,
    text=True,
    timeout=60,
  )
  assert process.stdout.split("\n") == ["interrupted", "no process is left", "True", ""]
  assert process.stderr == ""


def test_processes_are_started_from_any_thread():
  found = []
  thread = threading.Thread(target=lambda: found.extend(pool.run(lambda n: n, [[1], [2]], 2)))
  thread.start()
  thread.join(60)
  assert sorted(results for _, results in found) == [[(1, 1)], [(2, 2)]]
  assert _no_child_is_left()


def test_processes_end_when_the_first_one_is_killed(repository):
  program = (
    "from migrator.lint import pool\n"
    "def work(task):\n"
    "  if task == 2:\n"
    "    print('at work', flush=True)\n"
    "  return 'x' * 200_000  # more than a pipe holds\n"
    "chunks = [[number] for number in range(1000)]\n"
    "results = pool.run(work, chunks, 3)\n"
    "next(results)\n"
    "input()\n"
  )
  with subprocess.Popen(
    [sys.executable, "-c", program],
    cwd=repository,
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
  ) as process:
    assert process.stdout.readline() == b"at work\n"
    process.kill()
    # The others have inherited stdout: it ends when they do.
    assert process.communicate(timeout=30) == (b"", None)


def test_rules_of_a_team_reach_all_processes(monkeypatch):
  with open("acme.toml", "w") as file:
    file.write(
      'code = "ACME001"\nname = "acme"\nmessage = "No."\nwhy = "So."\n'
      '[[match]]\nsymbols = ["acme.train"]\n[[examples]]\nbad = "import acme\\nacme.train()"\n'
    )
  for number in range(4):
    with open(f"{number}.py", "w") as file:
      file.write("import acme\nacme.train()\n")
  files = [walk.SourceFile(f"{n}.py", False) for n in range(4)]
  rules.use(["acme.toml"])
  try:
    for available in (True, False):
      monkeypatch.setattr(pool, "is_available", lambda available=available: available)
      outcomes = list(run.examine_all(files, jobs=2))
      assert [f.code for o in outcomes for f in o.examined.findings] == ["ACME001"] * 4
  finally:
    rules.use([])


# -- where no process can be forked ---------------------------------------------


def test_new_processes_find_the_same(monkeypatch):
  files = _files(12, {5: "x = (\n"})
  os.unlink("007.py")
  forked = list(run.examine_all(files, jobs=2))
  monkeypatch.setattr(pool, "is_available", lambda: False)
  assert list(run.examine_all(files, jobs=2)) == forked
  assert forked[7].problem == "007.py: No such file or directory"


def test_a_new_process_that_dies_costs_only_its_file(monkeypatch):
  files = _files(4)
  # The engine of a new process cannot be replaced from here; a task that it cannot unpack can.
  sizes = [0, _Deadly(), 0, 0]
  done = {}
  for _, results in spawned.run(files, sizes, [[0, 1], [2, 3]], 2):
    done.update(results)
  assert isinstance(done[1], pool.Died)
  assert [done[n][2] != [] for n in (0, 2, 3)] == [True] * 3


class _Deadly:
  """Kills the process that unpickles it."""

  def __reduce__(self):
    return os._exit, (1,)


# -- large files ------------------------------------------------------------------


def _sparse(path, size, *, text=b"", at=0):
  with open(path, "wb") as file:
    file.truncate(size)
    file.seek(at)
    file.write(text)


@pytest.mark.parametrize("at", [0, (1 << 20) - 4, 90_000_000])
def test_a_large_file_that_mentions_what_rules_are_about_is_named(at):
  _sparse("big.py", 100_000_000, text=BAD.encode(), at=at)
  (outcome,) = run.examine_all([walk.SourceFile("big.py", False)])
  (finding,) = outcome.examined.findings
  assert finding.code == "EM007"
  assert "100.0 MB" in finding.message
  assert finding.is_error


def test_a_large_file_about_something_else_is_passed_over():
  _sparse("big.py", 100_000_000, text=b"x = 1\n")
  (outcome,) = run.examine_all([walk.SourceFile("big.py", True)])
  assert outcome.examined.findings == ()


def test_a_notebook_may_be_larger():
  assert not large.is_too_large("n.ipynb", large.LIMIT + 1)
  assert large.is_too_large("n.ipynb", large.NOTEBOOK_LIMIT + 1)


def test_stdin_has_the_same_limit():
  raw = BAD.encode() + b"#" * large.LIMIT
  assert [f.code for f in run.examine_stdin(raw, "a.py").examined.findings] == ["EM007"]
  assert [f.code for f in run.examine_stdin(BAD.encode(), "a.py").examined.findings] == ["EM401"]
