"""The loop of a session: what ended it, and what it ran, is in the new loop or said."""

import pytest
from session_helpers import TRAINED, comments, found, monitored, proposed

OPEN = "with tf.train.MonitoredTrainingSession(checkpoint_dir='m') as session:\n"


def looped(loop):
  return proposed(TRAINED + OPEN + "".join(f"  {line}\n" for line in loop.split("\n")))


@pytest.mark.parametrize(
  ("test", "condition"),
  [
    ("at <= N and not session.should_stop()", "not (at <= N)"),
    ("not session.should_stop() and at < N and on", "not (at < N and on)"),
    ("not done and not session.should_stop()", "done"),
    ("not session.should_stop() and (a or b)", "not (a or b)"),
    ("not session.should_stop() and flag", "not flag"),
  ],
)
def test_the_rest_of_the_condition_of_a_loop_ends_the_new_one(test, condition):
  code = looped(f"while {test}:\n  session.run(train_op)")
  end = f"  if {condition}:  # line 6: the loop's own end\n    break\n  train_step(batch)\n"
  assert f"for batch in dataset:\n{end}" in code


@pytest.mark.parametrize("test", ["not session.should_stop()", "True", "1"])
def test_a_loop_that_only_the_session_ends_has_no_other_end(test):
  code = looped(f"while {test}:\n  if session.should_stop(): break\n  session.run(train_op)")
  assert "for batch in dataset:\n  train_step(batch)\n  manager.save()" in code
  assert "break" not in code


def test_an_end_before_the_run_stays_before_and_one_after_it_after_the_save():
  code = looped(
    "while True:\n  if session.should_stop() or at > N:\n    break\n"
    "  session.run(train_op)\n  if loss < LOW:\n    break"
  )
  first, second = code.index("if at > N:  # line 7"), code.index("if loss < LOW:  # line 10")
  assert code.index("for batch") < first < code.index("train_step(batch)\n")
  assert code.index("manager.save()  # when due") < second < code.index("# at the end")


def test_a_variable_of_the_end_that_a_run_sets_is_said():
  code = looped("at = -1\nwhile at < N:\n  _, at = session.run([train_op, global_step])")
  assert "# `at`: set in the loop of line 7, which stays; what a run of the session gave is" in code
  assert "`int(step)`, or what `train_step` returns" in comments(code)


def test_rounds_that_are_counted_are_counted_in_the_new_loop():
  code = looped("for i in range(N):\n  session.run(train_op)")
  assert "for i, batch in zip(range(N), dataset):\n  train_step(batch)" in code
  code = looped("for i, (x, y) in enumerate(data):\n  session.run(train_op)")
  assert "for (i, (x, y)), batch in zip(enumerate(data), dataset):\n" in code


def test_other_ways_out_of_the_loop_are_said():
  code = looped(
    "while not session.should_stop():\n  try:\n    session.run(train_op)\n"
    "  except tf.errors.OutOfRangeError:\n    break\n  except ValueError:\n    break\n"
    "  if a:\n    if b:\n      break\n    return loss"
  ).partition("# In place of the loop")[2]
  said = comments(code)
  assert "line 12: the loop also ends after `ValueError`: this stays" in said
  assert "line 15: `break` where `a and b` ends the loop, too: this stays" in said
  assert "line 16: `return` where `a` ends the loop, too: this stays" in said
  assert "line 10" not in said


def test_loops_around_and_more_loops_are_said():
  code = looped(
    "for epoch in epochs:\n  while not session.should_stop():\n    session.run(train_op)\n"
    "while not session.should_stop():\n  session.run(other)"
  )
  assert "line 6: what loops around it stays around this one, with what ends it" in comments(code)
  assert "lines 7, 9: the session has 2 loops; this is the first of them" in comments(code)


def test_a_session_that_is_handed_out_has_the_loop_of_the_caller():
  text = (
    TRAINED + "def session():\n  return tf.train.MonitoredTrainingSession(checkpoint_dir='m')\n"
  )
  assert "The loop of the session is not seen here: the caller's" in comments(proposed(text))


def test_runs_in_loops_of_their_own_are_said():
  code = looped(
    "while not session.should_stop():\n  for _ in range(A):\n    session.run(train_op)\n"
    "  for _ in range(B):\n    session.run(other_op)"
  )
  assert "lines 8, 10: runs in loops within the loop of the session" in comments(code)
  plain = monitored("checkpoint_dir='m'", TRAINED)
  assert "runs in loops within" not in proposed(plain)


def test_runs_without_the_hooks_are_said():
  code = looped("while not session.should_stop():\n  session.run_step_fn(step_fn)")
  assert "line 7: `run_step_fn`: what its function runs with `session.run` is run" in comments(code)


def test_sessions_of_other_functions_are_not_the_units():
  text = """\
    def train():
      saver = tf.train.Saver()
      with tf.Session() as s:
        saver.save(s, "logs/m", global_step=1)

    def other():
      with tf.Session() as s:
        s.run(init)
    """
  said = comments(proposed(text))
  assert "- line 5: `tf.Session`: what the session ran" in said


def test_the_session_of_the_same_class_is_the_units():
  text = """\
    class Model:
      def __init__(self):
        self.session = tf.Session()
      def build(self):
        self.saver = tf.train.Saver()
      def save(self):
        self.saver.save(self.session, "logs/m", global_step=1)
    """
  (finding,) = found(text)
  assert "- line 5: `tf.Session`" in comments(finding.proposal)


def test_excerpts_of_several_lines_have_no_blanks_at_their_brackets():
  text = (
    "hooks = [\n  Mine(\n    every=3,  # steps\n    of=[\n      1\n    ]\n  )\n]\n"
    "with tf.train.MonitoredTrainingSession(\n  checkpoint_dir='m', hooks=hooks\n) as session:\n  pass\n"
  )
  assert "`Mine(every=3, of=[1])` becomes a callback" in comments(proposed(text))


def test_a_loop_of_another_function_with_the_same_name_is_not_the_units():
  function = (
    "def {}():\n  with tf.train.MonitoredTrainingSession(checkpoint_dir='{}') as session:\n"
    "    while not session.should_stop() and {}:\n      session.run(op)\n"
  )
  first, second = found(function.format("a", "a", "one") + function.format("b", "b", "two"))
  assert "if not one:" in first.proposal
  assert "if not two:" in second.proposal
  assert "2 loops" not in first.proposal + second.proposal


def test_a_loop_of_epochs_is_no_loop_of_steps():
  code = looped(
    "for epoch in range(E):\n  if session.should_stop():\n    break\n"
    "  for i in range(S):\n    session.run(train_op)"
  )
  assert "for i, batch in zip(range(S), dataset):\n" in code
  assert "line 6: what loops around it stays around this one" in comments(code)


@pytest.mark.parametrize(
  "body",
  [
    "run_epoch(session)",
    "run_epoch(s=session)\n  print(session.run(rate))",
    "session.run(start)\n  for i in range(S):\n    session.run(train_op)",
  ],
)
def test_a_loop_whose_rounds_may_be_several_steps_does_not_count_them(body):
  code = looped(f"for epoch in range(E):\n  {body}")
  assert "\nfor batch in dataset:\n" in code
  assert "line 6: `for epoch in range(E)`: not only its own lines run the session" in comments(code)


def test_a_loop_that_hands_the_session_to_the_loop_of_steps_is_said():
  function = "def run_epoch(session):\n  for step in range(S):\n    session.run(op)\n"
  main = (
    "def main():\n  sv = tf.train.Supervisor(logdir=L)\n  with sv.managed_session() as session:\n"
    "    for epoch in range(E):\n      run_epoch(session)\n"
  )
  code = proposed(function + main)
  assert "for step, batch in zip(range(S), dataset):\n" in code
  assert "line 9: what loops around it stays around this one" in comments(code)
