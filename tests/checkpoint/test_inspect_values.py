"""`migrator inspect` of values: beside what TensorFlow reads, and what cannot be read at all."""

import json
import math
from inspect import signature

import numpy as np
import pytest
import tensorflow as tf
from click.testing import CliRunner

from migrator.checkpoint import inspection, stats
from migrator.cli import main

tf1 = tf.compat.v1


def run(*arguments):
  # Before click 8.2 both streams are one unless that is asked for.
  options = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
  result = CliRunner(**options).invoke(main, ["inspect", *map(str, arguments)])
  assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
  return result


def statistics(prefix):
  """Returns the statistics of each variable by name, as the command prints them."""
  result = run(prefix, "--stats", "--json")
  assert result.exit_code == 0, result.output
  (data,) = json.loads(result.stdout)
  return {variable["name"]: variable["stats"] for variable in data["variables"]}


def write(prefix, values):
  """Writes tensors with TensorFlow's own kernel; returns the prefix."""
  tf.raw_ops.SaveV2(
    prefix=str(prefix),
    tensor_names=list(values),
    shape_and_slices=[""] * len(values),
    tensors=[tf.convert_to_tensor(value) for value in values.values()],
  )
  return prefix


@pytest.fixture
def small_chunks(monkeypatch):
  """Values are read 64 bytes at a time, so that a few numbers are many pieces."""
  monkeypatch.setattr(stats, "_CHUNK", 64)


DTYPES = ["float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32"]
DTYPES += ["uint32", "int64", "uint64", "bool"]


def test_statistics_are_those_of_the_values_that_tensorflow_reads(tmp_path, small_chunks):
  random = np.random.default_rng(1)
  values = {}
  for dtype in DTYPES:
    numbers = tf.constant(random.integers(0, 100, [7, 23]))
    if dtype.startswith(("float", "bfloat")):
      numbers = tf.constant(random.normal(3, 2, [7, 23]))
    values[f"a/{dtype}"] = tf.cast(numbers, dtype)
  prefix = write(tmp_path / "model.ckpt", values)
  found = statistics(prefix)
  reader = tf.train.load_checkpoint(str(prefix))
  for name in values:
    expected = reader.get_tensor(name).astype(np.float64)
    assert found[name]["min"] == expected.min(), name
    assert found[name]["max"] == expected.max(), name
    assert found[name]["mean"] == pytest.approx(expected.mean(), rel=1e-12), name
    assert found[name]["std"] == pytest.approx(expected.std(), rel=1e-12), name
    assert found[name]["zeros"] == (expected == 0).sum(), name
    assert (found[name]["nans"], found[name]["infs"]) == (0, 0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_nan_and_infinity_are_counted_and_left_out_of_the_rest(tmp_path, small_chunks, dtype):
  values = np.linspace(1, 2, 100)
  values[[3, 50, 99]] = np.nan
  values[[4, 60]] = np.inf, -np.inf
  values[7] = 0
  prefix = write(tmp_path / "m", {"w": tf.cast(values, dtype), "nan": tf.fill([3], np.nan)})
  found = statistics(prefix)
  kept = np.asarray(tf.cast(tf.cast(values, dtype), "float64"))
  kept = kept[np.isfinite(kept)]
  assert [found["w"][name] for name in ("nans", "infs", "zeros")] == [3, 2, 1]
  assert found["w"]["mean"] == pytest.approx(kept.mean(), rel=1e-12)
  assert found["w"]["std"] == pytest.approx(kept.std(), rel=1e-12)
  assert found["nan"] == {
    "min": None, "max": None, "mean": None, "std": None, "zeros": 0, "nans": 3, "infs": 0,
  }  # fmt: skip


def test_large_integers_are_exact_and_large_floats_are_still_json(tmp_path):
  big = np.array([2**62 + 1, -(2**62) - 3], np.int64)
  prefix = write(tmp_path / "m", {"int": big, "float": np.array([1.7e308, -1.7e308])})
  found = statistics(prefix)
  assert (found["int"]["min"], found["int"]["max"]) == (-(2**62) - 3, 2**62 + 1)
  assert found["float"]["std"] == "inf"


def test_strings_complex_numbers_and_nothing_at_all_have_what_they_can(tmp_path):
  prefix = write(
    tmp_path / "m",
    {
      "text": np.array([b"", b"abc", b"\xff" * 300]),
      "complex": np.array([3 + 4j, 0], np.complex64),
      "empty": np.zeros([0, 3], np.float32),
      "scalar": np.float32(2),
    },
  )
  found = statistics(prefix)
  assert (found["text"]["min"], found["text"]["max"], found["text"]["mean"]) == (0, 300, 101)
  assert (found["complex"]["max"], found["complex"]["zeros"]) == (5, 1)
  assert found["empty"] is None
  assert (found["scalar"]["mean"], found["scalar"]["std"]) == (2, 0)
  table = run(prefix, "--stats").stdout
  assert (
    next(line for line in table.splitlines() if line.startswith("empty")).split()[4:] == ["-"] * 7
  )


def write_parts(prefix, axis):
  """Writes a partitioned variable `w` of three parts, with TF1's own Saver; returns its value."""
  with tf.Graph().as_default():
    part = tf1.fixed_size_partitioner(3, axis)
    fill = tf1.random_normal_initializer()
    variable = tf1.get_variable("w", [40, 14], initializer=fill, partitioner=part)
    with tf1.Session() as session:
      session.run(tf1.global_variables_initializer())
      tf1.train.Saver([variable]).save(session, str(prefix), write_meta_graph=False)
      return session.run(tf.convert_to_tensor(variable))


@pytest.mark.parametrize("axis", [0, 1])
def test_partitioned_variables_are_taken_as_one_and_compared_with_whole_ones(
  tmp_path, small_chunks, axis
):
  parts = tmp_path / "parts"
  value = write_parts(parts, axis)
  whole = write(tmp_path / "whole", {"w": value})
  found = statistics(parts)["w"]
  assert found["mean"] == pytest.approx(value.mean(dtype=np.float64), rel=1e-12)
  assert found["max"] == value.max()
  same = run(parts, "--diff", whole, "--stats")
  assert (same.exit_code, same.stdout.count("\n")) == (0, 1), same.output
  changed = value.copy()
  changed[33, 7] += 0.5
  other = run(parts, "--diff", write(tmp_path / "other", {"w": changed}), "--stats")
  apart = abs(float(changed[33, 7]) - float(value[33, 7]))
  assert (other.exit_code, other.stdout) == (1, f"~ w: values differ by up to {apart:.6g}\n")


@pytest.mark.parametrize(
  ("one", "two", "largest"),
  [
    (np.int64(2**60), np.int64(2**60 + 1), 1),
    (np.array([2**63 - 1, 0]), np.array([-(2**63), 0]), 2**64 - 1),
    (np.uint64(2**64 - 1), np.uint64(0), 2**64 - 1),
    (np.int8(-128), np.int8(127), 255),
    (np.float64(5e-324), np.float64(0), 5e-324),
    (np.array([True, False]), np.array([True, True]), 1),
    (np.float32(np.nan), np.float32(1), math.inf),
    (np.float32(np.nan), np.float32(np.nan), 0),
    (np.float32(np.inf), np.float32(np.inf), 0),
    (np.complex64(1j), np.complex64(0), 1),
    (np.array([b"a", b"b"]), np.array([b"a", b"c"]), math.inf),
    (np.array([b"a"]), np.array([b"a"]), 0),
    (np.zeros([0, 2], np.float32), np.zeros([0, 2], np.float32), 0),
  ],
)
def test_the_greatest_difference_is_exact(tmp_path, one, two, largest):
  first, second = (
    inspection.open_checkpoint(str(write(tmp_path / name, {"w": value})))
    for name, value in (("one", one), ("two", two))
  )
  silent = lambda count: None  # noqa: E731
  assert stats.greatest_difference(first, ("w",), second, ("w",), silent) == largest
  assert run(tmp_path / "one", "--diff", tmp_path / "two", "--stats").exit_code == (largest != 0)


@pytest.mark.parametrize("dtype", ["qint8", "quint8"])
def test_quantized_values_are_their_integers(tmp_path, dtype):
  value = tf.bitcast(tf.constant([1, 2, 5], dtype[1:]), dtype)
  assert statistics(write(tmp_path / "m", {"w": value}))["w"]["max"] == 5


def test_types_without_numbers_are_compared_by_their_bytes(tmp_path):
  values = [tf.cast([1.0, x], tf.dtypes.experimental.float8_e5m2) for x in (2.0, 4.0)]
  one, two = (write(tmp_path / f"m{i}", {"w": value}) for i, value in enumerate(values))
  assert statistics(one)["w"] is None
  assert run(one, "--diff", one, "--stats").exit_code == 0
  assert run(one, "--diff", two, "--stats").stdout == "~ w: values differ\n"


def test_data_that_end_too_early_give_no_statistics_but_the_table_and_one_error(tmp_path):
  prefix = write(tmp_path / "m", {"w": np.ones([100], np.float32)})
  data = tmp_path / "m.data-00000-of-00001"
  data.write_bytes(data.read_bytes()[:100])
  result = run(prefix, "--stats")
  assert result.exit_code == 2
  assert "w         float32  [100]" in result.stdout
  assert "should have 400 bytes, it has 100." in result.stderr


@pytest.mark.parametrize("sharded", [False, True])
def test_a_checkpoint_of_v1_format_is_called_that(tmp_path, sharded):
  with tf.Graph().as_default(), tf1.Session() as session:
    tf1.get_variable("w", [3, 2])
    session.run(tf1.global_variables_initializer())
    saver = tf1.train.Saver(write_version=tf1.train.SaverDef.V1, sharded=sharded)
    saver.save(session, str(tmp_path / "model.ckpt"), global_step=7)
  file = tmp_path / f"model.ckpt-7{'-00000-of-00001' if sharded else ''}"
  for path in (file, tmp_path):
    result = run(path)
    assert result.exit_code == 2
    assert f"{file} is a checkpoint of Saver's V1 format (one file, no .index)" in result.stderr


def test_a_remote_path_that_cannot_be_read_is_one_error():
  result = run("nowhere://bucket/model.ckpt-1")
  assert result.exit_code == 2
  assert result.stderr.startswith("Error: nowhere://bucket/model.ckpt-1 cannot be read: ")
  assert result.stderr.count("\n") == 1


def test_a_remote_path_is_read_as_a_local_one(tmp_path):
  prefix = write(tmp_path / "m", {"w": np.ones([100], np.float32)})
  local, remote = (run(path, "--stats").stdout for path in (prefix, f"file://{prefix}"))
  assert remote == local.replace(str(tmp_path), f"file://{tmp_path}")
