"""Whether a second start of a training finds the checkpoints of the first."""

from __future__ import annotations

import ast
import re

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks import estimators, policy, reaching
from migrator.lint.checks.registry import Context

# What removes a directory, and the methods of unit tests that do so.
_REMOVERS = ("rmtree", "DeleteRecursively", "delete_recursively")
_CLEANING = ("setUp", "setUpClass", "tearDown", "tearDownClass")
_EXISTS = re.compile(r"(?i)exists|isdir|is_directory|__name__")


def finds_nothing(context: Context, maker: ast.Call, training: ast.Call) -> bool:
  """Whether a second start of a training certainly finds no checkpoint of the first."""
  return starts_anew(context, maker) or is_emptied(context, maker, training)


def starts_anew(context: Context, maker: ast.Call) -> bool:
  """Whether an estimator has no model_dir, or a temporary one: each start makes a new directory."""
  module = context.module
  found = estimators.constructor_arguments(module, maker)
  directory = found.get("model_dir")
  if not found.complete:
    return False
  if directory is not None:
    made_for_it = reaching.possible(module, directory)
    new = bool(made_for_it) and all(_is_temporary(node) for node in made_for_it)
    return new or values.literal(module, directory) is None
  config = found.get("config")
  if config is None or values.literal(module, config) is None:
    return True
  made = values.possible(module, config) or [config]
  if not all(values.is_call_of(module, v, policy.RUN_CONFIGS) for v in made):
    return False
  read = [policy.arguments(module, v) for v in made if isinstance(v, ast.Call)]
  return all(r.complete and r.get("model_dir") is None for r in read)


def is_emptied(context: Context, maker: ast.Call, training: ast.Call) -> bool:
  """Whether an estimator's model_dir is certainly removed before a training, or after a test."""
  module = context.module
  found = estimators.constructor_arguments(module, maker)
  directory = found.get("model_dir")
  if directory is None:
    config = found.get("config")
    made = values.possible(module, config) if config is not None else None
    read = [policy.arguments(module, m) for m in made or () if isinstance(m, ast.Call)]
    directory = read[0].get("model_dir") if len(read) == 1 else None
  if directory is None:
    return False
  wanted = estimators.keys(module, directory)
  around = {training, *module.ancestors(training)}
  for node in module.scope_of:
    if not isinstance(node, ast.Call) or _last_name(node.func) not in _REMOVERS:
      continue
    first = next(iter([*node.args, *(k.value for k in node.keywords)]), None)
    if first is None or not estimators.keys(module, first) & wanted:
      continue
    function = estimators.enclosing_function(module, node)
    if isinstance(function, ast.FunctionDef) and function.name in _CLEANING:
      return True
    runs = function is None or function in around
    if runs and node.lineno < training.lineno and not _is_conditional(module, node):
      return True
  return False


def _is_temporary(node: ast.AST) -> bool:
  return isinstance(node, ast.Call) and _last_name(node.func) == "mkdtemp"


def _last_name(function: ast.expr) -> str:
  if isinstance(function, ast.Attribute):
    return function.attr
  return function.id if isinstance(function, ast.Name) else ""


def _is_conditional(module: Module, node: ast.AST) -> bool:
  """Whether a statement stands under another condition than that there is something to remove."""
  return any(
    isinstance(a, ast.If) and not _EXISTS.search(ast.unparse(a.test))
    for a in module.ancestors(node)
  )
