"""What the recordings of TensorFlow 1.14 and the tests build with `tf.contrib.gan`.

Runs in Python 3.7 with TensorFlow 1.14, too, the last one that had the module. A case is a function
(tf, gan, layers) -> {"outputs": {name: tensor}, "train": what a step runs, one after the other}, in a graph of
its own, where `layers` is `tf.layers`.
"""

from contrib_cases import rows, values

CASES = {}


def case(function):
  """Registers a case under the name of its function."""
  CASES[function.__name__] = function
  return function


def data(tf, name, count=4, size=3):
  """Returns a constant [count, size] that depends on the name."""
  return tf.constant(values(name, [count, size]))


def networks(layers, **options):
  """Returns a generator and a discriminator of one and two layers."""

  def generator(inputs):
    first = inputs["noise"] if isinstance(inputs, dict) else inputs
    return layers.dense(first[0] if isinstance(first, list) else first, 3, **options)

  def discriminator(batch, inputs):
    del inputs
    return layers.dense(layers.dense(batch, 4, activation=None, **options), 1)

  return generator, discriminator


def model(tf, gan, layers, **options):
  """Returns the model of the networks, of constant data."""
  return gan.gan_model(
    *networks(layers), real_data=data(tf, "real"), generator_inputs=rows(tf), **options
  )


def optimizers(tf):
  """Returns an optimizer for each network, of different kinds."""
  v1 = tf.compat.v1
  return v1.train.AdamOptimizer(0.05), v1.train.MomentumOptimizer(0.1, 0.9)


def trained(tf, gan, made, loss, *more, **options):
  """Returns the case of a model that is trained, the discriminator first."""
  train = gan.gan_train_ops(made, loss, *(more or optimizers(tf)), **options)
  return {
    "outputs": {
      "generated": made.generated_data,
      "generator": loss.generator_loss,
      "discriminator": loss.discriminator_loss,
    },
    "train": [train.discriminator_train_op, train.generator_train_op, train.global_step_inc_op],
    "variables": [made.generator_variables, made.discriminator_variables],
  }


@case
def defaults(tf, gan, layers):
  made = model(tf, gan, layers)
  return trained(tf, gan, made, gan.gan_loss(made))


@case
def minimax_losses_without_summaries(tf, gan, layers):
  made = model(tf, gan, layers)
  loss = gan.gan_loss(
    made,
    generator_loss_fn=gan.losses.minimax_generator_loss,
    discriminator_loss_fn=lambda one, **options: gan.losses.minimax_discriminator_loss(
      one, label_smoothing=0.1, generated_weights=0.5, **options
    ),
    add_summaries=False,
  )
  return trained(tf, gan, made, loss)


@case
def least_squares_losses_of_inputs_in_a_dictionary(tf, gan, layers):
  made = gan.gan_model(
    *networks(layers),
    real_data=values("real", [4, 3]),
    generator_inputs={"noise": values("noise", [4, 2]), "code": values("code", [4, 2])},
  )
  assert sorted(made.generator_inputs) == ["code", "noise"]
  losses = gan.losses
  loss = gan.gan_loss(
    made, losses.least_squares_generator_loss, losses.least_squares_discriminator_loss
  )
  return trained(tf, gan, made, loss)


@case
def gradient_penalty(tf, gan, layers):
  def discriminator(batch, inputs):
    del inputs
    return layers.dense(layers.dense(batch, 4, tf.tanh), 1)

  made = gan.gan_model(networks(layers)[0], discriminator, data(tf, "real"), rows(tf))
  return trained(tf, gan, made, gan.gan_loss(made, gradient_penalty_weight=2.0))


@case
def gradient_penalty_of_one_side_with_a_tensor_as_weight(tf, gan, layers):
  def discriminator(batch, inputs):
    del inputs
    return layers.dense(layers.dense(batch, 4, tf.sigmoid), 1)

  made = gan.gan_model(networks(layers)[0], discriminator, data(tf, "real"), rows(tf))
  loss = gan.gan_loss(
    made,
    gradient_penalty_weight=tf.constant(3.0),
    gradient_penalty_epsilon=1e-3,
    gradient_penalty_target=0.4,
    gradient_penalty_one_sided=True,
    add_summaries=False,
  )
  return trained(tf, gan, made, loss)


@case
def regularization(tf, gan, layers):
  def penalty(weights):
    return 0.3 * tf.reduce_sum(weights * weights)

  made = gan.gan_model(
    *networks(layers, kernel_regularizer=penalty),
    real_data=data(tf, "real"),
    generator_inputs=rows(tf),
  )
  return trained(tf, gan, made, gan.gan_loss(made))


def updating(tf, layers):
  """Returns networks with update operations, whose order does not matter for the discriminator's two."""
  v1 = tf.compat.v1

  # With a bias before the normalization, or a linear discriminator behind it, gradients would be nothing
  # but rounding, of which Adam makes as much as of others.
  def generator(inputs):
    net = layers.dense(inputs, 3, use_bias=False)
    return layers.batch_normalization(net, training=True, momentum=0.9)

  def discriminator(batch, inputs):
    del inputs
    seen = v1.get_variable("moved", initializer=0.5, trainable=False)
    v1.add_to_collection("update_ops", v1.assign_add(seen, tf.reduce_mean(batch)).op)
    return layers.dense(batch, 1, tf.tanh)

  return generator, discriminator


@case
def update_operations(tf, gan, layers):
  made = gan.gan_model(*updating(tf, layers), real_data=data(tf, "real"), generator_inputs=rows(tf))
  return trained(tf, gan, made, gan.gan_loss(made))


@case
def update_operations_outside_of_the_networks(tf, gan, layers):
  v1 = tf.compat.v1
  moved = v1.get_variable("moved", initializer=0.5, trainable=False)
  v1.add_to_collection("update_ops", v1.assign_add(moved, 1.0).op)
  made = gan.gan_model(*updating(tf, layers), real_data=data(tf, "real"), generator_inputs=rows(tf))
  loss = gan.gan_loss(made)
  return trained(tf, gan, made, loss, check_for_unused_update_ops=False)


@case
def update_operations_of_one_network(tf, gan, layers):
  made = gan.gan_model(*updating(tf, layers), real_data=data(tf, "real"), generator_inputs=rows(tf))
  updates = tf.compat.v1.get_collection("update_ops", "Generator")
  return trained(tf, gan, made, gan.gan_loss(made), update_ops=updates)


@case
def scopes_of_other_names_in_a_shared_one(tf, gan, layers):
  v1 = tf.compat.v1
  with v1.variable_scope("shared", reuse=v1.AUTO_REUSE):
    made = model(tf, gan, layers, generator_scope="G", discriminator_scope="D")
  loss = gan.gan_loss(made, add_summaries=False)
  rates = [v1.train.RMSPropOptimizer(learning_rate=0.05) for _ in range(2)]
  return trained(tf, gan, made, loss, *rates)


@case
def shapes_that_differ(tf, gan, layers):
  made = gan.gan_model(
    *networks(layers),
    real_data=data(tf, "real", 5, 3),
    generator_inputs=[rows(tf), rows(tf)],
    check_shapes=False,
  )
  loss = gan.gan_loss(
    made,
    gan.losses.modified_generator_loss,
    gan.losses.modified_discriminator_loss,
    add_summaries=False,
  )
  return trained(tf, gan, made, loss)


@case
def generated_data_of_a_pool(tf, gan, layers):
  made = model(tf, gan, layers)
  loss = gan.gan_loss(
    made, tensor_pool_fn=lambda pair: (pair[0], pair[1] * 2.0), add_summaries=False
  )
  return trained(tf, gan, made, loss)


@case
def gradients_that_are_summarized_and_changed(tf, gan, layers):
  made = model(tf, gan, layers)

  def halved(pairs):
    return [(gradient * 0.5, variable) for gradient, variable in pairs]

  return trained(
    tf, gan, made, gan.gan_loss(made), transform_grads_fn=halved, summarize_gradients=True
  )


@case
def classes(tf, gan, layers):
  def discriminator(batch, inputs):
    del inputs
    hidden = layers.dense(batch, 4)
    return layers.dense(hidden, 1), layers.dense(hidden, 2)

  made = gan.acgan_model(
    networks(layers)[0],
    discriminator,
    data(tf, "real"),
    rows(tf),
    tf.one_hot([0, 1, 1, 0], 2),
  )
  loss = gan.gan_loss(
    made,
    aux_cond_generator_weight=0.7,
    aux_cond_discriminator_weight=0.6,
    tensor_pool_fn=lambda pair: (pair[0], pair[1] + 1.0),
  )
  return trained(tf, gan, made, loss)


class Normal:
  """A distribution with a variance of 1, but for what does not depend on its mean."""

  def __init__(self, mean):
    self._mean = mean

  def log_prob(self, value):
    return -0.5 * (value - self._mean) * (value - self._mean)


@case
def mutual_information(tf, gan, layers):
  def generator(inputs):
    return layers.dense(tf.concat(inputs, 1), 3)

  def discriminator(batch, inputs):
    del inputs
    hidden = layers.dense(batch, 4)
    return layers.dense(hidden, 1), [Normal(layers.dense(hidden, 2))]

  made = gan.infogan_model(
    generator, discriminator, data(tf, "real"), [rows(tf)], [data(tf, "code", 4, 2)]
  )
  loss = gan.gan_loss(made, mutual_information_penalty_weight=0.5)
  return trained(tf, gan, made, loss)


@case
def cycles(tf, gan, layers):
  made = gan.cyclegan_model(*networks(layers), data_x=data(tf, "x"), data_y=data(tf, "y"))
  loss = gan.cyclegan_loss(made, cycle_consistency_loss_weight=2.0)
  train = gan.gan_train_ops(made, loss, *optimizers(tf))
  return {
    "outputs": {
      "x": made.reconstructed_x,
      "y": made.reconstructed_y,
      "x2y": loss.loss_x2y.generator_loss,
      "y2x": loss.loss_y2x.discriminator_loss,
    },
    "train": [
      *train.discriminator_train_op,
      *train.generator_train_op,
      train.global_step_inc_op,
    ],
  }


def _combined(tf, gan, layers, **options):
  made = model(tf, gan, layers)
  other = tf.reduce_sum(made.generated_data * made.generated_data)
  loss = gan.losses.combine_adversarial_loss(
    gan.gan_loss(made, gan.losses.modified_generator_loss), made, other, **options
  )
  return trained(tf, gan, made, loss)


@case
def combined_with_another_loss(tf, gan, layers):
  return _combined(tf, gan, layers, weight_factor=0.3)


@case
def combined_by_the_ratio_of_gradients(tf, gan, layers):
  return _combined(tf, gan, layers, gradient_ratio=2.0)


@case
def combined_with_nothing(tf, gan, layers):
  del layers
  other = tf.constant(3.0)
  loss = gan.losses.wargs.combine_adversarial_loss(
    other, tf.constant(2.0), weight_factor=0, variables=[], gradient_summaries=False
  )
  assert loss is other
  return {"outputs": {"loss": loss}, "train": []}


def pictures(tf, name):
  """Returns a constant [4, 2, 3, 3] that depends on the name."""
  return tf.constant(values(name, [4, 2, 3, 3]))


def _picture_networks(layers):
  """Returns networks of pictures [batch, 2, 3, 3]."""

  def penalty(weights):
    return 0.3 * weights[0][0] * weights[0][0]

  return (
    lambda inputs: inputs + layers.dense(inputs, 3),
    lambda batch, inputs: layers.dense(layers.flatten(batch), 1, kernel_regularizer=penalty),
  )


@case
def summaries_of_pictures(tf, gan, layers):
  made = gan.gan_model(*_picture_networks(layers), pictures(tf, "real"), pictures(tf, "given"))
  gan.eval.add_gan_model_image_summaries(made, grid_size=2)
  gan.eval.add_image_comparison_summaries(made, display_diffs=True)
  gan.eval.add_regularization_loss_summaries(made)
  flat = tf.reshape(made.real_data, [4, 18])
  return {
    "outputs": {
      "grid": gan.eval.image_grid(flat, (1, 4), image_shape=(2, 3)),
      "reshaped": gan.eval.eval_utils.image_reshaper(made.real_data[:3]),
    },
    "train": [],
  }


@case
def summaries_of_cycles_of_pictures(tf, gan, layers):
  made = gan.cyclegan_model(*_picture_networks(layers), pictures(tf, "x"), pictures(tf, "y"))
  gan.eval.add_cyclegan_image_summaries(made)
  gan.eval.add_gan_model_summaries(made)
  gan.eval.summaries.add_regularization_loss_summaries(made)
  return {"outputs": {"x": made.reconstructed_x}, "train": []}


@case
def conditions(tf, gan, layers):
  labels = tf.one_hot([0, 2, 1, 0], 3)

  def generator(inputs):
    noise, classes_ = inputs
    return gan.features.condition_tensor_from_onehot(noise, classes_, embedding_size=5)

  def discriminator(batch, inputs):
    images = gan.features.condition_tensor(pictures(tf, "image"), batch)
    return layers.dense(gan.features.condition_tensor(tf.reshape(images, [4, 18]), inputs[1]), 1)

  made = gan.gan_model(generator, discriminator, data(tf, "real"), [rows(tf), labels])
  return trained(tf, gan, made, gan.gan_loss(made, add_summaries=False))


@case
def losses_of_tensors(tf, gan, layers):
  del layers
  losses = gan.losses.wargs
  generated, real = data(tf, "generated", 4, 2), data(tf, "real", 4, 2)
  weights = tf.constant([[1.0], [0.0], [2.0], [0.5]])
  outputs = {}
  for kind in ("wasserstein", "minimax", "modified", "least_squares"):
    of_generator = getattr(losses, kind + "_generator_loss")
    of_discriminator = getattr(losses, kind + "_discriminator_loss")
    outputs[kind + "_generator"] = of_generator(
      generated, weights=weights, reduction="weighted_sum", add_summaries=True
    )
    outputs[kind + "_discriminator"] = of_discriminator(
      real, generated, real_weights=weights, generated_weights=2.0, scope="own", add_summaries=True
    )
    outputs[kind + "_none"] = of_discriminator(
      real, generated, loss_collection=None, reduction="none"
    )
  labels = tf.one_hot([0, 1, 1, 0], 2)
  outputs["classes"] = losses.acgan_discriminator_loss(
    real, generated, labels, label_smoothing=0.1, real_weights=[1.0, 0.0, 2.0, 1.0]
  )
  outputs["generated_classes"] = losses.acgan_generator_loss(generated, labels, weights=0.5)
  outputs["labels"] = losses.least_squares_discriminator_loss(
    real, generated, real_label=0.9, fake_label=-1
  )
  outputs["cycle"] = losses.cycle_consistency_loss(
    real, generated, generated, real, add_summaries=True
  )
  outputs["information"] = losses.mutual_information_penalty(
    [real], [Normal(generated)], weights=2.0
  )
  return {"outputs": outputs, "train": []}


@case
def an_argument_that_is_none_means_the_default(tf, gan, layers):
  made = model(tf, gan, layers)
  loss = gan.losses.wasserstein_generator_loss(made, loss_collection=None, weights=None)
  return {"outputs": {"loss": loss}, "train": []}


def program_input(tf):
  """Returns the batches of the programs: (noise [4, 2], data [4, 3])."""
  batches = (values("program noise", [12, 2]), values("program data", [12, 3]))
  return tf.data.Dataset.from_tensor_slices(batches).repeat().batch(4, drop_remainder=True)


def _program_networks(tf, layers):
  """Returns networks that start with the same numbers everywhere."""

  def dense(inputs, units):
    shape = [int(inputs.shape[-1]), units]
    start = tf.compat.v1.constant_initializer(values(f"start {shape}", shape))
    return layers.dense(inputs, units, kernel_initializer=start)

  return (
    lambda noise: dense(tf.tanh(dense(noise, 4)), 3),
    lambda batch, noise: dense(tf.tanh(dense(batch, 5)), 1),
  )


def alternating_program(tf, gan, api):
  """Returns a model_fn whose hooks train the networks, one after the other."""

  def model_fn(features, labels, mode):
    made = gan.gan_model(*_program_networks(tf, api.layers), labels, features)
    loss = gan.gan_loss(
      made, gan.losses.modified_generator_loss, gan.losses.modified_discriminator_loss
    )
    total = loss.generator_loss + loss.discriminator_loss
    if mode != "train":
      return api.EstimatorSpec(mode, predictions=made.generated_data, loss=total)
    train = gan.gan_train_ops(made, loss, *optimizers(tf))
    hooks = gan.get_sequential_train_hooks(gan.GANTrainSteps(1, 2))(train)
    return api.EstimatorSpec(
      mode, loss=total, train_op=train.global_step_inc_op, training_hooks=hooks
    )

  return model_fn


def looping_program(tf, gan, api):
  """Returns a model_fn that reads a train operation in a loop, which runs it once all the same."""
  v1 = tf.compat.v1

  def model_fn(features, labels, mode):
    with v1.variable_scope("shared", reuse=v1.AUTO_REUSE):
      made = gan.gan_model(*_program_networks(tf, api.layers), labels, features)
    loss = gan.gan_loss(made, add_summaries=False)
    if mode != "train":
      return api.EstimatorSpec(mode, predictions=made.generated_data, loss=loss.discriminator_loss)
    rates = [v1.train.RMSPropOptimizer(learning_rate=0.05) for _ in range(2)]
    train = gan.gan_train_ops(made, loss, *rates)
    rounds = api.while_loop(
      lambda i, x: i < 5, lambda i, x: (i + 1, train.discriminator_train_op), [0, 0.0]
    )
    counted = v1.train.get_global_step().assign_add(1)
    return api.EstimatorSpec(
      mode, loss=loss.discriminator_loss, train_op=tf.group(*rounds, counted)
    )

  return model_fn


PROGRAMS = {"alternating": alternating_program, "looping": looping_program}


def _unused(tf, gan, layers):
  v1 = tf.compat.v1
  made = model(tf, gan, layers)
  moved = v1.get_variable("moved", initializer=0.5, trainable=False)
  v1.add_to_collection("update_ops", v1.assign_add(moved, 1.0).op)
  return gan.gan_train_ops(made, gan.gan_loss(made), *optimizers(tf))


# {name: (kind of the error, what raises it)}.
ERRORS = {
  "shapes": (
    ValueError,
    lambda tf, gan, layers: gan.gan_model(*networks(layers), data(tf, "real", 4, 5), rows(tf)),
  ),
  "pair": (
    TypeError,
    lambda tf, gan, layers: gan.acgan_model(
      lambda inputs: inputs, lambda batch, inputs: None, data(tf, "real"), rows(tf), None
    ),
  ),
  "negative": (
    ValueError,
    lambda tf, gan, layers: gan.gan_loss(model(tf, gan, layers), gradient_penalty_weight=-1.0),
  ),
  "classes": (
    ValueError,
    lambda tf, gan, layers: gan.gan_loss(model(tf, gan, layers), aux_cond_generator_weight=1.0),
  ),
  "information": (
    ValueError,
    lambda tf, gan, layers: gan.gan_loss(
      model(tf, gan, layers), mutual_information_penalty_weight=1.0
    ),
  ),
  "twice": (
    ValueError,
    lambda tf, gan, layers: gan.losses.wasserstein_generator_loss(
      model(tf, gan, layers), discriminator_gen_outputs=3
    ),
  ),
  "absent": (
    ValueError,
    lambda tf, gan, layers: gan.losses.acgan_generator_loss(model(tf, gan, layers)),
  ),
  "neither": (
    ValueError,
    lambda tf, gan, layers: gan.losses.wargs.combine_adversarial_loss(
      tf.constant(1.0), tf.constant(1.0)
    ),
  ),
  "both": (
    ValueError,
    lambda tf, gan, layers: gan.losses.wargs.combine_adversarial_loss(
      tf.constant(1.0), tf.constant(1.0), weight_factor=1.0, gradient_ratio=1.0
    ),
  ),
  "direction": (
    ValueError,
    lambda tf, gan, layers: gan.cyclegan_loss(model(tf, gan, layers)),
  ),
  "cycle": (
    ValueError,
    lambda tf, gan, layers: gan.losses.cycle_consistency_loss(model(tf, gan, layers)),
  ),
  "grid": (
    ValueError,
    lambda tf, gan, layers: gan.eval.image_grid(pictures(tf, "real"), (1, 3), (2, 3)),
  ),
  "shape": (
    ValueError,
    lambda tf, gan, layers: gan.eval.image_grid(pictures(tf, "real"), (2, 2), (3, 2)),
  ),
  "channels": (
    ValueError,
    lambda tf, gan, layers: gan.eval.image_reshaper(pictures(tf, "real")[:, :, :, :2]),
  ),
  "condition": (
    ValueError,
    lambda tf, gan, layers: gan.features.condition_tensor(rows(tf), tf.constant([1.0] * 4)),
  ),
  "unused": (ValueError, _unused),
}
