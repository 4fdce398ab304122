"""What the recordings of TensorFlow 1.15 and the tests build with the contributed modules.

Runs in Python 3.7 with TensorFlow 1.15, too. A case is a function (tf, contrib) -> {name: tensor}, in a
graph of its own, where `contrib` has the modules layers, slim, framework, crf, rnn, losses and metrics.
"""

import tempfile
import zlib

import numpy as np

CASES = {}


def case(function):
  """Registers a case under the name of its function."""
  CASES[function.__name__] = function
  return function


def values(name, shape, low=-1.0, high=1.0):
  """Returns float32 numbers that depend on the name only."""
  random = np.random.RandomState(zlib.crc32(name.encode()) % 2**31)
  return random.uniform(low, high, shape).astype(np.float32)


def images(tf, size=5, channels=3, rows=2):
  """Returns a constant [rows, size, size, channels]."""
  return tf.constant(values("images", [rows, size, size, channels]))


def rows(tf, count=4, size=3):
  """Returns a constant [count, size]."""
  return tf.constant(values("rows", [count, size]))


@case
def fully_connected_with_defaults(tf, contrib):
  first = contrib.layers.fully_connected(rows(tf), 4)
  return {"first": first, "second": contrib.layers.fully_connected(first, 2, None)}


@case
def fully_connected_of_rank_3(tf, contrib):
  inputs = tf.constant(values("sequence", [2, 3, 4]))
  return {"outputs": contrib.layers.fully_connected(inputs, 2, activation_fn=tf.tanh)}


@case
def fully_connected_reused_and_collected(tf, contrib):
  arguments = {
    "scope": "shared",
    "variables_collections": {"weights": ["W"], "biases": ["B", "W"]},
    "outputs_collections": ["ends"],
    "weights_regularizer": contrib.layers.l2_regularizer(0.1),
    "biases_regularizer": contrib.layers.l1_regularizer(0.2),
  }
  first = contrib.layers.fully_connected(rows(tf), 3, **arguments)
  second = contrib.layers.fully_connected(first, 3, reuse=True, **arguments)
  third = contrib.layers.linear(second, 2, trainable=False, biases_initializer=None)
  return {"second": second, "third": third}


@case
def fully_connected_within_a_scope_with_penalty(tf, contrib):
  with tf.compat.v1.variable_scope(
    "outer", regularizer=contrib.layers.l1_regularizer(0.5), initializer=None
  ):
    first = contrib.layers.fully_connected(
      rows(tf), 3, weights_regularizer=contrib.layers.l2_regularizer(0.1)
    )
    second = contrib.layers.bias_add(first, regularizer=contrib.layers.l2_regularizer(0.1))
    return {"outputs": contrib.layers.layer_norm(second)}


@case
def fully_connected_partitioned(tf, contrib):
  partitioner = tf.compat.v1.fixed_size_partitioner(2)
  with tf.compat.v1.variable_scope("parts", partitioner=partitioner):
    outputs = contrib.layers.fully_connected(
      rows(tf, size=4),
      6,
      variables_collections=["all"],
      weights_regularizer=contrib.layers.l2_regularizer(0.1),
      normalizer_fn=contrib.layers.batch_norm,
    )
  return {"outputs": outputs}


@case
def layers_in_an_argument_scope(tf, contrib):
  slim = contrib.slim
  scope = slim.arg_scope(
    [slim.conv2d, slim.fully_connected],
    activation_fn=tf.nn.elu,
    normalizer_fn=slim.batch_norm,
    weights_regularizer=slim.l2_regularizer(0.01),
    outputs_collections="ends",
  )
  with scope as first:  # noqa: SIM117
    with slim.arg_scope([slim.batch_norm], is_training=True, decay=0.9, epsilon=1e-4):
      with slim.arg_scope([slim.conv2d], padding="VALID", stride=2) as second:
        net = slim.conv2d(images(tf), 4, 3, scope="one")
      net = slim.conv2d(net, 4, [1, 2], scope="two")
  with slim.arg_scope(second):
    net = slim.conv2d(net, 3, 1, stride=1, scope="three")
  with slim.arg_scope(first):
    net = slim.fully_connected(slim.flatten(net), 2, normalizer_fn=None)
  return {"outputs": net}


@case
def own_function_in_an_argument_scope(tf, contrib):
  slim = contrib.slim

  @slim.add_arg_scope
  def block(inputs, depth, rate=1, scope=None):
    with tf.compat.v1.variable_scope(scope, "block", [inputs]) as sc:
      net = slim.conv2d(inputs, depth, 3, rate=rate, activation_fn=None)
      return slim.utils.collect_named_outputs("ends", sc.original_name_scope, net)

  with slim.arg_scope([block], rate=2):
    net = block(images(tf), 2)
    net = block(net, 2, rate=1, scope="named")
  aliases = ",".join(sorted(slim.utils.convert_collection_to_dict("ends")))
  assert slim.utils.last_dimension(net.get_shape(), min_rank=4) == 2
  return {"outputs": net, "aliases": tf.constant(aliases)}


@case
def model_variables_on_request(tf, contrib):
  slim = contrib.slim
  with slim.arg_scope([slim.model_variable], regularizer=slim.l2_regularizer(0.3)):
    first = slim.model_variable("first", [2, 3], collections=["mine"])
  second = slim.variable("scope/second", [3], initializer=tf.compat.v1.zeros_initializer())
  third = slim.local_variable(values("third", [3]), name="third")
  del third
  found = [
    slim.get_variables("sc"),
    slim.get_variables_by_name("second"),
    slim.get_variables_by_suffix("st"),
    slim.get_model_variables(),
    slim.get_local_variables(),
    slim.get_variables_to_restore(exclude=["scope"]),
    slim.get_variables_to_restore(include=["scope"]),
    contrib.framework.filter_variables(slim.get_variables(), ["f"], ["z"]),
    [slim.get_unique_variable("scope/second")],
  ]
  names = ";".join(",".join(one.op.name for one in some) for some in found)
  return {"outputs": tf.matmul(first, tf.expand_dims(second, 1)), "names": tf.constant(names)}


@case
def convolutions_of_all_dimensions(tf, contrib):
  layers = contrib.layers
  line = layers.conv1d(tf.constant(values("line", [2, 6, 2])), 3, 2, stride=2)
  image = layers.conv2d(images(tf), 2, [3, 2], activation_fn=None, padding="VALID")
  volume = layers.convolution(tf.constant(values("volume", [1, 3, 3, 3, 2])), 2, 2)
  return {"line": line, "image": image, "volume": volume}


@case
def dilated_convolutions(tf, contrib):
  same = contrib.layers.conv2d(images(tf, 6), 2, 3, rate=2)
  valid = contrib.layers.conv2d(images(tf, 7), 2, 3, rate=[2, 3], padding="VALID")
  return {"same": same, "valid": valid}


@case
def convolution_with_normalizer(tf, contrib):
  return {
    "outputs": contrib.layers.conv2d(
      images(tf),
      3,
      3,
      normalizer_fn=contrib.layers.batch_norm,
      normalizer_params={"scale": True, "decay": 0.9, "is_training": False},
      scope="a/b",
    )
  }


@case
def transposed_convolutions(tf, contrib):
  layers = contrib.layers
  same = layers.conv2d_transpose(images(tf, 3), 2, 3, stride=2)
  valid = layers.conv2d_transpose(images(tf, 3), 2, [3, 1], stride=[2, 1], padding="VALID")
  volume = layers.conv3d_transpose(tf.constant(values("volume", [1, 2, 2, 2, 2])), 2, 2, stride=2)
  return {"same": same, "valid": valid, "volume": volume}


@case
def separable_convolutions(tf, contrib):
  layers = contrib.layers
  both = layers.separable_conv2d(
    images(tf),
    4,
    3,
    depth_multiplier=2,
    weights_regularizer=layers.l2_regularizer(0.1),
    variables_collections=["all"],
  )
  alone = layers.separable_conv2d(images(tf), None, 3, 2, stride=2, scope="alone")
  dilated = layers.separable_conv2d(
    images(tf, 6), 2, [3, 3], rate=2, normalizer_fn=layers.batch_norm, activation_fn=None
  )
  return {"both": both, "alone": alone, "dilated": dilated}


@case
def pooling(tf, contrib):
  layers = contrib.layers
  volume = tf.constant(values("volume", [1, 4, 4, 4, 2]))
  return {
    "max": layers.max_pool2d(images(tf), 2, outputs_collections="ends"),
    "mean": layers.avg_pool2d(images(tf), [3, 2], 1, padding="SAME", scope="mean"),
    "max3": layers.max_pool3d(volume, 2),
    "mean3": layers.avg_pool3d(volume, [2, 2, 1], stride=1),
    "any": contrib.slim.pool(images(tf), [2, 2], "MAX", stride=2),
    "dilated": contrib.slim.pool(images(tf), 2, "AVG", dilation_rate=2, outputs_collections="ends"),
  }


@case
def batch_norm_of_rank_4(tf, contrib):
  return {"outputs": contrib.layers.batch_norm(images(tf), scale=True, activation_fn=tf.nn.relu)}


@case
def batch_norm_of_rank_2(tf, contrib):
  return {"outputs": contrib.layers.batch_norm(rows(tf), decay=0.8)}


@case
def batch_norm_of_rank_3(tf, contrib):
  inputs = tf.constant(values("sequence", [4, 3, 2]))
  return {"outputs": contrib.layers.batch_norm(inputs, scale=True, variables_collections=["all"])}


@case
def batch_norm_that_is_not_fused(tf, contrib):
  return {
    "images": contrib.layers.batch_norm(images(tf), fused=False),
    "rows": contrib.layers.batch_norm(rows(tf), fused=False, center=False, scale=True),
  }


@case
def batch_norm_in_place(tf, contrib):
  layers = contrib.layers
  fused = layers.batch_norm(images(tf), updates_collections=None, decay=0.9, scope="fused")
  plain = layers.batch_norm(
    rows(tf), updates_collections=None, decay=0.9, fused=False, scope="plain"
  )
  return {"fused": fused, "plain": plain}


@case
def batch_norm_with_own_collection(tf, contrib):
  layers = contrib.layers
  return {
    "fused": layers.batch_norm(images(tf), updates_collections="own", trainable=False),
    "plain": layers.batch_norm(images(tf), updates_collections="own", fused=False, scale=True),
  }


@case
def batch_norm_with_corrected_means(tf, contrib):
  layers = contrib.layers
  fused = layers.batch_norm(images(tf), zero_debias_moving_mean=True, decay=0.9)
  with tf.compat.v1.variable_scope("inner"):
    plain = layers.batch_norm(rows(tf), zero_debias_moving_mean=True, fused=False, decay=0.9)
  return {"fused": fused, "plain": plain}


@case
def batch_norm_with_weights(tf, contrib):
  weights = tf.constant([0.5, 1.0, 0.0, 2.0])
  return {"outputs": contrib.layers.batch_norm(rows(tf), batch_weights=weights, scale=True)}


@case
def batch_norm_in_prediction(tf, contrib):
  layers = contrib.layers
  return {
    "images": layers.batch_norm(images(tf), is_training=False, scale=True),
    "rows": layers.batch_norm(rows(tf), is_training=False),
    "plain": layers.batch_norm(rows(tf), is_training=False, fused=False),
    "own": layers.batch_norm(rows(tf), is_training=False, fused=False, updates_collections=None),
  }


def _by_tensor(tf, contrib, training):
  layers = contrib.layers
  flag = tf.compat.v1.placeholder_with_default(training, [])
  return {
    "images": layers.batch_norm(images(tf), is_training=flag, scale=True, decay=0.7),
    "rows": layers.batch_norm(rows(tf), is_training=flag, decay=0.7),
    "place": layers.batch_norm(rows(tf), is_training=flag, updates_collections=None, decay=0.7),
    "plain": layers.batch_norm(rows(tf), is_training=flag, fused=False, decay=0.7),
    "own": layers.batch_norm(
      rows(tf), is_training=flag, fused=False, updates_collections=None, decay=0.7
    ),
    "dropped": layers.dropout(tf.ones([2, 2]), 1.0, is_training=flag),
  }


@case
def batch_norm_told_to_train(tf, contrib):
  return _by_tensor(tf, contrib, True)


@case
def batch_norm_told_to_predict(tf, contrib):
  return _by_tensor(tf, contrib, False)


@case
def batch_norm_with_initializers_and_penalties(tf, contrib):
  layers = contrib.layers
  arguments = {
    "scale": True,
    "param_initializers": {"beta": tf.compat.v1.constant_initializer(0.5)},
    "param_regularizers": {
      "beta": layers.l2_regularizer(0.1),
      "gamma": layers.l1_regularizer(0.1),
    },
  }
  with tf.compat.v1.variable_scope("s", reuse=tf.compat.v1.AUTO_REUSE):
    first = layers.batch_norm(images(tf), scope="bn", **arguments)
    second = layers.batch_norm(images(tf), scope="bn", **arguments)
    return {"first": first, "second": second, "rows": layers.batch_norm(rows(tf), **arguments)}


@case
def other_normalizations(tf, contrib):
  layers = contrib.layers
  sequence = tf.constant(values("sequence", [2, 3, 4]))
  inputs = images(tf, channels=4)
  return {
    "rows": layers.layer_norm(rows(tf)),
    "sequence": layers.layer_norm(sequence, begin_norm_axis=-1, scope="own/norm"),
    "all": layers.layer_norm(sequence, center=False, activation_fn=tf.tanh),
    "images": layers.layer_norm(inputs, begin_norm_axis=1, begin_params_axis=1),
    "instance": layers.instance_norm(inputs, outputs_collections="ends"),
    "group": layers.group_norm(inputs, groups=2),
    "near": layers.group_norm(inputs, groups=4, mean_close_to_zero=True, scale=False),
    "unit": layers.unit_norm(rows(tf), 1),
  }


@case
def small_layers(tf, contrib):
  layers = contrib.layers
  return {
    "biases": layers.bias_add(images(tf), activation_fn=tf.nn.relu),
    "flat": layers.flatten(images(tf, 2), outputs_collections="ends"),
    "one_hot": layers.one_hot_encoding([1, 0, 2], 3, on_value=2.0),
    "softmax": layers.softmax(tf.constant(values("sequence", [2, 3, 4]))),
    "repeated": layers.repeat(rows(tf), 2, layers.fully_connected, 3, activation_fn=tf.tanh),
    "named": layers.repeat(rows(tf), 2, contrib.layers.linear, 2, scope="deep"),
    "stacked": layers.stack(rows(tf), layers.fully_connected, [3, 2], scope="fc"),
    "convolved": layers.stack(images(tf), layers.conv2d, [(2, [1, 1]), (3, 2)]),
    "kept": layers.dropout(rows(tf), is_training=False),
    "drawn": layers.dropout(tf.ones([3, 4]), 0.6, seed=5),
    "channels": layers.dropout(images(tf), 0.5, noise_shape=[2, 1, 1, 3], seed=7),
  }


@case
def embeddings(tf, contrib):
  layers = contrib.layers
  ids = tf.constant([[1, 2, 1], [0, 3, 3]])
  sparse = tf.SparseTensor([[0, 0], [0, 1], [2, 0], [2, 1]], [1, -1, 2, 0], [4, 2])
  weights = tf.SparseTensor([[0, 0], [0, 1], [2, 0], [2, 1]], [0.5, 1.0, 2.0, -1.0], [4, 2])
  table = tf.constant(values("table", [4, 3]))
  lookup = layers.safe_embedding_lookup_sparse
  return {
    "embedded": layers.embed_sequence(ids, 4, 2, scope="words"),
    "again": layers.embed_sequence(ids, scope="words", reuse=True, unique=True),
    "unique": layers.embedding_lookup_unique(table, ids),
    "mean": lookup(table, tf.SparseTensor(sparse.indices, tf.cast(sparse.values, "int64"), [4, 2])),
    "sum": lookup([table], sparse, weights, combiner="sum"),
    "default": lookup(table, sparse, weights, combiner="sqrtn", default_id=3, max_norm=0.5),
  }


@case
def initial_values(tf, contrib):
  layers = contrib.layers
  tf.compat.v1.set_random_seed(3)
  return {
    "xavier": layers.xavier_initializer(seed=1)([3, 2]),
    "normal": layers.xavier_initializer(uniform=False, seed=1)([2, 2, 3, 2]),
    "scaled": layers.variance_scaling_initializer(seed=2)([4, 2]),
    "out": layers.variance_scaling_initializer(1.0, "FAN_OUT", True, seed=2)([2, 2, 2]),
    "vector": layers.variance_scaling_initializer(1.0, "FAN_AVG", True, seed=2)([4]),
  }


@case
def penalties(tf, contrib):
  layers = contrib.layers
  weights = rows(tf)
  tf.compat.v1.add_to_collection("weights", weights)
  both = layers.l1_l2_regularizer(0.1, 0.2)
  return {
    "l1": layers.l1_regularizer(0.3)(weights),
    "both": both(weights),
    "one": layers.l1_l2_regularizer(0.0, 0.5)(weights),
    "sum": layers.sum_regularizer([both, None, layers.l2_regularizer(0.0)])(weights),
    "applied": layers.apply_regularization(both),
  }


@case
def weighted_losses(tf, contrib):
  losses = contrib.losses
  logits = rows(tf)
  labels = tf.constant([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])
  classes = tf.constant([[0], [1], [2], [0]], tf.int64)
  probabilities = tf.nn.softmax(logits)
  numbers = tf.cast(labels, tf.float32)
  weights = tf.constant([1.0, 0.0, 2.0, 0.5])
  outputs = {
    "softmax": losses.softmax_cross_entropy(logits, labels, label_smoothing=0.1),
    "weighted": losses.softmax_cross_entropy(logits, labels, weights, scope="weighted"),
    "column": losses.sparse_softmax_cross_entropy(logits, classes, tf.expand_dims(weights, 1)),
    "sigmoid": losses.sigmoid_cross_entropy(logits, labels, 0.5, 0.2),
    "squared": losses.mean_squared_error(logits, numbers, weights),
    "absolute": losses.absolute_difference(logits, numbers, tf.ones([4, 3]) * 0.5),
    "zero": losses.absolute_difference(logits, numbers, 0.0),
    "log": losses.log_loss(probabilities, numbers, weights),
    "hinge": losses.hinge_loss(logits, numbers),
    "cosine": losses.cosine_distance(tf.nn.l2_normalize(logits, 1), numbers, dim=1),
    "pairs": losses.mean_pairwise_squared_error(logits, numbers, weights),
  }
  losses.add_loss(tf.constant(2.0))
  outputs["total"] = losses.get_total_loss()
  return outputs


@case
def metrics_with_predictions_first(tf, contrib):
  metrics = contrib.metrics
  predictions, labels = tf.constant([1, 0, 1, 1]), tf.constant([1, 1, 1, 0])
  scores = tf.constant([0.9, 0.4, 0.8, 0.2])
  ranked, wanted = tf.constant(values("ranked", [3, 4])), tf.constant([[1], [2], [0]], tf.int64)
  pairs = {
    "accuracy": metrics.streaming_accuracy(predictions, labels),
    "precision": metrics.streaming_precision(predictions, labels, [1.0, 1.0, 0.5, 1.0]),
    "recall": metrics.streaming_recall(predictions, labels),
    "mean": metrics.streaming_mean(scores, name="average"),
    "auc": metrics.streaming_auc(scores, labels, None, 50),
    "mse": metrics.streaming_mean_squared_error(scores, tf.cast(labels, tf.float32)),
    "mae": metrics.streaming_mean_absolute_error(scores, tf.cast(labels, tf.float32)),
    "rmse": metrics.streaming_root_mean_squared_error(scores, tf.cast(labels, tf.float32)),
    "iou": metrics.streaming_mean_iou(predictions, labels, 2),
    "recall_at": metrics.streaming_sparse_recall_at_k(ranked, wanted, 2),
    "precision_at": metrics.streaming_sparse_precision_at_k(ranked, wanted, 2),
    "average_at": metrics.streaming_sparse_average_precision_at_k(ranked, wanted, 2),
    "thresholds": metrics.streaming_precision_at_thresholds(scores, labels, [0.3, 0.6]),
    "less": metrics.streaming_percentage_less(scores, 0.5),
    "specific": metrics.streaming_specificity_at_sensitivity(scores, labels, 0.5),
  }
  _, updates = metrics.aggregate_metric_map(pairs)
  updates["once"] = metrics.accuracy(predictions, labels, tf.constant([1.0, 2.0, 0.0, 1.0]))
  return updates


@case
def conditional_random_field(tf, contrib):
  crf = contrib.crf
  scores = tf.constant(values("scores", [4, 5, 3]))
  tags = tf.constant(np.arange(20).reshape([4, 5]) * 7 % 3, tf.int32)
  lengths = tf.constant([5, 3, 1, 0])
  likelihood, transitions = crf.crf_log_likelihood(scores, tags, lengths)
  decoded, best = crf.crf_decode(scores, transitions, lengths)
  short, _ = crf.crf_log_likelihood(scores[:, :1], tags[:, :1], lengths, transitions)
  one, best_of_one = crf.crf_decode(scores[:, :1], transitions, lengths)
  allowed = tf.constant(values("allowed", [4, 5, 3]) > -0.5)
  unknown = tf.compat.v1.placeholder_with_default(values("scores", [4, 5, 3]), [None, None, 3])
  free, _ = crf.crf_decode(unknown, transitions, lengths)
  tags_of_unknown = tf.compat.v1.placeholder_with_default(tf.cast(tags, tf.int64), [None, None])
  of_unknown, _ = crf.crf_log_likelihood(
    unknown, tags_of_unknown, tf.cast(lengths, tf.int64), transitions
  )
  return {
    "likelihood": likelihood,
    "short": short,
    "decoded": decoded,
    "best": best,
    "one": one,
    "best_of_one": best_of_one,
    "score": crf.crf_sequence_score(scores, tags, lengths, transitions),
    "norm": crf.crf_log_norm(scores, lengths, transitions),
    "several": crf.crf_multitag_sequence_score(scores, allowed, lengths, transitions),
    "free": free,
    "of_unknown": of_unknown,
  }


def _step(tf, contrib, optimizer, **arguments):
  step = tf.compat.v1.train.get_or_create_global_step()
  outputs = contrib.layers.batch_norm(contrib.layers.fully_connected(rows(tf), 2))
  loss = tf.reduce_mean(tf.square(outputs - 0.5))
  return {"loss": contrib.layers.optimize_loss(loss, step, optimizer=optimizer, **arguments)}


@case
def optimize_loss_by_name(tf, contrib):
  return _step(tf, contrib, "Adam", learning_rate=0.1, clip_gradients=0.5)


@case
def optimize_loss_with_decay(tf, contrib):
  def decay(rate, step):
    return tf.compat.v1.train.exponential_decay(rate, step, 1, 0.5)

  return _step(
    tf,
    contrib,
    tf.compat.v1.train.AdagradOptimizer,
    learning_rate=0.2,
    learning_rate_decay_fn=decay,
    summaries=["loss", "gradients", "gradient_norm", "learning_rate"],
    gradient_multipliers={"fully_connected/weights:0": 0.5},
  )


@case
def optimize_loss_with_momentum(tf, contrib):
  return _step(tf, contrib, "Momentum", learning_rate=tf.constant(0.1), update_ops=[], name="own")


@case
def stacked_bidirectional_networks(tf, contrib):
  def cells():
    return [contrib_cell(tf, size) for size in (2, 3)]

  inputs = tf.constant(values("sequence", [2, 3, 4]))
  outputs, forward, backward = contrib.rnn.stack_bidirectional_dynamic_rnn(
    cells(), cells(), inputs, dtype=tf.float32, sequence_length=[3, 2]
  )
  listed, _, _ = contrib.rnn.stack_bidirectional_rnn(
    cells(), cells(), tf.unstack(inputs, axis=1), dtype=tf.float32, scope="listed"
  )
  turned = contrib.rnn.transpose_batch_time(inputs)
  return {
    "outputs": outputs,
    "forward": forward[1],
    "backward": backward[0],
    "last": listed[-1],
    "turned": turned,
  }


def contrib_cell(tf, size):
  """Returns the simplest cell, of this runtime where TensorFlow has none."""
  if tf.__version__.startswith("1."):
    return tf.nn.rnn_cell.BasicRNNCell(size)
  from migrator.runtime import rnn_cell

  return rnn_cell.BasicRNNCell(size)


@case
def tables_of_words(tf, contrib):
  words = ["a", "b", "c"]
  with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as file:
    file.write("a\nb\nc\n")
  lookup = contrib.lookup
  wanted = tf.constant(["c", "a", "other", "more", "b"])
  numbers = tf.constant([2, 0, 7], tf.int64)

  def joined(texts):
    return tf.compat.v1.reduce_join(texts, separator=",")

  return {
    "list": lookup.index_table_from_tensor(words).lookup(wanted),
    "buckets": lookup.index_table_from_tensor(words, 5).lookup(wanted),
    "integers": lookup.index_table_from_tensor([30, 10], default_value=9, dtype=tf.int64).lookup(
      tf.constant([10, 30, 5], tf.int64)
    ),
    "file": lookup.index_table_from_file(file.name, 2, 2).lookup(wanted),
    "words": joined(lookup.index_to_string_table_from_tensor(words).lookup(numbers)),
    "lines": joined(lookup.index_to_string_table_from_file(file.name, 3, "?").lookup(numbers)),
  }


@case
def summaries_of_layers(tf, contrib):
  layers = contrib.layers
  outputs = layers.relu6(rows(tf), 2, outputs_collections="activations")
  layers.summarize_activations()
  layers.summarize_tensors(tf.compat.v1.trainable_variables())
  layers.summarize_tensor(tf.reduce_sum(outputs, name="total"))
  contrib.slim.summaries.add_scalar_summary(tf.reduce_sum(outputs), "sum", "losses")
  contrib.slim.summaries.add_zero_fraction_summary(outputs)
  return {"outputs": outputs}


def _gradients(tf, contrib):
  v1 = tf.compat.v1
  weights = v1.get_variable("weights", [3, 2])
  table = v1.get_variable("table", [5, 3])
  unused = v1.get_variable("unused", [2])
  outputs = tf.matmul(tf.gather(table, [0, 3, 3]), weights)
  optimizer = v1.train.GradientDescentOptimizer(0.1)
  return outputs, optimizer.compute_gradients(tf.reduce_sum(outputs**2), [weights, table, unused])


@case
def gradients_multiplied_and_clipped(tf, contrib):
  outputs, pairs = _gradients(tf, contrib)
  pairs = contrib.training.multiply_gradients(pairs, {pairs[0][1].op.name: 3.0, "table": 0.25})
  found = {"outputs": outputs, "multiplied": pairs[0][0], "multiplied_rows": pairs[1][0].values}
  contrib.training.add_gradients_summaries(pairs)
  pairs = contrib.training.clip_gradient_norms(pairs, 0.5)
  found.update(clipped=pairs[0][0], clipped_rows=pairs[1][0].values, rows=pairs[1][0].indices)
  pairs = contrib.training.clip_gradient_norms_fn(0.1)(pairs)
  found.update(again=pairs[0][0], again_rows=pairs[1][0].values)
  pairs = contrib.slim.learning.multiply_gradients(pairs, {"weights": 7.0})
  contrib.slim.learning.add_gradients_summaries(pairs[2:])
  pairs = contrib.slim.learning.clip_gradient_norms(pairs, 0.3)
  found.update(last=pairs[0][0], last_rows=pairs[1][0].values)
  return found


@case
def variables_spread_over_tasks(tf, contrib):
  v1 = tf.compat.v1
  greedy = contrib.training.GreedyLoadBalancingStrategy(3, contrib.training.byte_size_load_fn)
  random, other = (contrib.training.RandomStrategy(5, seed) for seed in (0, 7))
  tasks = []
  for number, (shape, dtype) in enumerate(
    [([4], "float32"), ([3], "float64"), ([], "float32"), ([3, 2], "float32"), ([9], "float32")]
  ):
    one = v1.get_variable("v%d" % number, shape, tf.as_dtype(dtype), v1.zeros_initializer())  # noqa: UP031
    operation = one.op
    tasks.append([int(strategy(operation)) for strategy in (greedy, random, other)])
  operation = tf.constant([1.0, 2.0]).op
  tasks.append([int(greedy(operation)), contrib.training.byte_size_load_fn(operation), 0])
  return {"tasks": tf.constant(tasks)}
