"""Canned estimators: optimizers made by functions, falling learning rates, looked-up rows, two parts."""

import re

import pytest
from helpers import HEAD, TRAIN, codes, left_whole, run, transformed

COLUMNS = (
  "fc = tf.feature_column\n"
  "color = fc.categorical_column_with_vocabulary_list('color', ['r', 'g'])\n"
  "deep = [fc.numeric_column('x'), fc.embedding_column(color, 2)]\n"
  "wide = [fc.numeric_column('x')]\n"
)
STEP = "tf1.train.get_global_step()"


def program(arguments, kind="DNNClassifier", head=HEAD, api="tf1"):
  return head + COLUMNS + f"e = {api}.estimator.{kind}({arguments})\n" + TRAIN


def dnn(optimizer, columns="columns", head=HEAD, **more):
  return program(f"[4], {columns}, 'm', optimizer={optimizer}", head=head, **more)


def compact(text):
  """The text without its layout."""
  return re.sub(r",([)\]}])", r"\1", "".join(text.split()))


def assert_written(code, source, **options):
  text = run(source, **options).text
  assert compact(code) in compact(text), text


@pytest.mark.parametrize(
  "given",
  [
    "lambda: tf1.train.AdagradOptimizer(rate)",
    "make",
    "functools.partial(tf1.train.AdagradOptimizer, learning_rate=rate)",
    "functools.partial(tf1.train.AdagradOptimizer, rate)",
  ],
)
def test_function_that_makes_the_optimizer_is_followed(given):
  head = HEAD + (
    "import functools\nrate = 0.2\n\ndef make():\n    '''Makes it.'''\n    speed = rate\n"
    "    return tf1.train.AdagradOptimizer(speed)\n\n"
  )
  assert_written("optimizer=tf.keras.optimizers.Adagrad(rate, epsilon=0.0)", dnn(given, head=head))


def test_class_of_an_optimizer_is_called():
  source = dnn("tf1.train.AdadeltaOptimizer")
  assert_written("optimizer=tf.keras.optimizers.Adadelta(0.001, epsilon=1e-8)", source)


@pytest.mark.parametrize(
  "head",
  [
    "def make(rate=0.1):\n    return tf1.train.AdagradOptimizer(rate)\n",
    "def make():\n    if FLAG:\n        return None\n    return tf1.train.AdagradOptimizer(0.1)\n",
    "def make():\n    return tf1.train.AdagradOptimizer(read_rate())\n",
    "make = lambda: other()\n",
  ],
)
def test_function_that_does_more_than_make_it_is_refused(head):
  left_whole(dnn("make", head=HEAD + head), "EM211")


def test_rate_that_has_another_value_when_the_training_begins_is_refused():
  source = dnn("lambda: tf1.train.AdagradOptimizer(rate)", head=HEAD + "rate = 0.1\n")
  left_whole(source + "rate = 0.2\n" + TRAIN, "EM211")


@pytest.mark.parametrize(
  ("rate", "schedule"),
  [
    (
      f"exponential_decay(0.1, {STEP}, 10, 0.9)",
      "ExponentialDecay(0.1, decay_steps=10, decay_rate=0.9)",
    ),
    (
      f"exponential_decay(0.1, {STEP}, 10, 0.9, staircase=True)",
      "ExponentialDecay(0.1, decay_steps=10, decay_rate=0.9, staircase=True)",
    ),
    (
      f"natural_exp_decay(0.1, {STEP}, 10, 0.5)",
      "ExponentialDecay(0.1, decay_steps=10, decay_rate=math.exp(-0.5))",
    ),
    (
      f"inverse_time_decay(0.1, {STEP}, 10, 0.5)",
      "InverseTimeDecay(0.1, decay_steps=10, decay_rate=0.5)",
    ),
    (
      f"polynomial_decay(0.1, global_step={STEP}, decay_steps=10, power=2.0)",
      "PolynomialDecay(0.1, decay_steps=10, power=2.0)",
    ),
    (
      f"piecewise_constant({STEP}, [5, 9], [0.1, 0.05, 0.01])",
      "PiecewiseConstantDecay([5, 9], values=[0.1, 0.05, 0.01])",
    ),
    (f"cosine_decay(0.1, {STEP}, 10)", "CosineDecay(0.1, decay_steps=10)"),
    (
      f"cosine_decay_restarts(0.1, {STEP}, 10)",
      "CosineDecayRestarts(0.1, first_decay_steps=10)",
    ),
  ],
)
def test_falling_learning_rate_is_a_schedule(rate, schedule):
  source = dnn(f"lambda: tf1.train.AdagradOptimizer(tf1.train.{rate})")
  assert_written(f"Adagrad(tf.keras.optimizers.schedules.{schedule}, epsilon=0.0)", source)


def test_step_and_rate_may_be_variables_of_the_function():
  head = HEAD + (
    "def make():\n    step = tf1.train.get_or_create_global_step()\n"
    "    rate = tf1.train.cosine_decay(0.1, step, 10)\n"
    "    return tf1.train.GradientDescentOptimizer(rate)\n"
  )
  schedule = "tf.keras.optimizers.schedules.CosineDecay(0.1, decay_steps=10)"
  assert_written(f"optimizer=tf.keras.optimizers.SGD({schedule})", dnn("make", head=head))


@pytest.mark.parametrize(
  "rate",
  [
    f"tf1.train.linear_cosine_decay(0.1, {STEP}, 10)",
    "tf1.train.exponential_decay(0.1, counter, 10, 0.9)",
    f"tf1.train.exponential_decay(0.1, {STEP} // 2, 10, 0.9)",
    f"tf1.train.exponential_decay(tf1.constant(0.1), {STEP}, 10, 0.9)",
    f"0.5 * tf1.train.exponential_decay(0.1, {STEP}, 10, 0.9)",
  ],
)
def test_rate_that_falls_otherwise_is_refused(rate):
  left_whole(dnn(f"lambda: tf1.train.AdagradOptimizer({rate})"), "EM211")


def test_momentum_under_a_schedule_is_that_of_the_runtime():
  rate = f"tf1.train.exponential_decay(0.1, {STEP}, 10, 0.9)"
  assert_written(
    "optimizer=runtime.optimizers.Momentum(tf.keras.optimizers.schedules.ExponentialDecay(",
    dnn(f"lambda: tf1.train.MomentumOptimizer({rate}, 0.9)"),
  )


@pytest.mark.parametrize(
  ("given", "dense", "sparse"),
  [
    (
      "'Adagrad'",
      "tf.keras.optimizers.Adagrad(0.05, epsilon=0.0)",
      "runtime.optimizers.Adagrad(0.05)",
    ),
    ("'Adam'", "tf.keras.optimizers.Adam(0.05, epsilon=1e-8)", "runtime.optimizers.Adam(0.05)"),
    ("'SGD'", "tf.keras.optimizers.SGD(0.05)", "tf.keras.optimizers.SGD(0.05)"),
    ("'Ftrl'", "tf.keras.optimizers.Ftrl(0.05)", "runtime.optimizers.Ftrl(0.05)"),
  ],
)
def test_looked_up_rows_need_the_kernels_of_tf1(given, dense, sparse):
  assert_written(f"optimizer={dense}", dnn(given))
  assert_written(f"optimizer={sparse}", dnn(given, "deep"))


@pytest.mark.parametrize(
  ("given", "dense", "sparse"),
  [
    (
      "Adagrad()",
      "tf.keras.optimizers.Adagrad(0.001, epsilon=1e-7)",
      "Adagrad(0.001, epsilon=1e-7)",
    ),
    (
      "legacy.Adam(0.1, beta_1=0.8)",
      "tf.keras.optimizers.Adam(0.1, beta_1=0.8, epsilon=1e-7)",
      "Adam(0.1, beta1=0.8, epsilon=1e-7)",
    ),
    (
      "Ftrl(l1_regularization_strength=0.1)",
      "tf.keras.optimizers.Ftrl(0.001, l1_regularization_strength=0.1)",
      "Ftrl(0.001, l1_regularization_strength=0.1)",
    ),
    (
      "Adadelta(1.0)",
      "tf.keras.optimizers.Adadelta(1.0, epsilon=1e-7)",
      "Adadelta(1.0, epsilon=1e-7)",
    ),
    (
      "Adagrad(tf.keras.optimizers.schedules.CosineDecay(0.1, 10))",
      "tf.keras.optimizers.Adagrad(tf.keras.optimizers.schedules.CosineDecay(0.1, 10), epsilon=1e-7)",
      "Adagrad(tf.keras.optimizers.schedules.CosineDecay(0.1, 10), epsilon=1e-7)",
    ),
  ],
)
def test_optimizer_of_v2(given, dense, sparse):
  given = f"tf.keras.optimizers.{given}"
  assert_written(f"optimizer={dense}", dnn(given, api="tf"))
  assert_written(f"optimizer=runtime.optimizers.{sparse}", dnn(given, "deep", api="tf"))


def test_momentum_of_keras_keeps_the_rate_in_the_velocity_and_is_refused_for_looked_up_rows():
  given = "tf.keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True)"
  assert_written(f"optimizer={given}", dnn(given, api="tf"))
  assert "momentum" in left_whole(dnn(given, "deep", api="tf"), "EM211")
  without = dnn("tf.keras.optimizers.SGD(0.1, momentum=0.0)", "deep", api="tf")
  assert_written("optimizer=tf.keras.optimizers.SGD(0.1, momentum=0.0)", without)


def test_rmsprop_of_keras_is_reported():
  result = run(dnn("'RMSProp'", api="tf"))
  assert "EM265" in codes(result)
  assert "tf.keras.optimizers.RMSprop(0.001, epsilon=1e-7)" in result.text
  left_whole(dnn("'RMSProp'", "deep", api="tf"), "EM211")


@pytest.mark.parametrize(
  ("api", "given", "written"),
  [
    ("tf1", "", "Ftrl(0.2)"),
    ("tf1", ", optimizer='Ftrl'", "Ftrl(0.2)"),
    ("tf1", ", optimizer=None", "Ftrl(0.2)"),
    ("tf1", ", optimizer='Adagrad'", "Adagrad(0.2, epsilon=0.0)"),
    ("tf", "", "Ftrl(0.2)"),
    ("tf", ", optimizer='Adagrad'", "Adagrad(0.2, epsilon=1e-7)"),
  ],
)
def test_optimizer_of_a_linear_estimator(api, given, written):
  source = program(f"wide, 'm'{given}", "LinearClassifier", api=api)
  assert_written(f"optimizer=tf.keras.optimizers.{written}", source)


def test_only_none_makes_the_rate_of_a_linear_estimator_depend_on_its_columns():
  columns = f"[{', '.join(f'fc.numeric_column({str(i)!r})' for i in range(64))}]"
  assert "Ftrl(0.125)" in transformed(program(f"{columns}, 'm', optimizer=None", "LinearRegressor"))
  assert "Ftrl(0.2)" in transformed(program(f"{columns}, 'm'", "LinearRegressor"))


@pytest.mark.parametrize(
  ("arguments", "pairs"),
  [
    (
      "",
      "(runtime.optimizers.Adagrad(0.001), {dnn}), (tf.keras.optimizers.Ftrl(0.005), {linear})",
    ),
    (
      ", linear_optimizer=tf1.train.GradientDescentOptimizer(0.1), dnn_optimizer='Adam'",
      "(runtime.optimizers.Adam(0.001), {dnn}), (tf.keras.optimizers.SGD(0.1), {linear})",
    ),
  ],
)
def test_each_part_of_a_wide_and_deep_model_has_its_optimizer(arguments, pairs):
  source = program(
    "'m', linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[4]" + arguments,
    "DNNLinearCombinedClassifier",
  )
  inside = pairs.format(dnn="dnn", linear="linear")
  assert_written(f"optimizer=runtime.optimizers.Combined([{inside}])", source)
  outside = pairs.format(dnn='e.get_layer("dnn")', linear='e.get_layer("linear")')
  assert_written(f"optimizer = runtime.optimizers.Combined([{outside}])", source, target="loop")


def test_one_part_of_a_wide_and_deep_model_has_one_optimizer():
  source = program("'m', wide, linear_optimizer='SGD'", "DNNLinearCombinedRegressor")
  assert_written("optimizer=tf.keras.optimizers.SGD(0.005)", source)
