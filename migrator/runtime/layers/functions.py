"""`tf.layers`: the functions that make a layer and call it, with their names and positions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from migrator.runtime.layers import convolution, normalization, pooling, separable, transposed
from migrator.runtime.layers.base import Layer

v1 = tf.compat.v1
_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD


def _function(name: str, layer: type[Layer], common: type[Layer], dilated: bool = True) -> Any:
  """Returns the function of a layer.

  Args:
    name: of the function.
    layer: its class.
    common: the class whose constructor says the arguments.
    dilated: whether `dilation_rate` is one of them.
  """
  own = inspect.signature(common.__init__).parameters.values()
  left_out = {"self", "rank", "groups", "args", "kwargs", *([] if dilated else ["dilation_rate"])}
  taken = [p for p in own if p.name not in left_out]
  reuse = (
    [] if common is pooling.Pooling else [inspect.Parameter("reuse", _POSITIONAL, default=None)]
  )
  signature = inspect.Signature([inspect.Parameter("inputs", _POSITIONAL), *taken, *reuse])

  def call(*args: Any, **kwargs: Any) -> Any:
    try:
      given = dict(signature.bind(*args, **kwargs).arguments)
    except TypeError as error:
      raise TypeError(f"{name}: {error}") from None
    inputs = given.pop("inputs")
    if reuse:
      # A name is the scope as it stands; pooling has no variables, so that its name is made free.
      given.update(_scope=given.get("name"), _reuse=given.pop("reuse", None))
    return layer(**given)(inputs)

  call.__name__ = call.__qualname__ = name
  call.__doc__ = f"Is `tf.layers.{name}`: makes a {layer.__name__} and calls it."
  call.__signature__ = signature  # type: ignore[attr-defined]
  return call


_Function = Callable[..., Any]
_CONVOLUTION, _SEPARABLE = convolution.Convolution, separable.Separable
conv1d: _Function = _function("conv1d", convolution.Conv1D, _CONVOLUTION)
conv2d: _Function = _function("conv2d", convolution.Conv2D, _CONVOLUTION)
conv3d: _Function = _function("conv3d", convolution.Conv3D, _CONVOLUTION)
conv2d_transpose: _Function = _function(
  "conv2d_transpose", transposed.Conv2DTranspose, _CONVOLUTION, dilated=False
)
conv3d_transpose: _Function = _function(
  "conv3d_transpose", transposed.Conv3DTranspose, _CONVOLUTION, dilated=False
)
separable_conv1d: _Function = _function("separable_conv1d", separable.SeparableConv1D, _SEPARABLE)
separable_conv2d: _Function = _function("separable_conv2d", separable.SeparableConv2D, _SEPARABLE)
average_pooling1d: _Function = _function(
  "average_pooling1d", pooling.AveragePooling1D, pooling.Pooling
)
average_pooling2d: _Function = _function(
  "average_pooling2d", pooling.AveragePooling2D, pooling.Pooling
)
average_pooling3d: _Function = _function(
  "average_pooling3d", pooling.AveragePooling3D, pooling.Pooling
)
max_pooling1d: _Function = _function("max_pooling1d", pooling.MaxPooling1D, pooling.Pooling)
max_pooling2d: _Function = _function("max_pooling2d", pooling.MaxPooling2D, pooling.Pooling)
max_pooling3d: _Function = _function("max_pooling3d", pooling.MaxPooling3D, pooling.Pooling)


def batch_normalization(
  inputs: Any,
  axis: Any = -1,
  momentum: Any = 0.99,
  epsilon: float = 1e-3,
  center: bool = True,
  scale: bool = True,
  beta_initializer: Any = v1.zeros_initializer,
  gamma_initializer: Any = v1.ones_initializer,
  moving_mean_initializer: Any = v1.zeros_initializer,
  moving_variance_initializer: Any = v1.ones_initializer,
  beta_regularizer: Any = None,
  gamma_regularizer: Any = None,
  beta_constraint: Any = None,
  gamma_constraint: Any = None,
  training: Any = False,
  trainable: bool = True,
  name: Any = None,
  reuse: Any = None,
  renorm: bool = False,
  renorm_clipping: Any = None,
  renorm_momentum: Any = 0.99,
  fused: Any = None,
  virtual_batch_size: Any = None,
  adjustment: Any = None,
) -> Any:
  """Is `tf.layers.batch_normalization`: the program runs what it puts into UPDATE_OPS."""
  layer = normalization.BatchNormalization(
    axis=axis,
    momentum=momentum,
    epsilon=epsilon,
    center=center,
    scale=scale,
    beta_initializer=beta_initializer,
    gamma_initializer=gamma_initializer,
    moving_mean_initializer=moving_mean_initializer,
    moving_variance_initializer=moving_variance_initializer,
    beta_regularizer=beta_regularizer,
    gamma_regularizer=gamma_regularizer,
    beta_constraint=beta_constraint,
    gamma_constraint=gamma_constraint,
    renorm=renorm,
    renorm_clipping=renorm_clipping,
    renorm_momentum=renorm_momentum,
    fused=fused,
    trainable=trainable,
    virtual_batch_size=virtual_batch_size,
    adjustment=adjustment,
    name=name,
    _scope=name,
    _reuse=reuse,
  )
  return layer(inputs, training=training)
