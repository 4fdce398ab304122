"""What a hosted file must not have: code that TF2 cannot run in a graph, or that needs the Estimator.

Measured with TF 2.21: a layer of Keras 3 in a graph of TF1 makes variables whose names carry a
counter of the process, ignores variable scopes and adds no update operations; its metrics and
optimizers make variables that no checkpoint of the graph has. Layers without weights, losses,
initializers, regularizers and activations give the same tensors as in TF 2.15.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analysis import symbols, units
from migrator.analysis.module import Module
from migrator.rewrite.plan import Plan, Unsupported

_SPECS = ("EstimatorSpec", "TPUEstimatorSpec", "create_estimator_spec")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_KERAS = ("Model", "Sequential", "layers", "models", "applications", "metrics", "optimizers")
_PLAIN_LAYERS = frozenset(
  """Activation Add Average AveragePooling1D AveragePooling2D AveragePooling3D Concatenate
  Cropping1D Cropping2D Cropping3D Dot ELU Flatten GlobalAveragePooling1D GlobalAveragePooling2D
  GlobalAveragePooling3D GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D Maximum
  MaxPooling1D MaxPooling2D MaxPooling3D MaxPool1D MaxPool2D MaxPool3D Minimum Multiply Permute ReLU
  RepeatVector Reshape Softmax Subtract UpSampling1D UpSampling2D UpSampling3D ZeroPadding1D
  ZeroPadding2D ZeroPadding3D add average concatenate dot maximum minimum multiply subtract""".split()
)
_STATELESS = ("schedules", "serialize", "deserialize", "get")
# What tensorflow_hub had for graphs of TF1; version 0.16 still lists the names, and has none.
_HUB = frozenset(
  """Module ModuleSpec LatestModuleExporter add_signature attach_image_module_info attach_message
  create_module_spec create_module_spec_from_saved_model get_expected_image_size
  get_num_image_channels image_embedding_column load_module_spec register_module_for_export
  sparse_text_embedding_column text_embedding_column text_embedding_column_v2""".split()
)


# The methods and attributes of TF 1.15 and 2.15 that code outside has been seen to use or override.
_PRIVATE = frozenset(
  """_actual_eval _actual_train_model_distributed _add_meta_graph_for_mode
  _assert_members_are_not_overridden _augment_model_fn _call_input_fn _call_model_fn
  _call_model_fn_eval _call_model_fn_eval_distributed _call_model_fn_for_inference
  _convert_eval_steps_to_hooks _convert_train_steps_to_hooks _create_and_assert_global_step
  _create_global_step _evaluate_build_graph _evaluate_run _export_all_saved_models
  _extract_batch_length _extract_keys _get_features_and_labels_from_input_fn
  _get_features_from_input_fn _get_iterator_from_input_fn _maybe_warm_start _train_model
  _train_model_default _train_model_distributed _train_with_estimator_spec
  _train_with_estimator_spec_distributed _validate_features_in_predict_input _session_config
  _model_fn _model_dir _config _params _device_fn _is_chief _warm_start_settings
  _train_distribution _eval_distribution""".split()
)


def find(plan: Plan) -> list[Unsupported]:
  """The uses in a file that keep it from being hosted, each with its code."""
  module = plan.module
  return [*_keras(module), *_internals(module), *_hub(module)]


# -- Keras ----------------------------------------------------------------------------


def _keras(module: Module) -> Iterator[Unsupported]:
  """EM235 for what Keras makes with variables, in all that a model_fn may call."""
  inside = reached(module)
  if not inside:
    return
  for use in module.uses():
    if not _has_variables(use.symbol.path) or isinstance(use.node, (ast.Import, ast.ImportFrom)):
      continue
    if any(ancestor in inside for ancestor in module.ancestors(use.node)):
      yield Unsupported("EM235", use.node, symbol=use.symbol.path)


def _has_variables(path: str) -> bool:
  """Whether a symbol is a model, metric or optimizer of Keras, or a layer that may have weights."""
  parts = path.split(".")
  if parts[:2] != ["tf", "keras"] or len(parts) < 3 or parts[2] not in _KERAS:
    return False
  if parts[2] == "layers":
    return len(parts) > 3 and parts[3] not in _PLAIN_LAYERS
  if parts[2] in ("Model", "Sequential"):
    return True
  if len(parts) < 4 or parts[3] in _STATELESS:
    return False
  # Functions of metrics and models have small letters; those of applications make models.
  return parts[3][:1].isupper() or parts[2] == "applications"


def reached(module: Module) -> set[ast.AST]:
  """The functions and classes of a file that its model_fns are or may call."""
  pending: list[ast.AST] = [
    f for f in ast.walk(module.tree) if isinstance(f, _FUNCTIONS) and _makes(module, f)
  ]
  found: set[ast.AST] = set()
  while pending:
    node = pending.pop()
    if node in found:
      continue
    found.add(node)
    for name in ast.walk(node):
      if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load):
        pending += _definitions(module, name)
      elif isinstance(name, ast.Attribute):
        pending += _methods(module, name)
  return found


def _makes(module: Module, function: ast.AST) -> bool:
  """Whether a function itself makes an EstimatorSpec."""
  for node in ast.walk(function):
    if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Name, ast.Attribute)):
      continue
    name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
    if name in _SPECS and _function_of(module, node) is function:
      return True
  return False


def _function_of(module: Module, node: ast.AST) -> ast.AST | None:
  return next((a for a in module.ancestors(node) if isinstance(a, _FUNCTIONS)), None)


def _definitions(module: Module, name: ast.Name) -> Iterator[ast.AST]:
  _, bindings = module.scope_of.get(name, module.root).lookup(name.id)
  for binding in bindings:
    if binding.kind in ("def", "class"):
      yield binding.node
    elif isinstance(binding.value, ast.Lambda):
      yield binding.value


def _methods(module: Module, node: ast.Attribute) -> Iterator[ast.AST]:
  """The methods of the class around `self.name` that have the name."""
  if not isinstance(node.value, ast.Name) or node.value.id not in ("self", "cls"):
    return
  owner = next((a for a in module.ancestors(node) if isinstance(a, ast.ClassDef)), None)
  for statement in owner.body if owner is not None else ():
    if isinstance(statement, _FUNCTIONS[:2]) and statement.name == node.attr:
      yield statement


# -- the Estimator itself ---------------------------------------------------------------


def _internals(module: Module) -> Iterator[Unsupported]:
  """EM237 for what is no public part of the Estimator: what takes its place has none of it."""
  for node in ast.walk(module.tree):
    if not isinstance(node, ast.ClassDef):
      continue
    kinds = [units.estimator_kind(s) for s in map(module.resolve, node.bases) if s is not None]
    if not set(kinds) & set(units.CUSTOM):
      continue
    for part in ast.walk(node):
      if isinstance(part, _FUNCTIONS[:2]) and part in node.body and part.name in _PRIVATE:
        yield Unsupported("EM237", part, name=part.name)
      elif (
        isinstance(part, ast.Attribute)
        and isinstance(part.value, ast.Name)
        and part.value.id == "self"
        and part.attr in _PRIVATE
      ):
        yield Unsupported("EM237", part, name=part.attr)
  for use in module.uses():
    head, _, name = use.symbol.path.rpartition(".")
    if name in _PRIVATE and units.estimator_kind(symbols.Symbol(head)) in units.CUSTOM:
      yield Unsupported("EM237", use.node, name=name)


# -- tensorflow_hub -----------------------------------------------------------------------


def _hub(module: Module) -> Iterator[Unsupported]:
  """EM239 for what tensorflow_hub had for TF1."""
  for node in list(module.scope_of):
    if not isinstance(node, (ast.Attribute, ast.Name)) or not isinstance(node.ctx, ast.Load):
      continue
    if (node.attr if isinstance(node, ast.Attribute) else node.id) not in _HUB:
      continue
    symbol = module.resolve(node)
    if symbol is not None and symbol.path == f"tensorflow_hub.{symbol.path.rpartition('.')[2]}":
      yield Unsupported("EM239", node, symbol="hub." + symbol.path.rpartition(".")[2])
