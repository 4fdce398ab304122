"""The functions that take the place of a model_fn."""

from __future__ import annotations

import ast
import dataclasses

from migrator.analysis.model_fns import calls, train_ops
from migrator.analysis.model_fns.modes import TRAIN, Unreadable
from migrator.analysis.model_fns.pieces import LOSSES, VARIABLES, Piece, Split
from migrator.rewrite import emit, optimizers
from migrator.rewrite.model_fns import text
from migrator.rewrite.plan import Plan

_PAIRS = "gradients_and_variables"
_GRADIENTS = {
  "both": _PAIRS,
  "gradients": f"[gradient for gradient, _ in {_PAIRS}]",
  "variables": f"[variable for _, variable in {_PAIRS}]",
}


@dataclasses.dataclass
class Names:
  """The names of the new functions; "" for those that are not there.

  Attributes:
    params: which of them take `params`.
    loss: "None" where the network computes it, too.
    loss_takes: the parameters of the loss.
  """

  forward: str = ""
  loss: str = ""
  metrics: str = ""
  predictions: str = ""
  exports: str = ""
  optimizer: str = ""
  gradients: str = ""
  params: frozenset[str] = frozenset()
  loss_takes: tuple[str, ...] = ()


class Writer:
  """Writes the functions of one model_fn.

  Args:
    plan: of the file.
    tf: the name under which the output knows TF2.
    split: the pieces.
    exports: whether the program exports.
  """

  def __init__(self, plan: Plan, tf: str, split: Split, exports: bool):
    self._plan = plan
    self._exports = exports
    self._tf = tf
    self._split = split
    self._style = plan.style_at(split.function.node)
    self.names = Names()
    self._lines: list[str] = []
    self._params: set[str] = set()
    # How the optimizer is chosen: whether only the exact one will do, and whether gradients may be sparse.
    self._exact = self._sparse = True

  def write(self) -> Names:
    """Plans the functions in place of the model_fn; returns their names."""
    split, names = self._split, self.names
    names.forward = self._compute() if split.is_joint else self._forward()
    predictions = split.predictions
    if predictions is not None:
      names.predictions = self._function("predictions_fn", predictions, [])
    if split.is_joint:
      names.loss = "None"
    else:
      names.loss = self._function("loss_fn", split.loss, ["labels"])
    if split.metrics is not None:
      names.metrics = self._function("metrics_fn", split.metrics, ["labels"])
    if self._exports:
      names.exports = self._export_outputs()
    names.optimizer = self._make_optimizer()
    if split.gradients is not None:
      names.gradients = self._clipped(split.gradients)
    names.params = frozenset(self._params)
    node = split.function.node
    edit = self._plan.statement(node)
    edit.replacement = self._lines[:-1]
    edit.drop_comments = False
    self._plan.moved_comments.update(self._plan.comments.inside(node))
    return names

  def _add(self, lines: list[str]) -> None:
    self._lines += [*lines, ""]

  # -- the network ----------------------------------------------------------------

  def _forward(self) -> str:
    split, plan = self._split, self._plan
    name = plan.fresh("forward", f"{split.function.node.name}_forward")
    takes, prefix = self._network_begin()
    head = f"def {name}({', '.join(takes)}):"
    result = ", ".join(split.results)
    self._add(text.function(plan, head, split.forward, result, prefix, self._style))
    return name

  def _compute(self) -> str:
    """The network that computes the loss, too."""
    split, plan, style = self._split, self._plan, self._style
    name = plan.fresh("compute", f"{split.function.node.name}_compute")
    takes, prefix = self._network_begin()
    leaves = text.read_leaves(split.forward)
    body = prefix
    if split.early is not None:
      early = text.read_leaves(split.early)
      assert split.early.takes is not None
      body += text.statements(plan, early, style)
      inner = _entries("return ", split.early.takes, style.nested().nested())
      body += emit.block("if labels is None:", inner, style)
      leaves = [leaf for leaf in leaves if leaf not in early]
    body += text.statements(plan, leaves, style)
    assert split.loss.result is not None
    loss = emit.joined(plan.source(split.loss.result.node))
    body += _entries(f"return {loss}, ", split.results, style.nested())
    head = f"def {name}({', '.join(takes)}):"
    self._add([head, *[emit.indented(line, style) for line in body]])
    return name

  def _network_begin(self) -> tuple[list[str], list[str]]:
    """The parameters of the network, and the lines that stand first in it."""
    split, plan = self._split, self._plan
    function, reads = split.function, split.forward.parameters
    takes = ["labels"] if "labels" in reads else []
    takes += ["training"] if {"training", "mode"} & reads else []
    takes += ["params"] if "params" in reads else []
    prefix = docstring(plan, function.node)
    if function.features != "features":
      prefix.append(f"{function.features} = features")
    if "mode" in reads:
      keys = f"{plan.runtime()}.ModeKeys"
      prefix.append(f"mode = {keys}.TRAIN if training else {keys}.EVAL")
    return ["features", *takes], prefix

  # -- what follows from it ---------------------------------------------------------

  def _function(self, base: str, piece: Piece, first: list[str]) -> str:
    split, plan = self._split, self._plan
    name = plan.fresh(base, f"{split.function.node.name}_{base}")
    function = split.function
    prefix = []
    parameters = [*first, *(split.outputs if piece.takes is None else piece.takes)]
    if function.features in piece.parameters:
      parameters.insert(0, "features")
      if function.features != "features":
        prefix.append(f"{function.features} = features")
    parameters += [name for name in (LOSSES, VARIABLES) if name in piece.parameters]
    if "params" in piece.parameters:
      parameters.append("params")
      self._params.add(name)
    if base == "loss_fn":
      self.names.loss_takes = tuple(parameters)
    head = f"def {name}({', '.join(parameters)}):"
    self._add(text.function(plan, head, piece, None, prefix, self._style))
    return name

  def _export_outputs(self) -> str:
    """What is exported: as an Estimator did, the predictions where the model_fn does not say."""
    split = self._split
    if split.exports is not None:
      return self._function("export_outputs_fn", split.exports, [])
    if split.predictions is None:
      raise Unreadable(split.function.node, "it gives no predictions, which are exported")
    return self.names.predictions  # an Estimator exported them where it was not told what

  # -- the training ---------------------------------------------------------------------

  def _make_optimizer(self) -> str:
    return self._optimizer()

  def _optimizer(self) -> str:
    """The function that makes the optimizer of the statements of the model_fn."""
    split, plan = self._split, self._plan
    made, flow = split.train.optimizer, split.flows[TRAIN]
    call = made.node
    if not isinstance(call, ast.Call):
      return self._chosen_optimizer()
    settings = optimizers.Settings(self._tf, "v1", self._exact, self._sparse, call)
    written = optimizers.of_call(plan, call, settings).text
    tree = ast.parse(written, mode="eval")
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    reads = flow.reaching_names(names, made.index)
    indexes = flow.closure(reads.values())
    for index in indexes:
      node = flow.leaves[index].node
      if not isinstance(node, ast.Assign):
        raise Unreadable(node, "its optimizer is made under conditions")
      if calls.reads_step(plan.module, node) or calls.has_effect(plan.module, node):
        raise Unreadable(node, "its optimizer is made of tensors")
    self._check_early(call, [flow.leaves[i].node for i in indexes])
    parameters = flow.parameters(indexes) | {n for n, at in reads.items() if at < 0}
    if parameters - {"params"}:
      raise Unreadable(call, f"its optimizer depends on `{min(parameters - {'params'})}`")
    name = plan.fresh("make_optimizer", f"make_{split.function.node.name}_optimizer")
    takes = "params" if "params" in parameters else ""
    if takes:
      self._params.add(name)
    piece = Piece([flow.leaves[i] for i in sorted(indexes)], None, parameters, flow)
    head = f"def {name}({takes}):"
    leading = plan.comments.leading(flow.leaves[made.index].node)
    lines = text.function(plan, head, piece, "", [], self._style)[:-1]
    body = [*leading, *emit.statement(f"return {written}", self._style.nested())]
    self._add([*lines, *[emit.indented(line, self._style) for line in body]])
    return name

  def _chosen_optimizer(self) -> str:
    """The same for one that is chosen among several by an `if`."""
    split, plan = self._split, self._plan
    made, flow = split.train.optimizer, split.flows[TRAIN]
    constructors = train_ops.constructors(flow, made)
    indexes = sorted(flow.closure(flow.reaching(made).values()))
    nodes = [flow.leaves[index].node for index in indexes]
    for node in nodes:
      known = {inner for n in ast.walk(node) if isinstance(n, ast.Raise) for inner in ast.walk(n)}
      known |= set(constructors)
      others = [c for c in calls.effects(plan.module, node) if c not in known]
      is_plain = isinstance(node, ast.Assign) or node is nodes[-1]
      if others or not is_plain or calls.reads_step(plan.module, node):
        what = "the optimizer that its conditions choose is made of more than values"
        raise Unreadable(others[0] if others else node, what)
    self._check_early(made.node, nodes)
    parameters = flow.parameters(indexes)
    if parameters - {"params"}:
      what = f"its optimizer depends on `{min(parameters - {'params'})}`"
      raise Unreadable(made.node, what)
    for call in constructors:
      settings = optimizers.Settings(self._tf, "v1", self._exact, self._sparse, call)
      plan.expressions[call] = optimizers.of_call(plan, call, settings).text
    name = plan.fresh("make_optimizer", f"make_{split.function.node.name}_optimizer")
    self._params |= {name} if parameters else set()
    piece = Piece([flow.leaves[index] for index in indexes], made, parameters, flow)
    head = f"def {name}({', '.join(parameters)}):"
    self._add(text.function(plan, head, piece, None, [], self._style))
    return name

  def _check_early(self, call: ast.AST, statements: list[ast.stmt]) -> None:
    """What the optimizer is made of was read when the training began, and now is before that."""
    module = self._plan.module
    for node in (n for part in (call, *statements) for n in ast.walk(part)):
      if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        continue
      scope, bindings = module.scope_of[node].lookup(node.id)
      if scope is self._split.function.scope or len(bindings) < 2:
        continue
      if not all(binding.kind in ("import", "def", "class") for binding in bindings):
        raise Unreadable(node, f"its optimizer depends on `{node.id}`, which has several values")

  def _clipped(self, piece: Piece) -> str:
    """The function that does to the gradients what the model_fn did."""
    plan = self._plan
    for node, kind in self._split.train.gradient_nodes.items():
      plan.expressions[node] = _GRADIENTS[kind]
    name = plan.fresh("clip_gradients", f"{self._split.function.node.name}_gradients")
    takes = [_PAIRS]
    if "params" in piece.parameters:
      takes.append("params")
      self._params.add(name)
    head = f"def {name}({', '.join(takes)}):"
    self._add(text.function(plan, head, piece, None, [], self._style))
    return name


def _entries(head: str, names: tuple[str, ...], style: emit.Style) -> list[str]:
  """Lines of a dict of variables under their names."""
  return emit.bracketed(f"{head}{{", [f"{emit.string(name)}: {name}" for name in names], "}", style)


def docstring(plan: Plan, node: ast.FunctionDef) -> list[str]:
  """The lines of the docstring of a model_fn, if it is one line."""
  first = node.body[0]
  if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
    return []
  if not isinstance(first.value.value, str):
    return []
  lines = plan.module.source(first).split("\n")
  return [lines[0], *[line[first.col_offset :] for line in lines[1:]]]
