"""Programs that keep their model_fn: the names change, the program stays."""

import ast
import textwrap

import pytest

from migrator.rewrite.engine import Options, rewrite
from tests.rewrite.helpers import HEAD as CANNED
from tests.rewrite.helpers import NEW as CANNED_NEW
from tests.rewrite.helpers import TRAIN as CANNED_TRAIN
from tests.rewrite.helpers import codes, left_whole, run

HEAD = "import tensorflow as tf\n\n\n"
MODEL_FN = '''
def model_fn(features, labels, mode, params):
  """Two layers."""
  net = tf.layers.dense(features["x"], 10, tf.nn.relu)  # hidden
  logits = tf.layers.dense(net, 3)
  loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
  {body}
  train_op = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
  return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
'''
INPUT_FN = """
def input_fn():
  return tf.data.Dataset.from_tensors(({"x": [[1.0] * 4]}, [0])).repeat()
"""
NEW = 'classifier = tf.estimator.Estimator(model_fn, "models")\n'
TRAIN = "classifier.train(input_fn, max_steps=10)\n"


def program(new=NEW, train=TRAIN, *, body="pass", head=HEAD, more=""):
  """A program with a model_fn."""
  model_fn = MODEL_FN.replace("{body}", textwrap.indent(textwrap.dedent(body), "  ").strip())
  return head + model_fn + INPUT_FN + "\n\n" + textwrap.dedent(more) + new + train


def hosted(source, **options):
  """The rewritten text of a program that keeps its model_fn and in which nothing is left."""
  result = run(source, hosted=True, **options)
  assert result.changed, [str(f) for f in result.findings]
  assert not result.left, [str(f) for f in result.findings]
  assert {unit.target for unit in result.units} == {"hosted"}
  assert "estimator." not in result.text
  return result.text


def test_only_names_change_and_one_import():
  old = program()
  new = hosted(old).split("\n")
  changed = [(a, b) for a, b in zip(old.split("\n"), [n for n in new if "migrator" not in n])]
  assert [b for a, b in changed if a != b] == [
    "import tensorflow.compat.v1 as tf",
    '  net = runtime.layers.dense(features["x"], 10, tf.nn.relu)  # hidden',
    "  logits = runtime.layers.dense(net, 3)",
    "  return runtime.EstimatorSpec(mode, loss=loss, train_op=train_op)",
    'classifier = runtime.ModelFn(model_fn, "models")',
  ]


@pytest.mark.parametrize("target", ["auto", "loop", "fit"])
def test_a_model_fn_is_kept_under_every_target_where_that_is_asked_for(target):
  assert "runtime.ModelFn(model_fn" in hosted(program(), target=target)


def test_no_reason_is_given_where_hosting_was_asked_for():
  assert "EM234" not in codes(run(program(), hosted=True))


def test_a_model_fn_that_cannot_be_taken_apart_is_kept_and_the_reason_is_said():
  body = "hooks = [Watch(loss)]"
  source = program(body=body).replace(
    "train_op=train_op)", "train_op=train_op, training_hooks=hooks)"
  )
  result = run(source)
  (unit,) = result.units
  assert (unit.name, unit.kind, unit.target) == ("classifier", "Estimator", "hosted")
  (message,) = [f.message for f in result.findings if f.code == "EM234"]
  assert message.startswith("`classifier` keeps its model_fn, which runs in a graph: ")
  assert "runtime.ModelFn(model_fn" in result.text
  assert not result.left


def test_a_model_fn_that_can_be_taken_apart_is_a_loop():
  result = run(program())
  assert [unit.target for unit in result.units] == ["loop"]
  assert "runtime.Network(forward" in result.text
  assert "EM234" not in codes(result)


def test_fit_falls_back_to_a_loop_with_a_finding():
  text = program().replace("dense(net, 3)", "dense(tf.square(net), 3)")
  result = run(text, target="fit")
  assert [unit.target for unit in result.units] == ["loop"]
  (message,) = [f.message for f in result.findings if f.code == "EM234"]
  assert message == (
    "`classifier` becomes a loop: `tf.square(net)` is written as no Keras layer (line 8)."
  )


@pytest.mark.parametrize(
  "new",
  [
    "class Trainer:\n  def __init__(self):\n"
    '    self.classifier = tf.estimator.Estimator(model_fn, "models")\n\n\n'
    "classifier = Trainer().classifier\n",
    "def build(config):\n  return tf.estimator.Estimator(model_fn, config=config)\n\n\n"
    "classifier = wrap(build(tf.estimator.RunConfig()))\n",
    "made = {}\nmade['a'] = tf.estimator.Estimator(model_fn)\nclassifier = made['a']\n",
    "import functools\nbuild = functools.partial(tf.estimator.Estimator, model_fn)\n"
    "classifier = build()\n",
    "class Mine(tf.estimator.Estimator):\n  def train(self, *args, **kwargs):\n"
    "    return super().train(*args, **kwargs)\n\n\nclassifier = Mine(model_fn)\n",
  ],
)
def test_an_estimator_may_flow_anywhere(new):
  result = run(program(new))
  assert "runtime.ModelFn" in result.text
  assert "estimator.Estimator" not in result.text
  assert {unit.target for unit in result.units} == {"hosted"}
  assert not result.left


def test_the_driver_is_renamed_with_its_estimator():
  train = """
  config = tf.estimator.RunConfig(save_checkpoints_steps=5).replace(keep_checkpoint_max=2)
  classifier = tf.estimator.Estimator(model_fn, "models", config, params={"x": 1})
  train = tf.estimator.TrainSpec(input_fn, max_steps=10)
  evaluation = tf.estimator.EvalSpec(input_fn, steps=1)
  tf.estimator.train_and_evaluate(classifier, train, evaluation)
  path = tf.train.latest_checkpoint("models")
  """
  text = hosted(program("", textwrap.dedent(train)))
  for name in ("RunConfig(", "ModelFn(", "TrainSpec(", "EvalSpec(", "train_and_evaluate("):
    assert f"runtime.{name}" in text
  assert 'path = runtime.latest_checkpoint("models")' in text


def test_a_tpu_estimator_is_the_runtime_s_and_says_that_there_is_no_tpu():
  new = """\
  config = tf.contrib.tpu.RunConfig(tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=10))
  classifier = tf.contrib.tpu.TPUEstimator(
      model_fn, config=config, train_batch_size=8, use_tpu=True)
  """
  source = program(textwrap.dedent(new)).replace(
    "tf.estimator.EstimatorSpec(mode,", "tf.contrib.tpu.TPUEstimatorSpec(mode,"
  )
  result = run(source)
  assert "runtime.TPUModelFn(\n    model_fn" in result.text
  assert "runtime.tpu.RunConfig(tpu_config=runtime.tpu.TPUConfig(" in result.text
  assert "runtime.tpu.TPUEstimatorSpec(mode," in result.text
  (message,) = [f.message for f in result.findings if f.code == "EM236"]
  assert message.startswith("`use_tpu`: ")
  assert "EM236" not in codes(run(source.replace("use_tpu=True", "use_tpu=False")))


@pytest.mark.parametrize(
  ("new", "what"),
  [
    ("config = tf.estimator.RunConfig(train_distribute=s)\n" + NEW, "`train_distribute`"),
    ("import os\nos.environ['TF_CONFIG'] = '{}'\n" + NEW, "TF_CONFIG"),
    (
      "tf.contrib.cloud.configure_gcs(tf.Session('grpc://tpu'), credentials={})\n" + NEW,
      "`tf.contrib.cloud.configure_gcs` stops the program here",
    ),
  ],
)
def test_distribution_is_a_note_beside_the_rewritten_code(new, what):
  result = run(program(new), hosted=True)
  assert [f.message.partition(":")[0] for f in result.findings if f.code == "EM236"] == [what]
  assert result.changed
  assert not result.left


# -- what keeps a file as it is ------------------------------------------------------------


@pytest.mark.parametrize(
  "body",
  [
    "net = tf.keras.layers.Dense(3)(net)",
    "net = tf.keras.Sequential([tf.keras.layers.Flatten()])(net)",
    "net = tf.keras.applications.ResNet50()(net)",
    "optimizer = tf.keras.optimizers.Adam()",
    "metric = tf.keras.metrics.Mean()",
    "net = network(net)",
  ],
)
def test_variables_of_keras_in_a_model_fn_keep_the_file_from_being_hosted(body):
  more = "def network(x):\n  return tf.keras.layers.Conv2D(3, 3)(x)\n\n\n"
  message = left_whole(program(body=body, more=more), "EM235", hosted=True)
  assert "`tf.keras." in message
  assert "EM233" in codes(run(program(body=body, more=more), hosted=True))


@pytest.mark.parametrize(
  "body",
  [
    "net = tf.keras.layers.Flatten()(net)",
    "init = tf.keras.initializers.GlorotUniform()",
    "penalty = tf.keras.regularizers.l2(0.1)(net)",
    "net = tf.keras.activations.relu(net)",
  ],
)
def test_what_keras_makes_without_variables_runs_in_a_graph(body):
  hosted(program(body=body))


def test_keras_outside_of_the_model_fn_does_not_matter():
  more = "def other():\n  return tf.keras.layers.Dense(3)\n\n\n"
  hosted(program(more=more))


def test_a_class_that_overrides_internals_of_the_estimator_is_refused():
  new = "class Mine(tf.estimator.Estimator):\n  def _call_model_fn(self, *args):\n    pass\n\n\n"
  message = left_whole(program(new + "classifier = Mine(model_fn)\n"), "EM237")
  assert message.startswith("`_call_model_fn` is no public part")


@pytest.mark.parametrize(
  ("imports", "call"),
  [
    ("import tensorflow_hub as hub\n", "hub.Module('elmo')"),
    ("from tensorflow_hub import Module\n", "Module('elmo')"),
  ],
)
def test_a_module_of_tensorflow_hub_is_refused(imports, call):
  source = program(body=f"net = {call}(net)", head=imports + HEAD)
  assert left_whole(source, "EM239").startswith("`hub.Module` is no part of tensorflow_hub")


def test_a_layer_of_tensorflow_hub_s_own_api_is_none_of_these():
  hosted(program(more="import tensorflow_hub as hub\nprint(hub.__version__)\n"))


def test_a_name_without_counterpart_keeps_all_of_the_file():
  body = "forest = tf.contrib.tensor_forest.python.tensor_forest.RandomForestGraphs(params)"
  result = run(program(body=body), hosted=True)
  assert not result.changed
  assert result.left
  assert {"EM233", "EM901"} <= set(codes(result))
  (message,) = [f.message for f in result.findings if f.code == "EM233"]
  assert "what stands in line 10 cannot be carried over" in message
  assert [unit.target for unit in result.units] == [""]


def test_a_canned_estimator_that_stays_keeps_all_of_the_file():
  source = program() + "trees = tf.estimator.BoostedTreesRegressor(columns, 1)\n"
  result = run(source, hosted=True)
  assert not result.changed
  assert {"EM233", "EM260"} <= set(codes(result))


# -- files that hold both ------------------------------------------------------------------


def test_a_canned_estimator_beside_a_hosted_one_is_rewritten_as_ever():
  source = CANNED + CANNED_NEW + CANNED_TRAIN + program(head="", more="x = tf.layers.flatten(y)\n")
  result = run(source, hosted=True)
  assert [(u.name, u.target) for u in result.units] == [("e", "fit"), ("classifier", "hosted")]
  assert "e = create_e()" in result.text
  assert "runtime.ModelFn(model_fn" in result.text
  assert "import tensorflow as tf\n" in result.text
  assert "tf.compat.v1.train.AdamOptimizer" in result.text
  assert not result.left


HOOK = """
class Clock(tf.train.SessionRunHook):
  def begin(self):
    self.count = 0

  def after_run(self, run_context, run_values):
    self.count += 1
    if self.count > 3:
      run_context.request_stop()


"""


def test_hooks_of_a_hosted_training_stay_hooks():
  train = "classifier.train(input_fn, hooks=[Clock()], max_steps=10)\n"
  for hooks in ("used", "all"):
    text = hosted(program(train=train, more=HOOK), hooks=hooks)
    assert "class Clock(tf.train.SessionRunHook):" in text
    assert "Callback" not in text


def test_a_hook_of_a_hosted_and_a_canned_training_has_a_twin():
  train = "classifier.train(input_fn, hooks=[Clock()], max_steps=10)\n"
  source = CANNED + HOOK + CANNED_NEW + "e.train(input_fn, hooks=[Clock()], max_steps=10)\n"
  result = run(source + program(head="", train=train), hosted=True)
  assert "class Clock(tf.compat.v1.train.SessionRunHook):" in result.text
  assert "class ClockCallback(tf.keras.callbacks.Callback):" in result.text
  assert "classifier.train(input_fn, hooks=[Clock()], max_steps=10)" in result.text
  assert not result.left


# -- what lint says of such programs ------------------------------------------------------


def test_a_global_step_that_moves_twice_is_a_note():
  """Case 06: model.ckpt-N keeps counting twice, as it did."""
  source = program().replace(
    "  return tf.estimator",
    "  step = tf.train.get_global_step()\n"
    "  train_op = tf.group(train_op, [tf.assign_add(step, 1)])\n  return tf.estimator",
  )
  result = run(source)
  assert [unit.target for unit in result.units] == ["hosted"]
  assert "EM412" in codes(result)
  assert not result.left


def test_a_saver_of_the_scaffold_is_a_note():
  """Case 20: its max_to_keep wins over that of the RunConfig, in the runtime as in TF1."""
  new = "config = tf.estimator.RunConfig(keep_checkpoint_max=100)\n" + NEW.replace(
    '"models"', "config=config"
  )
  source = program(new).replace(
    "train_op=train_op)",
    "train_op=train_op, scaffold=tf.train.Scaffold(saver=tf.train.Saver(sharded=True)))",
  )
  result = run(source)
  assert "EM411" in codes(result)
  assert not result.left


def test_a_keras_optimizer_in_a_model_fn_is_refused():
  """Case 15: the global step never moves, and Keras 3 cannot do it in a graph at all."""
  source = program().replace(
    "tf.train.AdamOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())",
    "tf.group(*tf.keras.optimizers.SGD(0.1).get_updates(loss, tf.trainable_variables()))",
  )
  result = run(source)
  assert not result.changed
  assert {"EM235", "EM413"} <= set(codes(result))


def test_the_directory_of_a_saver_hook_moves_to_where_the_program_looks():
  train = (
    "hook = tf.train.CheckpointSaverHook('models', save_steps=5)\n"
    "other = tf.train.CheckpointSaverHook(checkpoint_dir=where(), save_steps=5)\n"
    "classifier.train(input_fn, hooks=[hook, other], max_steps=10)\n"
  )
  result = run(program(train=train), hosted=True)
  assert "CheckpointSaverHook(os.path.join('models', \"tf2\"), save_steps=5)" in result.text
  assert 'CheckpointSaverHook(checkpoint_dir=os.path.join(where(), "tf2"), ' in result.text
  assert [f.code for f in result.findings].count("EM238") == 2


def test_a_reader_of_the_directory_by_hand_is_left_to_a_person():
  train = TRAIN + "names = tf.train.list_variables('models')\n"
  result = run(program(train=train), hosted=True)
  assert result.changed
  assert "EM601" in codes(result)
  assert result.left == 1


def test_names_of_graphs_that_stay_are_no_work():
  train = TRAIN + (
    "with tf.Session() as session:\n  tf.train.Saver().save(session, 'x')\n"
    "tf.logging.info('done')\n"
  )
  text = hosted(program(train=train))
  assert "with tf.Session() as session:" in text


def test_a_program_that_disables_eager_execution_is_kept():
  result = run(program(head=HEAD + "tf.disable_v2_behavior()\n"))
  assert [unit.target for unit in result.units] == ["hosted"]
  assert "tf.disable_v2_behavior()" in result.text
  assert not result.left


def test_the_output_of_each_form_is_python_and_final():
  for options in ({}, {"hosted": True}, {"target": "loop"}, {"hooks": "all"}):
    text = rewrite(program(), "p.py", Options(**options)).text
    ast.parse(text)
    assert rewrite(text, "p.py", Options(**options)).text == text
