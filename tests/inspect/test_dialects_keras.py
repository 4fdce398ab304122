"""Keras's names, of which the programs are too old or too rare to be run: measured once, told by an index."""

import collections

import pytest

from migrator.runtime import bundle, bundle_writer, dialects
from migrator.runtime.bundle import Entry

WHOLE = (5, 2)


def described(tmp_path, shapes, integers=(), slices=()):
  """Describes a checkpoint of which there is only an index: name -> shape."""
  entries, parts = {}, {}
  for name, shape in shapes.items():
    entries[name] = Entry("int64" if name in integers else "float32", shape, size=8)
  for name, bounds in dict(slices).items():
    entries[name] = Entry("float32", shapes[name], slices=bounds)
    parts[name] = [(one, Entry("float32", tuple(n for _, n in one), size=8)) for one in bounds]
  prefix = str(tmp_path / "model.ckpt-1")
  bundle_writer.write_index(prefix, 1, entries, parts)
  index = bundle.read_index(prefix)
  contents = dialects.describe(prefix, index)
  assert collections.Counter(contents.accounted()) == collections.Counter(list(index.entries))
  return contents


def test_the_scalars_of_the_oldest_keras_are_counters(tmp_path):
  scalars = [f"training/SGD/{name}" for name in ("iterations", "lr", "decay", "momentum")]
  contents = described(
    tmp_path, {"dense/kernel": (2, 3), **dict.fromkeys(scalars, ())}, ["training/SGD/iterations"]
  )
  assert set(contents.counters) == set(scalars)
  assert set(contents.variables) == {"dense/kernel"}
  (optimizer,) = contents.optimizers.values()
  assert set(optimizer.hyperparameters) == {"iter", "learning_rate", "decay", "momentum"}


def test_a_count_without_a_rate_is_no_optimizer(tmp_path):
  shapes = {"w": (2,), "reader/iter": (), "reader/size": ()}
  contents = described(tmp_path, shapes, ["reader/iter"])
  assert contents.optimizers == {}
  assert contents.dialect_id == "v1"
  assert set(contents.variables) == {"w", "reader/size"}


def test_a_rate_and_a_count_alone_make_no_slots(tmp_path):
  """Without them, what looks like a newer slot is a layer: a copy of a network below a scope `m`."""
  shapes = {"net/w": (2, 3), "old/m/net/w": (2, 3)}
  assert set(described(tmp_path, shapes).variables) == set(shapes)
  shapes |= {"iteration": (), "learning_rate": ()}
  contents = described(tmp_path, shapes, ["iteration"])
  assert contents.variables["net/w"].slots == {"m": ("old/m/net/w",)}


def test_the_means_of_adafactor_are_slots(tmp_path):
  shapes = {"m/w": (4, 3), "Adafactor/r/m/w": (4,), "Adafactor/c/m/w": (3,)}
  shapes |= {"Adafactor/v/m/w": (4, 3), "iteration": (), "learning_rate": ()}
  contents = described(tmp_path, shapes, ["iteration"])
  assert set(contents.variables["m/w"].slots) == {"r", "c", "v"}
  assert contents.optimizers["Adafactor"].kind == "unknown"


@pytest.mark.parametrize("key", ["Adam/m/emb/part_{}/m", "Adam/m/m/emb/part_{}"])
def test_slots_of_single_parts_stay_variables_and_are_never_joined_by_chance(tmp_path, key):
  shapes = {"m/emb": WHOLE, key.format(0): (3, 2), key.format(1): (2, 2)}
  shapes |= {"iteration": (), "learning_rate": ()}
  bounds = (((0, 3), (0, 2)), ((3, 2), (0, 2)))
  contents = described(tmp_path, shapes, ["iteration"], {"m/emb": bounds})
  assert contents.variables["m/emb"].slots == {}
  assert {key.format(0), key.format(1)} <= set(contents.variables)


@pytest.mark.parametrize("key", ["Adam/m/emb/part_0/m", "Adam/m/m/emb/part_0"])
def test_the_slot_of_the_only_part_is_that_of_the_variable(tmp_path, key):
  shapes = {"m/emb": WHOLE, key: WHOLE, "iteration": (), "learning_rate": ()}
  contents = described(tmp_path, shapes, ["iteration"], {"m/emb": (((0, 5), (0, 2)),)})
  assert contents.variables["m/emb"].slots == {"m": (key,)}


@pytest.mark.parametrize(
  "name", ["MyEMA", "ema", "model_ema", "MovingAverage", "moving_avg", "shadow"]
)
def test_a_slot_that_is_called_an_average_is_one(tmp_path, name):
  contents = described(tmp_path, {"w": (2, 3), f"w/{name}": (2, 3)})
  assert contents.variables["w"].ema == f"w/{name}"
  assert contents.notes == (f"{name} is taken for a moving average by its name.",)


@pytest.mark.parametrize("name", ["Schema", "cinema", "Mean"])
def test_a_name_that_only_ends_so_is_no_average(tmp_path, name):
  assert described(tmp_path, {"w": (2, 3), f"w/{name}": (2, 3)}).variables["w"].ema is None
