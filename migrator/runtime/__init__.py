"""What migrated programs import: checkpoints, policies and results of an Estimator, in TF2.

Needs TensorFlow 2.15 or later, with Keras 2 or Keras 3, and nothing else.
"""

from migrator.runtime import optimizers
from migrator.runtime.backup import BackupAndRestore
from migrator.runtime.errors import CheckpointError
from migrator.runtime.evaluation import evaluate, predict
from migrator.runtime.inputs import only_inputs
from migrator.runtime.load import LoadReport, load_tf1_checkpoint
from migrator.runtime.manager import CheckpointManager
from migrator.runtime.named import NamedCheckpoint, named_checkpoint
from migrator.runtime.summaries import SummarySaver

__all__ = [
  "BackupAndRestore",
  "CheckpointError",
  "CheckpointManager",
  "LoadReport",
  "NamedCheckpoint",
  "SummarySaver",
  "evaluate",
  "load_tf1_checkpoint",
  "named_checkpoint",
  "only_inputs",
  "optimizers",
  "predict",
]
