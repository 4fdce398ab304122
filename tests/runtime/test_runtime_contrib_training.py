"""Contributed losses, optimizers and train operations against the numbers that they have by definition."""

import numpy as np
import pytest
import tensorflow as tf
from google.protobuf import text_format

from migrator.runtime import contrib

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def graph():
  with tf.Graph().as_default():
    yield


def run(*fetches):
  with v1.Session() as session:
    session.run(v1.global_variables_initializer())
    return [session.run(one) for one in fetches]


def semihard(labels, rows, margin):
  """The loss pair by pair, as the paper has it."""
  distances = ((rows[:, None] - rows[None]) ** 2).sum(-1)
  found = []
  for a, one in enumerate(labels):
    others = distances[a][labels != one]
    for p in np.flatnonzero(labels == one):
      if p != a:
        farther = others[others > distances[a, p]]
        negative = farther.min() if len(farther) else others.max()
        found.append(max(margin + distances[a, p] - negative, 0))
  return np.mean(found)


@pytest.mark.parametrize("margin", [1.0, 0.2])
def test_a_triplet_takes_the_nearest_negative_that_is_farther_than_its_partner(margin):
  random = np.random.RandomState(1)
  rows = random.randn(12, 3).astype("float32")
  rows /= np.linalg.norm(rows, axis=1, keepdims=True)
  labels = random.randint(3, size=12)
  loss = contrib.metric_learning.triplet_semihard_loss(labels, tf.constant(rows), margin)
  np.testing.assert_allclose(run(loss)[0], semihard(labels, rows, margin), rtol=1e-5)


# What TF 1.15 gave for these four rows, labels 0 1 0 1.
RECORDED_TRIPLET = 1.1
ROWS = [[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [-0.8, 0.6]]


def test_the_triplet_loss_is_that_of_tensorflow_1():
  loss = contrib.metric_learning.triplet_semihard_loss([0, 1, 0, 1], tf.constant(ROWS))
  np.testing.assert_allclose(run(loss)[0], RECORDED_TRIPLET, rtol=1e-6)


@pytest.mark.parametrize("use_resource", [True, False])
def test_lazy_adam_leaves_the_moments_of_absent_rows_and_sums_repeated_ones(use_resource):
  table = v1.get_variable("table", initializer=tf.ones([3, 1]), use_resource=use_resource)
  loss = tf.reduce_sum(tf.gather(table, [0, 0, 2]) * [[1.0], [2.0], [4.0]])
  optimizer = contrib.opt.LazyAdamOptimizer(0.1)
  train = optimizer.minimize(loss, var_list=[table])
  mean, variance = (optimizer.get_slot(table, name) for name in ("m", "v"))
  assert [mean.op.name, variance.op.name] == ["table/Adam", "table/Adam_1"]
  with v1.Session() as session:
    session.run(v1.global_variables_initializer())
    session.run(train)
    session.run(train)
    table_, mean_, variance_ = session.run([table, mean, variance])
  expected = {"m": np.zeros(3), "v": np.zeros(3), "x": np.ones(3)}
  gradient, rows = np.array([3.0, 0, 4.0]), np.array([True, False, True])
  for step in (1, 2):
    m = np.where(rows, 0.9 * expected["m"] + 0.1 * gradient, expected["m"])
    v = np.where(rows, 0.999 * expected["v"] + 0.001 * gradient**2, expected["v"])
    rate = 0.1 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
    x = np.where(rows, expected["x"] - rate * m / (np.sqrt(v) + 1e-8), expected["x"])
    expected = {"m": m, "v": v, "x": x}
  np.testing.assert_allclose(mean_[:, 0], expected["m"], rtol=1e-6)
  np.testing.assert_allclose(variance_[:, 0], expected["v"], rtol=2e-5)
  np.testing.assert_allclose(table_[:, 0], expected["x"], rtol=1e-6)


# Two steps of TF 1.15 from [3, 4], [1] and [[1], [1]], with the gradients of the test.
LARS = {
  False: [2.5725, 3.4300001, 0.42000002, 1.0, 0.13],
  True: [2.3355751, 3.1141, 0.078000009, 1.0, -0.38299996],
}


@pytest.mark.parametrize("use_nesterov", [False, True])
@pytest.mark.parametrize("use_resource", [True, False])
def test_lars_scales_by_norms_but_for_skipped_and_sparse_variables(use_nesterov, use_resource):
  x = v1.get_variable("x", initializer=[3.0, 4.0], use_resource=use_resource)
  bias = v1.get_variable("bias", initializer=[1.0], use_resource=use_resource)
  table = v1.get_variable("table", initializer=tf.ones([2, 1]), use_resource=use_resource)
  loss = (
    tf.reduce_sum(x * x) / 2 + 2 * tf.reduce_sum(bias) + 3 * tf.reduce_sum(tf.gather(table, [1]))
  )
  optimizer = contrib.opt.LARSOptimizer(
    0.1, 0.9, 0.01, eeta=0.5, skip_list=["bias"], use_nesterov=use_nesterov
  )
  train = optimizer.minimize(loss, var_list=[x, bias, table])
  assert optimizer.get_slot(x, "momentum").op.name == "x/LARSOptimizer"
  with v1.Session() as session:
    session.run(v1.global_variables_initializer())
    session.run(train)
    session.run(train)
    found = np.concatenate([v.ravel() for v in session.run([x, bias, table])])
  np.testing.assert_allclose(found, LARS[use_nesterov], rtol=1e-6)


def _program():
  x = v1.get_variable("x", initializer=[3.0, 4.0])
  y = v1.get_variable("y", initializer=1.0)
  moved = v1.get_variable("moved", initializer=0.0, trainable=False)
  v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, v1.assign_add(moved, 1.0))
  loss = (tf.reduce_sum(x * x) + y * y) / 2
  return x, y, moved, loss


def test_a_train_op_of_slim_updates_clips_counts_and_gives_the_loss():
  x, y, moved, loss = _program()
  train = contrib.slim.learning.create_train_op(
    loss,
    v1.train.GradientDescentOptimizer(1.0),
    clip_gradient_norm=1.0,
    gradient_multipliers={"y": 0.5},
    summarize_gradients=True,
  )
  assert v1.get_collection(v1.GraphKeys.TRAIN_OP)[-1] is train
  tags = sorted(s.op.name for s in v1.get_collection(v1.GraphKeys.SUMMARIES))
  assert [t.rpartition("/")[2] for t in tags] == [
    "x_gradient",
    "x_gradient_norm",
    "y_gradient",
    "y_gradient_norm",
  ]
  values = run(train, [x, y, moved, v1.train.get_global_step()])
  assert values[0] == 13.0
  np.testing.assert_allclose(values[1][0], [3 - 0.6, 4 - 0.8], rtol=1e-6)
  assert values[1][1:] == [0.5, 1.0, 1]


def test_a_train_op_trains_some_variables_without_updates_and_step():
  x, y, moved, loss = _program()
  train = contrib.training.create_train_op(
    loss,
    v1.train.GradientDescentOptimizer(1.0),
    global_step=None,
    update_ops=[],
    variables_to_train=[y],
    transform_grads_fn=lambda pairs: [(2 * g, v) for g, v in pairs],
  )
  _, values = run(train, [x, y, moved])
  assert values[1:] == [-1.0, 0.0] and list(values[0]) == [3.0, 4.0]
  with pytest.raises(ValueError, match="no variables"):
    contrib.training.create_train_op(loss, v1.train.AdamOptimizer(), variables_to_train=[])


def test_a_loss_that_is_no_number_stops_a_train_op():
  x = v1.get_variable("x", initializer=0.0)
  train = contrib.training.create_train_op(tf.math.log(x), v1.train.GradientDescentOptimizer(1.0))
  with pytest.raises(tf.errors.InvalidArgumentError, match="LossTensor is inf or nan"):
    run(train)


def test_full_batches_only():
  rows = tf.data.Dataset.range(5)
  batches = rows.apply(contrib.data.batch_and_drop_remainder(2))
  assert batches.element_spec.shape == [2]
  padded = rows.map(tf.range).apply(
    contrib.data.padded_batch_and_drop_remainder(2, [None], tf.constant(-1, tf.int64))
  )
  iterator = v1.data.make_one_shot_iterator(padded)
  value = iterator.get_next()
  with v1.Session() as session:
    assert session.run(value).tolist() == [[-1], [0]]
    assert session.run(value).tolist() == [[0, 1, -1], [0, 1, 2]]
    with pytest.raises(tf.errors.OutOfRangeError):
      session.run(value)


def test_the_projector_finds_its_configuration_beside_the_events(tmp_path):
  projector = contrib.projector
  config = projector.ProjectorConfig()
  embedding = config.embeddings.add()
  embedding.tensor_name, embedding.metadata_path = "embedding:0", "metadata.tsv"
  embedding.sprite.image_path = "sprite.png"
  embedding.sprite.single_image_dim.extend([28, 28])
  writer = v1.summary.FileWriter(str(tmp_path))
  projector.visualize_embeddings(writer, config)
  text = (tmp_path / "projector_config.pbtxt").read_text()
  assert text_format.Parse(text, projector.ProjectorConfig()) == config
  assert 'tensor_name: "embedding:0"' in text and "single_image_dim: 28" in text


def test_credentials_of_a_worker_are_refused_with_the_way_out():
  with pytest.raises(RuntimeError, match="GOOGLE_APPLICATION_CREDENTIALS"):
    contrib.cloud.configure_gcs(None, credentials={})


def test_files_are_found_by_patterns_names_and_lists_of_these(tmp_path):
  for name in ("train-0", "train-1", "test-0"):
    (tmp_path / name).write_text("")
  find = contrib.slim.parallel_reader.get_data_files
  pattern = str(tmp_path / "train-*")
  assert sorted(find(pattern)) == [str(tmp_path / "train-0"), str(tmp_path / "train-1")]
  assert find("no-file") == ["no-file"]
  assert find(("a", [str(tmp_path / "test-?"), "b"])) == ["a", str(tmp_path / "test-0"), "b"]
  for nothing in ([], str(tmp_path / "none*")):
    with pytest.raises(ValueError, match="No data files found in"):
      find(nothing)


def test_what_is_to_be_multiplied_must_have_a_gradient():
  variable = v1.get_variable("v", [])
  multiply = contrib.training.multiply_gradients
  for pairs, factors in (
    (((None, variable),), {"v": 1}),
    ([(None, variable)], {}),
    ([(None, variable)], [1]),
    ([(None, variable)], {"v": 1}),
  ):
    with pytest.raises(ValueError):
      multiply(pairs, factors)
  assert multiply([(None, variable)], {"other": 1}) == [(None, variable)]


def test_a_variable_is_a_key_of_factors_and_a_graph_of_old_variables_has_their_bytes():
  found = []
  for resource in (True, False):
    variable = v1.get_variable(f"v{resource}", [3, 2], use_resource=resource)
    (gradient, _), *_ = contrib.training.multiply_gradients(
      [(tf.ones([3, 2]), variable)], {variable: 4}
    )
    found.append((contrib.training.byte_size_load_fn(variable.op), run(gradient)[0].max()))
  assert found == [(24, 4), (24, 4)]
  with pytest.raises(ValueError, match="must have a single output"):
    contrib.training.byte_size_load_fn(tf.unstack(tf.zeros([2]))[0].op)
