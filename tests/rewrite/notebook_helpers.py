"""Small notebooks, and what holds of every rewritten one."""

import json

from migrator.rewrite.engine import Options
from migrator.rewrite.files import rewrite_bytes
from migrator.source.document import Document

IMPORTS = "import tensorflow as tf\nimport tensorflow.compat.v1 as tf1"
HOOK = """class Stopper(tf1.train.SessionRunHook):
  def after_run(self, run_context, run_values):
    run_context.request_stop()"""
NEW_HOOK = """class Stopper(tf.keras.callbacks.Callback):
  def on_train_batch_end(self, batch, logs=None):
    self.model.stop_training = True"""
DATA = """def input_fn():
  return tf.data.Dataset.from_tensors(({"x": [[1.0] * 4]}, [0]))"""
MODEL = """columns = [tf.feature_column.numeric_column("x", shape=[4])]
classifier = tf1.estimator.DNNClassifier([4, 3], columns, "model", n_classes=3)"""
TRAIN = "classifier.train(input_fn, hooks=[Stopper()], max_steps=10)"
CELLS = (IMPORTS, HOOK, DATA, MODEL, TRAIN)


def code(source, **more):
  """A code cell; its source as a list of lines."""
  common = {"cell_type": "code", "execution_count": 3, "metadata": {"id": "a\u00e9"}}
  outputs = [{"text": ["1\n", "tf1"]}]
  return {**common, "outputs": outputs, "source": source.splitlines(keepends=True), **more}


def book(*cells, **layout):
  """The bytes of a notebook; texts become code cells."""
  listed = [code(cell) if isinstance(cell, str) else cell for cell in cells]
  data = {"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 2}
  return (json.dumps(data, **{"indent": 1, **layout}) + "\n").encode()


def rewritten(raw, **options):
  """The result, held to what every result of a notebook must be."""
  result = rewrite_bytes(raw, "n.ipynb", Options(**options))
  if result.raw is not None:
    assert rewrite_bytes(result.raw, "n.ipynb", Options(**options)).raw is None, "not stable"
    old, new = json.loads(raw), json.loads(result.raw)
    for cell in (*old["cells"], *new["cells"]):
      cell.pop("source", None)
    assert old == new, "more than sources changed"
    assert Document.from_bytes(result.raw, "n.ipynb").check() is None
  return result


def sources(raw):
  """The sources of the cells, each as one text."""
  cells = json.loads(raw)["cells"]
  return ["".join(cell.get("source", cell.get("input"))) for cell in cells]


def places(result):
  return {(f.code, f.cell, f.span.line) for f in result.findings}


def left_whole(*cells, **options):
  """The reason why a notebook stays as it is."""
  result = rewritten(book(*cells), **options)
  assert result.raw is None
  assert result.left
  (finding,) = [f for f in result.findings if f.code == "EM005"]
  return finding.message
