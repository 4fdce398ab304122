"""What programs with a model_fn use of `tf.contrib.gan`, which TF 1.14 was the last to have.

Arguments, fields, variable names, collections, tags of summaries and numbers are its.
"""

from migrator.runtime.contrib.gan import eval, features, losses
from migrator.runtime.contrib.gan.loss import cyclegan_loss, gan_loss
from migrator.runtime.contrib.gan.models import (
  acgan_model,
  cyclegan_model,
  gan_model,
  infogan_model,
)
from migrator.runtime.contrib.gan.training import (
  RunTrainOpsHook,
  gan_train_ops,
  get_joint_train_hooks,
  get_sequential_train_hooks,
)
from migrator.runtime.contrib.gan.tuples import (
  ACGANModel,
  CycleGANLoss,
  CycleGANModel,
  GANLoss,
  GANModel,
  GANTrainOps,
  GANTrainSteps,
  InfoGANModel,
)

__all__ = [
  "ACGANModel",
  "CycleGANLoss",
  "CycleGANModel",
  "GANLoss",
  "GANModel",
  "GANTrainOps",
  "GANTrainSteps",
  "InfoGANModel",
  "RunTrainOpsHook",
  "acgan_model",
  "cyclegan_loss",
  "cyclegan_model",
  "eval",
  "features",
  "gan_loss",
  "gan_model",
  "gan_train_ops",
  "get_joint_train_hooks",
  "get_sequential_train_hooks",
  "infogan_model",
  "losses",
]
