"""The loop around a model_fn that was taken apart."""

from __future__ import annotations

import ast
import dataclasses
from typing import Union

from migrator.analysis import units
from migrator.analysis.model_fns.modes import Unreadable
from migrator.analysis.model_fns.pieces import Split
from migrator.rewrite import canned, columns, config_sources, emit, run_config, unit_network
from migrator.rewrite.loop import LoopTarget
from migrator.rewrite.loop_methods import FUNCTIONS
from migrator.rewrite.model_fns import notes, text
from migrator.rewrite.model_fns.pieces import Names, Writer
from migrator.rewrite.plan import Plan, Unsupported

# What RunConfig takes where nothing is said.
_DEFAULT_SEED = "1"


def seed_of(plan: Plan, policy: run_config.Policy, config) -> None:
  """RunConfig has a seed also where none is given."""
  if policy.seed is not None:
    return
  given = config_sources.read(plan, config.value).arguments if config is not None else {}
  if "tf_random_seed" not in given:
    policy.seed = _DEFAULT_SEED


@dataclasses.dataclass
class SplitNetwork(unit_network.Network):
  """What the construction becomes; `model` is the expression of the network."""

  pieces: Names = dataclasses.field(default_factory=Names)

  def key(self) -> tuple:
    """There is only one."""
    return (self.model,)

  @property
  def flavour(self) -> str:
    """The flavour of the checkpoint."""
    return "v1"

  @property
  def is_keras(self) -> bool:
    """Whether the expression makes the whole model, without a factory of its own: it does."""
    return True


class SplitTarget(LoopTarget):
  """Writes one unit as functions around a `runtime.Network`."""

  # The loss is a function of the file.
  makes = ("optimizer", "checkpoint", "step", "manager", "summaries")

  def __init__(self, plan: Plan, tf: str, unit: units.Unit, split: Split, resume_data: bool):
    super().__init__(plan, tf, unit, True, resume_data)
    self.split = split
    given = unit.constructions[0].arguments.get("params")
    is_none = given is None or plan.module.constant(given.value) is None
    self.params = None if is_none else given
    self.variable = plan.fresh("network", f"{self.base}_network")

  def write(self) -> list[unit_network.Network]:
    plan = self.plan
    if self.params is not None:
      plan.filled_params = f"{self.variable}.params"
    try:
      networks = super().write()
    finally:
      filled, plan.filled_params = plan.filled_params, "{}"
    if self.unit.handle and filled != "{}":
      edits = [line for e in plan.statements.values() for line in e.replacement or ()]
      if any(f"params={filled}" in line for line in (*edits, *plan.expressions.values())):
        what = "an input function takes `params` where the estimator is handed on"
        raise self._refusal(Unreadable(self.unit.node, what))
    return networks

  def check(self, networks: list[unit_network.Network]) -> None:
    super().check(networks)
    for call in self.trainings if not self.unit.handle else ():
      if self.plan.module.scope_of[call.call] is not self.plan.module.scope_of[self.unit.node]:
        what = "it is trained in another function than where it is made"
        raise self._refusal(Unreadable(call.call, what))

  def _refusal(self, reason: Unreadable) -> Unsupported:
    name = self.split.function.node.name
    return Unsupported("EM244", reason.node, name=name, reason=reason.reason)

  def read_network(self, construction: units.Construction) -> unit_network.Network:
    """Plans the functions of the model_fn, and reads the rest of the construction."""
    plan, arguments = self.plan, construction.arguments
    try:
      pieces = Writer(plan, self.tf, self.split, "export_saved_model" in self.names).write()
    except Unreadable as reason:
      raise self._refusal(reason) from reason
    notes.report(plan, self.split)
    self.loss = self.names["loss_fn"] = pieces.loss
    policy = run_config.read_policy(plan, arguments.get("config"), construction.call)
    seed_of(plan, policy, arguments.get("config"))
    node, item = canned.read_directory(plan, arguments.get("model_dir"), policy)
    config = arguments.get("config")
    items = [pieces.forward]
    if self.params is not None:
      items.append(f"params={text.expression(plan, self.params.value)}")
    elif pieces.params or "params" in self.split.forward.parameters:
      items.append("params={}")
    made = emit.bracketed(f"{plan.runtime()}.Network(", items, ")", self.plan.style)
    return SplitNetwork(
      [],
      "\n".join(made),
      "",
      pieces.loss,
      "",
      [],
      policy,
      plan.source(node) if node is not None else None,
      node,
      item,
      columns.Columns([], plan=plan),
      config.value if config is not None and isinstance(config.value, ast.Name) else None,
      added=[pieces.metrics] if pieces.metrics else [],
      pieces=pieces,
    )

  @property
  def _pieces(self) -> Names:
    network = self.networks[-1]
    assert isinstance(network, SplitNetwork)
    return network.pieces

  def construct(self, network, made: str, style: emit.Style, first: bool) -> list[str]:
    runtime, n, pieces = self.plan.runtime(), self.names, network.pieces
    lines = self._directory(network)
    lines += self.seed(network)
    lines += f"{self.variable} = {made}".split("\n")
    params = f"{self.variable}.params" if pieces.optimizer in pieces.params else ""
    lines.append(f"{n['optimizer']} = {pieces.optimizer}({params})")
    items: list[Union[emit.Item, str]] = [self.variable, n["optimizer"], 'flavour="v1"']
    lines += emit.bracketed(f"{n['checkpoint']} = {runtime}.named_checkpoint(", items, ")", style)
    lines.append(f'{n["step"]} = {n["checkpoint"]}.by_name["global_step"]')
    lines += self._manager(network, style)
    lines += self._summaries(network, style)
    for function in FUNCTIONS:
      if function in self.names:
        lines += ["", *getattr(self, f"{function}_function")(style), ""]
    lines = lines[:-1] if lines[-1] == "" else lines
    return [part for line in lines for part in emit.statement(line, style)]

  def train_step_function(self, style: emit.Style) -> list[str]:
    n, network, pieces = self.names, self.variable, self._pieces
    outputs = self.split.outputs
    called = f"{network}(features, training=True)"
    tape = []
    if len(outputs) > 1:
      tape.append(f"outputs = {called}")
      called = "*outputs"
    given = {"labels": "labels", "features": "features", "losses": f"{network}.losses"}
    given |= {"params": f"{network}.params", "variables": f"{network}.trainable_variables"}
    items = [called if p in outputs else given[p] for p in pieces.loss_takes]
    items = list(dict.fromkeys(items))
    if self.split.is_joint:
      labels = "labels, " if "labels" in self.split.forward.parameters else ""
      tape = [f"loss, _ = {network}(features, {labels}training=True)"]
    else:
      tape.append(f"loss = {n['loss_fn']}({', '.join(items)})")
    pairs = "zip(tape.gradient(loss, variables), variables)"
    if pieces.gradients:
      more = f", {network}.params" if pieces.gradients in pieces.params else ""
      applied = ["gradients = tape.gradient(loss, variables)"]
      pairs = f"{pieces.gradients}(list(zip(gradients, variables)){more})"
    else:
      applied = []
    body = [
      *emit.block(f"with {self.tf}.GradientTape() as tape:", tape, style.nested()),
      f"variables = {network}.trainable_variables",
      *applied,
      f"{n['optimizer']}.apply_gradients({pairs})",
      f"{n['step']}.assign_add(1)",
      "return loss",
    ]
    function = emit.block(f"def {n['train_step']}(features, labels):", body, style)
    return [f"@{self.tf}.function", *function]

  def batches(self, dataset: str) -> str:
    """What a training goes through; where it reads no labels, there may be none."""
    if self.split.reads_labels:
      return dataset
    return f"{self.plan.runtime()}.batches({dataset})"

  def prepared(self) -> list[str]:
    return [f"{self.variable}.build(dataset)"]

  def selection(self, call: units.MethodCall) -> str:
    """Nothing: the network gets what the input function gives."""
    del call
    return ""

  def predict_function(self, style: emit.Style) -> list[str]:
    """`def predict(dataset, ...)`."""
    passed = self._passed("predict", ("predict_keys", "yield_single_examples", "checkpoint_path"))
    defaults = {"yield_single_examples": "True"}
    items = [self.variable, "dataset", *[f"{p}={p}" for p in passed if p != "checkpoint_path"]]
    items.append(f"loss_fn={self._pieces.predictions}")
    parameters = ["dataset", *[f"{p}={defaults.get(p, 'None')}" for p in passed]]
    return self._restoring("predict", "yield from", parameters, items, style)

  def export_saved_model_function(self, style: emit.Style) -> list[str]:
    """`def export_saved_model(export_dir_base, serving_input_receiver_fn, ...)`."""
    loss = self.names["loss_fn"]
    self.names["loss_fn"] = self._pieces.exports
    try:
      return super().export_saved_model_function(style)
    finally:
      self.names["loss_fn"] = loss
