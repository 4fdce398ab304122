"""The loss of a model_fn as a stock Keras loss."""

from __future__ import annotations

import ast

from migrator.analysis import facts
from migrator.analysis.model_fns import calls
from migrator.analysis.model_fns.flow import Flow, Value
from migrator.analysis.model_fns.modes import Unreadable
from migrator.analysis.model_fns.pieces import LOSSES, Split
from migrator.rewrite.plan import Plan

_SPARSE, _SOFTMAX, _SIGMOID, _SQUARED = "sparse", "softmax", "sigmoid", "squared"
# Functions that give the mean over a batch: which loss, and their parameters.
_MEANS = {
  "tf.losses.sparse_softmax_cross_entropy": (_SPARSE, ("labels", "logits")),
  "tf.losses.softmax_cross_entropy": (_SOFTMAX, ("onehot_labels", "logits")),
  "tf.losses.sigmoid_cross_entropy": (_SIGMOID, ("multi_class_labels", "logits")),
  "tf.losses.mean_squared_error": (_SQUARED, ("labels", "predictions")),
}
# Those that give the loss of each example, or of each value.
_EACH = {
  "tf.nn.sparse_softmax_cross_entropy_with_logits": (_SPARSE, ("_sentinel", "labels", "logits")),
  "tf.nn.softmax_cross_entropy_with_logits": (_SOFTMAX, ("_sentinel", "labels", "logits")),
  "tf.nn.softmax_cross_entropy_with_logits_v2": (_SOFTMAX, ("labels", "logits")),
  "tf.nn.sigmoid_cross_entropy_with_logits": (_SIGMOID, ("_sentinel", "labels", "logits")),
}
_WHOLE, _INTEGERS = ("tf.to_int32", "tf.to_int64"), ("tf.int32", "tf.int64")
_KERAS = {
  _SPARSE: "SparseCategoricalCrossentropy(from_logits=True)",
  _SOFTMAX: "CategoricalCrossentropy(from_logits=True)",
  _SIGMOID: "BinaryCrossentropy(from_logits=True)",
  _SQUARED: "MeanSquaredError()",
}


class KerasLoss:
  """Reads the loss.

  Args:
    plan: of the file.
    split: the pieces of the model_fn.

  Attributes:
    regularized: whether the loss has the regularization losses in it.
  """

  def __init__(self, plan: Plan, split: Split):
    self._plan = plan
    self._split = split
    self._flow: Flow = split.loss.flow
    self.regularized = False
    self._casts: tuple[str, ...] = ()

  def read(self, tf: str) -> str:
    """The expression of the Keras loss.

    Args:
      tf: the name under which the output knows TF2.

    Raises:
      Unreadable: it is none that Keras has.
    """
    assert self._split.loss.result is not None
    return f"{tf}.keras.losses.{_KERAS[self._loss(self._split.loss.result)]}"

  def _refusal(self, node: ast.AST) -> Unreadable:
    what = self._plan.module.source(node).partition("\n")[0]
    return Unreadable(node, f"its loss `{what}` is no stock loss of Keras")

  def _loss(self, value: Value) -> str:
    """Which loss a value is."""
    value = self._flow.resolve(value)
    node = value.node
    if isinstance(node, ast.Name):
      index = self._flow.reaching(value).get(node.id, -1)
      statement = self._flow.leaves[index].node if index >= 0 else None
      if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        return self._sum(Value(statement.target, index), Value(statement.value, index))
      raise self._refusal(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
      return self._sum(Value(node.left, value.index), Value(node.right, value.index))
    if not isinstance(node, ast.Call):
      raise self._refusal(node)
    path = calls.path(self._plan.module, node)
    if path == "tf.identity" and node.args:
      return self._loss(Value(node.args[0], value.index))
    if path in _MEANS:
      return self._cross_entropy(node, value.index, *_MEANS[path])
    keywords = {k.arg for k in node.keywords} - {"name"}
    if path == "tf.reduce_mean" and len(node.args) == 1 and not keywords:
      inner = self._flow.resolve(Value(node.args[0], value.index))
      each = calls.path(self._plan.module, inner.node) if isinstance(inner.node, ast.Call) else ""
      if each in _EACH and isinstance(inner.node, ast.Call):
        return self._cross_entropy(inner.node, inner.index, *_EACH[each])
    raise self._refusal(node)

  def _sum(self, *terms: Value) -> str:
    """The loss to which the regularization losses are added."""
    others = [term for term in terms if not self._is_regularization(term)]
    if len(others) != 1 or self.regularized:
      raise self._refusal(terms[0].node)
    self.regularized = True
    return self._loss(others[0])

  def _is_regularization(self, value: Value) -> bool:
    value = self._flow.resolve(value)
    node = value.node
    if isinstance(node, ast.Call) and calls.path(self._plan.module, node) == "tf.add_n":
      inner = self._flow.resolve(Value(node.args[0], value.index)) if node.args else value
      return self._flow.replaced.get(inner.node) == LOSSES
    # The sum: a list of losses cannot be added.
    return self._flow.replaced.get(node) == LOSSES

  def _cross_entropy(self, node: ast.Call, index: int, kind: str, parameters) -> str:
    """Checks the arguments of the loss; returns which one it is."""
    bound = facts.bind_arguments(node, parameters) or {}
    given = {name: a for name, a in bound.items() if name not in ("name", "scope")}
    labels, logits = parameters[-2:]
    if set(given) != {labels, logits}:
      raise self._refusal(node)
    if not self._is_output(Value(given[logits].value, index)):
      raise self._refusal(node)
    value = Value(given[labels].value, index)
    whole = kind in (_SPARSE, _SOFTMAX)
    self._casts = _WHOLE if whole else ("tf.to_float",)
    if kind == _SOFTMAX and self._is_labels(value, ("tf.one_hot",), True):
      return _SPARSE
    changes = {_SPARSE: (), _SOFTMAX: ()}.get(kind, ("tf.reshape", "tf.expand_dims"))
    if not self._is_labels(value, changes, False):
      raise self._refusal(node)
    return kind

  def _is_output(self, value: Value) -> bool:
    """Whether a value is the output of the network."""
    outputs = self._split.outputs
    while not (isinstance(value.node, ast.Name) and value.node.id in outputs):
      inner = value.node
      index = self._flow.reaching(value).get(getattr(inner, "id", ""), -1)
      if not isinstance(inner, ast.Name) or index < 0:
        return False
      statement = self._flow.leaves[index].node
      if not isinstance(statement, ast.Assign):
        return False
      value = Value(statement.value, index)
    return True

  def _casts_alike(self, node: ast.Call) -> bool:
    """Whether a cast of the labels is one that the loss makes by itself."""
    bound = facts.bind_arguments(node, ("x", "dtype", "name")) or {}
    symbol = self._plan.module.resolve(bound["dtype"].value) if "dtype" in bound else None
    types = _INTEGERS if self._casts is _WHOLE else ("tf.float32",)
    return symbol is not None and symbol.path in types

  def _is_labels(self, value: Value, changes: tuple[str, ...], changed: bool) -> bool:
    """Whether a value is the labels, in the one or other shape or type.

    Args:
      value: the value.
      changes: functions that Keras does by itself, or that the loss stands for.
      changed: whether one of them must be there.
    """
    value = self._flow.resolve(value)
    node = value.node
    if isinstance(node, ast.Name):
      return self._split.function.is_parameter(node, "labels") and not changed
    if not isinstance(node, ast.Call) or not node.args:
      return False
    path = calls.path(self._plan.module, node)
    inner = Value(node.args[0], value.index)
    if path in self._casts or (path == "tf.cast" and self._casts_alike(node)):
      return self._is_labels(inner, changes, changed)
    if path == "tf.one_hot":
      plain = len(node.args) + len(node.keywords) == 2
      return path in changes and plain and self._is_labels(inner, (), False)
    if path in ("tf.reshape", "tf.expand_dims") and path in changes:
      argument = [*node.args[1:], *(k.value for k in node.keywords)]
      shape = [getattr(a, "elts", [a]) for a in argument]
      known = [[self._plan.module.constant(e) for e in s] for s in shape]
      wanted = ([[-1, 1]],) if path == "tf.reshape" else ([[-1]], [[1]])
      return known in wanted and self._is_labels(inner, (), False)
    return False
