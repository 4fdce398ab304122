"""Fixtures of the runtime's tests: the real Estimator's results, computed once."""

import gc
import json
import shutil
import subprocess

import jobs
import pytest
import tensorflow as tf
from interpreter import HERE, legacy_interpreter

# Clearing a session of Keras 3 collects garbage, half a second each time if that looks at all of TensorFlow.
assert tf.keras.backend
gc.collect()
gc.freeze()


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
  python = legacy_interpreter()
  root = tmp_path_factory.mktemp("legacy")
  catalogue = jobs.catalogue(root)
  request, answer = root / "jobs.json", root / "results.json"
  request.write_text(json.dumps(catalogue))
  process = subprocess.run(
    [python, str(HERE / "legacy.py"), str(request), str(answer)],
    stdout=subprocess.PIPE,
    stderr=subprocess.STDOUT,
    text=True,
    check=False,
  )
  assert process.returncode == 0, process.stdout[-5000:]
  return Legacy(root, catalogue, json.loads(answer.read_text()))


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
