"""Heads, and data for them, for the real Estimator as for what takes its place; needs numpy only.

A case: {"flavour", "head": the class, "arguments": its arguments, "logits": how many, "labels": which}. The
logits are a feature, so that nothing has to be trained.
"""

import numpy as np

ROWS = 40
BATCH = 16
BATCHES = 3  # The last is smaller.
NAMES = ["ash", "birch", "cedar"]
REDUCTIONS = ("sum", "sum_over_batch_size", "mean", "sum_over_nonzero_weights")


def case(flavour, head, logits, labels, **arguments):
  """Returns a case."""
  return {
    "flavour": flavour,
    "head": head,
    "logits": logits,
    "labels": labels,
    "arguments": arguments,
  }


def catalogue():
  """Returns the cases by name."""
  weighted = {"weight_column": "w"}
  own = {"thresholds": [0.25, 0.5], "weight_column": "w"}
  cases = {}
  for flavour in ("v1", "v2"):
    cases.update(
      {
        f"{flavour}_binary": case(flavour, "BinaryClassHead", 1, "soft"),
        f"{flavour}_binary_weighted": case(
          flavour, "BinaryClassHead", 1, "two names", label_vocabulary=NAMES[:2], **own
        ),
        f"{flavour}_classes": case(flavour, "MultiClassHead", 3, "classes", n_classes=3),
        f"{flavour}_classes_weighted": case(
          flavour, "MultiClassHead", 3, "names", n_classes=3, label_vocabulary=NAMES, **weighted
        ),
        f"{flavour}_regression": case(flavour, "RegressionHead", 1, "numbers 1", name="size"),
        f"{flavour}_regression_weighted": case(
          flavour, "RegressionHead", 3, "numbers 3", label_dimension=3, **weighted
        ),
        f"{flavour}_regression_each_weighted": case(
          flavour, "RegressionHead", 3, "numbers 3", label_dimension=3, weight_column="w3"
        ),
      }
    )
  cases["v2_labels"] = case(
    "v2",
    "MultiLabelHead",
    3,
    "indicator",
    n_classes=3,
    classes_for_class_based_metrics=[0, 2],
    **own,
  )
  cases["v2_labels_named"] = case(
    "v2",
    "MultiLabelHead",
    3,
    "sparse names",
    n_classes=3,
    label_vocabulary=NAMES,
    classes_for_class_based_metrics=["birch"],
  )
  cases["v2_logistic"] = case("v2", "LogisticRegressionHead", 1, "soft", **weighted)
  cases["v2_poisson"] = case("v2", "PoissonRegressionHead", 1, "counts", name="count")
  cases["v2_several"] = case("v2", "MultiHead", 5, "several", heads=None)
  return cases


def features(wanted):
  """Returns logits and weights of all rows; a logit of 0 and weights of 0 are among them."""
  random = np.random.RandomState(7)
  logits = random.normal(0, 1.5, [ROWS, wanted["logits"]]).astype(np.float32)
  logits[3] = 0
  weights = random.choice([0.0, 0.5, 1.0, 2.25], ROWS).astype(np.float32)
  each = random.choice([0.0, 0.5, 3.0], [ROWS, 3]).astype(np.float32)
  return {"logits": logits, "w": weights, "w3": each}


def labels(kind):
  """Returns the labels of all rows, an array or a dict; those named sparse are "" where there is none."""
  random = np.random.RandomState(11)
  numbers = random.randint(0, 3, ROWS)
  if kind == "several":
    return {"class": labels("classes"), "size": labels("numbers 2")}
  return {
    "soft": lambda: random.choice([0.0, 1.0, 1.0, 0.25], ROWS).astype(np.float32),
    "two names": lambda: np.array(NAMES)[numbers % 2],
    "classes": lambda: numbers.astype(np.int32),
    "names": lambda: np.array(NAMES)[numbers][:, np.newaxis],
    "indicator": lambda: random.randint(0, 2, [ROWS, 3]).astype(np.int64),
    "sparse names": lambda: np.where(random.rand(ROWS, 3) < 0.4, np.array(NAMES), ""),
    "counts": lambda: random.poisson(3, ROWS).astype(np.int64),
  }.get(kind, lambda: random.normal(1, 2, [ROWS, int(kind[-1])]))()


def dataset(tf, wanted):
  """Returns batches of (features, labels), as an input function gives them."""
  found = tf.data.Dataset.from_tensor_slices((features(wanted), labels(wanted["labels"])))
  found = found.batch(BATCH)
  if wanted["labels"].startswith("sparse"):
    found = found.map(lambda given, text: (given, tf.sparse.from_dense(text)))
  return found


def make_head(module, wanted, **more):
  """Returns the head of a case out of a module that has the classes."""
  arguments = {**wanted["arguments"], **more}
  if wanted["head"] == "MultiHead":
    arguments.pop("heads")
    heads = [
      module.MultiClassHead(3, name="class", **arguments),
      module.RegressionHead(2, name="size", weight_column="w", **arguments),
    ]
    return module.MultiHead(heads)
  return getattr(module, wanted["head"])(**arguments)


def added_metrics(tf):
  """Returns functions for `add_metrics`: with pairs of TF1, and with metrics of Keras."""
  v1 = tf.compat.v1

  def pairs(labels, predictions, features):
    rounded = v1.metrics.mean_absolute_error(labels, predictions["logistic"], features["w"])
    at = v1.metrics.recall_at_thresholds(labels, predictions["logistic"][:, 0], [0.25, 0.75])
    return {"absolute": rounded, "recalls": at, "accuracy": v1.metrics.mean(labels)}

  def keras(predictions, labels, config):
    metric = tf.keras.metrics.AUC(name="own_auc")
    metric.update_state(labels > 0.5, predictions["logistic"][:, 0])
    return {"own_auc": metric, "has_directory": v1.metrics.mean(float(bool(config.model_dir)))}

  return [pairs, keras]
