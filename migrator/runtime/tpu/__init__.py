"""What `tf.estimator.tpu` was for, on CPU and GPU: the same programs with `use_tpu=False`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
  from migrator.runtime.tpu.config import InputPipelineConfig, RunConfig, TPUConfig
  from migrator.runtime.tpu.loops import repeat, while_loop
  from migrator.runtime.tpu.optimizer import CrossShardOptimizer
  from migrator.runtime.tpu.spec import TPUEstimatorSpec

_MODULES = {
  "CrossShardOptimizer": "optimizer",
  "InputPipelineConfig": "config",
  "RunConfig": "config",
  "TPUConfig": "config",
  "TPUEstimatorSpec": "spec",
  "repeat": "loops",
  "while_loop": "loops",
}

__all__ = [
  "CrossShardOptimizer",
  "InputPipelineConfig",
  "RunConfig",
  "TPUConfig",
  "TPUEstimatorSpec",
  "repeat",
  "while_loop",
]


def __getattr__(name: str) -> Any:
  if name not in _MODULES:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
  value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
  globals()[name] = value
  return value


def __dir__() -> list[str]:
  return sorted({*globals(), *__all__})
