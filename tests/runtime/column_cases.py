"""Features of every kind, and each column type with the layers that take its place."""

import numpy as np
import tensorflow as tf

from migrator.runtime import columns

fc = tf.feature_column
WORDS = ["a", "b", "c"]
NUMBERS = [1, 2, 3]
BOUNDARIES = [-1.0, 0.5, 2.0]
ROWS = 48


def features(form, kind):
  """Returns a batch of features.

  Args:
    form: "dense"; "sparse", which also holds values "" and -1 and ends some rows early.
    kind: "mixed" rows with no, one and several values, in and out of the vocabulary; "nothing", rows
      without values.

  Returns:
    Name -> a numpy array or tf.SparseTensor.
  """
  random = np.random.RandomState(7)
  batch = {
    "s": random.choice([*WORDS, "z", "yy", "", ""], (ROWS, 3)),
    "t": random.choice([*WORDS, "q", ""], (ROWS, 2)),
    "n": random.choice([0, 1, 2, 3, 4, 7, 99, -7, -1, -1], (ROWS, 3)),
    "i": random.choice([0, 1, 2, 3, 4, -1], (ROWS, 2)).astype(np.int32),
  }
  if kind == "nothing":
    batch = {k: np.full_like(v, "" if v.dtype.kind == "U" else -1) for k, v in batch.items()}
  weights = random.choice([0.5, 1.5, 3.0, -2.0], (ROWS, 3)).astype(np.float32)
  batch["w"] = np.where(batch["s"] == "", np.float32(0), weights)
  if form == "sparse":
    batch = {name: sparse(value, random) for name, value in batch.items()}
  batch["x"] = random.choice([-2.0, -1.0, 0.5, 0.7, 2.0, 9.0, np.nan], (ROWS, 2)).astype(np.float32)
  batch["y"] = random.normal(size=(ROWS, 2)).astype(np.float32)
  return batch


def sparse(values, random):
  """Returns what is not missing; some of it becomes "", -1 or 0, which a dense feature cannot hold."""
  missing = {"U": "", "i": -1, "f": 0}[values.dtype.kind]
  where = np.argwhere(values != missing).reshape(-1, 2)
  kept = values[values != missing]
  kept = np.where(random.uniform(size=kept.shape) < 0.1, np.array(missing, kept.dtype), kept)
  width = where[:, 1].max() + 1 if len(where) else 0
  kept = tf.constant(kept.astype(object) if values.dtype.kind == "U" else kept, _dtype(values))
  return tf.SparseTensor(where.astype(np.int64), kept, [len(values), width])


def _dtype(values):
  return tf.string if values.dtype.kind == "U" else tf.as_dtype(values.dtype)


def ragged(value):
  """Returns the values of each row of a sparse tensor, without gaps."""
  order = value.indices[:, 0]
  return tf.RaggedTensor.from_value_rowids(value.values, order, nrows=value.dense_shape[0])


def write_vocabularies(root):
  """Writes vocabulary files; returns name -> path."""
  paths = {name: str(root / name) for name in ("words", "numbers", "records")}
  (root / "words").write_bytes(b"b\r\na\n\xc3\xa4\nc\nzz")
  (root / "numbers").write_bytes(b"3\n7\n1\n")
  with tf.io.TFRecordWriter(paths["records"], "GZIP") as writer:
    for word in (b"c", b"a", b"x"):
      writer.write(word)
  return paths


def categorical(paths):
  """Returns name -> (column, function of the features that gives the ids, number of buckets)."""
  layer = columns
  x_buckets = fc.bucketized_column(fc.numeric_column("x", shape=(2,)), BOUNDARIES)
  words = fc.categorical_column_with_vocabulary_list("s", WORDS)
  other = fc.categorical_column_with_vocabulary_list("t", WORDS)
  identity = fc.categorical_column_with_identity("i", 5)
  files = fc.categorical_column_with_vocabulary_file
  integers = {"dtype": tf.int64}

  def of(key, make):
    return lambda batch: make(batch[key])

  def crossed(size, parts, **arguments):
    """Ids of a cross; its parts are names of raw features, or functions."""

    def make(batch):
      inputs = [batch[p] if isinstance(p, str) else p(batch) for p in parts]
      raw = [isinstance(p, str) for p in parts]
      return layer.CrossIds(size, raw=raw, **arguments)(inputs)

    return make

  x_ids = of("x", layer.BucketIds(BOUNDARIES))
  s_ids, t_ids = of("s", layer.VocabularyIds(WORDS)), of("t", layer.VocabularyIds(WORDS))
  i_ids = of("i", layer.IdentityIds(5))
  return {
    "strings": (words, s_ids, 3),
    "strings_oov": (
      fc.categorical_column_with_vocabulary_list("s", WORDS, num_oov_buckets=4),
      of("s", layer.VocabularyIds(WORDS, 4)),
      7,
    ),
    "strings_default": (
      fc.categorical_column_with_vocabulary_list("s", WORDS, default_value=1),
      of("s", layer.VocabularyIds(WORDS, default_value=1)),
      3,
    ),
    "integers": (
      fc.categorical_column_with_vocabulary_list("n", NUMBERS, **integers),
      of("n", layer.VocabularyIds(NUMBERS)),
      3,
    ),
    "integers_oov": (
      fc.categorical_column_with_vocabulary_list("n", NUMBERS, num_oov_buckets=4, **integers),
      of("n", layer.VocabularyIds(NUMBERS, num_oov_buckets=4)),
      7,
    ),
    "small_integers": (
      fc.categorical_column_with_vocabulary_list("i", NUMBERS, dtype=tf.int32),
      of("i", layer.VocabularyIds(np.array(NUMBERS, np.int32))),
      3,
    ),
    "file": (files("s", paths["words"]), of("s", layer.VocabularyFileIds(paths["words"])), 5),
    "file_size_oov": (
      files("s", paths["words"], vocabulary_size=2, num_oov_buckets=3),
      of("s", layer.VocabularyFileIds(paths["words"], 2, 3)),
      5,
    ),
    "file_integers": (
      files("n", paths["numbers"], default_value=2, **integers),
      of("n", layer.VocabularyFileIds(paths["numbers"], default_value=2)),
      3,
    ),
    "file_records": (
      files("s", paths["records"], vocabulary_size=2, file_format="tfrecord_gzip"),
      of("s", layer.VocabularyFileIds(paths["records"], 2, file_format="tfrecord_gzip")),
      2,
    ),
    "hash": (fc.categorical_column_with_hash_bucket("s", 5), of("s", layer.HashIds(5)), 5),
    "hash_integers": (
      fc.categorical_column_with_hash_bucket("n", 5, **integers),
      of("n", layer.HashIds(5)),
      5,
    ),
    "identity": (identity, i_ids, 5),
    "identity_default": (
      fc.categorical_column_with_identity("n", 4, default_value=2),
      of("n", layer.IdentityIds(4, default_value=2)),
      4,
    ),
    "weighted": (
      fc.weighted_categorical_column(words, "w"),
      lambda batch: layer.WeightedIds()([s_ids(batch), batch["w"]]),
      3,
    ),
    "weighted_hash": (
      fc.weighted_categorical_column(fc.categorical_column_with_hash_bucket("s", 5), "w"),
      lambda batch: layer.WeightedIds()([layer.HashIds(5)(batch["s"]), batch["w"]]),
      5,
    ),
    "cross_raw": (fc.crossed_column(["s", "t"], 31), crossed(31, ["s", "t"]), 31),
    "cross_raw_integers": (fc.crossed_column(["n", "t"], 31), crossed(31, ["n", "t"]), 31),
    "cross_raw_buckets": (fc.crossed_column(["s", x_buckets], 31), crossed(31, ["s", x_ids]), 31),
    "cross_buckets_raw": (fc.crossed_column([x_buckets, "s"], 31), crossed(31, [x_ids, "s"]), 31),
    "cross_raw_vocabulary": (fc.crossed_column(["t", words], 31), crossed(31, ["t", s_ids]), 31),
    "cross_vocabularies": (fc.crossed_column([words, other], 31), crossed(31, [s_ids, t_ids]), 31),
    "cross_key": (
      fc.crossed_column([identity, "t", words], 31, hash_key=5),
      crossed(31, [i_ids, "t", s_ids], hash_key=5),
      31,
    ),
    "cross_nested": (
      fc.crossed_column([fc.crossed_column(["t", identity], 9), x_buckets], 31),
      crossed(31, ["t", i_ids, x_ids]),
      31,
    ),
  }
