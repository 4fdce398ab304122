"""The type hints of what an estimator flows through within one file."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analysis import flows, local_calls
from migrator.analysis.module import Module


def of(module: Module, flow: flows.Flow) -> list[ast.expr]:
  """The annotations of the functions, parameters, variables and attributes of a flow."""
  found = [f.returns for f in flow.functions if isinstance(f, ast.FunctionDef)]
  for scope, name in flow.variables:
    if isinstance(scope.node, ast.FunctionDef):
      arguments = scope.node.args
      named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
      found += [a.annotation for a in named if a.arg == name]
  found += _of_statements(module, flow)
  return [annotation for annotation in found if annotation is not None]


def _of_statements(module: Module, flow: flows.Flow) -> Iterator[ast.expr]:
  """Those of `name: hint = value` and of `name: hint`, which binds nothing."""
  for node in list(module.nodes()):
    if not isinstance(node, ast.AnnAssign):
      continue
    target, scope = node.target, module.scope_of[node.target]
    if isinstance(target, ast.Name):
      attribute = [f for f, name in flow.attributes if name == target.id and scope.node in f]
      if (scope, target.id) in flow.variables or attribute:
        yield node.annotation
    elif isinstance(target, ast.Attribute):
      family = local_calls.own_classes(module, target)
      if family is not None and (family, target.attr) in flow.attributes:
        yield node.annotation
