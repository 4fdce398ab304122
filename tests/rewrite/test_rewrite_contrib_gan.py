"""`tf.contrib.gan` of a program becomes that of the runtime, and what the runtime lacks stays with EM901."""

import ast

import pytest

from tests.rewrite.helpers import run
from tests.rewrite.replaced import codes, planned, replaced

SPELLINGS = {
  "plain": "import tensorflow as tf\nm = tf.contrib.gan.gan_model(g, d, x, z)",
  "module": "import tensorflow.contrib.gan as tfgan\nm = tfgan.gan_model(g, d, x, z)",
  "from": "from tensorflow.contrib import gan as tfgan\nm = tfgan.gan_model(g, d, x, z)",
  "unnamed": "from tensorflow.contrib import gan\nm = gan.gan_model(g, d, x, z)",
  "variable": "import tensorflow as tf\ntfgan = tf.contrib.gan\nm = tfgan.gan_model(g, d, x, z)",
  "name": "from tensorflow.contrib.gan import gan_model\nm = gan_model(g, d, x, z)",
  "private": (
    "from tensorflow.contrib.gan.python.train import gan_model as build\nm = build(g, d, x, z)"
  ),
}


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS)
def test_every_spelling_of_a_model_becomes_that_of_the_runtime(text):
  new = replaced(text)
  ast.parse(new)
  assert "gan_model(g, d, x, z)" in new
  assert "runtime" in new
  assert "tensorflow.contrib" not in new
  assert "tf.contrib" not in new.replace("runtime.contrib", "")


def test_a_program_keeps_its_name_of_the_module_and_of_the_losses():
  new = replaced("""
    import tensorflow as tf
    import tensorflow.contrib.gan as tfgan

    def train(model, optimizer):
      loss = tfgan.gan_loss(
        model,
        generator_loss_fn=tfgan.losses.wasserstein_generator_loss,
        discriminator_loss_fn=tfgan.losses.wasserstein_discriminator_loss,
        gradient_penalty_weight=10.0)
      ops = tfgan.gan_train_ops(model, loss, optimizer, optimizer)
      hooks = tfgan.get_sequential_train_hooks(tfgan.GANTrainSteps(1, 5))(ops)
      tfgan.eval.add_gan_model_image_summaries(model, grid_size=2)
      grid = tfgan.eval.eval_utils.image_grid(model.real_data, (2, 2))
      more = tfgan.features.condition_tensor_from_onehot(grid, model.generator_inputs)
      extra = tfgan.losses.wargs.minimax_generator_loss(model.discriminator_gen_outputs)
      return ops, hooks, extra, more
  """)
  assert "from migrator.runtime.contrib import gan as tfgan\n" in new
  for kept in (
    "loss = tfgan.gan_loss(",
    "tfgan.losses.wasserstein_generator_loss",
    "tfgan.losses.wasserstein_discriminator_loss",
    "tfgan.gan_train_ops(model, loss, optimizer, optimizer)",
    "tfgan.get_sequential_train_hooks(tfgan.GANTrainSteps(1, 5))(ops)",
    "tfgan.losses.wargs.minimax_generator_loss(",
    "tfgan.eval.add_gan_model_image_summaries(model, grid_size=2)",
    "tfgan.eval.eval_utils.image_grid(model.real_data, (2, 2))",
    "tfgan.features.condition_tensor_from_onehot(",
  ):
    assert kept in new


def test_the_losses_imported_by_themselves_are_those_of_the_runtime():
  new = replaced("""
    import tensorflow as tf
    from tensorflow.contrib.gan.python import losses as tfgan_losses
    from tensorflow.contrib.gan.python import namedtuples
    x = tfgan_losses.modified_generator_loss(namedtuples.GANModel(*parts))
  """)
  ast.parse(new)
  assert "from migrator.runtime.contrib.gan import losses as tfgan_losses" in new
  assert "tuples" in new
  assert "tensorflow.contrib" not in new


NOT_OFFERED = (
  "tfgan.estimator.GANEstimator(model_dir)",
  "tfgan.eval.add_stargan_image_summaries(model)",
  "tfgan.eval.frechet_inception_distance(x, y)",
  "tfgan.features.spectral_normalization_custom_getter()",
  "tfgan.features.tensor_pool(x)",
  "tfgan.gan_train(ops, logdir)",
  "tfgan.get_sequential_train_steps()",
  "tfgan.losses.stargan_generator_loss_wrapper(f)",
  "tfgan.stargan_loss(model)",
  "tfgan.stargan_model(g, d, x, y)",
)


@pytest.mark.parametrize("call", NOT_OFFERED)
@pytest.mark.parametrize(
  "head", ["import tensorflow.contrib.gan as tfgan", "from tensorflow.contrib import gan as tfgan"]
)
def test_what_the_runtime_does_not_offer_stays_with_the_rule_of_contrib(head, call):
  text = f"import tensorflow as tf\n{head}\nmodel = tfgan.gan_model(g, d, x, z)\ny = {call}\n"
  assert codes(text) == ["EM901"]
  _, found = planned(text)
  assert [one.node.lineno for one in found] == [4]


def test_loops_of_a_tpu_are_those_of_the_runtime_in_either_branch():
  new = replaced("""
    import tensorflow as tf

    def train(params, body):
      while_loop = tf.contrib.tpu.while_loop if params['use_tpu'] else tf.while_loop
      return while_loop(lambda i: i < 3, body, [tf.constant(0)]), tf.contrib.tpu.repeat(3, body)
  """)
  assert "while_loop = runtime.tpu.while_loop if params['use_tpu'] else tf.while_loop" in new
  assert "runtime.tpu.repeat(3, body)" in new


PROGRAM = """
import tensorflow as tf
import tensorflow.contrib.gan as tfgan


def network(data, noise):
  return tf.layers.dense(data, 3)


def model_fn(features, labels, mode):
  model = tfgan.gan_model(tf.layers.flatten, network, labels, features)
  loss = tfgan.gan_loss(model).discriminator_loss
  if mode == tf.estimator.ModeKeys.EVAL:
    return tf.estimator.EstimatorSpec(mode, loss=loss)
  step = tf.train.get_global_step()
  train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
  return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
  return tf.data.Dataset.from_tensors(([[1.0] * 3], [[0.0] * 3])).repeat()


estimator = tf.estimator.Estimator(model_fn, "models")
estimator.train(input_fn, max_steps=10)
"""


def test_a_model_fn_with_such_networks_is_kept_and_the_reason_names_the_model():
  """Outside of a graph of its own, what they ask collections for would be others' or nothing."""
  result = run(PROGRAM)
  assert result.changed and not result.left, [str(f) for f in result.findings]
  assert {unit.target for unit in result.units} == {"hosted"}
  reason = next(f.message for f in result.findings if f.code == "EM234")
  assert "collections (`tfgan.gan_model`)" in reason
