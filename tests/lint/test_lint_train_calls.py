"""train, TrainSpec and EvalSpec: what the numbers of steps mean, when it saves and evaluates."""

import textwrap

import pytest

from migrator.lint import engine

HEAD = "import tensorflow as tf\n"
ESTIMATOR = 'e = tf.estimator.Estimator(model_fn, "models")\n'


def _found(text, *codes):
  """(line, code, message) of the findings with these codes; the import is line 1."""
  found = engine.check_text(HEAD + textwrap.dedent(text).lstrip("\n"), "a.py")
  return [(f.span.line, f.code, f.message) for f in found if f.code in codes]


def _codes(text, *codes):
  return [code for _, code, _ in _found(text, *codes)]


def test_case_25_steps_add_up_and_max_steps_does_not():
  text = """
  cfg = tf.estimator.RunConfig(model_dir="/m", save_checkpoints_steps=10, keep_checkpoint_max=3)
  est = tf.estimator.DNNClassifier([4, 3], fc, config=cfg)
  est.train(input_fn, max_steps=75)   # fresh: 75 steps; after 45: 30 steps; after 75: none
  est.train(input_fn, steps=5)        # always 5 more
  est.train(input_fn)                 # until input_fn is exhausted
  """
  [(line, _, message)] = _found(text, "EM224", "EM225", "EM226")
  assert line == 5
  assert message.startswith("`train(steps=5)` trains that many steps more at every start")


@pytest.mark.parametrize(
  ("maker", "reported"),
  [
    ('tf.estimator.Estimator(model_fn, "m")', True),
    ('tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(model_dir="m"))', True),
    ("tf.estimator.Estimator(model_fn, config=config())", True),
    ("tf.estimator.Estimator(model_fn, **options)", True),
    ("build_estimator()", True),
    ("tf.estimator.Estimator(model_fn)", False),
    ("tf.estimator.Estimator(model_fn, None, tf.estimator.RunConfig())", False),
  ],
)
def test_steps_add_up_only_where_a_second_start_finds_the_first(maker, reported):
  found = _codes(f"e = {maker}\ne.train(train_input_fn, steps=N)\n", "EM224")
  assert found == (["EM224"] if reported else [])


@pytest.mark.parametrize(
  ("before", "reported"),
  [
    ("shutil.rmtree(DIR, ignore_errors=True)", False),
    ("shutil.rmtree(path='models')", False),
    ("tf.io.gfile.rmtree(DIR)", False),
    ("if tf.gfile.Exists(DIR): tf.gfile.DeleteRecursively(DIR)", False),
    ("if flags.fresh: shutil.rmtree(DIR)", True),
    ("shutil.rmtree('others')", True),
    ("def clean(): shutil.rmtree(DIR)", True),
    ("class Test:\n  def tearDown(self): shutil.rmtree(DIR)", False),
  ],
)
def test_steps_do_not_add_up_in_a_directory_that_each_start_removes(before, reported):
  text = f"import shutil\nDIR = 'models'\n{before}\n"
  text += "e = tf.estimator.DNNClassifier([4], columns, model_dir=DIR)\n"
  text += "e.train(train_input_fn, steps=500)\n"
  found = _codes(text, "EM114", "EM224")
  assert found == (["EM114", "EM224"] if reported else [])


def test_the_model_dir_of_a_linear_estimator_is_its_second_argument():
  text = "e = tf.estimator.LinearRegressor(columns, 'm')\ne.train(input_fn, steps=5000)\n"
  assert _codes(text, "EM224") == ["EM224"]
  assert _codes("shutil.rmtree('m')\n" + text, "EM224") == []


def test_a_directory_that_is_removed_after_the_training_is_found_by_it():
  text = "e = tf.estimator.Estimator(f, 'm')\ne.train(input_fn, steps=5000)\nshutil.rmtree('m')\n"
  assert _codes(text, "EM224") == ["EM224"]


@pytest.mark.parametrize(
  "call",
  [
    "e.train(input_fn, steps=None)",
    "e.train(input_fn, steps=1)",
    "e.train(input_fn, None, 100, 1000)",
    "for _ in range(3): e.train(input_fn, steps=10)",
    "agent.train(state, steps=10)",
    "runner.train(train_input_fn, flags.evaluates, eval_input_fn)",
    "trainer.train(steps=10)",
    "model.fit(x, y, steps_per_epoch=10)",
    "e.train(input_fn, steps=total - done)",
    "left = max(0, total - done)\ne.train(input_fn, steps=left)",
  ],
)
def test_steps_that_do_not_add_up(call):
  assert not _codes(ESTIMATOR + call + "\n", "EM224")


def test_the_input_function_may_have_any_name():
  assert _codes(ESTIMATOR + "e.train(batches, steps=1000)\n", "EM224") == ["EM224"]


def test_an_estimator_is_followed_through_functions_and_attributes():
  text = """
  def build(directory):
    estimator = tf.estimator.LinearClassifier(columns, model_dir=directory)
    return estimator
  class Trainer:
    def __init__(self):
      self.model = build("m")
    def run(self):
      self.model.train(self.input_fn, steps=20000)
  """
  assert [line for line, _, _ in _found(text, "EM224")] == [9]


@pytest.mark.parametrize(
  ("call", "message"),
  [
    ("e.train(input_fn, steps=5, max_steps=9)", "`train(steps=..., max_steps=...)` raises"),
    ("e.train(input_fn, None, 5, 9)", "`train(steps=..., max_steps=...)` raises"),
    ("e.train(input_fn, steps=0)", "`train(steps=0)` raises ValueError: the number must be"),
    ("e.train(input_fn, max_steps=-1)", "`train(max_steps=-1)` raises ValueError"),
    ("tf.estimator.TrainSpec(input_fn, 0)", "`TrainSpec(max_steps=0)` raises ValueError"),
    ("tf.estimator.EvalSpec(input_fn, steps=0)", "`EvalSpec(steps=0)` raises ValueError"),
    ("tf.estimator.EvalSpec(input_fn, 5, throttle_secs=-1)", "`EvalSpec(throttle_secs=-1)`"),
    ("e.train(input_fn, steps=a, max_steps=b)", ""),
    ("e.train(input_fn, steps=5, max_steps=None)", ""),
    ("tf.estimator.TrainSpec(input_fn, None)", ""),
    ("tf.estimator.EvalSpec(input_fn, None, throttle_secs=0)", ""),
  ],
)
def test_numbers_that_raise(call, message):
  found = [m for _, _, m in _found(ESTIMATOR + call + "\n", "EM225")]
  assert [m.startswith(message) for m in found] == ([True] if message else [])


@pytest.mark.parametrize(
  ("body", "reported"),
  [
    ("e.train(input_fn, max_steps=100)", True),
    ("e.train(input_fn, max_steps=FLAGS.steps)", True),
    ("e.train(input_fn, max_steps=100 * (i + 1))", False),
    ("e.train(input_fn, max_steps=next_total())", False),
    ("total = total + 100\n  e.train(input_fn, max_steps=total)", False),
    ("FLAGS.steps += 100\n  e.train(input_fn, max_steps=FLAGS.steps)", False),
    ("e = tf.estimator.Estimator(model_fn, str(i))\n  e.train(input_fn, max_steps=100)", False),
    ("es[i].train(input_fn, max_steps=100)", False),
    ("e.train(input_fn, max_steps=100)\n  if done: break", False),
    ("try:\n    e.train(input_fn, max_steps=100)\n  except IOError: pass", False),
    ("f = lambda: e.train(input_fn, max_steps=100)", False),
  ],
)
def test_the_same_total_in_every_round_of_a_loop(body, reported):
  text = f"{ESTIMATOR}total = 0\nfor i in range(3):\n  {body}\n"
  assert _codes(text, "EM226") == (["EM226"] if reported else [])


@pytest.mark.parametrize(
  ("config", "call", "reported"),
  [
    ("None", "e.train(input_fn, max_steps=1000)", True),
    ("None", "e.train(input_fn, steps=10 * 10)", True),
    ("tf.estimator.RunConfig(save_checkpoints_secs=600)", "e.train(input_fn, steps=50)", True),
    ("tf.estimator.RunConfig(keep_checkpoint_max=3)", "e.train(input_fn, steps=50)", True),
    ("tf.estimator.RunConfig(save_checkpoints_secs=60)", "e.train(input_fn, steps=50)", False),
    ("tf.estimator.RunConfig(save_checkpoints_steps=5)", "e.train(input_fn, steps=50)", False),
    ("make()", "e.train(input_fn, max_steps=50)", False),
    ("None", "e.train(input_fn, max_steps=1001)", False),
    ("None", "e.train(input_fn, max_steps=N)", False),
    ("None", "e.train(input_fn, steps=1)", False),
    ("None", "e.train(input_fn)", False),
  ],
)
def test_a_job_that_is_shorter_than_the_default_cadence(config, call, reported):
  text = f'e = tf.estimator.Estimator(model_fn, "m", {config})\n{call}\n'
  assert _codes(text, "EM114") == (["EM114"] if reported else [])


@pytest.mark.parametrize("steps, seconds", [(3, "200"), (7, "86"), (500, "1.2")])
def test_the_seconds_of_a_step_of_a_short_job_are_written_out(steps, seconds):
  text = f'e = tf.estimator.Estimator(model_fn, "m")\ne.train(input_fn, max_steps={steps})\n'
  [(_, _, message)] = _found(text, "EM114")
  assert message.endswith(f"unless a step takes longer than {seconds} seconds.")


def test_a_short_train_and_evaluate_evaluates_at_the_end_only():
  text = """
  e = tf.estimator.Estimator(model_fn, "m")
  spec = tf.estimator.TrainSpec(input_fn, max_steps=300)
  tf.estimator.train_and_evaluate(e, spec, tf.estimator.EvalSpec(input_fn, 5))
  """
  [(line, _, message)] = _found(text, "EM114")
  assert line == 3
  assert message == (
    "Under the default of a checkpoint every 600 seconds these 300 steps leave checkpoints at the "
    "first and the last step only, and train_and_evaluate evaluates after the last one only, "
    "unless a step takes longer than 2 seconds."
  )


@pytest.mark.parametrize(
  ("config", "throttle", "words"),
  [
    ("save_checkpoints_steps=4", "", "does not evaluate after every checkpoint (every 4"),
    (
      "save_checkpoints_secs=60",
      "",
      "does not evaluate after every checkpoint (every 60",
    ),
    ("save_checkpoints_steps=4", "throttle_secs=0", None),
    ("save_checkpoints_steps=4", "throttle_secs=600", None),
    ("save_checkpoints_steps=4", "**more", None),
    ("save_checkpoints_secs=seconds()", "", None),
    ("save_checkpoints_secs=900", "", None),
    ("", "", None),
    ("", "throttle_secs=30", "evaluates only after a checkpoint, so every 600 seconds"),
    ("save_checkpoints_secs=300", "throttle_secs=60", "evaluates only after a checkpoint, so"),
    ("", "throttle_secs=1", None),
    ("save_checkpoints_steps=None", "", None),
  ],
)
def test_case_17_when_train_and_evaluate_evaluates(config, throttle, words):
  text = f"""
  cfg = tf.estimator.RunConfig({config})
  est = tf.estimator.Estimator(model_fn, "/m", cfg)
  tf.estimator.train_and_evaluate(
      est,
      tf.estimator.TrainSpec(train_fn, max_steps=10),
      tf.estimator.EvalSpec(eval_fn, steps=2, {throttle}))
  """
  found = [m for _, _, m in _found(text, "EM227")]
  assert [words in m for m in found] == ([True] if words else [])


@pytest.mark.parametrize(
  ("train_spec", "exporters", "reported"),
  [
    ("tf.estimator.TrainSpec(input_fn)", "[latest, final]", True),
    ("tf.estimator.TrainSpec(input_fn, max_steps=None)", "final", True),
    ("tf.estimator.TrainSpec(input_fn, max_steps=FLAGS.steps)", "final", False),
    ("tf.estimator.TrainSpec(**options)", "final", False),
    ("tf.estimator.TrainSpec(input_fn)", "latest", False),
    ("make_spec()", "final", False),
  ],
)
def test_a_final_exporter_waits_for_max_steps(train_spec, exporters, reported):
  text = f"""
  final = tf.estimator.FinalExporter("f", serving)
  latest = tf.estimator.LatestExporter("l", serving)
  spec = {train_spec}
  evaluation = tf.estimator.EvalSpec(input_fn, 5, exporters={exporters})
  tf.estimator.train_and_evaluate(e, spec, evaluation)
  """
  found = _found(text, "EM240")
  assert [(line, "line 4" in m) for line, _, m in found] == ([(2, True)] if reported else [])


@pytest.mark.parametrize(
  ("arguments", "reported"),
  [("f", True), ("f, name='a'", True), ("f, 7", False), ("f, steps=None", False), ("**o", False)],
)
def test_an_eval_spec_without_steps_takes_100_batches(arguments, reported):
  found = _codes(f"s = tf.estimator.EvalSpec({arguments})\n", "EM241")
  assert found == (["EM241"] if reported else [])


@pytest.mark.parametrize(
  ("pipeline", "call", "reported"),
  [
    ("return d.repeat()", "e.train(input_fn)", True),
    ("return d.repeat(None).batch(3)", "e.train(lambda: input_fn(files))", True),
    ("return d.repeat(count=-1)", "tf.estimator.TrainSpec(input_fn)", True),
    ("if mode == 'train':\n    d = d.repeat()\n  return d", "e.train(input_fn)", True),
    ("return d.repeat()", "e.train(functools.partial(input_fn, files), max_steps=None)", True),
    ("return d.repeat()", "e.train(input_fn, steps=FLAGS.steps)", False),
    ("return d.repeat()", "e.train(input_fn, hooks=[stop])", False),
    ("return d.repeat()", "e.train(input_fn, **options)", False),
    ("return d.repeat(10)", "e.train(input_fn)", False),
    ("return d.repeat(epochs)", "e.train(input_fn)", False),
    ("return d.repeat().take(100)", "e.train(input_fn)", False),
    ("if again:\n    d = d.repeat()\n  return d", "e.train(input_fn)", False),
    ("if mode == 'eval':\n    d = d.repeat()\n  return d", "e.train(input_fn)", False),
    ("return d", "e.train(input_fn)", False),
    ("return d.repeat()", "e.evaluate(input_fn)", False),
  ],
)
def test_a_training_that_nothing_ends(pipeline, call, reported):
  text = f"""
import functools
import tensorflow as tf
{ESTIMATOR}
def input_fn(files, mode="train"):
  {pipeline}
{call}
"""
  found = [f.code for f in engine.check_text(text, "a.py")]
  assert ("EM242" in found) == reported


def test_each_cell_trains_the_estimator_that_it_makes():
  cell = (
    "shutil.rmtree({0})\n"
    "estimator = tf.estimator.LinearRegressor(columns, model_dir={0})\n"
    "estimator.train(train_input_fn, steps=100)\n"
  )
  text = cell.format("FIRST") + cell.format("SECOND")
  assert _codes(text, "EM224", "EM114") == []
  left = text.replace("shutil.rmtree(SECOND)", "pass")
  assert [line for line, _, _ in _found(left, "EM224")] == [7]


@pytest.mark.parametrize(
  ("directory", "reported"),
  [("tempfile.mkdtemp()", False), ("mkdtemp(prefix='a')", False), ("make_directory()", True)],
)
def test_a_temporary_directory_is_new_at_each_start(directory, reported):
  text = f"""
  folder = {directory}
  e = tf.estimator.Estimator(model_fn, folder)
  e = e.train(train_input_fn, steps=100)
  """
  assert _codes(text, "EM114", "EM224") == (["EM114", "EM224"] if reported else [])
