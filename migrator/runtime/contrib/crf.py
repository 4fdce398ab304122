"""Linear-chain conditional random fields of `tf.contrib.crf` (Lafferty, McCallum and Pereira, 2001).

Shapes: unary scores [batch, length, tags] of float32, tags [batch, length] of int32 or int64, lengths
[batch], transitions [tags, tags] from the row's tag to the column's.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1

__all__ = [
  "crf_binary_score",
  "crf_decode",
  "crf_log_likelihood",
  "crf_log_norm",
  "crf_multitag_sequence_score",
  "crf_sequence_score",
  "crf_unary_score",
  "viterbi_decode",
]


def _by_length(inputs, single, several):
  """Returns what one of two functions returns, for sequences of one element and of several."""
  length = tf.compat.dimension_value(inputs.shape[1])
  if length is not None:
    return single() if length == 1 else several()
  return v1.cond(tf.equal(tf.shape(inputs)[1], 1), single, several)


def _of_empty(sequence_lengths, values):
  return tf.where(tf.less_equal(sequence_lengths, 0), tf.zeros_like(values), values)


def _mask(sequence_lengths, values):
  return tf.sequence_mask(sequence_lengths, maxlen=tf.shape(values)[1], dtype=tf.float32)


def crf_unary_score(tag_indices, sequence_lengths, inputs):
  """Returns the sum [batch] of the unary scores of the tags, up to each length."""
  scores = tf.gather(inputs, tag_indices, axis=2, batch_dims=2)
  return tf.reduce_sum(scores * _mask(sequence_lengths, tag_indices), 1)


def crf_binary_score(tag_indices, sequence_lengths, transition_params):
  """Returns the sum [batch] of the transitions between the tags, up to each length."""
  transition_params = tf.convert_to_tensor(transition_params)
  pairs = tf.stack([tag_indices[:, :-1], tag_indices[:, 1:]], axis=2)
  scores = tf.gather_nd(transition_params, pairs)
  return tf.reduce_sum(scores * _mask(sequence_lengths, tag_indices)[:, 1:], 1)


def crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params):
  """Returns the score [batch] of the tags; that of an empty sequence is 0.

  Args:
    inputs: unary scores.
    tag_indices: the tags.
    sequence_lengths: the lengths.
    transition_params: the transitions.
  """

  def single():
    scores = tf.gather(inputs[:, 0], tag_indices[:, 0], axis=1, batch_dims=1)
    return _of_empty(sequence_lengths, scores)

  def several():
    return crf_unary_score(tag_indices, sequence_lengths, inputs) + crf_binary_score(
      tag_indices, sequence_lengths, transition_params
    )

  return _by_length(inputs, single, several)


def crf_multitag_sequence_score(inputs, tag_bitmap, sequence_lengths, transition_params):
  """Returns the log of the summed score [batch] of all sequences of allowed tags.

  Args:
    inputs: unary scores.
    tag_bitmap: which tags are allowed, of the inputs' shape.
    sequence_lengths: the lengths.
    transition_params: the transitions.
  """
  allowed = tf.where(tag_bitmap, inputs, tf.fill(tf.shape(inputs), float("-inf")))
  return _by_length(
    inputs,
    lambda: tf.reduce_logsumexp(allowed, axis=[1, 2]),
    lambda: crf_log_norm(allowed, sequence_lengths, transition_params),
  )


def _over_time(step, first, inputs, lengths):
  """Carries a state [batch, tags] over the inputs [batch, length, tags]; it stands still past each length.

  Returns the states after the first, [length, batch, tags] each, as the step gives them.
  """
  steps = tf.range(tf.shape(inputs)[1])
  by_time = tf.transpose(inputs, [1, 0, 2])

  def each(carried, given):
    number, scores = given
    state, more = step(carried[0], scores)
    going = tf.expand_dims(tf.cast(number, lengths.dtype) < lengths, 1)
    return tf.where(going, state, carried[0]), tf.where(going, more, tf.zeros_like(more))

  return tf.scan(each, (steps, by_time), initializer=first)


def _less_one(sequence_lengths):
  return tf.maximum(tf.zeros([], sequence_lengths.dtype), sequence_lengths - 1)


def crf_log_norm(inputs, sequence_lengths, transition_params):
  """Returns the log of the summed score [batch] of all sequences; that of an empty one is 0.

  Args:
    inputs: unary scores.
    sequence_lengths: the lengths.
    transition_params: the transitions.
  """
  first = inputs[:, 0]

  def single():
    return _of_empty(sequence_lengths, tf.reduce_logsumexp(first, [1]))

  def several():
    transitions = tf.expand_dims(tf.convert_to_tensor(transition_params), 0)

    def step(state, scores):
      reached = scores + tf.reduce_logsumexp(tf.expand_dims(state, 2) + transitions, [1])
      return reached, reached

    states, _ = _over_time(
      step, (first, tf.zeros_like(first)), inputs[:, 1:], _less_one(sequence_lengths)
    )
    return _of_empty(sequence_lengths, tf.reduce_logsumexp(states[-1], [1]))

  sequence_lengths = tf.convert_to_tensor(sequence_lengths)
  return _by_length(inputs, single, several)


def crf_log_likelihood(inputs, tag_indices, sequence_lengths, transition_params=None):
  """Returns the log-likelihood [batch] of the tags, and the transitions.

  Args:
    inputs: unary scores, with a known number of tags.
    tag_indices: the tags.
    sequence_lengths: the lengths.
    transition_params: the transitions; by default the variable `transitions` of the current scope.
  """
  if transition_params is None:
    tags = tf.compat.dimension_value(inputs.shape[2])
    transition_params = v1.get_variable("transitions", [tags, tags])
  score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
  return score - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def viterbi_decode(score, transition_params):
  """Returns the best sequence of tags, a list, and its score, for one sequence.

  Args:
    score: a numpy array [length, tags] of unary scores.
    transition_params: a numpy array of transitions.
  """
  best = np.zeros_like(score)
  origins = np.zeros_like(score, dtype=np.int32)
  best[0] = score[0]
  for position in range(1, score.shape[0]):
    reached = np.expand_dims(best[position - 1], 1) + transition_params
    best[position] = score[position] + np.max(reached, 0)
    origins[position] = np.argmax(reached, 0)
  tags = [np.argmax(best[-1])]
  for origin in reversed(origins[1:]):
    tags.append(origin[tags[-1]])
  return tags[::-1], np.max(best[-1])


def crf_decode(potentials, transition_params, sequence_length):
  """Returns the best tags [batch, length] of int32, 0 past each length, and their scores [batch].

  Args:
    potentials: unary scores, with a known number of tags.
    transition_params: the transitions.
    sequence_length: the lengths.
  """
  first = potentials[:, 0]

  def single():
    tags = tf.expand_dims(tf.argmax(first, axis=1), 1)
    return tf.cast(tags, tf.int32), tf.reduce_max(first, axis=1)

  def several():
    transitions = tf.expand_dims(tf.convert_to_tensor(transition_params), 0)
    lengths = _less_one(sequence_length)

    def forward(state, scores):
      reached = tf.expand_dims(state, 2) + transitions
      return scores + tf.reduce_max(reached, [1]), tf.argmax(reached, 1, output_type=tf.int32)

    no_origins = tf.zeros(tf.shape(first), tf.int32)
    states, origins = _over_time(forward, (first, no_origins), potentials[:, 1:], lengths)
    last = states[-1]
    # From the end of each sequence back to its first element.
    backwards = tf.reverse_sequence(origins, lengths, seq_axis=0, batch_axis=1)
    end = tf.argmax(last, axis=1, output_type=tf.int32)
    numbers = tf.range(tf.shape(origins)[0])

    def backward(tags, given):
      number, origin = given
      going = tf.cast(number, lengths.dtype) < lengths
      return tf.where(going, tf.gather(origin, tags, axis=1, batch_dims=1), tags)

    found = tf.scan(backward, (numbers, backwards), initializer=end)
    going = tf.expand_dims(tf.cast(numbers, lengths.dtype), 1) < tf.expand_dims(lengths, 0)
    found = tf.where(going, found, tf.zeros_like(found))
    tags = tf.transpose(tf.concat([tf.expand_dims(end, 0), found], 0))
    tags = tf.reverse_sequence(tags, sequence_length, seq_axis=1, batch_axis=0)
    return tags, tf.reduce_max(last, axis=1)

  sequence_length = tf.convert_to_tensor(sequence_length)
  return _by_length(potentials, single, several)
