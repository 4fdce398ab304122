"""train_and_evaluate: its specs, when it evaluates, and what it returns."""

import pytest
from helpers import HEAD, NEW, codes, left_whole, run, transformed

MORE = """
import functools


def eval_input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0] * 4]}, [0]))


"""
WATCH = """
class Watch(tf1.train.SessionRunHook):
    def after_run(self, run_context, run_values):
        print("step")


"""
LISTENER = """
class Listener(tf1.train.CheckpointSaverListener):
    def after_save(self, session, global_step_value):
        print(global_step_value)


"""
TRAIN = "tf1.estimator.TrainSpec(input_fn, max_steps=10)"
EVAL = "tf1.estimator.EvalSpec(eval_input_fn, steps=2, throttle_secs=0)"


def program(body, new=NEW):
  classes = (WATCH if "Watch" in body else "") + (LISTENER if "Listener" in body else "")
  return HEAD + MORE + classes + new + body


def call(train=TRAIN, evaluate=EVAL, before=""):
  return program(f"{before}tf1.estimator.train_and_evaluate(e, {train}, {evaluate})\n")


# -- what the call becomes --------------------------------------------------------


def test_saves_of_the_training_are_heard_by_an_evaluation():
  assert transformed(call(), target="fit").endswith(
    """\
evaluation = runtime.Evaluation(backup, eval_input_fn, steps=2, throttle_secs=0)
if steps := backup.remaining_steps(max_steps=10):
    e.fit(
        input_fn().map(runtime.only_inputs(e)).take(steps),
        callbacks=[backup.with_listeners([evaluation])],
        verbose=0,
    )
"""
  )


def test_loop_evaluates_with_its_own_function_and_gives_the_training_its_state_back():
  text = transformed(call(), target="loop")
  assert (
    "evaluation = runtime.Evaluation(evaluate, eval_input_fn, steps=2, throttle_secs=0)" in text
  )
  assert "train(input_fn, max_steps=10, saving_listeners=[evaluation])" in text
  function = text[text.index("def evaluate(dataset, steps=None, name=None):") :]
  assert function.split("\n")[1].strip() == "with manager.newest():"
  assert "manager.begin_session(e, saving_listeners)" in text


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_defaults_of_the_eval_spec_are_written_out(target):
  text = transformed(call(evaluate="tf1.estimator.EvalSpec(eval_input_fn)"), target=target)
  assert (
    "    steps=100,\n    throttle_secs=600,  # seconds between two evaluations, at least\n" in text
  )


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_all_of_the_evaluation_input_stays_all(target):
  spec = "tf1.estimator.EvalSpec(eval_input_fn, None, throttle_secs=0)"
  assert "eval_input_fn, steps=None, throttle_secs=0)" in transformed(
    call(evaluate=spec), target=target
  )


def test_training_without_max_steps_ends_with_its_input():
  text = transformed(call("tf1.estimator.TrainSpec(input_fn)"), target="fit")
  assert "steps_per_epoch=-1" in text
  assert "remaining_steps" not in text
  text = transformed(call("tf1.estimator.TrainSpec(input_fn)"), target="loop")
  assert "train(input_fn(), saving_listeners=[evaluation])" in text


def test_delay_of_the_start_is_dropped_and_said():
  spec = "tf1.estimator.EvalSpec(eval_input_fn, steps=2, start_delay_secs=60, throttle_secs=0)"
  result = run(call(evaluate=spec), target="fit")
  assert "start_delay" not in result.text
  assert "EM272" in codes(result)
  assert "EM272" not in codes(run(call(), target="fit"))


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_name_of_the_evaluation_is_kept(target):
  spec = "tf1.estimator.EvalSpec(eval_input_fn, steps=2, name='test', throttle_secs=0)"
  assert "steps=2, name='test', throttle_secs=0" in transformed(call(evaluate=spec), target=target)


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_hooks_of_both_specs_become_callbacks(target):
  train = "tf1.estimator.TrainSpec(input_fn, max_steps=10, hooks=[Watch()])"
  spec = "tf1.estimator.EvalSpec(eval_input_fn, steps=2, hooks=[Watch()], throttle_secs=0)"
  text = transformed(call(train, spec), target=target)
  assert (
    "callbacks=[Watch()],\n    throttle_secs=0" in text or "callbacks=[Watch()], throttle" in text
  )
  assert "def on_train_batch_end(" in text
  assert "on_test_batch_end = on_train_batch_end" in text
  if target == "fit":
    assert "callbacks=[backup.with_listeners([evaluation]), Watch()]" in text
  else:
    assert "def evaluate(dataset, steps=None, name=None, callbacks=()):" in text


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_own_listeners_hear_of_a_save_before_the_evaluation(target):
  # TF 2.15 appends its own listener to those of the TrainSpec.
  train = "tf1.estimator.TrainSpec(input_fn, max_steps=10, saving_listeners=[Listener()])"
  text = transformed(call(train), target=target)
  assert "[Listener(), evaluation]" in text
  assert "class Listener(runtime.CheckpointSaverListener):" in text


# -- input functions ---------------------------------------------------------------


@pytest.mark.parametrize(
  ("given", "written"),
  [
    ("eval_input_fn", "eval_input_fn"),
    ("lambda: eval_input_fn().repeat(2)", "lambda: eval_input_fn().repeat(2)"),
    ("functools.partial(eval_input_fn)", "functools.partial(eval_input_fn)"),
  ],
)
def test_input_function_is_called_for_each_evaluation(given, written):
  spec = f"tf1.estimator.EvalSpec({given}, steps=2, throttle_secs=0)"
  text = transformed(call(evaluate=spec), target="fit")
  assert f"runtime.Evaluation(backup, {written}, steps=2" in text.replace("\n    ", " ").replace(
    "( ", "("
  )


def test_numpy_input_fn_becomes_a_function():
  spec = (
    "tf1.estimator.EvalSpec(tf1.estimator.inputs.numpy_input_fn({'x': xs}, ys, shuffle=False), steps=2, "
    "throttle_secs=0)"
  )
  text = transformed(call(evaluate=spec, before="xs, ys = load()\n"), target="fit")
  assert "def numpy_input_fn():" in text or "def input_fn_2():" in text or "_input_fn():" in text
  assert "runtime.Evaluation(backup, numpy_input_fn, steps=2, throttle_secs=0)" in text


# -- its result --------------------------------------------------------------------


@pytest.mark.parametrize("target", ["fit", "loop"])
@pytest.mark.parametrize(
  ("statement", "written"),
  [
    ("result = {}", "result = evaluation.metrics, evaluation.export_results"),
    ("metrics, exports = {}", "metrics, exports = evaluation.metrics, evaluation.export_results"),
    ("metrics = {}[0]", "metrics = evaluation.metrics"),
    ("exports = {}[1]", "exports = evaluation.export_results"),
  ],
)
def test_result_is_what_the_last_evaluation_gave(statement, written, target):
  body = statement.format(f"tf1.estimator.train_and_evaluate(e, {TRAIN}, {EVAL})")
  assert transformed(program(body + "\n"), target=target).endswith(written + "\n")


def test_result_is_returned():
  body = f"""
def main():
    {NEW.strip()}
    return tf1.estimator.train_and_evaluate(e, {TRAIN}, {EVAL})
"""
  text = transformed(program(body, new=""), target="fit")
  assert text.endswith("    return evaluation.metrics, evaluation.export_results\n")


def test_result_inside_of_an_expression_is_refused():
  body = f"print(tf1.estimator.train_and_evaluate(e, {TRAIN}, {EVAL}))\n"
  assert "inside of an expression" in left_whole(program(body), "EM270", target="fit")


# -- specs in variables --------------------------------------------------------------


SPECS = f"train_spec = {TRAIN}\neval_spec = {EVAL}\n"


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_specs_in_variables_are_as_those_in_the_call(target):
  body = SPECS + "tf1.estimator.train_and_evaluate(e, train_spec, eval_spec)\n"
  assert transformed(program(body), target=target) == transformed(call(), target=target)


def test_keywords_may_name_all_three():
  body = SPECS + (
    "tf1.estimator.train_and_evaluate(eval_spec=eval_spec, train_spec=train_spec, estimator=e)\n"
  )
  assert transformed(program(body), target="fit") == transformed(call(), target="fit")


def test_comments_stand_above_what_takes_the_place_of_a_spec():
  body = (
    "# Training.\n"
    f"train_spec = {TRAIN}\n"
    "# Evaluation.\n"
    "eval_spec = tf1.estimator.EvalSpec(\n"
    "    eval_input_fn,\n"
    "    steps=2,  # a few\n"
    "    throttle_secs=0)\n"
    "# All.\n"
    "tf1.estimator.train_and_evaluate(e, train_spec, eval_spec)\n"
  )
  text = transformed(program(body), target="fit")
  assert "# Evaluation.\nevaluation = runtime.Evaluation(\n" in text
  assert "    steps=2,  # a few\n" in text
  assert "# Training.\nif steps := backup" in text
  assert text.count("#") == 5  # and the note of the optimizer


def test_module_level_specs_are_read_in_a_function():
  body = (
    SPECS
    + f"""

def main():
    {NEW.strip()}
    tf1.estimator.train_and_evaluate(e, train_spec, eval_spec)
"""
  )
  text = transformed(program(body, new=""), target="fit")
  assert "    evaluation = runtime.Evaluation(" in text
  assert "_spec" not in text


def test_what_is_made_with_a_spec_is_made_at_its_place():
  body = (
    "train_spec = tf1.estimator.TrainSpec(input_fn, max_steps=load_steps(), hooks=[Watch()])\n"
    f"eval_spec = {EVAL}\n"
    "print('ready')\n"
    "tf1.estimator.train_and_evaluate(e, train_spec, eval_spec)\n"
  )
  text = transformed(program(body), target="fit")
  assert "train_max_steps = load_steps()\ntrain_hooks = [Watch()]\nprint('ready')\n" in text
  assert "remaining_steps(max_steps=train_max_steps)" in text
  assert "callbacks=[backup.with_listeners([evaluation]), *train_hooks]" in text


def test_value_that_changes_after_the_spec_is_kept():
  body = (
    "n = 10\n"
    "train_spec = tf1.estimator.TrainSpec(input_fn, max_steps=n)\n"
    "n = 20\n"
    f"tf1.estimator.train_and_evaluate(e, train_spec, {EVAL})\n"
  )
  text = transformed(program(body), target="fit")
  assert "n = 10\ntrain_max_steps = n\nn = 20\n" in text
  assert "remaining_steps(max_steps=train_max_steps)" in text


def test_hooks_of_a_spec_that_two_calls_read_are_made_once():
  body = (
    "train_spec = tf1.estimator.TrainSpec(input_fn, max_steps=10, hooks=[Watch()])\n"
    + f"eval_spec = {EVAL}\n"
    + "tf1.estimator.train_and_evaluate(e, train_spec, eval_spec)\n" * 2
  )
  text = transformed(program(body), target="fit")
  assert text.count("Watch()") == 1
  assert text.count("*train_hooks]") == 2


def test_specs_before_a_loop_serve_each_round_with_the_same_hooks():
  body = (
    "train_spec = tf1.estimator.TrainSpec(input_fn, max_steps=10, hooks=[Watch()])\n"
    f"eval_spec = {EVAL}\n"
    "for _ in range(2):\n"
    "    tf1.estimator.train_and_evaluate(e, train_spec, eval_spec)\n"
  )
  text = transformed(program(body), target="fit")
  assert "train_hooks = [Watch()]\nfor _ in range(2):\n    evaluation = " in text


@pytest.mark.parametrize(
  ("body", "said"),
  [
    ("tf1.estimator.train_and_evaluate(e, make(), {EVAL})", "`make()`"),
    ("train_spec = {TRAIN}\nprint(train_spec)\ntf1.estimator.train_and_evaluate(e, train_spec, {EVAL})",
     "also read here"),
    ("s = {TRAIN}\ns = {TRAIN}\ntf1.estimator.train_and_evaluate(e, s, {EVAL})", "`s`"),
    ("s = {TRAIN}\nt = s\ntf1.estimator.train_and_evaluate(e, t, {EVAL})", "second name"),
    ("tf1.estimator.train_and_evaluate(e, tf1.estimator.TrainSpec(max_steps=3), {EVAL})", "no input_fn"),
    ("tf1.estimator.train_and_evaluate(e, tf1.estimator.TrainSpec(*a), {EVAL})", "not all known"),
    ("tf1.estimator.train_and_evaluate(e, {TRAIN})", "no eval_spec"),
  ],
)  # fmt: skip
@pytest.mark.parametrize("target", ["fit", "loop"])
def test_spec_that_is_not_known_is_refused(body, said, target):
  source = program(body.format(EVAL=EVAL, TRAIN=TRAIN) + "\n")
  assert said in left_whole(source, "EM270", target=target)


def test_stock_callback_is_refused():
  new = NEW.replace(
    "n_classes", "config=tf1.estimator.RunConfig(save_checkpoints_steps=5), n_classes"
  )
  body = f"tf1.estimator.train_and_evaluate(e, {TRAIN}, {EVAL})\n"
  assert "--stock" in left_whole(program(body, new=new), "EM218", stock=True)


# -- nothing is left of it ------------------------------------------------------------


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_nothing_reports_what_has_been_carried_over(target):
  found = codes(run(call(evaluate="tf1.estimator.EvalSpec(eval_input_fn)"), target=target))
  assert not {"EM204", "EM227", "EM240", "EM241"} & set(found)
  assert "EM210" in found  # the input begins anew in a resumed run
