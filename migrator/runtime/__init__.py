"""What migrated programs import: checkpoints, policies and results of an Estimator, in TF2.

Needs TensorFlow 2.15 or later, with Keras 2 or Keras 3, and nothing else. TensorFlow is imported with
the first name that needs it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
  from migrator.runtime import (
    columns,
    contrib,
    export,
    graph_heads,
    heads,
    hosted_hooks,
    layers,
    optimizers,
    rnn_cell,
    tpu,
  )
  from migrator.runtime.backup import BackupAndRestore
  from migrator.runtime.callbacks.checkpoint_saver import CheckpointSaver
  from migrator.runtime.callbacks.early_stopping import (
    make_early_stopping,
    stop_if_higher,
    stop_if_lower,
    stop_if_no_decrease,
    stop_if_no_increase,
  )
  from migrator.runtime.callbacks.final_ops import FinalOps
  from migrator.runtime.callbacks.in_memory_evaluator import InMemoryEvaluator
  from migrator.runtime.callbacks.logging_tensor import LoggingTensor
  from migrator.runtime.callbacks.nan_tensor import NanTensor
  from migrator.runtime.callbacks.profiler import Profiler
  from migrator.runtime.callbacks.step_counter import StepCounter
  from migrator.runtime.callbacks.stop_at_step import StopAtStep
  from migrator.runtime.errors import CheckpointError
  from migrator.runtime.evaluation import evaluate, predict
  from migrator.runtime.evaluations import Evaluation
  from migrator.runtime.export.saved_model import export_saved_model
  from migrator.runtime.hosting.adding import add_metrics
  from migrator.runtime.hosting.array_inputs import numpy_input_fn, pandas_input_fn
  from migrator.runtime.hosting.model_fn import ModelFn
  from migrator.runtime.hosting.modes import ModeKeys
  from migrator.runtime.hosting.places import (
    checkpoints_iterator,
    get_checkpoint_state,
    latest_checkpoint,
    load_global_step,
  )
  from migrator.runtime.hosting.run_config import RunConfig
  from migrator.runtime.hosting.specs import EstimatorSpec
  from migrator.runtime.hosting.train_and_evaluate import EvalSpec, TrainSpec, train_and_evaluate
  from migrator.runtime.input_functions import input_dataset
  from migrator.runtime.inputs import only_inputs
  from migrator.runtime.keras_inputs import LayerNames, input_layer, inputs_like, model_inputs
  from migrator.runtime.listeners import CheckpointSaverListener
  from migrator.runtime.load import LoadReport, load_tf1_checkpoint
  from migrator.runtime.load_weights import load_weights
  from migrator.runtime.manager import CheckpointManager
  from migrator.runtime.name_map import NameMap
  from migrator.runtime.named import NamedCheckpoint, named_checkpoint
  from migrator.runtime.network import Network, batches
  from migrator.runtime.network.sequential import sequential
  from migrator.runtime.steps import fetch, global_step
  from migrator.runtime.suggesting import suggest_map
  from migrator.runtime.summaries import SummarySaver
  from migrator.runtime.tpu.model_fn import TPUModelFn
  from migrator.runtime.variables import get_variable_names, get_variable_value
  from migrator.runtime.warm_start import VocabInfo, WarmStartSettings

_MODULES = {
  "BackupAndRestore": "backup",
  "CheckpointError": "errors",
  "CheckpointManager": "manager",
  "CheckpointSaver": "callbacks.checkpoint_saver",
  "CheckpointSaverListener": "listeners",
  "EstimatorSpec": "hosting.specs",
  "EvalSpec": "hosting.train_and_evaluate",
  "Evaluation": "evaluations",
  "FinalOps": "callbacks.final_ops",
  "InMemoryEvaluator": "callbacks.in_memory_evaluator",
  "LayerNames": "keras_inputs",
  "LoadReport": "load",
  "LoggingTensor": "callbacks.logging_tensor",
  "ModeKeys": "hosting.modes",
  "ModelFn": "hosting.model_fn",
  "NameMap": "name_map",
  "NamedCheckpoint": "named",
  "NanTensor": "callbacks.nan_tensor",
  "Network": "network",
  "Profiler": "callbacks.profiler",
  "RunConfig": "hosting.run_config",
  "StepCounter": "callbacks.step_counter",
  "StopAtStep": "callbacks.stop_at_step",
  "SummarySaver": "summaries",
  "TPUModelFn": "tpu.model_fn",
  "TrainSpec": "hosting.train_and_evaluate",
  "VocabInfo": "warm_start",
  "WarmStartSettings": "warm_start",
  "add_metrics": "hosting.adding",
  "batches": "network",
  "checkpoints_iterator": "hosting.places",
  "evaluate": "evaluation",
  "export_saved_model": "export.saved_model",
  "fetch": "steps",
  "get_checkpoint_state": "hosting.places",
  "get_variable_names": "variables",
  "get_variable_value": "variables",
  "global_step": "steps",
  "input_dataset": "input_functions",
  "input_layer": "keras_inputs",
  "inputs_like": "keras_inputs",
  "latest_checkpoint": "hosting.places",
  "load_global_step": "hosting.places",
  "load_tf1_checkpoint": "load",
  "load_weights": "load_weights",
  "make_early_stopping": "callbacks.early_stopping",
  "model_inputs": "keras_inputs",
  "named_checkpoint": "named",
  "numpy_input_fn": "hosting.array_inputs",
  "only_inputs": "inputs",
  "pandas_input_fn": "hosting.array_inputs",
  "predict": "evaluation",
  "sequential": "network.sequential",
  "stop_if_higher": "callbacks.early_stopping",
  "stop_if_lower": "callbacks.early_stopping",
  "stop_if_no_decrease": "callbacks.early_stopping",
  "stop_if_no_increase": "callbacks.early_stopping",
  "suggest_map": "suggesting",
  "train_and_evaluate": "hosting.train_and_evaluate",
}

__all__ = [
  "BackupAndRestore",
  "CheckpointError",
  "CheckpointManager",
  "CheckpointSaver",
  "CheckpointSaverListener",
  "EstimatorSpec",
  "EvalSpec",
  "Evaluation",
  "FinalOps",
  "InMemoryEvaluator",
  "LayerNames",
  "LoadReport",
  "LoggingTensor",
  "ModeKeys",
  "ModelFn",
  "NameMap",
  "NamedCheckpoint",
  "NanTensor",
  "Network",
  "Profiler",
  "RunConfig",
  "StepCounter",
  "StopAtStep",
  "SummarySaver",
  "TPUModelFn",
  "TrainSpec",
  "VocabInfo",
  "WarmStartSettings",
  "add_metrics",
  "batches",
  "checkpoints_iterator",
  "columns",
  "contrib",
  "evaluate",
  "export",
  "export_saved_model",
  "fetch",
  "get_checkpoint_state",
  "get_variable_names",
  "get_variable_value",
  "global_step",
  "graph_heads",
  "heads",
  "hosted_hooks",
  "input_dataset",
  "input_layer",
  "inputs_like",
  "latest_checkpoint",
  "layers",
  "load_global_step",
  "load_tf1_checkpoint",
  "load_weights",
  "make_early_stopping",
  "model_inputs",
  "named_checkpoint",
  "numpy_input_fn",
  "only_inputs",
  "optimizers",
  "pandas_input_fn",
  "predict",
  "rnn_cell",
  "sequential",
  "stop_if_higher",
  "stop_if_lower",
  "stop_if_no_decrease",
  "stop_if_no_increase",
  "suggest_map",
  "tpu",
  "train_and_evaluate",
]


def __getattr__(name: str) -> Any:
  if name in (
    "columns",
    "contrib",
    "export",
    "graph_heads",
    "heads",
    "hosted_hooks",
    "layers",
    "optimizers",
    "rnn_cell",
    "tpu",
  ):
    return importlib.import_module(f"{__name__}.{name}")
  if name not in _MODULES:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
  value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
  globals()[name] = value
  return value


def __dir__() -> list[str]:
  return sorted({*globals(), *__all__})
