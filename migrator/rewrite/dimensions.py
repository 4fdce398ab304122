"""`x.shape[0].value` -> `tf.compat.dimension_value(x.shape[0])`: TF2's shapes hold numbers.

https://www.tensorflow.org/guide/migrate/migrate_tf2 (`tf.compat.v1.Dimension`)
"""

from __future__ import annotations

import ast
from typing import Callable, Optional

from migrator.analysis import symbols
from migrator.analysis.module import Module
from migrator.rewrite.plan import Plan, Unsupported

_KEEP_DIMENSIONS = ("disable_v2_behavior", "disable_v2_tensorshape")


def plan_values(plan: Plan, tf_text: Callable[[ast.AST, str], str]) -> list[Unsupported]:
  """Plans the reads of `.value` of dimensions.

  Args:
    plan: gets the edits; reads that may be ones are reported to it.
    tf_text: gives the text that means a name of TensorFlow at a node.

  Returns:
    The obstacles: none.
  """
  module = plan.module
  if ".value" not in module.text or any(name in module.text for name in _KEEP_DIMENSIONS):
    return []
  for node in list(module.nodes()):
    if not isinstance(node, ast.Attribute) or node.attr != "value":
      continue
    parent = module.parents[node]
    if not isinstance(node.ctx, ast.Load) or (isinstance(parent, ast.Call) and parent.func is node):
      continue
    verdict = _is_dimension(module, node.value)
    if verdict:
      function = tf_text(module.tree, "tf.compat.dimension_value")
      plan.expressions[node] = f"{function}({plan.source(node.value)})"
    elif verdict is None:
      plan.report("EM910", node, name=module.source(node))
  return []


def _is_dimension(module: Module, node: ast.AST, depth: int = 0) -> Optional[bool]:
  """Whether an expression is one dimension of a shape; None where it may be."""
  if depth > 5:
    return None
  if isinstance(node, ast.Subscript):
    if isinstance(node.slice, ast.Slice):
      return False
    return _is_shape(module, node.value, depth)
  if isinstance(node, ast.Name):
    loop = _loop_over(module, node)
    if loop is not None:
      return _is_shape(module, loop, depth)
    value = module.definition(node)
    if value is None or value is node or not isinstance(value, ast.expr):
      return False
    return _is_dimension(module, value, depth + 1)
  return False


def _is_shape(module: Module, node: ast.AST, depth: int) -> Optional[bool]:
  """Whether an expression is a TensorShape; None for what only has the name of one."""
  if isinstance(node, ast.Attribute) and node.attr == "shape":
    return not symbols.is_tensorflow(module.resolve(node))
  if isinstance(node, ast.Call):
    function = node.func
    if isinstance(function, ast.Attribute):
      if function.attr in ("get_shape", "with_rank", "with_rank_at_least", "merge_with"):
        return True
      symbol = module.resolve(function)
      return symbol is not None and symbol.path == "tf.TensorShape"
    return False
  if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
    return _is_shape(module, node.value, depth)
  if isinstance(node, ast.Name):
    value = module.definition(node)
    if value is None or value is node or not isinstance(value, ast.expr):
      return None if "shape" in node.id else False
    return _is_shape(module, value, depth + 1) if depth < 5 else None
  return False


def _loop_over(module: Module, name: ast.Name) -> Optional[ast.expr]:
  """What a `for` or a comprehension goes over whose variable the name is."""
  _, bindings = module.scope_of.get(name, module.root).lookup(name.id)
  if len(bindings) != 1 or bindings[0].kind != "loop":
    return None
  for ancestor in module.ancestors(name):
    generators = getattr(ancestor, "generators", [])
    for loop in [*generators, ancestor]:
      target = getattr(loop, "target", None)
      if isinstance(target, ast.Name) and target.id == name.id and hasattr(loop, "iter"):
        return loop.iter
  return None
