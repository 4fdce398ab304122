"""Older names of TF1's libraries: what they may be called now."""

import pytest

from migrator.runtime import renames

PAIRS = [
  ("conv1/weights", "conv1/kernel"),
  ("conv1/biases", "conv1/bias"),
  ("net/fully_connected_1/weights", "net/dense_1/kernel"),
  ("net/Conv/biases", "net/conv2d/bias"),
  ("block/BatchNorm_2/moving_mean", "block/batch_normalization_2/moving_mean"),
  ("dnn/hiddenlayer_1/batchnorm_1/gamma", "dnn/batchnorm_1/gamma"),
  ("input_layer/a_embedding/embedding_weights", "input_layer/a_embedding/embeddings"),
  ("table/weights", "table/embeddings"),
  ("linear/linear_model/bias_weights", "linear/linear_model/bias"),
  ("separable/depthwise_weights", "separable/depthwise_kernel"),
  ("rnn/basic_lstm_cell/weights", "rnn/basic_lstm_cell/kernel"),
  ("rnn/BasicLSTMCell/Linear/Matrix", "rnn/basic_lstm_cell/kernel"),
  ("rnn/BasicLSTMCell/Linear/Bias", "rnn/basic_lstm_cell/bias"),
]


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_what_an_older_name_may_be_called_now(old, new):
  assert new in renames.renamed(old)


def test_every_rule_that_made_a_name_is_told():
  rules = renames.renamed("net/fully_connected/weights")["net/dense/kernel"]
  assert rules == ("fully_connected -> dense", "weights -> kernel")


@pytest.mark.parametrize(
  "name", ["conv1/kernel", "weights_of_mine/kernel", "weights", "a/weights/b"]
)
def test_a_name_that_is_not_an_old_one_stays(name):
  assert renames.renamed(name) == {}


@pytest.mark.parametrize(
  ("name", "cell"),
  [
    ("rnn/basic_lstm_cell/bias", "rnn/basic_lstm_cell"),
    ("rnn/BasicLSTMCell/Linear/Bias", "rnn/basic_lstm_cell"),
    ("rnn/gru_cell/gates/kernel", "rnn/gru_cell"),
    ("rnn/dense/bias", ""),
    ("lstm/bias", ""),
  ],
)
def test_variables_of_tf1_cells_are_known(name, cell):
  assert renames.rnn_cell(name) == cell
