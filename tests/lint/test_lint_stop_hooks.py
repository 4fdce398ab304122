"""StopAtStepHook: its two numbers, and what a second start trains."""

import pytest

from migrator.lint import engine

HEAD = "import tensorflow.compat.v1 as tf\n"


def _found(text, *codes):
  return [(f.code, f.message) for f in engine.check_text(HEAD + text, "a.py") if f.code in codes]


@pytest.mark.parametrize(
  ("arguments", "reason"),
  [
    ("num_steps=5, last_step=5", "they exclude each other"),
    ("5, 9", "they exclude each other"),
    ("", "one of the two is needed"),
    ("num_steps=None, last_step=None", "one of the two is needed"),
    ("num_steps=a, last_step=b", None),
    ("**options", None),
    ("last_step=5", None),
  ],
)
def test_the_two_numbers_exclude_each_other(arguments, reason):
  found = _found(f"h = tf.train.StopAtStepHook({arguments})\n", "EM225", "EM243")
  assert [reason in message for _, message in found] == ([True] if reason else [])


@pytest.mark.parametrize(
  ("argument", "words"),
  [
    ("num_steps=FLAGS.n", "`StopAtStepHook(num_steps=FLAGS.n)`: every start trains that many"),
    ("last_step=100", "`StopAtStepHook(last_step=100)`: a start that finds this step reached"),
    ("None, 100", "`StopAtStepHook(last_step=100)`"),
  ],
)
def test_a_second_start_trains_more(argument, words):
  text = f"""
hooks = [a]
hooks.append(tf.train.StopAtStepHook({argument}))
e = tf.estimator.Estimator(model_fn, "m")
e.train(input_fn, hooks=hooks)
"""
  [(code, message)] = _found(text, "EM243")
  assert (code, message.startswith(words)) == ("EM243", True)


@pytest.mark.parametrize(
  "use",
  [
    "tf.estimator.Estimator(model_fn).train(input_fn, hooks=[h])",
    "tf.train.MonitoredTrainingSession(hooks=[h])",
    "tf.train.MonitoredTrainingSession(checkpoint_dir=None, hooks=[h])",
    "tf.estimator.Estimator(model_fn, 'm').evaluate(input_fn, hooks=[h])",
    "for i in x: e.train(input_fn, hooks=[h])",
    "print(h)",
  ],
)
def test_a_hook_that_nobody_resumes(use):
  text = f"h = tf.train.StopAtStepHook(last_step=5)\ne = tf.estimator.Estimator(f, 'm')\n{use}\n"
  assert not _found(text, "EM243")
