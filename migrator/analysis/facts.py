"""Facts: what the analysis knows about the calls and classes of a program."""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Optional

from migrator.analysis import symbols, tables
from migrator.analysis.module import Module, Use

# Parameter order of the constructors and methods, from the API pages of TF 1.15 and 2.15
# (https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/estimator/DNNClassifier).
_DNN = "model_dir {head} optimizer activation_fn dropout {partitioner} config"
_COMBINED = """model_dir linear_feature_columns linear_optimizer dnn_feature_columns dnn_optimizer
  dnn_hidden_units dnn_activation_fn dnn_dropout {head} {partitioner} config"""
_SIGNATURES = {
  "DNNClassifier": f"hidden_units feature_columns {_DNN} warm_start_from loss_reduction batch_norm",
  "DNNEstimator": f"head hidden_units feature_columns {_DNN} warm_start_from batch_norm",
  "LinearClassifier": """feature_columns model_dir {head} optimizer config {linear_partitioner}
    warm_start_from loss_reduction sparse_combiner""",
  "LinearEstimator": """head feature_columns model_dir optimizer config {linear_partitioner}
    sparse_combiner warm_start_from""",
  "DNNLinearCombinedClassifier": f"""{_COMBINED} warm_start_from loss_reduction batch_norm
    linear_sparse_combiner""",
  "DNNLinearCombinedEstimator": f"head {_COMBINED} batch_norm linear_sparse_combiner",
  "BaselineClassifier": "model_dir {head} optimizer config loss_reduction",
  "BaselineEstimator": "head model_dir optimizer config",
}
_HEADS = {
  "Classifier": "n_classes weight_column label_vocabulary",
  "Regressor": "label_dimension weight_column",
  "Estimator": "",
}


def _parameters() -> Iterator[tuple[tuple[str, str], tuple[str, ...]]]:
  for kind, signature in _SIGNATURES.items():
    for suffix, head in _HEADS.items():
      if (suffix == "Regressor" and kind.endswith("Classifier")) or kind.endswith(suffix):
        name = kind.replace("Classifier", suffix)
        for flavour, partitioners in (
          ("v1", ("input_layer_partitioner", "partitioner")),
          ("v2", ("", "")),
        ):
          text = signature.format(
            head=head, partitioner=partitioners[0], linear_partitioner=partitioners[1]
          )
          yield (name, flavour), tuple(text.split())


# The constructors of the canned estimators, by class and flavour, and the function that wraps a Keras model.
PARAMETERS = dict(_parameters())
_KERAS = """keras_model keras_model_path custom_objects model_dir config checkpoint_format metric_names_map
  export_outputs"""
PARAMETERS["model_to_estimator", "v2"] = tuple(_KERAS.split())
# Those of an estimator with a model_fn of its own are the same in both versions.
PARAMETERS["Estimator", "v1"] = ("model_fn", "model_dir", "config", "params", "warm_start_from")
_TPU = """model_fn model_dir config params use_tpu train_batch_size eval_batch_size predict_batch_size
  batch_axis eval_on_tpu export_to_tpu export_to_cpu warm_start_from embedding_config_spec
  export_saved_model_api_version"""
PARAMETERS["TPUEstimator", "v1"] = tuple(_TPU.split())
RUN_CONFIG_PARAMETERS = tuple(
  """model_dir tf_random_seed save_summary_steps save_checkpoints_steps save_checkpoints_secs
  session_config keep_checkpoint_max keep_checkpoint_every_n_hours log_step_count_steps
  train_distribute device_fn protocol eval_distribute experimental_distribute
  experimental_max_worker_delay_secs session_creation_timeout_secs
  checkpoint_save_graph_def""".split()
)
_EXPORT = (
  "export_dir_base",
  "serving_input_receiver_fn",
  "assets_extra",
  "as_text",
  "checkpoint_path",
)
METHOD_PARAMETERS: dict[str, tuple[str, ...]] = {
  "train": ("input_fn", "hooks", "steps", "max_steps", "saving_listeners"),
  "evaluate": ("input_fn", "steps", "hooks", "checkpoint_path", "name"),
  "predict": (
    "input_fn",
    "predict_keys",
    "hooks",
    "checkpoint_path",
    "yield_single_examples",
  ),
  "train_and_evaluate": ("train_spec", "eval_spec"),  # after the estimator
  "export_saved_model": (*_EXPORT, "experimental_mode", "strip_default_attrs"),
  "export_savedmodel": (*_EXPORT, "strip_default_attrs"),
  "latest_checkpoint": (),
  "get_variable_names": (),
  "get_variable_value": ("name",),
}
NUMPY_INPUT_FN_PARAMETERS = tuple(
  "x y batch_size num_epochs shuffle queue_capacity num_threads".split()
)
# From tensorflow/python/training/basic_session_run_hooks.py and the Estimator's early_stopping.py and hooks.py;
# `tf.contrib.estimator` had the same.
_STOP_IF = "eval_dir min_steps run_every_secs run_every_steps"
HOOK_PARAMETERS = {
  name: tuple(parameters.split())
  for name, parameters in {
    "FinalOpsHook": "final_ops final_ops_feed_dict",
    "InMemoryEvaluatorHook": "estimator input_fn steps hooks name every_n_iter",
    "LoggingTensorHook": "tensors every_n_iter every_n_secs at_end formatter",
    "NanTensorHook": "loss_tensor fail_on_nan_loss",
    "ProfilerHook": "save_steps save_secs output_dir show_dataflow show_memory",
    "StepCounterHook": "every_n_steps every_n_secs output_dir summary_writer",
    "StopAtStepHook": "num_steps last_step",
    "make_early_stopping_hook": "estimator should_stop_fn run_every_secs run_every_steps",
    "make_stop_at_checkpoint_step_hook": "estimator last_step wait_after_file_check_secs",
    "stop_if_higher_hook": f"estimator metric_name threshold {_STOP_IF}",
    "stop_if_lower_hook": f"estimator metric_name threshold {_STOP_IF}",
    "stop_if_no_decrease_hook": f"estimator metric_name max_steps_without_decrease {_STOP_IF}",
    "stop_if_no_increase_hook": f"estimator metric_name max_steps_without_increase {_STOP_IF}",
  }.items()
}
NUMERIC_COLUMN_PARAMETERS = ("key", "shape", "default_value", "dtype", "normalizer_fn")


_HOOK_MODULES = ("tf.train", "tf.estimator.experimental", "tf.contrib.estimator")


def hook_name(symbol: Optional[symbols.Symbol]) -> Optional[str]:
  """The key of `HOOK_PARAMETERS`, if the symbol is one of these hooks or makes one; else None."""
  if symbol is None:
    return None
  module, _, name = symbol.path.rpartition(".")
  return name if module in _HOOK_MODULES and name in HOOK_PARAMETERS else None


class Argument(NamedTuple):
  """A bound argument: its value, and the node that carries its comments."""

  name: str
  value: ast.expr
  node: ast.AST


def bind_arguments(call: ast.Call, parameters: Sequence[str]) -> Optional[dict[str, Argument]]:
  """Binds a call to parameter names, in source order; None for `*args` or `**kwargs`."""
  bound: dict[str, Argument] = {}
  if any(isinstance(a, ast.Starred) for a in call.args) or len(call.args) > len(parameters):
    return None
  for name, value in zip(parameters, call.args):
    bound[name] = Argument(name, value, value)
  for keyword in call.keywords:
    if keyword.arg is None:
      return None
    bound[keyword.arg] = Argument(keyword.arg, keyword.value, keyword)
  return bound


def calls(module: Module) -> Iterator[tuple[ast.Call, symbols.Symbol]]:
  """All calls of TensorFlow symbols, in source order."""
  for use in module.uses():
    parent = module.parents.get(use.node)
    if isinstance(parent, ast.Call) and parent.func is use.node:
      yield parent, use.symbol


@functools.cache
def _tf1_names() -> frozenset[str]:
  """Made by tests/analysis/make_tf1_names.py."""
  return frozenset(tables.read("tf1_names.txt").split())


def is_tf1_name(path: str) -> bool:
  """Whether plain `tf` has a canonical name, or one above it, in TF1 only."""
  parts = path.split(".")
  return any(".".join(parts[:n]) in _tf1_names() for n in range(2, len(parts) + 1))


def is_tf1_only(module: Module, use: Use) -> bool:
  """Whether plain `tf` has the name of this use in TF1 only."""
  symbol = use.symbol
  if symbol.api or symbol.private or not symbol.path.startswith("tf."):
    return False
  if not is_tf1_name(symbol.path):
    return symbol.path.startswith("tf.contrib.")
  # A hook reached through tf.estimator has tf.train's name here; TF2 had it up to 2.15.
  return "estimator" not in module.source(use.node) or symbol.path.startswith("tf.estimator.")


def written_for_tf1(module: Module) -> Optional[str]:
  """The first name in the module that plain `tf` has in TF1 only, or None."""
  for use in module.uses():
    if is_tf1_only(module, use):
      return use.symbol.path
  return None


def loads(module: Module, name_node: ast.Name) -> list[ast.Name]:
  """All places that read the variable which `name_node` binds or reads."""
  owner, _ = module.scope_of[name_node].lookup(name_node.id)
  found = []
  for node, scope in module.scope_of.items():
    if isinstance(node, ast.Name) and node.id == name_node.id and isinstance(node.ctx, ast.Load):
      seen, _ = scope.lookup(node.id)
      if seen is owner:
        found.append(node)
  return sorted(found, key=lambda n: (n.lineno, n.col_offset))


def appends(module: Module, name: ast.Name) -> Optional[list[ast.Call]]:
  """The `name.append(x)` calls on a list variable, in source order.

  None when something else may change the list: another method, an item assignment, or code
  that gets the list as an argument and is not known to leave it alone.
  """
  found = []
  for load in loads(module, name):
    parent = module.parents.get(load)
    if isinstance(parent, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
      return None  # a second name for the list
    call = module.parents.get(parent) if parent is not None else None
    if isinstance(parent, ast.Attribute) and isinstance(call, ast.Call) and call.func is parent:
      if parent.attr == "append" and len(call.args) == 1 and not call.keywords:
        found.append(call)
      elif parent.attr not in ("copy", "count", "index"):
        return None
    elif (isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load)) or (
      isinstance(parent, ast.Call) and load in parent.args and not _leaves_alone(module, parent)
    ):
      return None
  return found


def _leaves_alone(module: Module, call: ast.Call) -> bool:
  """Whether a function is known not to change a list that it gets."""
  if symbols.is_tensorflow(module.resolve(call.func)):
    return True
  if isinstance(call.func, ast.Attribute):
    # A method of an estimator, as in estimator.train(input_fn, hooks).
    return call.func.attr in METHOD_PARAMETERS
  if not isinstance(call.func, ast.Name):
    return False
  _, bindings = module.scope_of[call.func].lookup(call.func.id)
  return not bindings and hasattr(builtins, call.func.id)


def hook_base(module: Module, node: ast.ClassDef) -> Optional[symbols.Symbol]:
  """The hook class of TensorFlow from which a class derives, directly or not, or None."""
  seen: set[ast.AST] = set()
  classes = [node]
  while classes:
    current = classes.pop()
    if current in seen:
      continue
    seen.add(current)
    for base in current.bases:
      symbol = module.resolve(base)
      if symbol is not None and symbol.path.startswith("tf.train."):
        name = symbol.path.rpartition(".")[2]
        if name.endswith("Hook") or name == "CheckpointSaverListener":
          return symbol
      definition = module.definition(base)
      if isinstance(definition, ast.ClassDef):
        classes.append(definition)
  return None
