"""Summaries of `slim.summaries`, named after their tensors."""

from __future__ import annotations

from typing import Optional

import tensorflow as tf

v1 = tf.compat.v1


def _name(tensor, name, prefix, postfix=None):
  name = name or tensor.op.name
  return "/".join(one for one in (prefix, name, postfix) if one)


def _printed(summary, tensor, name, print_summary):
  """Makes a summary print the tensor when it is computed; only the printing one is collected then."""
  if print_summary:
    summary = v1.Print(summary, [tensor], name)
    v1.add_to_collection(v1.GraphKeys.SUMMARIES, summary)
  return summary


def add_histogram_summary(tensor, name=None, prefix=None):
  """Adds a histogram of a tensor."""
  return v1.summary.histogram(_name(tensor, name, prefix), tensor)


def add_image_summary(tensor, name=None, prefix=None, print_summary=False):
  """Adds images [batch, height, width, channels]; prints the tensor on demand."""
  full_name = _name(tensor, name, prefix)
  collections: Optional[list[str]] = [] if print_summary else None
  summary = v1.summary.image(full_name, tensor, collections=collections)
  return _printed(summary, tensor, full_name, print_summary)


def add_scalar_summary(tensor, name=None, prefix=None, print_summary=False):
  """Adds a scalar; prints it on demand."""
  full_name = _name(tensor, name, prefix)
  collections: Optional[list[str]] = [] if print_summary else None
  summary = v1.summary.scalar(full_name, tensor, collections=collections)
  return _printed(summary, tensor, full_name, print_summary)


def add_zero_fraction_summary(tensor, name=None, prefix=None, print_summary=False):
  """Adds the share of zeros of a tensor; prints it on demand."""
  full_name = _name(tensor, name, prefix, "Fraction_of_Zero_Values")
  return add_scalar_summary(tf.math.zero_fraction(tensor), full_name, print_summary=print_summary)


def add_histogram_summaries(tensors, prefix=None):
  """Adds a histogram of each tensor."""
  return [add_histogram_summary(one, prefix=prefix) for one in tensors]


def add_image_summaries(tensors, prefix=None):
  """Adds the images of each tensor."""
  return [add_image_summary(one, prefix=prefix) for one in tensors]


def add_scalar_summaries(tensors, prefix=None, print_summary=False):
  """Adds each scalar."""
  return [add_scalar_summary(one, prefix=prefix, print_summary=print_summary) for one in tensors]


def add_zero_fraction_summaries(tensors, prefix=None):
  """Adds the share of zeros of each tensor."""
  return [add_zero_fraction_summary(one, prefix=prefix) for one in tensors]
