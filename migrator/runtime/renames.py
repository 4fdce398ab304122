"""The names that TF1's libraries gave in the course of time, and those of Keras for the same thing.

A rename is only a proposal: it is applied where the exact name is missing, one variable alone would get
the name, and the shape fits. Each one that is applied is reported.
"""

from __future__ import annotations

import re

# In the order in which they are tried; each may follow those before it.
_RULES: tuple[tuple[re.Pattern, str], ...] = tuple(
  (re.compile(pattern), replacement)
  for pattern, replacement in (
    # The cells before TF 1.2.
    (r"(^|/)BasicLSTMCell/Linear/", r"\1basic_lstm_cell/"),
    (r"(^|/)LSTMCell/Linear/", r"\1lstm_cell/"),
    (r"/Matrix$", "/kernel"),
    (r"/Bias$", "/bias"),
    # tf.contrib.layers and slim.
    (r"(^|/)fully_connected(_\d+)?/", r"\1dense\2/"),
    (r"(^|/)Conv(_\d+)?/", r"\1conv2d\2/"),
    (r"(^|/)BatchNorm(_\d+)?/", r"\1batch_normalization\2/"),
    # Canned networks: hiddenlayer_0/batchnorm_0/gamma.
    (r"(^|/)hiddenlayer_\d+/(batchnorm_\d+)/", r"\1\2/"),
    (r"/embedding_weights$", "/embeddings"),
    (r"/depthwise_weights$", "/depthwise_kernel"),
    (r"/pointwise_weights$", "/pointwise_kernel"),
    (r"/weights$", "/kernel"),
    (r"/weights$", "/embeddings"),
    (r"/biases$", "/bias"),
    (r"/bias_weights$", "/bias"),
  )
)
_RNN_CELL = re.compile(
  r"(^|/)((basic_)?lstm_cell|lstm_block_cell|lstm_fused_cell|layer_norm_basic_lstm_cell|gru_cell|"
  r"gru_block_cell(_v2)?|cudnn_(lstm|gru)|cudnn_compatible_(lstm|gru)_cell)(_\d+)?$"
)


def renamed(name: str) -> dict[str, tuple[str, ...]]:
  """Returns what a variable of an old program may be called now.

  Args:
    name: in the checkpoint.

  Returns:
    New name -> the rules that make it, as "weights -> kernel". Without `name` itself.
  """
  found: dict[str, tuple[str, ...]] = {name: ()}
  for pattern, replacement in _RULES:
    for old, rules in list(found.items()):
      match = pattern.search(old)
      if match:
        new = pattern.sub(replacement, old)
        rule = f"{match.group().strip('/')} -> {match.expand(replacement).strip('/')}"
        found.setdefault(new, (*rules, rule))
  del found[name]
  return found


def rnn_cell(name: str) -> str:
  """Returns the scope of the TF1 RNN cell that a variable belongs to, "" if it is of none.

  The gates of these cells are in another order than those of Keras, with the same shape of the bias.
  """
  for candidate in (name, *renamed(name)):
    scope = candidate.rpartition("/")[0]
    # `gates/kernel` and `candidate/kernel` of a GRUCell.
    if scope.rpartition("/")[2] in ("gates", "candidate"):
      scope = scope.rpartition("/")[0]
    if _RNN_CELL.search(scope):
      return scope
  return ""
