"""What is asked of the data sets of `tf.contrib.learn`: in TensorFlow 1.15 and, in tests, of the runtime.

Runs with Python 3.7, too.
"""

import contextlib
import gzip
import hashlib
import io
import os
import struct

import numpy as np

FILES = {
  "train-images-idx3-ubyte.gz": (23, 5, 4),
  "train-labels-idx1-ubyte.gz": (23,),
  "t10k-images-idx3-ubyte.gz": (6, 5, 4),
  "t10k-labels-idx1-ubyte.gz": (6,),
}

# The arguments of read_data_sets, the graph's seed, and the sizes of batches: (size, shuffle).
SETS = {
  "as MNIST is read": ({"validation_size": 3, "seed": 11}, None, [(7, True)] * 8 + [(20, True)]),
  "one-hot labels": ({"validation_size": 3, "one_hot": True, "seed": 11}, None, [(7, True)]),
  "images that keep their form": (
    {"validation_size": 0, "reshape": False, "seed": 4},
    None,
    [(23, True), (23, True), (1, True)],
  ),
  "bytes": ({"validation_size": 3, "dtype": "uint8", "seed": 0}, None, [(9, True)] * 3),
  "without shuffling": (
    {"validation_size": 3, "seed": 2},
    None,
    [(9, False)] * 4 + [(9, True)] * 3,
  ),
  "the seed of the graph": ({"validation_size": 3}, 77, [(9, True)] * 3),
  "the seed of the graph and one of its own": ({"validation_size": 3, "seed": 5}, 77, [(9, True)]),
  "all of it for validation": ({"validation_size": 23, "seed": 1}, None, []),
}

FAKE = {"fake_data": True, "one_hot": True}

# What must fail: the arguments, and the file whose first bytes are wrong.
ERRORS = {
  "too much for validation": ({"validation_size": 24}, None),
  "another dtype": ({"validation_size": 3, "dtype": "float64"}, None),
  "no images": ({"validation_size": 3}, "train-images-idx3-ubyte.gz"),
  "no labels": ({"validation_size": 3}, "t10k-labels-idx1-ubyte.gz"),
}

HEADER = "3,2,a,b\n1.5,2,1\n3,4.25,0\n5,6,2\n"
ROWS = "7,1.5,2\n8,3,4.25\n"


def write_files(folder):
  """Writes files as those of MNIST, with a few small images."""
  for number, name in enumerate(sorted(FILES)):
    shape = FILES[name]
    random = np.random.RandomState(number)
    values = random.randint(0, 256 if len(shape) == 3 else 10, shape).astype(np.uint8)
    head = struct.pack(f">{len(shape) + 1}I", 2051 if len(shape) == 3 else 2049, *shape)
    with open(os.path.join(folder, name), "wb") as file:
      file.write(gzip.compress(head + values.tobytes(), 0))
  for name, text in (("header.csv", HEADER), ("rows.csv", ROWS)):
    with open(os.path.join(folder, name), "w") as file:
      file.write(text)


def told(array):
  """The dtype, shape and digest of an array."""
  array = np.asarray(array)
  digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]
  return [str(array.dtype), list(array.shape), digest]


def run(tf1, datasets, name, folder):
  """{what: value} for a case of SETS.

  Args:
    tf1: TensorFlow 1, or `tf.compat.v1`.
    datasets: a namespace with the functions.
    name: of the case.
    folder: has the files.
  """
  arguments, seed, batches = SETS[name]
  with tf1.Graph().as_default():
    if seed is not None:
      tf1.set_random_seed(seed)
    found = datasets.read_data_sets(folder, **arguments)
  result = {"fields": list(found._fields)}
  for part in found._fields:
    one = getattr(found, part)
    result[part] = [one.num_examples, told(one.images), told(one.labels)]
  result["batches"] = []
  for size, shuffle in batches:
    images, labels = found.train.next_batch(size, shuffle=shuffle)
    result["batches"].append([told(images), told(labels), found.train.epochs_completed])
  result["then"] = [told(found.train.images), told(found.train.labels), int(np.random.randint(999))]
  return result


def others(datasets, folder):
  """{what: value} for the other functions."""
  found = datasets.read_data_sets(folder, **FAKE)
  images, labels = found.test.next_batch(2, fake_data=True)
  result = {"fake": [found.train.num_examples, [sum(i) for i in images], labels]}
  for name in ("header", "rows"):
    path = os.path.join(folder, name + ".csv")
    load = getattr(datasets, "load_csv_with%s_header" % ("" if name == "header" else "out"))
    column = -1 if name == "header" else 0
    read = load(path, np.int64, np.float32, target_column=column)
    result[name] = [list(read._fields), told(read.data), told(read.target)]
  return result


def error(datasets, name, folder):
  """The type of the exception of a case of ERRORS."""
  arguments, spoilt = ERRORS[name]
  write_files(folder)
  if spoilt:
    with gzip.open(os.path.join(folder, spoilt), "wb") as file:
      file.write(b"\0\0\7\7" + b"\0" * 40)
  try:
    datasets.read_data_sets(folder, **arguments)
  except Exception as raised:
    return type(raised).__name__
  return ""


def download(datasets, source, folder):
  """What is printed where the files come from another place."""
  new = os.path.join(folder, "new", "place")
  printed = io.StringIO()
  with contextlib.redirect_stdout(printed):
    datasets.read_data_sets(new, validation_size=1, source_url=f"file://{source}/")
    datasets.maybe_download("rows.csv", new, f"file://{source}/rows.csv")
    datasets.maybe_download("rows.csv", new, "file://nowhere/rows.csv")
  return printed.getvalue().replace(new, "FOLDER").split("\n")
