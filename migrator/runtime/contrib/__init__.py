"""What programs with a model_fn use of `tf.contrib` and what maps one to one, under the same names.

Arguments, variable names, collections and numbers are those of TensorFlow 1.15. What is not exact is not
here.
"""

from migrator.runtime.contrib import (
  cloud,
  crf,
  data,
  datasets,
  estimator,
  framework,
  gan,
  layers,
  learn,
  lookup,
  losses,
  metric_learning,
  metrics,
  opt,
  predictor,
  projector,
  rnn,
  slim,
  summary,
  training,
)

__all__ = [
  "cloud",
  "crf",
  "data",
  "datasets",
  "estimator",
  "framework",
  "gan",
  "layers",
  "learn",
  "lookup",
  "losses",
  "metric_learning",
  "metrics",
  "opt",
  "predictor",
  "projector",
  "rnn",
  "slim",
  "summary",
  "training",
]
