"""`tf.estimator.inputs` of the runtime gives the batches of the Estimator's own."""

import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime

X = {"a": np.arange(10.0), "b": np.arange(20).reshape(10, 2), "t": np.array(list("abcdefghij"))}
Y = np.arange(10, 20)


def _read(input_fn, count=None):
  """The batches of an input function in a graph of its own, as lists."""
  with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    result = input_fn()
    if isinstance(result, tf.data.Dataset):
      iterator = tf.compat.v1.data.make_initializable_iterator(result)
      session.run(iterator.initializer)
      result = iterator.get_next()
    coordinator = tf.compat.v1.train.Coordinator()
    threads = tf.compat.v1.train.start_queue_runners(session, coordinator)
    found = []
    while count is None or len(found) < count:
      try:
        found.append(tf.nest.map_structure(lambda v: v.tolist(), session.run(result)))
      except tf.errors.OutOfRangeError:
        break
    coordinator.request_stop()
    coordinator.join(threads, ignore_live_threads=True, stop_grace_period_secs=1)
    return found


def _originals(name):
  module = getattr(tf.compat.v1, "estimator", None)
  return getattr(module.inputs, name) if module is not None else None


CASES = [
  {"x": X, "y": Y, "batch_size": 4, "num_epochs": 2, "shuffle": False},
  {"x": X, "batch_size": 3, "shuffle": False},
  {"x": X["b"], "y": {"u": Y, "v": Y + 1.0}, "batch_size": 7, "shuffle": False},
  {"x": X["a"], "y": Y, "batch_size": 4, "num_epochs": None, "shuffle": False},
]
# Recorded from TF 2.15's numpy_input_fn: the sizes of the first six batches.
SIZES = [[4, 4, 4, 4, 4], [3, 3, 3, 1], [7, 3], [4, 4, 4, 4, 4, 4]]


@pytest.mark.parametrize("case, sizes", zip(CASES, SIZES))
def test_batches_of_arrays_are_the_estimators(case, sizes):
  found = _read(runtime.numpy_input_fn(**case), 6)
  original = _originals("numpy_input_fn")
  if original is not None:
    assert found == _read(original(**case), 6)
  rows = [_rows(batch) for batch in found]
  assert rows == sizes


def _rows(batch):
  features = batch[0] if isinstance(batch, tuple) else batch
  return len(features["a"] if isinstance(features, dict) else features)


def test_shuffled_batches_have_each_example_once_an_epoch():
  found = _read(runtime.numpy_input_fn(X["a"], Y, 4, num_epochs=2, shuffle=True))
  values = [v for features, _ in found for v in features]
  assert sorted(values) == sorted([*range(10), *range(10)])
  assert all(label == value + 10 for f, y in found for value, label in zip(f, y))


def test_arrays_are_no_part_of_the_graph():
  with tf.Graph().as_default() as graph:
    big = np.zeros([1000, 1000])
    runtime.numpy_input_fn(big, batch_size=4, shuffle=False)()
    assert graph.as_graph_def().ByteSize() < 100_000


def test_batches_of_a_data_frame_are_the_estimators():
  pandas = pytest.importorskip("pandas")
  frame = pandas.DataFrame({"a": X["a"], "t": X["t"]})
  labels = pandas.Series(Y)
  found = _read(runtime.pandas_input_fn(frame, labels, 4, shuffle=False))
  assert [len(features["a"]) for features, _ in found] == [4, 4, 2]
  assert found[0][1] == [10, 11, 12, 13]
  original = _originals("pandas_input_fn")
  if original is not None:
    assert found == _read(original(frame, labels, 4, shuffle=False))


@pytest.mark.parametrize(
  "case, error",
  [
    ({"x": X}, ValueError),
    ({"x": {}, "shuffle": False}, ValueError),
    ({"x": [1, 2], "shuffle": False}, TypeError),
    ({"x": X, "y": {}, "shuffle": False}, ValueError),
    ({"x": X, "y": {"a": Y}, "shuffle": False}, ValueError),
    ({"x": X, "y": Y[:3], "shuffle": False}, ValueError),
    ({"x": np.array([]), "shuffle": False}, ValueError),
  ],
)
def test_wrong_arguments_are_refused_as_the_estimator_did(case, error):
  for function in (runtime.numpy_input_fn, _originals("numpy_input_fn")):
    if function is not None:
      with pytest.raises(error), tf.Graph().as_default():
        function(**case)()
