"""Keras callbacks that take the index of a batch for the global step."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import UNKNOWN, Module
from migrator.lint import values
from migrator.lint.checks import fits, keras_models, writers
from migrator.lint.checks.registry import Context, Report, check

_METHODS = ("on_train_batch_end", "on_batch_end", "on_train_batch_begin", "on_batch_begin")
_SAVING = frozenset(("save", "save_weights", "write"))


@check("EM523", words=("on_train_batch_", "on_batch_"), also=("Callback",))
def saves_by_batch(context: Context) -> Iterator[Report]:
  """Checkpoints that are saved when `batch % n` says so."""
  module = context.module
  for owner in fits.nodes(module, ast.ClassDef):
    methods = [f for f in owner.body if isinstance(f, ast.FunctionDef) and f.name in _METHODS]
    if methods and keras_models.is_callback_class(module, owner):
      for method in methods:
        yield from _in_method(context, method)


def _in_method(context: Context, method: ast.FunctionDef) -> Iterator[Report]:
  module = context.module
  parameters = [*method.args.posonlyargs, *method.args.args]
  if len(parameters) < 2:
    return
  name = parameters[1].arg
  if any(isinstance(n, ast.Name) and n.id == name and _is_stored(n) for n in ast.walk(method)):
    return
  for condition in ast.walk(method):
    if not isinstance(condition, ast.If):
      continue
    modulo = _modulo(condition.test, name)
    if modulo is None or not any(_saves(module, s) for s in condition.body):
      continue
    number = values.literal(module, modulo.right)
    shown = values.text(module, modulo.right) if number is UNKNOWN else str(number)
    yield context.report("EM523", modulo, batch=name, value=shown)


def _is_stored(name: ast.Name) -> bool:
  return not isinstance(name.ctx, ast.Load)


def _modulo(test: ast.expr, name: str) -> Optional[ast.BinOp]:
  """The `batch % n` or `(batch + 1) % n` of a test, unless another number counts as well."""
  for node in ast.walk(test):
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
      names = {n.id for n in ast.walk(node.left) if isinstance(n, ast.Name)}
      attributes = any(isinstance(n, (ast.Attribute, ast.Call)) for n in ast.walk(node.left))
      if names == {name} and not attributes:
        return node
  return None


def _saves(module: Module, statement: ast.stmt) -> bool:
  """Whether a statement saves a model, a checkpoint or by a manager."""
  for call in ast.walk(statement):
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
      continue
    if call.func.attr not in _SAVING:
      continue
    owner = call.func.value
    if keras_models.is_model(module, owner):
      return True
    if values.always_call_of(module, owner, (writers.MANAGER, writers.CHECKPOINT)):
      return True
    text = ast.unparse(owner).lower()
    if call.func.attr == "save" and text.endswith(("manager", "ckpt", "checkpoint")):
      return True
  return False
