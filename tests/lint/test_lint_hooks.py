"""Hooks that count their calls, listeners that stop, early stopping in steps."""

import textwrap

import pytest

from migrator.lint import engine

HEAD = "import tensorflow.compat.v1 as tf\n"


def _found(text, *codes):
  """(line, code, message) of the findings with these codes; the import is line 1."""
  found = engine.check_text(HEAD + textwrap.dedent(text).lstrip("\n"), "a.py")
  return [(f.span.line, f.code, f.message) for f in found if f.code in codes]


def _lines(text, code):
  return [line for line, _, _ in _found(text, code)]


def test_case_04_a_hook_that_counts_runs():
  text = """
  tf1 = tf
  class Count(tf1.train.SessionRunHook):
      n = 0
      def after_run(self, ctx, vals): Count.n += 1
  with tf1.train.MonitoredTrainingSession(hooks=[Count()]) as sess:
      while not sess.should_stop():
          sess.run(train_op)
          sess.run(queue_size_op)      # also triggers the hook
  """
  [(line, _, message)] = _found(text, "EM307")
  assert line == 5
  assert message == (
    "`Count.after_run` counts its calls in `n`, which are not steps: it is called at every "
    "`session.run`, of which a loop here makes 2 in each round, and counts from 0 again when the "
    "job is resumed."
  )


@pytest.mark.parametrize(
  ("body", "reported"),
  [
    ("self._step += 1\n    if self._step % 10 == 0: save()", True),
    ("self._step = self._step + 1\n    print(self._step)", True),
    ("self.steps += 1\n    log(f'{self.steps} done')", True),
    ("self._step += 1\n    if self._step > 10: run_context.request_stop()", True),
    ("self._step += 1", False),  # nobody asks
    ("self._step += self._n\n    print(self._step)", False),
    ("self._count += 1\n    print(self._count)", False),
    ("step = 0\n    step += 1\n    print(step)", False),
    ("self._step = run_values.results\n    self._step += 1\n    print(self._step)", False),
  ],
)
def test_a_count_is_taken_for_the_step(body, reported):
  text = f"""
import tensorflow as tf
class Log(tf.estimator.SessionRunHook):
  def begin(self):
    self._step, self.steps, self._count = 0, 0, 0
  def after_run(self, run_context, run_values):
    {body}
"""
  found = [f.code for f in engine.check_text(text, "a.py")]
  assert ("EM307" in found) == reported


def test_a_count_that_begins_at_the_global_step_is_right():
  text = """
  class Log(tf.train.SessionRunHook):
    def after_create_session(self, session, coord):
      self.step = session.run(tf.train.get_global_step())
    def after_run(self, run_context, run_values):
      self.step += 1
      print(self.step)
  """
  assert not _lines(text, "EM307")


def test_other_classes_may_count():
  text = """
  class Log:
    def before_run(self):
      self.step += 1
      print(self.step)
  class Save(tf.train.CheckpointSaverListener):
    def before_run(self):
      self.step += 1
      print(self.step)
  """
  assert not _lines(text, "EM307")


@pytest.mark.parametrize(
  "body",
  [
    "sess.run(train_op)",
    "if a: sess.run(train_op)\n    else: sess.run(other_op)",
    "other.run(train_op)\n    sess.run(train_op)",
  ],
)
def test_a_loop_with_one_run_in_each_round(body):
  text = f"""
import tensorflow.compat.v1 as tf
class Count(tf.train.SessionRunHook):
  n = 0
  def after_run(self, ctx, vals): self.n += 1
with tf.train.MonitoredTrainingSession(hooks=[Count()]) as sess:
  while True:
    {body}
"""
  assert "EM307" not in [f.code for f in engine.check_text(text, "a.py")]


def test_case_12_a_listener_that_stops_the_training():
  text = """
  class Upload(tf.estimator.CheckpointSaverListener):
      def after_save(self, session, global_step_value):
          print("copy model.ckpt-%d" % global_step_value)
          return global_step_value >= 100       # True stops training
  est.train(input_fn, saving_listeners=[Upload()])
  """
  [(line, _, message)] = _found(text, "EM309")
  assert line == 5
  assert message == (
    "`Upload.after_save` returns `global_step_value >= 100`: where that is true, the training ends "
    "after this save."
  )


@pytest.mark.parametrize(
  ("body", "words"),
  [
    ("return True", "always true"),
    ("return 'copied'", "always true"),
    ("return f'model.ckpt-{step}'", "always true"),
    ("return 'model.ckpt-%d' % step", "always true"),
    ("if step > 5: return True", "where that is true"),
    ("return step", "where that is true"),
    ("return", None),
    ("return None", None),
    ("return False", None),
    ("return super().after_save(session, step)", None),
    ("def inner(): return True", None),
    ("return self.before_save(session, step)", "where that is true"),
    ("return self.log(step)", None),
  ],
)
def test_what_after_save_returns(body, words):
  text = f"""
  class Base(tf.train.CheckpointSaverListener):
    pass
  class Copy(Base):
    def before_save(self, session, step):
      return True
    def log(self, step):
      print(step)
    def after_save(self, session, step):
      {body}
  """
  found = [m for _, _, m in _found(text, "EM309")]
  assert [words in m for m in found] == ([True] if words else [])


def test_case_14_early_stopping_counts_steps():
  text = """
  hook = tf.estimator.experimental.stop_if_no_decrease_hook(
      est, metric_name="loss", max_steps_without_decrease=1300, min_steps=500, run_every_secs=60)
  tf.estimator.train_and_evaluate(est,
      tf.estimator.TrainSpec(train_fn, max_steps=10000, hooks=[hook]),
      tf.estimator.EvalSpec(eval_fn, steps=100))
  """
  [(line, _, message)] = _found(text, "EM308", "EM310")
  assert line == 2
  assert message == (
    "`stop_if_no_decrease_hook(max_steps_without_decrease=1300)` counts training steps, over the "
    "evaluations that it finds on disk; `patience=` of Keras' EarlyStopping counts epochs."
  )


@pytest.mark.parametrize(
  ("call", "words"),
  [
    ("stop_if_no_increase_hook(e, 'accuracy', N)", "(max_steps_without_increase=N)` counts"),
    ("stop_if_lower_hook(e, 'loss', 0.1, min_steps=50)", "(min_steps=50)` counts training steps"),
    ("stop_if_lower_hook(e, 'loss', 0.1)", None),
    ("stop_if_higher_hook(e, 'loss', 0.1, min_steps=0)", None),
    ("make_early_stopping_hook(e, should_stop)", None),
  ],
)
def test_the_units_of_each_early_stopping_hook(call, words):
  for module in ("tf.estimator.experimental", "contrib_estimator"):
    text = f"from tensorflow.contrib import estimator as contrib_estimator\nh = {module}.{call}\n"
    found = [m for _, _, m in _found(text, "EM308")]
    assert [words in m for m in found] == ([True] if words else [])


@pytest.mark.parametrize(
  ("hook", "spec", "reported"),
  [
    ("", "name='val'", True),
    ("", "", False),
    ("", "name=None", False),
    ("", "name=name()", False),
    ("eval_dir=e.eval_dir('val')", "name='val'", False),
    ("**options", "name='val'", False),
  ],
)
def test_early_stopping_looks_where_the_evaluations_go(hook, spec, reported):
  text = f"""
  hooks = []
  hooks.append(tf.estimator.experimental.stop_if_no_increase_hook(e, "accuracy", 100, {hook}))
  train_spec = tf.estimator.TrainSpec(input_fn, max_steps=1000, hooks=hooks)
  eval_spec = tf.estimator.EvalSpec(input_fn, steps=5, {spec})
  tf.estimator.train_and_evaluate(e, train_spec, eval_spec)
  """
  found = _found(text, "EM310")
  assert [line for line, _, _ in found] == ([3] if reported else [])
  if reported:
    assert "of line 5 go to `eval_val`" in found[0][2]
