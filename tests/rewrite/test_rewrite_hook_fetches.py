"""What hooks fetch becomes what a callback reads: the loss, the global step, values by name."""

import textwrap

import pytest
from helpers import HEAD, NEW, codes, left_whole, run, transformed

LOSS = "dnn/head/weighted_loss/Sum:0"


def program(hook, arguments=""):
  """A program that trains with a hook `Seen`."""
  return (
    HEAD
    + textwrap.dedent(hook)
    + NEW
    + f"e.train(input_fn, hooks=[Seen({arguments})], max_steps=9)\n"
  )


def seen(before, after, begin="", init=""):
  """A class `Seen` with these bodies of its methods."""
  parts = ["", "class Seen(tf1.train.SessionRunHook):"]
  methods = [("__init__(self, x=None)", init), ("begin(self)", begin)]
  methods += [
    ("before_run(self, run_context)", before),
    ("after_run(self, run_context, run_values)", after),
  ]
  for head, body in methods:
    if body:
      parts += [f"    def {head}:", textwrap.indent(textwrap.dedent(body), " " * 8)]
  return "\n".join(parts) + "\n\n"


def body_of(text, method):
  """The lines of a method of the output, without indentation in front."""
  after = text.split(f"def {method}(", 1)[1].split("\n", 1)[1]
  lines = []
  for line in after.split("\n"):
    if line.strip() and not line.startswith(" " * 8):
      break
    lines.append(line[8:])
  return "\n".join(lines).rstrip()


ARGS = "tf1.train.SessionRunArgs"
STEP = "tf1.train.get_global_step()"


@pytest.mark.parametrize(
  ("fetches", "after", "expected"),
  [
    (f'"{LOSS}"', "print(run_values.results)", 'print(logs["loss"])'),
    ("run_context.original_args.fetches[1]", "print(run_values.results)", 'print(logs["loss"])'),
    (STEP, "print(run_values.results)", "print(runtime.global_step(self.model) - 1)"),
    (STEP, "x = run_values.results % 7", "x = (runtime.global_step(self.model) - 1) % 7"),
    ('"global_step:0"', "f(run_values.results)", "f(runtime.global_step(self.model) - 1)"),
    (
      f'{{"l": "{LOSS}", "s": {STEP}}}',
      'print(run_values.results["l"], run_values.results["s"])',
      'print(logs["loss"], runtime.global_step(self.model) - 1)',
    ),
    (
      f'["{LOSS}", {STEP}]',
      "loss, step = run_values.results",
      'loss, step = logs["loss"], runtime.global_step(self.model) - 1',
    ),
    (f'["{LOSS}"]', "f(run_values.results[0])", 'f(logs["loss"])'),
    (f'("{LOSS}",)', "f(run_values.results)", 'f((logs["loss"],))'),
    (f'{{"l": "{LOSS}"}}', "f(**run_values.results)", 'f(**{"l": logs["loss"]})'),
  ],
)
def test_fetched_value_is_read_where_it_was_used(fetches, after, expected):
  text = transformed(program(seen(f"return {ARGS}({fetches})", after)))
  assert body_of(text, "on_train_batch_end") == expected
  assert "before_run" not in text
  assert "on_train_batch_begin" not in text


def test_step_that_is_read_twice_gets_a_name():
  text = transformed(
    program(
      seen(f"return {ARGS}({STEP})", "if run_values.results % 7 == 0:\n    f(run_values.results)")
    )
  )
  assert body_of(text, "on_train_batch_end") == (
    "global_step = runtime.global_step(self.model) - 1\nif global_step % 7 == 0:\n    f(global_step)"
  )


@pytest.mark.parametrize(
  ("version", "expected"),
  [(1, "f(runtime.global_step(self.model))"), (2, "f(runtime.global_step(self.model) - 1)")],
)
def test_fetched_step_is_the_one_of_the_source_version(version, expected):
  source = program(seen(f"return {ARGS}({STEP})", "f(run_values.results)"))
  result = run(source, source_version=version)
  assert body_of(result.text, "on_train_batch_end") == expected
  assert "EM311" in codes(result)


def test_file_with_a_name_of_tf1_only_fetched_the_step_after_the_run():
  source = program(seen(f"return {ARGS}({STEP})", "f(run_values.results)"))
  text = transformed(source.replace("tf1.train.SessionRunHook", "tf.train.SessionRunHook"))
  assert body_of(text, "on_train_batch_end") == "f(runtime.global_step(self.model))"


def test_step_tensor_and_its_checks_go():
  begin = f'self.step = {STEP}\nif self.step is None:\n    raise RuntimeError("no step")\n'
  text = transformed(
    program(seen(f"return {ARGS}(self.step)", "f(run_values.results)", begin, "self.step = None"))
  )
  assert "self.step" not in text
  assert "def on_train_begin" not in text


def test_step_that_the_session_runs_is_the_step_now():
  text = transformed(program(seen("", f"f(run_context.session.run({STEP}))")))
  assert body_of(text, "on_train_batch_end") == "f(runtime.global_step(self.model))"


def test_session_in_a_variable_reads_the_step():
  after = f"session = run_context.session\nf(session.run({STEP}))"
  text = transformed(program(seen("", after)))
  assert body_of(text, "on_train_batch_end") == "f(runtime.global_step(self.model))"


def test_arguments_in_a_variable_go_with_the_return():
  before = f'arguments = {ARGS}("{LOSS}")\nreturn arguments'
  text = transformed(program(seen(before, "f(run_values.results)")))
  assert body_of(text, "on_train_batch_end") == 'f(logs["loss"])'
  assert "on_train_batch_begin" not in text


def test_what_only_some_runs_fetch_is_kept_until_the_step_is_done():
  before = f'if self.n:\n    return {ARGS}(["{LOSS}", {STEP}])\n'
  text = transformed(program(seen(before, "f(run_values.results)", "self.n = 1")))
  assert body_of(text, "on_train_batch_begin") == (
    'self._fetches = None\nif self.n:\n    self._fetches = ["loss", "global_step"]'
  )
  assert body_of(text, "on_train_batch_end") == (
    "f(runtime.fetch(self._fetches, self.model, logs, before_step=True))"
  )


def test_what_is_put_together_in_a_variable_is_kept():
  before = (
    f'requests = {{"step": {STEP}}}\nif self.n:\n    requests["loss"] = "{LOSS}"\n'
    f"return {ARGS}(requests)"
  )
  text = transformed(program(seen(before, "f(run_values.results)", "self.n = 1")))
  assert body_of(text, "on_train_batch_begin") == (
    'requests = {"step": "global_step"}\nif self.n:\n    requests["loss"] = "loss"\n'
    "self._fetches = requests"
  )


def test_return_within_a_method_stays_a_return():
  before = f'if self.n:\n    return {ARGS}("{LOSS}")\nself.n = 1\n'
  text = transformed(program(seen(before, "f(run_values.results)", "self.n = 1")))
  assert '        if self.n:\n            self._fetches = "loss"\n            return\n' in text


@pytest.mark.parametrize("argument", [f'"{LOSS}"', f'x="{LOSS}"', '"loss"'])
def test_tensor_name_given_to_the_constructor_becomes_a_key(argument):
  source = program(
    seen(f"return {ARGS}(self.x)", "f(run_values.results)", init="self.x = x"), argument
  )
  result = run(source)
  assert body_of(result.text, "on_train_batch_end") == "f(runtime.fetch(self.x, self.model, logs))"
  assert f'Seen({"x=" if "x=" in argument else ""}"loss")' in result.text
  assert "EM312" in codes(result)


@pytest.mark.parametrize("argument", ['"rate:0"', "", "tensor"])
def test_tensor_that_the_training_does_not_give_is_refused(argument):
  source = program(
    seen(f"return {ARGS}(self.x)", "f(run_values.results)", init="self.x = x"), argument
  )
  left_whole(source, "EM302")


def test_own_method_may_get_the_context_that_it_does_not_read():
  hook = seen("", "self.note(3, run_context)") + "    def note(self, n, context):\n        f(n)\n\n"
  result = run(program(hook))
  assert "self.note(3, None)" in result.text
  assert "EM326" in codes(result)


def test_own_method_that_gets_the_context_may_stop_the_training():
  hook = seen("", "self.note(run_context)") + "    def note(self, c):\n        c.request_stop()\n\n"
  text = transformed(program(hook))
  assert "self.note(None)" in text
  assert body_of(text, "note") == "self.model.stop_training = True"


def test_own_method_gets_the_values_that_were_fetched():
  hook = seen(f'return {ARGS}({{"l": "{LOSS}"}})', "self.note(1, run_values)")
  hook += "    def note(self, n, run_values):\n        f(run_values.results.items())\n\n"
  text = transformed(program(hook))
  assert body_of(text, "on_train_batch_end") == 'self.note(1, {"l": logs["loss"]})'
  assert body_of(text, "note") == "f(run_values.items())"


def test_own_method_that_keeps_the_context_is_refused():
  hook = seen("", "self.note(run_context)") + "    def note(self, c):\n        self.c = c\n\n"
  left_whole(program(hook), "EM302")


def test_value_within_an_f_string_gets_the_other_quotes():
  text = transformed(program(seen(f'return {ARGS}("{LOSS}")', 'f(f"{run_values.results:.3f}")')))
  assert body_of(text, "on_train_batch_end") == "f(f\"{logs['loss']:.3f}\")"


def test_options_that_only_report_go_with_a_note():
  before = f"return {ARGS}([], options=tf1.RunOptions(report_tensor_allocations_upon_oom=True))"
  result = run(program(seen(before, "f(3)")))
  assert "RunOptions" not in result.text
  assert "EM315" in codes(result)


@pytest.mark.parametrize(
  "begin", ["if x:\n    raise ValueError(x)", "tf1.train.latest_checkpoint(x)"]
)
def test_begin_that_sees_the_time_before_the_first_checkpoint_is_reported(begin):
  assert "EM316" in codes(run(program(seen("", "f(3)", begin))))


def test_summaries_of_numbers_are_written_by_tf2():
  begin = 'self.writer = tf1.summary.FileWriter("logs")'
  after = (
    'summary = tf1.Summary(value=[tf1.Summary.Value(tag="a", simple_value=1.0)])\n'
    "self.writer.add_summary(summary, 3)\nself.writer.flush()"
  )
  result = run(program(seen("", after, begin)))
  assert 'self.writer = tf.summary.create_file_writer("logs")' in result.text
  assert body_of(result.text, "on_train_batch_end") == (
    'with self.writer.as_default():\n    tf.summary.scalar("a", 1.0, step=3)\nself.writer.flush()'
  )
  assert "EM314" in codes(result)


def test_summary_with_added_values_is_written_by_tf2():
  begin = 'self.writer = tf1.summary.FileWriter("logs")'
  after = (
    "summary = tf1.Summary()\nsummary.value.add(tag='a', simple_value=1.0)\n"
    "self.writer.add_summary(summary, 3)"
  )
  result = run(program(seen("", after, begin)))
  assert body_of(result.text, "on_train_batch_end") == (
    "with self.writer.as_default():\n    tf.summary.scalar('a', 1.0, step=3)"
  )


@pytest.mark.parametrize(
  "after",
  ["self.writer.add_summary(self.op, 3)", "self.writer.add_graph(g)", "f(self.writer.add_summary)"],
)
def test_summary_of_the_graph_is_refused(after):
  hook = seen("", after, 'self.writer = tf1.summary.FileWriter("logs")')
  left_whole(
    program(hook.replace("f(self.writer.add_summary)", "self.writer.add_summary(x)")), "EM302"
  )


def test_name_in_a_constant_of_the_file_is_known():
  hook = f'LOSS = "{LOSS}"\n' + seen(f"return {ARGS}({{'l': LOSS}})", "f(run_values.results['l'])")
  assert body_of(transformed(program(hook)), "on_train_batch_end") == 'f(logs["loss"])'


def test_named_tuple_of_values_is_made_of_what_is_read():
  hook = 'import collections\nPair = collections.namedtuple("Pair", ["loss", "step"])\n'
  hook += seen(f'return {ARGS}(Pair("{LOSS}", step={STEP}))', "f(run_values.results.loss)")
  assert body_of(transformed(program(hook)), "on_train_batch_end") == (
    'f(Pair(logs["loss"], step=runtime.global_step(self.model) - 1).loss)'
  )


def test_loss_in_a_variable_of_before_run_goes_with_it():
  before = f'loss = run_context.original_args.fetches[1]\nreturn {ARGS}({{"l": loss, "s": {STEP}}})'
  text = transformed(program(seen(before, 'f(run_values.results["l"])')))
  assert "run_context" not in text
  assert body_of(text, "on_train_batch_end") == 'f(logs["loss"])'


def test_tensors_that_begin_looks_up_go():
  begin = (
    "graph = tf1.get_default_graph()\n"
    f'self.fetches = {{"l": graph.get_tensor_by_name("{LOSS}"), "s": {STEP}}}\n'
  )
  text = transformed(
    program(seen(f"return {ARGS}(self.fetches)", 'f(run_values.results["l"])', begin))
  )
  assert "graph" not in text
  assert "self.fetches" not in text
  assert body_of(text, "on_train_batch_end") == 'f(logs["loss"])'


def test_variable_that_keeps_what_is_fetched_stays():
  before = f'wanted = {{"s": {STEP}}}\nif self.n:\n    return {ARGS}(wanted)\n'
  text = transformed(program(seen(before, "f(run_values.results)", "self.n = 1")))
  assert body_of(text, "on_train_batch_begin") == (
    'self._fetches = None\nwanted = {"s": "global_step"}\nif self.n:\n    self._fetches = wanted'
  )


@pytest.mark.parametrize(
  "after", ["self.c = run_context", "f(run_context)", "g = lambda: run_values.options"]
)
def test_no_object_of_the_session_stays_in_a_callback(after):
  left_whole(program(seen("", after)), "EM302")


def test_hook_that_looks_for_checkpoints_is_told_where_they_are():
  hook = seen("", "f(tf1.train.latest_checkpoint(self.d))", init="self.d = x")
  assert "EM319" in codes(run(program(hook, '"model"')))


@pytest.mark.parametrize(("target", "said"), [("fit", False), ("loop", True)])
@pytest.mark.parametrize("error", ["StopIteration", "tf1.errors.OutOfRangeError(None, None, '')"])
def test_end_of_the_input_that_a_hook_raises_ends_fit_but_not_the_loop(error, target, said):
  hook = seen("", f"raise {error}")
  assert ("EM329" in codes(run(program(hook), target=target))) == said


def restoring(variables, begin=""):
  """A hook with a Saver of some variables, which it restores when the session exists."""
  return (
    "\nclass Seen(tf1.train.SessionRunHook):\n    def __init__(self, path):\n        self.path = path\n"
    f"    def begin(self):\n        self.saver = tf1.train.Saver({variables})\n{begin}"
    "    def after_create_session(self, session, coord):\n"
    "        self.saver.restore(session, self.path)\n\n"
  )


@pytest.mark.parametrize(
  "variables",
  [
    "tf1.trainable_variables()",
    "var_list=tf1.trainable_variables()",
    "tf1.get_collection(tf1.GraphKeys.TRAINABLE_VARIABLES)",
  ],
)
def test_weights_that_a_hook_restores_are_loaded(variables):
  text = transformed(program(restoring(variables), '"old/model.ckpt-9"'))
  assert body_of(text, "on_train_begin") == "runtime.load_weights(self.model, self.path)"
  assert "saver" not in text


@pytest.mark.parametrize(
  ("variables", "begin", "what"),
  [
    ("", "", "all variables"),
    ("tf1.trainable_variables('dnn')", "", "restores tf1.trainable_variables"),
    ("self.variables", "", "restores self.variables"),
    ("tf1.trainable_variables()", "        f(self.saver)\n", "uses self.saver"),
    ("tf1.trainable_variables()", "        self.saver.save(s, p)\n", "uses self.saver.save"),
  ],
)
def test_saver_that_does_something_else_is_refused(variables, begin, what):
  assert what in left_whole(program(restoring(variables, begin), '"old"'), "EM302")


def test_loss_of_a_v2_estimator_has_another_name():
  hook = seen(f'return {ARGS}("head/losses/weighted_loss/value:0")', "f(run_values.results)")
  assert body_of(transformed(program(hook)), "on_train_batch_end") == 'f(logs["loss"])'


def test_summary_called_loss_is_taken_for_the_loss_and_reported():
  result = run(program(seen(f'return {ARGS}("loss:0")', "f(run_values.results)")))
  assert body_of(result.text, "on_train_batch_end") == 'f(logs["loss"])'
  assert "EM312" in codes(result)


@pytest.mark.parametrize(
  ("line", "expected"),
  [
    (
      "if self.n == 3: run_context.request_stop()  # enough",
      "if self.n == 3: self.model.stop_training = True  # enough",
    ),
    ("if self.n: del run_context", "if self.n: pass"),
  ],
)
def test_statement_on_the_line_of_its_if_stays_there(line, expected):
  text = transformed(program(seen("", line, "self.n = 1")))
  assert body_of(text, "on_train_batch_end") == expected


def test_begin_beside_a_listener_of_the_saver_is_reported():
  hook = seen("", "f(3)", "f(1)")
  hook += "\nclass Upload(tf1.train.CheckpointSaverListener):\n    pass\n\n"
  source = program(hook).replace("max_steps=9", "max_steps=9, saving_listeners=[Upload()]")
  assert "EM316" in codes(run(source))
  assert "EM316" not in codes(run(program(hook)))


def test_step_that_only_some_runs_fetch_is_reported_as_such():
  before = f"if self.n:\n    return {ARGS}([{STEP}])\n"
  found = codes(run(program(seen(before, "f(run_values.results)", "self.n = 1"))))
  assert "EM311" in found
  assert "EM312" not in found


def test_comment_of_what_is_fetched_goes_with_it():
  before = f'return {ARGS}("{LOSS}")  # Asks for the loss.\n'
  text = transformed(program(seen("f(1)\n" + before, "f(run_values.results)")))
  assert "Asks" not in text


def test_timer_that_is_spelled_for_tf2_stays():
  hook = seen("", "self.t.reset()", init="self.t = tf1.train.SecondOrStepTimer(every_steps=3)")
  assert "self.t = tf1.train.SecondOrStepTimer(every_steps=3)" in transformed(program(hook))


def test_hook_that_asks_an_estimator_for_its_newest_checkpoint_is_told_too():
  hook = seen("", "f(self.other.latest_checkpoint())", init="self.other = x")
  assert "EM319" in codes(run(program(hook, "other")))


def test_summary_in_a_variable_has_the_values_of_its_time():
  begin = 'self.w = tf1.summary.FileWriter("d")'
  after = (
    's = tf1.Summary(value=[tf1.Summary.Value(tag="n", simple_value=self.n / 2)])\n'
    "self.n = 0\nself.w.add_summary(s, 3)"
  )
  text = run(program(seen("", after, begin, "self.n = 4"))).text
  assert body_of(text, "on_train_batch_end") == (
    's = {"n": self.n / 2}\nself.n = 0\nwith self.w.as_default():\n    for tag, value in s.items():\n'
    "        tf.summary.scalar(tag, value, step=3)"
  )


@pytest.mark.parametrize("between", ["", "self.n = 0\n"])
def test_fetched_values_in_a_summary_are_read_from_the_logs(between):
  begin = 'self.w = tf1.summary.FileWriter("d")'
  after = (
    f's = tf1.Summary()\ns.value.add(tag="l", simple_value=run_values.results["l"])\n{between}'
    'self.w.add_summary(s, run_values.results["s"])'
  )
  fetches = f'return {ARGS}({{"l": "{LOSS}", "s": {STEP}}})'
  text = run(program(seen(fetches, after, begin))).text
  assert "run_values" not in text
  assert 'logs["loss"]' in text


def test_runtime_is_imported_only_where_it_is_read():
  text = transformed(program(seen(f'return {ARGS}("{LOSS}")', "f(run_values.results)")))
  assert text.count("from migrator import runtime") == 1  # the training reads it
