"""The loops of `tf.contrib.tpu` against TensorFlow's own, which are private now."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.tpu import training_loop

from migrator import runtime

v1 = tf.compat.v1
LOOPS = {"runtime": runtime.tpu, "TensorFlow": training_loop}


def _values(name):
  """What a program with loops computes with these loops."""
  loops = LOOPS[name]
  with tf.Graph().as_default(), v1.Session() as session:
    rounds = v1.get_variable("rounds", initializer=0)
    outside = v1.assign_add(rounds, 100)
    pair = loops.while_loop(
      lambda i, x: i < 5, lambda i, x: (i + 1, x * 2.0), [0, tf.constant([1.0, 3.0])]
    )
    one = loops.while_loop(lambda i: i < 7, lambda i: i + 2, [tf.constant(0)])
    # What a body reads of the graph around it runs once.
    once = loops.while_loop(
      lambda i, x: i < 3, lambda i, x: (i + 1, tf.convert_to_tensor(outside)), [0, 0]
    )
    counted = loops.while_loop(
      lambda i: i < 4, lambda i: (i + 1, v1.assign_add(rounds, 1).op), [tf.constant(0)]
    )
    nothing = loops.while_loop(lambda: tf.constant(False), list)
    powers = loops.repeat(3, lambda x: x * 2.0, [1.0])
    single = loops.repeat(2, lambda x: [x + 1.0], 1.0)
    operation = loops.repeat(5, lambda: v1.assign_add(rounds, 10).op)
    assert isinstance(operation, tf.Operation)
    found = []
    session.run(v1.global_variables_initializer())
    for fetch in (pair, one, once, counted, nothing, powers, single, operation):
      found.append((session.run(fetch), session.run(rounds)))
    return found


def test_loops_of_a_tpu_compute_what_those_of_tensorflow_compute():
  for ours, theirs in zip(_values("runtime"), _values("TensorFlow")):
    for one, other in zip(ours, theirs):
      assert type(one) is type(other)
      np.testing.assert_equal(one, other)


def test_a_body_may_have_operations_alone_which_tensorflow_fails_for():
  with tf.Graph().as_default(), v1.Session() as session:
    rounds = v1.get_variable("rounds", initializer=0)
    loop = runtime.tpu.while_loop(
      lambda: tf.convert_to_tensor(rounds) < 11, lambda: v1.assign_add(rounds, 1).op
    )
    session.run(v1.global_variables_initializer())
    session.run(loop)
    assert session.run(rounds) == 11


WRONG = {
  "values": (TypeError, lambda loops: loops.while_loop(lambda i: i < 3, lambda: 1, [0])),
  "condition": (TypeError, lambda loops: loops.while_loop(lambda: True, lambda i: 1, [0])),
  "types": (TypeError, lambda loops: loops.while_loop(lambda i: i < 3, lambda i: 1.0, [0])),
  "order": (
    ValueError,
    lambda loops: loops.while_loop(lambda i: i < 3, lambda i: (tf.no_op(), i), [0]),
  ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_for_a_loop_of_tensorflow_is_wrong_for_ours(name):
  kind, build = WRONG[name]
  for loops in LOOPS.values():
    with tf.Graph().as_default(), pytest.raises(kind):
      build(loops)


def test_a_queue_that_only_a_tpu_has_is_refused():
  with tf.Graph().as_default(), pytest.raises(ValueError, match="which only a TPU has"):
    runtime.tpu.while_loop(lambda i: i < 3, lambda i: i + 1, [0], infeed_queue=object())
