"""Data sets of `tf.contrib.learn.datasets` and `tensorflow.examples.tutorials.mnist.input_data`.

They give arrays of numpy. A file that is not in its folder is downloaded; where that fails, the error
says which file to put where.
"""

from __future__ import annotations

import collections
import csv
import gzip
import os
import tempfile
import urllib.error
import urllib.request
from typing import Any, Callable, Optional

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1

__all__ = [
  "DEFAULT_SOURCE_URL",
  "DataSet",
  "Dataset",
  "Datasets",
  "dense_to_one_hot",
  "extract_images",
  "extract_labels",
  "load_csv_with_header",
  "load_csv_without_header",
  "load_dataset",
  "load_mnist",
  "maybe_download",
  "read_data_sets",
]

DEFAULT_SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"

Dataset = collections.namedtuple("Dataset", ["data", "target"])
Datasets = collections.namedtuple("Datasets", ["train", "validation", "test"])

# The first four bytes of the files: two zeros, the type of the bytes, the number of dimensions.
_IMAGES, _LABELS = 2051, 2049


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Any:
  """Loads MNIST from the folder MNIST-data.

  Args:
    name: "mnist"; the others came with TensorFlow's files or from servers that are gone.
    size: of another data set.
    test_with_fake_data: likewise.

  Raises:
    ValueError: for another name.
  """
  del size, test_with_fake_data
  if name != "mnist":
    raise ValueError(
      f"The data set {name!r} came with TensorFlow 1, and the runtime does not have it: 'mnist' is the "
      "only one. Read the data from files of your own."
    )
  return load_mnist()


def load_mnist(train_dir: str = "MNIST-data") -> Any:
  """Returns MNIST as `read_data_sets` gives it."""
  return read_data_sets(train_dir)


def read_data_sets(
  train_dir: str,
  fake_data: bool = False,
  one_hot: bool = False,
  dtype: Any = tf.float32,
  reshape: bool = True,
  validation_size: int = 5000,
  seed: Optional[int] = None,
  source_url: str = DEFAULT_SOURCE_URL,
) -> Any:
  """Returns `Datasets(train, validation, test)` from four files in the format of MNIST.

  Args:
    train_dir: the folder of the files; those that are not in it are downloaded.
    fake_data: whether the sets are to have no data but those of `next_batch(fake_data=True)`.
    one_hot: whether labels are rows [10] of float64 instead of uint8 numbers.
    dtype: of the images: float32 in [0, 1], or uint8.
    reshape: whether an image is a row of height * width numbers, not [height, width, 1].
    validation_size: how many of the first training examples are for validation.
    seed: of the shuffling; by default that of the graph, if it has one.
    source_url: where files are downloaded from; ends in "/".

  Raises:
    ValueError: if a file has another format, or there are less than `validation_size` examples.
    URLError: if a file is not there and cannot be downloaded.
  """
  if fake_data:
    empty: list = []
    options = {"fake_data": True, "one_hot": one_hot, "dtype": dtype, "seed": seed}
    return Datasets(*(DataSet(empty, empty, **options) for _ in Datasets._fields))
  url = source_url or DEFAULT_SOURCE_URL

  def labels_of(file: Any) -> np.ndarray:
    return extract_labels(file, one_hot=one_hot)

  images = _read("train-images-idx3-ubyte.gz", train_dir, url, extract_images)
  labels = _read("train-labels-idx1-ubyte.gz", train_dir, url, labels_of)
  test_images = _read("t10k-images-idx3-ubyte.gz", train_dir, url, extract_images)
  test_labels = _read("t10k-labels-idx1-ubyte.gz", train_dir, url, labels_of)
  if not 0 <= validation_size <= len(images):
    raise ValueError(
      f"validation_size={validation_size} is not possible with {len(images)} training examples."
    )
  # The seed is set anew for each of them.
  options = {"dtype": dtype, "reshape": reshape, "seed": seed}
  return Datasets(
    train=DataSet(images[validation_size:], labels[validation_size:], **options),
    validation=DataSet(images[:validation_size], labels[:validation_size], **options),
    test=DataSet(test_images, test_labels, **options),
  )


def _read(name: str, folder: str, url: str, extract: Callable[[Any], np.ndarray]) -> np.ndarray:
  with v1.gfile.Open(maybe_download(name, folder, url + name), "rb") as file:
    return extract(file)


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
  """Returns the path of a file in a folder, after downloading it if it is not there.

  Raises:
    URLError: if it is not there and cannot be downloaded.
  """
  if not v1.gfile.Exists(work_directory):
    v1.gfile.MakeDirs(work_directory)
  path = os.path.join(work_directory, filename)
  if v1.gfile.Exists(path):
    return path
  with tempfile.TemporaryDirectory() as scratch:
    copy = os.path.join(scratch, "download")
    try:
      urllib.request.urlretrieve(source_url, copy)
    except OSError as error:
      cause = getattr(error, "reason", None) or error
      raise urllib.error.URLError(
        f"{path} is not there, and {source_url} cannot be downloaded: {cause}. "
        f"Put {filename} into {work_directory}"
      ) from error
    v1.gfile.Copy(copy, path)
    print("Successfully downloaded", filename, os.path.getsize(copy), "bytes.")
  return path


def extract_images(f: Any) -> np.ndarray:
  """Returns the images of an open gzipped file: uint8 [images, height, width, 1].

  Raises:
    ValueError: if it is no file of images.
  """
  print("Extracting", f.name)
  with gzip.GzipFile(fileobj=f) as stream:
    _check(stream, _IMAGES, f.name, "image")
    count, height, width = (_number(stream) for _ in range(3))
    return _bytes(stream, count * height * width).reshape(count, height, width, 1)


def extract_labels(f: Any, one_hot: bool = False, num_classes: int = 10) -> np.ndarray:
  """Returns the labels of an open gzipped file: uint8 [labels], or one-hot rows.

  Raises:
    ValueError: if it is no file of labels.
  """
  print("Extracting", f.name)
  with gzip.GzipFile(fileobj=f) as stream:
    _check(stream, _LABELS, f.name, "label")
    labels = _bytes(stream, _number(stream))
  return dense_to_one_hot(labels, num_classes) if one_hot else labels


def _check(stream: Any, kind: int, name: str, what: str) -> None:
  found = _number(stream)
  if found != kind:
    raise ValueError(f"Invalid magic number {found} in MNIST {what} file: {name}")


def _number(stream: Any) -> int:
  return int.from_bytes(stream.read(4), "big")


def _bytes(stream: Any, count: int) -> np.ndarray:
  return np.frombuffer(stream.read(count), np.uint8)


def dense_to_one_hot(labels_dense: np.ndarray, num_classes: int) -> np.ndarray:
  """Returns float64 [labels, classes]: a one in the column of each label.

  Like TF1 it counts on through the rows where a label is `num_classes` or more.
  """
  count = labels_dense.shape[0]
  rows = np.zeros((count, num_classes))
  rows.flat[np.arange(count) * num_classes + labels_dense.ravel()] = 1
  return rows


class DataSet:
  """Images and labels, and batches of them in a random order.

  The order comes from numpy's global generator, which each new DataSet seeds.

  Args:
    images: uint8 [examples, height, width, depth].
    labels: [examples, ...].
    fake_data: whether there are no data but those of `next_batch(fake_data=True)`.
    one_hot: of these.
    dtype: of the images: float32 in [0, 1], or uint8.
    reshape: whether an image becomes a row; depth has to be 1.
    seed: of the shuffling; by default that of the graph, if it has one.

  Raises:
    TypeError: for another dtype.
  """

  def __init__(
    self,
    images: Any,
    labels: Any,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = tf.float32,
    reshape: bool = True,
    seed: Optional[int] = None,
  ):
    of_graph, of_operation = v1.get_seed(seed)
    np.random.seed(of_graph if seed is None else of_operation)
    dtype = tf.as_dtype(dtype).base_dtype
    if dtype not in (tf.uint8, tf.float32):
      raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
    if fake_data:
      self._num_examples = 10000
      self.one_hot = one_hot
    else:
      assert len(images) == len(labels), f"{len(images)} images and {len(labels)} labels"
      self._num_examples = images.shape[0]
      if reshape:
        assert images.shape[3] == 1, f"images of depth {images.shape[3]} cannot be rows"
        images = images.reshape(images.shape[0], images.shape[1] * images.shape[2])
      if dtype == tf.float32:
        images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
    self._images = images
    self._labels = labels
    self._epochs_completed = 0
    self._index_in_epoch = 0

  @property
  def images(self) -> Any:
    """In the order of the current epoch."""
    return self._images

  @property
  def labels(self) -> Any:
    """In the order of the current epoch."""
    return self._labels

  @property
  def num_examples(self) -> int:
    return self._num_examples

  @property
  def epochs_completed(self) -> int:
    return self._epochs_completed

  def next_batch(self, batch_size: int, fake_data: bool = False, shuffle: bool = True) -> Any:
    """Returns the next images and labels; a batch at the end of an epoch goes on in the next one.

    Args:
      batch_size: how many.
      fake_data: whether lists of ones are wanted.
      shuffle: whether an epoch that begins here has a new order.
    """
    if fake_data:
      label: Any = [1] + [0] * 9 if self.one_hot else 0
      return [[1] * 784 for _ in range(batch_size)], [label for _ in range(batch_size)]
    start = self._index_in_epoch
    if shuffle and start == 0 and self._epochs_completed == 0:
      self._shuffle()
    self._index_in_epoch = start + batch_size
    if self._index_in_epoch <= self._num_examples:
      return self._between(start, self._index_in_epoch)
    self._epochs_completed += 1
    rest = self._between(start, self._num_examples)
    if shuffle:
      self._shuffle()
    self._index_in_epoch -= self._num_examples
    new = self._between(0, self._index_in_epoch)
    return tuple(np.concatenate(parts, axis=0) for parts in zip(rest, new))

  def _between(self, start: int, end: int) -> tuple[Any, Any]:
    return self._images[start:end], self._labels[start:end]

  def _shuffle(self) -> None:
    order = np.arange(self._num_examples)
    np.random.shuffle(order)
    self._images, self._labels = self._images[order], self._labels[order]


def load_csv_with_header(
  filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Any:
  """Returns `Dataset(data, target)` of a file whose first row begins with its numbers of rows and features.

  Args:
    filename: of the CSV file.
    target_dtype: of `target` [rows].
    features_dtype: of `data` [rows, features].
    target_column: which column is the target.
  """
  with v1.gfile.Open(filename) as file:
    lines = csv.reader(file)
    header = next(lines)
    data = np.zeros((int(header[0]), int(header[1])), dtype=features_dtype)
    target = np.zeros((int(header[0]),), dtype=target_dtype)
    for number, row in enumerate(lines):
      target[number] = np.asarray(row.pop(target_column), dtype=target_dtype)
      data[number] = np.asarray(row, dtype=features_dtype)
  return Dataset(data=data, target=target)


def load_csv_without_header(
  filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Any:
  """Returns `Dataset(data, target)` of a file that has rows of data only; see `load_csv_with_header`."""
  data, target = [], []
  with v1.gfile.Open(filename) as file:
    for row in csv.reader(file):
      target.append(row.pop(target_column))
      data.append(np.asarray(row, dtype=features_dtype))
  return Dataset(data=np.array(data), target=np.array(target, dtype=target_dtype))
