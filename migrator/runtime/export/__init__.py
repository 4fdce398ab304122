"""What `tf.estimator.export` and the exporters were for: SavedModels with an Estimator's signatures."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
  from migrator.runtime.export.exporters import (
    BestExporter,
    Exporter,
    FinalExporter,
    LatestExporter,
  )
  from migrator.runtime.export.outputs import (
    ClassificationOutput,
    EvalOutput,
    ExportOutput,
    PredictOutput,
    RegressionOutput,
  )
  from migrator.runtime.export.receivers import (
    ServingInputReceiver,
    SupervisedInputReceiver,
    TensorServingInputReceiver,
    build_parsing_serving_input_receiver_fn,
    build_raw_serving_input_receiver_fn,
    build_raw_supervised_input_receiver_fn,
  )

_MODULES = {
  "BestExporter": "exporters",
  "ClassificationOutput": "outputs",
  "EvalOutput": "outputs",
  "ExportOutput": "outputs",
  "Exporter": "exporters",
  "FinalExporter": "exporters",
  "LatestExporter": "exporters",
  "PredictOutput": "outputs",
  "RegressionOutput": "outputs",
  "ServingInputReceiver": "receivers",
  "SupervisedInputReceiver": "receivers",
  "TensorServingInputReceiver": "receivers",
  "build_parsing_serving_input_receiver_fn": "receivers",
  "build_raw_serving_input_receiver_fn": "receivers",
  "build_raw_supervised_input_receiver_fn": "receivers",
}

__all__ = [
  "BestExporter",
  "ClassificationOutput",
  "EvalOutput",
  "ExportOutput",
  "Exporter",
  "FinalExporter",
  "LatestExporter",
  "PredictOutput",
  "RegressionOutput",
  "ServingInputReceiver",
  "SupervisedInputReceiver",
  "TensorServingInputReceiver",
  "build_parsing_serving_input_receiver_fn",
  "build_raw_serving_input_receiver_fn",
  "build_raw_supervised_input_receiver_fn",
]


def __getattr__(name: str) -> Any:
  if name not in _MODULES:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
  value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
  globals()[name] = value
  return value


def __dir__() -> list[str]:
  return sorted({*globals(), *__all__})
