"""The names that Keras 2 gave to layers without one in the graph of an Estimator, written into the program.

Keras 2 counted in each graph: `dense`, `dense_1`, in the order in which the layers were made. Keras 3 counts in the
whole process. What is known of the order is known from the text: layers that are made in a loop, under a condition or
in a function that is called twice are not named. The names are those that TensorFlow 2.15 was seen to give.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis import facts, local_calls
from migrator.analysis.constants import UNKNOWN
from migrator.analysis.model_fns import calls
from migrator.analysis.model_fns.modes import Unreadable
from migrator.analysis.module import Module

LAYERS = "tf.keras.layers."
SEQUENTIAL = ("tf.keras.Sequential", "tf.keras.models.Sequential")
# A functional model's name is in no variable of its layers.
MODELS = ("tf.keras.Model", "tf.keras.models.Model")
NAMES = {
  "BatchNormalization": "batch_normalization",
  "Conv1D": "conv1d",
  "Conv2D": "conv2d",
  "Conv2DTranspose": "conv2d_transpose",
  "Conv3D": "conv3d",
  "Dense": "dense",
  "Embedding": "embedding",
  "LayerNormalization": "layer_normalization",
  "PReLU": "p_re_lu",
  "SeparableConv2D": "separable_conv2d",
}
# They count with the layers of Keras, or begin scopes of the same names.
_OTHERS = (
  "tf.layers.",
  "tf.contrib.",
  "tf_slim.",
  "tf.nn.conv",
  "tf.nn.separable",
  "tf.nn.depthwise",
)
_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


def base_of(module: Module, node: ast.AST) -> Optional[str]:
  """The name, without a number, that Keras gives to what a call makes; None for what it does not count."""
  if not isinstance(node, ast.Call) or any(k.arg in ("name", None) for k in node.keywords):
    return None
  path = calls.path(module, node)
  if path in SEQUENTIAL:
    return "sequential"
  return NAMES.get(path[len(LAYERS) :]) if path.startswith(LAYERS) else None


def find(module: Module, function: ast.FunctionDef, codes: list[ast.AST]) -> dict[ast.Call, str]:
  """Finds the names of layers that have none.

  Args:
    module: of the file.
    function: the model_fn.
    codes: it, and the functions that it may call.

  Returns:
    Each call that makes such a layer or a Sequential model -> its name.

  Raises:
    Unreadable: they are not known.
  """
  made = [call for code in codes for call in ast.walk(code) if base_of(module, call) is not None]
  if not made:
    return {}
  counted = _Counted(module)
  counted.block(function.body, True)
  for call in made:
    assert isinstance(call, ast.Call)
    if call not in counted.names or any(isinstance(a, ast.GeneratorExp) for a in call.args):
      raise _unknown(module, call)
  bases = list(counted.bases.values())
  for call, base in counted.bases.items():
    if bases.count(base) > 1 and not called_once(module, call):
      what = f"`{module.source(call.func)}` has no name, and may be called more than once"
      raise Unreadable(call, what)
  _check_others(module, codes, counted)
  return counted.names


def _unknown(module: Module, call: ast.Call) -> Unreadable:
  what = f"`{module.source(call.func)}` has no name, and how many are made before it is not known"
  return Unreadable(call, what)


class _Counted:
  """Counts layers in the order in which they are made.

  Attributes:
    names: call -> name.
    bases: call -> name without a number.
  """

  def __init__(self, module: Module):
    self.names: dict[ast.Call, str] = {}
    self.bases: dict[ast.Call, str] = {}
    self._module = module
    self._entered: set[ast.AST] = set()

  def block(self, statements: list[ast.stmt], always: bool) -> None:
    """Counts in statements.

    Args:
      statements: in order.
      always: whether they are executed once in each run of the model_fn, as far as that comes.
    """
    for node in statements:
      if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        continue  # Counts where it is called.
      if isinstance(node, ast.With):
        for item in node.items:
          self.expression(item.context_expr, always)
        self.block(node.body, always)
      elif isinstance(node, ast.If):
        self.expression(node.test, always)
        self.block(node.body, False)
        self.block(node.orelse, False)
      elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)):
        if node.value is not None:
          self.expression(node.value, always)
      else:
        for child in ast.walk(node):
          self._not_here(child)

  def expression(self, node: ast.AST, always: bool) -> None:
    """Counts in an expression, its parts in the order in which they are evaluated."""
    if isinstance(node, (ast.IfExp, ast.BoolOp, *_LOOPS)):
      for child in ast.walk(node):
        self._not_here(child)
      return
    children = [n for n in ast.iter_child_nodes(node) if isinstance(n, (ast.expr, ast.keyword))]
    # Python evaluates what stands first, but for a dict's values in old versions.
    for child in sorted(children, key=lambda n: (n.lineno, n.col_offset)):
      self.expression(child, always)
    if not isinstance(node, ast.Call):
      return
    base = base_of(self._module, node)
    helper = local_calls.called(self._module, node)
    if base is not None and always and node not in self.names:
      number = list(self.bases.values()).count(base)
      self.bases[node], self.names[node] = base, f"{base}_{number}" if number else base
    elif base is not None or (helper is not None and not always):
      self._not_here(node)
    elif helper is not None and self._makes(helper):
      self._enter(helper, node)

  def _enter(self, helper: ast.FunctionDef, call: ast.Call) -> None:
    """Counts in a function where it is called."""
    returns = [n for n in ast.walk(helper) if isinstance(n, ast.Return)]
    if helper in self._entered or any(_is_conditional(self._module, n) for n in returns):
      raise Unreadable(call, f"`{helper.name}` makes layers without names, not once or not always")
    self._entered.add(helper)
    self.block(helper.body, True)

  def _not_here(self, node: ast.AST) -> None:
    """Refuses what makes a layer without a name where that may be done several times or never."""
    helper = local_calls.called(self._module, node) if isinstance(node, ast.Call) else None
    if base_of(self._module, node) is not None or (helper is not None and self._makes(helper)):
      assert isinstance(node, ast.Call)
      raise _unknown(self._module, node)

  def _makes(self, helper: ast.AST, seen: frozenset = frozenset()) -> bool:
    for node in ast.walk(helper):
      if base_of(self._module, node) is not None:
        return True
      inner = local_calls.called(self._module, node) if isinstance(node, ast.Call) else None
      if inner is not None and inner not in seen and self._makes(inner, seen | {inner}):
        return True
    return False


def _is_conditional(module: Module, statement: ast.stmt) -> bool:
  """Whether there is more around a statement of a function than `with`."""
  for ancestor in module.ancestors(statement):
    if isinstance(ancestor, ast.FunctionDef):
      return False
    if not isinstance(ancestor, ast.With):
      return True
  return False


def called_once(module: Module, call: ast.Call) -> bool:
  """Whether a layer or model is called once at most: a second call takes the scope of another name."""
  parent = module.parents[call]
  if isinstance(parent, ast.Call) and parent.func is call:
    return not _is_repeated(module, parent)
  if isinstance(parent, (ast.List, ast.Tuple)):
    parent = module.parents[parent]
  if isinstance(parent, ast.Call) and call is not parent.func:
    adds = isinstance(parent.func, ast.Attribute) and parent.func.attr == "add"
    return (calls.path(module, parent) in SEQUENTIAL or adds) and not _is_repeated(module, parent)
  if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
    target = parent.targets[0]
    if isinstance(target, ast.Name) and module.definition(target) is call:
      uses = [n for n in facts.loads(module, target) if _may_call(module, n)]
      return len(uses) <= 1 and not any(_is_repeated(module, use) for use in uses)
  return False


def _may_call(module: Module, name: ast.Name) -> bool:
  return not isinstance(module.parents[name], ast.Attribute)


def _is_repeated(module: Module, node: ast.AST) -> bool:
  for ancestor in module.ancestors(node):
    if isinstance(ancestor, _LOOPS):
      return True
    if isinstance(ancestor, ast.FunctionDef):
      return False
  return False


def _check_others(module: Module, codes: list[ast.AST], counted: _Counted) -> None:
  """Refuses what else counts, or takes a scope that a layer without a name would have had."""
  inside = {node for code in codes for node in ast.walk(code)}
  names = set(counted.names.values())
  for node in (n for n in ast.walk(module.tree) if isinstance(n, ast.Call)):
    if node not in inside:
      if base_of(module, node) is not None:
        what = f"`{module.source(node.func)}` has no name, and another function makes one, too"
        raise Unreadable(node, what)
      continue
    if calls.path(module, node).startswith(_OTHERS):
      what = f"`{module.source(node.func)}` counts with Keras layers that have no name"
      raise Unreadable(node, what)
    for value, is_name in _scopes(node):
      name = module.constant(value)
      taken = isinstance(name, str) and name.lower().partition("/")[0] in names
      if taken or (is_name and (name is UNKNOWN)):
        what = f"`{module.source(value)}` may be the scope of a Keras layer that has no name"
        raise Unreadable(value, what)


def _scopes(call: ast.Call) -> Iterator[tuple[ast.expr, bool]]:
  """Arguments that may name a scope, and whether they do."""
  for argument in call.args:
    yield argument, False
  for keyword in call.keywords:
    yield keyword.value, keyword.arg in ("name", "scope", "name_or_scope", "name_scope")
