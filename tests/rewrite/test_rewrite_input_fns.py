"""Input functions: tf.data pipelines for numpy_input_fn, calls for the rest."""

import pytest
from helpers import HEAD, NEW, codes, left_whole, run, transformed


def program(input_fn, extra=""):
  return HEAD + extra + NEW + f"e.train({input_fn}, max_steps=10)\n"


NUMPY = "tf1.estimator.inputs.numpy_input_fn"


@pytest.mark.parametrize(
  ("arguments", "chain"),
  [
    ("batch_size=50, num_epochs=10, shuffle=False", "return dataset.repeat(10).batch(50)"),
    ("shuffle=False", "return dataset.batch(128)"),
    ("num_epochs=1, shuffle=False", "return dataset.batch(128)"),
    (
      "num_epochs=None, shuffle=False",
      "return dataset.repeat().batch(128, drop_remainder=True)",
    ),
    (
      "num_epochs=n, shuffle=False",
      "return dataset.repeat(n).batch(128, drop_remainder=n is None)",
    ),
    ("num_epochs=2, shuffle=True", "return dataset.repeat(2).shuffle(1000).batch(128)"),
    ("shuffle=True, queue_capacity=7", "return dataset.shuffle(7).batch(128)"),
  ],
)
def test_numpy_input_fn_repeats_then_shuffles_then_batches(arguments, chain):
  source = program("f", f"f = {NUMPY}(x={{'x': a}}, y=b, {arguments})\n")
  text = transformed(source)
  assert "def f():" in text
  assert "dataset = tf.data.Dataset.from_tensor_slices(({'x': a}, b))" in text
  assert chain in text
  assert "f().take(steps)" in text


def test_shuffle_that_only_the_run_knows_is_an_if():
  text = transformed(program("f", f"f = {NUMPY}({{'x': a}}, b, 5, 2, shuffle=not quick)\n"))
  assert "    if not quick:\n        dataset = dataset.shuffle(1000)\n" in text


@pytest.mark.parametrize(("shuffle", "reported"), [("True", True), ("False", False), ("s", True)])
def test_shuffled_order_is_reported(shuffle, reported):
  source = program("f", f"f = {NUMPY}({{'x': a}}, b, shuffle={shuffle})\n")
  assert ("EM206" in codes(run(source))) is reported


def test_numpy_input_fn_in_the_call_gets_a_function():
  text = transformed(program(f"{NUMPY}({{'x': a}}, b, shuffle=False)"))
  assert "def input_fn_2():" in text or "def numpy_input_fn():" in text
  assert "numpy_input_fn().take(steps)" in text


def test_pandas_input_fn_yields_the_columns_of_the_frame():
  call = "tf1.estimator.inputs.pandas_input_fn(x=frame, y=target, shuffle=False)"
  text = transformed(program("f", f"f = {call}\n"))
  assert "({name: frame[name].values for name in frame}, target.values)" in text


def test_features_that_no_column_reads_are_dropped_unless_the_file_shows_there_are_none():
  known = transformed(program("f", f"f = {NUMPY}({{'x': a}}, b, shuffle=False)\n"))
  assert "only_inputs" not in known
  more = transformed(program("f", f"f = {NUMPY}({{'x': a, 'id': c}}, b, shuffle=False)\n"))
  assert "f().map(runtime.only_inputs(e)).take(steps)" in more
  unknown = transformed(program("input_fn"))
  assert "input_fn().map(runtime.only_inputs(e)).take(steps)" in unknown
  loop = transformed(program("input_fn"), target="loop")
  assert "    dataset = dataset.map(runtime.only_inputs(e))\n" in loop


@pytest.mark.parametrize(
  ("input_fn", "dataset"),
  [
    ("input_fn", "input_fn()"),
    ("lambda: input_fn()", "input_fn()"),
    ("lambda: read(path, size=3)", "read(path, size=3)"),
    ("functools.partial(read, path, size=3)", "read(path, size=3)"),
    ("named", "named()"),
  ],
)
def test_function_that_returns_a_dataset_is_called(input_fn, dataset):
  extra = (
    "import functools\n"
    "def read(path, size):\n"
    "    dataset = tf.data.TextLineDataset(path)\n"
    "    dataset = dataset.map(parse)\n"
    "    if size:\n"
    "        dataset = dataset.batch(size)\n"
    "    return dataset\n"
    "named = lambda: read(path, 3)\n"
  )
  text = transformed(program(input_fn, extra))
  assert f"{dataset}.map(runtime.only_inputs(e)).take(steps)" in text
  if "partial" in input_fn:
    assert "import functools" not in text


@pytest.mark.parametrize(
  ("input_fn", "extra"),
  [
    ("f", "def f():\n    return features, labels\n"),
    (
      "f",
      "def f():\n    d = tf1.data.Dataset.range(3)\n"
      "    return d.make_one_shot_iterator().get_next()\n",
    ),
    ("f", "def f(params):\n    return tf.data.Dataset.range(3)\n"),
    ("f", "def f(x):\n    return tf.data.Dataset.range(3)\n"),
    ("f", "from elsewhere import f\n"),
    ("make(3)", "def make(n):\n    return lambda: tf.data.Dataset.range(n)\n"),
    ("lambda x: input_fn()", ""),
    ("lambda: elsewhere.input()", "import elsewhere\n"),
    ("f", f"f = {NUMPY}({{'x': a}}, b)\n"),
    ("f", f"f = {NUMPY}(**options)\n"),
    ("f", f"a = 1\na = 2\nf = {NUMPY}({{'x': a}}, b, shuffle=False)\n"),
    ("f", "def f():\n    pass\n"),
  ],
)
def test_input_function_that_is_not_known_to_return_a_dataset_is_refused(input_fn, extra):
  left_whole(program(input_fn, extra), "EM205")
