"""How to rewrite."""

from __future__ import annotations

import dataclasses
from typing import Optional


@dataclasses.dataclass(frozen=True)
class Options:
  """How to rewrite.

  Attributes:
    target: "auto", "fit" or "loop".
    stock: whether to use Keras' own BackupAndRestore (target fit).
    exact: whether to use the runtime's exact optimizers everywhere.
    resume_data: whether the loop keeps the input position in the checkpoint.
    source_version: what plain `tf.estimator.X` means: 1, 2, or None to decide by the file.
    hooks: "used": a hook class is converted with the training that uses it; "all": every one that
      can be.
    hosted: whether each model_fn is run as it is, also one that could be taken apart.
    library: the paths of files that are rewritten for the programs that import them.
  """

  target: str = "auto"
  stock: bool = False
  exact: bool = False
  resume_data: bool = False
  source_version: Optional[int] = None
  hooks: str = "used"
  hosted: bool = False
  library: frozenset[str] = frozenset()
