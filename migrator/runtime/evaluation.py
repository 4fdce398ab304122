"""Evaluates and predicts as a canned classifier did: the same keys, values and types."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from migrator.runtime.inputs import InputAdapter
from migrator.runtime.summaries import write_results

# A hook that raised one of them ended a session as the end of the input did.
_END_OF_INPUT = (StopIteration, tf.errors.OutOfRangeError)


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
) -> dict:
  """Evaluates a classifier on a dataset.

  Args:
    model: a Keras model that gives logits, float32, shape [batch, classes].
    loss_fn: a `tf.keras.losses.Loss` with the reduction with which it is trained.
    dataset: batches of (features, labels); labels are integers of shape [batch] or [batch, 1].
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

  Returns:
    `accuracy` and `average_loss` over all examples, `loss`, the mean over the batches of each batch's
    loss (all three float32), and `global_step` (int64).

  Raises:
    ValueError: if steps is not positive, the dataset has no labels, or the model one logit only.
    TypeError: if the loss is not a Keras one.
  """
  if steps is not None and steps <= 0:
    raise ValueError(f"Must specify steps > 0, given: {steps}")
  if not isinstance(loss_fn, tf.keras.losses.Loss):
    raise TypeError(f"The loss must be a tf.keras.losses.Loss, given: {loss_fn!r}")
  adapt = _adapter(model)

  @tf.function(reduce_retracing=True)
  def measure(features, labels):
    logits = model(adapt(features), training=False)
    labels = tf.reshape(labels, [-1])
    per_example = tf.reshape(loss_fn.call(labels, logits), [-1])
    hits = tf.equal(tf.cast(labels, tf.int64), tf.argmax(logits, -1))
    return loss_fn(labels, logits), tf.reduce_sum(per_example), hits

  called = _callback_list(callbacks, model)
  model.stop_evaluating = False
  called.on_test_begin()
  iterator = iter(dataset)
  batches = 0
  # The Estimator's metrics were sums in float32.
  examples, correct, loss, average = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
  with contextlib.suppress(*_END_OF_INPUT):
    while (steps is None or batches < steps) and not model.stop_evaluating:
      called.on_test_batch_begin(batches)
      features, labels = _pair(next(iterator))
      tensors = measure(features, labels)
      batch_loss, batch_sum, hits = (tensor.numpy() for tensor in tensors)
      batches += 1
      examples += np.float32(hits.size)
      correct += np.float32(hits.sum())
      loss += batch_loss
      average += batch_sum
      _tell(called, "on_test_batch_end", batches - 1, {"loss": batch_loss})
  called.on_test_end()
  step = np.int64(int(global_step))
  results = {
    "accuracy": _ratio(correct, examples),
    "average_loss": _ratio(average, examples),
    "loss": _ratio(loss, np.float32(batches)),
    "global_step": step,
  }
  if model_dir is not None:
    directory = os.path.join(model_dir, f"eval_{name}" if name else "eval")
    write_results(directory, results, int(step), checkpoint_path)
  return results


def predict(
  model: Any,
  dataset: tf.data.Dataset,
  *,
  predict_keys: Any = None,
  yield_single_examples: bool = True,
  callbacks: Sequence[Any] = (),
) -> Iterator[dict]:
  """Yields the predictions of a classifier.

  Args:
    model: a Keras model that gives logits, float32, shape [batch, classes].
    dataset: batches of features, or of (features, labels), whose labels are ignored.
    predict_keys: which keys to yield; all by default.
    yield_single_examples: whether to yield a dict per example, or one per batch.
    callbacks: Keras callbacks, called as by `evaluate`: `on_predict_begin`,
      `on_predict_batch_begin(batch)`, `on_predict_batch_end(batch, {"outputs": the batch's
      predictions})` before these are yielded, `on_predict_end` when all have been taken.
      `model.stop_predicting = True` ends it after the batch.

  Yields:
    Per example: `logits` and `probabilities`, float32 [classes]; `class_ids`, int64 [1]; `classes`,
    bytes [1]; `all_class_ids`, int32 [classes]; `all_classes`, bytes [classes].

  Raises:
    ValueError: if there is none of `predict_keys`, or the model has one logit only.
  """
  adapt = _adapter(model)

  @tf.function(reduce_retracing=True)
  def run(features):
    logits = model(adapt(features), training=False)
    return logits, tf.nn.softmax(logits), tf.argmax(logits, -1)

  called = _callback_list(callbacks, model)
  model.stop_predicting = False
  called.on_predict_begin()
  iterator, batch = iter(dataset), 0
  while not model.stop_predicting:
    try:
      called.on_predict_batch_begin(batch)
      element = next(iterator)
      features = element[0] if isinstance(element, tuple) else element
      logits, probabilities, ids = (tensor.numpy() for tensor in run(features))
      predictions = _chosen(_predictions(logits, probabilities, ids), predict_keys)
      _tell(called, "on_predict_batch_end", batch, {"outputs": predictions})
    except _END_OF_INPUT:
      break
    batch += 1
    if not yield_single_examples:
      yield predictions
      continue
    for i in range(len(logits)):
      yield {key: value[i] for key, value in predictions.items()}
  called.on_predict_end()


def _callback_list(callbacks: Sequence[Any], model: Any) -> tf.keras.callbacks.CallbackList:
  """Returns the list that calls the callbacks, which get the model as `self.model`."""
  return tf.keras.callbacks.CallbackList(list(callbacks or ()), model=model)


def _tell(called: tf.keras.callbacks.CallbackList, event: str, batch: int, logs: dict) -> None:
  """Calls a method of all callbacks with these very values: Keras 3 makes floats and one flat dict of them."""
  for callback in called.callbacks:
    getattr(callback, event)(batch, logs)


def _predictions(logits: np.ndarray, probabilities: np.ndarray, ids: np.ndarray) -> dict:
  """Returns all predictions of a batch."""
  rows, classes = logits.shape
  every = np.arange(classes, dtype=np.int32)
  names = np.array([str(i).encode() for i in every], dtype=object)
  return {
    "logits": logits,
    "probabilities": probabilities,
    "class_ids": ids[:, np.newaxis],
    "classes": names[ids][:, np.newaxis],
    "all_class_ids": np.tile(every, (rows, 1)),
    "all_classes": np.tile(names, (rows, 1)),
  }


def _chosen(predictions: dict, keys: Any) -> dict:
  """Returns the predictions of the wanted keys."""
  if not keys:
    return predictions
  chosen = {key: value for key, value in predictions.items() if key in keys}
  if not chosen:
    raise ValueError(
      f"Expected to run at least one output from {predictions.keys()}, provided {keys}."
    )
  return chosen


def _adapter(model: Any) -> InputAdapter:
  """Returns the adapter of a classifier's inputs.

  Raises:
    ValueError: if the model has one logit: two classes had other results.
  """
  if model.output_shape[-1] == 1:
    raise ValueError(
      f"The model {model.name} has one logit. Only classifiers of three or more classes are supported."
    )
  return InputAdapter(model)


def _pair(element: Any) -> tuple:
  """Returns the features and labels of a dataset element."""
  if not isinstance(element, tuple) or len(element) != 2:
    raise ValueError("evaluate needs a dataset of (features, labels).")
  return element


def _ratio(total: np.float32, count: np.float32) -> np.float32:
  """Returns total / count, 0 for an empty dataset."""
  return np.float32(total / count) if count else np.float32(0)
