"""TF1's optimizers as Keras optimizers, for Keras 2 and Keras 3.

They run TensorFlow's own update kernels, with TF1's arguments, defaults and initial slot values. The
stock Keras optimizers differ where gradients are sparse (embeddings): rows that a batch does not look
up are updated, too, and stock Ftrl even sets those to 0 that never were; where the momentum meets a
changing learning rate, in RMSProp's initial mean square, and in the last digits of Adam's bias
correction. The arguments for clipping and for moving averages are those of `KernelOptimizer`.
"""

from migrator.runtime.optimizers.adam import Adam, AdamWeightDecay
from migrator.runtime.optimizers.adaptive import Adadelta, Adagrad, RMSProp
from migrator.runtime.optimizers.combined import Combined
from migrator.runtime.optimizers.descent import GradientDescent, Momentum
from migrator.runtime.optimizers.proximal import (
  Ftrl,
  ProximalAdagrad,
  ProximalGradientDescent,
)

__all__ = [
  "Adadelta",
  "Adagrad",
  "Adam",
  "AdamWeightDecay",
  "Combined",
  "Ftrl",
  "GradientDescent",
  "Momentum",
  "ProximalAdagrad",
  "ProximalGradientDescent",
  "RMSProp",
]
