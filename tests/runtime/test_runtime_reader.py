"""What is read from name-based checkpoints that no canned default has."""

import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime
from migrator.runtime.slots import ADAGRAD, ADAM
from migrator.runtime.tf1_reader import Tf1Checkpoint


def write(path, values):
  """Writes a name-based checkpoint: name -> value."""
  with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    variables = {name: tf.compat.v1.Variable(value, name=name) for name, value in values.items()}
    session.run(tf.compat.v1.global_variables_initializer())
    return tf.compat.v1.train.Saver(variables).save(
      session, str(path / "model.ckpt"), global_step=1
    )


@pytest.mark.parametrize("updates", [0, 1, 10, 500, 2000, 50000])
def test_adams_count_follows_from_the_powers_of_beta(tmp_path, updates):
  """The global step of a program is not always the number of its updates."""
  powers = {
    f"beta{i}_power": np.multiply.accumulate(np.full(updates + 1, beta, np.float32))[-1]
    for i, beta in ((1, 0.9), (2, 0.999))
  }
  prefix = write(tmp_path, {"global_step": np.int64(2 * updates + 1), **powers})
  assert Tf1Checkpoint(prefix).adam_updates(0.9, 0.999) == pytest.approx(updates, rel=1e-3)
  if updates < 1000:
    assert Tf1Checkpoint(prefix).adam_updates(0.9, 0.999) == updates


def test_without_the_powers_it_is_the_global_step(tmp_path):
  prefix = write(tmp_path, {"global_step": np.int64(12)})
  assert Tf1Checkpoint(prefix).adam_updates(0.9, 0.999) == 12


def test_several_adams_that_differ_are_refused(tmp_path):
  powers = {"beta1_power": 0.9**3, "beta2_power": 0.999**3}
  powers |= {"beta1_power_1": 0.9**6, "beta2_power_1": 0.999**6}
  values = {name: np.float32(power) for name, power in powers.items()}
  prefix = write(tmp_path, {"global_step": np.int64(1), **values})
  with pytest.raises(
    runtime.CheckpointError, match="several Adam optimizers, which have made 2 and 5 updates"
  ):
    Tf1Checkpoint(prefix).adam_updates(0.9, 0.999)


@pytest.mark.parametrize("parts", [1, 2, 12])
def test_slots_of_partitioned_variables_are_joined(tmp_path, parts):
  """Case 33: the infix is an accident; from ten parts on it is not even a number."""
  v1 = tf.compat.v1
  value = np.arange(48, dtype=np.float32).reshape(24, 2)
  with tf.Graph().as_default(), v1.Session() as session:
    partitioner = v1.fixed_size_partitioner(parts)
    # The slots get an infix where the optimizer runs within a scope, as the canned ones do.
    with v1.variable_scope("dnn", partitioner=partitioner):
      table = v1.get_variable("table", [24, 2], initializer=tf.compat.v1.ones_initializer())
      loss = tf.reduce_sum(tf.square(table) * value)
      step = v1.train.get_or_create_global_step()
      update = v1.train.AdagradOptimizer(0.1).minimize(loss, global_step=step)
    session.run(v1.global_variables_initializer())
    session.run(update)
    prefix = v1.train.Saver().save(session, str(tmp_path / "model.ckpt"), global_step=1)
  source = Tf1Checkpoint(prefix)
  keys = source.slot_keys(("dnn/table",), ADAGRAD.slots[0])["dnn/table"]
  assert len(keys) == parts
  np.testing.assert_allclose(source.read(keys), 0.1 + np.square(2 * value))


def test_a_slot_in_a_scope_of_its_own_is_found(tmp_path):
  names = [
    "m/emb",
    "train/m/emb/Adam",
    "train/m/emb/Adam_1",
    "m/emb2",
    "m/emb2/Adam",
    "m/emb2/Adam_1",
  ]
  values = {name: np.float32(i) for i, name in enumerate(names)}
  source = Tf1Checkpoint(write(tmp_path, {"global_step": np.int64(1), **values}))
  keys = source.slot_keys(("m/emb", "m/emb2"), ADAM.slots[1])
  assert keys == {"m/emb": ["train/m/emb/Adam_1"], "m/emb2": ["m/emb2/Adam_1"]}
