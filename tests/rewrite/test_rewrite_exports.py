"""Exports, exporters and the serving input functions that both get."""

import pytest
from helpers import HEAD, NEW, codes, left_whole, run, transformed

SERVING = """
def serving():
    x = tf1.placeholder(tf1.float32, [None, 4])
    return tf1.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


"""
TRAIN = "tf1.estimator.TrainSpec(input_fn, max_steps=10)"


def program(body, head=HEAD + SERVING, new=NEW):
  return head + new + "e.train(input_fn, max_steps=10)\n" + body


def evaluated(exporters, before="", head=HEAD + SERVING, train=TRAIN):
  spec = f"tf1.estimator.EvalSpec(input_fn, steps=2, throttle_secs=0, exporters={exporters})"
  call = f"tf1.estimator.train_and_evaluate(e, {train}, {spec})\n"
  return head + NEW + before + call


# -- export_saved_model ---------------------------------------------------------------


@pytest.mark.parametrize("method", ["export_saved_model", "export_savedmodel"])
def test_both_spellings_are_a_method_of_the_callback(method):
  text = transformed(program(f"path = e.{method}('out', serving)\n"), target="fit")
  assert text.endswith("path = backup.export_saved_model('out', serving)\n")


def test_arguments_keep_their_values():
  body = "e.export_saved_model('out', serving, None, as_text=True, checkpoint_path=p)\n"
  text = transformed(program("p = load()\n" + body), target="fit")
  assert "backup.export_saved_model('out', serving, None, as_text=True, checkpoint_path=p)" in text


def test_loop_has_a_function_with_the_arguments_that_are_given():
  text = transformed(program("e.export_saved_model('out', serving)\n"), target="loop")
  assert text.endswith("export_saved_model('out', serving)\n")
  function = text[
    text.index("def export_saved_model(export_dir_base, serving_input_receiver_fn):") :
  ]
  lines = [line.strip() for line in function.split("\n")]
  assert lines[1] == "with manager.newest() as newest:"
  assert "checkpoint_path=newest," in lines
  body = "e.export_saved_model('out', serving, checkpoint_path=p)\n"
  text = transformed(program("p = load()\n" + body), target="loop")
  assert "checkpoint_path=None" in text
  assert "with manager.newest(checkpoint_path) as newest:" in text


def test_stripped_defaults_are_said():
  result = run(program("e.export_savedmodel('out', serving, strip_default_attrs=True)\n"))
  assert "EM274" in codes(result)
  assert "backup.export_saved_model('out', serving)\n" in result.text


def test_export_without_a_serving_function_is_refused():
  assert "serving_input_receiver_fn" in left_whole(
    program("e.export_saved_model('out')\n"), "EM209"
  )


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_export_for_a_mode_is_refused(target):
  body = "e.export_saved_model('o', serving, experimental_mode=mode)\n"
  left_whole(program("mode = load()\n" + body), "EM209", target=target)


# -- serving input functions -------------------------------------------------------------


def test_serving_function_builds_in_a_graph_as_before():
  text = transformed(program("e.export_saved_model('out', serving)\n"))
  assert "x = tf1.placeholder(tf1.float32, [None, 4])" in text
  assert 'return runtime.export.ServingInputReceiver({"x": x}, {"x": x})' in text


def test_names_of_tf1_are_spelled_as_tf2_has_them():
  serving = SERVING.replace("tf1.", "tf.").replace(
    "[None, 4])", "[None, 4])\n    x = tf.to_float(x)"
  )
  text = transformed(program("e.export_saved_model('out', serving)\n", HEAD + serving))
  assert "x = tf.compat.v1.placeholder(tf.float32, [None, 4])" in text
  assert "x = tf.compat.v1.to_float(x)" in text


def test_functions_that_it_calls_are_respelled_too():
  helper = "\ndef place():\n    return tf.placeholder(tf.float32, [None, 4])\n"
  serving = helper + SERVING.replace("tf1.placeholder(tf1.float32, [None, 4])", "place()")
  text = transformed(program("e.export_saved_model('out', serving)\n", HEAD + serving))
  assert "return tf.compat.v1.placeholder(tf.float32, [None, 4])" in text


@pytest.mark.parametrize(
  "made",
  [
    "tf1.estimator.export.build_parsing_serving_input_receiver_fn(spec)",
    "tf1.estimator.export.build_raw_serving_input_receiver_fn({'x': x}, default_batch_size=None)",
  ],
)
@pytest.mark.parametrize("inline", [True, False])
def test_builders_are_those_of_the_runtime(made, inline):
  before = "spec = load()\nx = load()\n"
  before += "" if inline else f"serving_fn = {made}\n"
  body = before + f"e.export_saved_model('out', {made if inline else 'serving_fn'})\n"
  text = transformed(program(body, HEAD))
  assert made.replace("tf1.estimator", "runtime") in text


def test_columns_of_a_parsing_spec_stay():
  body = (
    "spec = tf.feature_column.make_parse_example_spec(columns)\n"
    "e.export_saved_model('out', tf1.estimator.export.build_parsing_serving_input_receiver_fn(spec))\n"
  )
  text = transformed(program(body, HEAD))
  assert 'columns = [tf.feature_column.numeric_column("x", shape=[4])]' in text


@pytest.mark.parametrize(
  "given", ["lambda: serving_with(4)", "functools.partial(serving_with, 4)", "make(4)"]
)
def test_function_with_arguments(given):
  head = "import functools\n" + HEAD
  if given == "make(4)":
    inner = SERVING.strip("\n").replace("\n", "\n    ")
    head += f"def make(n):\n    {inner}\n    return serving\n\n\n"
  else:
    head += SERVING.replace("serving()", "serving_with(n)")
  text = transformed(program(f"e.export_saved_model('out', {given})\n", head))
  assert f"backup.export_saved_model('out', {given})" in text
  assert "return runtime.export.ServingInputReceiver(" in text


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_serving_function_of_another_module_is_handed_on_and_reported(target):
  source = "import serving\n" + program("e.export_saved_model('out', serving.fn)\n", HEAD)
  result = run(source, target=target)
  assert "export_saved_model('out', serving.fn)" in result.text
  assert "EM271" in codes(result)


# -- exporters ----------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["fit", "loop"])
@pytest.mark.parametrize("name", ["FinalExporter", "LatestExporter", "BestExporter"])
def test_exporters_are_those_of_the_runtime(name, target):
  text = transformed(evaluated(f"[tf1.estimator.{name}('x', serving)]"), target=target)
  assert f"exporters=[runtime.export.{name}('x', serving)]" in text
  assert "runtime.export.ServingInputReceiver" in text


def test_one_exporter_becomes_a_list():
  text = transformed(evaluated("tf1.estimator.LatestExporter('x', serving)"), target="fit")
  assert "exporters=[runtime.export.LatestExporter('x', serving)]" in text


@pytest.mark.parametrize("target", ["fit", "loop"])
@pytest.mark.parametrize(
  ("exporters", "written"),
  [
    ("x", "[x]"),
    ("[x]", "[x]"),
    ("xs", "xs"),
    ("more", "more"),
    ("[x] if n else None", "[x] if n else None"),
  ],
)
def test_exporters_in_variables_stay_there(exporters, written, target):
  before = "n = load()\nx = tf1.estimator.LatestExporter('x', serving, exports_to_keep=2)\n"
  before += {"xs": "xs = [x]\n", "more": "more = []\nmore.append(x)\n"}.get(exporters, "")
  text = transformed(evaluated(exporters, before), target=target)
  assert "x = runtime.export.LatestExporter('x', serving, exports_to_keep=2)\n" in text
  assert f"exporters={written}" in text


@pytest.mark.parametrize("exporters", ["None", "[]"])
def test_no_exporters_leave_no_trace(exporters):
  assert "exporters" not in transformed(evaluated(exporters, head=HEAD), target="fit")


def test_exporters_hear_where_the_training_ends():
  final = "tf1.estimator.FinalExporter('x', serving)"
  assert "max_steps=None" not in transformed(evaluated(final), target="fit")
  endless = evaluated(final, train="tf1.estimator.TrainSpec(input_fn)")
  # Not what an earlier training asked for.
  assert "    max_steps=None,\n" in run(endless, target="fit").text
  assert "    max_steps=10,\n    export=export_saved_model,\n" in transformed(
    evaluated(final), target="loop"
  )
  assert "    max_steps=None,\n    export=export_saved_model,\n" in run(endless, target="loop").text


def test_exporters_call_the_function_of_the_loop_in_the_midst_of_a_training():
  text = transformed(evaluated("tf1.estimator.FinalExporter('x', serving)"), target="loop")
  function = text[text.index("def export_saved_model(") :]
  assert "checkpoint_path=None,\n" in function[: function.index(":")]
  assert "with manager.newest(checkpoint_path) as newest:" in function


@pytest.mark.parametrize("target", ["fit", "loop"])
@pytest.mark.parametrize(
  ("exporters", "before", "said"),
  [
    ("make()", "", "`make()`"),
    ("x", "x = load()\n", "`load()`"),
    ("x", "x = tf1.estimator.FinalExporter('x', serving)\nprint(x)\n", "also used here"),
    ("tf1.estimator.FinalExporter(*a)", "", "not all known"),
    ("Own()", "class Own(tf1.estimator.Exporter):\n    name = 'own'\n", "`Own()`"),
  ],
)
def test_exporter_that_is_not_known_is_refused(exporters, before, said, target):
  assert said in left_whole(evaluated(exporters, before), "EM273", target=target)
