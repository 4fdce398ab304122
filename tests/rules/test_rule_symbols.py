"""Every name that TF2 lost maps to a rule, in every spelling; none that it has does."""

import pathlib

import pytest

from migrator.analysis import private_names, removed_names, symbols
from migrator.lint import engine, rules, successors, symbol_table

FOLDER = pathlib.Path(__file__).parent
RULES = rules.load()
TABLE = symbol_table.of(RULES)
REMOVED = sorted(f"{m}.{n}" for m, names in removed_names.all_names().items() for n in names)
# What `tf.compat.v1.train` keeps and what works there without a session.
KEPT_IN_COMPAT = {"EM405", "EM407", "EM408", "EM409", "EM604"}
# Codes of a whole module; a name of its own has a rule that says more.
CATCH_ALL = {"EM216"}


def _public_names():
  lines = (FOLDER / "tf_2_21_names.txt").read_text().splitlines()
  return {f"{m}.{name}" for m, *names in map(str.split, lines) for name in names}


def _spellings(path):
  """Absolute dotted names of a symbol."""
  tail = path[len("tf.") :]
  yield "tensorflow." + tail
  yield "tensorflow.compat.v1." + tail
  yield "tensorflow._api.v1." + tail
  if tail.startswith("estimator"):
    yield "tensorflow_estimator." + tail
    yield "tensorflow_estimator.compat.v1." + tail
  if tail.startswith("keras"):
    yield tail


def test_the_list_is_complete_enough_to_mean_something():
  areas = {name.rpartition(".")[0] for name in REMOVED}
  assert {"tf.estimator", "tf.estimator.export", "tf.keras.estimator", "tf.train"} <= areas
  assert sum(area.startswith("tf.contrib.") for area in areas) > 100
  assert len(REMOVED) > 3000


def test_every_removed_name_has_a_rule_in_every_spelling():
  unmapped = [
    dotted
    for path in REMOVED
    for dotted in _spellings(path)
    if TABLE.code(symbols.canonical(dotted).path) is None
  ]
  assert unmapped == []


def test_every_private_name_has_a_rule():
  unmapped = []
  for module in private_names.modules():
    for name in private_names.names(module):
      symbol = symbols.canonical(f"{module}.{name}")
      listed = TABLE.code(symbol.path) or TABLE.code(module)
      if not symbol.private or (listed is None and module != "tensorflow.python.pywrap_tensorflow"):
        unmapped.append(f"{module}.{name}")
  assert unmapped == []


def test_no_name_of_tf_2_21_has_a_rule():
  flagged = [name for name in sorted(_public_names()) if TABLE.code(name) is not None]
  assert flagged == []


@pytest.mark.parametrize(
  "path",
  [
    "tf.train.Checkpoint",
    "tf.train.CheckpointManager",
    "tf.train.Coordinator",
    "tf.train.ExponentialMovingAverage",
    "tf.train.checkpoints_iterator",
    "tf.train.get_checkpoint_state",
    "tf.train.latest_checkpoint",
    "tf.train.load_checkpoint",
    "tf.train.experimental.PythonState",
    "tf.keras.callbacks.BackupAndRestore",
  ],
)
def test_what_stays_is_in_the_list_of_tf_2_21(path):
  assert path in _public_names()


def test_a_name_of_tf_estimator_has_a_rule_that_says_more_than_that_it_is_gone():
  left = {p for p in REMOVED if TABLE.code(symbols.canonical(_first(p)).path) in CATCH_ALL}
  assert left == {
    "tf.estimator.RunConfig",  # EM101 where it is called
    "tf.estimator.add_metrics",
    "tf.estimator.classifier_parse_example_spec",
    "tf.estimator.experimental",
    "tf.estimator.experimental.call_logit_fn",
    "tf.estimator.experimental.dnn_logit_fn_builder",
    "tf.estimator.experimental.linear_logit_fn_builder",
    "tf.estimator.regressor_parse_example_spec",
  }


def _first(path):
  return next(_spellings(path))


def test_the_symbols_of_the_rules_are_names_that_tensorflow_had():
  known = {symbols.canonical(_first(path)).path for path in REMOVED}
  # Not in the areas of the list.
  known |= {"tf.contrib", "tf.estimator", "tf.examples", "tf.keras.callbacks.experimental"}
  known |= {"tf.keras.estimator", "tf.disable_eager_execution", "tf.disable_v2_behavior"}
  listed = {s[:-2] if s.endswith(".*") else s for r in RULES.values() for s in r.symbols}
  assert {s for s in listed - known if s.startswith("tf.")} == set()


@pytest.mark.parametrize(
  ("head", "kept"),
  [("import tensorflow as tf", set()), ("import tensorflow.compat.v1 as tf", KEPT_IN_COMPAT)],
)
def test_lint_flags_each_of_them(head, kept):
  text = head + "\n" + "".join(f"x = {path}\n" for path in REMOVED)
  flagged = {f.span.line for f in engine.check_text(text, "a.py")}
  missed = [path for line, path in enumerate(REMOVED, start=2) if line not in flagged]
  if kept:
    missed = [p for p in missed if TABLE.code(p) not in kept]
    assert missed == ["tf.train.NanLossDuringTrainingError", "tf.train.SecondOrStepTimer"]
  else:
    assert missed == []


def test_lint_flags_each_import_of_them():
  paths = [path for path in REMOVED if "contrib" not in path]
  split = [path[len("tf.") :].rpartition(".") for path in paths]
  text = "".join(f"from tensorflow.{module} import {name}\n" for module, _, name in split)
  flagged = {f.span.line for f in engine.check_text(text, "a.py")}
  assert [path for line, path in enumerate(paths, start=1) if line not in flagged] == []


def test_a_successor_is_a_name_that_tf2_has():
  # Looked at by hand: methods, and what is in `tf.compat.v1` only.
  seen = {
    "tf.compat.v1.losses",
    "tf.compat.v1.profiler",
    "tf.compat.v1.tpu.batch_parallel",
    "tf.compat.v1.tpu.bfloat16_scope",
    "tf.compat.v1.tpu.core",
    "tf.compat.v1.tpu.cross_replica_sum",
    "tf.compat.v1.tpu.outside_compilation",
    "tf.compat.v1.tpu.replicate",
    "tf.compat.v1.tpu.rewrite",
    "tf.compat.v1.tpu.shard",
    "tf.compat.v1.train.ProfilerHook",
    "tf.compat.v1.train.create_global_step",
    "tf.compat.v1.train.get_global_step",
    "tf.compat.v1.train.get_or_create_global_step",
    "tf.compat.v1.train.init_from_checkpoint",
    "tf.data.Dataset.batch",
    "tf.data.Dataset.bucket_by_sequence_length",
    "tf.data.Dataset.rejection_resample",
    "tf.keras.Model.fit",
  }
  assert successors.named() - seen - _public_names() == set()


@pytest.mark.parametrize(
  ("path", "words"),
  [
    ("tf.contrib.slim.conv2d", "`tf_slim` took its place"),
    ("tf.contrib.data.map_and_batch", "`tf.data.experimental.map_and_batch` took its place"),
    ("tf.contrib.training.HParams", "a dataclass or `ml_collections.ConfigDict` does the same"),
    (
      "tf.contrib.training.python.training.hparam",
      "a dataclass or `ml_collections.ConfigDict` does the same",
    ),
    ("tf.contrib.learn.python.learn.datasets.mnist", "`tf.keras.datasets` took its place"),
    ("tf.contrib.slim.python.slim.nets.vgg", "`tf_slim.nets` took its place"),
    ("tf.contrib.framework.python.ops.arg_scope", "`tf_slim` took its place"),
    ("tf.contrib.eager.python.tfe.enable_eager_execution", "it is the default in TF2"),
    ("tf.contrib.tpu.rewrite", "`tf.compat.v1.tpu.rewrite` took its place"),
    ("tf.contrib.tpu.keras_to_tpu_model", "`tf.distribute.TPUStrategy` took its place"),
    ("tf.contrib.rnn.GRUCell", "`tf.keras.layers.GRUCell` took its place"),
    ("tf.contrib.util.constant_value", "`tf.get_static_value` took its place"),
    ("tf.contrib.opt.LARSOptimizer", "it has no successor"),
    ("tf.contrib.graph_editor.copy", "it has no successor"),
    ("tf.contrib.learn.Estimator", "it became `tf.estimator`, which gave way to Keras"),
  ],
)
def test_contrib_names_its_successor(path, words):
  assert successors.sentence(path) == words
