"""Every dialect against what the graph knew: recordings of TensorFlow 1.15, read without it."""

import collections
import json

import pytest

from migrator.runtime import bundle, bundle_writer, dialects, state
from migrator.runtime.bundle import Entry
from migrator.runtime.errors import CheckpointError


def described(directory):
  prefix = state.resolve(str(directory))
  index = bundle.read_index(prefix)
  return dialects.describe(prefix, index), index


def fictitious(tmp_path, shapes, dtypes=()):
  """Describes a checkpoint of which there is only an index: name -> shape; float32 if not in dtypes."""
  kinds = dict(dtypes)
  entries = {
    name: Entry(kinds.get(name, "float32"), shape, size=4) for name, shape in shapes.items()
  }
  prefix = str(tmp_path / "model.ckpt-1")
  bundle_writer.write_index(prefix, 1, entries, {})
  return dialects.describe(prefix, bundle.read_index(prefix))


def numbered_names(contents, truth):
  """Returns the number of each optimizer in the truth -> its name in the contents."""
  left = list(contents.optimizers.values())
  names = {}
  for number, kind in sorted(truth["kinds"].items()):
    variables = {
      v for v, slots in truth["slots"].items() if any(k.startswith(number) for k in slots)
    }
    found = next(o for o in left if o.kind == kind and set(o.variables) == variables)
    left.remove(found)
    names[number] = found.name
  assert not left
  return names


def pytest_generate_tests(metafunc):
  if "recording" in metafunc.fixturenames:
    root = metafunc.config.rootpath / "fixtures/checkpoints/tf1.15/dialects"
    directories = sorted(root.iterdir())
    metafunc.parametrize("recording", directories, ids=[d.name for d in directories])


def test_every_key_is_accounted_for_once(recording):
  contents, index = described(recording)
  assert collections.Counter(contents.accounted()) == collections.Counter(list(index.entries))
  assert contents.unknown == ()


def test_slots_averages_and_step_are_those_of_the_graph(recording):
  truth = json.loads((recording / "truth.json").read_text())
  contents, _ = described(recording)
  names = numbered_names(contents, truth)
  expected = {}
  for variable, slots in truth["slots"].items():
    for role, keys in slots.items():
      number, suffix = role.split("/", 1)
      expected[variable, names[number], suffix] = tuple(keys)
  found = {
    (variable.name, name, role): variable.slots[written]
    for variable in contents.variables.values()
    for name in variable.optimizers
    for role, written in contents.optimizers[name].roles.items()
  }
  assert found == expected
  for (variable, name, suffix), keys in expected.items():
    assert contents.slot_keys(variable, suffix, name) == keys
  averages = {v.name: v.ema for v in contents.variables.values() if v.ema}
  assert averages == truth["averages"]
  assert contents.step == truth["step"]


def test_the_updates_of_each_adam_are_those_it_made(recording):
  truth = json.loads((recording / "truth.json").read_text())
  contents, _ = described(recording)
  names = numbered_names(contents, truth)
  for number, updates in truth["updates"].items():
    assert dialects.adam_updates(contents, names[number], 0.9, 0.999) == updates
    with pytest.raises(CheckpointError, match="other decay rates"):
      dialects.adam_updates(contents, names[number], 0.8, 0.999)


def test_two_adams_with_different_counts_are_not_mixed_up(repository):
  contents, _ = described(repository / "fixtures/checkpoints/tf1.15/dialects/two_adams")
  with pytest.raises(CheckpointError, match="which have made 2 and 3 updates"):
    dialects.adam_updates(contents, None, 0.9, 0.999)


def test_berts_step_and_its_slots_are_recognised(repository):
  contents, _ = described(repository / "fixtures/checkpoints/tf1.15/dialects/bert")
  (optimizer,) = contents.optimizers.values()
  assert optimizer.kind == "AdamWeightDecay"
  assert optimizer.roles == {"adam_m": "adam_m", "adam_v": "adam_v"}


def test_a_variable_that_is_called_like_a_slot_stays_a_variable(tmp_path):
  contents = fictitious(tmp_path, {"x/Momentum": (2,), "y/Adam_1": (2,), "y": (2,), "y/Adam": (2,)})
  assert set(contents.variables) == {"x/Momentum", "y"}


def test_layers_below_a_layer_are_no_slots(tmp_path):
  shapes = {"a": (3, 3), "a/gate": (3, 3), "a/gate/w": (4,), "b": (2,), "b/gate": (5,)}
  assert set(fictitious(tmp_path, shapes).variables) == set(shapes)


def test_a_target_network_is_no_slot(tmp_path):
  shapes = {"net/fc/w": (3, 3), "target/net/fc/w": (3, 3), "old/fc/w": (3, 3)}
  contents = fictitious(tmp_path, shapes)
  assert set(contents.variables) == set(shapes)
  assert contents.optimizers == {}


def test_helpers_of_an_average_are_no_slots(tmp_path):
  shapes = {"bn/moving_mean": (3,), "bn/moving_mean/biased": (3,), "bn/moving_mean/local_step": ()}
  contents = fictitious(tmp_path, shapes)
  assert set(contents.variables) == set(shapes)


def test_slots_of_the_longest_name_are_not_given_to_a_shorter_one(tmp_path):
  shapes = {"emb": (3,), "m/emb": (3,), "m/emb/Adagrad": (3,), "train/m/emb/Momentum": (3,)}
  contents = fictitious(tmp_path, shapes)
  assert contents.variables["m/emb"].slots == {
    "Adagrad": ("m/emb/Adagrad",),
    "Momentum": ("train/m/emb/Momentum",),
  }
  assert contents.variables["emb"].slots == {}


def test_an_optimizer_that_the_names_do_not_tell_is_said_to_be_unknown(tmp_path):
  contents = fictitious(tmp_path, {"w": (3,), "w/Mine": (3,)})
  (optimizer,) = contents.optimizers.values()
  assert optimizer.kind == "unknown"
  assert contents.notes == (
    "The names do not tell which optimizer Mine is: it has 1 slot for each variable.",
  )


def test_v2_slots_and_scalars_are_told_from_variables(tmp_path):
  shapes = {"dnn/kernel": (3, 2), "linear/w": (4, 1), "training/Ftrl/iter": ()}
  shapes |= {
    "training/Adagrad/dnn/kernel/accumulator": (3, 2),
    "training/Adagrad/learning_rate": (),
  }
  shapes |= {f"training/Ftrl/linear/w/{slot}": (4, 1) for slot in ("accumulator", "linear")}
  contents = fictitious(tmp_path, shapes, {"training/Ftrl/iter": "int64"})
  assert contents.dialect_id == "v2"
  assert set(contents.variables) == {"dnn/kernel", "linear/w"}
  assert {o.name: (o.kind, o.roles) for o in contents.optimizers.values()} == {
    "training/Adagrad": ("Adagrad", {"Adagrad": "accumulator"}),
    "training/Ftrl": ("Ftrl", {"Ftrl": "accumulator", "Ftrl_1": "linear"}),
  }


def test_our_own_checkpoints_are_read_by_the_same_names(repository):
  root = repository / "fixtures/checkpoints"
  old, _ = described(root / "tf1.15/dnn_classifier_adam")
  for version in ("tf2.15", "tf2.21"):
    new, index = described(root / version / "dnn_classifier_adam/tf2")
    assert new.dialect_id == "migrator"
    assert set(new.variables) == set(old.variables)
    assert new.step == 7
    assert collections.Counter(new.accounted()) == collections.Counter(list(index.entries))
    for name in new.variables:
      assert set(new.variables[name].slots) == {"Adam", "Adam_1"}


@pytest.mark.parametrize("ours", [True, False])
def test_counts_and_rates_of_several_optimizers_are_no_variables_of_our_own_checkpoints(
  tmp_path, ours
):
  shapes = {"dnn/kernel": (4, 3), "iterations": (), "iterations_1": (), "learning_rate_1": ()}
  names = {f"{name}{dialects.VALUE}": shape for name, shape in shapes.items()}
  names[dialects.OBJECT_GRAPH] = ()
  if ours:
    names[dialects.STAMP + dialects.VALUE] = ()
  contents = fictitious(tmp_path, names, {n: "int64" for n in names if n.startswith("iterations")})
  assert contents.dialect_id == ("migrator" if ours else "object")
  of_others = set() if ours else {"iterations_1", "learning_rate_1"}
  assert set(contents.variables) == {"dnn/kernel", *of_others}


def test_without_the_data_files_the_index_alone_is_described(repository, tmp_path):
  source = repository / "fixtures/checkpoints/tf1.15/dialects/adam"
  (tmp_path / "model.ckpt-3.index").write_bytes((source / "model.ckpt-3.index").read_bytes())
  prefix = str(tmp_path / "model.ckpt-3")
  contents = dialects.describe(prefix, bundle.read_index(prefix))
  assert set(contents.variables) == {"m/emb", "m/bias"}
  assert contents.step is None
  assert contents.counters["beta1_power"] is None
