"""TF1's spelling of what TF2 still has: by the import where it can be, else name by name."""

import pytest

from tests.rewrite.replaced import codes, planned, replaced


def test_a_file_written_for_tf1_changes_one_line():
  text = "import tensorflow as tf\nx = tf.placeholder(tf.float32)\ny = tf.reduce_sum(x)\n"
  assert replaced(text) == text.replace("tensorflow as", "tensorflow.compat.v1 as")


def test_a_file_written_for_tf2_keeps_its_imports():
  text = "import tensorflow as tf\ny = tf.reduce_sum(tf.compat.v1.placeholder(tf.float32))\n"
  assert replaced(text) == text


def test_the_source_version_decides_over_the_text():
  text = "import tensorflow as tf\ny = tf.reduce_sum(x)\n"
  assert "import tensorflow.compat.v1 as tf" in replaced(text, source_version=1)


def test_from_imports_come_from_compat_v1_but_keras_modules_do_not_exist_there():
  new = replaced("""
    import tensorflow as tf
    from tensorflow import flags, nn
    from tensorflow.train import Saver
    from tensorflow.keras.layers import Dense
    import tensorflow.keras.backend as K
    x = tf.placeholder(tf.float32)
  """)
  assert "from tensorflow.compat.v1 import flags, nn\n" in new
  assert "from tensorflow.compat.v1.train import Saver\n" in new
  assert "from tensorflow.keras.layers import Dense\n" in new
  assert "import tensorflow.keras.backend as K\n" in new


def test_beside_other_rewritten_code_each_name_is_spelled():
  new = replaced(
    """
    import tensorflow as tf
    a = tf.placeholder(tf.float32)
    b = tf.nn.softmax_cross_entropy_with_logits(labels=a, logits=a)
    c = tf.losses.get_regularization_loss()
    d = tf.concat([a, a], 1)
    """,
    whole=False,
  )
  assert "import tensorflow as tf\n" in new
  assert "a = tf.compat.v1.placeholder(tf.float32)" in new
  assert "b = tf.compat.v1.nn.softmax_cross_entropy_with_logits(labels=a, logits=a)" in new
  assert "c = tf.compat.v1.losses.get_regularization_loss()" in new
  assert "d = tf.concat([a, a], 1)" in new


def test_a_name_that_compat_v1_lacks_keeps_the_import_as_it_is():
  new = replaced("""
    import tensorflow as tf
    a = tf.placeholder(tf.float32)
    b = tf.random.set_seed(3)
  """)
  assert "import tensorflow as tf\n" in new
  assert "a = tf.compat.v1.placeholder(tf.float32)" in new
  assert "b = tf.random.set_seed(3)" in new


def test_star_imports_of_tensorflow_are_refused_in_a_file_for_tf1():
  assert codes("from tensorflow import *\nimport tensorflow as tf\ntf.placeholder(1)\n") == [
    "EM907"
  ]


def test_values_of_dimensions_are_taken_by_a_function_that_knows_numbers():
  new = replaced("""
    import tensorflow as tf
    x = tf.placeholder(tf.float32)
    a = x.shape[-1].value
    b = x.get_shape()[0].value * 2
    shape = x.get_shape()
    c = [d.value for d in shape[1:]]
    last = x.shape[1]
    d = last.value
    e = shape.with_rank(2)[1].value
  """)
  assert "a = tf.compat.dimension_value(x.shape[-1])" in new
  assert "b = tf.compat.dimension_value(x.get_shape()[0]) * 2" in new
  assert "c = [tf.compat.dimension_value(d) for d in shape[1:]]" in new
  assert "d = tf.compat.dimension_value(last)" in new
  assert "e = tf.compat.dimension_value(shape.with_rank(2)[1])" in new


def test_values_of_other_things_stay_and_doubtful_ones_are_reported():
  text = """
    import tensorflow as tf
    x = tf.placeholder(tf.float32)
    a = config["x"].value
    b = summary.value[0].simple_value
    c = variable.value()
    def width(shape):
      return shape[-1].value
  """
  plan, obstacles = planned(text)
  assert not obstacles
  assert [f.code for f in plan.findings] == ["EM910"]
  assert "dimension_value" not in replaced(text)


def test_shapes_keep_their_dimensions_where_v2_behavior_is_off():
  text = """
    import tensorflow as tf
    tf.disable_v2_behavior()
    a = tf.placeholder(tf.float32).shape[-1].value
  """
  assert ".shape[-1].value" in replaced(text)


def _spelled(text):
  """The lines after the import, in a file whose names are spelled one by one."""
  new = replaced(f"import tensorflow as tf\na = tf.placeholder(tf.float32)\n{text}\n", whole=False)
  return new.split("a = tf.compat.v1.placeholder(tf.float32)\n")[1].rstrip("\n")


@pytest.mark.parametrize(
  "text",
  [
    "tf.argmax(x, 1)",
    "tf.reduce_mean(x, axis=1)",
    "tf.nn.softmax(x)",
    "tf.expand_dims(x, -1)",
    "tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x)",
    "tf.data.Dataset.from_tensor_slices(x).batch(3)",
    "dense(x, 3, activation=tf.nn.softmax)",
    "isinstance(x, tf.data.Dataset)",
  ],
)
def test_what_does_the_same_in_tf2_keeps_its_name(text):
  assert _spelled(text) == text


@pytest.mark.parametrize(
  "text, new",
  [
    ("tf.argmax(x, dimension=1)", "tf.compat.v1.argmax(x, dimension=1)"),
    ("tf.argmax(x, 1, n)", "tf.compat.v1.argmax(x, 1, n)"),
    ("tf.reduce_mean(x, keep_dims=True)", "tf.compat.v1.reduce_mean(x, keep_dims=True)"),
    ("tf.reduce_sum(*x)", "tf.compat.v1.reduce_sum(*x)"),
    ("tf.reduce_sum(x, **y)", "tf.compat.v1.reduce_sum(x, **y)"),
    ("f = tf.reduce_sum", "f = tf.compat.v1.reduce_sum"),
    ("map(tf.expand_dims, x)", "map(tf.compat.v1.expand_dims, x)"),
    ("tf.shape(x, name, t)", "tf.compat.v1.shape(x, name, t)"),
    ("tf.constant(0, tf.int32, [3])", "tf.compat.v1.constant(0, tf.int32, [3])"),
    ("tf.where(x)", "tf.compat.v1.where(x)"),
    (
      "tf.data.Dataset.range(3).make_one_shot_iterator()",
      "tf.compat.v1.data.Dataset.range(3).make_one_shot_iterator()",
    ),
    ("tf.data.Dataset.range(3).output_types", "tf.compat.v1.data.Dataset.range(3).output_types"),
  ],
)
def test_what_differs_in_tf2_gets_the_name_of_tf1(text, new):
  assert _spelled(text) == new
