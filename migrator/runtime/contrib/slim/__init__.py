"""What programs use of slim, of `tf.contrib` or `tf_slim`: layers, argument scopes and variables."""

import tensorflow as tf

from migrator.runtime.contrib import layers, losses, metrics
from migrator.runtime.contrib.framework import *  # noqa: F403
from migrator.runtime.contrib.framework import __all__ as _framework
from migrator.runtime.contrib.framework.arg_scope import arg_scope_func_key
from migrator.runtime.contrib.layers import *  # noqa: F403
from migrator.runtime.contrib.layers import __all__ as _layers
from migrator.runtime.contrib.layers import initializers, regularizers
from migrator.runtime.contrib.layers.pooling import pool
from migrator.runtime.contrib.slim import learning, parallel_reader, summaries

create_global_step = tf.compat.v1.train.create_global_step
get_global_step = tf.compat.v1.train.get_global_step
get_or_create_global_step = tf.compat.v1.train.get_or_create_global_step

__all__ = [
  *_framework,
  *_layers,
  "arg_scope_func_key",
  "create_global_step",
  "get_global_step",
  "get_or_create_global_step",
  "initializers",
  "layers",
  "learning",
  "losses",
  "metrics",
  "parallel_reader",
  "pool",
  "regularizers",
  "summaries",
]
