"""What the export of a network has for outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Optional

from migrator.runtime.export import outputs as export_outputs
from migrator.runtime.heads.base import CLASSIFY, PREDICT, REGRESS
from migrator.runtime.network.arguments import call


def outputs(
  network: Any, function: Optional[Callable[..., Any]], features: Any
) -> dict[str, tuple[str, dict]]:
  """Returns name -> (method, output name -> tensor) of each output of an export.

  Args:
    network: a `Network`.
    function: of its outputs, see `arguments.call`; returns a dict of `runtime.export.PredictOutput` and the like,
      or the predictions; None for the outputs themselves.
    features: what the receiver gives.

  Raises:
    ValueError: with the Estimator's message, if of several outputs none is the default.
  """
  found = network(features, training=False)
  if function is not None:
    found = call(function, found, features=features, params=network.params, training=False)
  kinds = export_outputs.ExportOutput
  if isinstance(found, Mapping) and any(isinstance(v, kinds) for v in found.values()):
    named = export_outputs.serving_outputs(dict(found), None)
  else:
    named = export_outputs.serving_outputs(None, found)
  return {name: _tensors(output) for name, output in named.items()}


def _tensors(output: export_outputs.ExportOutput) -> tuple[str, dict]:
  """Returns the method and the tensors of an output.

  Raises:
    TypeError: for one that no prediction has.
  """
  if isinstance(output, export_outputs.ClassificationOutput):
    given = {"classes": output.classes, "scores": output.scores}
    return CLASSIFY, {name: tensor for name, tensor in given.items() if tensor is not None}
  if isinstance(output, export_outputs.RegressionOutput):
    return REGRESS, {"outputs": output.value}
  if isinstance(output, export_outputs.PredictOutput):
    return PREDICT, output.outputs
  raise TypeError(f"{type(output).__name__} is no output of a prediction.")
