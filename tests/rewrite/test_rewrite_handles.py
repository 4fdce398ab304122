"""Estimators that functions and attributes hand on: one object takes their place."""

import pytest
from helpers import HEAD, codes, left_whole, run, transformed

NEW = 'tf1.estimator.DNNClassifier([4, 3], columns, "model", n_classes=3)'
BUILD = f"""
def build():
    return {NEW}


"""
FIT = """
def fit(estimator):
    estimator.train(input_fn, max_steps=10)


"""


def program(body, build=BUILD):
  return HEAD + build + body


# -- what is made ----------------------------------------------------------------------


def test_callback_takes_the_place_of_the_estimator():
  text = transformed(program("e = build()\ne.train(input_fn, max_steps=10)\n"), target="fit")
  assert (
    """\
    return runtime.BackupAndRestore(
        create_e(),
        "model",
"""
    in text
  )
  assert (
    """\
if steps := e.remaining_steps(max_steps=10):
    e.model.fit(
        input_fn().map(runtime.only_inputs(e.model)).take(steps),
        callbacks=[e],
        verbose=0,
    )
"""
    in text
  )


def test_object_of_the_loops_functions_takes_its_place():
  body = (
    "e = build()\ne.train(input_fn, max_steps=10)\nprint(e.evaluate(input_fn, 3), e.model_dir)\n"
  )
  text = transformed(program(body), target="loop")
  assert text.endswith(
    "e = build()\ne.train(input_fn, max_steps=10)\nprint(e.evaluate(input_fn(), steps=3), e.model_dir)\n"
  )
  made = text[text.index("def make_e():") : text.index("    return make_e()")]
  assert "        return types.SimpleNamespace(" in made
  assert "train=train, evaluate=evaluate, model_dir=model_dir" in made.replace(
    "\n            ", " "
  )
  assert "    def train(input_fn, max_steps" in made
  assert "\n\n\n" not in made


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_comments_of_the_policy_are_kept(target):
  build = f"""
def build():
    # Often.
    config = tf1.estimator.RunConfig(save_checkpoints_steps=5)
    # The network.
    return {NEW.replace("n_classes", "config=config, n_classes")}


"""
  text = transformed(
    program("e = build()\ne.train(input_fn, max_steps=10)\n", build), target=target
  )
  assert text.count("# Often.") == 1
  assert text.count("# The network.") == 1
  assert "save_checkpoints_steps=5" in text


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_each_branch_makes_its_own(target):
  build = f"""
def build(deep):
    if deep:
        return {NEW}
    return {NEW.replace("[4, 3]", "[4]")}


"""
  text = transformed(
    program("e = build(a)\ne.train(input_fn, max_steps=9)\n", build), target=target
  )
  what = "runtime.BackupAndRestore(" if target == "fit" else "types.SimpleNamespace("
  assert text.count(what) == 2
  assert "def create_e():" in text
  assert "def create_e_2():" in text


def test_parameter_is_the_callback():
  text = transformed(program("fit(build())\n", BUILD + FIT), target="fit")
  assert (
    "    if steps := estimator.remaining_steps(max_steps=10):\n        estimator.model.fit(" in text
  )
  assert "callbacks=[estimator]," in text
  assert text.endswith("fit(build())\n")


ATTRIBUTE = f"""
class Runner:
    def __init__(self):
        self.estimator = {NEW}

    def run(self):
        self.estimator.train(input_fn, steps=3)
        return [p for p in self.estimator.predict(input_fn)]


print(Runner().run())
"""


def test_attribute_is_the_callback():
  text = transformed(HEAD + ATTRIBUTE, target="fit")
  assert (
    "        self.estimator = runtime.BackupAndRestore(\n            create_estimator()," in text
  )
  assert "        self.estimator.model.fit(\n" in text
  assert "callbacks=[self.estimator]," in text
  assert "only_inputs(self.estimator.model)" in text
  assert "[p for p in self.estimator.predict(input_fn())]" in text


def test_attribute_is_the_loop():
  text = transformed(HEAD + ATTRIBUTE, target="loop")
  assert "        self.estimator = make_estimator()\n" in text
  assert "        self.estimator.train(input_fn(), steps=3)\n" in text
  assert "[p for p in self.estimator.predict(input_fn())]" in text


# -- its calls ---------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_train_and_evaluate_of_a_handle(target):
  body = (
    "e = build()\n"
    "tf1.estimator.train_and_evaluate(e, tf1.estimator.TrainSpec(input_fn, max_steps=10),\n"
    "    tf1.estimator.EvalSpec(input_fn, steps=2, throttle_secs=0))\n"
  )
  text = transformed(program(body), target=target)
  if target == "fit":
    assert "evaluation = runtime.Evaluation(e, input_fn, steps=2, throttle_secs=0)" in text
    assert "callbacks=[e.with_listeners([evaluation])]" in text
  else:
    assert "runtime.Evaluation(e.evaluate, input_fn, steps=2, throttle_secs=0)" in text
    assert "e.train(input_fn, max_steps=10, saving_listeners=[evaluation])" in text


CALLS = """
e = build()
e.train(input_fn, max_steps=10)
print(e.latest_checkpoint(), tf.train.latest_checkpoint(e.model_dir), e.eval_dir("test"))
"""


def test_directories_and_checkpoints_of_a_handle():
  text = transformed(program(CALLS), target="fit")
  assert (
    'print(e.latest_checkpoint, e.latest_checkpoint, os.path.join(e.model_dir, "eval_test"))'
    in text
  )
  text = transformed(program(CALLS), target="loop")
  assert (
    'print(e.latest_checkpoint(), e.latest_checkpoint(), os.path.join(e.model_dir, "eval_test"))'
    in text
  )
  assert "latest_checkpoint=latest_checkpoint" in text


def test_values_of_variables_of_a_handle():
  body = "e = build()\nprint(e.get_variable_names(), e.get_variable_value('v'))\n"
  assert "print(e.get_variable_names(), e.get_variable_value('v'))" in transformed(program(body))
  assert "EM276" in codes(run(program(body)))
  text = transformed(program(body), target="loop")
  names = "runtime.get_variable_names(e.model_dir)"
  assert f"print({names}, runtime.get_variable_value(e.model_dir, 'v'))" in text
  assert "EM276" in codes(run(program(body), target="loop"))


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_early_stopping_of_a_handle_reads_its_directory(target):
  body = (
    "e = build()\n"
    "hook = tf1.estimator.experimental.stop_if_higher_hook(e, 'accuracy', 0.9)\n"
    "e.train(input_fn, max_steps=10, hooks=[hook])\n"
  )
  text = transformed(program(body), target=target)
  assert "hook = runtime.stop_if_higher(e.model_dir, 'accuracy', 0.9)" in text


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_loop_of_stages_begins_the_input_anew_in_each(target):
  body = "e = build()\nfor _ in range(3):\n    e.train(input_fn, steps=5)\n    print(e.evaluate(input_fn))\n"
  text = transformed(program(body), target=target)
  stage = text[text.index("for _ in range(3):") :]
  assert stage.count("input_fn()") == 2
  assert "input_fn()" not in text[text.index("e = build()") : text.index("for _ in range(3):")]


# -- type hints --------------------------------------------------------------------------

HINTS = f"""
from typing import Optional


def build() -> tf1.estimator.DNNClassifier:
    return {NEW}


def fit(estimator: Optional[tf.estimator.Estimator], *, steps: int = 10) -> "tf.estimator.Estimator":
    estimator.train(input_fn, max_steps=steps)
    return estimator


class Runner:
    estimator: tf.estimator.Estimator

    def __init__(self):
        self.estimator: "Optional[tf.estimator.Estimator]" = fit(build())

    def run(self):
        return list(self.estimator.predict(input_fn))


print(Runner().run())
"""


@pytest.mark.parametrize(
  ("target", "hint"), [("fit", "runtime.BackupAndRestore"), ("loop", "types.SimpleNamespace")]
)
def test_type_hints_name_what_takes_the_place(target, hint):
  text = transformed(HEAD + HINTS, target=target)
  assert f"def build() -> {hint}:" in text
  assert f'def fit(estimator: Optional[{hint}], *, steps: int = 10) -> "{hint}":' in text
  assert f"class Runner:\n    estimator: {hint}\n" in text
  assert f'        self.estimator: "Optional[{hint}]" = fit(build())\n' in text
  assert "tf.estimator" not in text


@pytest.mark.parametrize(
  ("target", "hint"), [("fit", "runtime.BackupAndRestore"), ("loop", "types.SimpleNamespace")]
)
@pytest.mark.parametrize("apart", [False, True])
def test_hint_of_a_variable_names_what_takes_the_place(target, hint, apart):
  name = "e: tf1.estimator.DNNClassifier"
  new = f"{name}\ne = {NEW}\n" if apart else f"{name} = {NEW}\n"
  text = transformed(HEAD + new + "e.train(input_fn, max_steps=10)\n", target=target)
  assert (f"e: {hint}\n" if apart else f"e: {hint} = ") in text
  assert ("e.model.fit(" if target == "fit" else "e.train(input_fn") in text


def test_hint_of_a_function_that_no_estimator_reaches_stays():
  other = "\n\ndef show(e: tf1.estimator.DNNClassifier):\n    print(e.params)\n"
  result = run(program("e = build()\ne.train(input_fn, max_steps=10)\n") + other)
  assert "\ndef show(e: tf1.estimator.DNNClassifier):" in result.text
  assert "# TODO(EM201)" in result.text


# -- what is refused ----------------------------------------------------------------------


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_estimator_of_a_call_is_refused(target):
  message = left_whole(program("build().train(input_fn, max_steps=10)\n"), "EM275", target=target)
  assert "`build()`" in message


def test_stock_callback_is_no_handle():
  build = BUILD.replace(
    "n_classes", "config=tf1.estimator.RunConfig(save_checkpoints_steps=5), n_classes"
  )
  body = "e = build()\ne.train(input_fn, max_steps=10)\n"
  assert "--stock" in left_whole(program(body, build), "EM218", stock=True)


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_output_is_not_taken_for_an_estimator(target):
  # `e.train(input_fn(), steps=5)` of a loop is no method of an Estimator any more.
  text = run(program("e = build()\ne.train(input_fn, steps=5)\n"), target=target).text
  assert not codes(run(text, target=target))
