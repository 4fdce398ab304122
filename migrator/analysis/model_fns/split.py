"""Cuts a model_fn into network, loss, metrics and predictions.

The network ends at one variable (or a few) from which all the rest follows without the features: what
comes behind is computed by functions of it and of the labels.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Optional

from migrator.analysis.model_fns import calls, gradients, specs, train_ops, twins
from migrator.analysis.model_fns.flow import Flow, Value
from migrator.analysis.model_fns.modes import EVAL, PREDICT, TRAIN, Function, Unreadable
from migrator.analysis.model_fns.pieces import (
  LOSSES,
  MODEL_LOSSES,
  TRAINING,
  VARIABLES,
  Piece,
  Split,
)

# What the runtime gives the pieces by name.
TAKEN = frozenset(("features", "labels", LOSSES, "params", TRAINING, VARIABLES))


class Splitter:
  """Splits one model_fn.

  Args:
    function: the model_fn.
    modes: the modes in which the program calls it.
    replaced: expressions for which something else stands -> the new parameter that it reads.
  """

  def __init__(self, function: Function, modes: Iterable[str], replaced: Mapping[ast.AST, str]):
    self._function = function
    self._module = function.module
    leaves, constants = twins.merged(function, modes)
    self._constants = constants
    replaced = {**replaced, **dict.fromkeys(constants, TRAINING)}
    self._flows = {mode: Flow(function, found, replaced) for mode, found in leaves.items()}
    self._specs = {mode: specs.read(flow) for mode, flow in self._flows.items()}

  def split(self) -> Split:
    """Returns the pieces.

    Raises:
      Unreadable: the model_fn cannot be cut, or does more than what the pieces do.
    """
    specs.check(self._function, self._flows, self._specs)
    train_flow = self._flows[TRAIN]
    self._train = train_ops.read(train_flow, self._specs[TRAIN]["train_op"])
    loss = self._specs[TRAIN]["loss"]
    if train_flow.identity(self._train.loss) != train_flow.identity(loss):
      raise Unreadable(self._train.loss.node, "what is minimized is not the loss that it returns")
    trained = self._specs[TRAIN]["train_op"]
    # Where it is an entry of `spec`, the statement that adds it is none that it depends on.
    self._training = {trained.index, *train_flow.needed(trained)}
    self._training -= train_flow.needed(self._specs[TRAIN]["loss"])
    # Other modes may make the train_op, too; nobody runs it there.
    self._training_nodes = {train_flow.leaves[i].node for i in self._training}
    return self._choose(specs.wanted(self._specs))

  def _choose(self, wanted: dict[tuple[str, str], Value]) -> Split:
    """The pieces of the network that ends as late as possible."""
    reasons: list[Unreadable] = []
    for outputs in self._candidates():
      try:
        return self._cut(outputs, wanted)
      except Unreadable as found:
        reasons.append(found)
    several = self._several(wanted)
    if len(several) > 1:
      try:
        return self._cut(several, wanted)
      except Unreadable as found:
        reasons.insert(0, found)
    if not reasons:
      raise Unreadable(self._function.node, "no variable of it is the output of a network")
    raise min(reasons, key=lambda reason: reason.of_choice)

  # -- what there is ------------------------------------------------------------------

  def _depends_on_labels(self, flow: Flow, index: int) -> bool:
    return "labels" in flow.parameters(flow.closure([index]))

  def _base(self) -> list[ast.stmt]:
    """The statements that run in all modes and depend on no label, in order."""
    nodes = [{leaf.node for leaf in flow.leaves} for flow in self._flows.values()]
    common = set.intersection(*nodes)
    flow = self._flows[TRAIN]
    return [
      leaf.node
      for i, leaf in enumerate(flow.leaves)
      if leaf.node in common
      and not isinstance(leaf.node, ast.Return)
      and leaf.node not in self._training_nodes
      and not self._depends_on_labels(flow, i)
    ]

  def _candidates(self) -> list[tuple[str, ...]]:
    """Variables in which the network may end: single ones, the latest first."""
    found: list[tuple[str, ...]] = []
    for statement in reversed(self._base()):
      names = [n for n in _assigned(statement) if (n,) not in found]
      found += [(n,) for n in names]
    return found

  def _several(self, wanted: dict[tuple[str, str], Value]) -> tuple[str, ...]:
    """The variables of the smallest network that something behind it reads."""
    found: dict[str, int] = {}
    for (mode, _), value in wanted.items():
      flow = self._flows[mode]
      made = [
        i
        for i, leaf in enumerate(flow.leaves)
        if self._effect(flow, leaf.node) is not None
        and leaf.node not in self._training_nodes
        and not specs.is_hook(self._module, leaf.node)
        and not self._depends_on_labels(flow, i)
      ]
      inside = flow.closure(made)
      network = {i for i in inside if flow.closure([i]) & set(made)}
      behind = flow.needed(value) - inside
      reads = [flow.reaching(value), *(flow.reads[i] for i in behind)]
      found |= {name: i for read in reads for name, i in read.items() if i in network}
    return tuple(sorted(found, key=lambda name: (found[name], name)))

  # -- a cut --------------------------------------------------------------------------

  def _cut(self, outputs: tuple[str, ...], wanted: dict[tuple[str, str], Value]) -> Split:
    """The pieces of a network that ends in some variables."""
    function, flows = self._function, self._flows
    inside = {mode: self._forward(mode, outputs) for mode in flows}
    self._check_equal({m: {flows[m].leaves[i].node for i in inside[m]} for m in flows})
    flow = flows[TRAIN]
    forward = self._piece(flow, inside[TRAIN], None)
    forward.parameters |= flow.parameters(inside[TRAIN])
    if set(outputs) & TAKEN:
      raise Unreadable(function.node, f"`{outputs[0]}` means something else as a parameter")
    bad = forward.parameters & {"labels", "config", LOSSES, VARIABLES}
    if bad:
      what = min(bad)
      raise Unreadable(
        function.node, f"its network reads {'the labels' if what == 'labels' else what}"
      )
    pieces: dict[tuple[str, str], Piece] = {}
    for (mode, name), value in wanted.items():
      stops = {flows[mode].at_end(output) for output in outputs}
      pieces[mode, name] = self._behind(flows[mode], value, stops, name)
      self._check_read(flows[mode], pieces[mode, name], stops, outputs)
    losses = [piece for (_, name), piece in pieces.items() if name == "loss"]
    self._check_same_loss(losses)
    if not losses[0].parameters & {"labels", function.features}:
      raise Unreadable(function.node, "its loss does not read `labels`")
    models = self._models(losses[0], inside[TRAIN])
    return Split(
      function,
      (*outputs, *(f"{model}{MODEL_LOSSES}" for model in models)),
      (*outputs, *(f"{model}.losses" for model in models)),
      forward,
      losses[0],
      pieces.get((EVAL, "eval_metric_ops")),
      pieces.get((PREDICT, "predictions")),
      pieces.get((PREDICT, "export_outputs")),
      self._train,
      gradients.piece(function, flow, self._train),
      flows,
      self._dropped(inside, pieces),
      self._constants,
    )

  def _models(self, loss: Piece, inside: set[int]) -> list[str]:
    """The Keras models of the network whose losses are a part of the loss."""
    models = [p[: -len(MODEL_LOSSES)] for p in loss.parameters if p.endswith(MODEL_LOSSES)]
    flow = self._flows[TRAIN]
    for model in models:
      if flow.at_end(model) not in inside:
        raise Unreadable(self._function.node, f"`{model}` is no model of its network")
    return sorted(models)

  def _forward(self, mode: str, outputs: tuple[str, ...]) -> set[int]:
    """The statements of the network: the outputs, all that may make variables, and what they need."""
    flow = self._flows[mode]
    ends = {flow.at_end(output) for output in outputs}
    if min(ends) < 0:
      raise Unreadable(self._function.node, f"`{outputs[0]}` is no variable of mode {mode!r}")
    inside = flow.closure(ends)
    for index, leaf in enumerate(flow.leaves):
      is_training = leaf.node in self._training_nodes
      if index in inside or is_training or isinstance(leaf.node, ast.Return):
        continue
      if calls.is_report(self._module, leaf.node) or train_ops.is_harmless(leaf):
        continue
      checks = any(isinstance(n, (ast.Raise, ast.Assert)) for n in ast.walk(leaf.node))
      if checks and self._tells_mode(leaf.node, mode):
        continue
      effect = self._effect(flow, leaf.node)
      if effect is not None and specs.is_hook(self._module, leaf.node):
        continue
      if effect is None and not checks:
        continue
      if index > max(ends) or self._depends_on_labels(flow, index):
        what = self._module.source(effect.func if effect is not None else leaf.node)
        place = (
          f"`{what.partition(chr(10))[0]}` is part of its network, but stands behind its outputs"
        )
        raise Unreadable(leaf.node, place, of_choice=True)
      inside |= flow.closure([index])
    return inside

  def _effect(self, flow: Flow, node: ast.AST) -> Optional[ast.Call]:
    """The first call in some code that may do more than give a value, and for which nothing else stands."""
    found = calls.effects(self._module, node)
    return next((call for call in found if call not in flow.replaced), None)

  def _tells_mode(self, node: ast.stmt, mode: str) -> bool:
    """Whether a statement only asserts the mode, which holds."""
    return isinstance(node, ast.Assert) and self._function.value(node.test, mode) is True

  def _check_equal(self, nodes: dict[str, set[ast.stmt]]) -> None:
    for mode, found in nodes.items():
      different = sorted(found ^ nodes[TRAIN], key=lambda n: n.lineno)
      if different:
        reason = f"its network is another one in mode {mode!r} than in training"
        raise Unreadable(different[0], reason)

  def _piece(self, flow: Flow, indexes: Iterable[int], result: Optional[Value]) -> Piece:
    leaves = [flow.leaves[i] for i in sorted(indexes)]
    return Piece(leaves, result, set(), flow)

  def _behind(self, flow: Flow, value: Value, stops: set[int], name: str) -> Piece:
    """What follows from the outputs of the network."""
    value = Value(value.node, value.index)
    indexes = flow.needed(value, stops)
    if not indexes & stops:
      raise Unreadable(
        value.node, f"its {name} does not depend on the output of its network", of_choice=True
      )
    indexes -= stops
    for node in (value.node, *(flow.leaves[i].node for i in indexes)):
      if calls.reads_step(self._module, node):
        raise Unreadable(node, f"its {name} reads the global step")
    for index in indexes:
      effect = self._effect(flow, flow.leaves[index].node)
      if effect is not None:
        what = self._module.source(effect.func).partition("\n")[0]
        raise Unreadable(effect, f"its {name} calls `{what}`, which may be part of a network")
    effect = self._effect(flow, value.node)
    if effect is not None:
      what = self._module.source(effect.func).partition("\n")[0]
      raise Unreadable(effect, f"its {name} calls `{what}`, which may be part of a network")
    parameters = flow.parameters(indexes, value)
    allowed = {"params", self._function.features}
    allowed |= {"labels"} if name in ("loss", "eval_metric_ops") else set()
    if name == "loss":
      allowed |= {LOSSES, VARIABLES, *(p for p in parameters if p.endswith(MODEL_LOSSES))}
    bad = parameters - allowed
    if bad:
      raise Unreadable(value.node, f"its {name} reads `{min(bad)}`")
    piece = self._piece(flow, indexes, value)
    piece.parameters = parameters
    return piece

  def _check_read(
    self, flow: Flow, piece: Piece, stops: set[int], outputs: tuple[str, ...]
  ) -> None:
    """A statement that binds several variables gives what follows only those that are outputs."""
    assert piece.result is not None
    kept = {leaf.node for leaf in piece.leaves}
    reads = [flow.reaching(piece.result)]
    reads += [flow.reads[i] for i, leaf in enumerate(flow.leaves) if leaf.node in kept]
    for name, index in (pair for read in reads for pair in read.items()):
      if index in stops and name not in outputs:
        what = f"`{name}` is read behind its network, which ends in `{outputs[0]}`"
        raise Unreadable(flow.leaves[index].node, what, of_choice=True)

  def _check_same_loss(self, losses: list[Piece]) -> None:
    first = losses[0]
    for other in losses[1:]:
      assert first.result is not None and other.result is not None
      same = [leaf.node for leaf in first.leaves] == [leaf.node for leaf in other.leaves]
      values = [p.flow.identity(p.result) for p in (first, other)]  # type: ignore[arg-type]
      if not same or values[0] != values[1]:
        raise Unreadable(
          other.result.node, "the loss of evaluations is another one than that of training"
        )

  def _shows(self, node: ast.stmt) -> bool:
    """Whether a statement, or one within it, only shows something to a person."""
    inner = (n for n in ast.walk(node) if isinstance(n, ast.stmt))
    return any(calls.is_report(self._module, n) for n in inner)

  def _dropped(self, inside: dict[str, set[int]], pieces: dict) -> list[ast.stmt]:
    """Statements of the training that show something and are in no piece."""
    used = {leaf.node for piece in pieces.values() for leaf in piece.leaves}
    used |= {self._flows[m].leaves[i].node for m in inside for i in inside[m]}
    return [
      leaf.node
      for leaf in self._flows[TRAIN].leaves
      if leaf.node not in used
      and (
        self._shows(leaf.node)
        or calls.is_summary(self._module, leaf.node)
        or specs.is_hook(self._module, leaf.node)
      )
    ]


def _assigned(statement: ast.stmt) -> list[str]:
  """The variable that a plain assignment binds."""
  if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
    target = statement.targets[0]
    return [target.id] if isinstance(target, ast.Name) else []
  names = [
    node.id
    for node in ast.walk(statement)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
  ]
  return names if isinstance(statement, (ast.For, ast.If, ast.With)) else []
