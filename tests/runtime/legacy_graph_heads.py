"""Tells what the heads of the real Estimator of TensorFlow 2.15 make; see `graph_head_cases`.

python legacy_graph_heads.py FILE
"""

import functools
import json
import sys
from pathlib import Path

import graph_head_cases
import tensorflow as tf
from tensorflow_estimator.python.estimator.canned import head


class Heads:
  """The public heads, and the private ones of TF1."""

  canned_for_classes = staticmethod(head._binary_logistic_or_multi_class_head)
  canned_binary = staticmethod(head._binary_logistic_head_with_sigmoid_cross_entropy_loss)
  canned_multi_class = staticmethod(head._multi_class_head_with_softmax_cross_entropy_loss)
  canned_regression = staticmethod(head._regression_head)

  def __getattr__(self, name):
    return getattr(tf.estimator, name)


def main(path):
  """Writes {case: what `run` tells} into a file; of the private heads, which are recorded, predictions."""
  cases = {name: ["infer"] for name in graph_head_cases.CASES if name.startswith("canned_")}
  cases.update(dict.fromkeys(graph_head_cases.PUBLIC))
  found = {name: graph_head_cases.run(tf, Heads(), name, modes) for name, modes in cases.items()}
  head_of = functools.partial(
    Heads.canned_binary, "w", [0.5], ["a", "b"], tf.compat.v1.losses.Reduction.MEAN
  )
  make = tf.compat.v1.estimator.Estimator
  found["trained"] = graph_head_cases.train(tf, make, head_of, str(Path(path).parent / "model"))
  Path(path).write_text(json.dumps(found, sort_keys=True))


if __name__ == "__main__":
  main(sys.argv[1])
