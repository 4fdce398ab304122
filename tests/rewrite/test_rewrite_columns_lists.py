"""Ways to build a list of feature columns: which are followed, and which are left to the program."""

import pytest
from column_helpers import layers, program, result_of
from helpers import codes, left_whole, run, transformed

HASHED = "fc.categorical_column_with_hash_bucket"
ONE = f"def one(key):\n    return fc.indicator_column({HASHED}(key, 10))\n\n\n"


def blocks(columns, head):
  """The blocks of `net`, without the indicator of ten hash buckets around each."""
  net = layers(columns, head)[-1]
  return [part.split('inputs["')[1].split('"')[0] for part in net.split("HashIds(10)")[1:]]


@pytest.mark.parametrize(
  "head",
  {
    "a display": "listed = [one('a'), one('b')]\n",
    "a tuple": "listed = (one('a'), one('b'))\n",
    "a sum": "listed = [one('a')] + [one('b')]\n",
    "names": "a = one('a')\nb = one('b')\nlisted = [a, b]\n",
    "a name that is used again": "c = one('a')\nlisted = [c]\nc = one('b')\nlisted.append(c)\n",
    "unpacked names": "a, b = one('a'), one('b')\nlisted = [a, b]\n",
    "starred lists": "more = [one('b')]\nlisted = [one('a'), *more]\n",
    "append": "listed = []\nlisted.append(one('b'))\nlisted.append(one('a'))\n",
    "extend": "listed = [one('a')]\nlisted.extend([one('b')])\n",
    "augmented assignment": "listed = [one('a')]\nlisted += [one('b')]\n",
    "insert": "listed = [one('a')]\nlisted.insert(0, one('b'))\n",
    "a comprehension": "listed = [one(k) for k in ['a', 'b']]\n",
    "a comprehension over a name": "KEYS = ['a', 'b']\nlisted = [one(k) for k in KEYS]\n",
    "a comprehension over two lists": "listed = [one(k) for ks in [['a'], ['b']] for k in ks]\n",
    "a comprehension over lists of columns": (
      "listed = [c for cs in [[one('a')], [one('b')]] for c in cs]\n"
    ),
    "a loop": "listed = []\nfor k in ('a', 'b'):\n    c = one(k)\n    listed.append(c)\n",
    "a loop over pairs": (
      "listed = []\nfor k, n in [('a', 10), ('b', 10)]:\n"
      f"    listed.append(fc.indicator_column({HASHED}(k, n)))\n"
    ),
    "a loop over a dict": (
      "SIZES = {'a': 10, 'b': 10}\nlisted = []\nfor k, n in SIZES.items():\n"
      f"    listed.append(fc.indicator_column({HASHED}(k, n)))\n"
    ),
    "a loop over keys": (
      "SIZES = {'a': 1, 'b': 2}\nlisted = []\nfor k in SIZES:\n    listed.append(one(k))\n"
    ),
    "zip": "listed = [one(k) for k, _ in zip(['a', 'b'], [1, 2])]\n",
    "enumerate": "listed = [one(k) for _, k in enumerate(['a', 'b'])]\n",
    "range": "KEYS = ['b', 'a']\nlisted = [one(KEYS[i]) for i in range(2)]\n",
    "a condition": "listed = [one(k) for k in ['a', 'y', 'b'] if k != 'y']\n",
    "a condition on a dict": (
      "d = {k: one(k) for k in ['a', 'b', 'y']}\nSKIP = ('y',)\n"
      "listed = [c for k, c in d.items() if not (k in SKIP or k == 'z')]\n"
    ),
    "a slice": "KEYS = ['y', 'a', 'b', 'z']\nlisted = [one(k) for k in KEYS[1:-1]]\n",
    "a slice of columns": "more = [one('a'), one('b'), one('y')]\nlisted = more[:2]\n",
    "split": "KEYS = 'a,b'.split(',')\nlisted = [one(k) for k in KEYS]\n",
    "values of a dict": "d = {'x': one('a'), 'y': one('b')}\nlisted = list(d.values())\n",
    "items of a dict": "d = {}\nd['x'] = one('a')\nd['y'] = one('b')\nlisted = [d['x'], d['y']]\n",
    "a dict comprehension": "d = {k: one(k) for k in ['a', 'b']}\nlisted = d.values()\n",
    "update of a dict": "d = dict(x=one('a'))\nd.update({'y': one('b')})\nlisted = [*d.values()]\n",
    "a function": "def build():\n    return [one('a'), one('b')]\n\nlisted = build()\n",
    "a function of two lists": (
      "def build():\n    wide = []\n    deep = [one('a'), one('b')]\n    return wide, deep\n\n"
      "wide, listed = build()\n"
    ),
    "a function with an argument": (
      "def build(keys, last='b'):\n    return [one(k) for k in keys] + [one(last)]\n\n"
      "listed = build(['a'])\n"
    ),
    "a function that adds to a list": (
      "def add(columns):\n    columns.append(one('a'))\n    columns.append(one('b'))\n\n"
      "listed = []\nadd(listed)\n"
    ),
    "a block": "with tf.name_scope('columns'):\n    listed = [one('a'), one('b')]\n",
  }.items(),
  ids=lambda item: item[0],
)
def test_list_is_followed_through(head):
  assert blocks("listed", ONE + head[1]) == ["a", "b"]


@pytest.mark.parametrize(
  ("key", "made"),
  [
    ("'c%d' % i", "c1"),
    ("'c' + str(i)", "c1"),
    ("f'c{i}'", "c1"),
    ("'c{}'.format(i)", "c1"),
    ("KEYS[i]", "b"),
  ],
)
def test_names_of_features_are_computed(key, made):
  head = f"KEYS = ['a', 'b', 'c']\nlisted = [one({key}) for i in range(1, 3)]\n"
  assert blocks("listed", ONE + head)[0] == made


def test_words_in_a_dict_of_a_name_stay_there():
  head = (
    "WORDS = {'b': ['x', 'y'], 'a': ['z']}\nlisted = []\nfor key, words in WORDS.items():\n"
    "    column = fc.categorical_column_with_vocabulary_list(key, words)\n"
    "    listed.append(fc.indicator_column(column))\n"
  )
  assert layers("listed", head)[-1] == (
    "net = tf.keras.layers.Concatenate()(["
    'runtime.columns.Indicator(len(WORDS["a"]))'
    '(runtime.columns.VocabularyIds(WORDS["a"])(inputs["a"])), '
    'runtime.columns.Indicator(len(WORDS["b"]))'
    '(runtime.columns.VocabularyIds(WORDS["b"])(inputs["b"]))])'
  )


def test_value_of_the_moment_is_written_where_its_name_changes_later():
  head = f"n = 3\nlisted = [fc.indicator_column({HASHED}('w', n))]\nn = 4\n"
  assert "runtime.columns.HashIds(3)" in layers("listed", head)[-1]


def test_local_values_of_a_function_are_written_into_the_layers():
  head = """
    def build(size=7):
        words = ['x', 'y']
        column = fc.categorical_column_with_vocabulary_list('w', words)
        return [fc.embedding_column(column, size)]


    """
  assert layers("build()", head)[-1] == (
    'net = runtime.columns.Embedding(2, 7, name="w_embedding")'
    '(runtime.columns.VocabularyIds(["x", "y"])(inputs["w"]))'
  )


@pytest.mark.parametrize(
  "head",
  {
    "a condition": "listed = [one('a')]\nif x:\n    listed.append(one('b'))\n",
    "a condition on the whole": "listed = [one('a')] if x else []\n",
    "an unknown loop": "listed = []\nfor k in load():\n    listed.append(one(k))\n",
    "a filter that changes": (
      "skip = 'a'\nif x:\n    skip = 'b'\nlisted = [one(k) for k in ['a', 'b'] if k != skip]\n"
    ),
    "a slice that is not known": "listed = [one('a'), one('b')][:x]\n",
    "a filter": "listed = [one(k) for k in KEYS if k]\n",
    "a file": "listed = [one(k) for k in open('keys')]\n",
    "another function": "listed = [one('a')]\nfill(listed)\n",
    "another module": "from library import listed\n",
    "a function that changes it": "listed = [one('a')]\ndef f():\n    listed.append(one('b'))\n\n",
    "a function that binds it": (
      "listed = [one('a')]\ndef f():\n    global listed\n    listed = [one('b')]\n\n"
    ),
    "an unknown element": "listed = [one('a')]\nlisted[0] = other\n",
    "an unknown dict": "listed = list(dict(load()).values())\n",
    "a method": "listed = Columns().all()\n",
    "an early return": (
      "def build():\n    if x:\n        return [one('a')]\n    return [one('b')]\n\nlisted = build()\n"
    ),
    "a function that calls itself": "def build():\n    return build()\n\nlisted = build()\n",
    "unknown words": (
      "words = load()\nc = fc.categorical_column_with_vocabulary_list('w', words)\n"
      "listed = [fc.indicator_column(c)]\n"
    ),
    "words that are read again": (
      "c = fc.categorical_column_with_hash_bucket('w', load())\nlisted = [fc.indicator_column(c)]\n"
    ),
  }.items(),
  ids=lambda item: item[0],
)
def test_columns_are_left_to_the_program_behind(head):
  result = result_of("listed", ONE + head[1])
  assert result.changed
  assert "EM251" in codes(result)
  assert "inputs = runtime.columns.inputs(listed)\n" in result.text
  assert 'net = runtime.columns.DenseFeatures(listed, name="input_layer")(inputs)' in result.text
  assert head[1] in result.text


def test_columns_of_a_parameter_are_left_to_the_program():
  source = "def build(listed):\n" + "".join(
    "    " + line + "\n" for line in program("listed").splitlines()[9:]
  )
  text = run(program("listed").split("e = ")[0] + source).text
  assert "runtime.columns.inputs(listed)" in text


def test_columns_that_stand_below_the_function_that_reads_them_are_read():
  top, body = program("listed").split("e = ")
  body = "".join(f"    {line}\n" for line in f"e = {body}".splitlines())
  main = f"def main():\n{body}\n\n{ONE}listed = [one('a')]\nmain()\n"
  assert "runtime.columns.HashIds(10)" in run(top + main).text
  late = main.replace("listed = [one('a')]\nmain()\n", "main()\nlisted = [one('a')]\n")
  assert "HashIds" not in run(top + late).text


def test_expression_of_columns_is_evaluated_once():
  text = transformed(program("load(1)"))
  assert "feature_columns = load(1)\n    inputs = runtime.columns.inputs(feature_columns)" in text
  assert text.count("load(1)") == 1


def test_linear_part_of_the_programs_columns():
  text = transformed(program("load()", part="linear"))
  assert "logits = runtime.columns.LinearFeatures(\n" in text
  assert 'feature_columns, 1, name="linear_model"\n' in text


def test_parts_of_wide_and_deep_share_their_inputs():
  new = (
    "e = tf1.estimator.DNNLinearCombinedClassifier('m', linear_feature_columns={}, "
    "dnn_feature_columns={}, dnn_hidden_units=[3])\n"
  )
  head = program("x").split("e = ")[0] + ONE + f"h = {HASHED}('h', 10)\n"
  train = "e.train(input_fn, max_steps=10)\n"
  text = transformed(head + new.format("[h]", "[fc.indicator_column(h)]") + train)
  assert text.count("tf.keras.Input(") == 1
  assert text.count("runtime.columns.HashIds(10)") == 1
  text = transformed(head + new.format("load()", "[fc.indicator_column(h)]") + train)
  assert "inputs = runtime.columns.inputs([*dnn_columns, *linear_columns])" in text


@pytest.mark.parametrize(
  ("head", "said"),
  [
    (
      "listed = load()\nlisted.append(tf.contrib.layers.real_valued_column('x'))\n",
      "tf.contrib.layers.real_valued_column",
    ),
    ("listed = fc.shared_embeddings(load(), 3)\n", "in a graph only"),
  ],
)
def test_columns_that_tf2_cannot_make_are_refused(head, said):
  assert said in left_whole(program("listed", head), "EM207")


def test_statements_that_nobody_reads_any_more_are_gone():
  head = ONE + (
    "KEYS = ['a', 'b']\n\n\ndef build():\n    wide = []\n    return wide, [one(k) for k in KEYS]\n\n\n"
    "wide, listed = build()\nlisted.append(one('c'))\n"
  )
  text = transformed(program("listed", head))
  for gone in ("fc.", "build", "wide", "listed"):
    assert gone not in text.replace("fc = tf.feature_column", "")
  assert "KEYS = ['a', 'b']" in text


@pytest.mark.parametrize(
  "reader", ["spec = fc.make_parse_example_spec(listed)\n", "print(len(listed))\n"]
)
def test_statements_that_others_read_stay(reader):
  head = ONE + "listed = []\nfor k in 'ab':\n    listed.append(one(k))\n"
  text = transformed(program("listed", head + reader))
  assert head + reader in text
  assert "runtime.columns.HashIds(10)" in text


def test_columns_of_two_estimators_are_gone_with_both():
  head = ONE + "listed = [one('a')]\n"
  source = program("listed", head) + program("listed").split("\n\n\n")[-1].replace("[4]", "[5]")
  text = transformed(source)
  assert text.count("runtime.columns.HashIds(10)") == 2
  assert "listed" not in text


def test_comments_of_statements_that_are_gone_stay():
  text = transformed(program("listed", ONE + "# What it reads.\nlisted = [one('a')]\n"))
  assert "# What it reads.\n" in text


def test_a_comment_above_a_column_moves_to_its_layer():
  source = """
import tensorflow as tf


def build_columns():
    # The makers are not known in advance.
    maker = tf.feature_column.categorical_column_with_hash_bucket("maker", 10)
    size = tf.feature_column.numeric_column("size")
    return [tf.feature_column.indicator_column(maker), size]


def input_fn():
    return tf.data.Dataset.from_tensors(({"maker": ["a"], "size": [1.0]}, [0]))


e = tf.compat.v1.estimator.DNNClassifier([4], build_columns(), "m")
e.train(input_fn, max_steps=3)
"""
  text = transformed(source)
  assert "build_columns" not in text
  _, _, below = text.partition("# The makers are not known in advance.\n")
  assert below.lstrip().startswith("runtime.columns.Indicator(10)(")


@pytest.mark.parametrize(
  "head",
  {
    "a docstring": '"""Words.\n\nMore words.\n"""\nlisted = [one("a"), one("b")]\n',
    "a query": 'SQL = """select\n  a"""\nlisted = [one("a"), one("b")]\n',
    "a call": 'print("""Words.\n""")\nlisted = [one("a"), one("b")]\n',
    "a continued line": 'SUM = 1 + \\\n    2\nlisted = [one("a"), one("b")]\n',
    "a docstring of a function": (
      'def make():\n    """Words.\n\n    More words.\n    """\n'
      '    return [one("a"), one("b")]\n\n\nlisted = make()\n'
    ),
  }.items(),
  ids=lambda item: item[0],
)
def test_text_over_several_lines_beside_the_columns_changes_nothing(head):
  assert blocks("listed", ONE + head[1]) == ["a", "b"]


def test_columns_whose_own_lines_are_continued_stay_in_the_program():
  head = ONE + 'listed = [one("a")]\nlisted.append(one("b") \\\n    if True else one("c"))\n'
  assert "EM251" in codes(run(program("listed", head)))
