"""Expressions are moved only where they mean the same there; else the unit is left whole."""

import pytest
from helpers import HEAD, TRAIN, codes, left_whole, program, run, transformed

from migrator.rewrite import todo

CONFIG = (
  "n = 100\nconfig = tf1.estimator.RunConfig(model_dir={directory}, save_checkpoints_steps=n)\n"
)
CONFIGURED = "e = tf1.estimator.DNNClassifier([4], columns, n_classes=3, config=config)\n"


def configured(between="", directory="'m'"):
  return HEAD + CONFIG.format(directory=directory) + between + CONFIGURED + TRAIN


def test_values_that_stay_the_same_are_moved():
  assert "save_checkpoints_steps=n" in transformed(configured("x = 3\n"))


@pytest.mark.parametrize("between", ["n = 7\n", "for n in range(3):\n    pass\n", "del n\n"])
def test_run_config_whose_variables_change_is_refused(between):
  assert "`n`" in left_whole(configured(between), "EM109")


def test_run_config_that_calls_is_refused():
  message = left_whole(configured(directory="tempfile.mkdtemp()"), "EM109")
  assert "tempfile.mkdtemp()" in message


def test_names_that_mean_something_else_in_the_function_are_refused():
  unit = "".join("    " + line + "\n" for line in (CONFIGURED + TRAIN).splitlines())
  source = HEAD + CONFIG.format(directory="'m'") + "def main(n):\n" + unit
  assert "`n` means something else" in left_whole(source, "EM109")


def test_optimizer_whose_rate_changes_is_refused():
  new = "e = tf1.estimator.DNNClassifier([4], columns, 'm', n_classes=3, optimizer=opt)\n"
  head = HEAD + "rate = 0.1\nopt = tf1.train.AdamOptimizer(rate)\n"
  assert "Adam(rate" in transformed(head + new + TRAIN)
  left_whole(head + "rate = 0.5\n" + new + TRAIN, "EM211")


def test_optimizer_variable_that_nothing_else_reads_is_removed():
  new = "e = tf1.estimator.DNNClassifier([4], columns, 'm', n_classes=3, optimizer=opt)\n"
  head = HEAD + "# Fast.\nopt = tf.train.AdamOptimizer(0.1)\n"
  text = transformed(head + new + TRAIN)
  assert "tf.train.AdamOptimizer" not in text
  assert "# Fast." in text
  text = run(head + new + TRAIN + "print(opt)\n").text
  assert "opt = tf.train.AdamOptimizer(0.1)" in text


def test_columns_over_keys_that_change_are_those_of_the_program():
  head = HEAD + (
    "listed = []\nfor k in data.keys():\n    listed.append(tf.feature_column.numeric_column(k))\n"
  )
  new = "e = tf1.estimator.DNNClassifier([4], listed, 'm', n_classes=3)\n"
  assert "for k in data.keys()}" in transformed(head + new + TRAIN)
  text = transformed(head + "data.pop('label')\n" + new + TRAIN)
  assert "runtime.columns.inputs(listed)" in text


def test_columns_of_a_comprehension_that_grows_are_read():
  head = HEAD + "listed = [tf.feature_column.numeric_column(k) for k in 'a']\n"
  new = "e = tf1.estimator.DNNClassifier([4], listed, 'm', n_classes=3)\n"
  grow = "listed.append(tf.feature_column.numeric_column('b'))\n"
  transformed(head + new + TRAIN)
  text = transformed(head + grow + new + TRAIN)
  assert '"a": tf.keras.Input([1], name="a"), "b": tf.keras.Input([1], name="b")' in text.replace(
    ",\n        ", ", "
  )


@pytest.mark.parametrize("argument", ["(u := [4])", "await units()"])
def test_side_effects_in_the_arguments_are_refused(argument):
  new = f"e = tf1.estimator.DNNClassifier({argument}, columns, 'm', n_classes=3)\n"
  lines = "".join("    " + line + "\n" for line in (new + TRAIN).splitlines())
  left_whole(HEAD + "async def main():\n" + lines, "EM220")


def test_loop_makes_an_equal_model_once_only_if_it_is_the_same():
  one = "e = tf1.estimator.DNNClassifier([4], columns, path, n_classes=3)\n" + TRAIN
  transformed(HEAD + "path = 'a'\n" + one + one, target="loop")
  left_whole(HEAD + "path = 'a'\n" + one + "path = 'b'\n" + one, "EM218", target="loop")
  temporary = one.replace("path, ", "")
  left_whole(HEAD + temporary + temporary, "EM218", target="loop")


def test_loop_takes_a_temporary_directory_for_none():
  new = "e = tf1.estimator.DNNClassifier([4], columns, args.dir, n_classes=3)\n"
  text = transformed(HEAD + new + TRAIN, target="loop")
  assert "model_dir = args.dir or tempfile.mkdtemp()" in text


def test_loop_parenthesises_a_directory_over_two_lines():
  new = "e = tf1.estimator.DNNClassifier([4], columns, n_classes=3, model_dir=('/m'\n    '/i'))\n"
  text = transformed(HEAD + new + TRAIN, target="loop")
  assert "model_dir = ('/m'\n" in text


@pytest.mark.parametrize("name", ["dataset", "steps", "labels"])
def test_loop_refuses_an_estimator_called_like_a_name_of_the_functions(name):
  source = program().replace("e = ", f"{name} = ").replace("e.train", f"{name}.train")
  assert f"`{name}`" in left_whole(source, "EM220", target="loop")


def test_dropout_that_may_be_none_is_no_dropout():
  new = "e = tf1.estimator.DNNClassifier([4], columns, 'm', n_classes=3, dropout=args.d)\n"
  assert "Dropout(args.d or 0.0)" in transformed(HEAD + new + TRAIN)


@pytest.mark.parametrize("steps", ["1e3", "-1", "0"])
def test_odd_numbers_of_steps_are_checked_by_the_runtime_as_by_the_estimator(steps):
  source = program(train=f"e.train(input_fn, steps={steps})\n")
  assert f"backup.remaining_steps(steps={steps})" in transformed(source)
  left_whole(source, "EM209", target="loop")


def test_branches_with_other_columns_drop_what_they_do_not_read():
  source = HEAD + (
    "b = [tf.feature_column.numeric_column('b')]\n"
    "f = tf1.estimator.inputs.numpy_input_fn({'b': d}, y, shuffle=False)\n"
    "if wide:\n"
    "    e = tf1.estimator.DNNClassifier([4], columns, 'm', n_classes=3)\n"
    "else:\n"
    "    e = tf1.estimator.DNNClassifier([4], b, 'n', n_classes=3)\n"
    "e.train(f, max_steps=3)\n"
  )
  assert "f().map(runtime.only_inputs(e)).take(steps)" in transformed(source)


def test_branches_with_other_classes_are_refused():
  source = HEAD + (
    "if old:\n"
    "    e = tf1.estimator.DNNClassifier([4], columns, 'm', n_classes=3)\n"
    "else:\n"
    "    e = tf.compat.v2.estimator.DNNClassifier([4], columns, 'm', n_classes=3)\n"
    "e.train(input_fn, max_steps=3)\n"
  )
  left_whole(source, "EM212")
  assert [f for f in run(source).findings if "different classes" in f.message]


@pytest.mark.parametrize("context", ["tf.Graph().as_default()", "tf1.Session() as s"])
def test_graphs_and_sessions_around_the_unit_are_refused(context):
  unit = "".join("    " + line + "\n" for line in program(head="").splitlines())
  left_whole(HEAD + f"with {context}:\n" + unit, "EM217")


def test_string_over_several_lines_is_refused():
  new = 'e = tf1.estimator.DNNClassifier([4], columns, """a\n   b""", n_classes=3)\n'
  left_whole(HEAD + new + TRAIN, "EM220")


def test_class_body_is_refused():
  unit = "".join("    " + line + "\n" for line in program(head="").splitlines())
  left_whole(HEAD + "class Trainer:\n" + unit, "EM212")


def test_examples_module_is_marked():
  source = "from tensorflow.examples.tutorials.mnist import input_data\n" + program()
  result = run(source)
  assert "# TODO(EM903)" in result.text
  assert "EM903" in codes(result)
  assert result.left


@pytest.mark.parametrize(
  "reader",
  ["__all__ = ['tf1', 'main']\n", "def g(x: 'tf1.Tensor'): pass\n", "x = 1  # type: tf1.T\n"],
)
def test_imports_that_texts_read_stay(reader):
  assert "import tensorflow.compat.v1 as tf1" in run(program(reader)).text


def test_tf_bound_for_type_checkers_only_is_not_used():
  source = program().replace(
    "import tensorflow as tf\n",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import tensorflow as tf\n",
  )
  source = source.replace("tf.feature", "tf1.feature").replace("tf.data", "tf1.data")
  assert "import tensorflow as tf2" in run(source).text


def test_names_that_are_swapped_end():
  swaps = "a, b = T(), T()\n" + "a, b = b, a\n" * 8 + "a.x\n"
  transformed(program(swaps))


def test_changes_before_both_places_do_not_count():
  head = HEAD + (
    "data = read()\ndata = clean(data)\nlabels = data.pop('label')\nlisted = []\n"
    "for k in data.keys():\n    listed.append(tf.feature_column.numeric_column(k))\n"
  )
  new = "e = tf1.estimator.DNNClassifier([4], listed, 'm', n_classes=3)\n"
  assert "for k in data.keys()}" in transformed(head + new + TRAIN)


def test_sweep_whose_optimizer_is_made_in_the_same_iteration():
  source = HEAD + (
    "for rate in [0.1, 0.2]:\n"
    "    opt = tf1.train.GradientDescentOptimizer(rate)\n"
    "    e = tf1.estimator.DNNClassifier([4], columns, n_classes=3, optimizer=opt)\n"
    "    e.train(input_fn, max_steps=10)\n"
  )
  assert "tf.keras.optimizers.SGD(rate)" in transformed(source)


@pytest.mark.parametrize("more", ["prefix = 'b'\n", "def main(prefix):\n    pass\nprefix = 'c'\n"])
def test_other_names_in_the_key_of_a_comprehension_count(more):
  head = (
    HEAD + "prefix = 'a'\nlisted = [tf.feature_column.numeric_column(prefix + k) for k in 'xy']\n"
  )
  new = "e = tf1.estimator.DNNClassifier([4], listed, 'm', n_classes=3)\n"
  assert "prefix + k" in transformed(head + new + TRAIN)
  # The value of the moment, written out.
  assert '"ax": tf.keras.Input([1], name="ax")' in transformed(head + more + new + TRAIN)


@pytest.mark.parametrize(
  "after", ["columns.append(tf.feature_column.numeric_column('y'))\n", "more = columns\n"]
)
def test_list_of_columns_that_others_read_or_change_later_stays(after):
  text = transformed(program(after))
  assert 'inputs = {"x": tf.keras.Input([4], name="x")}' in text
  assert 'columns = [tf.feature_column.numeric_column("x", shape=[4])]' in text


def test_runtime_is_imported_after_tensorflow_wherever_that_is():
  source = "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = ''\n" + program()
  text = transformed(source)
  assert text.index("os.environ[") < text.index("from migrator import runtime")


def test_readers_of_the_model_dir_are_reported():
  source = HEAD + (
    "path = 'm'\ne = tf1.estimator.DNNClassifier([4], columns, path, n_classes=3)\n"
    "e.train(input_fn, max_steps=10)\nprint(tf.train.latest_checkpoint(path))\n"
  )
  result = run(source)
  assert result.changed
  assert "EM601" in codes(result)
  assert result.left


@pytest.mark.parametrize(
  "line", ["class H(tf.estimator.SessionRunHook): pass\n", "x = tf1.estimator.NanTensorHook\n"]
)
def test_hooks_through_tf_estimator_are_marked(line):
  result = run(program(line))
  assert "# TODO(EM30" in result.text
  assert not todo.unmarked(result.text, "p.py")


def test_config_proto_of_a_dropped_keyword_still_runs():
  head = HEAD + "proto = tf.ConfigProto()\nproto.gpu_options.allow_growth = True\n"
  config = "tf1.estimator.RunConfig(session_config=proto)"
  new = f"e = tf1.estimator.DNNClassifier([4], columns, 'm', n_classes=3, config={config})\n"
  assert "proto = tf.compat.v1.ConfigProto()" in run(head + new + TRAIN).text


def test_flags_are_no_tensors():
  head = HEAD + "FLAGS = tf.app.flags.FLAGS\n"
  new = (
    "e = tf1.estimator.DNNClassifier([4], columns, 'm', n_classes=3, "
    "optimizer=tf1.train.GradientDescentOptimizer(FLAGS.rate))\n"
  )
  assert "SGD(FLAGS.rate)" in transformed(head + new + TRAIN)


def test_number_of_classes_may_be_a_length():
  new = "e = tf1.estimator.DNNClassifier([4], columns, 'm', n_classes=len(NAMES))\n"
  text = transformed(HEAD + "NAMES = ['a', 'b', 'c']\n" + new + TRAIN)
  assert 'Dense(len(NAMES), name="logits")' in text


@pytest.mark.parametrize("call", ["e.train(input_fn, max_stepz=3)", "e.evaluate(input_fn, step=3)"])
def test_keywords_that_the_methods_do_not_have_are_refused(call):
  left_whole(program(call + "\n"), "EM209")


def test_keyword_that_run_config_does_not_have_is_refused():
  config = "tf1.estimator.RunConfig(save_checkpoint_steps=5)"
  new = f"e = tf1.estimator.DNNClassifier([4], columns, 'm', n_classes=3, config={config})\n"
  assert "save_checkpoint_steps" in left_whole(HEAD + new + TRAIN, "EM109")


def test_local_import_of_a_module_that_the_output_needs_is_refused():
  unit = "".join("    " + line + "\n" for line in program(head="").splitlines())
  left_whole(HEAD + "def main():\n" + unit + "    import os\n", "EM220")


def test_hook_that_deletes_its_parameters():
  hook = (
    "class H(tf1.train.SessionRunHook):\n    def after_run(self, run_context, run_values):\n"
    "        del run_context, run_values\n        self.n = 1\n\n"
  )
  text = transformed(program(head=HEAD + hook, train="e.train(input_fn, hooks=[H()], steps=3)\n"))
  assert "def on_train_batch_end(self, batch, logs=None):\n        self.n = 1\n" in text


def test_stock_with_two_policies_is_refused():
  config = "tf1.estimator.RunConfig(save_checkpoints_steps={})"
  new = "e = tf1.estimator.DNNClassifier([4], columns, 'm', n_classes=3, config={})\n"
  five, ten = (new.format(config.format(n)) for n in (5, 10))
  left_whole(HEAD + five + TRAIN + ten + TRAIN, "EM218", stock=True)
