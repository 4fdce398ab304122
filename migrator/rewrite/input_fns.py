"""Input functions: what the rewritten program calls for the Dataset.

An Estimator fills the parameters `mode` and `params` of an input function by itself
(https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/estimator/Estimator#train); the
`params` of a canned one are empty.
"""

from __future__ import annotations

import ast
from typing import NamedTuple, Optional

from migrator.analysis import facts, local_calls
from migrator.analysis.module import Module
from migrator.rewrite import datasets, emit, input_results, queue_inputs
from migrator.rewrite.parsed_examples import of_unit, parses_examples
from migrator.rewrite.plan import Plan, Unsupported

__all__ = ["dataset", "feature_keys", "of_unit", "parses_examples"]

# Parameters that the Estimator fills by itself.
_FILLED = frozenset(("mode", "params", "config", "input_context"))
_MODES = {"train": "train", "evaluate": "eval", "predict": "infer"}
_SPECS = {"tf.estimator.TrainSpec": "train", "tf.estimator.EvalSpec": "eval"}


class _Signature(NamedTuple):
  """The parameters of an input function that are not bound yet.

  `listed`: whether these are all; `seen`: whether the file shows that the function gives a Dataset.
  """

  required: tuple[str, ...]
  optional: tuple[str, ...]
  listed: bool = True
  seen: bool = True


def dataset(plan: Plan, tf: str, node: ast.expr) -> str:
  """An expression for the Dataset that an `input_fn=` argument yields.

  Raises:
    Unsupported: EM205, a function whose result is not known to be a Dataset; EM280, one whose
      tensors no Dataset gives.
  """
  return emit.joined(_dataset(plan, tf, node))


def _dataset(plan: Plan, tf: str, node: ast.expr) -> str:
  module = plan.module
  if isinstance(node, ast.Call) and queue_inputs.kind_of(module, node):
    return queue_inputs.inline(plan, tf, node)
  signature = _signature(plan, tf, node, node)
  filled = _filled(plan, node, signature)
  if not signature.seen:
    return _checked(plan, node, signature)
  if isinstance(node, ast.Lambda):
    arguments = node.args
    takes = arguments.posonlyargs or arguments.args or arguments.kwonlyargs
    if not (takes or arguments.vararg or arguments.kwarg):
      return plan.atom(node.body)
    return f"({plan.source(node)})({', '.join(filled)})"
  if isinstance(node, ast.Call) and _is_partial(module, node):
    return _call_of_partial(plan, node, filled)
  return f"{plan.source(node)}({', '.join(filled)})"


def feature_keys(plan: Plan, node: ast.expr) -> Optional[frozenset[str]]:
  """The features that an `input_fn=` argument yields, where the file shows them all."""
  call = plan.module.definition(node)
  if not isinstance(call, ast.Call) or not queue_inputs.kind_of(plan.module, call):
    return None
  bound = facts.bind_arguments(call, (*facts.NUMPY_INPUT_FN_PARAMETERS, "target_column"))
  features = plan.module.definition(bound["x"].value) if bound and "x" in bound else None
  if not isinstance(features, ast.Dict):
    return None
  keys = [plan.module.constant(key) for key in features.keys]
  return frozenset(keys) if all(isinstance(key, str) for key in keys) else None


# -- what is called ---------------------------------------------------------------


def _signature(plan: Plan, tf: str, node: ast.expr, place: ast.AST, depth: int = 0) -> _Signature:
  """What an input function still takes; plans the edits that make it return a Dataset."""
  module = plan.module
  definition = module.definition(node)
  if isinstance(definition, ast.FunctionDef):
    seen = input_results.returns_dataset(plan, tf, definition, place)
    return _parameters(definition.args, place, f"{definition.name}()")._replace(seen=seen)
  if isinstance(definition, ast.Lambda):
    seen = _check_body(plan, tf, definition, place)
    return _parameters(definition.args, place, "a lambda")._replace(seen=seen)
  if isinstance(definition, ast.Call) and depth < 5:
    if queue_inputs.kind_of(module, definition):
      _make(plan, tf, definition)
      return _Signature((), ())
    if _is_partial(module, definition):
      return _partial(plan, tf, definition, place, depth)
    factory = local_calls.called(module, definition)
    values = local_calls.returns(module, factory) if factory is not None else []
    if factory is not None and values and not factory.decorator_list:
      found = {_signature(plan, tf, value, place, depth + 1) for value in values}
      if len(found) > 1:
        what = f"{factory.name}() gives functions with different parameters"
        raise Unsupported("EM205", place, what=what)
      if all(signature.seen for signature in found):
        _other_results(plan, factory)
      return found.pop()
  functions = datasets.same_functions(module, node)
  if functions:
    found = {_parameters(f.args, place, f"{f.name}()") for f in functions}
    if len(found) == 1:
      return found.pop()
  if datasets.is_imported(module, node):
    return _Signature((), (), listed=False, seen=False)
  raise Unsupported("EM205", place, what=f"`{module.source(place)}`")


def _parameters(arguments: ast.arguments, place: ast.AST, who: str) -> _Signature:
  positional = arguments.posonlyargs + arguments.args
  first_default = len(positional) - len(arguments.defaults)
  required = [a.arg for a in positional[:first_default]]
  optional = [a.arg for a in positional[first_default:]]
  for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
    (required if default is None else optional).append(argument.arg)
  if arguments.vararg or arguments.kwarg:
    raise Unsupported("EM205", place, what=f"{who} takes any arguments")
  return _Signature(tuple(required), tuple(optional))


def _check_body(plan: Plan, tf: str, node: ast.Lambda, place: ast.AST) -> bool:
  """Whether the file shows that a lambda gives a Dataset; plans the edits of the function that it calls."""
  if datasets.is_dataset(plan.module, node.body):
    return True
  called = local_calls.called(plan.module, node.body) if isinstance(node.body, ast.Call) else None
  if called is not None:
    return input_results.returns_dataset(plan, tf, called, place)
  if datasets.is_imported(plan.module, node.body):
    return False
  raise Unsupported("EM205", place, what="a lambda that may not return a Dataset")


def _make(plan: Plan, tf: str, call: ast.Call) -> None:
  """Makes a function of a `numpy_input_fn(...)` that is assigned or returned."""
  statement = plan.module.parents[call]
  if isinstance(statement, ast.Return):
    if call not in plan.expressions:
      plan.expressions[call] = queue_inputs.inline(plan, tf, call)[:-2]
    return
  queue_inputs.define(plan, tf, call)


def _is_partial(module: Module, call: ast.Call) -> bool:
  symbol = module.resolve(call.func)
  return symbol is not None and symbol.path == "functools.partial" and bool(call.args)


def _partial(plan: Plan, tf: str, node: ast.Call, place: ast.AST, depth: int) -> _Signature:
  inner = _signature(plan, tf, node.args[0], place, depth + 1)
  if any(isinstance(a, ast.Starred) for a in node.args):
    raise Unsupported("EM205", place, what=f"`{plan.module.source(node)}`")
  names = [*inner.required, *inner.optional][len(node.args) - 1 :]
  bound = {k.arg for k in node.keywords}
  if None in bound:
    if _FILLED.intersection(names):
      raise Unsupported("EM205", place, what=f"`{plan.module.source(node)}`")
    return _Signature((), (), inner.listed, inner.seen)
  open_names = [n for n in names if n not in bound]
  return _Signature(
    tuple(n for n in inner.required if n in open_names),
    tuple(n for n in inner.optional if n in open_names),
    inner.listed,
    inner.seen,
  )


def _call_of_partial(plan: Plan, node: ast.Call, filled: list[str]) -> str:
  arguments = [plan.source(a) for a in node.args[1:]]
  for keyword in node.keywords:
    prefix = f"{keyword.arg}=" if keyword.arg else "**"
    arguments.append(prefix + plan.source(keyword.value))
  return f"{plan.source(node.args[0])}({', '.join([*arguments, *filled])})"


def _checked(plan: Plan, node: ast.expr, signature: _Signature) -> str:
  """A call that asks the running program whether an input function gives a Dataset."""
  text = plan.source(node)
  plan.report("EM283", node, function=text)
  arguments = [text]
  if "mode" in (*signature.required, *signature.optional) or not signature.listed:
    mode = _mode(plan.module, node)
    if mode is None:
      raise Unsupported("EM205", node, what=f"`{text}` may take `mode`")
    arguments.append(f'mode="{mode}"')
  takes_params = "params" in (*signature.required, *signature.optional) or not signature.listed
  if takes_params and plan.filled_params != "{}":
    arguments.append(f"params={plan.filled_params}")
  return f"{plan.runtime()}.input_dataset({', '.join(arguments)})"


def _other_results(plan: Plan, factory: ast.FunctionDef) -> None:
  """`make_input_fn(...)()` that wants the tensors gets the first element of the Dataset."""
  module = plan.module
  if isinstance(module.parents[factory], ast.ClassDef):
    return
  for read in local_calls.reads_of(module, factory):
    made = module.parents[read]
    call = module.parents[made]
    if isinstance(call, ast.Call) and call.func is made and call not in plan.expressions:
      values = local_calls.returns(module, factory)
      if all(input_results.stays_dataset(plan, value) for value in values):
        continue
      plan.expressions[call] = f"next(iter({plan.source(call)}))"
      plan.report("EM281", call, function=module.source(made))


# -- what the Estimator filled -----------------------------------------------------


def _filled(plan: Plan, node: ast.expr, signature: _Signature) -> list[str]:
  """The arguments that the Estimator gave."""
  filled = []
  who = f"`{plan.module.source(node)}`"
  for name in (*signature.required, *signature.optional):
    if name == "mode":
      mode = _mode(plan.module, node)
      if mode is None:
        raise Unsupported("EM205", node, what=f"{who} takes `mode`")
      filled.append(f'mode="{mode}"')
    elif name == "params":
      filled.append(f"params={plan.filled_params}")
    elif name in _FILLED:
      raise Unsupported("EM205", node, what=f"{who} takes `{name}`")
    elif name in signature.required:
      raise Unsupported("EM205", node, what=f"{who} needs arguments")
  return filled


def _mode(module: Module, node: ast.expr) -> Optional[str]:
  """The ModeKeys value of the call that gets an input function."""
  for ancestor in module.ancestors(node):
    if isinstance(ancestor, ast.Call):
      symbol = module.resolve(ancestor.func)
      if symbol is not None and symbol.path in _SPECS:
        return _SPECS[symbol.path]
      if isinstance(ancestor.func, ast.Attribute):
        return _MODES.get(ancestor.func.attr)
  return None
