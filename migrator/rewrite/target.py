"""What the targets have in common: reading a unit's calls and writing it whole."""

from __future__ import annotations

import abc
import ast
from typing import Optional

from migrator.analysis import facts, units
from migrator.rewrite import (
  built_in_hooks,
  canned,
  emit,
  exports,
  handles,
  hook_lists,
  input_fns,
  keras_estimators,
  late_predictions,
  specs,
  unit_network,
)
from migrator.rewrite.plan import Plan, Unsupported


def one_list(elements: list[str]) -> str:
  """A list of these elements; the list itself where they are all those of one."""
  if len(elements) == 1 and elements[0].startswith("*") and elements[0][1:].isidentifier():
    return elements[0][1:]
  return f"[{', '.join(elements)}]"


class Target(abc.ABC):
  """Writes one unit. Subclasses say how its parts look.

  Args:
    plan: of the file; gets the edits.
    tf: the name under which the output knows TF2.
    unit: the unit.
    exact: whether to use the runtime's optimizers everywhere.
  """

  # Whether a second, equal construction needs statements of its own.
  rebuilds = True
  # The variable of the loss, where the model is not compiled with it.
  loss = ""

  def __init__(self, plan: Plan, tf: str, unit: units.Unit, exact: bool):
    self.plan = plan
    self.tf = tf
    self.unit = unit
    self.exact = exact
    self.base = handles.base(unit)
    # The variable of the Keras model, where it has one.
    self.model_name = keras_estimators.variable(plan, unit)
    self.evaluation = ""  # the variable of the evaluations of train_and_evaluate
    self.feature_keys: Optional[frozenset[str]] = None
    self.scalar_features = False
    self.networks: list[unit_network.Network] = []
    # The constructions, and the model directory of each; None for a temporary one.
    self.directories: list[tuple[ast.Call, Optional[ast.expr]]] = []
    self.specs = {
      c.call: specs.find(plan, c) for c in unit.calls if c.method == "train_and_evaluate"
    }
    # All that trains, also a call of train_and_evaluate as the `train` that it makes.
    self.trainings = [
      specs.training(c, self.specs[c.call][0]) if c.call in self.specs else c
      for c in unit.calls
      if c.method in ("train", "train_and_evaluate")
    ]

  def write(self) -> list[unit_network.Network]:
    """Plans all edits of the unit.

    Returns:
      The networks, for what their statements leave without use.

    Raises:
      Unsupported: something in the unit cannot be carried over.
    """
    if not self.unit.calls:
      node = self.unit.constructions[0].call
      raise Unsupported("EM212", node, what="is not used in this file")
    if self.unit.hints:
      handles.respell_hints(self.plan, self.unit, self.handle_class())
    factories: dict[tuple, str] = {}
    networks = self.networks = []
    for construction in self.unit.constructions:
      network = self.read_network(construction)
      networks.append(network)
      self.directories.append((construction.call, network.directory_node))
      same = len(networks) == 1 or network.columns.keys == self.feature_keys
      self.feature_keys = network.columns.keys if same else None
      self.scalar_features = all(c.shape == "[1]" for n in networks for c in n.columns.columns)
      self._construction(construction, network, factories, first=len(networks) == 1)
    self.check(networks)
    for read in self.unit.model_dir_reads:
      self._model_dir_read(read)
    for made, name in self.unit.eval_dir_calls.items():
      self.plan.needs("import os")
      assert isinstance(made.func, ast.Attribute)
      path = f"{self.model_dir(made.func.value)}, {emit.string(name)}"
      self.plan.expressions[made] = f"os.path.join({path})"
    for call in self.unit.calls:
      self._check_call(call)
      self.plan.keep_comments(call.call)
      if call.method == "predict" and late_predictions.outlives_statement(
        self.plan.module, call.call
      ):
        self.plan.report("EM285", call.call)
      getattr(self, call.method)(call)
    built_in_hooks.check_estimators(self.plan, self.unit)
    return networks

  def read_network(self, construction: units.Construction) -> unit_network.Network:
    """What one construction becomes."""
    is_keras = construction.kind == units.KERAS
    reader = keras_estimators.read if is_keras else canned.read
    return reader(self.plan, self.tf, self.unit, construction, self.exact)

  def _construction(self, construction, network, factories, first: bool) -> None:
    plan = self.plan
    self._note_moved_comments(construction, network)
    edit = plan.statement(construction.call)
    style = plan.style_at(construction.call)
    statement = plan.module.statement(construction.call)
    block = plan.module.parents[statement]
    key = (block, network.key())
    if network.is_keras:
      edit.comments += plan.argument_comments(construction.call)
      factories[key] = network.model
    elif key not in factories:
      other = "create" if self.unit.handle else "make"
      factories[key] = plan.fresh(f"create_{self.base}", f"{other}_{self.base}")
      edit.before += self.factory(network, factories[key], style)
      factories[key] += "()"
    else:
      edit.comments += plan.argument_comments(construction.call)
      if not self.rebuilds and not self.unit.handle:
        edit.replacement = []
        return
    edit.leading_first = first
    if self.unit.handle:
      if plan.module.scope_of[construction.call] is not plan.module.scope_of[statement]:
        what = "an estimator that is made inside of an expression"
        raise Unsupported("EM220", construction.call, what=what)
      self.construct_handle(construction, network, factories[key], style)
    else:
      edit.replacement = self.construct(network, factories[key], style, first)

  def _note_moved_comments(self, construction, network: unit_network.Network) -> None:
    """Comments that the new code shows need no place above the statement."""
    shown = [line.strip() for line in network.body if line.lstrip().startswith("#")]
    for item in network.policy.arguments.values():
      shown += [*item.leading, item.trailing]
    self.plan.moved_comments.update(c for c in [*shown, *network.policy.comments] if c)

  def _check_call(self, call: units.MethodCall) -> None:
    arguments = call.arguments
    for name in arguments:
      if name not in facts.METHOD_PARAMETERS[call.method]:
        raise Unsupported("EM209", arguments[name].node, name=f"{call.method}({name}=)")
    required = {"get_variable_value": "name", "export_saved_model": "export_dir_base"}
    name = required.get(call.method, "")
    if name and name not in arguments:
      raise Unsupported("EM209", call.call, name=f"{call.method}() without {name}=")
    if "input_fn" in facts.METHOD_PARAMETERS[call.method] and "input_fn" not in arguments:
      raise Unsupported("EM205", call.call, what="a missing input_fn")

  def _model_dir_read(self, read: ast.Attribute) -> None:
    """`estimator.model_dir`, alone or as what `tf.train.latest_checkpoint` gets."""
    if self.reads_newest(read):
      call = self.plan.module.parents[read]
      self.plan.expressions[call] = self.newest_checkpoint(read.value)
    else:
      self.plan.expressions[read] = self.model_dir(read.value)

  def reads_newest(self, read: ast.Attribute) -> bool:
    """Whether `estimator.model_dir` is what `tf.train.latest_checkpoint` gets."""
    call = self.plan.module.parents[read]
    if not isinstance(call, ast.Call) or call.args != [read] or call.keywords:
      return False
    symbol = self.plan.module.resolve(call.func)
    return symbol is not None and symbol.path == "tf.train.latest_checkpoint"

  # -- arguments ------------------------------------------------------------------

  def source(self, node: ast.AST) -> str:
    """The source of an argument, or the variable that keeps its value."""
    return self.plan.kept.get(node) or self.plan.source(node)

  def dataset(self, argument: facts.Argument) -> str:
    """The Dataset of an `input_fn=`."""
    kept = self.plan.kept.get(argument.value)
    return f"{kept}()" if kept else input_fns.dataset(self.plan, self.tf, argument.value)

  def input_function(self, argument: facts.Argument) -> str:
    """A function that gives the Dataset of an `input_fn=` each time that it is called."""
    text = self.dataset(argument)
    if isinstance(argument.value, ast.Lambda) and not argument.value.args.args:
      return f"lambda: {text}"
    symbol = None
    if isinstance(argument.value, ast.Call):
      symbol = self.plan.module.resolve(argument.value.func)
    if symbol is not None and symbol.path == "functools.partial":
      return self.plan.source(argument.value)  # its arguments are evaluated once
    return text[:-2] if text.endswith("()") else f"lambda: {text}"

  def hooks(self, argument: Optional[facts.Argument], use: str) -> list[str]:
    """Elements of a list of callbacks or listeners from `hooks=` or `saving_listeners=`."""
    kept = self.plan.kept.get(argument.value) if argument is not None else None
    return [f"*{kept}"] if kept else hook_lists.callbacks(self.plan, self.tf, argument, use=use)

  def callbacks(self, call: units.MethodCall) -> list[str]:
    """Elements of the list of callbacks for the hooks of a call."""
    return self.hooks(call.arguments.get("hooks"), call.method)

  def listeners(self, call: units.MethodCall) -> list[str]:
    """Elements of the list of those who hear of the saves of a train call."""
    return self.hooks(call.arguments.get("saving_listeners"), "listener")

  def has(self, call: units.MethodCall, name: str) -> bool:
    """Whether a call gives hooks or listeners, as far as the file shows."""
    given = call.arguments.get(name)
    if given is not None and isinstance(given.value, (ast.List, ast.Tuple)):
      return bool(given.value.elts)
    return given is not None and self.plan.module.constant(given.value) is not None

  def train_statement(self, call: units.MethodCall) -> ast.stmt:
    """The statement that is nothing but the train call."""
    statement = self.plan.module.parents[call.call]
    if not isinstance(statement, ast.Expr):
      raise Unsupported("EM209", call.call, name="the return value of train()")
    return statement

  def is_count(self, node: ast.AST) -> bool:
    """Whether an expression is known to be a positive number of steps."""
    value = self.plan.module.constant(node)
    return isinstance(value, int) and value > 0

  def limits(self, call: units.MethodCall) -> tuple[Optional[str], Optional[str]]:
    """Source of `steps=` and `max_steps=`; None where absent or None."""
    texts = []
    for name in ("steps", "max_steps"):
      argument = call.arguments.get(name)
      given = argument is not None and self.plan.module.constant(argument.value) is not None
      texts.append(self.source(argument.value) if argument and given else None)
    if None not in texts:
      raise Unsupported("EM209", call.call, name="train() with both steps and max_steps")
    return texts[0], texts[1]

  def method_items(self, call: units.MethodCall, keywords) -> list[str]:
    """The Dataset and the remaining arguments of an evaluate or predict call."""
    plan, arguments = self.plan, call.arguments
    items = [self.dataset(arguments["input_fn"])]
    for name, argument in arguments.items():
      if name == "checkpoint_path" and plan.module.constant(argument.value) is None:
        continue
      if name in keywords:
        items.append(f"{name}={self.source(argument.value)}")
      elif name not in ("input_fn", "hooks", "saving_listeners"):
        raise Unsupported("EM209", argument.node, name=f"{call.method}({name}=)")
    own = self.callbacks(call)
    return [*items, f"callbacks={one_list(own)}"] if own else items

  def exported(self, call: units.MethodCall) -> str:
    """The arguments of an export."""
    plan, arguments = self.plan, call.arguments
    plan.report("EM277", call.call)
    items = []
    for name, argument in arguments.items():
      if name == "serving_input_receiver_fn":
        exports.serving(plan, argument.value)
      if name == "strip_default_attrs":
        plan.report("EM274", argument.node)
      elif name == "experimental_mode":
        if plan.module.constant(argument.value) is not None:
          raise Unsupported("EM209", argument.node, name="export_saved_model(experimental_mode=)")
      elif argument.node is argument.value:
        items.append(self.source(argument.value))
      else:
        items.append(f"{name}={self.source(argument.value)}")
    if "serving_input_receiver_fn" not in arguments:
      name = f"{call.method}() without serving_input_receiver_fn="
      raise Unsupported("EM209", call.call, name=name)
    return ", ".join(items)

  def selection(self, call: units.MethodCall) -> str:
    """`.map(...)` that drops features which no column reads, and shapes those that one reads.

    The Estimator ignored them; Keras 3 takes the features of a dict in the order of their
    names, and would feed the wrong ones. Makes labels and weights what a head takes. "" where
    the file shows that there is nothing to do.
    """
    keys = input_fns.feature_keys(self.plan, call.arguments["input_fn"].value)
    if any(network.is_keras for network in self.networks):
      return f".map({self.plan.runtime()}.model_inputs({self.model(call.owner)}))"
    has_head = any(network.has_head for network in self.networks)
    # Keras 2 takes labels [B] for logits [B, 1] apart in another way outside of `fit`.
    shapes_labels = bool(self.loss) and any(not network.gives_classes for network in self.networks)
    needed = has_head or shapes_labels
    if keys is not None and keys == self.feature_keys and self.scalar_features and not needed:
      return ""
    arguments = ", ".join([self.model(call.owner), *([self.loss] if needed and self.loss else [])])
    return f".map({self.plan.runtime()}.only_inputs({arguments}))"

  def seed(self, network: unit_network.Network) -> list[str]:
    """`tf.random.set_seed(...)` for RunConfig's tf_random_seed."""
    seed = network.policy.seed
    return [f"{self.tf}.random.set_seed({seed})"] if seed else []

  # -- what the subclasses say --------------------------------------------------

  @abc.abstractmethod
  def check(self, networks: list[unit_network.Network]) -> None:
    """Refuses what the target cannot express."""

  @abc.abstractmethod
  def factory(self, network: unit_network.Network, name: str, style: emit.Style) -> list[str]:
    """The function that creates the model."""

  @abc.abstractmethod
  def construct(self, network, made: str, style: emit.Style, first: bool) -> list[str]:
    """Statements in place of the constructor's; `made` is the expression that gives the model."""

  @abc.abstractmethod
  def construct_handle(self, construction, network, made: str, style: emit.Style) -> None:
    """Edits the statement that makes an estimator which flows on from there."""

  @abc.abstractmethod
  def handle_class(self) -> str:
    """The class of what takes the place of an estimator that flows on."""

  @abc.abstractmethod
  def model(self, node: ast.expr) -> str:
    """The Keras model of the estimator that an expression gave."""

  @abc.abstractmethod
  def model_dir(self, node: ast.expr) -> str:
    """An expression for `estimator.model_dir`, where `node` gave the estimator."""

  @abc.abstractmethod
  def newest_checkpoint(self, node: ast.expr) -> str:
    """An expression for `estimator.latest_checkpoint()`."""

  @abc.abstractmethod
  def evaluator(self, node: ast.expr) -> str:
    """An expression that evaluates the weights of the moment, for `runtime.InMemoryEvaluator`."""

  @abc.abstractmethod
  def train(self, call: units.MethodCall) -> None:
    """Edits one train call."""

  @abc.abstractmethod
  def evaluate(self, call: units.MethodCall) -> None:
    """Edits one evaluate call."""

  @abc.abstractmethod
  def predict(self, call: units.MethodCall) -> None:
    """Edits one predict call."""

  @abc.abstractmethod
  def train_and_evaluate(self, call: units.MethodCall) -> None:
    """Edits one call of train_and_evaluate."""

  @abc.abstractmethod
  def export_saved_model(self, call: units.MethodCall) -> None:
    """Edits one call of export_saved_model."""

  def latest_checkpoint(self, call: units.MethodCall) -> None:
    """Edits one call of latest_checkpoint."""
    self.plan.expressions[call.call] = self.newest_checkpoint(call.owner)

  @abc.abstractmethod
  def get_variable_names(self, call: units.MethodCall) -> None:
    """Edits one call of get_variable_names."""

  @abc.abstractmethod
  def get_variable_value(self, call: units.MethodCall) -> None:
    """Edits one call of get_variable_value."""
