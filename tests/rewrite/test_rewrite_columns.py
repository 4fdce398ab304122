"""Each kind of feature column, and the layers that it becomes."""

import pytest
from column_helpers import block, layers, program, result_of
from helpers import codes, left_whole, run, transformed

WORDS = "fc.categorical_column_with_vocabulary_list('w', ['a', 'b'])"
HASH = "fc.categorical_column_with_hash_bucket('h', 100)"


@pytest.mark.parametrize(
  ("column", "layer"),
  [
    ("fc.numeric_column('x')", 'inputs["x"]'),
    ("fc.numeric_column('x', default_value=0.5)", 'inputs["x"]'),
    ("fc.numeric_column('x', ())", 'inputs["x"]'),
    ("fc.numeric_column('x', (2, 3))", 'tf.keras.layers.Flatten()(inputs["x"])'),
    (
      "fc.bucketized_column(fc.numeric_column('x'), [1, 5])",
      'tf.keras.layers.Discretization(bin_boundaries=[1, 5], output_mode="one_hot")(inputs["x"])',
    ),
    (
      "fc.bucketized_column(fc.numeric_column('x', 2), [1, 5])",
      'runtime.columns.Indicator(6)(runtime.columns.BucketIds([1, 5])(inputs["x"]))',
    ),
    (
      f"fc.indicator_column({WORDS})",
      'runtime.columns.Indicator(2)(runtime.columns.VocabularyIds(["a", "b"])(inputs["w"]))',
    ),
    (
      "fc.indicator_column(fc.categorical_column_with_identity('i', 7, default_value=0))",
      'runtime.columns.Indicator(7)(runtime.columns.IdentityIds(7, default_value=0)(inputs["i"]))',
    ),
    (
      f"fc.indicator_column({HASH})",
      'runtime.columns.Indicator(100)(runtime.columns.HashIds(100)(inputs["h"]))',
    ),
    (
      "fc.indicator_column(fc.categorical_column_with_vocabulary_list('w', (3, 5), "
      "num_oov_buckets=2))",
      "runtime.columns.Indicator(4)"
      '(runtime.columns.VocabularyIds((3, 5), num_oov_buckets=2)(inputs["w"]))',
    ),
    (
      "fc.indicator_column(fc.categorical_column_with_vocabulary_file('w', 'w.txt', 9))",
      "runtime.columns.Indicator(9)"
      '(runtime.columns.VocabularyFileIds("w.txt", vocabulary_size=9)(inputs["w"]))',
    ),
    (
      f"fc.embedding_column({HASH}, 8)",
      'runtime.columns.Embedding(100, 8, name="h_embedding")'
      '(runtime.columns.HashIds(100)(inputs["h"]))',
    ),
    (
      f"fc.embedding_column({HASH}, 8, 'sum', max_norm=2.0, trainable=False, "
      "ckpt_to_load_from='c', tensor_name_in_ckpt='t', initializer=None)",
      'runtime.columns.Embedding(100, 8, combiner="sum", ckpt_to_load_from="c", '
      'tensor_name_in_ckpt="t", max_norm=2.0, trainable=False, name="h_embedding")'
      '(runtime.columns.HashIds(100)(inputs["h"]))',
    ),
    (
      f"fc.embedding_column({HASH}, 8, initializer=tf1.truncated_normal_initializer())",
      "runtime.columns.Embedding(100, 8, "
      'embeddings_initializer=tf1.truncated_normal_initializer(), name="h_embedding")'
      '(runtime.columns.HashIds(100)(inputs["h"]))',
    ),
    (
      f"fc.indicator_column(fc.crossed_column(['a', {WORDS}], 10, hash_key=3))",
      "runtime.columns.Indicator(10)(runtime.columns.CrossIds(10, hash_key=3)"
      '([inputs["a"], runtime.columns.VocabularyIds(["a", "b"])(inputs["w"])]))',
    ),
    (
      f"fc.embedding_column(fc.weighted_categorical_column({HASH}, 'weight'), 3)",
      'runtime.columns.Embedding(100, 3, name="h_weighted_by_weight_embedding")'
      "(runtime.columns.WeightedIds()"
      '([runtime.columns.HashIds(100)(inputs["h"]), inputs["weight"]]))',
    ),
  ],
  ids=[
    "numeric",
    "numeric with a default",
    "numeric scalar",
    "numeric with a shape",
    "bucketized",
    "bucketized of two numbers",
    "indicator",
    "identity",
    "hash bucket",
    "integers and buckets for the others",
    "vocabulary file",
    "embedding",
    "embedding with all arguments",
    "embedding with an initializer",
    "cross",
    "weighted",
  ],
)
def test_column_of_a_dnn_becomes_layers(column, layer):
  assert block(column) == layer


def test_creators_of_compat_v1_are_the_same():
  column = "tf1.feature_column.numeric_column('x')"
  assert block(f"tf1.feature_column.bucketized_column({column}, [1])") == block(
    "fc.bucketized_column(fc.numeric_column('x'), [1])"
  )


@pytest.mark.parametrize(
  ("column", "made"),
  [
    (HASH, '"h": tf.keras.Input([None], dtype="string", name="h")'),
    (
      "fc.categorical_column_with_hash_bucket('h', 9, tf.int32)",
      '"h": tf.keras.Input([None], dtype="int64", name="h")',
    ),
    (
      "fc.categorical_column_with_identity('a/b', 9)",
      '"a/b": tf.keras.Input([None], dtype="int64")',
    ),
    (
      "fc.categorical_column_with_vocabulary_list('w', [1, 2])",
      '"w": tf.keras.Input([None], dtype="int64", name="w")',
    ),
    (
      f"fc.weighted_categorical_column({HASH}, 'weight')",
      '"weight": tf.keras.Input([None], name="weight")',
    ),
  ],
)
def test_categorical_features_are_inputs_of_any_number_of_values(column, made):
  assert made in layers(f"[fc.indicator_column({column})]")[0]


def test_features_of_parsed_examples_are_sparse_inputs():
  parse = """
    def parse(serialized):
        spec = {"h": tf.io.VarLenFeature(tf.string), "y": tf.io.FixedLenFeature([], tf.int64)}
        features = tf.io.parse_single_example(serialized, spec)
        return features, features.pop("y")


    def parsed_fn():
        return tf.data.TFRecordDataset("x").map(parse).batch(3)


    """
  source = program(f"[fc.indicator_column({HASH})]", parse).replace(
    "train(input_fn", "train(parsed_fn"
  )
  assert 'dtype="string", sparse=True, name="h")' in transformed(source)


def test_blocks_are_in_the_order_of_the_names_of_the_columns():
  columns = f"[fc.numeric_column('z'), fc.embedding_column({HASH}, 2), fc.numeric_column('a')]"
  net = layers(columns)[-1]
  assert net.index('inputs["a"]') < net.index("h_embedding") < net.index('inputs["z"]')


def test_ids_that_two_columns_read_are_a_variable():
  head = f"h = {HASH}\n"
  lines = layers("[fc.indicator_column(h), fc.embedding_column(h, 2)]", head)
  assert lines[1] == 'h = runtime.columns.HashIds(100)(inputs["h"])'
  assert "Indicator(100)(h)" in lines[2]
  assert lines[2].count("HashIds") == 0


def test_variables_do_not_hide_what_the_users_code_reads():
  head = "h = 3\n"
  column = "fc.categorical_column_with_hash_bucket('h', h)"
  lines = layers(f"[fc.indicator_column({column}), fc.embedding_column({column}, h)]", head)
  assert lines[1] == 'h_ids = runtime.columns.HashIds(h)(inputs["h"])'


def test_vocabulary_and_boundaries_that_have_names_keep_them():
  head = "WORDS = ['a', 'b']\nEDGES = [1.0, 2.0]\nSIZE = 50\nKEY = 'k'\n"
  net = layers(
    "[fc.indicator_column(fc.categorical_column_with_vocabulary_list('w', WORDS)), "
    "fc.bucketized_column(fc.numeric_column('x'), EDGES), "
    "fc.embedding_column(fc.categorical_column_with_hash_bucket(KEY, SIZE), SIZE // 10)]",
    head,
  )[-1]
  assert 'Indicator(len(WORDS))(runtime.columns.VocabularyIds(WORDS)(inputs["w"]))' in net
  assert "bin_boundaries=EDGES" in net
  assert 'Embedding(SIZE, SIZE // 10, name="k_embedding")' in net
  assert "HashIds(SIZE)(inputs[KEY])" in net


def test_size_of_a_vocabulary_file_is_read_when_the_program_runs():
  column = "fc.categorical_column_with_vocabulary_file('w', 'w.txt')"
  lines = layers(f"[fc.indicator_column({column})]")
  assert lines[1:] == [
    'w_vocabulary = runtime.columns.VocabularyFileIds("w.txt")',
    'net = runtime.columns.Indicator(w_vocabulary.num_buckets)(w_vocabulary(inputs["w"]))',
  ]


@pytest.mark.parametrize(
  ("creator", "variable"),
  [
    ("tf1.feature_column.shared_embedding_columns", ""),
    ("fc.shared_embeddings", ', variable_name="input_from_feature_columns/a_b_shared_embedding"'),
  ],
)
def test_shared_embedding_is_one_layer_with_the_variable_of_its_api(creator, variable):
  head = "".join(f"{k} = fc.categorical_column_with_identity('{k}', 5)\n" for k in "ab")
  lines = layers(f"{creator}([b, a], 3)", head)
  assert lines[1] == (
    f'a_b_shared_embedding = runtime.columns.Embedding(5, 3, name="a_b_shared_embedding"{variable})'
  )
  assert lines[2].count("a_b_shared_embedding(") == 2


def test_shared_embedding_of_a_v2_estimator_is_named_from_the_top_and_not_trained():
  head = "".join(f"{k} = fc.categorical_column_with_identity('{k}', 5)\n" for k in "ab")
  source = program("fc.shared_embeddings([a, b], 3)", head).replace("tf1.est", "tf.compat.v2.est")
  text = " ".join(run(source).text.split())
  assert 'variable_name="/a_b_shared_embedding", trainable=False' in text


def test_shared_embeddings_that_others_read_are_reported():
  head = (
    "a = fc.categorical_column_with_identity('a', 5)\nshared = fc.shared_embeddings([a], 3)\n"
    "spec = fc.make_parse_example_spec(shared)\n"
  )
  result = result_of("shared", head)
  assert result.changed
  assert "EM253" in codes(result)
  assert "shared = fc.shared_embeddings([a], 3)" in result.text


def test_linear_part_has_ids_and_numbers_by_the_names_of_the_columns():
  columns = (
    f"[fc.numeric_column('x', 3), {HASH}, fc.bucketized_column(fc.numeric_column('y'), [1]), "
    f"fc.crossed_column(['b', 'a'], 10), fc.indicator_column({WORDS})]"
  )
  lines = layers(columns, part="linear")
  assert lines[-1] == (
    'logits = runtime.columns.LinearModel(1, num_buckets={"a_X_b": 10, "h": 100, "y_bucketized": 2},'
    ' name="linear_model")({"a_X_b": runtime.columns.CrossIds(10)([inputs["b"], inputs["a"]]), '
    '"h": runtime.columns.HashIds(100)(inputs["h"]), '
    '"w_indicator": runtime.columns.Indicator(2)'
    '(runtime.columns.VocabularyIds(["a", "b"])(inputs["w"])), "x": inputs["x"], '
    '"y_bucketized": runtime.columns.BucketIds([1])(inputs["y"])})'
  )


def test_cross_of_a_cross_has_the_keys_of_both():
  inner = f"fc.crossed_column(['b', {WORDS}], 5)"
  lines = layers(f"[fc.crossed_column(['c', {inner}], 10)]", part="linear")
  words = 'runtime.columns.VocabularyIds(["a", "b"])(inputs["w"])'
  assert (
    f'"b_X_c_X_w": runtime.columns.CrossIds(10)([inputs["c"], inputs["b"], {words}])' in lines[-1]
  )


def test_normalizer_with_a_name_is_a_layer_and_its_type_is_reported():
  head = "def scale(x):\n    return x / 3.0\n\n\n"
  result = result_of("[fc.numeric_column('x', normalizer_fn=scale)]", head)
  assert 'net = runtime.columns.Normalizer(scale)(inputs["x"])' in result.text
  assert "@tf.keras.utils.register_keras_serializable()\ndef scale(x):" in result.text
  assert "EM252" in codes(result)
  assert "EM250" not in codes(result)


def test_normalizer_that_is_a_lambda_is_reported():
  result = result_of("[fc.numeric_column('x', normalizer_fn=lambda v: v - 1.0)]")
  assert "runtime.columns.Normalizer(lambda v: v - 1.0)" in result.text
  assert "EM250" in codes(result)


def test_normalizer_within_a_function_is_reported():
  source = program("[fc.numeric_column('x', normalizer_fn=scale)]", "def scale(x):\n    return x\n")
  top, body = source.split("def scale", 1)
  body = "".join(f"    {line}\n" for line in f"def scale{body}".splitlines())
  result = run(f"{top}def main():\n{body}")
  assert "runtime.columns.Normalizer(scale)" in result.text
  assert "register_keras_serializable" not in result.text
  assert "EM250" in codes(result)


def test_comments_of_columns_stand_at_their_blocks():
  columns = "[\n    # The first.\n    fc.numeric_column('b', normalizer_fn=f),  # scaled\n    fc.numeric_column('a'),\n]"
  text = transformed(program(columns, "def f(x):\n    return x\n\n\n"))
  assert "# The first.\n" in text
  assert 'runtime.columns.Normalizer(f)(inputs["b"]),  # scaled\n' in text


@pytest.mark.parametrize(
  ("columns", "said"),
  [
    (f"[{HASH}]", "'h' without an indicator or embedding"),
    ("[fc.numeric_column('x'), fc.numeric_column('x', 2)]", "two columns of the name 'x'"),
    ("[tf.contrib.layers.real_valued_column('x')]", "tf.contrib.layers.real_valued_column"),
    ("[fc.indicator_column(fc.sequence_categorical_column_with_identity('s', 3))]", "sequence_"),
    (f"[fc.indicator_column(fc.crossed_column([{HASH}, 'a'], 5))]", "crossed_column over a hash"),
    ("[fc.bucketized_column(fc.numeric_column('x', (2, 2)), [1])]", "bucketized_column"),
    (
      "[fc.numeric_column('x'), fc.indicator_column(fc.categorical_column_with_identity('x', 3))]",
      "'x' in columns of two types",
    ),
    (
      "[fc.numeric_column('x'), fc.indicator_column(fc.crossed_column(['x', 'y'], 3))]",
      "crossed_column over 'x'",
    ),
  ],
)
def test_column_that_is_not_carried_over_is_refused(columns, said):
  assert said in left_whole(program(columns), "EM207")
