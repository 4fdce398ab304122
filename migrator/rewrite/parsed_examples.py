"""Whether the input functions of a unit parse tf.Examples into sparse features.

`tf.io.VarLenFeature` gives a SparseTensor
(https://www.tensorflow.org/api_docs/python/tf/io/VarLenFeature), and so does a specification
made by `make_parse_example_spec` for a categorical column.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analysis import facts, units
from migrator.analysis.module import Module
from migrator.rewrite.plan import Plan

# The parameter that has the specification, by position, of each function that parses.
_PARSERS = {
  "tf.parse_example": 1,
  "tf.parse_single_example": 1,
  "tf.parse_single_sequence_example": 1,
  "tf.io.parse_example": 1,
  "tf.io.parse_single_example": 1,
  "tf.io.parse_sequence_example": 1,
  "tf.io.parse_single_sequence_example": 1,
  "tf.data.experimental.parse_example_dataset": 0,
  "tf.data.experimental.make_batched_features_dataset": 2,
  "tf.contrib.data.parse_example_dataset": 0,
  "tf.contrib.data.make_batched_features_dataset": 2,
}
_DENSE = ("tf.FixedLenFeature", "tf.FixedLenSequenceFeature")
_SPEC_PARAMETERS = {
  "tf.estimator.TrainSpec": ("input_fn", "max_steps", "hooks"),
  "tf.estimator.EvalSpec": ("input_fn", "steps", "name", "hooks"),
}


def parses_examples(plan: Plan, unit: units.Unit) -> bool:
  """Whether an input function of the unit may give sparse features parsed from tf.Examples.

  Follows the functions of the file that the input function calls or hands on. A parsing whose
  specification the file does not show counts.
  """
  module = plan.module
  for node in of_unit(module, unit):
    for inner in reached(module, node):
      if isinstance(inner, ast.Call) and _parses_sparse(module, inner):
        return True
  return False


def of_unit(module: Module, unit: units.Unit) -> list[ast.expr]:
  """The expressions that give the unit its input functions, as far as the file shows them."""
  found = []
  for call in unit.calls:
    for name in ("input_fn", "train_spec", "eval_spec"):
      if name in call.arguments:
        found += _input_fns(module, call.arguments[name].value)
  return found


def _input_fns(module: Module, node: ast.expr) -> list[ast.expr]:
  definition = module.definition(node)
  symbol = module.resolve(definition.func) if isinstance(definition, ast.Call) else None
  parameters = _SPEC_PARAMETERS.get(symbol.path) if symbol is not None else None
  if parameters is None:
    return [node]
  assert isinstance(definition, ast.Call)
  bound = facts.bind_arguments(definition, parameters[: len(definition.args)])
  return [bound["input_fn"].value] if bound and "input_fn" in bound else []


def reached(module: Module, node: ast.AST) -> Iterator[ast.AST]:
  """The nodes of an expression and of all functions and values of the file that it names."""
  seen: set[ast.AST] = set()
  pending = [node]
  while pending:
    current = pending.pop()
    if current in seen:
      continue
    seen.add(current)
    for inner in ast.walk(current):
      yield inner
      if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
        _, bindings = module.scope_of.get(inner, module.root).lookup(inner.id)
        for binding in bindings:
          if binding.kind == "def":
            pending.append(binding.node)
          elif binding.kind == "assign" and binding.value is not None:
            pending.append(binding.value)
      elif isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
        pending += _methods(module, inner)


def _methods(module: Module, attribute: ast.Attribute) -> list[ast.AST]:
  """The method that `self.name` means within its class."""
  for ancestor in module.ancestors(attribute):
    if isinstance(ancestor, ast.ClassDef):
      bindings = module.scopes[ancestor].bindings.get(attribute.attr, [])
      return [b.node for b in bindings if b.kind == "def"]
  return []


def _parses_sparse(module: Module, call: ast.Call) -> bool:
  symbol = module.resolve(call.func)
  position = _PARSERS.get(symbol.path) if symbol is not None else None
  if position is None:
    return False
  given = {k.arg: k.value for k in call.keywords}
  spec = given.get("features") or (call.args[position] if len(call.args) > position else None)
  return spec is None or not _is_dense(module, spec)


def _is_dense(module: Module, spec: ast.expr) -> bool:
  """Whether a specification is a display of dense features."""
  definition = module.definition(spec)
  if not isinstance(definition, ast.Dict) or any(key is None for key in definition.keys):
    return False
  if isinstance(spec, ast.Name) and _grows(module, spec):
    return False
  for value in definition.values:
    feature = module.definition(value)
    symbol = module.resolve(feature.func) if isinstance(feature, ast.Call) else None
    if symbol is None or symbol.path.replace("tf.io.", "tf.") not in _DENSE:
      return False
  return True


def _grows(module: Module, spec: ast.Name) -> bool:
  """Whether the dict of a variable gets more entries later."""
  for load in facts.loads(module, spec):
    parent = module.parents[load]
    if isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load):
      return True
    if isinstance(parent, ast.Attribute) and parent.attr in ("update", "setdefault"):
      return True
  return False
