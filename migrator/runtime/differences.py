"""Says in one message how a checkpoint differs from the program that wants to restore it."""

from __future__ import annotations

from typing import Optional

import tensorflow as tf

from migrator.runtime.errors import CheckpointError


def compare(
  prefix: str,
  expected: dict[str, tuple],
  found: dict[str, tuple],
  optimizers: tuple[str, str],
) -> None:
  """Raises one error that lists every difference between the program's and the file's variables.

  Args:
    prefix: the checkpoint.
    expected: name -> shape of the program's variables.
    found: name -> shape of the checkpoint's variables.
    optimizers: the names of the checkpoint's and of the program's optimizer.

  Raises:
    CheckpointError: if there is any difference.
  """
  mismatched = [n for n in sorted(expected) if n in found and found[n] != expected[n]]
  missing = [n for n in sorted(expected) if n not in found]
  unused = [n for n in sorted(found) if n not in expected]
  if not (mismatched or missing or unused):
    return
  lines = [f"{prefix} does not fit the model; nothing has been loaded."]
  if optimizers[0] != optimizers[1]:
    lines.append(f"It was written with {optimizers[0]}, the program uses {optimizers[1]}.")
  for name in mismatched:
    lines.append(
      f"  {name}: {list(found[name])} in the checkpoint, {list(expected[name])} in the model"
    )
  for name in missing:
    lines.append(f"  {name}: not in the checkpoint, {list(expected[name])} in the model")
  for name in unused:
    lines.append(f"  {name}: {list(found[name])} in the checkpoint, not in the model")
  lines.append(
    "Ways out: train in another model_dir; or restore the sizes and the optimizer with which the "
    "checkpoint was written; or start in another model_dir and assign the layers that match by hand "
    "(tf.train.load_checkpoint(...).get_tensor(name)), as a warm start."
  )
  raise CheckpointError("\n".join(lines))


def flavour_message(prefix: str, found: str, wanted: str) -> str:
  """Returns the message about a checkpoint of the other flavour."""
  losses = {"v1": "the sum over the batch", "v2": "the mean over the batch"}
  return (
    f"{prefix} was written by a {found} Estimator, whose loss is {losses[found]}; this program was "
    f"migrated from a {wanted} one, whose loss is {losses[wanted]}. Migrate it with "
    f"--source-version {found[1:]}, or use another model_dir."
  )


def number(variable: Optional[tf.Variable]) -> Optional[float]:
  """Returns the value of a scalar variable, None for None."""
  return None if variable is None else float(variable.numpy())


def report_learning_rate(
  prefix: str, before: Optional[float], variable: Optional[tf.Variable]
) -> None:
  """Warns if the checkpoint has brought another learning rate than the program's."""
  after = number(variable)
  if before != after:
    tf.get_logger().warning(
      "The learning rate %g of %s replaces the program's %g, as the Estimator did.",
      after,
      prefix,
      before,
    )
