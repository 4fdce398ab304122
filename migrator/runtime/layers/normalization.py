"""`tf.layers`: batch normalization, with moving statistics in UPDATE_OPS.

The arithmetic is TF1's in a graph, to the rounding: where the fused operation is used, the share of
a new batch is 1 - momentum in the variables' precision, otherwise in double precision; the variance
that the fused operation adds is that of a sample (divided by n - 1). S. Ioffe and C. Szegedy,
arXiv:1502.03167; renormalization: S. Ioffe, arXiv:1702.03275.
"""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.layers import batches, values
from migrator.runtime.layers.base import Layer
from migrator.runtime.layers.input_spec import InputSpec

v1 = tf.compat.v1
_STATISTICS = {
  "synchronization": tf.VariableSynchronization.ON_READ,
  "aggregation": v1.VariableAggregation.MEAN,
  "trainable": False,
}


class BatchNormalization(Layer):
  """(inputs - mean) / sqrt(variance + epsilon) * gamma + beta; of `tf.layers.BatchNormalization`.

  Args:
    axis: of the channels; a list for statistics of each element of several axes.
    momentum: share of the old moving statistics, a number or a tensor.
    epsilon: added to the variance.
    center: whether there is a variable `beta`.
    scale: whether there is a variable `gamma`.
    beta_initializer: see `Layer.add_weight`, as for the next ones.
    gamma_initializer: see there.
    moving_mean_initializer: see there.
    moving_variance_initializer: see there.
    beta_regularizer: see there.
    gamma_regularizer: see there.
    beta_constraint: see there.
    gamma_constraint: see there.
    renorm: whether batches are corrected with moving statistics while training.
    renorm_clipping: limits of the correction: rmax, rmin, dmax.
    renorm_momentum: like momentum, for the statistics of the correction.
    fused: whether the operation of TensorFlow is used; None: where it can be.
    trainable: False keeps the moving statistics out of UPDATE_OPS, too.
    virtual_batch_size: statistics are those of so many examples, not of the whole batch.
    adjustment: function from the shape of the inputs to a scale and a bias while training.
    name: see `Layer`.
    **kwargs: of `Layer`.

  Raises:
    TypeError: axis is no integer and no list.
    ValueError: fused, where it cannot be; unknown limits.
  """

  def __init__(
    self,
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
    renorm: bool = False,
    renorm_clipping: Optional[dict[str, Any]] = None,
    renorm_momentum: Any = 0.99,
    fused: Optional[bool] = None,
    trainable: bool = True,
    virtual_batch_size: Optional[int] = None,
    adjustment: Any = None,
    name: Any = None,
    **kwargs: Any,
  ) -> None:
    super().__init__(trainable=trainable, name=name, **kwargs)
    if not isinstance(axis, (int, list, tuple)):
      raise TypeError(f"`axis` must be an integer or a list of them, not {axis!r}")
    self.axis: Any = axis if isinstance(axis, int) else list(axis)
    self.momentum = momentum
    self.epsilon = epsilon
    self.center = center
    self.scale = scale
    self.beta_initializer = values.initializer(beta_initializer)
    self.gamma_initializer = values.initializer(gamma_initializer)
    self.moving_mean_initializer = values.initializer(moving_mean_initializer)
    self.moving_variance_initializer = values.initializer(moving_variance_initializer)
    self.beta_regularizer = values.regularizer(beta_regularizer)
    self.gamma_regularizer = values.regularizer(gamma_regularizer)
    self.beta_constraint = values.constraint(beta_constraint)
    self.gamma_constraint = values.constraint(gamma_constraint)
    self.renorm = renorm
    self.renorm_clipping = dict(renorm_clipping or {})
    self.renorm_momentum = renorm_momentum
    self.virtual_batch_size = virtual_batch_size
    self.adjustment = adjustment
    if set(self.renorm_clipping) - {"rmax", "rmin", "dmax"}:
      raise ValueError(f"`renorm_clipping` has rmax, rmin and dmax, not {renorm_clipping!r}")
    possible = self._can_be_fused()
    if fused and not possible:
      raise ValueError(
        "`fused=True` is for one axis, 1 or the last, without renorm, virtual_batch_size and "
        "adjustment"
      )
    self.fused = possible if fused is None else fused
    self.gamma: Any = None
    self.beta: Any = None
    self.moving_mean: Any = None
    self.moving_variance: Any = None

  def build(self, input_shape: Any) -> None:
    """Makes gamma, beta and the moving statistics.

    Raises:
      ValueError: a dimension of `axis` is not known, or the fused operation has no such axis.
    """
    shape = tf.TensorShape(input_shape)
    rank = shape.rank
    if rank is None:
      raise ValueError(f"Layer {self.name}: the number of dimensions of the inputs is not known")
    axes = [self.axis] if isinstance(self.axis, int) else self.axis
    axes = [a + rank if a < 0 else a for a in axes]
    if any(a not in range(rank) for a in axes) or len(set(axes)) != len(axes):
      raise ValueError(f"Layer {self.name}: axis {self.axis} of inputs with {rank} dimensions")
    sizes = {a: tf.compat.dimension_value(shape[a]) for a in axes}
    if None in sizes.values():
      raise ValueError(f"Layer {self.name}: the size of axis {axes} of the inputs is not known")
    if self.fused:
      # Five dimensions are fused in the last versions that have `tf.layers`, not yet in TF 1.15. Only
      # now the dtype is known: the operation has no double precision.
      self.fused = rank in (4, 5) and axes in ([1], [rank - 1]) and self._can_be_fused()
    self.input_spec = InputSpec(ndim=rank, axes=dict(sizes))
    parameters = list(sizes.values())
    if len(axes) > 1 or self.virtual_batch_size is not None:
      parameters = [sizes.get(i, 1) for i in range(rank)]
    if self.virtual_batch_size is not None:
      if self.virtual_batch_size <= 0 or 0 in axes or self.adjustment is not None:
        raise ValueError(
          f"Layer {self.name}: `virtual_batch_size` is positive, and goes with no adjustment and "
          "not with axis 0"
        )
      parameters.insert(1, 1)
      axes = [a + 1 for a in axes]
    self.axis = axes
    self._add_parameters(parameters)
    self.built = True

  def call(self, inputs: Any, training: Any = False) -> Any:
    """Returns the normalized inputs, with the statistics of the batch where `training` is on.

    Args:
      inputs: floats, [batch, ...].
      training: boolean, number, or tensor of one.
    """
    if self.virtual_batch_size is None:
      normalize = batches.fused if self.fused else batches.plain
      return normalize(self, inputs, training)
    shape = tf.concat([[-1], tf.shape(inputs)[1:]], 0)
    # While not training each example may be a batch: the statistics are not of the batch then.
    split = [-1, 1] if values.on(training) is False else [self.virtual_batch_size, -1]
    expanded = tf.reshape(inputs, tf.concat([split, shape[1:]], 0))
    outputs = batches.plain(self, expanded, training)
    outputs = tf.reshape(outputs, shape)
    outputs.set_shape(inputs.shape)
    return outputs

  def compute_output_shape(self, input_shape: Any) -> tf.TensorShape:
    """Returns the shape of the inputs."""
    return tf.TensorShape(input_shape)

  @property
  def parameter_dtype(self) -> str:
    """Of the variables and the statistics: float32 for half precision inputs."""
    return "float32" if self.dtype in ("float16", "bfloat16") else self.dtype or "float32"

  def _can_be_fused(self) -> bool:
    axes = [self.axis] if isinstance(self.axis, int) else self.axis
    plain = not self.renorm and self.virtual_batch_size is None and self.adjustment is None
    half = self.dtype in ("float16", "bfloat16", "float32", None)
    return plain and half and len(axes) == 1 and axes[0] in (-4, -3, -1, 1, 3, 4)

  def _add_parameters(self, shape: list[Any]) -> None:
    dtype = self.parameter_dtype
    if self.scale:
      self.gamma = self.add_weight(
        "gamma",
        shape,
        dtype,
        self.gamma_initializer,
        self.gamma_regularizer,
        constraint=self.gamma_constraint,
      )
    if self.center:
      self.beta = self.add_weight(
        "beta",
        shape,
        dtype,
        self.beta_initializer,
        self.beta_regularizer,
        constraint=self.beta_constraint,
      )
    # The statistics are never partitioned.
    scope: Any = self._scope
    partitioner = scope.partitioner
    scope.set_partitioner(None)

    def statistic(name: str, initializer: Any) -> Any:
      return self.add_weight(name, shape, dtype, initializer, **_STATISTICS)

    def deviation(size: Any, dtype: Any = None, partition_info: Any = None) -> Any:
      del partition_info
      return tf.sqrt(self.moving_variance_initializer(size, dtype=dtype))

    try:
      self.moving_mean = statistic("moving_mean", self.moving_mean_initializer)
      self.moving_variance = statistic("moving_variance", self.moving_variance_initializer)
      if self.renorm:
        self.moving_stddev = statistic("moving_stddev", deviation)
        self.renorm_mean = statistic("renorm_mean", self.moving_mean_initializer)
        self.renorm_stddev = statistic("renorm_stddev", deviation)
    finally:
      scope.set_partitioner(partitioner)
