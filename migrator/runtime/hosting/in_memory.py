"""Evaluates the values of a training without a checkpoint."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.hosting import evaluating, inputs, results
from migrator.runtime.hosting.model_fn import ModelFn
from migrator.runtime.hosting.modes import ModeKeys


class InMemoryEvaluatorHook(tf.compat.v1.train.SessionRunHook):
  """Evaluates when a training begins, every N steps, and when it ends.

  The graph of the evaluation is built once for a training, so that `input_fn` is called once; its dataset begins
  anew with each evaluation.
  """

  def __init__(
    self,
    estimator: ModelFn,
    input_fn: Callable[..., Any],
    steps: Optional[int] = None,
    hooks: Any = None,
    name: Optional[str] = None,
    every_n_iter: int = 100,
  ):
    """Makes the hook.

    Args:
      estimator: the `runtime.ModelFn` that is trained.
      input_fn: as in `ModelFn.evaluate`, like the next three.
      steps: how many batches; None takes all.
      hooks: those of the evaluations.
      name: the events go to `<model_dir>/eval_<name>`.
      every_n_iter: evaluate every this many runs of the session.

    Raises:
      ValueError: with the hook's messages, if `every_n_iter` or `steps` is not positive.
      TypeError: if a hook is none.
    """
    if every_n_iter is None or every_n_iter <= 0:
      raise ValueError(f"invalid every_n_iter={every_n_iter}.")
    self._estimator = estimator
    self._input_fn = input_fn
    self._hooks = list(hooks or ())
    for hook in self._hooks:
      if not isinstance(hook, tf.compat.v1.train.SessionRunHook):
        raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
    self._hooks += estimator._convert_eval_steps_to_hooks(steps)
    self._directory = estimator.eval_dir(name)
    self._timer = tf.compat.v1.train.SecondOrStepTimer(every_steps=every_n_iter)

  def begin(self) -> None:
    """Builds the graph of the evaluations.

    Raises:
      ValueError: with the hook's messages, if the model has a saver or an `init_fn` of its own.
    """
    self._timer.reset()
    self._runs = 0
    self._graph = tf.Graph()
    model = self._estimator
    with self._graph.as_default():
      model._begin()
      features, labels, input_hooks = inputs.features_and_labels(
        model._call_input_fn(self._input_fn, ModeKeys.EVAL)
      )
      spec = model._call_model_fn(features, labels, ModeKeys.EVAL, model.config)
      metrics = evaluating.with_loss(spec.eval_metric_ops, spec.loss)
      self._update, self._values = evaluating.updates_and_values(metrics)
      model._warm_start_without(None)
      for part in ("saver", "init_fn"):
        if getattr(spec.scaffold, part) is not None:
          raise ValueError(f"InMemoryEvaluator does not support custom {part}")
      self._scaffold = spec.scaffold
      self._all_hooks = [*input_hooks, *self._hooks, *spec.evaluation_hooks]
      self._targets = {
        variable.name: (variable, tf.compat.v1.placeholder(variable.dtype.base_dtype))
        for variable in tf.compat.v1.global_variables()
      }

  def after_create_session(self, session: Any, coord: Any) -> None:
    """Evaluates what the training begins with.

    Raises:
      ValueError: with the hook's message, if the training keeps more than variables.
    """
    if tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.SAVEABLE_OBJECTS):
      raise ValueError("InMemoryEvaluator does not support saveables other than global variables.")
    self._sources = {v.name: v for v in tf.compat.v1.global_variables() if v.name in self._targets}
    with self._graph.as_default():
      self._assignment = tf.group(
        *[tf.compat.v1.assign(*self._targets[name]) for name in self._sources]
      )
    self._evaluate(session)

  def after_run(self, run_context: Any, run_values: Any) -> None:
    """Evaluates, if it is time."""
    self._runs += 1
    if self._timer.should_trigger_for_step(self._runs):
      self._evaluate(run_context.session)

  def end(self, session: Any) -> None:
    """Evaluates what the training ends with."""
    self._evaluate(session)

  def _evaluate(self, session: Any) -> None:
    """Evaluates the values of a session."""
    values = session.run(self._sources)
    fed = {self._targets[name][1]: value for name, value in values.items()}

    def take_over(scaffold: Any, session: Any) -> None:
      session.run(self._assignment, fed)

    scaffold = tf.compat.v1.train.Scaffold(init_fn=take_over, copy_from_scaffold=self._scaffold)
    model = self._estimator
    with self._graph.as_default():
      found = evaluating.run(
        types.SimpleNamespace(scaffold=scaffold),
        self._update,
        self._values,
        config=model._config,
        model_dir=model.model_dir,
        checkpoint=None,
        hooks=self._all_hooks,
      )
      results.write(self._directory, found, None)
    self._timer.update_last_triggered_step(self._runs)
