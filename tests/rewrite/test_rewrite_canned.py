"""DNNClassifier: what its arguments become, and which are refused."""

import pytest
from helpers import HEAD, TRAIN, codes, left_whole, run, transformed


def program(arguments, head=HEAD):
  return head + f"e = tf1.estimator.DNNClassifier({arguments})\n" + TRAIN


BASE = "[4, 3], columns, 'm', n_classes=3"


def test_layers_are_written_one_by_one():
  text = transformed(program(BASE))
  assert 'tf.keras.layers.Dense(4, activation="relu", name="hiddenlayer_0")(net)' in text
  assert 'tf.keras.layers.Dense(3, activation="relu", name="hiddenlayer_1")(net)' in text
  assert 'tf.keras.layers.Dense(3, name="logits")(net)' in text
  assert 'tf.keras.Model(inputs, logits, name="dnn")' in text


def test_hidden_units_from_a_variable_are_a_loop():
  text = transformed(program("sizes, columns, 'm', n_classes=3", HEAD + "sizes = load()\n"))
  assert "for i, units in enumerate(sizes):" in text
  assert 'name=f"hiddenlayer_{i}"' in text


def test_names_of_the_new_function_do_not_hide_the_users():
  text = transformed(program("units, columns, 'm', n_classes=3", HEAD + "units = load()\n"))
  assert "for i, layer_units in enumerate(units):" in text
  source = program("[net], columns, 'm', n_classes=3", HEAD + "net = 3\n")
  assert "`net`" in left_whole(source, "EM220")


def test_dropout_follows_each_hidden_layer():
  text = transformed(program(BASE + ", dropout=0.2"))
  assert text.count("tf.keras.layers.Dropout(0.2)(net)") == 2


def test_no_dropout_layer_without_dropout():
  assert "Dropout" not in transformed(program(BASE + ", dropout=None"))


@pytest.mark.parametrize(
  ("argument", "written"),
  [("tf.nn.tanh", "activation=tf.nn.tanh"), ("tf.nn.relu", 'activation="relu"')],
)
def test_activation(argument, written):
  assert written in transformed(program(BASE + f", activation_fn={argument}"))


def test_no_activation():
  assert "activation" not in transformed(program(BASE + ", activation_fn=None"))


def test_loss_is_the_sum_in_v1_and_the_mean_in_v2():
  v1 = transformed(program(BASE))
  assert 'reduction="sum"' in v1
  assert 'flavour="v1"' in v1
  v2 = run(program(BASE).replace("tf1.estimator", "tf.estimator")).text
  assert "reduction" not in v2
  assert 'flavour="v2"' in v2


def test_assumed_flavour_is_reported_and_certain_flavour_is_not():
  assert "EM213" not in codes(run(program(BASE)))
  assert "EM213" in codes(run(program(BASE).replace("tf1.estimator", "tf.estimator")))


@pytest.mark.parametrize(
  ("columns", "lines"),
  [
    ("[fc.numeric_column('a')]", ['inputs = {"a": tf.keras.Input([1], name="a")}']),
    ("[fc.numeric_column('a', 3)]", ['inputs = {"a": tf.keras.Input([3], name="a")}']),
    ("[fc.numeric_column('a/b')]", ['inputs = {"a/b": tf.keras.Input([1])}']),
    (
      "[fc.numeric_column(key='a', shape=(2, 3))]",
      ['tf.keras.Input((2, 3), name="a")', 'net = tf.keras.layers.Flatten()(inputs["a"])'],
    ),
    (
      "[fc.numeric_column('b'), fc.numeric_column('a')]",
      ["net = tf.keras.layers.Concatenate()([inputs[name] for name in sorted(inputs)])"],
    ),
    (
      "[fc.numeric_column(n) for n in NAMES]",
      ["inputs = {n: tf.keras.Input([1], name=n) for n in NAMES}"],
    ),
    ("[fc.numeric_column('a')] + more", ['"a": tf.keras.Input', '"c": tf.keras.Input']),
    ("list_of_columns", ["inputs = {k: tf.keras.Input([1], name=k) for k in NAMES}"]),
  ],
)
def test_numeric_columns(columns, lines):
  head = HEAD + (
    "fc = tf.feature_column\nmore = [fc.numeric_column('c')]\nNAMES = ['a', 'b']\nlist_of_columns = []\nfor k in NAMES:\n"
    "    list_of_columns.append(fc.numeric_column(key=k))\n"
  )
  text = transformed(program(f"[4, 3], {columns}, 'm', n_classes=3", head))
  for line in lines:
    assert line in text
  if columns == "list_of_columns":
    assert "append" not in text
    assert "list_of_columns" not in text


def test_empty_list_of_columns_is_refused():
  left_whole(program("[4, 3], [], 'm', n_classes=3"), "EM207")


def test_columns_appended_to_a_list_are_read():
  more = "columns.append(tf.feature_column.numeric_column('y'))\n"
  text = transformed(program(BASE, HEAD + more))
  assert '"y": tf.keras.Input([1], name="y")' in text
  assert '"x": tf.keras.Input([4], name="x")' in text
  assert "append" not in text


def test_columns_in_variables_and_appended_are_read():
  more = (
    "first = tf.feature_column.numeric_column('a')\n"
    "second = tf.feature_column.numeric_column('b')\n"
    "listed = [first]\nlisted.append(second)\n"
  )
  text = transformed(program(BASE.replace("columns", "listed"), HEAD + more))
  assert '"a": tf.keras.Input' in text
  assert '"b": tf.keras.Input' in text
  assert "numeric_column('a')" not in text
  assert "listed" not in text


def test_columns_that_others_read_stay():
  text = transformed(program(BASE) + "print(len(columns))\n")
  assert 'columns = [tf.feature_column.numeric_column("x", shape=[4])]' in text


@pytest.mark.parametrize(
  ("call", "code"),
  [
    ("tf1.estimator.experimental.RNNClassifier(columns)", "EM223"),
    ("tf1.estimator.BoostedTreesRegressor(columns, 1)", "EM260"),
    ("tf1.estimator.experimental.KMeans(3)", "EM261"),
    ("tf.compat.v2.estimator.BaselineClassifier()", "EM263"),
  ],
)
def test_other_estimators_are_reported(call, code):
  left_whole(HEAD + f"e = {call}\n" + TRAIN, code)


def test_second_equal_construction_shares_the_factory():
  source = program(BASE) + f"# Again.\ne = tf1.estimator.DNNClassifier({BASE})\n" + TRAIN
  fit = transformed(source)
  assert fit.count("def create_e") == 1
  assert fit.count("e = create_e()") == 2
  assert "# Again.\ne = create_e()" in fit
  loop = transformed(source, target="loop")
  assert loop.count("e = create_e()") == 1
  assert "# Again.\ntrain(" in loop


def test_second_construction_with_other_layers_has_its_own_factory():
  source = program(BASE) + f"e = tf1.estimator.DNNClassifier({BASE.replace('4', '5')})\n" + TRAIN
  assert "create_e()" in transformed(source)
  left_whole(source, "EM218", target="loop")


def test_eager_execution_turned_off_is_refused():
  left_whole(program(BASE) + "tf1.disable_v2_behavior()\n", "EM217")
