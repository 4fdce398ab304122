"""Where what Keras 3 raises does no harm: code for Keras 2, and tests that expect it."""

from __future__ import annotations

import ast

from migrator.analysis import conditions
from migrator.analysis.module import Module
from migrator.lint.checks import fits

_KERAS_3_SINCE = (2, 16)


def is_silent_in_keras_3(module: Module, node: ast.AST) -> bool:
  """Whether what Keras 3 raises does no harm: Keras 2 runs the code, or a test expects it."""
  return is_for_keras_2(module, node) or is_expected_to_raise(module, node)


def is_for_keras_2(module: Module, node: ast.AST) -> bool:
  """Whether code runs with Keras 2 only: by the environment variable, or under a version test."""
  variable = "TF_USE_LEGACY_KERAS"
  if variable in module.text and any(c.value == variable for c in fits.nodes(module, ast.Constant)):
    return True
  if "version" not in module.text.lower():
    return False
  child = node
  for ancestor in module.ancestors(node):
    if isinstance(ancestor, (ast.If, ast.IfExp)) and child is not ancestor.test:
      body = ancestor.body if isinstance(ancestor.body, list) else [ancestor.body]
      if _asks_for_keras_2(module, ancestor.test, child in body):
        return True
    child = ancestor
  return False


def is_expected_to_raise(module: Module, node: ast.AST) -> bool:
  """Whether code stands in `with self.assertRaises(...)` or `with pytest.raises(...)`."""
  for ancestor in module.ancestors(node):
    if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)):
      return False
    for item in ancestor.items if isinstance(ancestor, (ast.With, ast.AsyncWith)) else ():
      function = item.context_expr.func if isinstance(item.context_expr, ast.Call) else None
      if isinstance(function, ast.Attribute) and (
        function.attr == "raises" or function.attr.startswith("assertRaises")
      ):
        return True
  return False


def _asks_for_keras_2(module: Module, test: ast.expr, truth: bool) -> bool:
  text = ast.unparse(test)
  if "keras" in text.lower() and "version" in text.lower():
    return True
  return any(
    known.never or (known.below and known.below <= _KERAS_3_SINCE)
    for known in conditions.implied(module, test, truth)
  )
