"""The contributed modules against recordings of TensorFlow 1.15."""

import inspect
import json
from pathlib import Path

import contrib_cases
import contrib_runs
import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime import contrib

RECORDED = Path(__file__).resolve().parents[2] / "fixtures" / "contrib"
RESULTS = json.loads((RECORDED / "results.json").read_text())
SIGNATURES = json.loads((RECORDED / "signatures.json").read_text())


# Of the greatest of a tensor. Gradients are sums of many terms: TensorFlow 1.15 itself is 1.7e-6 away from the
# recording on another kind of processor.
TOLERANCE, GRADIENT_TOLERANCE = 1e-6, 3e-6


def same(found, recorded, where):
  """Compares numbers, those of trainings by the tolerance of gradients, and text and shapes exactly."""
  tolerance = GRADIENT_TOLERANCE if where in ("gradients", "after") else TOLERANCE
  assert sorted(found) == sorted(recorded), where
  for name, value in recorded.items():
    if isinstance(value, str):
      assert found[name] == value, (where, name)
      continue
    shape, numbers = value
    assert found[name][0] == shape, (where, name)
    scale = max([abs(one) for one in numbers if np.isfinite(one)], default=0.0)
    np.testing.assert_allclose(
      found[name][1], numbers, rtol=tolerance, atol=tolerance * scale, err_msg=f"{where} {name}"
    )


def test_the_recordings_are_those_of_the_cases():
  assert sorted(RESULTS) == sorted(contrib_cases.CASES)


@pytest.mark.parametrize("name", sorted(contrib_cases.CASES))
def test_contributed_layers_give_what_they_gave_in_tensorflow_1(name):
  recorded = RESULTS[name]
  found = json.loads(json.dumps(contrib_runs.run(tf, contrib, name)))
  for key in ("variables", "trainable", "local", "collections", "updates"):
    assert found[key] == recorded[key], key
  for key in ("outputs", "gradients", "after", "tags"):
    same(found.get(key, {}), recorded.get(key, {}), key)
  for key, penalties in recorded["penalties"].items():
    same(dict(enumerate(found["penalties"][key])), dict(enumerate(penalties)), key)


@pytest.mark.parametrize("module", sorted(SIGNATURES))
def test_contributed_functions_take_the_arguments_of_tensorflow_1(module):
  recorded = SIGNATURES[module]
  offered = getattr(contrib, module)
  for name, arguments in contrib_runs.signatures(offered).items():
    if name in recorded and name in offered.__all__:
      assert arguments == recorded[name], name
  for name in offered.__all__:
    if inspect.isfunction(getattr(offered, name)):
      assert name in recorded, f"{module}.{name} is none of TensorFlow 1.15"


def test_statistics_of_a_normalization_that_is_not_trained_are_not_in_the_update_operations():
  v1 = tf.compat.v1
  for shape, count in (([2, 4, 4, 3], 0), ([2, 4, 3], 0), ([4, 3], 2)):
    with tf.Graph().as_default():
      contrib.slim.batch_norm(tf.zeros(shape), trainable=False)
      # Of rank 2 it was no layer, but operations of its own.
      assert len(v1.get_collection(v1.GraphKeys.UPDATE_OPS)) == count


def test_images_of_double_precision_are_normalized():
  v1 = tf.compat.v1
  with tf.Graph().as_default(), v1.Session() as session:
    images = tf.constant(contrib_cases.values("images", [2, 4, 4, 3]), tf.float64)
    made = [contrib.slim.batch_norm(images, fused=fused) for fused in (None, False)]
    session.run(v1.global_variables_initializer())
    np.testing.assert_array_equal(*session.run(made))


def _variables(session):
  return session.run({one.op.name: one for one in tf.compat.v1.global_variables()})


def test_variables_take_the_values_of_a_checkpoint_or_of_arrays(tmp_path):
  v1 = tf.compat.v1
  slim = contrib.slim
  kernel, bias = contrib_cases.values("kernel", [3, 2]), contrib_cases.values("bias", [2])
  with tf.Graph().as_default(), v1.Session() as session:
    slim.fully_connected(contrib_cases.rows(tf), 2, scope="old")
    session.run(v1.global_variables_initializer())
    slim.assign_from_values_fn({"old/weights": kernel, "old/biases": bias})(session)
    path = v1.train.Saver().save(session, str(tmp_path / "model.ckpt"), 7)
  with tf.Graph().as_default(), v1.Session() as session:
    slim.fully_connected(contrib_cases.rows(tf), 2, scope="new")
    wide = v1.get_variable("wide", [2, 3])
    weights, biases = slim.get_variables("new")
    with v1.variable_scope("parts", partitioner=v1.fixed_size_partitioner(2)):
      parts = v1.get_variable("kernel", [3, 2])
    session.run(v1.global_variables_initializer())
    slim.assign_from_checkpoint_fn(path, {"old/weights": weights})(session)
    operation, feeds = slim.assign_from_checkpoint(
      path, {"old/biases": [biases], "old/weights": list(parts), "gone": [wide]}, True
    )
    session.run(operation, feeds)
    found = _variables(session)
    np.testing.assert_array_equal(found["new/weights"], kernel)
    np.testing.assert_array_equal(found["new/biases"], bias)
    np.testing.assert_array_equal(session.run(parts.as_tensor()), kernel)
    with pytest.raises(ValueError, match="no variable gone"):
      slim.assign_from_checkpoint(path, {"gone": wide})
    with pytest.raises(ValueError, match=r"old/weights: .*\(3, 2\).*wide has \(2, 3\)"):
      slim.assign_from_checkpoint(path, {"old/weights": wide})
    assert slim.assign_from_checkpoint_fn(path, [wide], ignore_missing_vars=True) is None


def test_what_is_not_offered_or_cannot_be_meant_is_refused():
  layers, slim = contrib.layers, contrib.slim
  with tf.Graph().as_default():
    images = contrib_cases.images(tf)
    with pytest.raises(ValueError, match="renorm"):
      layers.batch_norm(images, renorm=True)
    with pytest.raises(ValueError, match="decorated"), slim.arg_scope([print], axis=1):
      pass
    with pytest.raises(ValueError, match="no further"), slim.arg_scope({}, axis=1):
      pass
    with pytest.raises(TypeError, match="list or tuple"), slim.arg_scope(slim.conv2d, rate=1):
      pass
    with pytest.raises(ValueError, match="data_format"):
      layers.conv2d(images, 2, 3, data_format="channels_last")
    with pytest.raises(ValueError, match="rank"):
      layers.conv1d(images, 2, 3)
    with pytest.raises(ValueError, match="learning rate"):
      layers.optimize_loss(tf.constant(1.0), None, 1, "SGD")
    with pytest.raises(ValueError, match="integer"):
      layers.l2_regularizer(1)


def test_an_argument_scope_ends_with_an_error_in_it():
  slim = contrib.slim
  with pytest.raises(KeyError), slim.arg_scope([slim.conv2d], stride=2):
    raise KeyError
  assert "stride" not in slim.current_arg_scope().get(slim.arg_scope_func_key(slim.conv2d), {})


def test_the_best_tags_of_one_sequence_are_those_of_the_graph():
  scores = contrib_cases.values("scores", [5, 3])
  transitions = contrib_cases.values("transitions", [3, 3])
  tags, score = contrib.crf.viterbi_decode(scores, transitions)
  decoded, best = contrib.crf.crf_decode(tf.constant(scores[np.newaxis]), transitions, [5])
  assert [int(one) for one in tags] == decoded.numpy()[0].tolist()
  np.testing.assert_allclose(best.numpy()[0], score, rtol=1e-6)
