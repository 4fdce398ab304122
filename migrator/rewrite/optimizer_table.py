"""When the stock Keras optimizer does what TF1's does, and when only the exact one of the runtime.

The differences were measured on both versions of Keras against TF1's optimizer over 20 steps; a test
measures them again. Where a table is looked up, three of its rows never are: TF1's kernels leave
them alone, most of Keras's do not.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from typing import Optional

EXACT = 1e-5
"""What may part: the greatest difference in a weight, of the greatest absolute value of its tensor."""


@dataclasses.dataclass(frozen=True)
class Stock:
  """How a TF1 optimizer is written with a stock Keras optimizer.

  Attributes:
    name: the class in `tf.keras.optimizers`.
    renames: TF1 argument -> Keras argument, where the names differ.
    written: TF1 argument -> value, for TF1's defaults that Keras does not have.
    transform: the transform that TF1's slots need, "" if they are taken as they are.
    code: of the finding that says what is not quite the same, "" if nothing.
  """

  name: str
  renames: Mapping[str, str] = dataclasses.field(default_factory=dict)
  written: Mapping[str, str] = dataclasses.field(default_factory=dict)
  transform: str = ""
  code: str = ""


# By the name of the TF1 optimizer in checkpoints, which is that of the exact class, too.
STOCK = {
  "GradientDescent": Stock("SGD"),
  "Momentum": Stock("SGD", {"use_nesterov": "nesterov"}, transform="times_minus_rate"),
  "Adagrad": Stock("Adagrad", written={"epsilon": "0.0"}),
  "Adam": Stock(
    "Adam",
    {"beta1": "beta_1", "beta2": "beta_2"},
    {"learning_rate": "0.001", "epsilon": "1e-8"},
    code="EM221",
  ),
  "RMSProp": Stock("RMSprop", {"decay": "rho"}, {"epsilon": "1e-10"}),
  "Ftrl": Stock("Ftrl"),
  "Adadelta": Stock("Adadelta", written={"learning_rate": "0.001", "epsilon": "1e-8"}),
}

CONDITIONS = tuple(itertools.product((False, True), (False, True), (True, False)))
"""The columns of `MEASURED`: (sparse gradients, learning rate with a schedule, fresh start)."""

# The order of magnitude: the worst of five seeds and of the two versions of Keras. Adam's is a
# matter of the seed, because Keras rounds the bias correction in another way: hence its code.
MEASURED: Mapping[str, tuple[float, ...]] = {
  #                    dense                      sparse
  #                    constant      schedule     constant      schedule
  #                    fresh, continued ...
  "GradientDescent": (0.0, 0.0, 0.0, 0.0, 1e-6, 1e-6, 1e-6, 1e-6),
  "Momentum": (1e-6, 1e-6, 1e-1, 1.0, 1e-1, 1e-1, 1e-1, 1.0),
  "Adagrad": (0.0, 0.0, 0.0, 0.0, 1e-3, 1e-3, 1e-3, 1e-4),
  "Adam": (1e-5, 1e-5, 1e-5, 1e-5, 1e-1, 1e-1, 1e-1, 1e-1),
  "RMSProp": (1e1, 1e-6, 1e1, 1e-6, 1e1, 1e-2, 1e1, 1e-2),
  "Ftrl": (0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0),
  "Adadelta": (1e-6, 1e-6, 1e-6, 1e-6, 1e-2, 1e-2, 1e-2, 1e-2),
}


def is_exact(optimizer: str, sparse: bool, schedule: bool, fresh: bool) -> bool:
  """Returns whether the stock optimizer is as good as TF1's, on both versions of Keras.

  Args:
    optimizer: TF1's name, such as "RMSProp".
    sparse: whether a gradient is sparse, that of a table in which rows are looked up.
    schedule: whether the learning rate changes.
    fresh: whether training begins without a checkpoint; otherwise weights, slots and step are loaded.
  """
  if optimizer not in MEASURED:
    return False
  return MEASURED[optimizer][CONDITIONS.index((sparse, schedule, fresh))] <= EXACT


def choose(optimizer: str, sparse: bool = False, schedule: bool = False) -> Optional[Stock]:
  """Returns the stock optimizer for a program that may start afresh as well as go on.

  None stands for the exact one of the runtime. It is also chosen where the stock one would do, but
  keeps its slots in another form: stock SGD has the learning rate within the velocity, so that a
  callback that changes the rate would part from TF1 in silence, and slots would be rounded once more.

  Args:
    optimizer: TF1's name, such as "RMSProp".
    sparse: whether a gradient is sparse.
    schedule: whether the learning rate changes.
  """
  if not all(is_exact(optimizer, sparse, schedule, fresh) for fresh in (True, False)):
    return None
  stock = STOCK[optimizer]
  return None if stock.transform else stock
