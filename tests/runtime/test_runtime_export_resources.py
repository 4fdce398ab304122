"""Which tables an export finds in the layers of a model."""

import tensorflow as tf

from migrator import runtime
from migrator.runtime.export import resources


def test_each_of_many_layers_gives_its_table():
  inputs = tf.keras.Input([None], dtype="string", name="words")
  # Between them layers without one, whose attributes are looked through as well.
  ids = []
  for i in range(12):
    ids.append(runtime.columns.VocabularyIds([f"a{i}", "b"], num_oov_buckets=i % 2)(inputs))
    runtime.columns.HashIds(3)(inputs)
  parts = [runtime.columns.Indicator(2 + i % 2)(values) for i, values in enumerate(ids)]
  model = tf.keras.Model(inputs, tf.keras.layers.Concatenate()(parts))
  tables = [layer._table for layer in model._flatten_layers() if hasattr(layer, "_table")]
  assert len(tables) == 12
  assert {id(table) for table in tables} == {id(found) for found in resources.of_model(model)}
