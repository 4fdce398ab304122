"""Removed names whose counterparts stand in another place, or are no counterpart of every use."""

import pytest

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
