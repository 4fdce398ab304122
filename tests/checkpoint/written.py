"""TF1 checkpoints for the tests, written by TensorFlow's own Saver, and what they hold."""

import hashlib
import pathlib

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "fixtures" / "checkpoints"


def save(directory, build, step=7):
  """Saves what `build()` makes in a graph; returns the prefix.

  Args:
    directory: where to; made if absent.
    build: makes variables in the default graph; may return an op that is run once.
    step: the global step, None for no such variable.
  """
  pathlib.Path(directory).mkdir(parents=True, exist_ok=True)
  with tf.Graph().as_default():
    if step is not None:
      global_step = v1.get_variable(
        "global_step", [], tf.int64, v1.constant_initializer(step), trainable=False
      )
      v1.add_to_collection(v1.GraphKeys.GLOBAL_STEP, global_step)
    train = build()
    with v1.Session() as session:
      session.run(v1.global_variables_initializer())
      if train is not None:
        session.run(train)
      path = str(pathlib.Path(directory) / "model.ckpt")
      return v1.train.Saver().save(session, path, global_step=step, write_meta_graph=False)


def table(rows=20, parts=1, scope="dnn", optimizer=None, name="ids/embedding_weights"):
  """Returns a `build` of an embedding table, perhaps partitioned, and one step of an optimizer."""

  def build():
    partitioner = v1.fixed_size_partitioner(parts) if parts > 1 else None
    weights = v1.get_variable(
      name,
      [rows, 3],
      tf.float32,
      v1.random_uniform_initializer(-1, 1, seed=3),
      partitioner=partitioner,
    )
    pieces = list(weights) if parts > 1 else [weights]
    loss = tf.add_n([tf.reduce_sum(piece**2) for piece in pieces])
    with v1.variable_scope(scope):
      return (optimizer or v1.train.AdamOptimizer(0.1)).minimize(loss, var_list=pieces)

  return build


def odd(directory):
  """Saves tensors of all types, of no elements, with names that a graph could not have; the prefix."""
  values = {
    "half": np.array([1.5, np.inf, -0.0], np.float16),
    "brain": tf.constant([[1.5, -2.25, float("nan")]], tf.bfloat16),
    "double": np.array([[1e-300, np.nan]], np.float64),
    "count": np.array([2**62, -1], np.int64),
    "small": np.array([-3, 4], np.int8),
    "flags": np.array([True, False, True]),
    "words": np.array([b"", b"\xff\x00 bytes", b"x" * 300], object),
    "word": np.array(b"one", object),
    "nothing": np.zeros([0, 5], np.float32),
    "dots.and..dots/.S/x": np.array([3.0], np.float32),
    "a/b-c_d\\e>f:0": np.array([4.0], np.float32),
    "^with space/\u00fcml\u00e4ut": np.array([5.0], np.float32),
    "complex": np.array([1 + 2j], np.complex64),
    "global_step": np.array(7, np.int64),
  }
  pathlib.Path(directory).mkdir(parents=True)
  prefix = str(pathlib.Path(directory) / "model.ckpt-7")
  tf.raw_ops.SaveV2(
    prefix=prefix,
    tensor_names=list(values),
    shape_and_slices=[""] * len(values),
    tensors=[tf.constant(value) for value in values.values()],
  )
  return prefix


def value(prefix, keys):
  """Returns the value of one key or of the parts of a slot, by RestoreV2 alone."""
  reader = tf.train.load_checkpoint(prefix)
  shape = reader.get_variable_to_shape_map()[keys[0]]
  if len(keys) == 1:
    return reader.get_tensor(keys[0])
  from migrator.runtime import bundle

  index = bundle.read_index(prefix)
  result = np.zeros(shape, np.float32)
  seen = np.zeros(shape, bool)
  for key in keys:
    for bounds in index.entries[key].slices:
      spec = " ".join(map(str, shape)) + " " + ":".join(f"{a},{n}" for a, n in bounds)
      place = tuple(slice(a, a + n) for a, n in bounds)
      result[place] = tf.raw_ops.RestoreV2(
        prefix=prefix, tensor_names=[key], shape_and_slices=[spec], dtypes=[tf.float32]
      )[0]
      seen[place] = True
  assert seen.all()
  return result


def bits(array):
  """Returns what tells two values apart, bit for bit."""
  array = np.asarray(array)
  content = array.tolist() if array.dtype == object else array.tobytes()
  return str(array.dtype), array.shape, content


def snapshot(directory):
  """Returns path -> hash of everything in a directory, with the directories."""
  found = {}
  for path in sorted(pathlib.Path(directory).rglob("*")):
    name = path.relative_to(directory).as_posix()
    found[name] = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "directory"
  return found
