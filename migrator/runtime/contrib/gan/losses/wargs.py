"""The losses with tensors as arguments."""

from migrator.runtime.contrib.gan.losses import adversarial, penalties
from migrator.runtime.contrib.gan.losses.adversarial import *  # noqa: F403
from migrator.runtime.contrib.gan.losses.penalties import *  # noqa: F403

__all__ = sorted([*adversarial.__all__, *penalties.__all__])
