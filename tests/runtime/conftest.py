"""Fixtures of the runtime's tests: the real Estimator's results, computed once."""

import gc
import json
import os
import shutil

import jobs
import pytest
import tensorflow as tf
from interpreter import HERE, SHARED, run_legacy

# Clearing a session of Keras 3 collects garbage, half a second each time if that looks at all of TensorFlow.
assert tf.keras.backend
gc.collect()
gc.freeze()


def pytest_collection_modifyitems(items):
  """Two versions of TensorFlow that share results begin at either end, so that none waits for the other."""
  if os.environ.get(SHARED) and not tf.__version__.startswith("2.15."):
    files = dict.fromkeys(item.path for item in items)
    order = {path: -number for number, path in enumerate(files)}
    items.sort(key=lambda item: order[item.path])


class Legacy:
  """What the real Estimator did in each job of the catalogue."""

  def __init__(self, root, catalogue, results):
    self._root = root
    self._catalogue = catalogue
    self._results = results

  def job(self, name, model_dir):
    """Returns the job, to be done again in another directory."""
    return {**self._catalogue[name], "model_dir": str(model_dir)}

  def results(self, name):
    """Returns the results of the calls of a job."""
    return self._results[name]

  def directory(self, name):
    """Returns the model directory as the Estimator left it; not to be changed."""
    return self._root / name

  def copy(self, name, target, step=None):
    """Copies the model directory; with a step, only that checkpoint, which becomes the newest."""
    source = self.directory(name)
    if step is None:
      shutil.copytree(source, target)
      return target
    target.mkdir()
    for path in source.glob(f"model.ckpt-{step}.*"):
      shutil.copy(path, target)
    (target / "checkpoint").write_text(f'model_checkpoint_path: "model.ckpt-{step}"\n')
    return target


@pytest.fixture(scope="session")
def legacy(tmp_path_factory):
  """The results of the real Estimator, all from one process."""

  def command(root):
    (root / "jobs.json").write_text(json.dumps(jobs.catalogue(root)))
    return [HERE / "legacy.py", root / "jobs.json", root / "results.json"]

  root = run_legacy(tmp_path_factory, "legacy", command)
  catalogue, results = (json.loads((root / f"{n}.json").read_text()) for n in ("jobs", "results"))
  return Legacy(root, catalogue, results)


@pytest.fixture(scope="module")
def graphs_as_they_are():
  """Optimizing many graphs takes longer than running them; it rounds batch normalization differently."""
  before = tf.config.optimizer.get_experimental_options().get("disable_meta_optimizer", False)
  tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
  yield
  tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": before})


@pytest.fixture(autouse=True)
def _clean_process():
  """Keeps the event writers and the graphs of one test from the next."""
  yield
  tf.compat.v1.summary.FileWriterCache.clear()
  tf.keras.backend.clear_session()
