"""Removed names whose counterparts stand in another place, or are no counterpart of every use."""

import textwrap

import pytest

from migrator.rewrite import engine
from tests.rewrite.replaced import codes, replaced

AS_INPUT_DATA = (
  "from migrator.runtime.contrib import datasets as {0}",
  "x = {0}.read_data_sets('d')",
)
BY_ITS_PATH = ("from migrator import runtime", "x = runtime.contrib.datasets.read_data_sets('d')")
DATA_SETS = {
  "tutorial": ("from {0} import input_data", "input_data.", AS_INPUT_DATA),
  "renamed": ("import {0}.input_data as d", "d.", AS_INPUT_DATA),
  "function": ("from {1}.datasets.mnist import read_data_sets", "", BY_ITS_PATH),
  "module": ("from {1}.datasets import mnist", "mnist.", AS_INPUT_DATA),
  "attribute": ("import tensorflow as tf", "tf.contrib.learn.datasets.mnist.", BY_ITS_PATH),
}


@pytest.mark.parametrize(("imported", "module", "wanted"), DATA_SETS.values(), ids=DATA_SETS)
def test_data_sets_of_mnist_are_read_by_the_runtime_from_the_same_folder(imported, module, wanted):
  places = ("tensorflow.examples.tutorials.mnist", "tensorflow.contrib.learn.python.learn")
  new = replaced(f"{imported.format(*places)}\nx = {module}read_data_sets('d')\n").split("\n")
  for line in wanted:
    assert line.format(module.rstrip(".")) in new
  assert not any("examples" in line or "contrib.learn" in line for line in new)


def test_helpers_of_data_sets_are_those_of_the_runtime():
  new = replaced("""
    import tensorflow as tf
    tf.contrib.learn.datasets.base.maybe_download(NAME, folder, URL)
    data = tf.contrib.learn.datasets.base.Dataset(data=x, target=y)
  """)
  assert "runtime.contrib.datasets.maybe_download(NAME, folder, URL)" in new
  assert "data = runtime.contrib.datasets.Dataset(data=x, target=y)" in new


LOADED = {
  "mnist": ("load_dataset('mnist')", []),
  "by its name": ("load_dataset(name='mnist')", []),
  "iris": ("load_dataset('iris')", ["EM901"]),
  "unknown": ("load_dataset(which)", ["EM901"]),
  "handed on": ("load_dataset", ["EM901"]),
}


@pytest.mark.parametrize(("used", "refused"), LOADED.values(), ids=LOADED)
def test_only_mnist_is_loaded_by_its_name(used, refused):
  assert codes(f"import tensorflow as tf\nx = tf.contrib.learn.datasets.{used}\n") == refused


OLD = {
  "a version": "tf.__version__.startswith('2.2.')",
  "another one": "tf.__version__ < '2.4'",
  "numbers": "LooseVersion(tf.__version__) < LooseVersion('1.14')",
  "never": "False",
}
NEW = {
  "nothing": "x",
  "a version that is run": "tf.__version__ < '2.16'",
  "one whose name is longer": "tf.__version__.startswith('2.2')",
  "a newer one": "tf.__version__ >= '2.4'",
}


@pytest.mark.parametrize("condition", OLD.values(), ids=OLD)
def test_what_runs_only_with_older_versions_stays_as_it_is(condition):
  text = f"""
    import tensorflow as tf
    if {condition}:
      from tensorflow.python.keras.mixed_precision.experimental import check
      check.log = tf.contrib.gan.gan_model
    y = tf.layers.dense(x, 3)
  """
  new = replaced(text)
  assert "  from tensorflow.python.keras.mixed_precision.experimental import check\n" in new
  assert "  check.log = tf.contrib.gan.gan_model\n" in new
  assert "y = runtime.layers.dense(x, 3)" in new


@pytest.mark.parametrize("condition", NEW.values(), ids=NEW)
def test_what_runs_with_newer_versions_too_is_refused(condition):
  text = f"import tensorflow as tf\nif {condition}:\n  y = tf.contrib.nowhere.model()\n"
  assert codes(text) == ["EM901"]


def test_a_program_whose_removed_names_are_for_older_versions_has_no_todo():
  text = """
    import tensorflow as tf

    if tf.__version__ < "1.13":
      tf.contrib.nowhere.prepare()

    def model_fn(features, labels, mode):
      return tf.estimator.EstimatorSpec(mode, loss=tf.layers.dense(features, 1))

    estimator = tf.estimator.Estimator(model_fn)
  """
  result = engine.rewrite(textwrap.dedent(text), "program.py")
  assert "TODO" not in result.text
  assert "tf.contrib.nowhere.prepare()" in result.text
  assert "runtime.ModelFn(model_fn)" in result.text


EXPERIMENT = """
  import tensorflow as tf
  from tensorflow.contrib.learn import learn_runner
  from tensorflow.contrib.learn.python.learn.utils import saved_model_export_utils

  def model_fn(features, labels, mode):
    return tf.estimator.EstimatorSpec(mode, loss=tf.layers.dense(features, 1))

  def experiment_fn(run_config, hparams):
    strategies = saved_model_export_utils.make_export_strategy(serving)
    return tf.contrib.learn.Experiment(
      tf.estimator.Estimator(model_fn, config=run_config), train, test, export_strategies=strategies
    )

  learn_runner.run(
    experiment_fn, run_config=tf.contrib.learn.RunConfig(model_dir="d"), schedule="train"
  )
"""


def test_an_experiment_is_one_of_the_runtime():
  result = engine.rewrite(textwrap.dedent(EXPERIMENT), "program.py")
  assert "TODO" not in result.text
  assert "return runtime.contrib.learn.Experiment(\n" in result.text
  assert "from migrator.runtime.contrib import learn as learn_runner" in result.text
  assert "learn_runner.run(\n" in result.text
  assert "= saved_model_export_utils.make_export_strategy(serving)" in result.text
  assert "learn as saved_model_export_utils" in result.text


REFUSED = {
  "a schedule of a cluster": ('schedule="train"', 'schedule="run_std_server"'),
  "other checkpoints": ("train, test,", "train, test, checkpoint_and_export=True,"),
  "metrics of its own": ("train, test,", "train, test, eval_metrics=METRICS,"),
}


@pytest.mark.parametrize(("old", "new"), REFUSED.values(), ids=REFUSED)
def test_what_experiments_of_the_runtime_do_not_offer_is_refused(old, new):
  assert old in EXPERIMENT
  assert codes(EXPERIMENT.replace(old, new)) == ["EM901"]


@pytest.mark.parametrize("new", ["schedule=None", "schedule=SCHEDULE", "hparams=3"])
def test_a_schedule_may_be_left_out_or_unknown(new):
  assert codes(EXPERIMENT.replace('schedule="train"', new)) == []


def test_packages_beside_the_public_modules_are_not_sought_in_them():
  transform = (
    "import tensorflow as tf\nfrom tensorflow.tools.graph_transforms import TransformGraph\n"
  )
  assert codes(f"{transform}TransformGraph(tf.get_default_graph(), [], [], [])\n") == ["EM902"]
  compat = "from tensorflow.tools.compatibility import ast_edits\n"
  assert compat in replaced(f"import tensorflow as tf\n{compat}tf.layers.dense(ast_edits, 1)\n")


HPARAMS = """
  import tensorflow as tf

  def model_fn(features, labels, mode, params):
    return tf.estimator.EstimatorSpec(mode, loss=tf.layers.dense(features, params.size))

  hparams = tf.contrib.training.HParams({given})
  {more}
  estimator = tf.estimator.Estimator(model_fn, params=hparams)
"""


def test_hyperparameters_that_a_text_overrides_are_those_of_the_runtime():
  text = HPARAMS.format(given="size=3", more="hparams.parse(FLAGS.hparams)")
  result = engine.rewrite(textwrap.dedent(text), "program.py")
  assert "hparams = runtime.contrib.training.HParams(size=3)\n" in result.text
  assert "TODO" not in result.text


def test_hyperparameters_that_are_only_read_are_a_namespace():
  text = HPARAMS.format(given="size=3", more="")
  result = engine.rewrite(textwrap.dedent(text), "program.py")
  assert "hparams = types.SimpleNamespace(size=3)\n" in result.text


def test_hyperparameters_of_a_message_are_refused():
  assert codes(HPARAMS.format(given="hparam_def=MESSAGE", more="")) == ["EM901"]
