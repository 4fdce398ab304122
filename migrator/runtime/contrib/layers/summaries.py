"""Summaries of tensors of `tf.contrib.layers`."""

from __future__ import annotations

import re

import tensorflow as tf

v1 = tf.compat.v1


def _share(condition, name):
  return v1.summary.scalar(name, tf.reduce_mean(tf.cast(condition, tf.float32)))


def summarize_activation(op):
  """Adds a histogram of an activation and, after relu-like operations, the share of its dead ends."""
  kind, name = op.op.type, op.op.name
  if kind in ("Relu", "Softplus", "Relu6"):
    inputs = op.op.inputs[0]
    _share(inputs < tf.cast(0.0, inputs.dtype), f"{name}/zeros")
    if kind == "Relu6":
      _share(inputs > tf.cast(6.0, inputs.dtype), f"{name}/sixes")
  return v1.summary.histogram(f"{name}/activation", op)


def summarize_tensor(tensor, tag=None):
  """Adds a scalar or histogram of a tensor; returns None for text and booleans."""
  if tensor.dtype.base_dtype in (tf.string, tf.bool):
    return None
  write = v1.summary.scalar if tensor.shape.ndims == 0 else v1.summary.histogram
  return write(tag or f"{tensor.op.name}_summary", tensor)


def summarize_tensors(tensors, summarizer=summarize_tensor):
  """Adds a summary of each tensor."""
  return [summarizer(one) for one in tensors]


def summarize_collection(collection, name_filter=None, summarizer=summarize_tensor):
  """Adds a summary of each tensor of a collection whose name's beginning matches a pattern."""
  found = v1.get_collection(collection)
  return summarize_tensors(
    [one for one in found if name_filter is None or re.match(name_filter, one.op.name)], summarizer
  )


def summarize_activations(name_filter=None, summarizer=summarize_activation):
  """Adds a summary of each activation of the collection ACTIVATIONS."""
  return summarize_collection(v1.GraphKeys.ACTIVATIONS, name_filter, summarizer)
