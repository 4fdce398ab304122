"""What a function in the style of TF1 may do within a Network, and what a Network refuses."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime

v1 = tf.compat.v1


def names(network):
  return list(network.named_variables)


def dense(x, units, **arguments):
  return runtime.layers.dense(x, units, **arguments)


def spec(*shape, dtype=tf.float32):
  return tf.TensorSpec(shape, dtype)


def test_names_are_those_of_a_graph_in_which_the_function_runs_once():
  def forward(features):
    with v1.variable_scope("outer"):
      hidden = dense(dense(features["w"], 2), 2)
      w = v1.get_variable("w", [2, 1])
    scale = v1.get_variable("w", [], initializer=v1.ones_initializer())
    count = tf.Variable(0, name="count", dtype=tf.int32, trainable=False)
    again = tf.Variable(1.0, name="count")
    return tf.matmul(hidden, w) * scale + again + tf.cast(count, tf.float32)

  graph = v1.Graph()
  with graph.as_default():
    forward({"w": v1.placeholder(tf.float32, [None, 3])})
    expected = [v.op.name for v in v1.global_variables()]
    trainable = [v.op.name for v in v1.trainable_variables()]
  network = runtime.Network(forward, {"w": spec(None, 3)})
  assert names(network) == expected
  found = {id(v): n for n, v in network.named_variables.items()}
  assert [found[id(v)] for v in network.trainable_variables] == trainable
  assert network.named_variables["count"].dtype == tf.int32


def test_variables_may_be_called_what_the_code_of_a_network_calls_its_own():
  wanted = ["arguments", "features", "given", "inputs", "labels", "losses", "outputs", "training"]

  def forward(features, labels, training):
    del labels, training
    return sum(v1.get_variable(name, []) for name in wanted) * features["given"]

  network = runtime.Network(forward, ({"given": spec(None)}, spec(None)))
  assert names(network) == wanted


def test_calls_share_the_variables_within_a_function_and_across_traces():
  def forward(features, training):
    hidden = dense(features, 3, kernel_regularizer=tf.keras.regularizers.l2(0.5))
    return runtime.layers.batch_normalization(hidden, training=training, momentum=0.5)

  network = runtime.Network(forward)

  @tf.function(reduce_retracing=True)
  def both(x, y):
    first = network(x, training=True)
    second = network(y, training=False)
    return first, second, tf.add_n(network.losses)

  for rows in (4, 5, 6):
    both(tf.ones([rows, 2]), tf.zeros([rows, 2]))
  assert len(names(network)) == 6
  kernel = network.named_variables["dense/kernel"].numpy()
  outside = network(tf.ones([2, 2]))
  loss = both(tf.ones([4, 2]), tf.ones([2, 2]))[2]
  np.testing.assert_allclose(loss, 0.5 * np.sum(kernel**2), rtol=1e-6)
  np.testing.assert_allclose(network.regularization_loss(), loss, rtol=1e-6)
  assert outside.shape == (2, 3)
  assert len(names(network)) == 6
  # Three calls with batches of ones moved the mean three times, the calls without training did not.
  mean = kernel.sum(0)
  expected = mean * (1 - 0.5**4)
  moving = network.named_variables["batch_normalization/moving_mean"].numpy()
  np.testing.assert_allclose(moving, expected, rtol=1e-5)


def test_collections_around_a_call_stay_as_they_were():
  def forward(features):
    v1.losses.add_loss(tf.reduce_sum(features))
    return dense(features, 1, kernel_regularizer=tf.keras.regularizers.l2(0.5))

  network = runtime.Network(forward)
  found = []

  @tf.function(autograph=False)
  def step(x):
    v1.add_to_collection(v1.GraphKeys.LOSSES, tf.reduce_sum(x))
    network(x)
    found.append((v1.get_collection(v1.GraphKeys.LOSSES), v1.trainable_variables()))
    return x

  step(tf.ones([1, 1]))
  losses, trainable = found[0]
  assert len(losses) == 1
  assert trainable == []


def test_gradients_of_rows_that_are_looked_up_twice_stay_sparse():
  def forward(features):
    table = v1.get_variable("table", [5, 2])
    return tf.nn.embedding_lookup(table, features) * tf.nn.embedding_lookup(table, features + 1)

  network = runtime.Network(forward)

  @tf.function
  def gradient(ids):
    with tf.GradientTape() as tape:
      loss = tf.reduce_sum(network(ids))
    return tape.gradient(loss, network.trainable_variables)

  (found,) = gradient(tf.constant([0, 1]))
  assert isinstance(found, tf.IndexedSlices)
  assert sorted(found.indices.numpy()) == [0, 1, 1, 2]


def test_code_that_stays_under_compat_v1_works():
  columns = [
    tf.feature_column.numeric_column("age"),
    tf.feature_column.embedding_column(
      tf.feature_column.categorical_column_with_vocabulary_list("word", ["a", "b"]), 2
    ),
  ]

  def forward(features, labels, training, params):
    net = v1.feature_column.input_layer(features, columns)
    shared = v1.make_template("shared", dense, units=2)
    net = shared(shared(net[:, :2]))
    cell = v1.nn.static_rnn(runtime.rnn_cell.BasicLSTMCell(2), [net, net], dtype=tf.float32)
    step = v1.train.get_or_create_global_step()
    scaled = cell[0][-1] * params["scale"] + tf.cast(step, tf.float32)
    loss = tf.reduce_mean(scaled) if labels is None else tf.reduce_mean(scaled - labels)
    return loss, {"scaled": scaled, "training": tf.constant(training)}

  features = {"age": tf.ones([3]), "word": tf.constant(["a", "b", "c"])}
  params = {"scale": 2.0}
  network = runtime.Network(forward, params=params)
  params["scale"] = 100.0  # The Estimator had copied them, too.
  loss, outputs = network(features, tf.zeros([3, 2]), training=True)
  assert names(network) == [
    "input_layer/word_embedding/embedding_weights",
    "shared/dense/kernel",
    "shared/dense/bias",
    "rnn/basic_lstm_cell/kernel",
    "rnn/basic_lstm_cell/bias",
  ]
  np.testing.assert_allclose(loss, tf.reduce_mean(outputs["scaled"]), rtol=1e-6)
  assert bool(outputs["training"])
  before = network(features)[1]["scaled"].numpy()
  network.global_step.assign(5)
  np.testing.assert_allclose(network(features)[1]["scaled"], before + 5, rtol=1e-6)


def test_optimizers_train_the_variables_of_their_scopes(tmp_path):
  def forward(features):
    with v1.variable_scope("generator"):
      made = dense(features, 2)
    with v1.variable_scope("discriminator"):
      return dense(made, 1)

  network = runtime.Network(forward)
  first = runtime.optimizers.Adam(0.1)
  second = runtime.optimizers.Momentum(0.1, 0.9)

  def pairs():
    return [
      (first, network.trainable_variables_in("gen")),
      (second, network.trainable_variables_in("disc")),
    ]

  checkpoint = runtime.named_checkpoint(network, pairs)
  step = checkpoint.by_name["global_step"]
  manager = runtime.CheckpointManager(checkpoint, str(tmp_path), step_counter=step)
  with pytest.raises(RuntimeError, match="no variables yet"):
    manager.save()
  manager.begin_session()
  network.build((spec(None, 2), spec(None)))
  assert "generator/dense/kernel/Adam" in checkpoint.by_name
  assert "discriminator/dense/kernel/Momentum" in checkpoint.by_name
  assert network.trainable_variables_in("dense") == []
  step.assign(7)
  path = manager.save()
  assert path.endswith("model.ckpt-7")


def test_what_is_restored_before_the_network_is_built_is_loaded_with_it(tmp_path):
  def forward(features):
    return dense(features, 2)

  def made():
    network = runtime.Network(forward)
    checkpoint = runtime.named_checkpoint(network, runtime.optimizers.Adagrad(0.1))
    return network, checkpoint

  network, checkpoint = made()
  network.build(spec(None, 3))
  network.named_variables["dense/kernel"].assign(tf.fill([3, 2], 4.0))
  checkpoint.by_name["dense/bias/Adagrad"].assign([5.0, 6.0])
  checkpoint.by_name["global_step"].assign(12)
  checkpoint.by_name["iterations"].assign(12)
  ours = checkpoint.write(str(tmp_path / "ours" / "model.ckpt-12"))
  tf.io.gfile.makedirs(str(tmp_path / "tf2"))
  by_name = {n: v for n, v in checkpoint.by_name.items() if n != "iterations"}
  hosted = v1.train.Saver(by_name).save(
    None, str(tmp_path / "tf2" / "model.ckpt"), global_step=12, write_meta_graph=False
  )
  restore = type(checkpoint).restore
  for path, load in ((ours, restore), (hosted, restore), (hosted, runtime.load_tf1_checkpoint)):
    network, checkpoint = made()
    load(checkpoint, path)
    assert checkpoint.by_name["global_step"].numpy() == 12
    network.build(spec(None, 3))
    assert np.all(network.named_variables["dense/kernel"].numpy() == 4.0)
    np.testing.assert_array_equal(checkpoint.by_name["dense/bias/Adagrad"].numpy(), [5, 6])
    assert checkpoint.by_name["iterations"].numpy() == 12
  network, checkpoint = made()
  checkpoint.restore(ours)
  with pytest.raises(runtime.CheckpointError, match=r"dense/kernel: \[3, 2\]"):
    network.build(spec(None, 4))


def test_other_variables_in_training_than_else_are_refused():
  def forward(features, training):
    net = dense(features, 2)
    return dense(net, 2, name="more") if training else net

  network = runtime.Network(forward)
  network(tf.ones([1, 1]))
  with pytest.raises(ValueError, match=r"more/kernel was not made when the network was built"):
    network(tf.ones([1, 1]), training=True)
  assert names(network) == ["dense/kernel", "dense/bias"]


def test_variables_in_parts_and_of_the_data_are_refused():
  def in_parts(features):
    w = v1.get_variable("w", [4, 1], partitioner=v1.fixed_size_partitioner(2))
    return tf.matmul(features, tf.convert_to_tensor(w))

  def of_the_data(features):
    return tf.Variable(tf.reduce_sum(features, 0), name="total") + features

  with pytest.raises(NotImplementedError, match=r"^w is made in parts"):
    runtime.Network(in_parts, spec(None, 4))
  with pytest.raises(NotImplementedError, match=r"initial value of total is computed"):
    runtime.Network(of_the_data, spec(None, 4))


def test_each_evaluation_and_prediction_reads_what_the_module_has_by_then():
  scale = {"by": 1.0}

  def forward(features):
    keys = tf.lookup.KeyValueTensorInitializer([1, 2], [10.0, 20.0])
    table = tf.lookup.StaticHashTable(keys, 0.0)
    return table.lookup(features) * v1.get_variable("w", initializer=1.0) * scale["by"]

  def loss_fn(net):
    return tf.reduce_mean(net) + scale["by"]

  dataset = tf.data.Dataset.from_tensors([1, 2])
  network = runtime.Network(forward, dataset)
  tables = list(network.tables)
  assert runtime.evaluate(network, loss_fn, dataset, global_step=0)["loss"] == 16
  before = runtime.predict(network, dataset)
  assert next(before) == 10
  scale["by"] = 3.0
  assert runtime.evaluate(network, loss_fn, dataset, global_step=0)["loss"] == 48
  assert list(runtime.predict(network, dataset)) == [30, 60]
  assert list(before) == [20]  # It began before.
  assert network.tables == tables


def test_a_function_with_another_parameter_is_refused():
  with pytest.raises(ValueError, match="mode"):
    runtime.Network(lambda features, mode: features)


def test_initial_values_are_drawn_with_the_seeds_of_the_program():
  def forward(features):
    w = v1.get_variable("w", [3, 2], initializer=v1.random_normal_initializer(seed=3))
    return tf.matmul(features, w)

  with v1.Graph().as_default(), v1.Session() as session:
    v1.set_random_seed(9)
    forward(v1.placeholder(tf.float32, [None, 3]))
    session.run(v1.global_variables_initializer())
    (expected,) = session.run(v1.global_variables())
  tf.random.set_seed(9)
  network = runtime.Network(forward, spec(None, 3))
  np.testing.assert_array_equal(network.variables[0].numpy(), expected)


def test_metrics_and_losses_get_the_parts_of_the_outputs_that_they_name(tmp_path):
  def forward(features, params):
    net = dense(features, 1, kernel_initializer=v1.ones_initializer())
    return {"net": net, "double": net * params["factor"]}

  def loss_fn(labels, net, losses, variables):
    assert losses == []
    assert [v.name for v in variables] == ["dense/kernel:0", "dense/bias:0"]
    return tf.reduce_mean(tf.abs(labels - net))

  def metrics_fn(features, labels, double):
    return {
      "double": v1.metrics.mean(double),
      "age": v1.metrics.mean(features),
      "error": v1.metrics.mean_absolute_error(labels, double),
    }

  network = runtime.Network(forward, params={"factor": 2.0})
  x = np.arange(10, dtype=np.float32)[:, None]
  dataset = tf.data.Dataset.from_tensor_slices((x, x - 1)).batch(4)
  results = runtime.evaluate(
    network, loss_fn, dataset, global_step=3, model_dir=str(tmp_path), metrics=[metrics_fn]
  )
  expected = {"age": 4.5, "double": 9.0, "error": 5.5, "loss": 1.0, "global_step": 3}
  assert list(results) == list(expected)
  assert results == pytest.approx(expected)
  with pytest.raises(ValueError, match=r"takes net, other, but the network returns a dict of"):
    runtime.evaluate(network, lambda net, other: net, dataset, global_step=3)
  with pytest.raises(ValueError, match="non-dict predictions"):
    tensor = functools.partial(runtime.predict, network, dataset, loss_fn=lambda out: out["net"])
    next(tensor(predict_keys=["net"]))
  singles = [float(value[0]) for value in tensor()]
  assert singles == pytest.approx(x[:, 0].tolist())
