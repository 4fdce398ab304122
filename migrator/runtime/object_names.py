"""Reads the checkpoint of a Keras model in an Estimator (`model_to_estimator`) by the names of its variables.

Its keys are ways through the Keras objects, and the object graph beside them has the name of each variable:
those that the same Estimator wrote with `checkpoint_format="saver"`, such as `training/Adam/dense/kernel/m`
(measured with TensorFlow 1.15 and 2.15). The graph is a `TrackableObjectGraph`, see
tensorflow/core/protobuf/trackable_object_graph.proto.
"""

from __future__ import annotations

import dataclasses

from migrator.runtime import bundle_values
from migrator.runtime.bundle import DamagedIndexError, Index
from migrator.runtime.errors import CheckpointError
from migrator.runtime.wire import messages_of, parse_fields

GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
ESTIMATOR_STEP = "estimator_global_step/.ATTRIBUTES/VARIABLE_VALUE"


def is_keras_estimator(index: Index) -> bool:
  """Returns whether a checkpoint is one of `model_to_estimator`, with the keys of objects."""
  return GRAPH in index.entries and ESTIMATOR_STEP in index.entries


def by_names(prefix: str, index: Index) -> tuple[Index, dict[str, str]]:
  """Returns the index by the names of the variables, and name -> key.

  Args:
    prefix: of the checkpoint.
    index: its index, by the keys.

  Raises:
    CheckpointError: if the object graph is damaged, or has not one name for each variable.
  """
  ((_, piece),) = index.pieces(GRAPH)
  try:
    graph = parse_fields(bundle_values.read_strings(prefix, index, piece)[0])
    names: dict[str, str] = {}
    for node in messages_of(graph, 1):
      for attribute in messages_of(node, 2):
        key, name = (bytes(attribute.get(n, [b""])[0]).decode() for n in (3, 2))
        if name and names.setdefault(name, key) != key:
          raise CheckpointError(
            f"{prefix} has two variables called {name}: give the layers of the model unique names, and "
            'let the old program write its last checkpoint with checkpoint_format="saver".'
          )
  except (DamagedIndexError, IndexError, UnicodeDecodeError, ValueError) as e:
    raise CheckpointError(f"{prefix}: the object graph is damaged: {e}.") from e
  unnamed = set(index.entries) - set(names.values()) - {GRAPH}
  if unnamed:
    raise CheckpointError(
      f"{prefix} is the checkpoint of a Keras model in an Estimator (model_to_estimator), and its object "
      f"graph has no name for {min(unnamed)}. Let the old program write its last checkpoint with "
      'checkpoint_format="saver".'
    )
  entries = {name: index.entries[key] for name, key in names.items() if key in index.entries}
  return dataclasses.replace(index, entries=entries), names
