"""Layers that turn the values of a feature into ids: vocabularies in lists and in files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.columns.base import UNKNOWN, register
from migrator.runtime.columns.ids import IdsLayer

# Lines that are no UTF-8 survive the way through the configuration of a model, which is JSON.
_ENCODING = ("utf-8", "surrogateescape")


class _Lookup(IdsLayer):
  """Ids by a table; values out of the vocabulary have one id, or the bucket of their hash."""

  def __init__(self, vocabulary: Sequence, num_oov_buckets: int, default_value: int, **kwargs: Any):
    super().__init__(**kwargs)
    if not vocabulary:
      raise ValueError(f"The vocabulary of {self.name} is empty.")
    if num_oov_buckets and default_value != UNKNOWN:
      raise ValueError(f"{self.name} has both num_oov_buckets and default_value.")
    self.vocabulary = list(vocabulary)
    self.num_oov_buckets = int(num_oov_buckets)
    self.default_value = int(default_value)
    self.num_buckets = len(self.vocabulary) + self.num_oov_buckets
    self._table: Any = None

  def _make_table(self, integers: bool) -> None:
    """Makes the table once, outside of the graph in which the layer may be called."""
    if self._table is not None:
      return
    with tf.init_scope():
      if integers:
        keys = tf.constant([int(word) for word in self.vocabulary], tf.int64)
      else:
        keys = tf.constant([word.encode(*_ENCODING) for word in self.vocabulary])
      positions = tf.range(len(self.vocabulary), dtype=tf.int64)
      initializer = tf.lookup.KeyValueTensorInitializer(keys, positions)
      if self.num_oov_buckets:
        self._table = tf.lookup.StaticVocabularyTable(initializer, self.num_oov_buckets)
      else:
        self._table = tf.lookup.StaticHashTable(initializer, self.default_value)

  def _ids(self, values):
    integers = values.dtype.is_integer
    self._make_table(integers)
    if integers != (self._table.key_dtype != tf.string):
      raise ValueError(
        f"The vocabulary of {self.name} is {self._table.key_dtype.name}, but its feature is "
        f"{values.dtype.name}."
      )
    return self._table.lookup(tf.cast(values, tf.int64) if integers else values)

  def get_config(self):
    return {
      **super().get_config(),
      "vocabulary": self.vocabulary,
      "num_oov_buckets": self.num_oov_buckets,
      "default_value": self.default_value,
    }


@register
class VocabularyIds(_Lookup):
  """`categorical_column_with_vocabulary_list`, of strings or integers."""

  def __init__(
    self,
    vocabulary: Sequence,
    num_oov_buckets: int = 0,
    default_value: int = UNKNOWN,
    **kwargs: Any,
  ):
    """Makes the layer.

    Args:
      vocabulary: distinct strings or integers; the id of each is its place.
      num_oov_buckets: how many ids after those the other values share, by their hash.
      default_value: the id of the other values if there are no such buckets.
      **kwargs: those of a Keras layer.

    Raises:
      ValueError: for an empty vocabulary, or if both of the others are given.
    """
    super().__init__([_word(word) for word in vocabulary], num_oov_buckets, default_value, **kwargs)
    self._make_table(integers=not isinstance(self.vocabulary[0], str))


@register
class VocabularyFileIds(_Lookup):
  """`categorical_column_with_vocabulary_file`, of strings or integers, as the feature is.

  The file is read when the layer is made. A saved model keeps what it read, and needs no file.
  """

  def __init__(
    self,
    vocabulary_file: str,
    vocabulary_size: Optional[int] = None,
    num_oov_buckets: int = 0,
    default_value: Optional[int] = None,
    file_format: Optional[str] = None,
    vocabulary: Optional[Sequence[str]] = None,
    **kwargs: Any,
  ):
    """Makes the layer.

    Args:
      vocabulary_file: where the words are; the id of each is its place.
      vocabulary_size: how many of the words count; None for all.
      num_oov_buckets: how many ids after those the other values share, by their hash.
      default_value: the id of the other values if there are no such buckets; -1 if None.
      file_format: None for a word a line; "tfrecord_gzip" for a word a record.
      vocabulary: the words, if they have been read.
      **kwargs: those of a Keras layer.

    Raises:
      ValueError: if the file has fewer words than `vocabulary_size`, none, or an empty line.
    """
    if vocabulary is None:
      vocabulary = read_vocabulary(vocabulary_file, vocabulary_size, file_format)
    if default_value is None:
      default_value = UNKNOWN
    super().__init__(vocabulary, num_oov_buckets, default_value, **kwargs)
    self.vocabulary_file = vocabulary_file
    self.vocabulary_size = vocabulary_size
    self.file_format = file_format

  def compute_output_spec(self, inputs):
    # An export needs the table before the first call.
    self._make_table(integers=tf.as_dtype(inputs.dtype).is_integer)
    return super().compute_output_spec(inputs)

  def get_config(self):
    return {
      **super().get_config(),
      "vocabulary_file": self.vocabulary_file,
      "vocabulary_size": self.vocabulary_size,
      "file_format": self.file_format,
    }


def read_vocabulary(path: str, size: Optional[int], file_format: Optional[str]) -> list[str]:
  """Returns the words of a vocabulary file, as TensorFlow's tables read it.

  Raises:
    ValueError: if there are fewer than `size`, or a line is empty.
  """
  if file_format == "tfrecord_gzip":
    with tf.init_scope():
      records = tf.data.TFRecordDataset(path, compression_type="GZIP")
      words = [record.numpy() for record in records]
  elif file_format in (None, "text"):
    with tf.io.gfile.GFile(path, "rb") as file:
      # TensorFlow's reader of lines drops every carriage return.
      words = file.read().replace(b"\r", b"").split(b"\n")
    if not words[-1]:
      words.pop()
    if b"" in words[:size]:
      raise ValueError(f"{path} has an empty line, number {words.index(b'') + 1}.")
  else:
    raise ValueError(f"{path}: file_format is {file_format!r}, not text or tfrecord_gzip.")
  if size is not None and len(words) < size:
    raise ValueError(f"{path} has {len(words)} words, fewer than vocabulary_size={size}.")
  return [word.decode(*_ENCODING) for word in words[:size]]


def _word(word: Any) -> Any:
  """Returns a word as JSON can hold it."""
  if isinstance(word, bytes):
    return word.decode(*_ENCODING)
  return str(word) if isinstance(word, str) else int(word)
