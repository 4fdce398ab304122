"""safetensors: every variable that the format can hold, bit for bit."""

import json
import struct

import ml_dtypes
import numpy as np
import tensorflow as tf
import written

TYPES = {
  "F64": np.float64,
  "F32": np.float32,
  "F16": np.float16,
  "BF16": ml_dtypes.bfloat16,
  "I64": np.int64,
  "I32": np.int32,
  "I8": np.int8,
  "BOOL": np.bool_,
}


def read(path):
  """Returns the tensors and the metadata of a file, as its specification says."""
  data = path.read_bytes()
  (length,) = struct.unpack("<Q", data[:8])
  assert not length % 8
  header = json.loads(data[8 : 8 + length])
  metadata = header.pop("__metadata__")
  tensors, end = {}, 0
  for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
    begin, stop = entry["data_offsets"]
    assert begin == end  # No holes.
    end = stop
    values = np.frombuffer(data[8 + length + begin : 8 + length + stop], TYPES[entry["dtype"]])
    tensors[name] = values.reshape(entry["shape"])
    assert not begin % max(values.itemsize, 1)
  assert len(data) == 8 + length + end
  return tensors, metadata


def test_every_variable_and_slot_arrives_bit_for_bit(convert, tmp_path):
  prefix = written.save(tmp_path / "old", written.table(parts=3))
  convert(prefix, "--out", tmp_path / "x.safetensors")
  assert convert.code == 0, convert.output
  tensors, metadata = read(tmp_path / "x.safetensors")
  table = "ids/embedding_weights"
  wanted = written.value(prefix, [f"{table}/t_{i}/Adam_1" for i in range(3)])
  assert written.bits(tensors[f"{table}/Adam_1"]) == written.bits(wanted)
  assert written.bits(tensors[table]) == written.bits(written.value(prefix, [table]))
  assert (tensors["global_step"], tensors["iterations"]) == (7, 1)
  assert metadata["step"] == "7"


def test_all_types_but_strings_and_complex_numbers_are_kept(convert, tmp_path):
  prefix = written.odd(tmp_path / "old")
  printed = convert(prefix, "--out", tmp_path / "x.safetensors")
  assert convert.code == 2
  for name in ("words (string)", "word (string)", "complex (complex64)"):
    assert name in printed
  printed = convert(prefix, "--out", tmp_path / "x.safetensors", "--skip-strings")
  assert convert.code == 2
  assert "words" not in printed
  assert not (tmp_path / "x.safetensors").exists()


def test_strings_can_be_left_out(convert, tmp_path):
  values = {"word": tf.constant(b"one"), "brain": tf.constant([1.5, -2.0], tf.bfloat16)}
  values.update(half=tf.constant([0.1], tf.float16), flags=tf.constant([True, False]))
  values.update({"nothing": tf.zeros([0, 5]), "^odd \u00fc.S/x": tf.constant([3, 4], tf.int8)})
  (tmp_path / "old").mkdir()
  prefix = str(tmp_path / "old" / "ckpt")
  tf.raw_ops.SaveV2(
    prefix=prefix,
    tensor_names=list(values),
    shape_and_slices=[""] * len(values),
    tensors=list(values.values()),
  )
  printed = convert(prefix, "--out", tmp_path / "x.safetensors", "--skip-strings")
  assert convert.code == 0, convert.output
  assert "left out: 1\n    word" in printed
  tensors, _ = read(tmp_path / "x.safetensors")
  assert set(tensors) == set(values) - {"word"}
  for name, value in tensors.items():
    assert written.bits(value) == written.bits(values[name].numpy()), name
