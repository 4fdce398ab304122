"""Files that were rewritten to keep their model_fn: what they build and run are graphs."""

from __future__ import annotations

import re

# Told from the text, since lint does not parse lines without a name of TensorFlow.
_IMPORT = re.compile(r"^[ \t]*from migrator import runtime(?: as (\w+))?", re.MULTILINE)
_STAND_INS = r"(?:EstimatorSpec|EvalSpec|ModelFn|TPUModelFn|TrainSpec|tpu\.TPUEstimatorSpec)\b"


def is_hosted(text: str) -> bool:
  """Whether a file uses what stands in for the Estimator and its specifications."""
  if "migrator" not in text:
    return False
  names = {match[1] or "runtime" for match in _IMPORT.finditer(text)}
  return any(re.search(rf"(?<![\w.]){name}\.{_STAND_INS}", text) for name in names)
