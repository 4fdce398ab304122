"""`evaluate(hooks=)` and `predict(hooks=)`."""

import pytest
from helpers import HEAD, left_whole, program, transformed

COUNT = """
class Count(tf1.train.SessionRunHook):
    def begin(self):
        self.runs = 0

    def after_run(self, run_context, run_values):
        self.runs += 1
        if self.runs == 3:
            run_context.request_stop()

    def end(self, session):
        print("runs", self.runs)


"""


def text_of(body, **options):
  return transformed(program(body, head=HEAD + COUNT), **options)


@pytest.mark.parametrize("target", ["fit", "loop"])
@pytest.mark.parametrize("method", ["evaluate", "predict"])
def test_hooks_become_callbacks_of_the_call(method, target):
  text = text_of(f"print(e.{method}(input_fn, hooks=[Count()]))\n", target=target)
  owner = "backup." if target == "fit" else ""
  assert f"print({owner}{method}(input_fn(), callbacks=[Count()]))" in text
  kind = "test" if method == "evaluate" else "predict"
  for event in ("begin", "batch_end", "end"):
    assert f"def on_{kind}_{event}(self" in text
  flag = "evaluating" if method == "evaluate" else "predicting"
  assert f"self.model.stop_{flag} = True" in text


def test_arguments_keep_their_values():
  text = text_of("e.evaluate(input_fn, 7, [Count()], name='test')\n", target="fit")
  assert "backup.evaluate(input_fn(), steps=7, name='test', callbacks=[Count()])" in text


def test_list_in_a_variable_stays():
  text = text_of("hooks = [Count()]\ne.evaluate(input_fn, hooks=hooks)\n", target="fit")
  assert "hooks = [Count()]\nbackup.evaluate(input_fn(), callbacks=hooks)" in text


def test_function_of_the_loop_hands_them_on():
  text = text_of("e.evaluate(input_fn, steps=2, hooks=[Count()])\n", target="loop")
  assert "def evaluate(dataset, steps=None, callbacks=()):" in text
  assert "callbacks=callbacks" in text[text.index("def evaluate") :]
  text = text_of("list(e.predict(input_fn, hooks=[Count()]))\n", target="loop")
  assert "def predict(dataset, callbacks=()):" in text
  assert "runtime.predict(e, dataset, callbacks=callbacks)" in text


@pytest.mark.parametrize("target", ["fit", "loop"])
@pytest.mark.parametrize("method", ["evaluate", "predict"])
@pytest.mark.parametrize("argument", ["None", "[]"])
def test_no_hooks_leave_no_trace(method, argument, target):
  with_it = transformed(program(f"e.{method}(input_fn, hooks={argument})\n"), target=target)
  assert with_it == transformed(program(f"e.{method}(input_fn)\n"), target=target)


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_one_class_for_training_and_evaluation_has_both_sets_of_methods(target):
  train = "e.train(input_fn, max_steps=10, hooks=[Count()])\n"
  body = "e.evaluate(input_fn, hooks=[Count()])\n"
  text = transformed(program(body, head=HEAD + COUNT, train=train), target=target)
  for kind in ("train", "test"):
    assert f"on_{kind}_begin" in text and f"on_{kind}_batch_end" in text


@pytest.mark.parametrize("train_hooks", ["", ", hooks=[Watch()]"])
@pytest.mark.parametrize("method", ["evaluate", "predict"])
def test_original_args_are_the_loss_in_a_training_only(method, train_hooks):
  # An evaluation of TF 2.15 fetches [the metrics' updates, the counter of batches], a prediction a dict.
  hook = COUNT.replace("Count", "Watch").replace("self.runs += 1", "print(run_values.results)")
  fetch = "return tf1.train.SessionRunArgs(run_context.original_args.fetches[1])"
  hook = hook.replace(
    "    def after_run",
    f"    def before_run(self, run_context):\n        {fetch}\n\n    def after_run",
  )
  train = f"e.train(input_fn, max_steps=10{train_hooks})\n"
  source = program(f"e.{method}(input_fn, hooks=[Watch()])\n", head=HEAD + hook, train=train)
  assert "original_args" in left_whole(source, "EM302")
