"""Differences that the rewriter reports, made in the lines of the real hooks: all else must be equal."""

from hooks.lines import FLOAT

FETCHED_IN_END = ("final_ops ", "at_end ")


def method(line):
  """Returns the method of a line, or ""."""
  return (line.split(" ", 2)[1:2] or [""])[0]


def without_last_before_run(lines):
  """EM306: a run that finds no more data has called before_run; a callback is not called then."""
  kept = []
  for number, line in enumerate(lines):
    name = line.split(" ", 1)[0]
    later = (other for other in lines[number + 1 :] if other.split(" ", 1)[0] == name)
    if method(line) == "before_run" and method(next(later, "")) == "end":
      continue
    kept.append(line)
  return kept


def without_counts(lines, hooks):
  """EM306: what hooks that count their before_run print in the end is one less: left out."""
  return [line for line in lines if line.split(" ", 1)[0] not in hooks or method(line) != "end"]


def without_values_of_the_end(lines):
  """EM323: hooks that fetch in the end give what the last step had, instead of one run more."""
  return [FLOAT.sub("*", line) if line.startswith(FETCHED_IN_END) else line for line in lines]


def without_profiles(lines):
  """EM311: nothing orders the first read of the step, from which a ProfilerHook counts.

  In a resumed session the real hook wrote a profile in one of four runs, and none in the others. Its
  steps are compared where the order is fixed: tests/runtime/test_runtime_callbacks_profiler.py.
  """
  return ["profiles *" if line.startswith("profiles ") else line for line in lines]


def begins_first(lines):
  """EM313: the start of all hooks in one order on both sides, begin before after_create_session."""
  ordered, start = [], []
  for line in lines:
    if method(line) in ("begin", "after_create_session"):
      start.append(line)
      continue
    ordered += sorted(start, key=lambda line: method(line) != "begin")
    ordered.append(line)
    start = []
  return ordered + start
