"""Adam, and BERT's with weight decay."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from migrator.runtime.kernel_optimizer import KernelOptimizer, register
from migrator.runtime.slots import ADAM, ADAM_WEIGHT_DECAY

# TF1 multiplies a power of beta once more after each update. From here on the power itself is exact.
_MAX_POWERS = 2**18


@register
class Adam(KernelOptimizer):
  """`tf.compat.v1.train.AdamOptimizer`.

  Attributes:
    running_powers: whether the powers of the betas are products, each of them rounded, as in TF1. A
      checkpoint for the v2 flavour sets it to False: the v2 Estimators computed them anew each time.
  """

  def __init__(
    self,
    learning_rate: Any = 0.001,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    name: str = "Adam",
    **shared: Any,
  ):
    """Makes the optimizer.

    Args:
      learning_rate: a number, a schedule or a variable.
      beta1: the share of the first moment that is kept.
      beta2: the share of the second moment that is kept.
      epsilon: added to the root of the second moment.
      name: of the optimizer.
      **shared: clipping and averages, see `KernelOptimizer`.
    """
    arguments = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon}
    super().__init__(learning_rate, name, ADAM, arguments, **shared)
    # The stock optimizer's names of the two, under which checkpoints ask for them.
    self.beta_1, self.beta_2 = beta1, beta2
    self._powers = [_running_powers(beta1), _running_powers(beta2)]
    self.running_powers = True

  def _power(self, which: int, beta: tf.Tensor) -> tf.Tensor:
    """Returns beta to the number of this update, rounded as the Estimator rounded it."""
    updates = tf.convert_to_tensor(self.iterations)
    exact = tf.pow(beta, tf.cast(updates + 1, beta.dtype))
    if not self.running_powers:
      return exact
    table = self._powers[which]
    last = len(table) - 1
    running = tf.cast(tf.gather(table, tf.minimum(updates, last)), beta.dtype)
    return tf.where(updates <= last, running, exact)

  def _apply(self, variable, slots, gradient, indices, rate):
    first, second = slots
    dtype = variable.dtype
    beta1, beta2 = tf.cast(self.beta1, dtype), tf.cast(self.beta2, dtype)
    epsilon = tf.cast(self.epsilon, dtype)
    power1, power2 = self._power(0, beta1), self._power(1, beta2)
    if indices is None:
      tf.raw_ops.ResourceApplyAdam(
        var=variable.handle,
        m=first.handle,
        v=second.handle,
        beta1_power=power1,
        beta2_power=power2,
        lr=rate,
        beta1=beta1,
        beta2=beta2,
        epsilon=epsilon,
        grad=gradient,
      )
      return
    # TF1's Adam lets all rows decay, and updates all of them.
    first.assign(first * beta1)
    first.scatter_add(tf.IndexedSlices(gradient * (1 - beta1), indices))
    second.assign(second * beta2)
    second.scatter_add(tf.IndexedSlices(gradient * gradient * (1 - beta2), indices))
    rate = rate * tf.sqrt(1 - power2) / (1 - power1)
    variable.assign_sub(rate * first / (tf.sqrt(second) + epsilon))


@register
class AdamWeightDecay(KernelOptimizer):
  """The optimizer of BERT's TF1 code: no bias correction, and a decay within the update.

  m = beta_1 m + (1 - beta_1) g; v = beta_2 v + (1 - beta_2) g^2; w -= rate (m / (sqrt(v) + epsilon) +
  weight_decay_rate w), see Loshchilov and Hutter, https://arxiv.org/abs/1711.05101. BERT clipped the
  gradients first: `global_clipnorm=1.0`.

  Which weights do not decay is told by their names: expressions are searched in the stable names of
  a checkpoint (`<scope>/<layer>/<attribute>`, which are TF1's) if there is one for the model, else in
  the names that Keras gives (`path` in Keras 3, `name` in Keras 2: layer names and the name of the
  weight). `decays` tells how it came out.
  """

  def __init__(
    self,
    learning_rate: Any,
    weight_decay_rate: float = 0.0,
    beta_1: float = 0.9,
    beta_2: float = 0.999,
    epsilon: float = 1e-6,
    exclude_from_weight_decay: Optional[Sequence[str]] = None,
    name: str = "AdamWeightDecayOptimizer",
    **shared: Any,
  ):
    """Makes the optimizer.

    Args:
      learning_rate: a number, a schedule or a variable.
      weight_decay_rate: the share of a weight that is taken off, times the learning rate.
      beta_1: the share of the first moment that is kept.
      beta_2: the share of the second moment that is kept.
      epsilon: added to the root of the second moment.
      exclude_from_weight_decay: regular expressions; weights in whose name one is found do not decay.
      name: of the optimizer.
      **shared: clipping and averages, see `KernelOptimizer`.
    """
    arguments = {
      "weight_decay_rate": weight_decay_rate,
      "beta_1": beta_1,
      "beta_2": beta_2,
      "epsilon": epsilon,
    }
    super().__init__(learning_rate, name, ADAM_WEIGHT_DECAY, arguments, **shared)
    # Keras has a method of the name of the argument.
    self._excluded = list(exclude_from_weight_decay or ())
    self._names: dict[Any, str] = {}

  def use_names(self, names: Mapping[str, Any]) -> None:
    """Gives the weights the names by which they are excluded.

    Args:
      names: name -> weight. To be called before the first update.
    """
    self._names = {self._var_key(weight): name for name, weight in names.items()}

  def decays(self, variable: Any) -> bool:
    """Returns whether a weight with which the optimizer was built decays."""
    name = self._names.get(self._var_key(variable))
    if name is None:
      weight = self._built_for.variables[self._index(variable)]
      name = getattr(weight, "path", None) or weight.name.partition(":")[0]
    return bool(self.weight_decay_rate) and not any(re.search(e, name) for e in self._excluded)

  def get_config(self) -> dict:
    """Returns the arguments."""
    return {**super().get_config(), "exclude_from_weight_decay": list(self._excluded)}

  def _apply(self, variable, slots, gradient, indices, rate):
    first, second = slots
    if indices is not None:
      # BERT's code let TensorFlow make the gradient dense, which adds the rows of an index up.
      gradient = tf.scatter_nd(
        tf.expand_dims(indices, 1), gradient, tf.shape(variable, out_type=indices.dtype)
      )
    # In the order of BERT's operations; the differences to 1 are taken in Python there.
    dtype = variable.dtype
    beta_1, rest_1 = tf.cast(self.beta_1, dtype), tf.cast(1.0 - self.beta_1, dtype)
    beta_2, rest_2 = tf.cast(self.beta_2, dtype), tf.cast(1.0 - self.beta_2, dtype)
    first.assign(beta_1 * first + rest_1 * gradient)
    second.assign(beta_2 * second + rest_2 * tf.square(gradient))
    update = first / (tf.sqrt(second) + tf.cast(self.epsilon, dtype))
    if self.decays(variable):
      update += tf.cast(self.weight_decay_rate, dtype) * variable
    variable.assign(variable - rate * update)


def _running_powers(beta: float) -> np.ndarray:
  """Returns beta, beta^2, ..., each the float32 product of the one before, float32, shape [n].

  It ends where the powers vanish, or at a length from which on the rounding has no influence.
  """
  if not 0.0 < beta < 1.0:
    return np.array([beta, 0.0], np.float32)
  length = min(int(np.log(1e-37) / np.log(beta)) + 1, _MAX_POWERS)
  return np.multiply.accumulate(np.full(length, beta, np.float32))
