"""Tables between words and numbers of `tf.contrib.lookup`."""

from __future__ import annotations

import collections

import tensorflow as tf

v1 = tf.compat.v1

HasherSpec = collections.namedtuple("HasherSpec", ["hasher", "key"])
FastHashSpec = HasherSpec("fasthash", None)

__all__ = [
  "FastHashSpec",
  "HasherSpec",
  "index_table_from_file",
  "index_table_from_tensor",
  "index_to_string_table_from_file",
  "index_to_string_table_from_tensor",
]


def _numbered(mapping, keys_first, dtype):
  words = tf.convert_to_tensor(mapping)
  if not keys_first and words.dtype != tf.string:
    raise ValueError(f"A table of words needs words, not {words.dtype}.")
  if dtype is not None and dtype.is_integer:
    words = tf.cast(words, tf.int64)
  numbers = tf.range(tf.cast(tf.size(words), tf.int64), dtype=tf.int64)
  pair = (words, numbers) if keys_first else (numbers, words)
  return v1.lookup.KeyValueTensorInitializer(*pair)


def _of_file(path, key_dtype, key_column, value_dtype, value_column, vocab_size, delimiter):
  if not path:
    raise ValueError("vocabulary_file must be specified and must not be empty.")
  if vocab_size is not None and vocab_size < 1:
    raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}.")
  return tf.lookup.TextFileInitializer(
    path,
    tf.int64 if key_dtype.is_integer else key_dtype,
    key_column,
    value_dtype,
    value_column,
    vocab_size=vocab_size,
    delimiter=delimiter,
  )


def _only_the_default(hasher_spec):
  if hasher_spec != FastHashSpec:
    raise ValueError("Tables are offered with FastHashSpec only: leave out hasher_spec.")


def _table(initializer, num_oov_buckets, default_value, dtype, name):
  if num_oov_buckets < 0:
    raise ValueError("num_oov_buckets must be greater or equal than 0.")
  if not num_oov_buckets:
    return v1.lookup.StaticHashTable(initializer, default_value, name=name)
  return v1.lookup.StaticVocabularyTable(
    initializer, num_oov_buckets, lookup_key_dtype=dtype, name=name
  )


def index_table_from_tensor(
  mapping, num_oov_buckets=0, default_value=-1, hasher_spec=FastHashSpec, dtype=tf.string, name=None
):
  """Returns a table from words, or integers, to their positions in a list.

  Args:
    mapping: the words.
    num_oov_buckets: how many numbers past the list other words share, by their hash.
    default_value: the number of other words if there are no such buckets.
    hasher_spec: FastHashSpec, the hash of other words.
    dtype: the type of the keys that are looked up.
    name: the name of the table.

  Raises:
    ValueError: if the number of buckets is negative, the hash another one, or there are no words.
  """
  if mapping is None:
    raise ValueError("mapping must be specified.")
  _only_the_default(hasher_spec)
  return _table(_numbered(mapping, True, dtype), num_oov_buckets, default_value, dtype, name)


def index_table_from_file(
  vocabulary_file=None,
  num_oov_buckets=0,
  vocab_size=None,
  default_value=-1,
  hasher_spec=FastHashSpec,
  key_dtype=tf.string,
  name=None,
  key_column_index=tf.lookup.TextFileIndex.WHOLE_LINE,
  value_column_index=tf.lookup.TextFileIndex.LINE_NUMBER,
  delimiter="\t",
):
  """Returns a table from the lines of a text file to their numbers; see `index_table_from_tensor`.

  Args:
    vocabulary_file: the path.
    vocab_size: the number of lines that count; all by default.
    key_dtype: the type of the keys that are looked up.
    key_column_index, value_column_index, delimiter: as for `tf.lookup.TextFileInitializer`.
    num_oov_buckets, default_value, hasher_spec, name: as there.

  Raises:
    ValueError: if the path is empty, the number of buckets negative or that of lines not positive.
  """
  _only_the_default(hasher_spec)
  initializer = _of_file(
    vocabulary_file,
    key_dtype,
    key_column_index,
    tf.int64,
    value_column_index,
    vocab_size,
    delimiter,
  )
  return _table(initializer, num_oov_buckets, default_value, key_dtype, name)


def index_to_string_table_from_tensor(mapping, default_value="UNK", name=None):
  """Returns a table from positions in a list to its words; others get the default value.

  Raises:
    ValueError: if there are no words.
  """
  if mapping is None:
    raise ValueError("mapping must be specified.")
  return v1.lookup.StaticHashTable(_numbered(mapping, False, None), default_value, name=name)


def index_to_string_table_from_file(
  vocabulary_file,
  vocab_size=None,
  default_value="UNK",
  name=None,
  key_column_index=tf.lookup.TextFileIndex.LINE_NUMBER,
  value_column_index=tf.lookup.TextFileIndex.WHOLE_LINE,
  delimiter="\t",
):
  """Returns a table from the numbers of lines of a text file to the lines.

  Raises:
    ValueError: if the path is empty or the number of lines not positive.
  """
  initializer = _of_file(
    vocabulary_file,
    tf.int64,
    key_column_index,
    tf.string,
    value_column_index,
    vocab_size,
    delimiter,
  )
  return v1.lookup.StaticHashTable(initializer, default_value, name=name)
