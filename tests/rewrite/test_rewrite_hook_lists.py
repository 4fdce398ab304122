"""Lists of hooks are followed through a file, and keep the code that builds them."""

import textwrap

import pytest
from helpers import HEAD, NEW, codes, left_whole, run, transformed

HOOKS = """
class A(tf1.train.SessionRunHook):
    pass


class B(tf1.train.SessionRunHook):
    pass


"""
# What builds `hooks`, by what a person calls it.
SHAPES = {
  "a literal": "hooks = [A(), B()]",
  "a tuple": "hooks = (A(), B())",
  "a sum": "hooks = [A()] + [B()]",
  "a sum with a variable": "first = [A()]\nhooks = first + [B()]",
  "an augmented assignment": "hooks = []\nhooks += [A(), B()]",
  "append": "hooks = [A()]\nhooks.append(B())",
  "append of a variable": "b = B()\nhooks = [A()]\nhooks.append(b)",
  "append under a condition": "hooks = [A()]\nif x:\n    hooks.append(B())",
  "extend": "hooks = [A()]\nhooks.extend([B()])",
  "insert": "hooks = [A()]\nhooks.insert(0, B())",
  "a conditional expression": "hooks = [A()] if x else [B()]",
  "a conditional element": "hooks = [A() if x else B()]",
  "both branches of an if": "if x:\n    hooks = [A()]\nelse:\n    hooks = [B()]",
  "a variable of both branches": (
    "if x:\n    hook = A()\nelse:\n    hook = B()\nhooks = [hook]"
  ),
  "a copy": "first = [A(), B()]\nhooks = list(first)",
  "the method copy": "first = [A(), B()]\nhooks = first.copy()",
  "a list of a tuple": "hooks = list((A(), B()))",
  "a starred element": "first = [A()]\nhooks = [*first, B()]",
  "a comprehension": "hooks = [A() for _ in range(2)]\nhooks += [B()]",
  "a comprehension over hooks": "all_hooks = [A(), B()]\nhooks = [h for h in all_hooks if x]",
  "a loop over hooks": "hooks = []\nfor h in [A(), B()]:\n    hooks.append(h)",
  "a function": "def make():\n    return [A(), B()]\n\n\nhooks = make()",
  "a function with two returns": (
    "def make(x):\n    if x:\n        return [A()]\n    return [B()]\n\n\nhooks = make(1)"
  ),
  "a function that appends": (
    "def make():\n    made = [A()]\n    made.append(B())\n    return made\n\n\nhooks = make()"
  ),
  "a function that makes one hook": (
    "def make(x):\n    return A() if x else B()\n\n\nhooks = [make(1)]"
  ),
  "a list that is printed": "hooks = [A(), B()]\nprint(len(hooks), hooks[0])",
  "a second name": "first = [A(), B()]\nhooks = first",
  "an annotated assignment": "hooks: list = [A(), B()]",
}  # fmt: skip


def program(build, hooks="hooks", head=HOOKS, end=""):
  train = f"e.train(input_fn, hooks={hooks}, max_steps=10)\n"
  return (
    HEAD + "x = 1\n" + head + NEW + textwrap.dedent(build) + "\n" + train + textwrap.dedent(end)
  )


@pytest.mark.parametrize("shape", list(SHAPES))
def test_list_keeps_its_code_and_its_hooks_become_callbacks(shape):
  text = transformed(program(SHAPES[shape]))
  assert "class A(tf.keras.callbacks.Callback):" in text
  assert "class B(tf.keras.callbacks.Callback):" in text
  assert SHAPES[shape] in text
  assert "callbacks=[backup, *hooks]" in text


@pytest.mark.parametrize("shape", list(SHAPES))
def test_built_in_hooks_of_a_list_become_callbacks_in_place(shape):
  build = SHAPES[shape].replace("A()", "tf1.train.StopAtStepHook(5)")
  build = build.replace("B()", "tf1.train.StepCounterHook(10)")
  text = transformed(program(build, head=""), target="loop")
  assert "callbacks=hooks" in text
  new = build.replace("tf1.train.StopAtStepHook", "runtime.StopAtStep")
  assert new.replace("tf1.train.StepCounterHook", "runtime.StepCounter") in text


def test_list_of_an_object_is_followed():
  source = HEAD + HOOKS + textwrap.dedent(
    """
    class Trainer:
        def __init__(self):
            self.hooks = [A()]
            self.hooks.append(B())

        def run(self):
            e = tf1.estimator.DNNClassifier([4, 3], columns, "model", n_classes=3)
            e.train(input_fn, hooks=self.hooks, max_steps=10)
    """
  )  # fmt: skip
  text = transformed(source)
  assert "callbacks=[backup, *self.hooks]" in text
  assert "class B(tf.keras.callbacks.Callback):" in text


def test_list_that_a_method_makes_is_followed():
  source = HEAD + HOOKS + textwrap.dedent(
    """
    class Trainer:
        def make_hooks(self):
            return [A(), B()]

        def run(self):
            e = tf1.estimator.DNNClassifier([4, 3], columns, "model", n_classes=3)
            e.train(input_fn, hooks=self.make_hooks(), max_steps=10)
    """
  )  # fmt: skip
  text = transformed(source)
  assert "callbacks=[backup, *(self.make_hooks())]" in text
  assert "class B(tf.keras.callbacks.Callback):" in text


FUNCTION = """
def train(hooks=None):
    {first}
    e = tf1.estimator.DNNClassifier([4, 3], columns, "model", n_classes=3)
    e.train(input_fn, hooks=hooks, max_steps=10)


train({given})
"""


@pytest.mark.parametrize(
  ("first", "given", "callbacks"),
  [
    ("hooks = hooks or []", "[A(), B()]", "*hooks"),
    ("hooks = hooks or [A()]", "[B()]", "*hooks"),
    ("hooks = [A()] + (hooks or [])", "hooks=[B()]", "*hooks"),
    ("if hooks is None:\n        hooks = []", "[A(), B()]", "*hooks"),
    ("pass", "[A(), B()]", "*(hooks or [])"),
    ("pass", "[A(), B()] if x else None", "*(hooks or [])"),
  ],
)
def test_hooks_of_a_function_are_those_that_its_callers_give(first, given, callbacks):
  source = HEAD + "x = 1\n" + HOOKS + FUNCTION.format(first=first, given=given)
  result = run(source)
  assert f"callbacks=[backup, {callbacks}]" in result.text or "hooks = [A()]" in first
  assert "class A(tf.keras.callbacks.Callback):" in result.text
  assert "class B(tf.keras.callbacks.Callback):" in result.text
  assert "EM324" in codes(result), "other files may call it with hooks"


@pytest.mark.parametrize(
  ("build", "hooks"),
  [
    ("", "make_hooks()"),
    ("from m import make", "make()"),
    ("from m import A", "[A()]"),
    ("hooks = load()", "hooks"),
    ("hooks = {'a': [A()]}['a']", "hooks"),
    ("hooks = [A()]\nhooks[0] = other", "hooks"),
    ("hooks = [A()]\nhooks += more()", "hooks"),
    ("hooks = [A()]\nhooks.append(more())", "hooks"),
    ("hooks = [A()]\nhooks.append(*more())", "hooks"),
    ("hooks, other = make()", "hooks"),
    ("def make():\n    yield A()\n", "make()"),
    ("def make():\n    pass\n", "make()"),
    ("@cache\ndef make():\n    return [A()]\n", "make()"),
    ("with make() as hooks:\n    pass", "hooks"),
    ("def train(hooks):\n    e.train(input_fn, hooks=hooks, max_steps=1)", "[A()]"),
    ("hooks = [lambda: A()]", "hooks"),
  ],
)
def test_what_cannot_be_followed_is_named(build, hooks):
  left_whole(program(build, hooks), "EM304")


OTHER = "g = tf1.estimator.Estimator(model_fn)\n"


@pytest.mark.parametrize(
  ("build", "end"),
  [
    ("hooks = [A()]", "g.train(input_fn, hooks=hooks)"),
    ("hooks = [A()]", "g.train(input_fn, hooks=[B()] + hooks)"),
    ("hooks = [A()]", "tf1.estimator.TrainSpec(input_fn, hooks=hooks)"),
    ("hooks = [A()]", "more = hooks\ng.train(input_fn, hooks=more)"),
    ("hooks = [A()]", "more = []\nmore.append(hooks[0])\ng.train(input_fn, hooks=more)"),
    ("hooks = [A()]", "more = [h for h in hooks]\ng.train(input_fn, hooks=more)"),
    ("hooks = [A()]", "for h in hooks:\n    g.train(input_fn, hooks=[h])"),
    ("hooks = [A()]", "def f(hs):\n    g.train(input_fn, hooks=hs)\n\n\nf(hooks)"),
    ("hooks = [A()]", "def f(hs=hooks):\n    g.train(input_fn, hooks=hs)\n"),
    ("hooks = [A()]", "elsewhere(hooks)"),
    ("hooks = [A()]", "table = {'hooks': hooks}"),
    ("hooks = [A()]", "def f():\n    return hooks\n\n\ng.train(input_fn, hooks=f())"),
    ("hooks = [A()]", "with tf1.train.MonitoredSession(hooks=hooks) as session:\n    pass"),
    ("def make():\n    return [A()]\n\n\nhooks = make()", "g.train(input_fn, hooks=make())"),
    ("def make():\n    return [A()]\n\n\nhooks = make()", "elsewhere(make)"),
    ("a = A()\nhooks = [a]", "g.train(input_fn, hooks=[a])"),
    ("a = tf1.train.StopAtStepHook(5)\nhooks = [a]", "g.train(input_fn, hooks=[a])"),
  ],
)
def test_list_that_something_else_gets_too_is_named(build, end):
  left_whole(program(OTHER + build, end=end), "EM304")


def test_hook_whose_methods_are_called_is_named():
  left_whole(program("a = A()\nhooks = [a]", end="a.begin()"), "EM302")


def test_element_over_several_lines_is_laid_out_as_the_call_is():
  hooks = """[
      tf1.train.LoggingTensorHook(
          {"loss of the step": "dnn/head/weighted_loss/Sum"},
          every_n_iter=100,
      ),
      A(),
      B(),
  ]"""
  text = transformed(program("", hooks))
  assert """
        callbacks=[
            backup,
            runtime.LoggingTensor({"loss of the step": "loss"}, every_n_iter=100),
            A(),
            B(),
        ],
""" in text  # fmt: skip


def test_listener_that_only_a_followed_hook_gets_is_followed_too():
  head = "class L(tf1.train.CheckpointSaverListener):\n    pass\n\n\n"
  hooks = '[tf1.train.CheckpointSaverHook("model", save_steps=5, listeners=[listener])]'
  text = transformed(program("listener = L()", hooks, head=head))
  assert "class L(runtime.CheckpointSaverListener):" in text
  left_whole(program("listener = L()", hooks, head=head, end=f"other({hooks})"), "EM304")
