"""`ModelFn`: trains, evaluates and predicts with a program's own model_fn; as `tf.estimator.Estimator`."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Callable, Optional

import tensorflow as tf

from migrator.runtime import policy, state
from migrator.runtime.hosting import (
  arguments,
  checks,
  evaluating,
  export_methods,
  inputs,
  places,
  predicting,
  results,
  specs,
  step_methods,
  stored,
  training,
  warm_starting,
)
from migrator.runtime.hosting.modes import ModeKeys

v1 = tf.compat.v1


class ModelFn(step_methods.Steps, export_methods.Exports, stored.Stored):
  """A model_fn with its parameters, its configuration and its directory.

  The model_fn is called in a graph of its own for each training, evaluation and prediction, which run in a
  monitored session with the hooks that the Estimator had. Checkpoints are read from `<model_dir>/tf2`, and
  from `<model_dir>` as long as there are none; they are written to `<model_dir>/tf2`, by the names of
  the variables. Events are written to where the Estimator wrote them.
  """

  def __init__(
    self,
    model_fn: Callable[..., Any],
    model_dir: Any = None,
    config: Any = None,
    params: Any = None,
    warm_start_from: Any = None,
  ):
    """Makes a model.

    Args:
      model_fn: gets `features`, and those of `labels`, `mode`, `params` and `config` that it has arguments
        for; returns a `runtime.EstimatorSpec`.
      model_dir: where the old program kept its checkpoints; by default the configuration's, else a
        temporary directory.
      config: a `runtime.RunConfig`.
      params: what model_fn and input_fn get as `params`.
      warm_start_from: where a fresh start gets its values: the path of a checkpoint, of a directory, of
        a SavedModel, or `runtime.WarmStartSettings`.

    Raises:
      ValueError: with the Estimator's messages, for what it refuses.
    """
    self._config = checks.complete(config, model_dir)
    self._model_dir = self._config.model_dir
    v1.logging.info("Using config: %s", vars(self._config))
    arguments.check_model_fn(model_fn, params)
    self._model_fn = model_fn
    self._params = copy.deepcopy(params or {})
    self._warm_start_settings = warm_starting.settings_of(warm_start_from)

  @property
  def model_dir(self) -> str:
    """The directory of the program; its checkpoints are in the sub-directory `tf2`."""
    return self._model_dir

  @property
  def config(self) -> Any:
    """A copy of the configuration."""
    return copy.deepcopy(self._config)

  @property
  def params(self) -> Any:
    """A copy of the parameters."""
    return copy.deepcopy(self._params)

  @property
  def model_fn(self) -> Callable[..., Any]:
    """The model_fn with its parameters: `model_fn(features, labels, mode, config)`."""

    def bound(features: Any, labels: Any, mode: Any, config: Any) -> Any:
      return self._call_model_fn(features, labels, mode, config)

    return bound

  def train(
    self,
    input_fn: Callable[..., Any],
    hooks: Any = None,
    steps: Optional[int] = None,
    max_steps: Optional[int] = None,
    saving_listeners: Any = None,
  ) -> ModelFn:
    """Trains.

    Args:
      input_fn: gets those of `mode`, `params` and `config` that it has arguments for; returns a `tf.data.Dataset`
        of pairs (features, labels) or features, or such tensors.
      hooks: SessionRunHooks.
      steps: how many steps to train; None until the input ends, or for ever.
      max_steps: the global step to train to; nothing is done if the checkpoint has it already.
      saving_listeners: CheckpointSaverListeners.

    Returns:
      This object.

    Raises:
      CheckpointError: if there is a checkpoint that does not fit the model.
      ValueError: with the Estimator's messages, for arguments that it refuses.
      TypeError: with the Estimator's messages, for hooks and listeners that are none.
    """
    policy.check_steps(steps, max_steps)
    state.check_directory(self._model_dir)
    if max_steps is not None and max_steps <= self._saved_step():
      v1.logging.info("Skipping training since max_steps has already saved.")
      return self
    hooks = checks.checked_hooks(hooks) + self._convert_train_steps_to_hooks(steps, max_steps)
    listeners = checks.checked_listeners(saving_listeners)
    with tf.Graph().as_default() as graph, graph.device(self._config.device_fn):
      self._begin_training()
      features, labels, input_hooks = inputs.features_and_labels(
        self._call_input_fn(input_fn, ModeKeys.TRAIN)
      )
      spec = self._call_model_fn(features, labels, ModeKeys.TRAIN, self.config)
      loss, done = None, 0
      with self._training_session(spec, [*input_hooks, *hooks], listeners) as session:
        while not session.should_stop():
          done += 1
          _, loss = session.run([spec.train_op, spec.loss])
      if not done:
        v1.logging.warning(
          "Training with estimator made no steps. Perhaps input is empty or misspecified."
        )
    v1.logging.info("Loss for final step: %s.", loss)
    return self

  def evaluate(
    self,
    input_fn: Callable[..., Any],
    steps: Optional[int] = None,
    hooks: Any = None,
    checkpoint_path: Any = None,
    name: Optional[str] = None,
  ) -> dict[str, Any]:
    """Evaluates a checkpoint; writes the values to the events of `eval_dir(name)`, too.

    Args:
      input_fn: as in `train`.
      steps: how many batches; None for all.
      hooks: SessionRunHooks.
      checkpoint_path: by default the newest; initial values without one.
      name: of the evaluation.

    Returns:
      The metrics of the model_fn by name, the mean `loss` of the batches, and `global_step`.

    Raises:
      CheckpointError: if the checkpoint does not fit the model.
      ValueError: with the Estimator's messages, for arguments that it refuses.
      TypeError: with the Estimator's message, for hooks that are none.
    """
    hooks = checks.checked_hooks(hooks) + self._convert_eval_steps_to_hooks(steps)
    checkpoint = self._checkpoint(checkpoint_path, "evaluate")
    with tf.Graph().as_default():
      self._begin()
      features, labels, input_hooks = inputs.features_and_labels(
        self._call_input_fn(input_fn, ModeKeys.EVAL)
      )
      spec = self._call_model_fn(features, labels, ModeKeys.EVAL, self.config)
      metrics = evaluating.with_loss(spec.eval_metric_ops, spec.loss)
      update, values = evaluating.updates_and_values(metrics)
      self._warm_start_without(checkpoint)
      found = evaluating.run(
        spec,
        update,
        values,
        config=self._config,
        model_dir=self._model_dir,
        checkpoint=checkpoint,
        hooks=[*input_hooks, *hooks, *spec.evaluation_hooks],
      )
      results.write(self.eval_dir(name), found, checkpoint)
    return found

  def predict(
    self,
    input_fn: Callable[..., Any],
    predict_keys: Any = None,
    hooks: Any = None,
    checkpoint_path: Any = None,
    yield_single_examples: bool = True,
  ) -> Iterator[Any]:
    """Yields predictions.

    Args:
      input_fn: as in `train`; labels are left aside.
      predict_keys: which of a dict of predictions; None for all.
      hooks: SessionRunHooks.
      checkpoint_path: by default the newest; initial values without one.
      yield_single_examples: whether rows are yielded, or whole batches.

    Raises:
      CheckpointError: if the checkpoint does not fit the model.
      ValueError: with the Estimator's messages, for arguments that it refuses.
      TypeError: with the Estimator's message, for hooks that are none.
    """
    hooks = checks.checked_hooks(hooks)
    checkpoint = self._checkpoint(checkpoint_path, "predict")
    graph = tf.Graph()
    with graph.as_default():
      self._begin()
      features, input_hooks = inputs.features_alone(self._call_input_fn(input_fn, ModeKeys.PREDICT))
      spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self.config)
      self._warm_start_without(checkpoint)
      predictions = predicting.only(spec.predictions, predict_keys)
      session = evaluating.make_session(
        spec.scaffold,
        config=self._config,
        master=self._config.master,
        model_dir=self._model_dir,
        checkpoint=checkpoint,
        hooks=[*input_hooks, *hooks, *spec.prediction_hooks],
      )
    with predicting.closing(session, graph):
      while not session.should_stop():
        with graph.as_default():
          values = session.run(predictions)
        if yield_single_examples:
          yield from predicting.rows(values)
        else:
          yield values

  # What follows has the Estimator's names where it does the same: subclasses of programs call it.

  def _call_input_fn(self, input_fn: Callable[..., Any], mode: str) -> Any:
    """Calls an input_fn with those arguments that it takes."""
    offered: dict[str, Any] = {
      "mode": lambda: mode,
      "params": lambda: self.params,
      "config": lambda: self.config,
    }
    if self._config.train_distribute is not None:
      offered["input_context"] = tf.distribute.InputContext
    with tf.device("/cpu:0"):
      return input_fn(**arguments.taken(input_fn, offered))

  def _call_model_fn(self, features: Any, labels: Any, mode: str, config: Any) -> Any:
    """Calls the model_fn with those arguments that it takes.

    Raises:
      ValueError: with the Estimator's messages, if it does not take the labels, or returns no spec.
    """
    offered = {
      "labels": lambda: labels,
      "mode": lambda: mode,
      "params": lambda: self.params,
      "config": lambda: config,
    }
    taken = arguments.taken(self._model_fn, offered)
    if labels is not None and "labels" not in taken:
      raise ValueError("model_fn does not take labels, but input_fn returns labels.")
    v1.logging.info("Calling model_fn.")
    spec = self._model_fn(features=features, **taken)
    v1.logging.info("Done calling model_fn.")
    if not isinstance(spec, specs.EstimatorSpec):
      raise ValueError("model_fn should return an EstimatorSpec.")
    return spec

  def _convert_train_steps_to_hooks(
    self, steps: Optional[int], max_steps: Optional[int]
  ) -> list[Any]:
    """Returns the hooks that end a training."""
    if steps is None and max_steps is None:
      return []
    return [v1.train.StopAtStepHook(steps, max_steps)]

  def _convert_eval_steps_to_hooks(self, steps: Optional[int]) -> list[Any]:
    """Returns the hooks that end an evaluation.

    Raises:
      ValueError: with the Estimator's message, if there are no steps.
    """
    return [] if steps is None else [evaluating.StopAfterBatches(steps)]

  def _begin(self) -> None:
    """Gives the current graph its seed and its global step."""
    v1.set_random_seed(self._config.tf_random_seed)
    self._create_global_step(tf.compat.v1.get_default_graph())

  def _create_global_step(self, graph: tf.Graph) -> Any:
    """Creates the global step of a graph."""
    return v1.train.create_global_step(graph)

  def _begin_training(self) -> None:
    """Begins the graph of a training."""
    self._begin()
    # Reads the step once, as hooks do, in the place where the Estimator had it: what the model_fn adds after
    # it, and with it the seeds that TensorFlow chooses, has the same numbers then.
    v1.train.StepCounterHook().begin()

  def _training_session(self, spec: Any, hooks: list[Any], listeners: list[Any]) -> Any:
    """Returns the monitored session of a training; in the graph of the spec."""
    if self._warm_start_settings is not None and places.newest(self._model_dir) is None:
      warm_starting.warm_start(self._warm_start_settings)
    training.add_loss(spec)
    return training.make_session(
      spec,
      config=self._config,
      model_dir=self._model_dir,
      hooks=hooks,
      saving_listeners=listeners,
    )

  def _warm_start_without(self, checkpoint: Optional[str]) -> None:
    """Begins with other values if there is no checkpoint."""
    if not checkpoint and self._warm_start_settings is not None:
      warm_starting.warm_start(self._warm_start_settings)
