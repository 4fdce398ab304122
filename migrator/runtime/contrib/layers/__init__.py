"""What programs use of `tf.contrib.layers`: same arguments, variable names, collections and numbers."""

from migrator.runtime.contrib.layers import utils
from migrator.runtime.contrib.layers.batch_normalization import batch_norm
from migrator.runtime.contrib.layers.convolutions import (
  conv1d,
  conv2d,
  conv3d,
  convolution,
  convolution1d,
  convolution2d,
  convolution3d,
)
from migrator.runtime.contrib.layers.dense import (
  bias_add,
  dropout,
  elu,
  flatten,
  fully_connected,
  linear,
  one_hot_encoding,
  relu,
  relu6,
  repeat,
  softmax,
  stack,
  unit_norm,
)
from migrator.runtime.contrib.layers.embeddings import (
  embed_sequence,
  embedding_lookup_unique,
  safe_embedding_lookup_sparse,
)
from migrator.runtime.contrib.layers.initializers import (
  variance_scaling_initializer,
  xavier_initializer,
  xavier_initializer_conv2d,
)
from migrator.runtime.contrib.layers.normalization import group_norm, instance_norm, layer_norm
from migrator.runtime.contrib.layers.optimizers import (
  OPTIMIZER_CLS_NAMES,
  OPTIMIZER_SUMMARIES,
  optimize_loss,
)
from migrator.runtime.contrib.layers.pooling import (
  avg_pool2d,
  avg_pool3d,
  max_pool2d,
  max_pool3d,
)
from migrator.runtime.contrib.layers.regularizers import (
  apply_regularization,
  l1_l2_regularizer,
  l1_regularizer,
  l2_regularizer,
  sum_regularizer,
)
from migrator.runtime.contrib.layers.separable import separable_conv2d, separable_convolution2d
from migrator.runtime.contrib.layers.summaries import (
  summarize_activation,
  summarize_activations,
  summarize_collection,
  summarize_tensor,
  summarize_tensors,
)
from migrator.runtime.contrib.layers.transposed import (
  conv2d_transpose,
  conv3d_transpose,
  convolution2d_transpose,
  convolution3d_transpose,
)

__all__ = [
  "OPTIMIZER_CLS_NAMES",
  "OPTIMIZER_SUMMARIES",
  "apply_regularization",
  "avg_pool2d",
  "avg_pool3d",
  "batch_norm",
  "bias_add",
  "conv1d",
  "conv2d",
  "conv2d_transpose",
  "conv3d",
  "conv3d_transpose",
  "convolution",
  "convolution1d",
  "convolution2d",
  "convolution2d_transpose",
  "convolution3d",
  "convolution3d_transpose",
  "dropout",
  "elu",
  "embed_sequence",
  "embedding_lookup_unique",
  "flatten",
  "fully_connected",
  "group_norm",
  "instance_norm",
  "l1_l2_regularizer",
  "l1_regularizer",
  "l2_regularizer",
  "layer_norm",
  "linear",
  "max_pool2d",
  "max_pool3d",
  "one_hot_encoding",
  "optimize_loss",
  "relu",
  "relu6",
  "repeat",
  "safe_embedding_lookup_sparse",
  "separable_conv2d",
  "separable_convolution2d",
  "softmax",
  "stack",
  "sum_regularizer",
  "summarize_activation",
  "summarize_activations",
  "summarize_collection",
  "summarize_tensor",
  "summarize_tensors",
  "unit_norm",
  "utils",
  "variance_scaling_initializer",
  "xavier_initializer",
  "xavier_initializer_conv2d",
]
