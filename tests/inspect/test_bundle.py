"""The index of a checkpoint: read, damaged and written again, without TensorFlow."""

import random
import struct

import pytest

from migrator.runtime import bundle, bundle_values, bundle_writer
from migrator.runtime.bundle import DamagedIndexError, Entry
from migrator.runtime.crc32c import crc32c, masked
from migrator.runtime.ordered_code import slice_key


@pytest.fixture
def recorded(repository):
  """The prefix of a checkpoint of TF 1.15 in two data files."""
  return str(repository / "fixtures/checkpoints/tf1.15/dnn_classifier_adam/model.ckpt-5")


def write(directory, entries, pieces=None, num_shards=1):
  prefix = str(directory / "model.ckpt-1")
  bundle_writer.write_index(prefix, num_shards, entries, pieces or {})
  return prefix


def test_checksum_is_the_one_of_the_standard():
  # RFC 3720, appendix B.4.
  assert crc32c(bytes(32)) == 0x8A9136AA
  assert crc32c(b"\xff" * 32) == 0x62A8AB43
  assert crc32c(bytes(range(32))) == 0x46DD794E
  assert masked(0) == 0xA282EAD8


def test_recorded_index_tells_names_types_shapes_and_files(recorded):
  index = bundle.read_index(recorded)
  assert index.num_shards == 2
  assert index.entries["global_step"].dtype == "int64"
  assert index.entries["dnn/hiddenlayer_0/kernel"].shape == (4, 4)
  assert {entry.shard for entry in index.entries.values()} == {0, 1}
  assert bundle_values.read_scalar(recorded, index, "global_step") == 5


def test_every_value_of_the_recording_has_its_checksum(recorded):
  index = bundle.read_index(recorded)
  for name in index.entries:
    for _, piece in index.pieces(name):
      assert len(bundle_values.read_checked(recorded, index, piece)) == piece.size


def test_what_is_written_reads_back_equal(recorded, tmp_path):
  index = bundle.read_index(recorded)
  prefix = write(tmp_path, index.entries, num_shards=2)
  assert bundle.read_index(prefix) == index


def test_an_index_of_many_blocks_reads_back_equal(tmp_path):
  entries = {
    f"layer_{i:05}/kernel": Entry("float32", (i, 3), offset=12 * i, size=12 * i, crc32c=i)
    for i in range(8000)
  }
  assert bundle.read_index(write(tmp_path, entries)).entries == entries


@pytest.mark.parametrize(
  "name", ["a b", "größe/β", "x:0", "^y", 'say "so"', "tab\tbed", "n\\n", "."]
)
def test_names_with_odd_characters_read_back_equal(tmp_path, name):
  entries = {name: Entry("int64", (2,), size=16), name + "/t": Entry("bool", (1,), size=1)}
  assert bundle.read_index(write(tmp_path, entries)).entries == entries


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 8191, 8192, 10**6, 2**33])
def test_parts_are_found_by_their_bounds_however_many_rows_there_are(tmp_path, rows):
  slices = (((0, rows), (0, -1)), ((rows, rows), (0, -1)))
  whole = Entry("float32", (2 * rows, 4), slices=slices)
  parts = [
    (bounds, Entry("float32", (rows, 4), offset=i * 16, size=16)) for i, bounds in enumerate(slices)
  ]
  index = bundle.read_index(write(tmp_path, {"table": whole}, {"table": parts}))
  assert index.pieces("table") == [
    (((start, rows), (0, 4)), part) for ((start, _), _), part in zip(slices, [p for _, p in parts])
  ]
  assert index.num_bytes("table") == 32


def test_keys_of_parts_sort_as_their_bounds():
  starts = [0, 1, 63, 64, 100, 8191, 8192, 2**20 - 1, 2**20, 2**27, 2**34, 2**62]
  keys = [slice_key("v", ((start, 5),)) for start in starts]
  assert keys == sorted(keys)
  assert slice_key("v", ((0, -1),)) < keys[0]


def test_a_part_without_an_entry_is_named(tmp_path):
  bounds = ((0, 2),)
  index = bundle.Index(1, {"v": Entry("float32", (2,), slices=(bounds,))}, {}, {})
  with pytest.raises(DamagedIndexError, match=r"part .* of v"):
    index.pieces("v")


def test_parts_that_are_not_those_of_the_entry_are_refused(tmp_path):
  entry = Entry("float32", (2,), slices=(((0, 2),),))
  with pytest.raises(ValueError, match="the parts of v"):
    write(tmp_path, {"v": entry})
  assert list(tmp_path.iterdir()) == []


def test_an_index_cut_at_any_length_is_damaged(recorded, tmp_path):
  with open(recorded + ".index", "rb") as file:
    data = file.read()
  path = tmp_path / "cut.index"
  for length in range(len(data)):
    path.write_bytes(data[:length])
    with pytest.raises(DamagedIndexError):
      bundle.read_index(str(tmp_path / "cut"))


def test_an_index_with_any_byte_altered_is_damaged_or_the_same(recorded, tmp_path):
  with open(recorded + ".index", "rb") as file:
    data = file.read()
  index = bundle.read_index(recorded)
  path = tmp_path / "altered.index"
  damaged = 0
  for position in range(len(data)):
    altered = bytearray(data)
    altered[position] ^= 0x5A
    path.write_bytes(altered)
    try:
      # The padding of the footer and the unused meta-index may be anything.
      assert bundle.read_index(str(tmp_path / "altered")) == index
    except DamagedIndexError:
      damaged += 1
  assert damaged > 0.9 * len(data)


def test_random_bytes_that_end_as_an_index_are_damaged(tmp_path):
  numbers = random.Random(1)
  path = tmp_path / "random.index"
  for _ in range(300):
    body = bytes(numbers.randrange(256) for _ in range(numbers.randrange(40, 400)))
    path.write_bytes(body + struct.pack("<Q", bundle.MAGIC))
    with pytest.raises(DamagedIndexError):
      bundle.read_index(str(tmp_path / "random"))


def test_a_value_with_an_altered_byte_is_damaged(recorded, tmp_path):
  index = bundle.read_index(recorded)
  for shard in range(2):
    source = bundle.shard_path(recorded, shard, 2)
    with open(source, "rb") as file:
      data = bytearray(file.read())
    if shard == index.entries["global_step"].shard:
      data[index.entries["global_step"].offset] ^= 1
    with open(bundle.shard_path(str(tmp_path / "x"), shard, 2), "wb") as file:
      file.write(data)
  with pytest.raises(DamagedIndexError, match="checksum"):
    bundle_values.read_scalar(str(tmp_path / "x"), index, "global_step")


def test_a_scalar_that_is_no_number_is_refused(recorded):
  index = bundle.read_index(recorded)
  with pytest.raises(ValueError, match=r"float32 of shape \[4, 4\]"):
    bundle_values.read_scalar(recorded, index, "dnn/hiddenlayer_0/kernel")


@pytest.mark.parametrize(
  "dtype, data, value",
  [
    ("float32", struct.pack("<f", 0.5), 0.5),
    ("float64", struct.pack("<d", 0.1), 0.1),
    ("float16", struct.pack("<e", 1.5), 1.5),
    ("bfloat16", struct.pack("<f", -2.0)[2:], -2.0),
    ("int64", struct.pack("<q", -(2**40)), -(2**40)),
    ("int32", struct.pack("<i", 7), 7),
    ("uint8", b"\xff", 255),
  ],
)
def test_scalars_of_every_type_are_read(tmp_path, dtype, data, value):
  entry = Entry(dtype, (), size=len(data), crc32c=masked(crc32c(data)))
  prefix = write(tmp_path, {"x": entry})
  (tmp_path / "model.ckpt-1.data-00000-of-00001").write_bytes(data)
  assert bundle_values.read_scalar(prefix, bundle.read_index(prefix), "x") == value
