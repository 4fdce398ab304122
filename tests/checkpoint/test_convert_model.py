"""With a model, the output is what the runtime would load: the same values, on disk."""

import os
import pathlib
import sys
import textwrap

import numpy as np
import pytest
import tensorflow as tf
import written

from migrator import runtime
from migrator.checkpoint import checkpoint_format

v1 = tf.compat.v1
SOURCE = written.FIXTURES / "tf1.15" / "dnn_classifier_adam"
FACTORIES = """
import tensorflow as tf
from migrator import runtime

def network(name="dnn"):
  inputs = tf.keras.Input((4,))
  net = tf.keras.layers.Dense(4, activation="relu", name="hiddenlayer_0")(inputs)
  net = tf.keras.layers.Dense(3, activation="relu", name="hiddenlayer_1")(net)
  return tf.keras.Model(inputs, tf.keras.layers.Dense(3, name="logits")(net), name=name)

def adam():
  return tf.keras.optimizers.Adam(0.01, epsilon=1e-8)

def compiled():
  model = network()
  model.compile(adam(), "mse")
  return model

def pair():
  return network(), adam()

def weights_only():
  return network()

def checkpoint():
  return runtime.named_checkpoint(network(), adam(), scope="dnn", flavour="v1")

def needs_values():
  model = compiled()
  assert float(model(tf.zeros([1, 4]))[0, 0]) < 1e9
  return model

def prints():
  print("from the factory")
  return compiled()

def with_a_new_head():
  model = network()
  outputs = tf.keras.layers.Dense(2, name="head")(model.layers[-1].output)
  return tf.keras.Model(model.input, outputs)

def wide():
  inputs = tf.keras.Input((4,))
  net = tf.keras.layers.Dense(7, name="hiddenlayer_0")(inputs)
  model = tf.keras.Model(inputs, tf.keras.layers.Dense(3, name="logits")(net))
  model.compile(adam(), "mse")
  return model

class Other(tf.keras.Model):
  def __init__(self):
    super().__init__()
    self.logits = tf.keras.layers.Dense(3, name="logits")
  def call(self, x):
    return self.logits(x)

def subclassed():
  model = Other()
  model(tf.zeros([1, 3]))
  return model

def unbuilt():
  return tf.keras.Sequential([tf.keras.layers.Dense(3)])

def nothing():
  pass

def number():
  return 3

def raises():
  return {}["the key"]

def other_optimizer():
  model = network()
  model.compile(tf.keras.optimizers.Adam(0.1), "mse")
  return model, adam()

def unknown_optimizer():
  return network(), tf.keras.optimizers.Nadam()

def table():
  inputs = tf.keras.Input((1,), dtype="int32")
  ids = tf.keras.layers.Embedding(20, 3, name="ids")(inputs)
  return tf.keras.Model(inputs, ids), runtime.optimizers.Adam(0.1)

def transposed():
  inputs = tf.keras.Input((1,), dtype="int32")
  ids = tf.keras.layers.Embedding(3, 20, name="ids")(inputs)
  return tf.keras.Model(inputs, ids), runtime.optimizers.Adam(0.1)

def two_optimizers():
  inputs = tf.keras.Input((4,))
  deep = tf.keras.layers.Dense(2, name="deep")
  wide = tf.keras.layers.Dense(2, name="wide")
  model = tf.keras.Model(inputs, tf.keras.layers.Add()([deep(inputs), wide(inputs)]))
  adagrad, ftrl = runtime.optimizers.Adagrad(0.1), runtime.optimizers.Ftrl(0.1)
  return model, [(adagrad, deep.trainable_variables), (ftrl, wide.trainable_variables)]

def stock_momentum():
  inputs = tf.keras.Input((1,), dtype="int32")
  ids = tf.keras.layers.Embedding(20, 3, name="ids")(inputs)
  return tf.keras.Model(inputs, ids), tf.keras.optimizers.SGD(0.5, momentum=0.9)

VALUE = 3
"""


@pytest.fixture(autouse=True)
def factories(tmp_path, monkeypatch):
  """A module with factories in the current directory."""
  (tmp_path / "work").mkdir()
  monkeypatch.chdir(tmp_path / "work")
  pathlib.Path("my_models.py").write_text(FACTORIES)
  path = list(sys.path)
  yield
  sys.path[:] = path
  for name in [n for n in sys.modules if n.startswith("my_models")]:
    del sys.modules[name]


def make(name):
  """Returns what a factory makes."""
  sys.path.insert(0, os.getcwd())
  import my_models

  return getattr(my_models, name)()


def expected(scope="dnn"):
  """What the runtime loads from the recorded checkpoint."""
  model = make("compiled")
  checkpoint = runtime.named_checkpoint(model, model.optimizer, scope=scope, flavour="v1")
  runtime.load_tf1_checkpoint(checkpoint, str(SOURCE))
  return checkpoint


def assert_equal(one, other):
  assert set(one.by_name) == set(other.by_name)
  for name, variable in one.by_name.items():
    assert written.bits(variable.numpy()) == written.bits(other.by_name[name].numpy()), name


@pytest.mark.parametrize("factory", ["compiled", "pair", "checkpoint", "needs_values"])
@pytest.mark.parametrize("link", ["auto", "copy"])
def test_the_checkpoint_restores_to_what_the_runtime_loads(factory, link, convert, tmp_path):
  options = ["--model", f"my_models:{factory}", "--scope", "dnn", "--link", link]
  report = convert.json(SOURCE, "--out", f"{tmp_path}/tf2/", *options)[0]
  assert convert.code == 0, convert.output
  model = make("compiled")
  restored = runtime.named_checkpoint(model, model.optimizer, scope="dnn", flavour="v1")
  restored.restore(tf.train.latest_checkpoint(str(tmp_path / "tf2")))
  assert_equal(restored, expected())
  assert (report["variables"], report["slots"]) == (6, 12)
  assert not report["unused"]


def test_a_migrated_program_goes_on_from_the_output(convert, tmp_path):
  import shutil

  shutil.copytree(SOURCE, tmp_path / "model_dir")
  options = ["--model", "my_models:compiled", "--scope", "dnn"]
  convert(tmp_path / "model_dir", "--out", f"{tmp_path}/model_dir/tf2/", *options)
  assert convert.code == 0, convert.output
  backup = runtime.BackupAndRestore(
    make("compiled"),
    str(tmp_path / "model_dir"),
    variable_scope="dnn",
    flavour="v1",
    save_checkpoints_steps=100,
  )
  assert backup.latest_checkpoint == str(tmp_path / "model_dir" / "tf2" / "model.ckpt-5")
  assert backup.global_step == 5
  assert_equal(backup.checkpoint, expected())


@pytest.mark.parametrize("name", ["x.keras", "x.weights.h5"])
def test_keras_loads_the_values_with_the_slots(name, convert, tmp_path):
  convert(SOURCE, "--out", tmp_path / name, "--model", "my_models:compiled", "--scope", "dnn")
  assert convert.code == 0, convert.output
  if name.endswith(".keras"):
    model = tf.keras.models.load_model(str(tmp_path / name))
  else:
    model = make("compiled")
    runtime.named_checkpoint(model, model.optimizer)  # Builds the optimizer.
    model.load_weights(str(tmp_path / name))
  loaded = runtime.named_checkpoint(model, model.optimizer, scope="dnn", flavour="v1")
  loaded.by_name["global_step"].assign(5)
  assert_equal(loaded, expected())


def test_what_keras_does_not_save_is_found_when_it_is_read_back(convert, tmp_path, monkeypatch):
  from migrator.checkpoint import keras_formats

  original = keras_formats.save

  def save(model, path, format_):
    model.layers[1].kernel.assign_add(tf.ones([4, 4]) * 1e-7)
    original(model, path, format_)

  monkeypatch.setattr(keras_formats, "save", save)
  options = ["--model", "my_models:compiled", "--scope", "dnn"]
  printed = convert(SOURCE, "--out", tmp_path / "x.keras", *options)
  assert convert.code == 2
  assert "difference in dnn/hiddenlayer_0/kernel" in printed
  assert not (tmp_path / "x.keras").exists()


def test_safetensors_has_the_names_of_the_model(convert, tmp_path):
  options = ["--model", "my_models:compiled", "--scope", "dnn"]
  convert(SOURCE, "--out", tmp_path / "x.safetensors", *options)
  assert convert.code == 0, convert.output
  from test_convert_safetensors import read

  tensors, _ = read(tmp_path / "x.safetensors")
  wanted = expected().by_name
  assert set(tensors) == set(wanted)
  for name, value in tensors.items():
    assert written.bits(value) == written.bits(wanted[name].numpy())


def test_without_an_optimizer_the_slots_are_not_used(convert, tmp_path):
  options = ["--model", "my_models:weights_only", "--scope", "dnn"]
  report = convert.json(SOURCE, "--out", tmp_path / "x", *options)[0]
  assert convert.code == 0, convert.output
  assert (report["variables"], report["slots"], len(report["unused"])) == (6, 0, 12)
  checkpoint = runtime.named_checkpoint(make("weights_only"), None, scope="dnn", flavour="v1")
  checkpoint.restore(str(tmp_path / "x"))
  assert int(checkpoint.by_name["global_step"]) == 5


def test_the_variables_of_a_factory_are_not_allocated(convert, tmp_path):
  # A table of 40 GB could not be.
  pathlib.Path("my_models_big.py").write_text(
    textwrap.dedent(
      """
      import tensorflow as tf
      def big():
        inputs = tf.keras.Input((1,), dtype="int32")
        ids = tf.keras.layers.Embedding(10**9, 10, name="ids")(inputs)
        return tf.keras.Model(inputs, ids), tf.keras.optimizers.Adam(0.1)
      """
    )
  )
  prefix = written.save(tmp_path / "old", written.table())
  printed = convert(prefix, "--out", tmp_path / "x", "--model", "my_models_big:big")
  assert convert.code == 2
  assert "ids/embeddings" in printed


def test_parts_and_renamed_tables_arrive_with_their_slots(convert, tmp_path):
  prefix = written.save(tmp_path / "old", written.table(parts=3))
  pathlib.Path("map.toml").write_text(
    '[variables]\n"ids/embeddings" = "ids/embedding_weights"\n', encoding="utf-8"
  )
  options = ["--model", "my_models:table", "--map", "map.toml"]
  report = convert.json(prefix, "--out", tmp_path / "x", *options)[0]
  assert convert.code == 0, convert.output
  assert report["way"] == "linked"
  checkpoint = runtime.named_checkpoint(*make("table"), flavour="v1")
  checkpoint.restore(str(tmp_path / "x"))
  for ours, theirs in (("", [""]), ("/Adam", ["/t_0/Adam", "/t_1/Adam", "/t_2/Adam"])):
    wanted = written.value(prefix, ["ids/embedding_weights" + end for end in theirs])
    assert written.bits(checkpoint.by_name["ids/embeddings" + ours].numpy()) == written.bits(wanted)
  assert int(checkpoint.by_name["iterations"]) == 1
  assert int(checkpoint.by_name["global_step"]) == 7


@pytest.mark.parametrize("group", [1, 200, 1 << 20])
def test_a_value_that_changes_is_written_anew_and_the_rest_is_linked(
  group, convert, tmp_path, monkeypatch
):
  monkeypatch.setattr(checkpoint_format, "GROUP", group)
  prefix = written.save(tmp_path / "old", written.table(parts=3))
  pathlib.Path("map.toml").write_text(
    '[variables]\n"ids/embeddings" = {from = "ids/embedding_weights", transpose = [1, 0]}\n',
    encoding="utf-8",
  )
  options = ["--model", "my_models:transposed", "--map", "map.toml"]
  report = convert.json(prefix, "--out", tmp_path / "x", *options)[0]
  assert convert.code == 0, convert.output
  assert set(report["changed"]) == {
    "ids/embeddings",
    "ids/embeddings/Adam",
    "ids/embeddings/Adam_1",
  }
  assert report["verified"]["compared"] >= 3 * 20 * 3 * 4
  checkpoint = runtime.named_checkpoint(*make("transposed"), flavour="v1")
  checkpoint.restore(str(tmp_path / "x"))
  for ours, theirs in (("", [""]), ("/Adam_1", ["/t_0/Adam_1", "/t_1/Adam_1", "/t_2/Adam_1"])):
    wanted = written.value(prefix, ["ids/embedding_weights" + end for end in theirs]).T
    found = checkpoint.by_name["ids/embeddings" + ours].numpy()
    assert written.bits(found) == written.bits(np.ascontiguousarray(wanted))


def test_the_velocity_of_the_stock_sgd_has_the_learning_rate_inside(convert, tmp_path):
  momentum = v1.train.MomentumOptimizer(0.5, 0.9)
  prefix = written.save(
    tmp_path / "old", written.table(optimizer=momentum, name="ids/embeddings", scope="")
  )
  convert(prefix, "--out", tmp_path / "x", "--model", "my_models:stock_momentum")
  assert convert.code == 0, convert.output
  checkpoint = runtime.named_checkpoint(*make("stock_momentum"), flavour="v1")
  checkpoint.restore(str(tmp_path / "x"))
  (name,) = (n for n in checkpoint.by_name if n.startswith("ids/embeddings/"))
  wanted = np.float32(-0.5) * written.value(prefix, ["ids/embeddings/Momentum"])
  assert written.bits(checkpoint.by_name[name].numpy()) == written.bits(wanted)


def test_what_may_be_missing_keeps_the_value_of_the_factory(convert, tmp_path):
  options = ["--model", "my_models:with_a_new_head", "--scope", "dnn"]
  printed = convert(SOURCE, "--out", tmp_path / "x", *options)
  assert convert.code == 2
  assert "dnn/head/kernel: not in the checkpoint" in printed
  printed = convert(SOURCE, "--out", tmp_path / "x", "--dry-run", *options)
  assert convert.code == 1
  assert "MISSING in the checkpoint: 2" in printed
  assert not list(tmp_path.glob("x*"))
  options += ["--allow-missing", "dnn/head/*"]
  printed = convert(SOURCE, "--out", tmp_path / "x", *options)
  assert convert.code == 0, printed
  assert "initial value of the factory" in printed
  checkpoint = runtime.named_checkpoint(make("with_a_new_head"), None, scope="dnn", flavour="v1")
  checkpoint.restore(str(tmp_path / "x"))
  assert np.abs(checkpoint.by_name["dnn/head/kernel"].numpy()).max() > 0


def test_the_output_of_the_factory_does_not_spoil_the_report(convert, tmp_path):
  options = ["--model", "my_models:prints", "--scope", "dnn"]
  (report,) = convert.json(SOURCE, "--out", tmp_path / "x", *options)
  assert report["error"] is None
  assert set(report["seconds"]) >= {"import tensorflow", "factory", "write", "read back"}


FAULTS = {
  "my_models:unbuilt": "is not built",
  "my_models:nothing": "returned nothing",
  "my_models:number": "type int",
  "my_models:VALUE": "no function",
  "my_models:raises": "KeyError: 'the key'",
  "my_models:absent": "no attribute absent. It has ",
  "my_models": "pkg.module:factory",
  "absent_module:f": "there is no module absent_module",
  "my_models.sub:f": "there is no module my_models.sub",
  "my_broken:f": "my_broken.py:1: ZeroDivisionError",
  "my_syntax:f": "my_syntax.py:1: SyntaxError",
  "my_imports:f": "absent_package",
  "my_models:unknown_optimizer": "Nadam",
}


@pytest.mark.parametrize("spec", FAULTS)
@pytest.mark.parametrize("name", ["x", "x.keras"])
def test_a_factory_that_cannot_be_used_is_one_clear_error(spec, name, convert, tmp_path):
  pathlib.Path("my_broken.py").write_text("1 / 0\n")
  pathlib.Path("my_syntax.py").write_text("def f(:\n")
  pathlib.Path("my_imports.py").write_text("import absent_package\n")
  printed = convert(SOURCE, "--out", tmp_path / name, "--model", spec)
  assert convert.code == 2
  assert FAULTS[spec] in printed
  assert "Traceback" not in printed
  assert not list(tmp_path.glob("x*"))


def test_the_place_of_the_error_in_the_factory_is_named_and_shown_on_demand(convert, tmp_path):
  line = FACTORIES.splitlines().index('  return {}["the key"]') + 1
  options = [SOURCE, "--out", tmp_path / "x", "--model", "my_models:raises"]
  assert f"my_models.py:{line}: " in convert(*options)
  assert "Traceback" in convert(*options, "--traceback")


def test_all_that_does_not_fit_is_said_at_once(convert, tmp_path):
  options = ["--model", "my_models:wide", "--scope", "dnn"]
  printed = convert(SOURCE, "--out", tmp_path / "x", *options)
  assert convert.code == 2
  for text in (
    "dnn/hiddenlayer_0/kernel: [4, 4]",
    "[4, 7] in the model",
    "dnn/logits/kernel: [3, 3]",
  ):
    assert text in printed
  assert not list(tmp_path.glob("x*"))


def test_an_optimizer_that_keras_does_not_save_is_refused(convert, tmp_path):
  options = ["--model", "my_models:other_optimizer", "--scope", "dnn"]
  printed = convert(SOURCE, "--out", tmp_path / "x.keras", *options)
  assert convert.code == 2
  assert "compiled with" in printed
  convert(SOURCE, "--out", tmp_path / "x", *options)
  assert convert.code == 0


def test_a_checkpoint_is_no_model_that_keras_could_save(convert, tmp_path):
  options = ["--model", "my_models:checkpoint"]
  printed = convert(SOURCE, "--out", tmp_path / "x.keras", *options)
  assert convert.code == 2
  assert "let the factory return it" in printed


def test_a_subclassed_model_is_converted(convert, tmp_path):
  options = ["--model", "my_models:subclassed", "--scope", "dnn"]
  convert(SOURCE, "--out", tmp_path / "x", *options)
  assert convert.code == 0, convert.output
  convert(SOURCE, "--out", tmp_path / "x.keras", *options)
  assert convert.code == 0, convert.output


def test_several_optimizers_take_their_own_slots(convert, tmp_path):
  def build():
    updates = []
    for name, optimizer in (("deep", v1.train.AdagradOptimizer), ("wide", v1.train.FtrlOptimizer)):
      weights = [v1.get_variable(f"{name}/kernel", [4, 2]), v1.get_variable(f"{name}/bias", [2])]
      loss = tf.add_n([tf.reduce_sum(weight**2) for weight in weights])
      updates.append(optimizer(0.1).minimize(loss, var_list=weights))
    return updates

  prefix = written.save(tmp_path / "old", build)
  convert(prefix, "--model", "my_models:two_optimizers", "--out", "new/out")
  assert convert.code == 0
  checkpoint = runtime.named_checkpoint(*make("two_optimizers"), flavour="v1")
  checkpoint.restore("new/out")
  reader = tf.train.load_checkpoint(prefix)
  for layer, slots in (("deep", ["Adagrad"]), ("wide", ["Ftrl", "Ftrl_1"])):
    for weight in ("kernel", "bias"):
      for name in (f"{layer}/{weight}", *(f"{layer}/{weight}/{slot}" for slot in slots)):
        np.testing.assert_array_equal(
          checkpoint.by_name[name].numpy(), reader.get_tensor(name), err_msg=name
        )
