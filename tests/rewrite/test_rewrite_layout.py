"""What the output looks like: comments, blank lines, indentation, imports, untouched lines."""

import difflib
import shutil
import subprocess
import textwrap

import pytest
from helpers import HEAD, NEW, TRAIN, codes, left_whole, program, run, transformed

from migrator.rewrite import todo


def test_untouched_lines_stay_as_they_are():
  body = "x = {'a':1,\n    'b' : 2}   # odd\ny=x ;z=3\n"
  source = HEAD + body + NEW + TRAIN + body
  text = transformed(source)
  assert text.count(body) == 2
  removed = [
    line[2:]
    for line in difflib.ndiff(source.splitlines(), text.splitlines())
    if line.startswith("- ")
  ]
  assert all(not line or "tf1" in line or "columns" in line or "train" in line for line in removed)


def test_comments_of_statements_and_arguments_are_kept():
  source = HEAD.replace("columns =", "# Of one plant.\ncolumns =") + textwrap.dedent(
    """
    # The model.
    e = tf1.estimator.DNNClassifier(
        # First and second.
        hidden_units=[4, 3],  # small
        feature_columns=columns,
        n_classes=3,  # three kinds
        optimizer=tf1.train.AdamOptimizer(0.1),  # fast
        model_dir="model",  # here
    )  # done
    # Now train.
    e.train(input_fn, max_steps=10)  # ten
    """
  )
  for target in ("fit", "loop"):
    text = transformed(source, target=target)
    for comment in (
      "# Of one plant.",
      "# The model.",
      "# First and second.",
      "# small",
      "# three kinds",
      "# fast",
      "# done",
      "# Now train.",
      "# ten",
    ):
      assert text.count(comment) == 1, (target, comment)


@pytest.mark.parametrize("indent", ["  ", "    ", "\t"])
def test_new_code_has_the_indentation_of_the_file(indent):
  source = "def main():\n" + textwrap.indent(NEW + TRAIN, indent)
  head = HEAD.replace("    return", indent + "return")
  text = transformed(head + source)
  assert f"\n{indent}def create_e():\n{indent}{indent}inputs = " in text


def test_comment_at_another_column_and_mixed_indent_survive():
  # Case 70: tabs, a comment at column 2, an argument at another column.
  source = HEAD.replace("    return", "\treturn") + (
    "def main():\n"
    "\tcfg = tf1.estimator.RunConfig(\n"
    "\t    save_checkpoints_steps=100,   # cadence\n"
    "\tkeep_checkpoint_max=3)\n"
    "  # comment at column 2\n"
    "\te = tf1.estimator.DNNClassifier([4], columns, 'm', n_classes=3, config=cfg)\n"
    "\te.train(input_fn, max_steps=10)\n"
    "\treturn 3\n"
  )
  text = transformed(source)
  assert "# cadence" in text
  assert "# comment at column 2" in text
  assert text.endswith("\treturn 3\n")


@pytest.mark.parametrize("target", ["fit", "loop"])
@pytest.mark.parametrize("where", ["module", "function"])
def test_output_of_a_formatted_file_is_formatted(tmp_path, target, where):
  ruff = shutil.which("ruff")
  assert ruff, "ruff is in the test requirements"
  body = NEW + TRAIN + "print(e.evaluate(input_fn, steps=3))\nprint(list(e.predict(input_fn)))\n"
  source = HEAD.strip() + "\n\n\n"
  source += body if where == "module" else "def main():\n" + textwrap.indent(body, "    ")
  path = tmp_path / "program.py"
  path.write_text(source)
  command = [ruff, "format", "--isolated", str(path)]
  subprocess.run(command, check=True, capture_output=True)
  formatted = path.read_text()
  text = transformed(formatted, target=target)
  path.write_text(text)
  subprocess.run(command, check=True, capture_output=True)
  assert path.read_text() == text


def test_unused_tensorflow_imports_are_removed_and_others_stay():
  text = transformed("import functools\nimport unused\n" + program())
  assert "import tensorflow.compat.v1" not in text
  assert "import functools" in text  # nothing read it before
  assert "import unused" in text


def test_names_that_the_output_needs_do_not_collide():
  taken = "backup = runtime = steps = create_e = 1\n"
  text = transformed(taken + program())
  assert "from migrator import runtime as migrator_runtime" in text
  assert "e_backup = migrator_runtime.BackupAndRestore(" in text
  assert "def make_e():" in text
  assert "if remaining_steps := e_backup" in text
  loop = transformed(program("train = step = manager = 1\n"), target="loop")
  assert "e_step = checkpoint.by_name" in loop
  assert "def train_e(" in loop


def test_file_without_a_name_for_tf2_gets_one():
  source = program().replace("import tensorflow as tf\n", "").replace("tf.", "tf1.")
  text = transformed(source)
  assert "import tensorflow as tf\n" in text
  v1_only = program().replace("import tensorflow as tf\n", "").replace("tf1", "tf")
  v1_only = v1_only.replace(
    "import tensorflow.compat.v1 as tf\n", "import tensorflow.compat.v1 as tf\n"
  )
  text = run(v1_only).text
  assert "import tensorflow as tf2\n" in text
  assert "tf2.keras.layers.Dense" in text


def test_unit_in_a_file_with_another_that_stays():
  source = program("g = tf1.estimator.BoostedTreesRegressor(columns, 1)\ng.train(input_fn)\n")
  result = run(source)
  assert result.left
  assert "e = create_e()" in result.text
  assert "# TODO(EM260): " in result.text
  assert "\ng = tf1.estimator.BoostedTreesRegressor(columns, 1)\n" in result.text
  assert not todo.unmarked(result.text, "p.py")


def test_todo_is_not_written_twice():
  source = program("g = tf1.estimator.BoostedTreesRegressor(columns, 1)\ng.train(input_fn)\n")
  once = run(source).text
  assert run(once).text == once


def test_file_without_a_unit_that_can_be_rewritten_is_not_touched():
  source = HEAD + "g = tf1.estimator.BoostedTreesRegressor(columns, 1)\ng.train(input_fn)\n"
  result = run(source)
  assert result.text == source
  assert "EM260" in codes(result)


@pytest.mark.parametrize(
  ("call", "code"),
  [
    ("e.experimental_export_all_saved_models('d', f)", "EM209"),
    ("print(e.config)", "EM209"),
    ("tf1.estimator.train_and_evaluate(e, a, b)", "EM270"),
    ("x = e.train(input_fn, steps=3)", "EM209"),
    ("e.train(input_fn, steps=3).evaluate(input_fn)", "EM209"),
    ("e.evaluate(input_fn, hooks=[h])", "EM304"),
    ("e.train(input_fn, steps=3, saving_listeners=[h])", "EM304"),
    ("e.train(input_fn, steps=3, max_steps=4)", "EM209"),
  ],
)
def test_use_of_the_estimator_without_counterpart_is_refused(call, code):
  left_whole(program(call + "\n"), code)


@pytest.mark.parametrize(
  ("call", "fit", "loop"),
  [
    ("e.train(input_fn, steps=5)", ".take(5), callbacks=[backup]", "train(input_fn(), steps=5)"),
    ("e.train(input_fn, steps=n)", ".take(backup.remaining_steps(steps=n))", "steps=n)"),
    ("e.train(input_fn)", "steps_per_epoch=-1", "train(input_fn())"),
    ("r = e.evaluate(input_fn, 3)", "backup.evaluate(input_fn(), steps=3)", "evaluate("),
    ("r = e.evaluate(input_fn, name='x')", "backup.evaluate(input_fn(), name='x')", "evaluate("),
    (
      "r = list(e.predict(input_fn, predict_keys='logits'))",
      "list(backup.predict(input_fn(), predict_keys='logits'))",
      "list(predict(input_fn(), predict_keys='logits'))",
    ),
    ("print(e.model_dir)", "print(backup.model_dir)", "print(model_dir)"),
  ],
)
def test_calls(call, fit, loop):
  source = program(train=call + "\n")
  if call.startswith("print"):
    source = program(call + "\n")
  assert fit in transformed(source)
  assert loop in transformed(source, target="loop")


def test_loop_with_steps_and_max_steps():
  text = transformed(program("e.train(input_fn, steps=3)\n"), target="loop")
  assert "def train(input_fn, steps=None, max_steps=None, callbacks=()):" in text


def test_loop_asks_for_input_only_where_steps_are_left():
  text = transformed(program("e.train(lambda: input_fn(), max_steps=20)\n"), target="loop")
  assert "train(lambda: input_fn(), max_steps=20)" in text
  body = text[text.index("def train(input_fn, max_steps") :]
  assert body.index("if step >= max_steps:") < body.index("dataset = input_fn()")
  # A position in the input is restored together with the steps.
  text = transformed(program(""), target="loop", resume_data=True)
  assert "def train(dataset, max_steps" in text
  assert "train(input_fn(), max_steps=10)" in text


def test_default_scope_is_not_written():
  new = (
    'e = tf1.estimator.DNNLinearCombinedClassifier("model", linear_feature_columns=columns, '
    "dnn_feature_columns=columns, dnn_hidden_units=[4], n_classes=3)\n"
  )
  for target in ("fit", "loop"):
    assert 'scope=""' not in transformed(program(new=new), target=target)


def test_train_in_a_loop_builds_its_input_each_time():
  # Case 18: every train call begins at the first record.
  train = "for _ in range(3):\n    e.train(input_fn, steps=2)\n    e.evaluate(input_fn)\n"
  text = transformed(program(train=train))
  assert "for _ in range(3):\n    e.fit(" in text
  assert "input_fn().map" in text


def test_resume_data_keeps_the_iterator_in_the_checkpoint():
  text = transformed(program(), target="loop", resume_data=True)
  tracked = text.index("    checkpoint.track_iterator(iterator)\n")
  assert text.index("    iterator = iter(dataset)\n") < tracked
  assert tracked < text.index("    manager.restore_or_initialize()\n")
  assert "itertools.islice(iterator, max_steps - step.numpy())" in text
  assert "EM210" not in codes(run(program(), target="loop", resume_data=True))
  assert "EM210" in codes(run(program(), target="loop"))


STOCK = NEW.replace(")\n", ", config=tf1.estimator.RunConfig(save_checkpoints_steps={n}))\n")


def test_stock_writes_epochs_of_n_steps_and_says_what_it_loses():
  result = run(program(new=STOCK.format(n=5)), stock=True)
  assert 'save_freq="epoch"' in result.text
  assert "delete_checkpoint=False" in result.text
  assert "steps_per_epoch=5" in result.text
  assert "epochs=2" in result.text
  (lost,) = [f for f in result.findings if f.code == "EM214"]
  for word in ("one backup", "after the other callbacks", "step 0"):
    assert word in lost.message


@pytest.mark.parametrize(
  ("n", "train"),
  [
    ("3", TRAIN),
    ("n", TRAIN),
    ("5", "e.train(input_fn, steps=10)\n"),
    ("5", TRAIN + "e.evaluate(input_fn)\n"),
  ],
)
def test_stock_refuses_what_whole_epochs_cannot_express(n, train):
  left_whole(program(new=STOCK.format(n=n), train=train), "EM218", stock=True)


def test_new_syntax_is_parsed():
  # Case 66.
  source = program(
    """
    async def save(): return tf1.train.Saver()
    if (n := 3) > 2: s = 1
    print(f"{n}")
    """
  )
  assert "async def save(): return tf1.train.Saver()" in run(source).text


def test_tf1_names_that_do_the_same_in_tf2_are_spelled_compat_v1():
  body = """
    tf.logging.set_verbosity(tf.logging.INFO)
    FLAGS = tf.flags.FLAGS
    if __name__ == "__main__":
        tf.app.run()
    """
  text = transformed(program(body))
  assert "tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.INFO)" in text
  assert "FLAGS = tf.compat.v1.flags.FLAGS" in text
  assert "tf.compat.v1.app.run()" in text


def test_tf1_names_of_graphs_are_marked():
  result = run(program("s = tf.Session()\n"))
  assert "# TODO(EM219): `tf.Session` is" in result.text
  assert "EM219" in codes(result)
  assert result.left


def test_tf1_names_stay_in_a_file_that_is_not_rewritten():
  source = HEAD + "tf.logging.info('x')\ng = tf1.estimator.BoostedTreesRegressor(columns, 1)\n"
  assert run(source).text == source


SPACED = """\
def main():
{blank}    # Of one plant.
    x = tf.feature_column.numeric_column("x", shape=[4])

    # -- how it is saved --

    config = tf1.estimator.RunConfig(save_checkpoints_steps=5)

    # Fast.

    optimizer = tf1.train.AdamOptimizer(0.1)

    # -- the model --

    e = tf1.estimator.DNNClassifier([4], [x], "m", n_classes=3, optimizer=optimizer, config=config)

    # -- how it is trained --

    train_spec = tf1.estimator.TrainSpec(input_fn, max_steps=10)

    # -- how it is evaluated --

    eval_spec = tf1.estimator.EvalSpec(input_fn, steps=2)

    tf1.estimator.train_and_evaluate(e, train_spec, eval_spec)
"""


@pytest.mark.parametrize("target", ["fit", "loop"])
@pytest.mark.parametrize("blank", ["", "\n"])
@pytest.mark.parametrize("where", ["module", "function"])
def test_removed_statements_leave_no_blank_lines_behind_and_keep_headings(target, where, blank):
  body = SPACED.format(blank=blank)
  most = 1
  if where == "module":
    most, body = 2, textwrap.dedent(body.partition("\n")[2]).replace("\n\n", "\n\n\n")
  text = transformed(HEAD + body, target=target)
  new = text[text.index("def main" if where == "function" else "def input_fn") :]
  assert "\n" * (most + 2) not in new
  assert "\n\n\n    " not in new
  if where == "function":
    assert new.startswith("def main():\n\n" if blank else "def main():\n    ")
  headings = ["# Of one plant.", "# Fast."] + [
    f"# -- {what} --"
    for what in ("how it is saved", "the model", "how it is trained", "how it is evaluated")
  ]
  assert [new.count(heading) for heading in headings] == [1] * len(headings)
