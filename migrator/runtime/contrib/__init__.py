"""What programs with a model_fn use of `tf.contrib` and what maps one to one, under the same names.

Arguments, variable names, collections and numbers are those of TensorFlow 1.15. What is not exact is not
here.
"""

from migrator.runtime.contrib import (
  crf,
  framework,
  layers,
  lookup,
  losses,
  metrics,
  predictor,
  rnn,
  slim,
  summary,
)

__all__ = [
  "crf",
  "framework",
  "layers",
  "lookup",
  "losses",
  "metrics",
  "predictor",
  "rnn",
  "slim",
  "summary",
]
