"""Findings to print."""

from migrator.analysis.span import Span
from migrator.lint.finding import Finding

MESSAGE = "`tf.train.Saver` saves 100% of it: the variables, by name."
SOURCE = "saver = tf.compat.v1.train.Saver()"


def finding(**changes):
  """A finding of EM401 in line 2, with some things changed."""
  values = {
    "code": "EM401",
    "name": "tf1-saver",
    "message": MESSAGE,
    "path": "src/a.py",
    "span": Span(2, 8, 2, 32),
    "fix": "review",
    "source": SOURCE,
  }
  return Finding(**{**values, **changes})


def unreadable(**changes):
  """A finding of a file that cannot be parsed."""
  values = {"code": "EM001", "name": "syntax-error", "message": "The file cannot be parsed."}
  values.update(path="src/old.py", span=Span(3, 1, 3, 2), fix="manual", source="")
  return finding(**{**values, **changes})
