"""Evaluates and predicts as a canned Estimator did: the same keys, values and types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from migrator.runtime import evaluation_loops as loops
from migrator.runtime import heads
from migrator.runtime.added_metrics import AddedMetrics
from migrator.runtime.heads.compiled import CompiledMeasures
from migrator.runtime.inputs import InputAdapter
from migrator.runtime.keras_inputs import model_inputs
from migrator.runtime.network import Network
from migrator.runtime.network import evaluation as network_evaluation
from migrator.runtime.steps import checkpoint_of

# What is not the model is no code for AutoGraph, as nothing in an Estimator was; converting it takes seconds.
_unconverted = tf.autograph.experimental.do_not_convert


def evaluate(
  model: Any,
  loss_fn: Any,
  dataset: tf.data.Dataset,
  *,
  global_step: Any,
  model_dir: Optional[str] = None,
  steps: Optional[int] = None,
  name: Optional[str] = None,
  checkpoint_path: Optional[str] = None,
  callbacks: Sequence[Any] = (),
  metrics: Sequence[Callable[..., dict]] = (),
  flavour: Optional[str] = None,
) -> dict:
  """Evaluates a model on a dataset, as an Estimator with its head did.

  Args:
    model: a Keras model that gives logits, float32, shape [batch, logits]; or a `runtime.Network`, for which
      `loss_fn` and `metrics` are functions: see `network.evaluation`.
    loss_fn: the head (`runtime.heads`), or the stock Keras loss that stands for one, with the reduction
      with which it is trained.
    dataset: batches of (features, labels) as the input function gives them, with the weight column if
      the head has one; or what `runtime.only_inputs` made of them, if that has weights.
    global_step: the step, for the result and the event file.
    model_dir: writes an event file to its sub-directory `eval` or `eval_<name>`; None writes none.
    steps: how many batches to take; None takes all.
    name: of the evaluation, if there are several on different data.
    checkpoint_path: which checkpoint is evaluated, for the event file.
    callbacks: Keras callbacks. `on_test_begin`; for each batch `on_test_batch_begin(batch)` and
      `on_test_batch_end(batch, {"loss": the batch's loss})`; `on_test_end`. As in a session, which
      learns of the end of the input when it runs: if that ends before `steps`, or without them,
      `on_test_batch_begin` is called once more than there are batches. `model.stop_evaluating = True`
      ends the evaluation after the batch.
    metrics: what was given to `tf.estimator.add_metrics`; see `added_metrics`. A later one takes the
      place of an earlier one, and of the head's, of the same name.
    flavour: "v1" or "v2", whose metrics; by default that of the model's checkpoint.

  Returns:
    The head's metrics over all examples, and `loss`, the mean over the batches of each batch's loss, by
    their sorted names, all float32; and `global_step` (int64).

  Raises:
    ValueError: if steps is not positive, or the dataset lacks labels or the weight column.
    TypeError: if the loss is not of a known head.
    InvalidArgumentError: for labels out of range.
  """
  if isinstance(loss_fn, heads.FunctionHead):
    own = [loss_fn.metrics_fn] if loss_fn.metrics_fn is not None else []
    model, loss_fn, metrics = loss_fn.network(model), loss_fn.loss_fn, [*own, *metrics]
  if isinstance(model, (Network, heads.ModelNetwork)):
    return network_evaluation.evaluate(
      model,
      loss_fn,
      dataset,
      global_step=global_step,
      model_dir=model_dir,
      steps=steps,
      name=name,
      checkpoint_path=checkpoint_path,
      callbacks=callbacks,
      metrics=metrics,
    )
  if steps is not None and steps <= 0:
    raise ValueError(f"Must specify steps > 0, given: {steps}")
  if isinstance(loss_fn, heads.CompiledHead):
    compiled = CompiledMeasures(model, loss_fn, model_inputs(model))
    _run_compiled(model, compiled, dataset, steps, callbacks)
    return loops.reported(compiled.values(), global_step, model_dir, name, checkpoint_path)
  head = heads.of(loss_fn, _logits_dimension(model))
  measures = head.metrics(_flavour(model, head, flavour))
  measures["loss"] = heads.LOSS
  adapt = InputAdapter(model)

  _check_pairs(dataset)

  @_unconverted
  def prepared(features, labels, *weights):
    if weights:
      return adapt(features), labels, weights
    _, labels, *more = head.prepare(features, labels)
    return adapt(features), labels, more

  @_unconverted
  def measured(labels, logits, weights):
    batch = head.batch(labels, logits, *weights)
    sums = {key: m.metric.update(*m.arguments(batch)) for key, m in measures.items()}
    return batch.loss, batch.logits, sums

  @tf.function(input_signature=loops.element_signature(dataset), reduce_retracing=True)
  def measure(element):
    inputs, labels, weights = prepared(*element)
    return measured(labels, model(inputs, training=False), weights)

  added = _added(metrics, head, dataset, model, model_dir)
  # The Estimator's metrics were sums in float32.
  totals = {
    key: [np.zeros(shape, np.float32) for shape in m.metric.sums] for key, m in measures.items()
  }

  def one_batch(element):
    batch_loss, logits, sums = measure(element)
    if added is not None:
      added.update(element[0], element[1], logits.numpy())
    for key, total in totals.items():
      totals[key] = [a + b.numpy() for a, b in zip(total, sums[key])]
    return batch_loss.numpy()

  loops.evaluate_batches(model, dataset, steps, callbacks, one_batch)
  values = {key: np.float32(m.metric.result(totals[key]).numpy()) for key, m in measures.items()}
  if added is not None:
    values.update(added.results())
    added.close()
  return loops.reported(values, global_step, model_dir, name, checkpoint_path)


def _run_compiled(
  model: Any, own: CompiledMeasures, dataset: Any, steps: Optional[int], callbacks: Sequence[Any]
) -> None:
  """Measures a compiled Keras model, with the callbacks as `evaluate` calls them."""
  measure = tf.function(own.batch, reduce_retracing=True)

  def one_batch(element):
    loss, _, results = measure(element)
    own.update(loss.numpy(), {key: results[key].numpy() for key in results})
    return loss.numpy()

  loops.evaluate_batches(model, dataset, steps, callbacks, one_batch)


def predict(
  model: Any,
  dataset: tf.data.Dataset,
  *,
  predict_keys: Any = None,
  yield_single_examples: bool = True,
  callbacks: Sequence[Any] = (),
  loss_fn: Any = None,
) -> Iterator[dict]:
  """Yields the predictions of a model, as an Estimator with its head did.

  Args:
    model: a Keras model that gives logits, float32, shape [batch, logits]; or a `runtime.Network`, for which
      `loss_fn` is the function of its predictions.
    dataset: batches of features, or of (features, labels), whose labels are ignored.
    predict_keys: which keys to yield; all by default.
    yield_single_examples: whether to yield a dict per example, or one per batch.
    callbacks: Keras callbacks, called as by `evaluate`: `on_predict_begin`,
      `on_predict_batch_begin(batch)`, `on_predict_batch_end(batch, {"outputs": the batch's
      predictions})` before these are yielded, `on_predict_end` when all have been taken.
      `model.stop_predicting = True` ends it after the batch.
    loss_fn: the head, or the stock loss that stands for one; by default the one that the model is
      compiled with. A model without one, of three or more logits, is taken for a classifier.

  Yields:
    What the head predicts, numpy: of a classifier `logits` and `probabilities`, float32 [classes];
    `class_ids`, int64 [1]; `classes`, bytes [1]; `all_class_ids`, int32 [classes]; `all_classes`, bytes
    [classes]; of one with two classes also `logistic`, float32 [1]; of a regressor `predictions`.

  Raises:
    ValueError: if there is none of `predict_keys`, or it is not known what the logits are.
    TypeError: if the loss is not of a known head.
  """
  if isinstance(loss_fn, heads.FunctionHead):
    model, loss_fn = loss_fn.network(model), loss_fn.predictions_fn
  if isinstance(model, (Network, heads.ModelNetwork)):
    yield from network_evaluation.predict(
      model,
      dataset,
      predict_keys=predict_keys,
      yield_single_examples=yield_single_examples,
      callbacks=callbacks,
      loss_fn=loss_fn,
    )
    return
  own = loss_fn if isinstance(loss_fn, heads.CompiledHead) else None
  head = own or _predicting_head(model, loss_fn)
  adapt = _unconverted(model_inputs(model) if own else InputAdapter(model))
  predictions_of = _unconverted(head.predictions)

  @tf.function(input_signature=loops.element_signature(dataset), reduce_retracing=True)
  def run(element):
    features = element[0] if isinstance(element, tuple) else element
    outputs = model(adapt(features), training=False)
    return own.outputs(model, outputs) if own else predictions_of(outputs)

  def one_batch(element):
    tensors = run(element)
    return loops.chosen({key: tensors[key].numpy() for key in tensors}, predict_keys)

  for predictions in loops.predicted_batches(model, dataset, callbacks, one_batch):
    if not yield_single_examples:
      yield predictions
      continue
    for i in range(len(next(iter(predictions.values())))):
      yield {key: value[i] for key, value in predictions.items()}


def _logits_dimension(model: Any) -> Optional[int]:
  """Returns how many logits a model gives, None if it is not known."""
  shape = getattr(model, "output_shape", None)
  return shape[-1] if isinstance(shape, tuple) and shape else None


def _predicting_head(model: Any, loss_fn: Any) -> heads.Head:
  """Returns the head whose predictions a model makes.

  Raises:
    ValueError: if nothing tells it, and there are fewer than three logits.
  """
  dimension = _logits_dimension(model)
  if loss_fn is None:
    loss_fn = getattr(model, "loss", None)
  if loss_fn is not None:
    return heads.of(loss_fn, dimension)
  if dimension is None or dimension < 3:
    raise ValueError(
      f"What the logits of the model {model.name} are is not known: compile it with its loss, or give "
      "predict its loss_fn. Without, only those of three or more classes are supported."
    )
  return heads.MultiClassHead(dimension)


def _flavour(model: Any, head: heads.Head, given: Optional[str]) -> str:
  """Returns the flavour of the metrics: the given one, that of the checkpoint, or what the loss shows.

  Raises:
    ValueError: for an unknown one.
  """
  if given is None:
    checkpoint = checkpoint_of(model)
    if checkpoint is not None:
      return checkpoint.flavour
    return "v1" if head.loss_reduction == "sum" else "v2"
  if given not in ("v1", "v2"):
    raise ValueError(f'flavour must be "v1" or "v2", given: {given!r}')
  return given


def _check_pairs(dataset: tf.data.Dataset) -> None:
  """Raises if a dataset is not of features and labels, with or without weights."""
  spec = dataset.element_spec
  if not isinstance(spec, tuple) or len(spec) not in (2, 3):
    raise ValueError("evaluate needs a dataset of (features, labels).")


def _added(
  metrics: Sequence[Callable], head: heads.Head, dataset: Any, model: Any, model_dir: Any
) -> Optional[AddedMetrics]:
  """Returns the metrics that were added to those of the head, None if there are none."""
  if not metrics:
    return None
  features, labels = dataset.element_spec[:2]
  dimension = head.logits_dimension or _logits_dimension(model)
  return AddedMetrics(metrics, head, features, labels, dimension, model_dir)
