"""What a map is suggested from: names first, then shapes, and never a choice between two."""

import pytest

from migrator.runtime.contents import Contents, Variable
from migrator.runtime.name_map import NameMap
from migrator.runtime.suggest import Target, suggest


def contents(shapes):
  variables = {n: Variable(n, "float32", tuple(s), 0, (n,)) for n, s in shapes.items()}
  return Contents("/m/model.ckpt-1", "v1", "", variables, {}, 1, "global_step")


def found(model, checkpoint, dtype="float32"):
  """Returns the pairs, and what is left open with its candidates."""
  targets = {name: Target(tuple(shape), dtype) for name, shape in model.items()}
  result = suggest(targets, contents(checkpoint))
  return {name: pair.old for name, pair in result.pairs.items()}, result.open


@pytest.mark.parametrize(
  ("model", "checkpoint", "expected"),
  [
    # Equal names, whatever else has the shape.
    ({"a/kernel": [2, 3]}, {"a/kernel": [2, 3], "b/kernel": [2, 3]}, {"a/kernel": "a/kernel"}),
    # Older names.
    (
      {"conv1/kernel": [3, 3, 1, 8], "conv1/bias": [8]},
      {"conv1/weights": [3, 3, 1, 8], "conv1/biases": [8]},
      {"conv1/kernel": "conv1/weights", "conv1/bias": "conv1/biases"},
    ),
    # One scope before all.
    (
      {"fc1/kernel": [4, 4], "fc2/kernel": [4, 4], "fc1/bias": [4], "fc2/bias": [4]},
      {f"net/{n}": s for n, s in zip(["fc1/w", "fc1/b"], [[9], [9]])}
      | {"net/fc1/kernel": [4, 4], "net/fc2/kernel": [4, 4]}
      | {"net/fc1/bias": [4], "net/fc2/bias": [4]},
      {n: f"net/{n}" for n in ("fc1/kernel", "fc2/kernel", "fc1/bias", "fc2/bias")},
    ),
    # Another scope on both sides, and older names below it.
    (
      {"new/conv1/kernel": [3, 8], "new/conv1/bias": [8], "new/conv2/kernel": [3, 8]},
      {"old/x/conv1/weights": [3, 8], "old/x/conv1/biases": [8], "old/x/conv2/weights": [3, 8]},
      {
        "new/conv1/kernel": "old/x/conv1/weights",
        "new/conv1/bias": "old/x/conv1/biases",
        "new/conv2/kernel": "old/x/conv2/weights",
      },
    ),
    # The longest end tells the encoder from the decoder.
    (
      {"enc/fc/kernel": [4, 4], "dec/fc/kernel": [4, 4]},
      {"m/enc/fc/kernel": [4, 4], "m/dec/fc/kernel": [4, 4]},
      {"enc/fc/kernel": "m/enc/fc/kernel", "dec/fc/kernel": "m/dec/fc/kernel"},
    ),
    # The only one of its shape, then what stands beside it.
    (
      {"in/kernel": [4, 3], "in/bias": [3], "out/kernel": [3, 7], "out/bias": [3]},
      {"l0/kernel": [4, 3], "l0/bias": [3], "l1/kernel": [3, 7], "l1/bias": [3]},
      {
        "in/kernel": "l0/kernel",
        "in/bias": "l0/bias",
        "out/kernel": "l1/kernel",
        "out/bias": "l1/bias",
      },
    ),
    # Variables that a program named itself.
    (
      {"in/kernel": [4, 3], "out/kernel": [3, 7]},
      {"W1": [4, 3], "W2": [3, 7]},
      {"in/kernel": "W1", "out/kernel": "W2"},
    ),
    # Series, in the order of the numbers and not of the letters; dense stands before dense_1.
    (
      {f"blocks/{i}/kernel": [4, 4] for i in range(11)},
      {f"layer_{i}/kernel": [4, 4] for i in range(11)},
      {f"blocks/{i}/kernel": f"layer_{i}/kernel" for i in range(11)},
    ),
    (
      {"blocks/0/kernel": [4, 4], "blocks/1/kernel": [4, 4]},
      {"dense/kernel": [4, 4], "dense_1/kernel": [4, 4]},
      {"blocks/0/kernel": "dense/kernel", "blocks/1/kernel": "dense_1/kernel"},
    ),
    # Batch normalization: gamma and beta have one shape and are told apart by their names.
    (
      {f"bn/{n}": [8] for n in ("gamma", "beta", "moving_mean", "moving_variance")},
      {f"c/BatchNorm/{n}": [8] for n in ("gamma", "beta", "moving_mean", "moving_variance")},
      {f"bn/{n}": f"c/BatchNorm/{n}" for n in ("gamma", "beta", "moving_mean", "moving_variance")},
    ),
  ],
)
def test_what_is_found(model, checkpoint, expected):
  pairs, left = found(model, checkpoint)
  assert pairs == expected
  assert left == {}


@pytest.mark.parametrize(
  ("model", "checkpoint", "name", "candidates"),
  [
    # Two of one shape under names that tell nothing.
    (
      {"a/kernel": [4, 4], "b/kernel": [4, 4]},
      {"x/kernel": [4, 4], "y/kernel": [4, 4]},
      "a/kernel",
      2,
    ),
    # Two scopes with the same layers.
    (
      {"fc/kernel": [4, 3]},
      {"actor/fc/kernel": [4, 3], "critic/fc/kernel": [4, 3]},
      "fc/kernel",
      2,
    ),
    # A series of another length.
    (
      {"blocks/0/kernel": [4, 4], "blocks/1/kernel": [4, 4]},
      {f"layer_{i}/kernel": [4, 4] for i in range(3)},
      "blocks/0/kernel",
      3,
    ),
    # Another shape.
    ({"fc/kernel": [4, 3]}, {"zz/qq": [4, 4]}, "fc/kernel", 0),
    # A bias is no moving mean, though nothing else has the shape.
    ({"fc/bias": [4]}, {"bn/moving_mean": [4]}, "fc/bias", 0),
    # The gates of an RNN cell have another order.
    ({"lstm/bias": [16]}, {"rnn/basic_lstm_cell/bias": [16]}, "lstm/bias", 0),
    # Scalars have no shape to be known by.
    ({"a/scale": []}, {"b/temperature": []}, "a/scale", 1),
  ],
)
def test_what_is_left_open(model, checkpoint, name, candidates):
  pairs, left = found(model, checkpoint)
  assert name not in pairs
  assert len(left[name]) == candidates


def test_another_type_is_never_paired():
  assert found({"a/kernel": [2, 3]}, {"a/kernel": [2, 3]}, dtype="int64")[0] == {}


def test_another_rank_is_reshaped_where_the_names_are_equal():
  targets = {"query/kernel": Target((8, 2, 4), "float32"), "query/bias": Target((2, 4), "float32")}
  result = suggest(targets, contents({"self/query/kernel": (8, 8), "self/query/bias": (8,)}))
  assert result.to_dict() == {
    "variables": {
      "query/kernel": {"from": "self/query/kernel", "reshape": [8, 2, 4]},
      "query/bias": {"from": "self/query/bias", "reshape": [2, 4]},
    }
  }


def test_the_map_file_can_be_read_and_names_what_is_open(tmp_path):
  pytest.importorskip("tomllib")
  targets = {n: Target((4, 3), "float32") for n in ("fc/kernel", 'ä "\\😀/kernel', "b/c")}
  result = suggest(targets, contents({"fc/weights": (4, 3), 'ä "\\😀/kernel': (4, 3), "x": (4, 4)}))
  path = tmp_path / "map.toml"
  path.write_text(result.to_toml(), encoding="utf-8")
  name_map = NameMap.read(str(path))
  assert name_map.find("fc/kernel").names == ("fc/weights",)
  assert name_map.find('ä "\\😀/kernel').names == ('ä "\\😀/kernel',)
  assert name_map.find("b/c") is None
  assert '# "b/c": nothing in the checkpoint resembles it' in result.to_toml()
  assert NameMap(result.to_dict()).to_toml().count("\n") == 3


def test_a_suggestion_for_thousands_of_variables_takes_no_minutes():
  shapes = {
    f"layer_{i}/{n}": s for i in range(1000) for n, s in (("kernel", [4, 4]), ("bias", [4]))
  }
  pairs, left = found(shapes, {f"bert/{name}": shape for name, shape in shapes.items()})
  assert pairs == {name: f"bert/{name}" for name in shapes}
  assert left == {}
  shapes = {f"{'ab'[i % 2]}{i * i % 997}x/{i}": [4, 4] for i in range(2000)}
  pairs, left = found(shapes, {f"{name}q": shape for name, shape in shapes.items()})
  assert len(pairs) + len(left) == 2000
