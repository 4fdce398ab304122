"""Hook classes become callbacks, or say what has no counterpart."""

import textwrap

import pytest
from helpers import HEAD, NEW, codes, left_whole, run, transformed

COUNTER = """
class Counter(tf1.train.SessionRunHook):
    def begin(self):
        self.n = 0

    def after_run(self, run_context, run_values):
        self.n += 1
        if self.n == 3:
            run_context.request_stop()

"""


def program(hook=COUNTER, hooks="[Counter()]", extra=""):
  train = f"e.train(input_fn, hooks={hooks}, max_steps=10)\n"
  return HEAD + textwrap.dedent(hook) + NEW + extra + train


@pytest.mark.parametrize(
  "base",
  [
    "tf1.train.SessionRunHook",
    "tf.estimator.SessionRunHook",
    "tf.compat.v1.train.SessionRunHook",
    "session_run_hook.SessionRunHook",
    "tf.train.SessionRunHook",
  ],
)
def test_every_spelling_of_the_base_class(base):
  head = "from tensorflow.python.training import session_run_hook\n"
  source = (head if base.startswith("session") else "") + program(
    COUNTER.replace("tf1.train.SessionRunHook", base)
  )
  assert "class Counter(tf.keras.callbacks.Callback):" in transformed(source)


def test_methods_are_renamed():
  hook = """
    class Counter(tf1.train.SessionRunHook):
        def __init__(self):
            super().__init__()
        def begin(self): self.a = 1
        def before_run(self, run_context): self.a += 1
        def after_run(self, run_context, run_values): self.a += 1
        def end(self, session): print(self.a)
        def helper(self): return self.a

    """
  text = transformed(program(hook))
  assert "def on_train_begin(self, logs=None): self.a = 1" in text
  assert "def on_train_batch_begin(self, batch, logs=None): self.a += 1" in text
  assert "def on_train_batch_end(self, batch, logs=None): self.a += 1" in text
  assert "def on_train_end(self, logs=None): print(self.a)" in text
  assert "def helper(self): return self.a" in text


def test_after_create_session_without_session_is_the_begin():
  hook = COUNTER.replace("begin(self)", "after_create_session(self, session, coord)")
  assert "def on_train_begin(self, logs=None):" in transformed(program(hook))


def test_request_stop_stops_the_training():
  text = transformed(program())
  assert "            self.model.stop_training = True\n" in text


def test_attributes_that_callback_owns_are_renamed():
  hook = COUNTER.replace("self.n", "self.params")
  text = transformed(program(hook))
  assert "self.hook_params = 0" in text
  assert "self.params" not in text


def test_indirect_subclass_is_converted_with_its_base():
  hook = COUNTER + "class Late(Counter):\n    def end(self, session):\n        pass\n\n"
  text = transformed(program(hook, "[Late()]"))
  assert "class Counter(tf.keras.callbacks.Callback):" in text
  assert "class Late(Counter):\n    def on_train_end(self, logs=None):" in text


@pytest.mark.parametrize(
  ("hooks", "extra", "fit", "loop"),
  [
    ("[Counter()]", "", "callbacks=[backup, Counter()]", "callbacks=[Counter()]"),
    ("hooks", "hooks = [Counter()]\n", "callbacks=[backup, *hooks]", "callbacks=hooks"),
    (
      "hooks",
      "hooks = []\nif x:\n    hooks.append(Counter())\n",
      "callbacks=[backup, *hooks]",
      "callbacks=hooks",
    ),
    (
      "[] if x else [Counter()]",
      "",
      "callbacks=[backup, *([] if x else [Counter()])]",
      "callbacks=[*([] if x else [Counter()])]",
    ),
    ("[counter]", "counter = Counter()\n", "callbacks=[backup, counter]", "callbacks=[counter]"),
    ("None", "", "callbacks=[backup]", "max_steps=10)"),
    ("[]", "", "callbacks=[backup]", "max_steps=10)"),
  ],
)
def test_lists_of_hooks(hooks, extra, fit, loop):
  source = program(COUNTER, hooks, extra)
  if "Counter" not in hooks + extra:
    source = source.replace(COUNTER, "")
  assert fit in transformed(source)
  assert loop in transformed(source, target="loop")


@pytest.mark.parametrize(
  ("method", "what"),
  [
    ("def before_run(self, c): return tf1.train.SessionRunArgs(x)", "fetches"),
    ("def before_run(self, c): return x", "returns x"),
    ("def before_run(self, c): return tf1.train.SessionRunArgs('loss', {p: 1})", "feeds"),
    ("def before_run(self, c): return tf1.train.SessionRunArgs('loss', None, o)", "options"),
    ("def before_run(self, c): return tf1.train.SessionRunArgs('rate:0')", "runs rate"),
    (
      "def before_run(self, c): return tf1.train.SessionRunArgs('rate:0')\n"
      "    def after_run(self, c, v): print(v.results)",
      "fetches rate",
    ),
    ("def after_run(self, c, v): print(v.results)", "v.results"),
    ("def after_create_session(self, s, c): s.run(x)", "runs x in the session"),
    ("def before_run(self, c): c.session.run(x)", "runs x in the session"),
    ("def end(self, session): save(session)", "session"),
    ("def begin(self): super().end()", "end"),
    ("def begin(self): self.step = tf1.train.get_global_step() + 1", "get_global_step"),
    ("def after_run(self, c, v): tf1.trainable_variables()", "trainable_variables"),
    ("def on_train_begin(self): pass", "on_train_begin"),
  ],
)
def test_hook_without_counterpart_is_refused(method, what):
  hook = f"class Counter(tf1.train.SessionRunHook):\n    {method}\n\n"
  assert what in left_whole(program(hook), "EM302")


def test_begin_is_called_first_where_after_create_session_stands_too():
  hook = COUNTER + "    def after_create_session(self, session, coord):\n        self.n = 5\n\n"
  result = run(program(hook))
  assert "    def begin(self):\n        self.n = 0\n" in result.text
  assert (
    "    def on_train_begin(self, logs=None):\n        self.begin()\n        self.n = 5\n"
  ) in result.text
  assert "EM313" in codes(result)


def test_super_of_the_base_that_does_nothing_goes():
  hook = COUNTER.replace("self.n = 0", "super().begin()\n        self.n = 0")
  assert "super()" not in transformed(program(hook))


def test_super_of_an_own_base_is_the_callbacks_method():
  hook = COUNTER + (
    "class Late(Counter):\n    def after_run(self, run_context, run_values):\n"
    "        super(Late, self).after_run(run_context, run_values)\n\n"
  )
  assert "super(Late, self).on_train_batch_end(batch, logs)" in transformed(
    program(hook, "[Late()]")
  )


@pytest.mark.parametrize(
  ("hooks", "code"),
  [
    ("[tf1.train.FeedFnHook(feed)]", "EM303"),
    ("[elsewhere.Hook()]", "EM304"),
    ("make_hooks()", "EM304"),
    ("given", "EM304"),
    ("changed", "EM304"),
  ],
)
def test_hook_that_is_built_in_or_elsewhere_is_refused(hooks, code):
  extra = "changed = []\nelsewhere.fill(changed)\n"
  left_whole(program("import elsewhere\n", hooks, extra), code)


def test_listener_is_refused():
  hook = "class Counter(tf1.train.CheckpointSaverListener):\n    pass\n\n"
  left_whole(program(hook), "EM305")


def test_hook_that_another_unit_needs_gets_a_twin():
  other = (
    "g = tf1.estimator.Estimator(model_fn)\ng.train(input_fn, hooks=[Counter()], max_steps=3)\n"
  )
  result = run(program() + other)
  assert "class Counter(tf1.train.SessionRunHook):" in result.text
  assert "class CounterCallback(tf.keras.callbacks.Callback):" in result.text
  assert "callbacks=[backup, CounterCallback()]" in result.text
  assert "hooks=[Counter()]" in result.text


def test_hook_may_log_and_raise():
  hook = COUNTER.replace("self.n += 1", "tf1.logging.info('n %d', self.n); self.n += 1")
  assert "tf1.logging.info('n %d', self.n)" in transformed(program(hook))


@pytest.mark.parametrize(
  ("change", "what"),
  [
    ("    def helper(self): self.begin()\n", "self.begin"),
    ("    params = {}\n", "params"),
    ("    if DEBUG:\n        def end(self, session): pass\n", "end"),
    ("    end = print\n", "end"),
    ("    def end(self, session): print(logs)\n", "logs"),
  ],
)
def test_hook_with_methods_in_other_ways_is_refused(change, what):
  assert what in left_whole(program(COUNTER + change), "EM302")


@pytest.mark.parametrize(
  "mixin", ["from m import Mixin\n", "class Mixin:\n    def end(self, s): pass\n"]
)
def test_hook_with_a_mixin_that_may_have_hook_methods_is_refused(mixin):
  hook = mixin + COUNTER.replace("(tf1", "(Mixin, tf1")
  left_whole(program(hook), "EM302")


def test_variable_called_batch_is_not_hidden():
  hook = COUNTER.replace("self.n += 1", "self.n += batch")
  text = transformed(program("batch = 32\n" + textwrap.dedent(hook)))
  assert "def on_train_batch_end(self, _batch, logs=None):" in text


def test_before_run_at_the_end_of_the_input_is_reported():
  hook = COUNTER.replace(
    "after_run(self, run_context, run_values)", "before_run(self, run_context)"
  )
  result = run(program(hook))
  assert [f for f in result.findings if f.code == "EM306"]


@pytest.mark.parametrize("hooks", ["[h]", "hooks"])
def test_hook_object_that_another_estimator_uses_is_refused(hooks):
  extra = "h = Counter()\nhooks = [h]\n"
  other = f"g = tf1.estimator.Estimator(model_fn)\ng.train(input_fn, hooks={hooks}, max_steps=3)\n"
  left_whole(program(COUNTER, hooks, extra) + other, "EM304")


def test_twin_names_itself():
  hook = COUNTER + "    def __init__(self):\n        super(Counter, self).__init__()\n\n"
  other = "g = tf1.estimator.Estimator(f)\ng.train(input_fn, hooks=[Counter()], max_steps=3)\n"
  text = run(program(hook) + other).text
  assert "super(Counter, self).__init__()" in text
  assert "super(CounterCallback, self).__init__()" in text
