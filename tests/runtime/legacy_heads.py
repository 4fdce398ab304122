"""What the real heads of TensorFlow 2.15 give for the cases of head_cases.py.

  python legacy_heads.py RESULTS.json

RESULTS.json: {"cases": {name: {"values": [[key, type, number], ...] of `evaluate`, "rows": of `predict`,
"exports": [[signature, method, {output: type}], ...], "losses": {reduction: of the first batch}}}, "added":
the values of an estimator with added metrics}
"""

import json
import sys
import tempfile

import head_cases
import tensorflow as tf
from observed import described
from tensorflow_estimator.python.estimator.canned import head as canned

v1 = tf.compat.v1
V1_REDUCTIONS = {
  "sum": v1.losses.Reduction.SUM,
  "sum_over_batch_size": v1.losses.Reduction.SUM_OVER_BATCH_SIZE,
  "mean": v1.losses.Reduction.MEAN,
  "sum_over_nonzero_weights": v1.losses.Reduction.SUM_OVER_NONZERO_WEIGHTS,
}


class CannedHeads:
  """The heads of the canned estimators of TF1, which have no public names."""

  BinaryClassHead = staticmethod(canned._binary_logistic_head_with_sigmoid_cross_entropy_loss)
  MultiClassHead = staticmethod(canned._multi_class_head_with_softmax_cross_entropy_loss)
  RegressionHead = staticmethod(canned._regression_head)


def make_head(case, **more):
  """Returns the real head."""
  module = CannedHeads if case["flavour"] == "v1" else tf.estimator
  return head_cases.make_head(module, case, **more)


def make_estimator(case):
  """Returns an Estimator whose logits are a feature."""

  def model_fn(features, labels, mode):
    return make_head(case).create_estimator_spec(
      features=features,
      mode=mode,
      logits=features["logits"],
      labels=labels,
      train_op_fn=lambda loss: tf.no_op(),
    )

  # Optimizing the graphs takes longer than running them.
  session = v1.ConfigProto()
  session.graph_options.rewrite_options.disable_meta_optimizer = True
  config = tf.estimator.RunConfig(session_config=session)
  return tf.estimator.Estimator(model_fn, model_dir=tempfile.mkdtemp(), config=config)


def values_of(estimator, case):
  """Returns what `evaluate` returns."""
  values = estimator.evaluate(lambda: head_cases.dataset(tf, case))
  return [
    [key, type(value).__name__, tf.nest.flatten(value.tolist())] for key, value in values.items()
  ]


def rows_of(estimator, case):
  """Returns what `predict` yields."""
  rows = estimator.predict(lambda: head_cases.dataset(tf, case))
  return [[[key, described(value)] for key, value in row.items()] for row in rows]


def exports_of(case):
  """Returns the signatures of an export whose receiver is of serialized examples."""
  with tf.Graph().as_default():
    features = {"logits": v1.placeholder(tf.float32, [None, case["logits"]])}
    spec = make_head(case).create_estimator_spec(
      features=features, mode="infer", logits=features["logits"]
    )
    receiver = {"examples": v1.placeholder(tf.string, [None])}
    return [
      [
        name,
        output.as_signature_def(receiver).method_name,
        {
          key: tf.dtypes.as_dtype(info.dtype).name
          for key, info in output.as_signature_def(receiver).outputs.items()
        },
      ]
      for name, output in spec.export_outputs.items()
    ]


def losses_of(case):
  """Returns the loss of the first batch for each reduction that there is."""
  losses = {}
  if case["flavour"] == "v2":
    features, labels = next(iter(head_cases.dataset(tf, case)))
    for name in head_cases.REDUCTIONS[:2]:
      head = make_head(case, loss_reduction=name)
      losses[name] = float(head.loss(labels, features["logits"], features))
    return losses
  with tf.Graph().as_default():
    iterator = v1.data.make_one_shot_iterator(head_cases.dataset(tf, case))
    features, labels = iterator.get_next()
    for name in head_cases.REDUCTIONS:
      head = make_head(case, loss_reduction=V1_REDUCTIONS[name])
      losses[name] = head.create_loss(features, "eval", features["logits"], labels)[0]
    with v1.Session() as session:
      session.run([v1.tables_initializer()])
      return {name: float(value) for name, value in session.run(losses).items()}


def main():
  cases = {}
  for name, case in head_cases.catalogue().items():
    estimator = make_estimator(case)
    cases[name] = {
      "values": values_of(estimator, case),
      "rows": rows_of(estimator, case),
      "exports": exports_of(case),
      "losses": losses_of(case),
    }
  case = head_cases.catalogue()["v1_binary"]
  estimator = make_estimator(case)
  for function in head_cases.added_metrics(tf):
    estimator = tf.estimator.add_metrics(estimator, function)
  with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump({"cases": cases, "added": values_of(estimator, case)}, file)


if __name__ == "__main__":
  main()
