"""Estimators that are certainly not trained: a program that predicts, evaluates or exports."""

from __future__ import annotations

import ast
import re
from typing import Optional

from migrator.analysis import facts
from migrator.analysis.module import Module
from migrator.lint.checks import estimators, reaching

_READING = (
  "evaluate",
  "experimental_export_all_saved_models",
  "export_all_saved_models",
  "export_saved_model",
  "export_savedmodel",
  "predict",
)
_HARMLESS = (
  "eval_dir",
  "get_variable_names",
  "get_variable_value",
  "latest_checkpoint",
  "model_dir",
)
_METHODS = "|".join((*_READING, *_HARMLESS))


def only_reads(module: Module, maker: ast.Call) -> bool:
  """Whether the estimator of a call is read by this file, not trained, and handed on to nothing."""
  places = _places(module, maker, rf"\s*\.\s*({_METHODS})\b")
  found = [_reads(module, place) for place in places or ()]
  return None not in found and True in found


def configures_readers(module: Module, config: ast.Call) -> bool:
  """Whether the RunConfig of a call is that of such estimators, and of nothing else."""
  places = _places(module, config, r"\s*\.(?!\s*replace\b)")
  found = [_configures(module, place) for place in places or ()]
  return None not in found and True in found


def _reads(module: Module, place: ast.AST) -> Optional[bool]:
  """Whether an estimator is read at a place; False for neither, None for anything else."""
  parent = module.parents.get(place)
  if not isinstance(parent, ast.Attribute):
    return None
  call = module.parents.get(parent)
  called = isinstance(call, ast.Call) and call.func is parent
  if parent.attr in _READING:
    return True if called else None
  return False if parent.attr in _HARMLESS else None


def _configures(module: Module, place: ast.AST) -> Optional[bool]:
  """Whether a RunConfig is given to an estimator that only reads; False and None as above."""
  parent = module.parents.get(place)
  call = module.parents.get(parent) if isinstance(parent, ast.keyword) else parent
  if isinstance(parent, ast.Attribute):
    above = module.parents.get(parent)
    return None if isinstance(above, ast.Call) and above.func is parent else False
  if not isinstance(call, ast.Call) or not estimators.is_estimator(module.resolve(call.func)):
    return None
  given = estimators.constructor_arguments(module, call).get("config")
  return True if given is place and only_reads(module, call) else None


def _places(module: Module, made: ast.Call, behind: str) -> Optional[list[ast.AST]]:
  """Where the result of a call is used: at the call, or where the variable that holds it is read.

  Args:
    module: the module.
    made: the call.
    behind: regular expression of what may follow the name of a variable of the module.

  Returns:
    The nodes; None where it is held by something else, for example an attribute.
  """
  parent = module.parents.get(made)
  if not isinstance(parent, (ast.Assign, ast.AnnAssign)):
    return [made]
  targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
  name = targets[0]
  if len(targets) > 1 or not isinstance(name, ast.Name):
    return None
  owner, _ = module.scope_of[name].lookup(name.id)
  if owner is None or isinstance(owner.node, ast.ClassDef):
    return None
  if owner is module.root and not _is_known_everywhere(module, name.id, behind):
    return None
  loads = facts.loads(module, name)
  return [n for n in loads if any(b.value is made for b in reaching.reaching(module, n))]


def _is_known_everywhere(module: Module, name: str, behind: str) -> bool:
  """Whether a variable of the module is used in no other way, also in functions not parsed."""
  text = re.sub(r"#.*", "", module.text)
  for use in re.finditer(rf"(\bconfig\s*=\s*)?(?<![\w.]){name}\b(\s*=(?!=)|{behind})?", text):
    if use[1] is None and use[2] is None:
      return False
  return True
