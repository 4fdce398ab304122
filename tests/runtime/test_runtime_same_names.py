"""Functions of plain `tf` that the rewrite leaves in a TF1 file do what those of TF1 do."""

import inspect

import numpy as np
import pytest
import tensorflow as tf

from migrator.rewrite import same_names

v1 = tf.compat.v1
_RANDOM = np.random.RandomState(3)
X = _RANDOM.rand(3, 4).astype(np.float32) + 0.25
Y = _RANDOM.rand(3, 4).astype(np.float32) + 0.25
BOOLS = X > 0.7
IMAGES = _RANDOM.rand(2, 4, 4, 4).astype(np.float32)
LINES = np.array([b"1;2;x", b"3;;y"])
INPUT = {"input": X, "axis": 1, "name": "some"}
REDUCED = {"input_tensor": X, "axis": [1], "keepdims": True, "name": "some"}
UNARY = {"x": X - 0.6, "name": "some"}
POSITIVE = {"x": X, "name": "some"}
BINARY = {"x": X, "y": Y, "name": "some"}
FOLDED = {"fn": lambda a, b: a * 0.5 + b, "elems": X, "initializer": Y[0], "parallel_iterations": 1}
FEATURES = {
  "a": tf.io.FixedLenFeature([2], tf.float32),
  "b": tf.io.VarLenFeature(tf.int64),
  "c": tf.io.FixedLenFeature([], tf.string, "none"),
}


def _example(number):
  features = {
    "a": tf.train.Feature(float_list=tf.train.FloatList(value=[number, 0.5])),
    "b": tf.train.Feature(int64_list=tf.train.Int64List(value=list(range(number)))),
  }
  return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


# The arguments of TF2's functions.
EXAMPLES = {
  "tf.argmax": {**INPUT, "output_type": tf.int32},
  "tf.boolean_mask": {"tensor": X, "mask": BOOLS[:, 0], "axis": 0, "name": "some"},
  "tf.constant": {"value": [1, 2], "dtype": tf.float32, "name": "some"},
  "tf.convert_to_tensor": {
    "value": [1, 2],
    "dtype": tf.float32,
    "dtype_hint": tf.float64,
    "name": "some",
  },
  "tf.expand_dims": INPUT,
  "tf.gather": {
    "params": X,
    "indices": [[1], [0], [2]],
    "axis": 1,
    "batch_dims": 1,
    "name": "some",
  },
  "tf.gather_nd": {"params": X, "indices": [[1], [0], [2]], "batch_dims": 1, "name": "some"},
  "tf.map_fn": {
    "fn": lambda row: row * 2.0,
    "elems": X,
    "dtype": tf.float32,
    "infer_shape": False,
    "parallel_iterations": 1,
    "name": "some",
  },
  "tf.foldl": {**FOLDED, "name": "some"},
  "tf.scan": {**FOLDED, "reverse": True, "infer_shape": False, "name": "some"},
  "tf.ones_like": {"input": X, "dtype": tf.int32, "name": "some"},
  "tf.pad": {
    "tensor": X,
    "paddings": [[1, 1], [2, 2]],
    "mode": "CONSTANT",
    "constant_values": 3,
    "name": "some",
  },
  "tf.reduce_sum": REDUCED,
  "tf.reduce_all": {**REDUCED, "input_tensor": BOOLS},
  "tf.reverse_sequence": {
    "input": X,
    "seq_lengths": [1, 2, 4],
    "seq_axis": 1,
    "batch_axis": 0,
    "name": "some",
  },
  "tf.shape": {"input": X, "out_type": tf.int64, "name": "some"},
  "tf.squeeze": {"input": X[:, None, :, None], "axis": [1], "name": "some"},
  "tf.transpose": {"a": X, "perm": [1, 0], "name": "some"},
  "tf.norm": {"tensor": X, "ord": 1, "axis": 1, "keepdims": True, "name": "some"},
  "tf.nn.softmax": {"logits": X, "axis": 0, "name": "some"},
  "tf.nn.sigmoid_cross_entropy_with_logits": {"labels": Y, "logits": X, "name": "some"},
  "tf.nn.sparse_softmax_cross_entropy_with_logits": {
    "labels": [1, 0, 3],
    "logits": X,
    "name": "some",
  },
  "tf.nn.weighted_cross_entropy_with_logits": {
    "labels": Y,
    "logits": X,
    "pos_weight": 2.0,
    "name": "some",
  },
  "tf.nn.conv1d": {
    "input": IMAGES[0],
    "filters": IMAGES[1, :3],
    "stride": 2,
    "padding": "SAME",
    "name": "some",
  },
  "tf.nn.conv2d": {
    "input": IMAGES,
    "filters": IMAGES[:, :2],
    "strides": [1, 1, 1, 1],
    "padding": "VALID",
    "data_format": "NHWC",
    "name": "some",
  },
  "tf.nn.moments": {"x": X, "axes": [0], "keepdims": True, "name": "some"},
  "tf.nn.in_top_k": {"targets": [1, 0, 3], "predictions": X, "k": 2, "name": "some"},
  "tf.nn.leaky_relu": {"features": X - 0.6, "alpha": 0.3, "name": "some"},
  "tf.nn.relu6": {"features": X * 9, "name": "some"},
  "tf.nn.sigmoid": UNARY,
  "tf.nn.space_to_depth": {
    "input": IMAGES,
    "block_size": 2,
    "data_format": "NHWC",
    "name": "some",
  },
  "tf.math.abs": UNARY,
  "tf.math.log": POSITIVE,
  "tf.math.add": BINARY,
  "tf.math.confusion_matrix": {
    "labels": [0, 1],
    "predictions": [1, 1],
    "num_classes": 3,
    "weights": [2, 3],
    "dtype": tf.int64,
    "name": "some",
  },
  "tf.linalg.matmul": {
    "a": X,
    "b": Y,
    "transpose_a": False,
    "transpose_b": True,
    "name": "some",
  },
  "tf.io.parse_single_example": {"serialized": _example(2), "features": FEATURES, "name": "some"},
  "tf.io.parse_example": {
    "serialized": [_example(2), _example(1)],
    "features": FEATURES,
    "name": "some",
  },
  "tf.io.decode_csv": {
    "records": LINES,
    "record_defaults": [[0], [7.5], [""]],
    "field_delim": ";",
    "use_quote_delim": False,
    "na_value": "1",
    "select_cols": [0, 1, 2],
    "name": "some",
  },
  "tf.io.decode_raw": {
    "input_bytes": [b"abcd"],
    "out_type": tf.int16,
    "little_endian": False,
    "name": "some",
  },
  "tf.strings.length": {"input": ["häh"], "unit": "UTF8_CHAR", "name": "some"},
  "tf.strings.substr": {"input": ["häh!"], "pos": 1, "len": 2, "unit": "UTF8_CHAR", "name": "some"},
}
# One run of many operations: to optimize them takes longer.
_CONFIG = v1.ConfigProto()
_CONFIG.graph_options.rewrite_options.disable_meta_optimizer = True
# Without these arguments TF2's function is not called.
NEEDED = {
  "tf.linalg.matmul": ("transpose_b",),
  "tf.io.decode_csv": ("field_delim",),
  "tf.reverse_sequence": ("seq_axis",),
}


def _lines():
  """{the first name of a line: (all of them, what may be given)}."""
  lines = {}
  for name, same in same_names.table().items():
    known = next((n for n, (_, s) in lines.items() if s is same), name)
    lines.setdefault(known, ([], same))[0].append(name)
  return lines


def _find(name, root):
  for part in name.split(".")[1:]:
    root = getattr(root, part)
  return root


def _calls(name, same, values):
  """Ways to call a function: (arguments by place, those by name)."""
  parameters = inspect.signature(_find(name, tf)).parameters.values()
  order = [p.name for p in parameters]
  needed = [p.name for p in parameters if p.default is p.empty or p.name in NEEDED.get(name, ())]
  needed += [n for n in ("labels", "logits") if n in order and n not in needed]
  placed = order[: same.positions]
  assert {*placed, *same.keywords} <= {*values, *order}, name
  yield (
    [values[n] for n in placed if n in values],
    {n: values[n] for n in needed if n not in placed},
  )
  first = [n for n in needed if n not in same.keywords]
  assert placed[: len(first)] == first, f"{name} cannot be called with {same.keywords}"
  optional = [n for n in values if n not in needed and n in same.keywords]
  for given in ((), optional):
    names = [*needed, *given]
    yield [values[n] for n in first], {n: values[n] for n in names if n not in first}


def _array(value, place):
  is_array = isinstance(value, np.ndarray) and value.dtype == np.float32
  return place(value) if is_array else value


def _called(function, call, place=tf.constant):
  args, kwargs = call
  args = [_array(a, place) for a in args]
  kwargs = {n: _array(a, place) for n, a in kwargs.items()}
  made = [a for a in (*args, *kwargs.values()) if tf.is_tensor(a) and a.dtype == tf.float32]
  return tf.nest.flatten(function(*args, **kwargs), expand_composites=True), made


def _with_gradients(function, call):
  """The results, and the gradients of the sum of their squares."""
  with tf.GradientTape() as tape:
    outputs, made = _called(function, call, lambda a: _watched(tape, a))
    real = [tf.reduce_sum(o * o) for o in outputs if o.dtype == tf.float32]
    total = tf.add_n(real) if real else None
  gradients = tape.gradient(total, made) if real and made else []
  return outputs + [tf.convert_to_tensor(g) for g in gradients if g is not None]


def _watched(tape, value):
  tensor = tf.constant(value)
  tape.watch(tensor)
  return tensor


def _each(run, calls):
  """What each call gives, or the error that it raises."""
  results = []
  for function, call in calls:
    try:
      results.append(run(function, call))
    except (ValueError, TypeError) as error:
      results.append(f"{type(error).__name__}: {error}")
  return results


def _eager(calls):
  return tf.nest.map_structure(_numpy, _each(_with_gradients, calls))


def _traced(calls):
  @tf.function(autograph=False)
  def traced():
    return _each(lambda function, call: _called(function, call)[0], calls)

  return tf.nest.map_structure(_numpy, traced())


def _numpy(value):
  return value.numpy() if tf.is_tensor(value) else value


def _in_graph(calls, shape="known"):
  """Results and static shapes; with `shape` None of tensors of which no shape is known."""
  with tf.Graph().as_default(), v1.Session(config=_CONFIG) as session:

    def placed(value):
      return v1.placeholder_with_default(value, value.shape if shape else None)

    made = _each(lambda function, call: _called(function, call, placed)[0], calls)
    values = session.run([m for m in made if not isinstance(m, str)])
  return [m if isinstance(m, str) else (values.pop(0), [str(o.shape) for o in m]) for m in made]


def _unknown(calls):
  return _in_graph(calls, None)


@pytest.mark.parametrize("mode", [_eager, _traced, _in_graph, _unknown])
def test_what_stays_plain_tf_gives_what_the_function_of_tf1_gives(mode):
  lines = _lines()
  assert set(lines) == set(EXAMPLES)
  calls = [
    (name, call)
    for first, (names, same) in lines.items()
    for name in _different(names)
    for call in _calls(name, same, _values(first, name))
  ]
  found = [mode([(_find(name, root), call) for name, call in calls]) for root in (v1, tf)]
  compared = 0
  for (name, call), old, new in zip(calls, *found):
    if isinstance(old, str):
      # Some functions of both ask for a known shape.
      assert mode is _unknown and isinstance(new, str), f"{name} {call}: {old}, {new}"
      continue
    np.testing.assert_equal(new, old, err_msg=f"{name} {call}")
    compared += 1
  assert compared > 180


def _different(names):
  """The names without second names of the same functions."""
  return {(_find(name, v1), _find(name, tf)): name for name in names}.values()


def _values(first, name):
  """The example of a line with the parameters of one of its names."""
  values = dict(EXAMPLES[first])
  if name == "tf.nn.depth_to_space":
    values["input"] = IMAGES
  own = inspect.signature(_find(name, tf)).parameters
  if "input" in own and "input" not in values and "x" in values:
    values["input"] = values.pop("x")
  return values


def test_what_is_listed_is_another_object_in_tf2_and_of_both_versions():
  for name in same_names.table():
    assert callable(_find(name, tf)) and callable(_find(name, v1)), name
