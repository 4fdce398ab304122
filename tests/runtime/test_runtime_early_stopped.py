"""Checkpoints of trainings with an early stopping hook, which has a variable of its own in them."""

import numpy as np
import pytest
import tensorflow as tf
from migrated import make_network, make_optimizer

from migrator import runtime


def save_again(prefix, name, value):
  """Writes a checkpoint anew, with one more variable."""
  reader = tf.train.load_checkpoint(prefix)
  tensors = {key: reader.get_tensor(key) for key in reader.get_variable_to_shape_map()}
  tensors[name] = np.array(value)
  names, values = zip(*sorted(tensors.items()))
  tf.raw_ops.SaveV2(
    prefix=prefix,
    tensor_names=list(names),
    shape_and_slices=[""] * len(names),
    tensors=list(values),
  )


@pytest.mark.parametrize("name", ["v1_adam", "v2_adam"])
@pytest.mark.parametrize("arguments", [{}, {"name_map": "auto", "allow_unused": False}])
def test_the_variable_of_an_early_stopping_hook_is_no_obstacle(legacy, tmp_path, name, arguments):
  prefix = str(legacy.copy(name, tmp_path / "model", step=30) / "model.ckpt-30")
  job = legacy.job(name, "")

  def load():
    model = make_network(job)
    checkpoint = runtime.named_checkpoint(
      model, make_optimizer(job), scope="dnn", flavour=job["flavour"]
    )
    report = runtime.load_tf1_checkpoint(checkpoint, prefix, **arguments)
    return report.step, [v.numpy() for v in checkpoint.by_name.values()]

  step, expected = load()
  save_again(prefix, "signal_early_stopping/STOP", True)
  again, found = load()
  assert again == step == 30
  for a, b in zip(expected, found):
    np.testing.assert_array_equal(a, b)
  save_again(prefix, "signal/STOP", True)
  with pytest.raises(runtime.CheckpointError, match="signal/STOP"):
    load()
