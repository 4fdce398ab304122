"""What is read without TensorFlow, compared with what TensorFlow reads of the same files."""

import random
import struct

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime import bundle, bundle_values, state_file, wire
from migrator.runtime.bundle import DamagedIndexError
from migrator.runtime.crc32c import crc32c, masked

STATES = [
  b'model_checkpoint_path: "model.ckpt-3"\n',
  b'model_checkpoint_path: "b"\nall_model_checkpoint_paths: "a"\nall_model_checkpoint_paths: "b"\n'
  b"all_model_checkpoint_timestamps: 1.5e9\nlast_preserved_timestamp: 3.25\n",
  b"model_checkpoint_path: 'it\\'s'",
  b'model_checkpoint_path: "caf\\303\\251"',
  b'# written by hand\nmodel_checkpoint_path: "a" "b"',
  b'all_model_checkpoint_timestamps: [1.0, 2.0]\nmodel_checkpoint_path:"a";',
  b'model_checkpoint_path: "C:\\\\runs\\\\model.ckpt-1"',
  b'model_checkpoint_path: "/old/place/model.ckpt-7"\nall_model_checkpoint_paths: "/old/place/model.ckpt-7"',
]


@pytest.mark.parametrize("text", STATES)
def test_state_files_say_what_tensorflow_reads(tmp_path, text):
  (tmp_path / "checkpoint").write_bytes(text)
  expected = tf.train.get_checkpoint_state(str(tmp_path))
  state = state_file.parse(text)

  def absolute(path):
    return path if path.startswith("/") else str(tmp_path / path)

  assert absolute(state.model_checkpoint_path) == expected.model_checkpoint_path
  listed = list(map(absolute, state.all_model_checkpoint_paths))
  # TensorFlow appends the newest where it is not listed.
  assert list(expected.all_model_checkpoint_paths)[: len(listed)] == listed


def test_the_state_file_of_a_saver_is_read(tmp_path):
  v1 = tf.compat.v1
  with tf.Graph().as_default(), v1.Session() as session:
    v1.get_variable("w", [2])
    session.run(v1.global_variables_initializer())
    saver = v1.train.Saver(max_to_keep=2)
    for step in (5, 10, 15):
      saver.save(session, str(tmp_path / 'größe "x"'), global_step=step)
  expected = tf.train.get_checkpoint_state(str(tmp_path))
  state = state_file.parse((tmp_path / "checkpoint").read_bytes())
  assert state.model_checkpoint_path == expected.model_checkpoint_path
  assert list(state.all_model_checkpoint_paths) == list(expected.all_model_checkpoint_paths)


@pytest.mark.parametrize(
  "rows, parts",
  [(130, 2), (16385, 2), (2_100_000, 2), (200, 100), (70, 69), (5, 1)],
)
def test_parts_are_found_whatever_their_bounds(tmp_path, rows, parts):
  """The keys of parts hold their bounds in an order-preserving code of one to ten bytes."""
  value = np.arange(rows) % 251
  slices = np.array_split(value.astype(np.uint8), parts)
  starts = np.cumsum([0, *(len(s) for s in slices)])
  prefix = str(tmp_path / "model.ckpt-1")
  tf.raw_ops.SaveV2(
    prefix=prefix,
    tensor_names=["table"] * parts,
    shape_and_slices=[f"{rows} {start},{len(s)}" for start, s in zip(starts, slices)],
    tensors=[tf.constant(s) for s in slices],
  )
  index = bundle.read_index(prefix)
  read = {
    bounds[0][0]: bundle_values.read_piece(prefix, index, piece)
    for bounds, piece in index.pieces("table")
  }
  assert b"".join(read[start] for start in sorted(read)) == value.astype(np.uint8).tobytes()
  assert index.num_bytes("table") == rows


NAMES = ["a b", "größe/β", "x:0", "^y", 'say "so"', "tab\tbed", "n\\n", ".", "a//b", "%s", "漢字"]


def test_names_and_types_are_those_that_tensorflow_reads(tmp_path):
  types = [
    tf.float16,
    tf.bfloat16,
    tf.float64,
    tf.int64,
    tf.bool,
    tf.string,
    tf.complex64,
    tf.uint8,
  ]
  values = {name: tf.zeros([i, 2]) for i, name in enumerate(NAMES)}
  values |= {
    f"type/{dtype.name}": tf.zeros([3, 0], dtype) if dtype != tf.string else tf.constant(["a", ""])
    for dtype in types
  }
  values |= {f"many/{i}": tf.zeros([], tf.int32) for i in range(3000)}
  prefix = str(tmp_path / "model.ckpt-1")
  tf.raw_ops.SaveV2(
    prefix=prefix,
    tensor_names=list(values),
    shape_and_slices=[""] * len(values),
    tensors=list(values.values()),
  )
  reader = tf.train.load_checkpoint(prefix)
  entries = bundle.read_index(prefix).entries
  assert {n: list(e.shape) for n, e in entries.items()} == reader.get_variable_to_shape_map()
  types = {name: dtype.name for name, dtype in reader.get_variable_to_dtype_map().items()}
  assert {n: e.dtype for n, e in entries.items()} == types


def test_an_index_altered_with_right_checksums_is_read_or_damaged_and_never_hangs(tmp_path):
  """Random bytes in its blocks, as a program with a fault could write them."""
  prefix = str(tmp_path / "model.ckpt-1")
  tf.raw_ops.SaveV2(
    prefix=prefix,
    tensor_names=["a/b", "a/c", "table", "table"],
    shape_and_slices=["", "", "6 0,3", "6 3,3"],
    tensors=[tf.zeros([2, 2]), tf.zeros([], tf.int64), tf.zeros([3]), tf.ones([3])],
  )
  with open(prefix + ".index", "rb") as file:
    data = file.read()
  blocks = list(blocks_of(data))
  numbers = random.Random(3)
  path = tmp_path / "altered.index"
  damaged = 0
  for _ in range(2000):
    altered = bytearray(data)
    offset, size = numbers.choice(blocks)
    for _ in range(numbers.randrange(1, 4)):
      altered[offset + numbers.randrange(size)] = numbers.choice(
        [0, 1, 127, 128, 255, numbers.randrange(256)]
      )
    checksum = masked(crc32c(bytes(altered[offset : offset + size + 1])))
    altered[offset + size + 1 : offset + size + 5] = struct.pack("<I", checksum)
    path.write_bytes(altered)
    try:
      index = bundle.read_index(str(tmp_path / "altered"))
      for name in index.entries:
        index.pieces(name)
    except DamagedIndexError:
      damaged += 1
  assert damaged > 500


def blocks_of(data):
  """Yields offset and size of the blocks that hold entries, and of the one that lists them."""
  position = 0
  handles = []
  for _ in range(4):
    value, position = wire.varint(data[-bundle.FOOTER_SIZE :], position)
    handles.append(value)
  yield handles[2], handles[3]
  block = data[handles[2] : handles[2] + handles[3]]
  position = 0
  _, position = wire.varint(block, position)
  length, position = wire.varint(block, position)
  _, position = wire.varint(block, position)
  offset, position = wire.varint(block, position + length)
  size, _ = wire.varint(block, position)
  yield offset, size
