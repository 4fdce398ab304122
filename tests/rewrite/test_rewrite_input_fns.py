"""Input functions: tf.data pipelines for numpy_input_fn, calls for the rest."""

import pytest
from helpers import HEAD, NEW, codes, left_whole, run, transformed

from migrator.rewrite import emit


def program(input_fn, extra=""):
  return HEAD.replace(", shape=[4]", "") + extra + NEW + f"e.train({input_fn}, max_steps=10)\n"


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


@pytest.mark.parametrize(
  ("arguments", "kept"),
  [
    ("{'x': load(a)}, b", ["f_features = {'x': load(a)}", "f_labels = b"]),
    ("{'x': a}, next(b)", ["f_features = {'x': a}", "f_labels = next(b)"]),
  ],
)
def test_arrays_that_calls_make_are_made_once_at_the_old_place(arguments, kept):
  text = transformed(program("f", f"f = {NUMPY}({arguments}, shuffle=False)\n"))
  for line in kept:
    assert text.count(line) == 1
    assert text.index(line) < text.index("def f():")
  assert "from_tensor_slices((dict(f_features), f_labels))" in text


def test_array_that_gets_another_value_later_is_kept():
  text = transformed(program("f", f"a = 1\nf = {NUMPY}({{'x': a}}, b, shuffle=False)\na = 2\n"))
  assert "f_features = {'x': a}" in text


def test_features_of_other_shapes_are_given_the_shape_of_the_column():
  source = program("f", f"f = {NUMPY}({{'x': a}}, b, shuffle=False)\n")
  shaped = source.replace('numeric_column("x")', 'numeric_column("x", shape=[28, 28])')
  assert "only_inputs" not in transformed(source)
  assert "f().map(runtime.only_inputs(e)).take(steps)" in transformed(shaped)


def test_operators_are_parenthesised():
  number = transformed(program("f", f"f = {NUMPY}({{'x': a}}, b, 4, n or 10, shuffle=False)\n"))
  assert "drop_remainder=(n or 10) is None" in number
  extra = "one = tf.data.Dataset.range(3)\ntwo = tf.data.Dataset.range(4)\n"
  text = transformed(program("lambda: one if big else two", extra))
  assert "(one if big else two).map(runtime.only_inputs(e)).take(steps)" in text


def test_lambda_with_a_default_is_called_where_it_stands():
  extra = "def read(d):\n    return tf.data.Dataset.from_tensors(d)\n"
  text = transformed(program("lambda d=p: read(d)", extra))
  assert "(lambda d=p: read(d))().map(" in text


def test_numpy_input_fn_in_a_comprehension_is_refused():
  call = f"{NUMPY}({{'x': d}}, shuffle=False)"
  body = f"scores = [e.evaluate({call}) for d in parts]\n"
  left_whole(program("input_fn") + body, "EM205")


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
  assert "    dataset = input_fn().map(runtime.only_inputs(e))\n" in loop


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
    ("f", "def f(config):\n    return tf.data.Dataset.range(3)\n"),
    ("f", "def f(x):\n    return tf.data.Dataset.range(3)\n"),
    ("f", "from numpy import f\n"),
    ("lambda x: input_fn()", ""),
    ("lambda: np.input()", "import numpy as np\n"),
    ("f", "import elsewhere\nf = lambda: elsewhere.data().get_next()\n"),
    ("lambda mode, *rest: elsewhere.input()", "import elsewhere\n"),
    ("f", "def f():\n    return tf.data.Dataset.range(3)\ndef f():\n    return 3\n"),
    (
      "f",
      "def f():\n    return tf.data.Dataset.range(3)\ndef f(x):\n    return tf.data.Dataset.range(x)\n",
    ),
    ("f", f"f = {NUMPY}({{'x': a}}, b)\n"),
    ("f", f"f = {NUMPY}(**options)\n"),
    ("f", f"n = 1\nn = 2\nf = {NUMPY}({{'x': a}}, b, n, shuffle=False)\n"),
    ("f", "@wrapped\ndef f():\n    return tf.data.Dataset.range(3)\n"),
    ("f", "def f():\n    return tf.data.Dataset.range(3).get_single_element()\n"),
    (
      "f",
      "def f():\n    d = tf.data.Dataset.range(3)\n"
      "    return tf.data.experimental.get_single_element(d)\n",
    ),
    ("f", "def f(**options):\n    return tf.data.Dataset.range(3)\n"),
    ("f", "def f():\n    pass\n"),
  ],
)
def test_input_function_that_is_not_known_to_return_a_dataset_is_refused(input_fn, extra):
  left_whole(program(input_fn, extra), "EM205")


@pytest.mark.parametrize(
  ("input_fn", "extra", "called"),
  [
    ("f", "from elsewhere import f\n", 'f, mode="train"'),
    ("elsewhere.f", "import elsewhere\n", 'elsewhere.f, mode="train"'),
    ("elsewhere.make(3)", "import elsewhere\n", 'elsewhere.make(3), mode="train"'),
    ("f", "from elsewhere import make\nf = make(3)\n", 'f, mode="train"'),
    ("f", "from elsewhere import make\nf, g = make(3)\n", 'f, mode="train"'),
    ("lambda: elsewhere.f(3)", "import elsewhere\n", "lambda: elsewhere.f(3)"),
    (
      "lambda mode: elsewhere.f(mode)",
      "import elsewhere\n",
      'lambda mode: elsewhere.f(mode), mode="train"',
    ),
    (
      "functools.partial(f, 3)",
      "import functools\nfrom elsewhere import f\n",
      'functools.partial(f, 3), mode="train"',
    ),
    ("f", "import elsewhere\ndef f():\n    return elsewhere.data().shuffle(9).batch(3)\n", "f"),
    ("f", "from elsewhere import d\ndef f(mode):\n    return d.batch(3)\n", 'f, mode="train"'),
    ("f(3)", "from elsewhere import d\ndef f(n):\n    return lambda: d.batch(n)\n", "f(3)"),
    (
      "lambda: f(3)",
      "from elsewhere import d\n"
      "def f(n):\n    x = d['a'] if n else d['b']\n    x = x.batch(n)\n    return x.repeat()\n",
      "lambda: f(3)",
    ),
  ],
)
def test_what_another_module_gives_is_checked_by_the_running_program(input_fn, extra, called):
  result = run(program(input_fn, extra))
  expected = f"runtime.input_dataset({called}).map(runtime.only_inputs(e))"
  assert "".join(expected.split()) in "".join(result.text.split())
  assert "EM283" in codes(result)
  assert result.complete


def test_functions_of_one_name_that_all_give_datasets_need_not_be_told_apart():
  extra = "def f(n=1):\n    return tf.data.Dataset.range(n)\n"
  assert "f().map(" in transformed(program("f", extra + extra))
  assert "f(3).map(" in transformed(program("lambda: f(3)", extra + extra))


def test_a_lambda_over_several_lines_gets_onto_one():
  text = transformed(
    program(
      "lambda: f(\n          1,\n          2)",
      "def f(a, b):\n    return tf.data.Dataset.range(a)\n",
    )
  )
  assert "f(1, 2).map(" in text
  assert emit.joined("f(\n  (a,\n  ),\n)") == "f((a,),)"
  assert emit.joined("f(\n  (a),\n  b,\n)") == "f((a), b)"
