"""What callbacks read of a training: the global step, and the values of a step by name."""

import collections

import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime


def make_model():
  model = tf.keras.Sequential(
    [tf.keras.layers.Input((2,)), tf.keras.layers.Dense(3, name="logits")]
  )
  loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")
  model.compile(tf.keras.optimizers.SGD(0.01), loss, weighted_metrics=["accuracy"])
  return model


def make_dataset(steps):
  features = np.arange(4 * steps, dtype=np.float32).reshape(2 * steps, 2)
  return tf.data.Dataset.from_tensor_slices((features, np.arange(2 * steps) % 3)).batch(2)


class Seen(tf.keras.callbacks.Callback):
  """Remembers the loss and the step of each batch."""

  def __init__(self):
    super().__init__()
    self.seen = []

  def on_train_batch_end(self, batch, logs=None):
    self.seen.append((runtime.global_step(self.model), logs["loss"]))


def test_callback_reads_the_global_step_of_a_resumed_training(tmp_path):
  """Case 08: `batch` begins at 0 in each fit, the global step does not."""
  steps = []
  for _ in range(2):
    model, seen = make_model(), Seen()
    backup = runtime.BackupAndRestore(model, str(tmp_path), save_checkpoints_steps=5)
    model.fit(make_dataset(5), callbacks=[backup, seen], verbose=0)
    steps += [step for step, _ in seen.seen]
  assert steps == list(range(1, 11))


def test_loss_is_float32_as_a_hook_fetched_it(tmp_path):
  model, seen = make_model(), Seen()
  backup = runtime.BackupAndRestore(model, str(tmp_path))
  model.fit(make_dataset(3), callbacks=[backup, seen], verbose=0)
  assert {type(loss) for _, loss in seen.seen} == {np.float32}


def test_callbacks_of_a_loop_get_the_loss_as_float32_too(tmp_path):
  model, seen = make_model(), Seen()
  checkpoint = runtime.named_checkpoint(model, model.optimizer)
  summaries = runtime.SummarySaver(str(tmp_path), checkpoint.by_name["global_step"])
  callbacks = tf.keras.callbacks.CallbackList([summaries, seen], model=model)
  callbacks.on_train_begin()
  callbacks.on_train_batch_end(0, {"loss": np.float32(0.1)})
  assert [(loss, type(loss)) for _, loss in seen.seen] == [(np.float32(0.1), np.float32)]


def test_global_step_divides_and_has_a_dtype_as_in_a_session():
  model = make_model()
  runtime.named_checkpoint(model, model.optimizer)
  step = runtime.global_step(model)
  assert step.dtype == np.int64
  with np.errstate(divide="ignore"):
    assert 3.0 / step == np.inf


def test_global_step_of_a_model_without_a_checkpoint_is_the_optimizers():
  model = make_model()
  model.fit(make_dataset(3), verbose=0)
  assert runtime.global_step(model) == 3


def test_global_step_of_a_model_that_nothing_counts_is_an_error():
  model = tf.keras.Sequential([tf.keras.layers.Input((2,)), tf.keras.layers.Dense(3)])
  with pytest.raises(ValueError, match="Nothing counts the steps"):
    runtime.global_step(model)


Pair = collections.namedtuple("Pair", ["loss", "step"])


@pytest.mark.parametrize(
  ("fetches", "expected"),
  [
    ("loss", 2.5),
    ("loss:0", 2.5),
    ("global_step", np.int64(7)),
    (["loss", "global_step:0"], [2.5, 7]),
    (("loss",), (2.5,)),
    ({"a": {"b": "loss"}}, {"a": {"b": 2.5}}),
    (Pair("loss", "global_step"), Pair(2.5, 7)),
    (lambda: 3, 3),
    (None, None),
    ([], []),
  ],
)
def test_fetch_keeps_the_structure(fetches, expected):
  model = make_model()
  checkpoint = runtime.named_checkpoint(model, model.optimizer)
  checkpoint.by_name["global_step"].assign(7)
  found = runtime.fetch(fetches, model, {"loss": 2.5})
  assert found == expected
  assert type(found) is type(expected)


def test_fetched_step_can_be_the_one_before_this_step():
  model = make_model()
  checkpoint = runtime.named_checkpoint(model, model.optimizer)
  checkpoint.by_name["global_step"].assign(7)
  assert runtime.fetch(["global_step"], model, None, before_step=True) == [6]


def test_fetch_reads_variables():
  model = make_model()
  kernel, bias = runtime.fetch(list(model.trainable_variables), model, None)
  assert kernel.shape == (2, 3)
  assert (bias == 0).all()


def test_value_that_the_step_does_not_give_is_named_with_those_that_it_gives():
  with pytest.raises(KeyError, match=r"'rate:0' is no value of this step: .*'global_step', 'loss'"):
    runtime.fetch("rate:0", make_model(), {"loss": 1.0})


def test_tensor_of_a_graph_is_no_fetch():
  with tf.Graph().as_default():
    tensor = tf.constant(1)
  with pytest.raises(TypeError, match="cannot be fetched"):
    runtime.fetch(tensor, make_model(), {})
