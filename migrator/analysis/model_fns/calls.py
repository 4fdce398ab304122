"""What the calls in a model_fn may do besides giving a value.

A call that makes variables, draws random numbers or fills a collection belongs to the network and
keeps its place there; all others may stand wherever their value is needed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis import local_calls, symbols
from migrator.analysis.module import Module

# They make variables, layers that do, or ops that count (random numbers, collections).
_EFFECTS = tuple(
  """tf.Variable tf.add_to_collection tf.compat.v1.nn.rnn_cell. tf.contrib. tf.cond tf.while_loop tf.custom_gradient
  tf.feature_column. tf.gradients tf.hessians tf.get_collection_ref tf.get_local_variable tf.get_variable tf.hub. tf.keras.Model tf.keras.Sequential
  tf.keras.applications. tf.keras.layers. tf.keras.models. tf.layers. tf.losses.add_loss tf.losses.get_total_loss
  tf.make_template tf.map_fn tf.multinomial tf.nn.alpha_dropout tf.nn.bidirectional_dynamic_rnn tf.nn.dropout
  tf.nn.dynamic_rnn tf.nn.nce_loss tf.nn.raw_rnn tf.nn.rnn_cell. tf.nn.sampled_softmax_loss
  tf.nn.bidirectional_rnn tf.nn.static_rnn tf.nn.static_bidirectional_rnn tf.placeholder tf.py_func
  tf.py_function tf.random. tf.random_ tf.scan tf.numpy_function tf.set_random_seed tf.train. tf.truncated_normal
  tf.lookup. tf.global_variables tf.trainable_variables tf.Session tf.Graph tf.saved_model. tf.initialize
  tf.tables_initializer tf.assign tf.scatter_ tf.random_shuffle""".split()
)
# Ops of any module that draw random numbers.
_COUNTING = ("random", "shuffle", "dropout", "candidate_sampler", "fractional_", "sample_distorted")
# Of these names the ones that only make an object without variables.
_HARMLESS = (
  "tf.train.get_global_step",
  "tf.train.get_or_create_global_step",
  "tf.random_normal_initializer",
  "tf.random_uniform_initializer",
)
_REPORTS = ("tf.summary.", "tf.logging.", "tf.compat.v1.logging.", "logging.", "absl.logging.")
_BUILTINS = frozenset(
  """abs bool dict enumerate filter float format frozenset getattr hasattr int isinstance len list map
  max min next print range repr reversed round set sorted str sum tuple type zip""".split()
)
# Methods of tensors, shapes, dicts, lists and strings.
_METHODS = frozenset(
  """append as_list copy endswith extend format get get_shape items join keys lower merge_with ndims
  pop replace rstrip set_shape setdefault split startswith strip update upper values with_rank
  is_fully_defined concatenate assert_is_compatible_with""".split()
)
_PURE_MODULES = ("numpy.", "math.", "os.path.", "collections.", "functools.", "itertools.", "six.")


def effects(module: Module, node: ast.AST, _seen: frozenset = frozenset()) -> Iterator[ast.Call]:
  """The calls in some code that may do more than give a value."""
  for call in ast.walk(node):
    if isinstance(call, ast.Call) and not (
      _is_pure(module, call, _seen) and _gets_pure(module, call, _seen)
    ):
      yield call


def has_effect(module: Module, node: ast.AST) -> bool:
  """Whether some code may do more than give a value."""
  return next(effects(module, node), None) is not None


def path(module: Module, call: ast.Call) -> str:
  """The full name of what is called, "" where it is none of an imported module."""
  symbol = module.resolve(call.func)
  return symbol.path if symbol is not None else ""


def is_random(name: str) -> bool:
  """Whether the function of TensorFlow with a full name draws random numbers."""
  if "initializer" in name or ".keras.layers." in name:
    return False
  drawn = ("tf.multinomial", "tf.truncated_normal", "tf.nn.sampled_", "tf.nn.nce_loss")
  return name.startswith(drawn) or any(word in name for word in _COUNTING)


_NOISE = (
  "tf.layers.dropout",
  "tf.nn.dropout",
  "tf.random_",
  "tf.random.",
  "tf.contrib.layers.dropout",
)


def only_noise(module: Module, node: ast.AST) -> bool:
  """Whether some code makes no variables, but may draw random numbers."""
  return all(path(module, call).startswith(_NOISE) for call in effects(module, node))


def is_report(module: Module, node: ast.stmt) -> bool:
  """Whether a statement is a call that only shows something to a person."""
  if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
    return False
  name = path(module, node.value)
  is_print = isinstance(node.value.func, ast.Name) and node.value.func.id == "print"
  return (is_print or name.startswith(_REPORTS)) and not has_effect(module, node)


def is_summary(module: Module, node: ast.AST) -> bool:
  """Whether some code makes a summary."""
  return any(
    isinstance(call, ast.Call) and path(module, call).startswith("tf.summary.")
    for call in ast.walk(node)
  )


def _is_pure(module: Module, call: ast.Call, seen: frozenset) -> bool:
  symbol = module.resolve(call.func)
  if symbol is not None and symbols.is_tensorflow(symbol):
    if symbol.path in _HARMLESS:
      return True
    return not (is_random(symbol.path) or symbol.path.startswith(_EFFECTS))
  if symbol is not None:
    return symbol.path.startswith((*_PURE_MODULES, *_REPORTS)) and "random" not in symbol.path
  helper = local_calls.called(module, call)
  if helper is not None:
    if helper in seen or helper.decorator_list:
      return False
    return next(effects(module, ast.Module(helper.body, []), seen | {helper}), None) is None
  if isinstance(call.func, ast.Name):
    _, bindings = module.scope_of[call.func].lookup(call.func.id)
    return not bindings and call.func.id in _BUILTINS
  return isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS


def _gets_pure(module: Module, call: ast.Call, seen: frozenset) -> bool:
  """Whether the functions of the file that a call gets do no more than give a value: it may call them."""
  for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
    for node in getattr(argument, "elts", [argument]):
      helper = module.definition(node) if isinstance(node, ast.Name) else None
      if isinstance(helper, ast.ClassDef):
        return False
      if isinstance(helper, ast.FunctionDef) and helper not in seen:
        body = ast.Module(helper.body, [])
        if helper.decorator_list or next(effects(module, body, seen | {helper}), None) is not None:
          return False
  return True


_STEPS = ("tf.train.get_global_step", "tf.train.get_or_create_global_step", "tf.contrib.framework.")


def reads_step(module: Module, node: ast.AST) -> bool:
  """Whether some code, or the functions of the file that it calls, asks for the global step."""
  codes = [node, *helpers(module, node)]
  return any(
    isinstance(call, ast.Call) and path(module, call).startswith(_STEPS)
    for code in codes
    for call in ast.walk(code)
  )


def helpers(module: Module, node: ast.AST) -> dict[ast.FunctionDef, Optional[ast.Call]]:
  """The functions of the file that some code calls, and those that these call."""
  found: dict[ast.FunctionDef, Optional[ast.Call]] = {}
  todo: list[ast.AST] = [node]
  while todo:
    for call in ast.walk(todo.pop()):
      helper = local_calls.called(module, call) if isinstance(call, ast.Call) else None
      if helper is not None and helper not in found:
        found[helper] = call  # type: ignore[assignment]
        todo.append(helper)
  return found
