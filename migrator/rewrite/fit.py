"""Target `fit`: Keras `Model.fit` with BackupAndRestore.

https://www.tensorflow.org/guide/migrate/fault_tolerance
"""

from __future__ import annotations

import ast
from typing import Union

from migrator.analysis import units
from migrator.rewrite import emit, handles, specs, together, unit_network
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
    self.backup = "" if unit.handle else plan.fresh("backup", f"{self.base}_backup")
    self.steps = ""

  def check(self, networks: list[unit_network.Network]) -> None:
    del networks  # the callback has all of RunConfig's policy

  def factory(self, network: unit_network.Network, name: str, style: emit.Style) -> list[str]:
    nested = style.nested()
    body = [
      *network.body,
      f"model = {network.model}",
      *emit.bracketed("model.compile(", network.compile_items(), ")", nested),
      "return model",
    ]
    return emit.block(f"def {name}():", body, style)

  def construct(self, network, made: str, style: emit.Style, first: bool) -> list[str]:
    lines = [*self.seed(network)]
    lines += [f"{self.model_name} = {made}"] if made != self.model_name else []
    lines += network.policy.comments if first else ()
    return lines + self._made(network, f"{self.backup} = ", self.model_name, style)

  def _made(self, network, prefix: str, model: str, style: emit.Style) -> list[str]:
    """A statement that makes the BackupAndRestore of a model."""
    items: list[Union[emit.Item, str]] = [model, self.directory(network)]
    items += [f'variable_scope="{network.scope}"'] if network.scope else []
    items += [f"head={network.loss}"] if network.is_keras else []
    items.append(f'flavour="{network.flavour or self.unit.flavour}"')
    items += network.policy.items(*_POLICY)
    items += [f"warm_start_from={network.warm_start}"] if network.warm_start else []
    items += [f"metrics=[{', '.join(network.added)}]"] if network.added else []
    head = f"{prefix}{self.plan.runtime()}.BackupAndRestore("
    return emit.bracketed(head, items, ")", style)

  def construct_handle(self, construction, network, made: str, style: emit.Style) -> None:
    """The BackupAndRestore itself takes the place of the estimator."""
    edit = self.plan.statement(construction.call)
    edit.before += self.seed(network)
    prefix, suffix = handles.around(self.plan, construction.call)
    lines = self._made(network, prefix, made, style)
    edit.replacement = [*network.policy.comments, *lines[:-1], lines[-1] + suffix]

  def handle_class(self) -> str:
    return f"{self.plan.runtime()}.BackupAndRestore"

  def directory(self, network: unit_network.Network) -> Union[emit.Item, str]:
    if network.directory is None:
      self.plan.needs("import tempfile")
      return "tempfile.mkdtemp()"
    return network.directory_item or network.directory

  # -- what stands for the estimator ----------------------------------------------

  def saver(self, node: ast.expr) -> str:
    """The BackupAndRestore of the estimator that an expression gave."""
    return handles.owner(self.plan, node) if self.unit.handle else self.backup

  def model(self, node: ast.expr) -> str:
    return f"{handles.owner(self.plan, node)}.model" if self.unit.handle else self.model_name

  def model_dir(self, node: ast.expr) -> str:
    return f"{self.saver(node)}.model_dir"

  def newest_checkpoint(self, node: ast.expr) -> str:
    return f"{self.saver(node)}.latest_checkpoint"

  def evaluator(self, node: ast.expr) -> str:
    return self.saver(node)

  # -- calls ------------------------------------------------------------------------

  def train(self, call: units.MethodCall) -> None:
    statement = self.train_statement(call)
    lines = self.train_lines(call, self.plan.style_at(statement), [])
    self.plan.statement(statement).replacement = lines

  def train_lines(
    self, call: units.MethodCall, style: emit.Style, evaluations: list[str]
  ) -> list[str]:
    """Statements in place of a train call, or of the one that train_and_evaluate makes.

    Args:
      call: the call.
      style: of the place.
      evaluations: listeners of the saves besides those of the call.
    """
    arguments = call.arguments
    dataset = self.dataset(arguments["input_fn"]) + self.selection(call)
    first = self.saver_callback(call, evaluations)
    callbacks = f"callbacks=[{', '.join([first, *self.callbacks(call)])}]"
    steps, max_steps = self.limits(call)
    head = f"{self.model(call.owner)}.fit("
    if max_steps is not None:
      name = self.steps = self.steps or self.plan.fresh("steps", "remaining_steps")
      remaining = f"{self.saver(call.owner)}.remaining_steps(max_steps={max_steps})"
      items = [f"{dataset}.take({name})", callbacks, "verbose=0"]
      fit = emit.bracketed(head, items, ")", style.nested())
      return emit.block(f"if {name} := {remaining}:", fit, style)
    if steps is not None:
      known = self.is_count(arguments["steps"].value)
      number = steps if known else f"{self.saver(call.owner)}.remaining_steps(steps={steps})"
      items = [f"{dataset}.take({number})", callbacks, "verbose=0"]
      return emit.bracketed(head, items, ")", style)
    # -1: until the input ends, whether or not its size is known.
    items = [dataset, "steps_per_epoch=-1", callbacks, "verbose=0"]
    return emit.bracketed(head, items, ")", style)

  def saver_callback(self, call: units.MethodCall, evaluations: list[str]) -> str:
    """The callback that saves, with those who hear of it in this call."""
    saver, listeners = self.saver(call.owner), [*self.listeners(call), *evaluations]
    return f"{saver}.with_listeners({one_list(listeners)})" if listeners else saver

  def evaluates(self, call: units.MethodCall) -> str:
    """What `runtime.Evaluation` gets first."""
    return self.saver(call.owner)

  def exports(self, train: specs.Spec, node: ast.expr) -> list[str]:
    """What `runtime.Evaluation` needs for its exporters."""
    del node
    # By default it is what `remaining_steps` was asked for last.
    return [] if train.given(self.plan, "max_steps") else ["max_steps=None"]

  def train_and_evaluate(self, call: units.MethodCall) -> None:
    together.write(self, call)

  def evaluate(self, call: units.MethodCall) -> None:
    self._method(call, ("steps", "name", "checkpoint_path"))

  def predict(self, call: units.MethodCall) -> None:
    self._method(call, ("predict_keys", "yield_single_examples", "checkpoint_path"))

  def _method(self, call: units.MethodCall, keywords: tuple[str, ...]) -> None:
    """`backup.method(dataset, ...)` for an evaluate or predict call."""
    items = self.method_items(call, keywords)
    self.plan.expressions[call.call] = f"{self.saver(call.owner)}.{call.method}({', '.join(items)})"

  def export_saved_model(self, call: units.MethodCall) -> None:
    text = f"{self.saver(call.owner)}.export_saved_model({self.exported(call)})"
    self.plan.expressions[call.call] = text

  def get_variable_names(self, call: units.MethodCall) -> None:
    self.plan.report("EM276", call.call)
    self.plan.expressions[call.call] = f"{self.saver(call.owner)}.get_variable_names()"

  def get_variable_value(self, call: units.MethodCall) -> None:
    name = self.source(call.arguments["name"].value)
    self.plan.expressions[call.call] = f"{self.saver(call.owner)}.get_variable_value({name})"
