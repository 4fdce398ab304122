"""Hooks that once became callbacks which did something else, or could not be imported."""

import pytest
from helpers import HEAD, left_whole, program, transformed

STEP = """
class Step(tf1.train.SessionRunHook):
    def before_run(self, run_context):
        return tf1.train.SessionRunArgs(tf1.train.get_global_step())

    def after_run(self, run_context, run_values):
        print(run_values.results)


"""
BOTH = """
h = Step()
e.train(input_fn, max_steps=10, hooks=[h])
e.evaluate(input_fn, hooks=[h])
"""


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_method_that_only_the_second_use_needs_stays(target):
  text = transformed(program(BOTH, head=HEAD + STEP), target=target)
  assert "def on_train_batch_begin(self, batch, logs=None):\n" in text
  assert "self._fetched_step = runtime.global_step(self.model)" in text
  assert "on_test_batch_begin = on_train_batch_begin" in text


ANNOTATED = """
class Note(object):
    def note(self, what):
        print("note", what)


class Annotated(Note, tf1.train.SessionRunHook):
    def before_run(
        self, run_context: tf1.train.SessionRunContext
    ) -> "tf1.train.SessionRunArgs":
        self.note("before")
        return tf1.train.SessionRunArgs(tf1.train.get_global_step())

    def after_run(
        self, run_context: tf1.train.SessionRunContext, run_values: tf1.train.SessionRunValues
    ) -> None:
        self.note(run_values.results)


"""


def test_annotations_of_the_sessions_parameters_go_and_a_mixin_stays():
  body = "e.train(input_fn, max_steps=10, hooks=[Annotated()])\n"
  text = transformed(program(body, head=HEAD + ANNOTATED), target="fit")
  assert "class Annotated(Note, tf.keras.callbacks.Callback):" in text
  assert text.count("self, batch, logs=None) -> None:") == 2
  assert "SessionRun" not in text


def test_mixin_with_an_attribute_that_keras_sets_is_refused():
  head = HEAD + ANNOTATED.replace('print("note"', 'print(self.params, "note"')
  body = "e.train(input_fn, max_steps=10, hooks=[Annotated()])\n"
  message = left_whole(program(body, head=head), "EM302")
  assert "has the attribute params of Note" in message


STOP = """
class Stop(tf1.train.SessionRunHook):
    def after_run(self, run_context, run_values):
        run_context.request_stop()


"""


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_hook_of_a_training_and_an_evaluation_ends_both(target):
  text = transformed(program(BOTH.replace("Step", "Stop"), head=HEAD + STOP), target=target)
  assert "self.model.stop_training = self.model.stop_evaluating = True" in text
