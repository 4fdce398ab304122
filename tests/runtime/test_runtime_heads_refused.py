"""What heads refuse, and which head a stock loss stands for."""

import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime
from migrator.runtime import heads

keras = tf.keras.losses


@pytest.mark.parametrize(
  ("make", "error", "message"),
  [
    (lambda: heads.BinaryClassHead(thresholds=[1.0]), ValueError, "not in"),
    (lambda: heads.BinaryClassHead(loss_reduction="none"), ValueError, "Invalid loss_reduction"),
    (lambda: heads.BinaryClassHead(label_vocabulary="ab"), ValueError, "list or a tuple"),
    (lambda: heads.BinaryClassHead(weight_column=3), TypeError, "Weight column must be"),
    (lambda: heads.MultiClassHead(2), ValueError, "n_classes must be > 2"),
    (lambda: heads.MultiClassHead(3, label_vocabulary=["a"]), ValueError, "Length of"),
    (lambda: heads.MultiLabelHead(1), ValueError, "n_classes must be > 1"),
    (lambda: heads.RegressionHead(0), ValueError, "Invalid label_dimension"),
    (lambda: heads.RegressionHead(loss_fn=lambda labels: 0), ValueError, "logits"),
    (
      lambda: heads.RegressionHead(loss_fn=lambda labels, logits, features: 0),
      ValueError,
      "takes `features`",
    ),
    (lambda: heads.MultiHead([heads.RegressionHead()]), ValueError, "must have name"),
    (
      lambda: heads.MultiHead([heads.RegressionHead(name="a")], head_weights=[2.0]),
      NotImplementedError,
      "head_weights",
    ),
    (lambda: heads.of(keras.BinaryCrossentropy()), ValueError, "from_logits=True"),
    (lambda: heads.of(keras.Huber()), TypeError, "not known of Huber"),
    (lambda: heads.of(keras.MeanSquaredError(reduction="sum"), 2), ValueError, "RegressionHead"),
  ],
)
def test_arguments_that_no_head_had_are_refused(make, error, message):
  with pytest.raises(error, match=message):
    make()


@pytest.mark.parametrize(
  ("head", "features", "labels", "message"),
  [
    (heads.BinaryClassHead(), {}, [0.0, 2.0], "Labels must be between 0 and 2 - 1"),
    (heads.BinaryClassHead(), {}, [[0, 1]], "Mismatched label shape"),
    (heads.BinaryClassHead(), {}, ["a", "b"], "needs a label_vocabulary"),
    (heads.BinaryClassHead(label_vocabulary=["a", "b"]), {}, ["c"], "in the label_vocabulary"),
    (heads.BinaryClassHead(weight_column="w"), {"v": [1.0]}, [1], "'w' is not in the dataset"),
    (heads.BinaryClassHead(weight_column="w"), {"w": [[1.0, 2.0]]}, [1], "must be of shape"),
    (heads.MultiClassHead(3), {}, [3], "Labels must be between 0 and 3 - 1"),
    (heads.MultiClassHead(3), {}, [1.0], "should be integer"),
    (heads.MultiLabelHead(2), {}, [[0, 3]], "indicator"),
    (heads.RegressionHead(), {}, None, "There are no labels"),
    (heads.MultiHead([heads.RegressionHead(name="a")]), {}, {"b": [1.0]}, "missing values"),
  ],
)
def test_labels_and_weights_that_do_not_fit_are_refused(head, features, labels, message):
  features = {key: tf.constant(value) for key, value in features.items()}
  with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=message):
    head.prepare(features, labels)


@pytest.mark.parametrize(
  ("loss", "dimension", "labels"),
  [
    (keras.BinaryCrossentropy(from_logits=True, reduction="sum"), 1, [[1.0], [0.0]]),
    (keras.BinaryCrossentropy(from_logits=True), 3, [[1.0, 0, 1], [0, 0, 1]]),
    (keras.SparseCategoricalCrossentropy(from_logits=True, reduction="sum"), 3, [[2], [0]]),
    (keras.MeanSquaredError(reduction="sum"), 1, [[1.5], [0.0]]),
    (keras.MeanSquaredError(), 2, [[1.5, 2.0], [0.0, 1.0]]),
  ],
)
def test_head_of_a_stock_loss_has_its_values(loss, dimension, labels):
  logits = np.linspace(-1, 2, 2 * dimension).reshape(2, dimension).astype(np.float32)
  labels = tf.constant(labels)
  weights = tf.constant([[0.5], [2.0]])
  head = heads.of(loss, dimension)
  assert head.logits_dimension == dimension
  assert float(head(labels, logits)) == pytest.approx(float(loss(labels, logits)), rel=1e-6)
  assert float(head(labels, logits, weights)) == pytest.approx(
    float(loss(labels, logits, sample_weight=weights[:, 0])), rel=1e-6
  )


def test_weight_column_may_be_a_numeric_column():
  column = tf.feature_column.numeric_column("w", normalizer_fn=lambda x: x * 2)
  head = heads.RegressionHead(weight_column=column, loss_reduction="sum")
  _, labels, weights = head.prepare({"w": tf.constant([1.0, 3.0])}, tf.constant([1.0, 1.0]))
  assert weights.numpy().tolist() == [[2.0], [6.0]]
  assert float(head(labels, tf.zeros([2, 1]), weights)) == 8.0


def test_own_loss_and_link_are_used():
  head = heads.RegressionHead(
    loss_fn=lambda labels, logits: tf.abs(labels - logits), inverse_link_fn=tf.exp
  )
  assert float(head(tf.constant([[1.0], [2.0]]), tf.zeros([2, 1]))) == 1.5
  predictions = head.predictions(tf.zeros([2, 1]))
  assert list(predictions) == ["predictions", "logits"]
  assert predictions["predictions"].numpy().tolist() == [[1.0], [1.0]]


def test_a_sum_of_means_is_not_trained_where_the_estimator_had_a_sum():
  x = tf.keras.Input([1])
  model = tf.keras.Model(x, tf.keras.layers.Dense(2)(x))
  data = tf.data.Dataset.from_tensors(([[1.0]], [[1.0, 2.0]]))
  loss = keras.MeanSquaredError(reduction="sum")
  message = r"RegressionHead\(2, loss_reduction='sum'\)"
  with pytest.raises(ValueError, match=message):
    data.map(runtime.only_inputs(model, loss))
  model.compile(loss=loss)
  with pytest.raises(ValueError, match=message):
    data.map(runtime.only_inputs(model))
  # A mean is the Estimator's; an own loss takes the labels as they are.
  for loss in (keras.MeanSquaredError(), keras.Huber()):
    (_, labels), *_ = data.map(runtime.only_inputs(model, loss))
    np.testing.assert_array_equal(labels, [[1.0, 2.0]])
