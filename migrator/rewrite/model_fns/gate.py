"""What keeps a model_fn from being taken apart, besides that it cannot be read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analysis import local_calls, symbols, units
from migrator.analysis.model_fns.modes import Function, Unreadable
from migrator.analysis.model_fns.pieces import Split
from migrator.analysis.module import Module
from migrator.rewrite import comparisons
from migrator.rewrite.model_fns import changes, keras_names, outputs
from migrator.rewrite.plan import Plan

# What reads or changes more of a graph or a session than the values of a network.
_REFUSED = {
  "it works with a session": (
    "tf.Session",
    "tf.InteractiveSession",
    "tf.Graph",
    "tf.get_default_graph",
    "tf.get_default_session",
    "tf.train.Saver",
    "tf.train.Scaffold",
    "tf.train.Supervisor",
    "tf.train.MonitoredSession",
    "tf.placeholder",
    "tf.py_func",
    "tf.py_function",
    "tf.numpy_function",
  ),
  "it loads a checkpoint": (
    "tf.train.init_from_checkpoint",
    "tf.train.warm_start",
    "tf.contrib.framework.init_from_checkpoint",
    "tf.contrib.framework.assign_from_checkpoint",
    "tf.train.load_checkpoint",
    "tf.train.load_variable",
    "tf.train.list_variables",
    "tf.train.NewCheckpointReader",
    "tf.train.latest_checkpoint",
  ),
  "it keeps moving averages of its variables": ("tf.train.ExponentialMovingAverage",),
  "it works with collections": (
    "tf.add_to_collection",
    "tf.get_collection_ref",
    "tf.global_variables",
    "tf.local_variables",
    "tf.model_variables",
    "tf.losses.add_loss",
    "tf.losses.get_losses",
    "tf.losses.get_total_loss",
    "tf.contrib.losses",
    "tf.contrib.framework.get_",
    "tf.contrib.slim.losses",
    "tf.contrib.slim.get_",
  ),
  "it assigns to variables by itself": (
    "tf.assign",
    "tf.assign_add",
    "tf.assign_sub",
    "tf.scatter_",
    "tf.count_up_to",
  ),
  "it loads a module of TensorFlow Hub": ("tensorflow_hub", "tf.hub"),
  "it makes tables that need a session": (
    "tf.tables_initializer",
    "tf.contrib.lookup",
    "tf.lookup",
    "tf.initialize_all_tables",
  ),
  "it is distributed": (
    "tf.distribute",
    "tf.contrib.distribute",
    "tf.contrib.tpu",
    "tf.estimator.tpu",
    "tf.tpu",
    "tf.train.replica_device_setter",
    "tf.train.SyncReplicasOptimizer",
    "horovod",
  ),
  "it sets a seed of its own": (
    "tf.set_random_seed",
    "tf.random.set_random_seed",
    "tf.random.set_seed",
  ),
  "it draws random numbers outside of the graph": ("numpy.random", "random"),
  "its gradients are stopped": ("tf.stop_gradient",),
  "it takes networks and losses of the graph's collections": ("tf.contrib.gan",),
  "it uses a head": (
    "tf.estimator.BinaryClassHead",
    "tf.estimator.MultiClassHead",
    "tf.estimator.RegressionHead",
    "tf.estimator.MultiHead",
    "tf.estimator.MultiLabelHead",
    "tf.contrib.estimator",
    "tf.contrib.learn.head",
  ),
}
_OTHER_MODULES = ("numpy.", "math.", "os.path.", "collections.", "functools.", "itertools.", "six.")
_MORE_MODULES = ("logging.", "absl.", "random.", "re.", "copy.", "operator.", "typing.")
_BATCH_NORM = ("batch_norm", "BatchNorm", ".nets.", ".nets_factory")


def check(plan: Plan, unit: units.Unit, function: Function) -> None:
  """Checks what the model_fn and the functions that it calls use.

  Raises:
    Unreadable: with the reason.
  """
  module = plan.module
  if unit.problems or unit.shown:
    node = unit.problems[0].node if unit.problems else unit.shown[0]
    raise Unreadable(node, "the estimator is used in a way that only an Estimator can be")
  if unit.added_metrics:
    raise Unreadable(unit.added_metrics[0].call, "`add_metrics` makes another estimator of it")
  start = unit.constructions[0].arguments.get("warm_start_from")
  if start is not None and module.constant(start.value) is not None:
    raise Unreadable(start.value, "the training is warm-started")
  codes = _code(module, function)
  for node in codes:
    _check_code(module, node)
  keras_names.plan_names(plan, function.node, codes)
  _check_comparisons(module, function, codes)
  changes.check(module, function, codes)
  outputs.check_initial(module, codes)
  for node in ast.walk(function.node):
    if isinstance(node, ast.Name) and node.id == "params" and not isinstance(node.ctx, ast.Load):
      raise Unreadable(node, "it changes `params`")


def _code(module: Module, function: Function) -> list[ast.AST]:
  """The model_fn, and the functions and classes of the file that it may call."""
  found: list[ast.AST] = [function.node]
  for node in found:
    for name in ast.walk(node):
      if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load):
        definition = module.definition(name)
        if isinstance(definition, (ast.FunctionDef, ast.ClassDef)) and definition not in found:
          found.append(definition)
  return found


def _check_comparisons(module: Module, function: Function, codes: list[ast.AST]) -> None:
  """`==` of tensors compares objects in a graph of TF1, and elements in a function of TF2."""
  arguments = function.node.args
  given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
  tensors = frozenset(a for a in given if a.arg in ("labels", function.features))
  for node in (n for code in codes for n in comparisons.find(module, code, tensors)):
    shown = module.source(node).partition("\n")[0]
    what = f"`{shown}` compares tensors, as objects in a graph and by their elements in TF2"
    raise Unreadable(node, what)


def _check_code(module: Module, node: ast.AST) -> None:
  for inner in ast.walk(node):
    if isinstance(inner, ast.keyword) and inner.arg == "partitioner":
      raise Unreadable(inner.value, "its variables are partitioned")
    if isinstance(inner, ast.keyword) and inner.arg == "custom_getter":
      raise Unreadable(inner.value, "its variables are read by a getter of its own")
    parent = module.parents.get(inner)
    if not isinstance(inner, (ast.Name, ast.Attribute)) or (
      isinstance(parent, ast.Attribute) and parent.value is inner
    ):
      continue
    symbol = module.resolve(inner)
    if symbol is None:
      continue
    for reason, names in _REFUSED.items():
      for name in names:
        whole = name.endswith("_") or symbol.path == name
        if symbol.path.startswith(name) and (whole or symbol.path.startswith(f"{name}.")):
          raise Unreadable(inner, f"{reason} (`{module.source(inner)}`)")
    known = symbols.is_tensorflow(symbol) or symbol.path.startswith(
      (*_OTHER_MODULES, *_MORE_MODULES)
    )
    if isinstance(parent, ast.Call) and parent.func is inner and not known:
      what = f"it calls `{module.source(inner)}()`, which this file does not show"
      raise Unreadable(inner, what)


def _check_modes(module: Module, split: Split) -> None:
  """A network may hand the mode to functions that only ask whether it is the one of training."""
  function = split.function
  for leaf in split.forward.leaves:
    for _, node, _ in split.forward.flow.names(leaf.node):
      if function.is_parameter(node, "mode"):
        call = module.parents[node]
        call = module.parents[call] if isinstance(call, ast.keyword) else call
        if not isinstance(call, ast.Call) or not _asks_for_training(module, call, node, ()):
          raise Unreadable(node, "its network reads `mode` itself")


def _asks_for_training(module: Module, call: ast.Call, given: ast.AST, seen: tuple) -> bool:
  helper = local_calls.called(module, call)
  if helper is None or helper in seen or helper.args.vararg or helper.args.kwarg:
    return False
  parameters = [a.arg for a in (*helper.args.posonlyargs, *helper.args.args)]
  keyword = module.parents[given]
  if isinstance(keyword, ast.keyword):
    name = keyword.arg or ""
  else:
    index = call.args.index(given) if given in call.args else len(parameters)
    name = parameters[index] if index < len(parameters) else ""
  inner = Function(module, helper, mode=name)
  for node in ast.walk(helper):
    if not isinstance(node, ast.Name) or node.id != name:
      continue
    parent = module.parents[node]
    if inner.training_text(parent, "training") is not None:
      continue
    outer = module.parents[parent] if isinstance(parent, ast.keyword) else parent
    again = isinstance(outer, ast.Call) and inner.is_parameter(node, name)
    if not again or not _asks_for_training(module, outer, node, (*seen, helper)):  # type: ignore[arg-type]
      return False
  return bool(name)


def check_split(plan: Plan, unit: units.Unit, split: Split) -> None:
  """Checks the pieces.

  Raises:
    Unreadable: with the reason.
  """
  module = plan.module
  _check_updates(module, split)
  outputs.check(split)
  _check_modes(module, split)
  for piece in (split.loss, split.metrics, split.predictions, split.exports):
    leaves = [leaf.node for leaf in piece.leaves] if piece is not None else []
    for node in (n for leaf in leaves for n in ast.walk(leaf)):
      stored = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
      if stored and node.id in (*split.outputs, "params"):  # type: ignore[attr-defined]
        raise Unreadable(node, "a variable of it is bound again behind its network")


def _check_updates(module: Module, split: Split) -> None:
  """A network's moving statistics move with each step of the training: so must the model_fn's."""
  attributes = {n.attr for n in ast.walk(split.function.node) if isinstance(n, ast.Attribute)}
  texts = {n.value for n in ast.walk(split.function.node) if isinstance(n, ast.Constant)}
  # Keras layers have their updates for themselves, those of TF1 put them into a collection.
  runs = {
    True: split.train.runs_updates and "updates" in attributes,
    False: split.train.runs_updates and bool({"UPDATE_OPS"} & attributes or {"update_ops"} & texts),
  }
  norms = list(_batch_norms(module, split.function))
  for node, path in norms:
    if not runs[path.startswith("tf.keras.")]:
      what = "the moving statistics of its batch normalization never move, and would from then on"
      raise Unreadable(node, what)
  outputs.check_norms(split, [node for node, _ in norms])


def _batch_norms(module: Module, function: Function) -> Iterator[tuple[ast.AST, str]]:
  """What makes batch normalization, or networks of TensorFlow that have it; and its full name."""
  for code in _code(module, function):
    for node in ast.walk(code):
      symbol = module.resolve(node) if isinstance(node, (ast.Attribute, ast.Name)) else None
      path = symbol.path if symbol is not None else ""
      if path.startswith("tf.") and any(part in path for part in _BATCH_NORM):
        yield node, path
