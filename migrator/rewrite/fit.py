"""Target `fit`: Keras `Model.fit` with BackupAndRestore.

https://www.tensorflow.org/guide/migrate/fault_tolerance
"""

from __future__ import annotations

import ast
from typing import Union

from migrator.analysis import units
from migrator.rewrite import canned, emit, input_fns
from migrator.rewrite.plan import Plan
from migrator.rewrite.target import Target, one_list

_POLICY = (
  "save_checkpoints_steps",
  "save_checkpoints_secs",
  "keep_checkpoint_max",
  "keep_checkpoint_every_n_hours",
  "save_summary_steps",
  "log_step_count_steps",
)


class FitTarget(Target):
  """Writes one unit as `Model.fit`."""

  def __init__(self, plan: Plan, tf: str, unit: units.Unit, exact: bool):
    super().__init__(plan, tf, unit, exact)
    self.backup = plan.fresh("backup", f"{unit.name}_backup")
    self.steps = ""

  def check(self, networks: list[canned.Network]) -> None:
    del networks  # the callback has all of RunConfig's policy

  def factory(self, network: canned.Network, name: str, style: emit.Style) -> list[str]:
    nested = style.nested()
    body = [
      *network.body,
      f"model = {network.model}",
      *emit.bracketed("model.compile(", network.compile_items(), ")", nested),
      "return model",
    ]
    return emit.block(f"def {name}():", body, style)

  def construct(self, network, factory: str, style: emit.Style, first: bool) -> list[str]:
    lines = self.seed(network)
    lines.append(f"{self.unit.name} = {factory}()")
    items: list[Union[emit.Item, str]] = [self.unit.name, self.directory(network)]
    items += [f'variable_scope="{network.scope}"', f'flavour="{self.unit.flavour}"']
    items += network.policy.items(*_POLICY)
    items += [f"warm_start_from={network.warm_start}"] if network.warm_start else []
    lines += network.policy.comments if first else ()
    head = f"{self.backup} = {self.plan.runtime()}.BackupAndRestore("
    return lines + emit.bracketed(head, items, ")", style)

  def directory(self, network: canned.Network) -> Union[emit.Item, str]:
    if network.directory is None:
      self.plan.needs("import tempfile")
      return "tempfile.mkdtemp()"
    return network.directory_item or network.directory

  def model_dir(self) -> str:
    return f"{self.backup}.model_dir"

  def evaluator(self, node: ast.AST) -> str:
    del node
    return self.backup

  def train(self, call: units.MethodCall) -> None:
    plan, arguments = self.plan, call.arguments
    statement = self.train_statement(call)
    dataset = input_fns.dataset(plan, self.tf, arguments["input_fn"].value)
    dataset += self.selection(call)
    callbacks = f"callbacks=[{', '.join([self.saver_callback(call), *self.callbacks(call)])}]"
    style = plan.style_at(statement)
    steps, max_steps = self.limits(call)
    head = f"{self.unit.name}.fit("
    if max_steps is not None:
      name = self.steps = self.steps or plan.fresh("steps", "remaining_steps")
      condition = f"if {name} := {self.backup}.remaining_steps(max_steps={max_steps}):"
      items = [f"{dataset}.take({name})", callbacks, "verbose=0"]
      fit = emit.bracketed(head, items, ")", style.nested())
      lines = emit.block(condition, fit, style)
    elif steps is not None:
      known = self.is_count(arguments["steps"].value)
      number = steps if known else f"{self.backup}.remaining_steps(steps={steps})"
      items = [f"{dataset}.take({number})", callbacks, "verbose=0"]
      lines = emit.bracketed(head, items, ")", style)
    else:
      # -1: until the input ends, whether or not its size is known.
      items = [dataset, "steps_per_epoch=-1", callbacks, "verbose=0"]
      lines = emit.bracketed(head, items, ")", style)
    plan.statement(statement).replacement = lines

  def saver_callback(self, call: units.MethodCall) -> str:
    """The callback that saves, with those who hear of it in this call."""
    listeners = self.listeners(call)
    return f"{self.backup}.with_listeners({one_list(listeners)})" if listeners else self.backup

  def evaluate(self, call: units.MethodCall) -> None:
    self.plan.expressions[call.call] = self.method_call(call, self.backup, ("steps", "name"))

  def predict(self, call: units.MethodCall) -> None:
    keywords = ("predict_keys", "yield_single_examples")
    self.plan.expressions[call.call] = self.method_call(call, self.backup, keywords)

  def method_call(self, call: units.MethodCall, owner: str, keywords) -> str:
    """`owner.method(dataset, ...)` for an evaluate or predict call."""
    items = self.method_items(call, keywords)
    return f"{owner}.{call.method}({', '.join(items)})"
