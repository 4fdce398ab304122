"""Rules about input functions."""

from __future__ import annotations

from collections.abc import Iterator

from migrator.lint import values
from migrator.lint.checks.registry import Context, Report, check

_PARAMETERS = ("x", "y", "batch_size", "num_epochs", "shuffle")


@check("EM206")
def shuffled(context: Context) -> Iterator[Report]:
  """Queues that mix the rows. Without `shuffle=` the call raises, so nothing is mixed."""
  for call, _ in context.calls_of(
    "tf.estimator.inputs.numpy_input_fn", "tf.estimator.inputs.pandas_input_fn"
  ):
    shuffle = values.arguments(context.module, call, _PARAMETERS).get("shuffle")
    if shuffle is not None and values.literal(context.module, shuffle) not in (False, None):
      yield context.report("EM206", shuffle)
