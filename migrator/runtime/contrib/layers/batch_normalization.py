"""Batch normalization of `tf.contrib.layers`, whose three forms differ in what they compute.

* Rank 2, an own place for updates or corrected means: the fused operation on variables of the model, in
  float32. The moving variance has Bessel's correction, also at rank 2.
* The other fused case, rank 4, was the layer of `tf.layers`.
* Other ranks and `fused=False` take plain moments, without the correction.
"""

from __future__ import annotations

import tensorflow as tf

from migrator.runtime.contrib.framework.arg_scope import add_arg_scope
from migrator.runtime.contrib.layers import batch_norm_forms
from migrator.runtime.contrib.layers import batch_norm_variables as variables
from migrator.runtime.contrib.layers.weights import channels_axis, finished, layer_scope

v1 = tf.compat.v1
_UPDATE_OPS = v1.GraphKeys.UPDATE_OPS


@add_arg_scope
def batch_norm(
  inputs,
  decay=0.999,
  center=True,
  scale=False,
  epsilon=0.001,
  activation_fn=None,
  param_initializers=None,
  param_regularizers=None,
  updates_collections=_UPDATE_OPS,
  is_training=True,
  reuse=None,
  variables_collections=None,
  outputs_collections=None,
  trainable=True,
  batch_weights=None,
  fused=None,
  data_format="NHWC",
  zero_debias_moving_mean=False,
  scope=None,
  renorm=False,
  renorm_clipping=None,
  renorm_decay=0.99,
  adjustment=None,
):
  """Adds batch normalization (Ioffe and Szegedy, 2015): `BatchNorm/beta`, `.../moving_mean`, ...

  Args:
    inputs: a tensor of rank 2 or more, with the channels last or, with "NCHW", second.
    decay: of the moving mean and variance.
    center: whether there is `beta`, added in the end.
    scale: whether there is `gamma`, a factor.
    epsilon: added to the variance.
    activation_fn: a function, or None.
    param_initializers: {"beta", "gamma", "moving_mean" or "moving_variance": initializer}.
    param_regularizers: {"beta" or "gamma": function weights -> penalty}.
    updates_collections: where the updates go, for the program to run; None runs them with the outputs.
    is_training: a bool or a boolean tensor: statistics of the batch, or the moving ones.
    reuse, outputs_collections, trainable, scope: as for `fully_connected`.
    variables_collections: collections of all variables, or {name of a variable: collections}.
    batch_weights: a weight for each row.
    fused: whether to use the fused operation where it can be; yes by default.
    data_format: "NHWC" or "NCHW".
    zero_debias_moving_mean: whether the moving mean is corrected for its initial value, with the
      variables `biased` and `local_step`.
    renorm, renorm_clipping, renorm_decay, adjustment: not offered.

  Returns:
    The outputs, of the inputs' shape.

  Raises:
    ValueError: with `renorm` or `adjustment`; if the number of channels or the rank is not known.
  """
  del renorm_clipping, renorm_decay
  if renorm or adjustment is not None:
    raise ValueError(
      "batch_norm: batch renormalization (renorm, adjustment) is not offered. "
      "Compute it in the program, or train without it."
    )
  axis = channels_axis(data_format)
  fused = True if fused is None else fused
  inputs = tf.convert_to_tensor(inputs)
  rank = inputs.shape.ndims
  if rank is None:
    raise ValueError(f"batch_norm: the rank of {inputs.name} must be known.")
  own_updates = updates_collections is not _UPDATE_OPS
  in_place = (
    fused
    and batch_weights is None
    and rank in (2, 4)
    and (zero_debias_moving_mean or rank == 2 or own_updates)
  )

  as_layer = not (in_place or batch_weights is not None or own_updates or zero_debias_moving_mean)
  initializers, regularizers = param_initializers or {}, param_regularizers or {}
  # Moments with an own place for updates never knew the penalties.
  known = regularizers if in_place or as_layer else {}

  def make(shape, dtype):
    maker = variables.layer_variables if as_layer else variables.model_variables
    return maker(shape, dtype, center, scale, trainable, initializers, known, variables_collections)

  if in_place:
    with v1.variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as sc:
      outputs = batch_norm_forms.fused_in_place(
        inputs,
        sc,
        decay,
        epsilon,
        is_training,
        data_format,
        updates_collections,
        zero_debias_moving_mean,
        make,
      )
      return finished(outputs, activation_fn, outputs_collections, sc.name)
  with layer_scope(scope, "BatchNorm", inputs, reuse) as sc:
    if as_layer:
      outputs = batch_norm_forms.as_layer(
        inputs, decay, epsilon, is_training, axis, fused, trainable, make
      )
    else:
      outputs = batch_norm_forms.by_moments(
        inputs,
        decay,
        epsilon,
        is_training,
        axis,
        batch_weights,
        updates_collections,
        zero_debias_moving_mean,
        make,
      )
    return finished(outputs, activation_fn, outputs_collections, sc.name)
