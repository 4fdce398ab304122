"""Metrics that a program adds to a model, as `tf.estimator.add_metrics` did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from migrator.runtime.hosting import arguments
from migrator.runtime.hosting.model_fn import ModelFn
from migrator.runtime.hosting.modes import ModeKeys

_ARGUMENTS = ("features", "labels", "predictions", "config")


def add_metrics(estimator: ModelFn, metric_fn: Callable[..., dict]) -> ModelFn:
  """Returns a model with more metrics, in the same directory.

  Args:
    estimator: the model as it is.
    metric_fn: takes some of `features`, `labels`, `predictions` and `config`; returns a dict name -> (value,
      update op). Of two metrics of one name its own is taken.

  Raises:
    ValueError: with the Estimator's message, if the function takes another argument.
  """
  invalid = [name for name in arguments.names_of(metric_fn) if name not in _ARGUMENTS]
  if invalid:
    raise ValueError(f"metric_fn ({metric_fn}) has following not expected args: {invalid}")

  def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
    spec = estimator.model_fn(features, labels, mode, config)
    if mode != ModeKeys.EVAL:
      return spec
    offered = {
      "features": lambda: features,
      "labels": lambda: labels,
      "predictions": lambda: spec.predictions,
      "config": lambda: config,
    }
    more = metric_fn(**arguments.taken(metric_fn, offered))
    return spec._replace(eval_metric_ops={**(spec.eval_metric_ops or {}), **more})

  return ModelFn(
    model_fn,
    model_dir=estimator.model_dir,
    config=estimator.config,
    warm_start_from=estimator._warm_start_settings,
  )
