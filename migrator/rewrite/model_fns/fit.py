"""A model_fn of plain layers as a Keras model, trained by `Model.fit`."""

from __future__ import annotations

import ast
import dataclasses

from migrator.analysis import facts, units
from migrator.analysis.model_fns import calls
from migrator.analysis.model_fns.modes import TRAIN, Unreadable
from migrator.analysis.model_fns.pieces import Split
from migrator.rewrite import canned, columns, emit, moves, run_config, unit_network
from migrator.rewrite.fit import FitTarget
from migrator.rewrite.model_fns import notes, text
from migrator.rewrite.model_fns.keras_losses import KerasLoss
from migrator.rewrite.model_fns.keras_network import KerasNetwork
from migrator.rewrite.model_fns.pieces import Names, Writer, docstring
from migrator.rewrite.model_fns.target import seed_of
from migrator.rewrite.plan import Plan, Unsupported


@dataclasses.dataclass
class ModelNetwork(unit_network.Network):
  """What the construction becomes; `model` is the call of the function that makes the Keras model.

  Attributes:
    lines: statements in front of it.
  """

  lines: list[str] = dataclasses.field(default_factory=list)

  def key(self) -> tuple:
    """There is only one."""
    return (self.model,)

  @property
  def flavour(self) -> str:
    """The flavour of the checkpoint."""
    return "v1"

  @property
  def is_keras(self) -> bool:
    """Whether the expression makes the whole model, and the head is apart: it does, and is."""
    return True


class ModelWriter(Writer):
  """Writes the functions; the first one makes the Keras model."""

  scope = ""

  def __init__(self, plan: Plan, tf: str, split: Split, exports: bool, exact: bool):
    super().__init__(plan, tf, split, exports)
    self._exact = exact
    self._sparse = False
    self._named = ""

  def write(self) -> Names:
    """Plans the functions in place of the model_fn; returns their names."""
    self._check()
    made, self._lines = self._lines, []
    self.names.optimizer = self._optimizer()
    optimizer, self._lines = self._lines, made
    names = super().write()
    names.optimizer = self.names.optimizer
    edit = self._plan.statement(self._split.function.node)
    assert edit.replacement is not None
    edit.replacement = [*optimizer, *edit.replacement]
    return names

  def _check(self) -> None:
    split, function = self._split, self._split.function
    if split.is_joint or "labels" not in split.loss.parameters:
      raise Unreadable(function.node, "its loss does not follow from outputs and `labels`")
    if len(split.outputs) != 1:
      raise Unreadable(function.node, "its network has several outputs")
    if split.gradients is not None:
      raise Unreadable(function.node, "its gradients are changed before they are applied")
    if "mode" in split.forward.parameters:
      raise Unreadable(function.node, "its network reads `mode` itself")
    flow = split.flows[TRAIN]
    connected = {flow.leaves[i].node for i in flow.closure([flow.at_end(split.outputs[0])])}
    for leaf in split.forward.leaves:
      if leaf.node not in connected and calls.has_effect(self._plan.module, leaf.node):
        raise Unreadable(leaf.node, "a layer is no part of what its network returns")

  def _make_optimizer(self) -> str:
    """The optimizer has been written already."""
    return self.names.optimizer

  def _forward(self) -> str:
    split, plan, tf, style = self._split, self._plan, self._tf, self._style
    function, output = split.function, split.outputs[0]
    network = KerasNetwork(plan, tf, split, style.nested())
    loss = KerasLoss(plan, split)
    compiled = loss.read(tf)
    statements = network.write(output)
    if network.regularized != loss.regularized:
      what = "has them not" if network.regularized else "has some"
      reason = f"its layers have {'' if network.regularized else 'no '}regularizers, and its loss"
      raise Unreadable(function.node, f"{reason} {what}")
    for node in network.dropouts:
      plan.report("EM256", node, what=plan.module.source(node.func))
    self.scope = network.scope
    name = plan.fresh("create_model", f"create_{function.node.name}", "make_model")
    spec, model = network.local("element_spec", "dataset_spec"), network.local("model", "net_model")
    arguments = ", ".join(
      [
        spec,
        *(emit.string(key) for key in network.keys),
        *([f"columns={network.columns}"] if network.columns else []),
      ]
    )
    optimizer = self.names.optimizer
    optimizer += "(params)" if optimizer in self._params else "()"
    takes = [spec]
    if "params" in split.forward.parameters or optimizer.endswith("(params)"):
      takes.append("params")
      self._params.add(name)
    items = [f"optimizer={optimizer}", f"loss={compiled}"]
    body = [
      *docstring(plan, function.node),
      f"{network.inputs} = {plan.runtime()}.inputs_like({arguments})",
      *([f"{network.names} = {plan.runtime()}.LayerNames()"] if network.names else []),
      *statements,
      f"{model} = {tf}.keras.Model({network.inputs}, {output})",
      *emit.bracketed(f"{model}.compile(", items, ")", style.nested()),
      f"return {model}",
    ]
    head = f"def {name}({', '.join(takes)}):"
    self._add([head, *[emit.indented(line, style) for line in body]])
    return name


class ModelFitTarget(FitTarget):
  """Writes one unit as a Keras model and `Model.fit`."""

  def __init__(self, plan: Plan, tf: str, unit: units.Unit, split: Split, exact: bool):
    super().__init__(plan, tf, unit, exact)
    self.split = split
    given = unit.constructions[0].arguments.get("params")
    is_none = given is None or plan.module.constant(given.value) is None
    self.params_node = None if given is None or is_none else given.value
    self.params = ""
    if self.params_node is not None:
      named = isinstance(self.params_node, ast.Name)
      self.params = plan.source(self.params_node) if named else plan.fresh("params", "model_params")

  def write(self) -> list[unit_network.Network]:
    plan = self.plan
    if self.params:
      plan.filled_params = self.params
    try:
      return super().write()
    except Unreadable as reason:
      name = self.split.function.node.name
      raise Unsupported("EM255", reason.node, name=name, reason=reason.reason) from reason
    finally:
      plan.filled_params = "{}"

  def check(self, networks: list[unit_network.Network]) -> None:
    super().check(networks)
    if self.unit.handle:
      raise Unreadable(self.unit.node, "the estimator is handed on")
    scope = self.plan.module.scope_of[self.unit.constructions[0].call]
    for call in self.unit.calls:
      if self.plan.module.scope_of[call.call] is not scope:
        raise Unreadable(call.call, "it is used in another function than where it is made")

  def read_network(self, construction: units.Construction) -> unit_network.Network:
    """Plans the functions of the model_fn, and reads the rest of the construction."""
    plan, arguments = self.plan, construction.arguments
    spec = self._element_spec(construction)
    exports = any(call.method == "export_saved_model" for call in self.unit.calls) or any(
      use.symbol.path.endswith("Exporter") for use in plan.module.uses()
    )
    writer = ModelWriter(plan, self.tf, self.split, exports, self.exact)
    pieces = writer.write()
    said = len(plan.findings)
    notes.report(plan, self.split)
    # EM247 is about the dropouts of a Network.
    plan.findings[said:] = [f for f in plan.findings[said:] if f.code != "EM247"]
    policy = run_config.read_policy(plan, arguments.get("config"), construction.call)
    seed_of(plan, policy, arguments.get("config"))
    node, item = canned.read_directory(plan, arguments.get("model_dir"), policy)
    config = arguments.get("config")
    lines = []
    if self.params_node is not None and not isinstance(self.params_node, ast.Name):
      lines = f"{self.params} = {text.expression(plan, self.params_node)}".split("\n")
    passed = f", {self.params or '{}'}" if pieces.forward in pieces.params else ""
    return ModelNetwork(
      [],
      f"{pieces.forward}({spec}{passed})",
      writer.scope,
      self._head(pieces),
      "",
      [],
      policy,
      plan.source(node) if node is not None else None,
      node,
      item,
      columns.Columns([], plan=plan),
      config.value if config is not None and isinstance(config.value, ast.Name) else None,
      lines=lines,
    )

  def _head(self, pieces: Names) -> str:
    """The head, which evaluates and predicts with the functions of the model_fn."""
    items = [pieces.loss]
    items += [f"predictions_fn={pieces.predictions}"] if pieces.predictions else []
    items += [f"metrics_fn={pieces.metrics}"] if pieces.metrics else []
    exports = pieces.exports if pieces.exports != pieces.predictions else ""
    items += [f"export_outputs_fn={exports}"] if exports else []
    own = {pieces.loss, pieces.predictions, pieces.metrics, pieces.exports}
    items += [f"params={self.params or '{}'}"] if own & pieces.params else []
    return f"{self.plan.runtime()}.heads.FunctionHead({', '.join(items)})"

  def _element_spec(self, construction: units.Construction) -> str:
    """What the input function of the training gives, where the model is made.

    Raises:
      Unreadable: the input function is not known there, or the program may not train.
    """
    module, place = self.plan.module, construction.call
    call = self.trainings[0]
    argument: facts.Argument = call.arguments["input_fn"]
    block = module.parents[module.statement(place)]
    if module.parents[module.statement(call.call)] is not block:
      raise Unreadable(call.call, "the shapes of its features are known only where it is trained")
    for name in ast.walk(argument.value):
      if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load):
        reason = moves.name_obstacle(module, name, argument.value, place)
        if reason is not None:
          what = f"its input function is not known where the estimator is made ({reason})"
          raise Unreadable(name, what)
    return f"{self.dataset(argument)}.element_spec"

  def construct(self, network, made: str, style: emit.Style, first: bool) -> list[str]:
    """Statements in place of the constructor's."""
    lines = [*network.lines, *super().construct(network, made, style, first)]
    return [part for line in lines for part in emit.statement(line, style)]
