"""Hooks that once became callbacks which did something else, or could not be imported."""

import pytest
from helpers import HEAD, left_whole, program, run, transformed

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


TRAIN = "e.train(input_fn, max_steps=10, hooks=[Hook()])\n"
LOSS = '"dnn/head/weighted_loss/Sum:0"'


def hook(fetches, after, base="tf1.train.SessionRunHook", name="Hook", init="pass"):
  """A program's head with a hook that fetches something and reads it."""
  return f"""
class {name}({base}):
    def __init__(self):
        {init}

    def before_run(self, run_context):
        return tf1.train.SessionRunArgs({fetches})

    def after_run(self, run_context, run_values):
        {after}


"""


def of_hook(*args, **options):
  return transformed(program(TRAIN, head=HEAD + hook(*args, **options)), target="fit")


STEPS = '{"step": tf1.train.get_global_step()}'


@pytest.mark.parametrize("fetches", ["tf1.train.get_global_step()", STEPS])
def test_step_that_a_function_reads_later_is_that_of_its_call(fetches):
  text = of_hook(fetches, "kept.append(lambda: run_values.results)")
  name = "results" if fetches == STEPS else "global_step"
  assert f"kept.append(lambda: {name})" in text
  assert text.index(f"{name} = ") < text.index("kept.append")


@pytest.mark.parametrize(
  "change", ['run_values.results["x"] = 1', "r = run_values.results", "run_values.results.pop(1)"]
)
def test_container_that_is_changed_is_made_once(change):
  text = of_hook(STEPS, f"{change}; print(run_values.results)".replace("; ", "\n        "))
  assert text.count("runtime.global_step(self.model)") == 1
  assert change.replace("run_values.results", "results") in text
  assert "print(results)" in text


def test_dict_in_a_formatted_string_is_not_its_text():
  text = of_hook(STEPS, 'print(f"{run_values.results}")')
  assert "print(f\"{({'step': runtime.global_step(self.model) - 1})}\")" in text


@pytest.mark.parametrize("change", ["+= [{}]", ".append({})", "[0] = {}"])
def test_list_of_names_that_changes_is_refused(change):
  init = f"self.names = [{LOSS}]\n        self.names{change.format(LOSS)}"
  head = HEAD + hook("self.names", "print(run_values.results)", init=init)
  assert "fetches self.names" in left_whole(program(TRAIN, head=head), "EM302")


def test_after_run_of_a_base_class_is_not_given_what_another_before_run_fetches():
  base = hook(STEPS, 'print(run_values.results["step"])', name="Base")
  other = STEPS.replace("{", '{"loss": ' + LOSS + ", ")
  inherits = "super().after_run(run_context, run_values)"
  for after in (inherits, inherits + "\n        print(run_values.results)"):
    head = HEAD + base + hook(other, after, base="Base")
    message = left_whole(program(TRAIN, head=head), "EM302")
    assert "fetches something else for after_run of its base class" in message
  transformed(program(TRAIN, head=HEAD + base + hook(STEPS, inherits, base="Base")), target="fit")


def test_name_in_an_attribute_is_the_key_of_the_loss_and_stays_a_name():
  after = "print(self.name, run_values.results)"
  text = of_hook("self.name", after, init=f"self.name = {LOSS}")
  assert 'print(self.name, logs["loss"])' in text
  assert f"self.name = {LOSS}" in text
  head = HEAD + hook("self.name", after, init='self.name = "other:0"')
  assert "fetches other" in left_whole(program(TRAIN, head=head), "EM302")


def test_question_whether_a_stop_is_requested_needs_one_answer():
  stop = STOP.replace(
    "run_context.req", "print(run_context.stop_requested)\n        run_context.req"
  )
  train, evaluate = BOTH.replace("Step", "Stop").strip().splitlines()[1:]
  made = "h = Stop()\n"
  text = transformed(program(made + train, head=HEAD + stop), target="fit")
  assert "print(self.model.stop_training)" in text
  text = transformed(program(made + evaluate, head=HEAD + stop), target="fit")
  assert "print(self.model.stop_evaluating)" in text
  both = program(made + train + "\n" + evaluate, head=HEAD + stop)
  assert "uses run_context.stop_requested" in left_whole(both, "EM302")


@pytest.mark.parametrize(
  "by_name", ['getattr(self, "params")', "setattr(self, name, 1)", "self.__dict__.update(x=1)"]
)
def test_renamed_attribute_is_not_looked_up_by_its_name(by_name):
  head = HEAD + hook("None", f"print(self.params)\n        {by_name}", init="self.params = {}")
  assert "has an attribute params" in left_whole(program(TRAIN, head=head), "EM302")
  other = head.replace(by_name, 'getattr(self, "other", 1)')
  assert "self.hook_params" in transformed(program(TRAIN, head=other), target="fit")


def test_methods_that_something_else_replaces_are_refused():
  head = HEAD + hook("None", "print(1)")
  patched = "def other(self, c, v):\n    print(2)\n\n\nHook.after_run = other\n"
  message = left_whole(program(patched + TRAIN, head=head), "EM302")
  assert "Hook.after_run is used outside" in message
  message = left_whole(
    program(TRAIN, head=head.replace("class Hook", "@timed\nclass Hook")), "EM302"
  )
  assert "has the decorator timed" in message
  named = "def timed(cls):\n    {}\n    return cls\n\n\n@timed\nclass Hook"
  tagged = head.replace("class Hook", named.format("cls.tag = 1"))
  assert "@timed\nclass Hook(tf.keras" in transformed(program(TRAIN, head=tagged), target="fit")
  wrapped = head.replace("class Hook", named.format("cls.after_run = print"))
  left_whole(program(TRAIN, head=wrapped), "EM302")


LOGGING = """
class Hook(tf1.train.LoggingTensorHook):
    {}

    def _log_tensors(self, tensor_values):
        print(tensor_values)


"""


def test_tensors_of_an_own_logging_hook_are_keys():
  tensors = "{'l': " + LOSS + "}"
  init = f"def __init__(self):\n        super().__init__({tensors}, 2)"
  own = transformed(program(TRAIN, head=HEAD + LOGGING.format(init)), target="fit")
  assert "super().__init__({'l': \"loss\"}, 2)" in own
  given = TRAIN.replace("Hook()", f"Hook({tensors}, every_n_iter=2)")
  text = transformed(program(given, head=HEAD + LOGGING.format("x = 1")), target="fit")
  assert "Hook({'l': \"loss\"}, every_n_iter=2)" in text
  named = HEAD + f"NAME = {LOSS}\n" + LOGGING.format("x = 1")
  text = transformed(program(given.replace(LOSS, "NAME"), head=named), target="fit")
  assert "Hook({'l': \"loss\"}, every_n_iter=2)" in text
  other = given.replace(LOSS, '"other:0"')
  message = left_whole(program(other, head=HEAD + LOGGING.format("x = 1")), "EM302")
  assert 'fetches "other:0"' in message


def test_writer_is_no_tensor():
  init = 'self.writer = tf1.summary.FileWriterCache.get("logs")'
  source = HEAD + hook("None", "self.writer.flush()", init=init)
  result = run(source, hooks="all")
  assert 'self.writer = tf.summary.create_file_writer("logs")' in result.text
