"""`tf.nn.rnn_cell` and `tf.contrib.rnn` of TF1: the same arguments, variable names and numbers.

The cells work with `tf.compat.v1.nn.dynamic_rnn`, `bidirectional_dynamic_rnn`, `static_rnn` and
`raw_rnn`, which TensorFlow 2 still has.
"""

from migrator.runtime.rnn_cell.base import LSTMStateTuple, RNNCell
from migrator.runtime.rnn_cell.blocks import (
  LayerNormBasicLSTMCell,
  LSTMBlockCell,
  LSTMBlockFusedCell,
  TimeReversedFusedRNN,
)
from migrator.runtime.rnn_cell.cells import BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell
from migrator.runtime.rnn_cell.wrappers import (
  DeviceWrapper,
  DropoutWrapper,
  MultiRNNCell,
  ResidualWrapper,
)

__all__ = [
  "BasicLSTMCell",
  "BasicRNNCell",
  "DeviceWrapper",
  "DropoutWrapper",
  "GRUCell",
  "LSTMBlockCell",
  "LSTMBlockFusedCell",
  "LSTMCell",
  "LSTMStateTuple",
  "LayerNormBasicLSTMCell",
  "MultiRNNCell",
  "RNNCell",
  "ResidualWrapper",
  "TimeReversedFusedRNN",
]
