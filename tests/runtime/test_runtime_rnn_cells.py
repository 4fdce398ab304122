"""RNN cells of the runtime against TF1's: recordings of TF 1.15, and rules of their own."""

import layer_comparisons as same
import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime import rnn_cell

v1 = tf.compat.v1


@pytest.mark.parametrize("name", sorted(same.CELLS.CASES))
def test_cells_have_the_names_and_numbers_of_tf_1_15(name):
  same.assert_same(same.ours(same.CELLS.CASES[name]), same.RECORDED[name])


def test_dropout_of_a_cell_has_the_masks_of_this_tensorflow():
  def outputs(cells):
    with tf.Graph().as_default():
      v1.set_random_seed(7)
      x = tf.ones([4, 3])
      found = []
      for variational in (False, True):
        with v1.variable_scope(f"variational_{variational}", initializer=v1.ones_initializer()):
          cell = cells.DropoutWrapper(
            cells.BasicLSTMCell(8),
            input_keep_prob=0.5,
            output_keep_prob=v1.placeholder_with_default(0.6, []),
            state_keep_prob=0.7,
            variational_recurrent=variational,
            input_size=3,
            dtype=tf.float32,
            seed=11,
          )
          state = cell.zero_state(4, tf.float32)
          for step in range(2):
            with v1.variable_scope("cell", reuse=step > 0):
              output, state = cell(x, state)
          found += [output, state.c, state.h]
      with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        return session.run(found)

  ours, theirs = outputs(rnn_cell), outputs(same.own_modules()[1])
  assert np.any(ours[0] == 0) and np.any(ours[0] != 0)
  for one, other in zip(ours, theirs):
    np.testing.assert_allclose(one, other, rtol=1e-6)


def test_a_filter_says_which_parts_of_the_state_drop():
  with tf.Graph().as_default():
    cell = rnn_cell.DropoutWrapper(
      rnn_cell.MultiRNNCell([rnn_cell.GRUCell(50), rnn_cell.GRUCell(50)]),
      state_keep_prob=0.5,
      seed=3,
      dropout_state_filter_visitor=lambda s: (True, False) if isinstance(s, tuple) else True,
    )
    _, (first, second) = cell(tf.ones([1, 2]), cell.zero_state(1, tf.float32))
    with v1.Session() as session:
      session.run(v1.global_variables_initializer())
      first, second = session.run([first, second])
  assert 5 < np.sum(first == 0) < 45
  assert np.sum(second == 0) == 0


def test_a_cell_finds_its_variables_in_every_graph_of_a_function():
  kept = {}

  def creator(next_creator, **kwargs):
    name = kwargs["name"]
    if name not in kept:
      with tf.init_scope():
        kept[name] = next_creator(**kwargs)
    return kept[name]

  cell = rnn_cell.BasicLSTMCell(3)

  @tf.function
  def step(x):
    with v1.variable_creator_scope(creator):
      output, _ = cell(x, cell.zero_state(tf.shape(x)[0], tf.float32))
    return output

  wide, narrow = step(tf.ones([4, 2])), step(tf.ones([1, 2]))
  np.testing.assert_allclose(wide[:1], narrow, rtol=1e-6)
  assert sorted(kept) == ["basic_lstm_cell/bias", "basic_lstm_cell/kernel"]


@pytest.mark.parametrize(
  ("make", "message"),
  [
    (lambda: rnn_cell.MultiRNNCell([]), "at least one cell"),
    (lambda: rnn_cell.MultiRNNCell([rnn_cell.LSTMCell(2)], False), "single states"),
    (lambda: rnn_cell.DropoutWrapper(rnn_cell.GRUCell(2), 1.5), "between 0 and 1"),
    (lambda: rnn_cell.LSTMCell(2, activation="unknown"), "Unknown activation 'unknown'"),
    (lambda: rnn_cell.GRUCell(2, dtype=tf.int32), "floating point"),
    (lambda: rnn_cell.GRUCell(2)(tf.zeros([2, 2, 2]), tf.zeros([2, 2])), "2 dimensions"),
  ],
)
def test_wrong_arguments_are_said(make, message):
  with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
    make()
