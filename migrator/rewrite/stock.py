"""`--stock`: the fit target with Keras' own BackupAndRestore, over epochs of N steps.

https://www.tensorflow.org/api_docs/python/tf/keras/callbacks/BackupAndRestore
"""

from __future__ import annotations

import ast

from migrator.analysis import units
from migrator.rewrite import checkpoint_saver, emit, unit_network
from migrator.rewrite.fit import FitTarget
from migrator.rewrite.plan import Unsupported

_LOSES = (
  "it keeps one backup only, saved after the other callbacks of the step and none at step 0; "
  "keep_checkpoint_max, summaries and single checkpoints are gone, a resumed run starts at a "
  "multiple of {every} steps, and epochs of {every} steps reset metrics"
)


class StockTarget(FitTarget):
  """Writes one unit as `Model.fit` with the stock BackupAndRestore."""

  def __init__(self, plan, tf, unit, exact):
    super().__init__(plan, tf, unit, exact)
    self.start = plan.fresh("start_step", f"{unit.name}_start_step")
    self.checkpoint = plan.fresh("checkpoint", f"{unit.name}_checkpoint")
    self.network: unit_network.Network

  def check(self, networks: list[unit_network.Network]) -> None:
    self.network = networks[0]
    if self.unit.handle:
      what = "--stock needs an estimator that stays in its variable"
      raise Unsupported("EM218", self.unit.node, what=what)
    policies = {(n.directory, str(n.policy.arguments)) for n in networks}
    if len(policies) > 1:
      node = self.unit.constructions[1].call
      raise Unsupported("EM218", node, what="--stock needs one policy and model_dir")
    for call in self.unit.calls:
      if call.method != "train":
        what = f"--stock does not restore before {call.method}()"
        raise Unsupported("EM218", call.call, what=what)
      if self.listeners(call):
        what = "the BackupAndRestore of --stock tells no listener when it saves"
        raise Unsupported("EM218", call.arguments["saving_listeners"].node, what=what)
      if self.has(call, "hooks") and checkpoint_saver.in_use(self.plan):
        what = "the BackupAndRestore of --stock does not leave its saves to a CheckpointSaver"
        raise Unsupported("EM218", call.arguments["hooks"].node, what=what)

  def construct(self, network, made: str, style: emit.Style, first: bool) -> list[str]:
    if network.directory is None:
      node = self.unit.constructions[0].call
      raise Unsupported("EM218", node, what="--stock needs a model_dir")
    runtime = self.plan.runtime()
    self.plan.needs("import os")
    name, path = self.model_name, network.directory
    lines = [*self.seed(network), *([f"{name} = {made}"] if made != name else [])]
    items = [name, f"{name}.optimizer", f'scope="{network.scope}"']
    items.append(f'flavour="{network.flavour or self.unit.flavour}"')
    head = f"{self.checkpoint} = {runtime}.named_checkpoint("
    lines += emit.bracketed(head, items, ")", style)
    load = f"{runtime}.load_tf1_checkpoint({self.checkpoint}, {path}).step"
    lines.append(f"{self.start} = {load}")
    lines += network.policy.comments if first else ()
    items = [f'os.path.join({path}, "tf2")', 'save_freq="epoch"', "delete_checkpoint=False"]
    head = f"{self.backup} = {self.tf}.keras.callbacks.BackupAndRestore("
    return lines + emit.bracketed(head, items, ")", style)

  def model_dir(self, node: ast.expr) -> str:
    directory = self.network.directory_node
    return self.plan.atom(directory) if directory is not None else ""

  def newest_checkpoint(self, node: ast.expr) -> str:
    raise Unsupported("EM218", node, what="--stock has no manager of checkpoints to ask")

  def evaluator(self, node: ast.expr) -> str:
    raise Unsupported("EM218", node, what="--stock does not evaluate during a training")

  def train(self, call: units.MethodCall) -> None:
    plan = self.plan
    every, total = self._steps(call)
    statement = self.train_statement(call)
    dataset = self.dataset(call.arguments["input_fn"]) + self.selection(call)
    items = [
      dataset,
      f"steps_per_epoch={every}",
      f"epochs={total // every}",
      f"initial_epoch={self.start} // {every}",
      f"callbacks=[{', '.join([self.backup, *self.callbacks(call)])}]",
      "verbose=0",
    ]
    style = plan.style_at(statement)
    lines = emit.bracketed(f"{self.model_name}.fit(", items, ")", style)
    plan.statement(statement).replacement = lines
    plan.report("EM214", call.call, what=_LOSES.format(every=every))

  def _steps(self, call: units.MethodCall) -> tuple[int, int]:
    """Returns steps per backup and in total, when whole epochs can express them."""
    constant = self.plan.module.constant
    every = self.network.policy.values.get("save_checkpoints_steps")
    total = call.arguments.get("max_steps")
    if every is None or total is None:
      missing = "save_checkpoints_steps" if every is None else "max_steps"
      raise Unsupported("EM218", call.call, what=f"--stock needs {missing}")
    n, m = constant(every), constant(total.value)
    if not (isinstance(n, int) and isinstance(m, int) and n > 0 and m > 0):
      what = "--stock needs save_checkpoints_steps and max_steps as numbers in the file"
      raise Unsupported("EM218", call.call, what=what)
    if m % n:
      what = f"--stock needs max_steps ({m}) to be a multiple of save_checkpoints_steps ({n})"
      raise Unsupported("EM218", call.call, what=what)
    return n, m
