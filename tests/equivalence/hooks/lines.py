"""Compares what hooks print: text and whole numbers exactly, other numbers by a tolerance."""

import itertools
import math
import re

from migrator.verify import compare

FLOAT = re.compile(r"(-?\d+\.\d+(?:e[-+]?\d+)?)")
ABSOLUTE = 2e-6  # the printed numbers have six digits after the point


def of(name, lines):
  """Returns the lines that a hook printed: those that begin with its name."""
  return [line for line in lines if line.split(" ", 1)[0] == name]


def difference(expected, found, tolerance=compare.STOCK):
  """Compares two lists of lines.

  Args:
    expected: What the legacy program printed.
    found: What the migrated program printed.
    tolerance: Relative, of numbers with a decimal point. All others are text.

  Returns:
    None, or what the first difference is.
  """
  for number, (old, new) in enumerate(itertools.zip_longest(expected, found), 1):
    if old is None or new is None or not _equal(old, new, tolerance):
      return f"line {number} of {len(expected)} is {old!r}, migrated {new!r} of {len(found)}"
  return None


def _equal(old, new, tolerance):
  parts = FLOAT.split(old), FLOAT.split(new)
  if len(parts[0]) != len(parts[1]) or parts[0][::2] != parts[1][::2]:
    return False
  numbers = zip(parts[0][1::2], parts[1][1::2])
  return all(
    math.isclose(float(a), float(b), rel_tol=tolerance, abs_tol=ABSOLUTE) for a, b in numbers
  )
