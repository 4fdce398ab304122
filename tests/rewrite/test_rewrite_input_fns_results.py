"""Input functions that return tensors or an iterator's next element return the Dataset."""

import textwrap

import pytest
from helpers import HEAD, NEW, codes, left_whole, run, transformed

PLAIN = HEAD.replace(", shape=[4]", "")


def program(extra, call="f", method="train"):
  extra = textwrap.dedent(extra)
  train = NEW + f"e.{method}({call}{', max_steps=10' if method == 'train' else ''})\n"
  return PLAIN + extra + train


@pytest.mark.parametrize(
  "source",
  [
    "    return d.make_one_shot_iterator().get_next()\n",
    "    return tf1.data.make_one_shot_iterator(d).get_next()\n",
    "    it = d.make_one_shot_iterator()\n    return it.get_next()\n",
    "    it = tf1.data.make_one_shot_iterator(d)\n    x, y = it.get_next()\n    return x, y\n",
    "    x, y = d.make_one_shot_iterator().get_next()\n    return (x, y)\n",
    "    batch = d.make_one_shot_iterator().get_next()\n    return batch\n",
    "    batch = d.make_one_shot_iterator().get_next()\n    return batch, None\n",
    "    it = d.make_initializable_iterator()\n"
    "    tf1.add_to_collection(tf1.GraphKeys.TABLE_INITIALIZERS, it.initializer)\n"
    "    return it.get_next()\n",
  ],
)
def test_the_next_element_of_an_iterator_becomes_its_dataset(source):
  text = transformed(program("def f():\n    d = tf.data.Dataset.range(3)\n" + source))
  assert "def f():\n    d = tf.data.Dataset.range(3)\n    return d\n" in text
  assert "f().map(runtime.only_inputs(e))" in text


def test_a_chain_in_front_of_the_iterator_is_kept():
  source = (
    "def f():\n    return tf.data.Dataset.range(3).batch(2).make_one_shot_iterator().get_next()\n"
  )
  assert "return tf.data.Dataset.range(3).batch(2)\n" in transformed(program(source))


@pytest.mark.parametrize(
  "source",
  [
    "    x, y = it.get_next()\n    x['a'] = tf.math.log(x['a'])\n    return x, y\n",
    "    x, y = it.get_next()\n    return y, x\n",
    "    x, y = it.get_next()\n    return dict(x, b=1), y\n",
    "    print(it.output_types)\n    return it.get_next()\n",
    "    d = d.batch(2)\n    return it.get_next()\n",
    "    hook.init = it.initializer\n    return it.get_next()\n",
  ],
)
def test_elements_that_are_changed_or_iterators_that_others_use_are_refused(source):
  head = "def f():\n    d = tf.data.Dataset.range(3)\n    it = d.make_one_shot_iterator()\n"
  left_whole(program(head + source), "EM280")


@pytest.mark.parametrize(
  ("result", "batch"),
  [
    ("{'x': tf.constant([[1.0]])}, [0]", "({'x': tf.constant([[1.0]])}, [0])"),
    ("({'x': tf.constant([[1.0]])}, [0])", "({'x': tf.constant([[1.0]])}, [0])"),
    ("{'x': tf.constant([[1.0]])}, None", "{'x': tf.constant([[1.0]])}"),
    ("{'x': tf.constant([[1.0]])}", "{'x': tf.constant([[1.0]])}"),
  ],
)
def test_tensors_are_one_batch_that_is_read_again_at_each_step(result, batch):
  text = transformed(program(f"def f():\n    return {result}\n"))
  assert f"return tf.data.Dataset.from_tensors({batch}).repeat()\n" in text


def test_tensors_of_a_helper_function_are_a_dataset_in_the_helper():
  text = transformed(
    program("""
    def read(n):
        x = {'x': tf.constant([[1.0]] * n)}
        return x, [0] * n
    def f():
        return read(3)
    """)
  )
  assert "return tf.data.Dataset.from_tensors((x, [0] * n)).repeat()" in text
  assert "    return read(3)\n" in text


@pytest.mark.parametrize(
  ("body", "code"),
  [
    ("return {'x': tf.random.uniform([3, 1])}, [0, 0, 0]", "EM280"),
    ("x, y = tf1.train.batch([a, b], 3)\n    return {'x': x}, y", "EM280"),
    ("q = tf1.train.string_input_producer(['f'])\n    return {'x': q}, y", "EM280"),
    ("return {'x': elsewhere.read()}, [0]", "EM205"),
    ("return make()", "EM205"),
    ("return a, b, c", "EM205"),
    ("yield {'x': 1}, [0]", "EM205"),
  ],
)
def test_tensors_that_are_others_at_each_step_are_refused(body, code):
  left_whole(program(f"import elsewhere\ndef f():\n    {body}\n"), code)


def test_a_call_that_wants_the_tensors_gets_the_first_element():
  source = """
    def read(n):
        d = tf.data.Dataset.range(n)
        return d.make_one_shot_iterator().get_next()
    x, y = read(3)
    """
  result = run(program(source, "lambda: read(5)"))
  assert "x, y = next(iter(read(3)))\n" in result.text
  assert "read(5).map(" in result.text
  assert "EM281" in codes(result)


def test_functions_that_a_factory_returns_are_followed():
  source = """
    def make(n, *, size=3):
        def read(params=None):
            d = tf.data.Dataset.range(n)
            x, y = d.make_one_shot_iterator().get_next()
            return x, y
        return read
    f = make(3)
    """
  text = transformed(program(source))
  assert "        return d\n    return read\n" in text
  assert "f(params={}).map(" in text
  text = transformed(program(source, "make(4, size=2)"))
  assert "make(4, size=2)(params={}).map(" in text


def test_a_factory_of_lambdas_and_of_numpy_input_fn():
  text = transformed(
    program("def make(n):\n    return lambda: tf.data.Dataset.range(n)\n", "make(3)")
  )
  assert "make(3)().map(" in text
  source = """
    def make(n):
        return tf1.estimator.inputs.numpy_input_fn({'x': a}, b, n, 2, shuffle=False)
    """
  text = transformed(program(source, "make(3)"))
  assert "        return dataset.repeat(2).batch(n)\n" in text
  assert "    return numpy_input_fn\n" in text or "    return input_fn_2\n" in text


@pytest.mark.parametrize(
  ("method", "mode"), [("train", "train"), ("evaluate", "eval"), ("predict", "infer")]
)
def test_the_parameters_that_the_estimator_filled_are_given(method, mode):
  source = "def f(n=3, *, mode, params):\n    return tf.data.Dataset.range(n)\n"
  assert f'f(mode="{mode}", params={{}})' in transformed(program(source, method=method))
  named = "import functools\nf = functools.partial(g, 4)\ndef g(n, mode=None):\n"
  named += "    return tf.data.Dataset.range(n)\n"
  assert f'f(mode="{mode}")' in transformed(program(named, method=method))
  lambdas = program("", "lambda mode: input_fn()", method)
  assert f'(lambda mode: input_fn())(mode="{mode}")' in transformed(lambdas)


def test_mode_keys_are_their_values():
  source = "def f(mode=tf.estimator.ModeKeys.EVAL):\n    return tf.data.Dataset.range(3)\n"
  text = transformed(program(source + "g = f(tf1.estimator.ModeKeys.PREDICT)\n"))
  assert 'def f(mode="eval"):' in text
  assert 'g = f("infer")' in text
  assert 'f(mode="train")' in text


def test_target_column_of_pandas_input_fn_names_nothing_that_is_seen():
  call = "tf1.estimator.inputs.pandas_input_fn(x=a, y=b, shuffle=False, target_column='t')"
  text = transformed(program(f"f = {call}\n"))
  assert "({name: a[name].values for name in a}, b.values)" in text


def test_an_estimator_that_is_printed_is_reported():
  assert "EM282" in codes(run(program("", "input_fn") + "print(type(e))\n"))
