"""Hooks that once became callbacks which did something else, or could not be imported."""

import pytest
from helpers import HEAD, program, transformed

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
