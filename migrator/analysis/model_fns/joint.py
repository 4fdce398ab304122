"""Cuts a model_fn whose network computes the loss, too: it reads the labels, or one helper gives both.

The network returns the loss and, by name, what metrics and predictions read. A prediction has no labels:
the statements that it needs stand first then, and the others behind a return.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Optional

from migrator.analysis.model_fns import calls, gradients, specs, train_ops
from migrator.analysis.model_fns.flow import Flow, Value
from migrator.analysis.model_fns.modes import EVAL, PREDICT, TRAIN, Function, Unreadable
from migrator.analysis.model_fns.pieces import LOSSES, MODEL_LOSSES, VARIABLES, Piece, Split
from migrator.analysis.model_fns.split import TAKEN, Splitter


class JointSplitter(Splitter):
  """Splits one model_fn; arguments as of `Splitter`."""

  def __init__(self, function: Function, modes: Iterable[str], replaced: Mapping[ast.AST, str]):
    # The losses of the network are in its own graph, where the loss is computed.
    self._collected = {node for node, name in replaced.items() if name == LOSSES}
    kept = {node: name for node, name in replaced.items() if node not in self._collected}
    self._shared: set[ast.stmt] = set()
    super().__init__(function, modes, kept)

  def _choose(self, wanted: dict[tuple[str, str], Value]) -> Split:
    """The pieces of the network that computes the loss."""
    function, flows = self._function, self._flows
    flow, loss = flows[TRAIN], wanted[TRAIN, "loss"]
    if EVAL in flows and flows[EVAL].identity(wanted[EVAL, "loss"]) != flow.identity(loss):
      what = "the loss of evaluations is another one than that of training"
      raise Unreadable(wanted[EVAL, "loss"].node, what)
    self._shared = self._in_all(wanted)
    inside = {mode: self._network(mode, wanted.get((mode, "loss"))) for mode in flows}
    nodes = {mode: {flows[mode].leaves[i].node for i in found} for mode, found in inside.items()}
    self._check_equal({mode: found for mode, found in nodes.items() if mode != PREDICT})
    forward = self._piece(flow, inside[TRAIN], None)
    forward.parameters = flow.parameters(inside[TRAIN], loss)
    for name in sorted(forward.parameters):
      if name in ("config", VARIABLES) or name.endswith(MODEL_LOSSES):
        raise Unreadable(function.node, f"its network reads {name}")
    self._check_value(loss, inside[TRAIN], flow)
    pieces: dict[tuple[str, str], Piece] = {}
    for (mode, name), value in wanted.items():
      if name != "loss":
        pieces[mode, name] = self._piece_of(mode, value, inside[mode], name)
    early = self._early(inside, nodes, pieces) if PREDICT in flows else None
    returned = [p for (m, _), p in pieces.items() if m == EVAL or early is None]
    outputs = sorted({name for piece in returned for name in piece.takes or ()})
    self._check_last(outputs, inside, early)
    self._check_collected(pieces.values())
    given = sorted({name for piece in pieces.values() for name in piece.takes or ()})
    return Split(
      function,
      tuple(given),
      tuple(outputs),
      forward,
      Piece([], loss, set(), flow),
      pieces.get((EVAL, "eval_metric_ops")),
      pieces.get((PREDICT, "predictions")),
      pieces.get((PREDICT, "export_outputs")),
      self._train,
      gradients.piece(function, flow, self._train),
      flows,
      self._dropped(inside, pieces),
      self._constants,
      True,
      early,
    )

  def _in_all(self, wanted: dict[tuple[str, str], Value]) -> set[ast.stmt]:
    """What metrics and predictions all need: it is computed once, in the network."""
    needed = [
      {self._flows[mode].leaves[i].node for i in self._flows[mode].needed(value)}
      for (mode, name), value in wanted.items()
      if name != "loss"
    ]
    trained = {leaf.node for leaf in self._flows[TRAIN].leaves} - self._training_nodes
    return set.intersection(trained, *needed) if len(needed) > 1 else set()

  def _network(self, mode: str, loss: Optional[Value]) -> set[int]:
    """The statements of the network: all that may make variables, the loss, and what they need."""
    flow = self._flows[mode]
    made = self._made(mode)
    shared = {i for i, leaf in enumerate(flow.leaves) if leaf.node in self._shared}
    inside = flow.closure(made | {i for i in shared if flow.closure([i]) & made})
    return inside if loss is None else inside | flow.needed(loss)

  def _made(self, mode: str) -> set[int]:
    """The statements that may do more than give a value, or check something."""
    flow, module = self._flows[mode], self._module
    found = set()
    for index, leaf in enumerate(flow.leaves):
      if leaf.node in self._training_nodes or isinstance(leaf.node, ast.Return):
        continue
      if calls.is_report(module, leaf.node) or train_ops.is_harmless(leaf):
        continue
      checks = any(isinstance(n, (ast.Raise, ast.Assert)) for n in ast.walk(leaf.node))
      if checks and self._tells_mode(leaf.node, mode):
        continue
      effect = self._effect(flow, leaf.node)
      if checks or (effect is not None and not specs.is_hook(module, leaf.node)):
        found.add(index)
    return found

  def _piece_of(self, mode: str, value: Value, inside: set[int], name: str) -> Piece:
    """What follows from the network; what depends on none of its variables is computed again."""
    flow, made = self._flows[mode], self._made(mode)
    stops = {i for i in inside if flow.closure([i]) & made}
    piece = self._behind(flow, value, stops, name)
    behind = flow.needed(value, stops) - stops
    reads = [flow.reaching(value), *(flow.reads[i] for i in behind)]
    read = {pair for found in reads for pair in found.items() if pair[1] in stops}
    for output, index in sorted(read):
      if index != _last(flow, inside, output):
        what = f"`{output}` is bound again in its network behind what its {name} reads"
        raise Unreadable(flow.leaves[index].node, what)
      if output in TAKEN:
        raise Unreadable(value.node, f"`{output}` means something else as a parameter")
    piece.takes = tuple(sorted({output for output, _ in read}))
    return piece

  def _early(self, inside: dict, nodes: dict, pieces: dict) -> Optional[Piece]:
    """The part of the network that predictions need; None where they may have all of it.

    Raises:
      Unreadable: it cannot be told apart, or the rest makes variables, which a program that begins with a
        prediction would lack.
    """
    flow, module = self._flows[TRAIN], self._module
    self._check_equal({TRAIN: nodes[TRAIN] | nodes[PREDICT], PREDICT: nodes[TRAIN]})
    first = {i for i in inside[TRAIN] if flow.leaves[i].node in nodes[PREDICT]}
    if "labels" in self._flows[PREDICT].parameters(inside[PREDICT]):
      what = "its predictions need statements that read the labels, which they do not have"
      raise Unreadable(self._function.node, what)
    rest = sorted(inside[TRAIN] - first)
    if not rest:
      return None
    if "labels" not in flow.parameters(rest):
      for index in rest:
        if flow.reads[index].get(self._function.features, 0) < 0:
          what = "its loss reads features that predictions may lack"
          raise Unreadable(flow.leaves[index].node, what)
    for index in rest:
      leaf = flow.leaves[index]
      for effect in calls.effects(module, leaf.node):
        if effect not in flow.replaced and not calls.is_random(calls.path(module, effect)):
          shown = module.source(effect.func).partition("\n")[0]
          what = f"`{shown}` may make variables, and is no part of what predictions need"
          raise Unreadable(effect, what)
      later = [flow.writes[i] for i in first if i > index]
      touched = {*flow.reads[index], *flow.writes[index]}
      if touched & set().union(*later):
        what = "its loss is computed in the middle of its network"
        raise Unreadable(leaf.node, what)
    if "labels" not in flow.parameters(rest):
      return None
    piece = self._piece(flow, first, None)
    found = [p for (mode, _), p in pieces.items() if mode == PREDICT]
    piece.takes = tuple(sorted({name for p in found for name in p.takes or ()}))
    return piece

  def _check_value(self, loss: Value, inside: set[int], flow: Flow) -> None:
    """The loss is returned at the end of the network."""
    effect = self._effect(flow, loss.node)
    if effect is not None:
      raise Unreadable(effect, "its loss is made where it is returned")
    for name, index in flow.reaching(loss).items():
      if index != _last(flow, inside, name):
        raise Unreadable(loss.node, f"`{name}` is bound again behind its loss")

  def _check_last(self, outputs: list[str], inside: dict, early: Optional[Piece]) -> None:
    """The modes mean the same by the outputs."""
    for output in outputs:
      found = set()
      for mode, flow in self._flows.items():
        if mode == PREDICT and early is not None:
          continue
        index = _last(flow, inside[mode], output)
        if index >= 0:
          found.add(flow.leaves[index].node)
      if len(found) > 1:
        what = f"`{output}` is another variable in predictions than in training"
        raise Unreadable(self._function.node, what)

  def _check_collected(self, pieces: Iterable[Piece]) -> None:
    """Collections are empty behind the network."""
    for piece in pieces:
      assert piece.result is not None
      for code in (piece.result.node, *(leaf.node for leaf in piece.leaves)):
        for node in ast.walk(code):
          if node in self._collected:
            raise Unreadable(node, "it takes its regularization losses behind its network")


def _last(flow: Flow, indexes: Iterable[int], name: str) -> int:
  """The last of some statements that binds a variable; -1 where none does."""
  return max((i for i in indexes if name in flow.writes[i]), default=-1)
