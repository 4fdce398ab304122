"""The loops of evaluations and predictions, with the callbacks, and what an Estimator reported of them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from migrator.runtime.summaries import write_results

# A hook that raised one of them ended a session as the end of the input did.
_END_OF_INPUT = (StopIteration, tf.errors.OutOfRangeError)


def evaluate_batches(
  model: Any,
  dataset: tf.data.Dataset,
  steps: Optional[int],
  callbacks: Sequence[Any],
  measure: Callable[[Any], Any],
) -> None:
  """Measures batch after batch, with the callbacks as `evaluate` calls them.

  Args:
    model: what the callbacks get; its `stop_evaluating` ends it.
    dataset: the batches.
    steps: how many to take; None takes all.
    callbacks: Keras callbacks.
    measure: takes a batch, and returns its loss, numpy.
  """
  called = _callback_list(callbacks, model)
  model.stop_evaluating = False
  called.on_test_begin()
  iterator, batches = iter(dataset), 0
  with contextlib.suppress(*_END_OF_INPUT):
    while (steps is None or batches < steps) and not model.stop_evaluating:
      called.on_test_batch_begin(batches)
      loss = measure(next(iterator))
      batches += 1
      _tell(called, "on_test_batch_end", batches - 1, {"loss": loss})
  called.on_test_end()


def predicted_batches(
  model: Any, dataset: tf.data.Dataset, callbacks: Sequence[Any], run: Callable[[Any], Any]
) -> Iterator[Any]:
  """Yields the predictions of batch after batch, with the callbacks as `predict` calls them.

  Args:
    model: what the callbacks get; its `stop_predicting` ends it.
    dataset: the batches.
    callbacks: Keras callbacks.
    run: takes a batch, and returns its predictions, numpy.
  """
  called = _callback_list(callbacks, model)
  model.stop_predicting = False
  called.on_predict_begin()
  iterator, batch = iter(dataset), 0
  while not model.stop_predicting:
    try:
      called.on_predict_batch_begin(batch)
      predictions = run(next(iterator))
      _tell(called, "on_predict_batch_end", batch, {"outputs": predictions})
    except _END_OF_INPUT:
      break
    batch += 1
    yield predictions
  called.on_predict_end()


def chosen(predictions: dict, keys: Any) -> dict:
  """Returns the predictions of the wanted keys.

  Raises:
    ValueError: with the Estimator's message, if there is none of them.
  """
  if not keys:
    return predictions
  found = {key: value for key, value in predictions.items() if key in keys}
  if not found:
    raise ValueError(
      f"Expected to run at least one output from {predictions.keys()}, provided {keys}."
    )
  return found


def reported(
  values: dict, global_step: Any, model_dir: Optional[str], name: Optional[str], path: Optional[str]
) -> dict:
  """Returns the results with the step, and writes them to the event file.

  Args:
    values: name -> value.
    global_step: the step.
    model_dir: the event file is in its `eval` or `eval_<name>`; None writes none.
    name: of the evaluation.
    path: the checkpoint, for the event file.
  """
  step = np.int64(int(global_step))
  results = {**{key: values[key] for key in sorted(values)}, "global_step": step}
  if model_dir is not None:
    directory = os.path.join(model_dir, f"eval_{name}" if name else "eval")
    write_results(directory, results, int(step), path)
  return results


def element_signature(dataset: tf.data.Dataset) -> Optional[list]:
  """Returns the signature of a function of the elements, so that it is traced once, also for a smaller last batch.

  None where the dataset does not know its shapes: then the elements tell them.
  """
  for spec in tf.nest.flatten(dataset.element_spec):
    rank = spec.shape.rank
    if rank is None or (isinstance(spec, tf.TensorSpec) and None in spec.shape.as_list()[1:]):
      return None
  return [dataset.element_spec]


def _callback_list(callbacks: Sequence[Any], model: Any) -> tf.keras.callbacks.CallbackList:
  """Returns the list that calls the callbacks, which get the model as `self.model`."""
  return tf.keras.callbacks.CallbackList(list(callbacks or ()), model=model)


def _tell(called: tf.keras.callbacks.CallbackList, event: str, batch: int, logs: dict) -> None:
  """Calls a method of all callbacks with these very values: Keras 3 makes floats and one flat dict of them."""
  for callback in called.callbacks:
    getattr(callback, event)(batch, logs)
