"""The network of a model_fn as the statements of a function that makes a functional Keras model."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Optional

from migrator.analysis import facts
from migrator.analysis.model_fns import calls
from migrator.analysis.model_fns.modes import Leaf, Unreadable
from migrator.analysis.model_fns.pieces import TRAINING, Split
from migrator.analysis.module import Module
from migrator.rewrite import emit
from migrator.rewrite.model_fns import keras_layers, text
from migrator.rewrite.model_fns.keras_layers import Arguments
from migrator.rewrite.plan import Plan

_FEATURE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_RESHAPE, _CONCAT = ("tensor", "shape", "name"), ("values", "axis", "name")


class KerasNetwork:
  """Writes the network; the calls of layers are planned as expressions.

  Args:
    plan: of the file.
    tf: the name under which the output knows TF2.
    split: the pieces of the model_fn.
    style: of the new function's body.

  Attributes:
    scope: the variable scope of all layers, "" for none.
    regularized: whether a layer adds to the loss.
    dropouts: the calls of dropouts.
    inputs, names: the variables of the inputs and of what gives the layers names, "" if nothing does.
    keys: the features that are read; () where these are one tensor.
    columns: the expression of the numeric columns that are read besides, "" for none.
  """

  def __init__(self, plan: Plan, tf: str, split: Split, style: emit.Style):
    self._plan = plan
    self._tf = tf
    self._function = split.function
    self._leaves = text.read_leaves(split.forward)
    self._style = style
    self.scope = ""
    self.regularized = False
    self.dropouts: list[ast.Call] = []
    self.inputs = self.local("inputs", "model_inputs")
    # The kinds of layers whose names are counted when the function runs.
    self._counted = {base for leaf in self._leaves for base in self._in_loops(leaf.node)}
    self.names = self.local("names", "layer_names") if self._counted else ""
    self.keys: list[str] = []
    self.columns = ""
    self._whole = False  # whether the features are one tensor
    # The tensors: variable -> the rank of its value, None where that is not known.
    self._ranks: dict[str, Optional[int]] = {}
    self._used: set[str] = set()
    self._scopes: set[tuple[ast.With, ...]] = set()
    self._around: tuple[ast.With, ...] = ()

  def _in_loops(self, node: ast.stmt) -> Iterator[str]:
    """What TF1 called the layers that a loop makes, as far as the program gives them no names."""
    for call in ast.walk(node) if isinstance(node, ast.For) else ():
      path = calls.path(self._plan.module, call) if isinstance(call, ast.Call) else ""
      layer = keras_layers.LAYERS.get(path.rpartition(".")[2])
      if layer is not None and layer.base and path.startswith("tf.layers."):
        yield layer.base

  def local(self, *candidates: str) -> str:
    """A variable of the new function: the first that no statement of the model_fn binds."""
    taken = self._function.scope.bindings
    return next(name for name in (*candidates, f"{candidates[-1]}_2") if name not in taken)

  def write(self, output: str) -> list[str]:
    """Returns the statements up to the output.

    Args:
      output: the variable in which the network ends.

    Raises:
      Unreadable: something in it is no Keras layer.
    """
    for leaf in self._leaves:
      self._around = leaf.withs
      self._statement(leaf.node)
    if output not in self._ranks:
      raise Unreadable(self._function.node, f"`{output}` is no output of a layer")
    if self._whole and (self.keys or self.columns):
      raise Unreadable(self._function.node, "its features are read as a dict and as a tensor")
    if self._used & set(self.keys):
      what = f"`{min(self._used & set(self.keys))}` is the name of a layer and of a feature"
      raise Unreadable(self._function.node, what)
    self._set_scope()
    plain = [Leaf(leaf.node) for leaf in self._leaves]
    return text.statements(self._plan, plain, self._style)

  def _set_scope(self) -> None:
    """All layers with weights are in one scope, or in none, which is not a part of their names."""
    if len(self._scopes) > 1:
      reason = "its layers are in several variable scopes"
      raise Unreadable(self._function.node, reason)
    for around in next(iter(self._scopes), ()):
      for item in around.items:
        assert isinstance(item.context_expr, ast.Call)
        value = self._plan.module.constant(item.context_expr.args[0])
        self.scope += f"/{value}" if self.scope else str(value)

  # -- statements -------------------------------------------------------------------

  def _refusal(self, node: ast.AST) -> Unreadable:
    return Arguments.refusal(self._plan, node)

  def _statement(self, node: ast.stmt) -> None:
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
      target = node.targets[0]
      if isinstance(target, ast.Name) and self._is_tensor(node.value):
        made, rank = self._tensor(node.value, f"{target.id} = ", node.col_offset)
        self._plan.expressions[node.value] = made
        self._ranks[target.id] = rank
        return
      self._check_plain(node.value)
      for inner in ast.walk(target):
        if isinstance(inner, ast.Name):
          self._ranks.pop(inner.id, None)
    elif isinstance(node, ast.For) and not node.orelse:
      self._loop(node)
    elif not isinstance(node, ast.Pass) and not (
      isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ):
      raise self._refusal(node)

  def _loop(self, node: ast.For) -> None:
    """A loop: what is known of a tensor holds in each round."""
    self._check_plain(node.iter)
    before = dict(self._ranks)
    while True:
      for statement in node.body:
        self._statement(statement)
      # As in the second round: only what both agree in.
      merged = {n: r if self._ranks.get(n, r) == r else None for n, r in before.items()}
      after = {**self._ranks, **merged}
      if merged == before:
        self._ranks = after
        return
      before, self._ranks = merged, dict(merged)

  def _check_plain(self, node: ast.AST) -> None:
    """Checks that an expression is about no tensor, and does nothing else than give a value."""
    for inner in ast.walk(node):
      if isinstance(inner, ast.Name) and (inner.id in self._ranks or self._is_features(inner)):
        raise self._refusal(node)
    effect = next(calls.effects(self._plan.module, node), None)
    if effect is not None:
      raise self._refusal(effect)

  # -- tensors ------------------------------------------------------------------------

  def _is_features(self, node: ast.AST) -> bool:
    return self._function.is_parameter(node, self._function.features)

  def _is_tensor(self, node: ast.expr) -> bool:
    """Whether an expression is a tensor of the network."""
    if isinstance(node, ast.Name):
      return node.id in self._ranks or self._is_features(node)
    if isinstance(node, ast.Subscript):
      return self._is_features(node.value)
    if isinstance(node, ast.BinOp):
      return self._is_tensor(node.left) or self._is_tensor(node.right)
    if isinstance(node, ast.Call):
      inner = (n for a in (*node.args, *node.keywords) for n in ast.walk(a))
      return any(isinstance(n, ast.Name) and self._is_tensor(n) for n in inner)
    return False

  def _tensor(self, node: ast.expr, prefix: str = "", column: int = 0) -> tuple[str, Optional[int]]:
    """The expression of a tensor, and its rank.

    Args:
      node: the old expression.
      prefix: what stands before it on its line.
      column: of the statement, in which its further lines stand.
    """
    if isinstance(node, ast.Name) and node.id in self._ranks:
      return self._plan.source(node), self._ranks[node.id]
    if self._is_features(node):
      self._whole = True
      return self.inputs, None
    if isinstance(node, ast.Subscript) and self._is_features(node.value):
      key = self._plan.module.constant(node.slice)
      if not isinstance(key, str) or not _FEATURE.fullmatch(key):
        raise self._refusal(node)
      if key not in self.keys:
        self.keys.append(key)
      return f"{self.inputs}[{self._plan.source(node.slice)}]", None
    if not isinstance(node, ast.Call):
      raise self._refusal(node)
    path = calls.path(self._plan.module, node)
    head, _, name = path.rpartition(".")
    if head == "tf.layers" and name in keras_layers.LAYERS:
      return self._layer(node, keras_layers.LAYERS[name], prefix, column)
    return self._function_call(node, path)

  def _layer(self, node: ast.Call, layer, prefix: str, column: int) -> tuple[str, Optional[int]]:
    arguments = Arguments(self._plan, self._tf, node, layer)
    before, rank = self._tensor(arguments.input)
    for name, argument in arguments.given.items():
      if name.endswith(("_initializer", "_regularizer")) or name in ("activation", "training"):
        continue
      self._check_plain(argument.value)
    if layer.keras in (keras_layers.DROPOUT, keras_layers.NORM) and not self._trains(
      arguments, node
    ):
      if layer.keras == keras_layers.NORM:
        raise Unreadable(node, "its batch normalization is never in training")
      return before, rank  # a dropout that does nothing
    if layer.keras == keras_layers.NORM and rank not in (2, 3):
      # Keras 3 has no fused kernel: its moving variance is that of the batch, TF1's that of a sample.
      reason = "Keras 3 averages variances of batches of images in another way"
      raise Unreadable(node, f"{reason}, and its batch normalization may be of images")
    if layer.keras == keras_layers.DROPOUT:
      self.dropouts.append(node)
    items = arguments.items()
    if layer.base:
      items.append(f"name={self._name(arguments, layer.base)}")
      self._scopes.add(self._variable_scopes())
    self.regularized |= arguments.regularized
    head = f"{self._tf}.keras.layers.{layer.keras}("
    if prefix:
      lines = emit.bracketed(prefix + head, items, f")({before})", self._style)
      lines[0] = lines[0][len(prefix) :]
    else:
      lines = [f"{head}{', '.join(items)})({before})"]
    made = ("\n" + " " * column).join(lines)
    return made, rank if layer.rank is None else layer.rank

  def _trains(self, arguments: Arguments, node: ast.Call) -> bool:
    """Whether a layer trains when the network does; False: never."""
    given = arguments.given.get("training")
    if given is None or self._plan.module.constant(given.value) is False:
      return False
    if self._plan.expressions.get(given.value) != TRAINING:
      value = given.value
      alias = self._function.alias(value) if isinstance(value, ast.Name) else None
      if alias is None or self._plan.expressions.get(alias) != TRAINING:
        raise self._refusal(node)
    return True

  def _name(self, arguments: Arguments, base: str) -> str:
    """The name of a layer with weights."""
    given = arguments.name()
    if given is not None:
      value = self._plan.module.constant(given)
      if isinstance(value, str):
        if not _FEATURE.fullmatch(value):
          raise self._refusal(given)
        if value in self._used:
          raise Unreadable(given, f"two layers are called `{value}`")
        self._used.add(value)
      return self._plan.source(given)
    if base in self._counted:
      return f"{self.names}({emit.string(base)})"
    name, number = base, 0
    while name in self._used:
      number += 1
      name = f"{base}_{number}"
    self._used.add(name)
    return emit.string(name)

  def _variable_scopes(self) -> tuple[ast.With, ...]:
    """The variable scopes around the statement; name scopes change no variable's name."""
    found = []
    for around in self._around:
      for item in around.items:
        call = item.context_expr
        path = calls.path(self._plan.module, call) if isinstance(call, ast.Call) else ""
        if path == "tf.name_scope":
          continue
        plain = isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords
        if path != "tf.variable_scope" or not plain or len(around.items) > 1:
          raise self._refusal(around.items[0].context_expr)
        assert isinstance(call, ast.Call)
        if not isinstance(self._plan.module.constant(call.args[0]), str):
          raise self._refusal(call)
        found.append(around)
    return tuple(found)

  def _input_layer(self, node: ast.Call) -> str:
    """An input layer over numeric columns."""
    plain = len(node.args) == 2 and not node.keywords and self._is_features(node.args[0])
    if not plain or not _are_numeric(self._plan.module):
      raise self._refusal(node)
    columns = node.args[1]
    self._check_plain(columns)
    for name in ast.walk(columns):
      if isinstance(name, ast.Name):
        scope, bindings = self._plan.module.scope_of[name].lookup(name.id)
        if scope is self._function.scope and any(b.kind != "param" for b in bindings):
          raise self._refusal(node)
    text = self._plan.source(columns)
    if self.columns not in ("", text):
      raise self._refusal(node)
    self.columns = text
    return f"{self._plan.runtime()}.input_layer({self.inputs}, {text})"

  # -- functions ------------------------------------------------------------------------

  def _function_call(self, node: ast.Call, path: str) -> tuple[str, Optional[int]]:
    """A function of TensorFlow that a layer without weights stands for."""
    layers = f"{self._tf}.keras.layers"
    activation = keras_layers.activation_name(self._plan, node.func)
    if activation is not None and len(node.args) == 1 and not _but_name(node):
      before, rank = self._tensor(node.args[0])
      text = keras_layers.activation(self._plan, node.func)
      return f"{layers}.Activation({text})({before})", rank
    if path == "tf.identity" and len(node.args) == 1 and not _but_name(node):
      return self._tensor(node.args[0])
    if path == "tf.feature_column.input_layer":
      return self._input_layer(node), 2
    if path == "tf.reshape":
      bound = facts.bind_arguments(node, _RESHAPE) or {}
      elements = getattr(bound["shape"].value, "elts", ()) if "shape" in bound else ()
      if "tensor" in bound and elements and self._plan.module.constant(elements[0]) == -1:
        before, _ = self._tensor(bound["tensor"].value)
        for element in elements[1:]:
          self._check_plain(element)
        shape = ", ".join(self._plan.source(e) for e in elements[1:])
        if shape:
          return f"{layers}.Reshape([{shape}])({before})", len(elements)
    if path in ("tf.layers.flatten", "tf.contrib.layers.flatten") and len(node.args) == 1:
      before, _ = self._tensor(node.args[0])
      return f"{layers}.Flatten()({before})", 2
    if path == "tf.concat":
      bound = facts.bind_arguments(node, _CONCAT) or {}
      values = getattr(bound["values"].value, "elts", ()) if "values" in bound else ()
      axis = self._plan.module.constant(bound["axis"].value) if "axis" in bound else None
      if len(values) > 1 and isinstance(axis, int) and axis != 0:
        made = [self._tensor(v) for v in values]
        ranks = {rank for _, rank in made}
        inner = ", ".join(t for t, _ in made)
        rank = ranks.pop() if len(ranks) == 1 else None
        return f"{layers}.Concatenate(axis={axis})([{inner}])", rank
    raise self._refusal(node)


def _are_numeric(module: Module) -> bool:
  """Whether all feature columns of a file are numeric ones that change no value."""
  for use in module.uses():
    if not use.symbol.path.startswith("tf.feature_column."):
      continue
    call = module.parents.get(use.node)
    if use.symbol.path == "tf.feature_column.numeric_column" and isinstance(call, ast.Call):
      bound = facts.bind_arguments(call, facts.NUMERIC_COLUMN_PARAMETERS)
      if bound is None or set(bound) - {"key", "shape", "default_value"}:
        return False
    elif use.symbol.path != "tf.feature_column.input_layer":
      return False
  return True


def _but_name(node: ast.Call) -> list[ast.keyword]:
  """The keywords of a call that are more than the name of an operation."""
  return [k for k in node.keywords if k.arg != "name"]
