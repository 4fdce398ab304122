"""What a model_fn for a TPUEstimator returns."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any, Callable, NamedTuple, Optional

import tensorflow as tf

from migrator.runtime.hosting.specs import EstimatorSpec
from migrator.runtime.tpu.hooks import HostCallHook


class _Fields(NamedTuple):
  """The fields of a TPUEstimatorSpec."""

  mode: str
  predictions: Any
  loss: Any
  train_op: Any
  eval_metrics: Any
  export_outputs: Any
  scaffold_fn: Optional[Callable[[], Any]]
  host_call: Any
  training_hooks: tuple
  evaluation_hooks: tuple
  prediction_hooks: tuple


class TPUEstimatorSpec(_Fields):
  """Operations and objects for one mode, of which functions on the host are still to be called.

  Attributes:
    mode: one of `runtime.ModeKeys`.
    predictions: as in `runtime.EstimatorSpec`, as are loss, train_op, export_outputs and the hooks.
    eval_metrics: (function, tensors): what it returns for the tensors are the `eval_metric_ops`.
    scaffold_fn: returns the Scaffold.
    host_call: (function, tensors): what it returns is fetched with each step.
  """

  __slots__ = ()

  def __new__(
    cls,
    mode: str,
    predictions: Any = None,
    loss: Any = None,
    train_op: Any = None,
    eval_metrics: Any = None,
    export_outputs: Any = None,
    scaffold_fn: Optional[Callable[[], Any]] = None,
    host_call: Any = None,
    training_hooks: Optional[Iterable[Any]] = None,
    evaluation_hooks: Optional[Iterable[Any]] = None,
    prediction_hooks: Optional[Iterable[Any]] = None,
  ) -> TPUEstimatorSpec:
    """Checks what a model_fn returns.

    Raises:
      ValueError: with TPUEstimator's messages, for what EstimatorSpec or the two host functions refuse.
      TypeError: with TPUEstimator's messages, for arguments of other types.
      RuntimeError: with TPUEstimator's message, if a function takes another number of tensors.
    """
    for name, call in (("eval_metrics", eval_metrics), ("host_call", host_call)):
      if call is not None:
        _check_call(name, call)
    # It checks the fields that both have.
    checked: Any = EstimatorSpec(
      mode,
      predictions=predictions,
      loss=loss,
      train_op=train_op,
      export_outputs=export_outputs,
      training_hooks=training_hooks,
      evaluation_hooks=evaluation_hooks,
      prediction_hooks=prediction_hooks,
    )
    return super().__new__(
      cls,
      mode,
      checked.predictions,
      checked.loss,
      checked.train_op,
      eval_metrics,
      checked.export_outputs,
      scaffold_fn,
      host_call,
      tuple(checked.training_hooks),
      tuple(checked.evaluation_hooks),
      tuple(checked.prediction_hooks),
    )

  def as_estimator_spec(self) -> Any:
    """Returns the EstimatorSpec for CPU and GPU: calls the functions in the current graph.

    Returns:
      A `runtime.EstimatorSpec`.
    """
    metrics = None if self.eval_metrics is None else _call("eval_metrics", self.eval_metrics)
    hooks: tuple = ()
    if self.host_call is not None:
      hooks = (HostCallHook(_call("host_call", self.host_call)),)
    return EstimatorSpec(
      self.mode,
      predictions=self.predictions,
      loss=self.loss,
      train_op=self.train_op,
      eval_metric_ops=metrics,
      export_outputs=self.export_outputs,
      scaffold=self.scaffold_fn() if self.scaffold_fn else None,
      training_hooks=self.training_hooks + hooks,
      evaluation_hooks=self.evaluation_hooks + hooks,
      prediction_hooks=self.prediction_hooks + hooks,
    )


def _check_call(name: str, call: Any) -> None:
  """Raises TPUEstimator's errors for what is no pair of a function and its tensors."""
  if not isinstance(call, (tuple, list)):
    raise ValueError(f"{name} should be tuple or list")
  if len(call) != 2:
    raise ValueError(f"{name} should have two elements.")
  function, tensors = call
  if not callable(function):
    raise TypeError(f"{name}[0] should be callable.")
  if not isinstance(tensors, (tuple, list, dict)):
    raise ValueError(f"{name}[1] should be tuple or list, or dict.")
  if isinstance(tensors, dict):
    return
  parameters = list(inspect.signature(function).parameters.values())
  if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
    return
  taken = [p for p in parameters if p.kind is not p.VAR_KEYWORD]
  if len(taken) != len(tensors):
    raise RuntimeError(
      f"In TPUEstimatorSpec.{name}, length of tensors {len(tensors)} does not match method args of the function, "
      f"which takes {len(taken)}."
    )


def _call(name: str, call: Any) -> Any:
  """Returns what a function of the host gives for its tensors."""
  function, tensors = call
  if not isinstance(tensors, dict):
    return function(*tensors)
  try:
    return function(**tensors)
  except TypeError as error:
    tf.compat.v1.logging.warning(
      "Exception while calling %s: %s. It is likely the tensors (%s[1]) do not match the function's arguments",
      name,
      error,
      name,
    )
    raise
