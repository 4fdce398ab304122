"""What keeps the pieces of a model_fn from giving what it gave: what goes from one to another, and when."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Optional

from migrator.analysis import local_calls
from migrator.analysis.model_fns import calls
from migrator.analysis.model_fns.flow import CHANGING, Flow, Value
from migrator.analysis.model_fns.modes import Leaf, Unreadable
from migrator.analysis.model_fns.pieces import LOSSES, MODEL_LOSSES, VARIABLES, Split
from migrator.analysis.module import Module

_OF_EXAMPLES = re.compile(
  r"tf\.nn\..*cross_entropy.*|tf\.nn\.(log_poisson|nce|sampled_softmax)_loss|tf\.keras\.losses\.[a-z].*"
  r"|tf\.(math\.)?(square|squared_difference|abs|pow)"
)
_TRAINING = ("training", "is_training", "train")
_GRAPH_ONLY = ("op", "graph", "initializer", "initial_value", "device")
_DEPTH = 5  # of functions that hand the mode on, of variables that have a value from one another


def check(split: Split) -> None:
  """Checks the values between the network and what follows from it.

  Raises:
    Unreadable: with the place.
  """
  _check_loss(split.function.module, split.loss.flow, split.loss.result)
  _check_objects(split)
  _check_early(split)
  _check_scopes(split)
  _check_variables(split)
  _check_losses(split)
  _check_changes(split)
  _check_gradients(split)


def _check_loss(module: Module, flow: Flow, loss: Optional[Value]) -> None:
  """A loss of one example is the Estimator's loss as it is: it took away the dimension."""
  if loss is None:
    return
  value = flow.resolve(loss)
  node = value.node
  if isinstance(node, ast.BinOp):
    for side in (node.left, node.right):
      _check_loss(module, flow, Value(side, value.index))
  elif isinstance(node, ast.Call):
    symbol = module.resolve(node.func)
    if symbol is not None and _OF_EXAMPLES.fullmatch(symbol.path):
      shown = module.source(node.func)
      raise Unreadable(node, f"its loss is not made one number (`{shown}` gives one per example)")


def _check_changes(split: Split) -> None:
  """A function of TF2 must not change its arguments; a network gets its features as a copy."""
  given = {split.function.features, "labels"}
  for piece in (split.loss, split.metrics, split.predictions, split.exports):
    for node in (n for leaf in (piece.leaves if piece else ()) for n in ast.walk(leaf.node)):
      is_part = isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)
      if is_part and isinstance(node.value, ast.Name) and node.value.id in given:  # type: ignore[attr-defined]
        shown = split.function.module.source(node)
        raise Unreadable(node, f"it reads `{shown}`, which it changes, behind its network")
      changing = isinstance(node, ast.Attribute) and node.attr in CHANGING
      if changing and isinstance(node.value, ast.Name) and node.value.id in given:  # type: ignore[attr-defined]
        shown = split.function.module.source(node)
        raise Unreadable(node, f"it needs `{shown}`, which changes them, behind its network")


def _check_gradients(split: Split) -> None:
  """Where a variable has no gradient, an optimizer of TF1 made no slots, and a checkpoint has none."""
  flow, module = split.loss.flow, split.function.module
  assert split.loss.result is not None
  needed = {flow.leaves[i].node for i in flow.needed(split.loss.result)}
  for leaf in split.forward.leaves:
    if leaf.node not in needed and not calls.only_noise(module, leaf.node):
      effect = next(calls.effects(module, leaf.node))
      shown = module.source(effect.func).partition("\n")[0]
      raise Unreadable(effect, f"its loss may not depend on the variables of this `{shown}`")


def _check_objects(split: Split) -> None:
  """A network gives tensors: a layer or another object is not what a graph can return."""
  flow, module = split.forward.flow, split.function.module
  for output in split.outputs:
    leaf = flow.leaves[flow.at_end(output)] if not output.endswith(MODEL_LOSSES) else None
    value = leaf.node.value if leaf is not None and isinstance(leaf.node, ast.Assign) else None
    for call in ast.walk(value) if value is not None else ():
      if isinstance(call, ast.Call) and _makes_object(module, call):
        parent = module.parents[call]
        if not (isinstance(parent, ast.Call) and call is parent.func):
          what = f"`{output}` is no tensor, but is used behind its network"
          raise Unreadable(call, what, of_choice=True)


def _makes_object(module: Module, call: ast.Call) -> bool:
  symbol = module.resolve(call.func)
  if symbol is not None:
    name = symbol.path.rpartition(".")[2]
    return name[:1].isupper() and symbol.path not in ("tf.Variable", "tf.Print")
  return isinstance(module.definition(call.func), ast.ClassDef)


def _check_early(split: Split) -> None:
  """The losses of a network are those of all its layers, also where a model_fn took them earlier."""
  flow, module = split.loss.flow, split.function.module
  network = {leaf.node for leaf in split.forward.leaves}
  made = [
    i
    for i, leaf in enumerate(flow.leaves)
    if leaf.node in network and calls.has_effect(module, leaf.node)
  ]
  last = max(made, default=-1)
  for leaf in flow.leaves[: last + 1]:
    for name, node, _ in flow.names(leaf.node):
      if node not in flow.replaced:
        continue
      if name.endswith((LOSSES, MODEL_LOSSES)):
        raise Unreadable(node, "it takes its regularization losses before its network ends")
      if name == VARIABLES:
        raise Unreadable(node, "it takes its variables before its network ends")


def _check_variables(split: Split) -> None:
  """Variables that are trained have names and values, but no operations of a graph."""
  pieces = {"loss": split.loss} if VARIABLES in split.loss.parameters else {}
  if split.gradients is not None:
    pieces["clipping of gradients"] = split.gradients
  for name, piece in pieces.items():
    codes: list[ast.AST] = [leaf.node for leaf in piece.leaves]
    codes += [piece.result.node] if piece.result is not None else []
    helpers = [helper for code in codes for helper in calls.helpers(split.function.module, code)]
    for code in (*codes, *helpers):
      for node in ast.walk(code):
        if isinstance(node, ast.Attribute) and node.attr in _GRAPH_ONLY:
          raise Unreadable(node, f"its {name} asks for `.{node.attr}`, which only a graph has")


def _check_losses(split: Split) -> None:
  """A network hands on its regularization losses: no collection has them behind it, nor do their names say whose."""
  module, replaced = split.function.module, split.loss.flow.replaced
  for piece in (split.loss, split.metrics, split.predictions, split.exports):
    if piece is None:
      continue
    codes: list[ast.AST] = [leaf.node for leaf in piece.leaves]
    codes += [piece.result.node] if piece.result is not None else []
    helpers = [helper for code in codes for helper in calls.helpers(module, code)]
    for node in (n for code in (*codes, *helpers) for n in _kept(code, replaced)):
      path = calls.path(module, node) if isinstance(node, ast.Call) else ""
      if path == "tf.get_collection" or path.startswith("tf.losses.get_regularization_loss"):
        shown = module.source(node).partition("\n")[0]
        raise Unreadable(node, f"it asks for losses of its network behind it (`{shown}`)")
      named = isinstance(node, ast.Attribute) and node.attr in ("name", "op")
      if named and LOSSES in piece.parameters and module.resolve(node) is None:
        shown = module.source(node)
        raise Unreadable(node, f"it may choose regularization losses by their names (`{shown}`)")


def _kept(node: ast.AST, replaced: Mapping[ast.AST, str]) -> Iterator[ast.AST]:
  """Walks through some code, but not into the expressions for which something else stands."""
  if node in replaced:
    return
  yield node
  for child in ast.iter_child_nodes(node):
    yield from _kept(child, replaced)


def _check_scopes(split: Split) -> None:
  """Names that count the scopes before them need all of these scopes."""
  flow, module = split.forward.flow, split.function.module
  network = {leaf.node for leaf in split.forward.leaves}
  counts = [node for leaf in split.forward.leaves for node in _counting(module, leaf)]
  scopes = {id(w) for leaf in split.forward.leaves for w in leaf.withs}
  last = max(i for i, leaf in enumerate(flow.leaves) if leaf.node in network)
  for leaf in flow.leaves[:last] if counts else ():
    for around in leaf.withs:
      if id(around) not in scopes:
        raise Unreadable(around, f"`{module.source(counts[0].func)}` counts the scopes before it")


def _counting(module: Module, leaf: Leaf) -> Iterator[ast.Call]:
  """The calls that name a variable or a scope after how many of them there are."""
  heads = [item.context_expr for around in leaf.withs for item in around.items]
  codes: list[ast.AST] = [leaf.node, *heads]
  for code in [*codes, *(h for c in codes for h in calls.helpers(module, c))]:
    for call in ast.walk(code):
      if isinstance(call, ast.Call) and (
        calls.path(module, call) == "tf.Variable"
        or any(k.arg == "default_name" for k in call.keywords)
      ):
        yield call


def check_initial(module: Module, codes: list[ast.AST]) -> None:
  """A network makes its variables outside of the graph that calls it, so none of a value from there.

  Args:
    module: the analysed file.
    codes: the model_fn, and the functions and classes that it may call.

  Raises:
    Unreadable: with the place.
  """
  for call in (n for code in codes for n in ast.walk(code) if isinstance(n, ast.Call)):
    path = calls.path(module, call)
    if path not in ("tf.Variable", "tf.get_variable"):
      continue
    given = [k.value for k in call.keywords if k.arg in ("initializer", "initial_value")]
    todo = [*given, *(call.args[:1] if path == "tf.Variable" else call.args[3:4])]
    for value in todo:
      for node in ast.walk(value):
        if isinstance(node, ast.Name) and len(todo) < _DEPTH:
          bindings = module.scope_of[node].lookup(node.id)[1]
          todo += [b.value for b in bindings if b.value is not None and b.value not in todo]
        if isinstance(node, ast.Call) and calls.is_random(calls.path(module, node)):
          shown = module.source(node).partition("\n")[0]
          raise Unreadable(node, f"the initial value of a variable is a tensor (`{shown}`)")


def check_norms(split: Split, norms: list[ast.AST]) -> None:
  """Moving statistics move in training, and there only.

  Where they are to move in all modes, a model_fn runs the update operations in training, a network all
  that it has.

  Args:
    split: the pieces.
    norms: the names of what makes batch normalization in the model_fn and in what it calls.

  Raises:
    Unreadable: with the place.
  """
  module = split.function.module
  for norm in norms:
    call = module.parents[norm]
    if not isinstance(call, ast.Call) or call.func is not norm:
      continue
    outer = module.parents[call]
    found = [call, outer] if isinstance(outer, ast.Call) and outer.func is call else [call]
    for keyword in (k for c in found for k in c.keywords):
      if keyword.arg in _TRAINING:
        _check_training(split, _around(module, norm), keyword.value)


def _around(module: Module, node: ast.AST) -> Optional[ast.FunctionDef]:
  return next((a for a in module.ancestors(node) if isinstance(a, ast.FunctionDef)), None)


def _check_training(
  split: Split, helper: Optional[ast.FunctionDef], value: ast.expr, depth: int = 0
) -> None:
  """Checks what says whether batch normalization trains, through the calls that hand it on."""
  function = split.function
  module = function.module
  if helper is None or function.training_text(value, "") is not None or value in split.constants:
    return
  is_constant = isinstance(value, ast.Constant)
  if isinstance(value, ast.Constant) and value.value in (False, None):
    return
  is_given = isinstance(value, ast.Name) and value.id in local_calls.parameters(helper)
  if helper is not function.node and isinstance(value, ast.Name) and is_given and depth < _DEPTH:
    for read in local_calls.reads_of(module, helper):
      call = module.parents.get(read)
      if isinstance(call, ast.Call) and call.func is read:
        given = local_calls.given(module, call, helper, value.id)
        if given is not None:
          _check_training(split, _around(module, read), given, depth + 1)
    return
  if is_constant or helper is function.node:
    what = "its batch normalization trains in other modes than training, too"
    raise Unreadable(value, what)
