"""`tf.layers.InputSpec`: what a layer needs its inputs to be."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf


class InputSpec:
  """What a layer needs its inputs to be; None where it does not matter.

  Args:
    dtype: of the input.
    shape: of the input, None for a dimension of any size.
    ndim: the number of dimensions.
    max_ndim: the largest number of dimensions.
    min_ndim: the smallest number of dimensions.
    axes: from an axis (may be negative) to its size.
  """

  def __init__(
    self,
    dtype: Any = None,
    shape: Any = None,
    ndim: Optional[int] = None,
    max_ndim: Optional[int] = None,
    min_ndim: Optional[int] = None,
    axes: Optional[dict[int, Optional[int]]] = None,
    **kwargs: Any,
  ) -> None:
    del kwargs  # Later versions say more, for Keras models only.
    self.dtype = None if dtype is None else tf.as_dtype(dtype).name
    self.shape = None if shape is None else tuple(tf.TensorShape(shape).as_list())
    self.ndim = ndim if self.shape is None else len(self.shape)
    self.max_ndim = max_ndim
    self.min_ndim = min_ndim
    self.axes = {int(axis): size for axis, size in (axes or {}).items()}

  def check(self, tensor: Any, layer: str) -> None:
    """Compares a tensor with it.

    Raises:
      ValueError: the tensor is something else; the message names the layer.
    """
    shape = tensor.shape
    rank = shape.rank
    needs = []
    if rank is None:
      if self.ndim or self.min_ndim or self.max_ndim:
        raise ValueError(f"Input of layer {layer}: the number of its dimensions is not known")
      return
    if self.ndim is not None and rank != self.ndim:
      needs.append(f"{self.ndim} dimensions")
    if self.max_ndim is not None and rank > self.max_ndim:
      needs.append(f"at most {self.max_ndim} dimensions")
    if self.min_ndim is not None and rank < self.min_ndim:
      needs.append(f"at least {self.min_ndim} dimensions")
    if self.dtype is not None and tensor.dtype.base_dtype.name != self.dtype:
      needs.append(f"dtype {self.dtype}")
    if not needs:
      sizes = dict(self.axes)
      sizes.update(enumerate(self.shape or ()))
      for axis, size in sizes.items():
        found = tf.compat.dimension_value(shape[axis])
        if size is not None and found not in (size, None):
          needs.append(f"size {size} in axis {axis}")
    if needs:
      raise ValueError(f"Input of layer {layer} needs {', '.join(needs)}; its shape is {shape}")
