"""What the targets have in common: reading a unit's calls and writing it whole."""

from __future__ import annotations

import abc
import ast
from typing import Optional

from migrator.analysis import facts, units
from migrator.rewrite import built_in_hooks, canned, emit, hook_lists, input_fns
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

  def __init__(self, plan: Plan, tf: str, unit: units.Unit, exact: bool):
    self.plan = plan
    self.tf = tf
    self.unit = unit
    self.exact = exact
    self.feature_keys: Optional[frozenset[str]] = None
    self.scalar_features = False
    # The constructions, and the model directory of each; None for a temporary one.
    self.directories: list[tuple[ast.Call, Optional[ast.expr]]] = []

  def write(self) -> list[canned.Network]:
    """Plans all edits of the unit.

    Returns:
      The networks, for what their statements leave without use.

    Raises:
      Unsupported: something in the unit cannot be carried over.
    """
    if not any(c.method == "train" for c in self.unit.calls) and not self.unit.calls:
      node = self.unit.constructions[0].call
      raise Unsupported("EM212", node, what="is not used in this file")
    factories: dict[tuple, str] = {}
    networks = []
    for construction in self.unit.constructions:
      network = canned.read(self.plan, self.tf, self.unit, construction, self.exact)
      networks.append(network)
      self.directories.append((construction.call, network.directory_node))
      same = len(networks) == 1 or network.columns.keys == self.feature_keys
      self.feature_keys = network.columns.keys if same else None
      self.scalar_features = all(c.shape == "[1]" for n in networks for c in n.columns.columns)
      self._construction(construction, network, factories, first=len(networks) == 1)
    self.check(networks)
    for read in self.unit.model_dir_reads:
      self.plan.expressions[read] = self.model_dir()
    for made, name in self.unit.eval_dir_calls.items():
      self.plan.needs("import os")
      self.plan.expressions[made] = f"os.path.join({self.model_dir()}, {emit.string(name)})"
    for call in self.unit.calls:
      self._check_call(call)
      self.plan.keep_comments(call.call)
      getattr(self, call.method)(call)
    built_in_hooks.check_estimators(self.plan, self.unit)
    return networks

  def _construction(self, construction, network, factories, first: bool) -> None:
    plan = self.plan
    self._note_moved_comments(construction, network)
    edit = plan.statement(construction.call)
    style = plan.style_at(construction.call)
    statement = plan.module.statement(construction.call)
    block = plan.module.parents[statement]
    key = (block, network.key())
    if key not in factories:
      factories[key] = plan.fresh(f"create_{self.unit.name}", f"make_{self.unit.name}")
      edit.before += self.factory(network, factories[key], style)
    else:
      edit.comments += plan.argument_comments(construction.call)
      if not self.rebuilds:
        edit.replacement = []
        return
    edit.leading_first = first
    edit.replacement = self.construct(network, factories[key], style, first)

  def _note_moved_comments(self, construction, network: canned.Network) -> None:
    """Comments that the new code shows need no place above the statement."""
    shown = [line.strip() for line in network.body if line.lstrip().startswith("#")]
    for item in network.policy.arguments.values():
      shown += [*item.leading, item.trailing]
    self.plan.moved_comments.update(c for c in [*shown, *network.policy.comments] if c)

  def _check_call(self, call: units.MethodCall) -> None:
    plan, arguments = self.plan, call.arguments
    if not hasattr(self, call.method):
      raise Unsupported("EM209", call.call, name=call.method)
    for name in arguments:
      if name not in facts.METHOD_PARAMETERS[call.method]:
        raise Unsupported("EM209", arguments[name].node, name=f"{call.method}({name}=)")
    if "input_fn" not in arguments:
      raise Unsupported("EM205", call.call, what="a missing input_fn")
    path = arguments.get("checkpoint_path")
    if path is not None and plan.module.constant(path.value) is not None:
      raise Unsupported("EM209", path.node, name=f"{call.method}(checkpoint_path=)")

  def callbacks(self, call: units.MethodCall) -> list[str]:
    """Elements of the list of callbacks for the hooks of a call."""
    return hook_lists.callbacks(self.plan, self.tf, call.arguments.get("hooks"), use=call.method)

  def listeners(self, call: units.MethodCall) -> list[str]:
    """Elements of the list of those who hear of the saves of a train call."""
    given = call.arguments.get("saving_listeners")
    return hook_lists.callbacks(self.plan, self.tf, given, use="listener")

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
      texts.append(self.plan.source(argument.value) if argument and given else None)
    if None not in texts:
      raise Unsupported("EM209", call.call, name="train() with both steps and max_steps")
    return texts[0], texts[1]

  def method_items(self, call: units.MethodCall, keywords) -> list[str]:
    """The Dataset and the remaining arguments of an evaluate or predict call."""
    plan, arguments = self.plan, call.arguments
    items = [input_fns.dataset(plan, self.tf, arguments["input_fn"].value)]
    for name, argument in arguments.items():
      if name in keywords:
        items.append(f"{name}={plan.source(argument.value)}")
      elif name not in ("input_fn", "hooks", "saving_listeners", "checkpoint_path"):
        raise Unsupported("EM209", argument.node, name=f"{call.method}({name}=)")
    own = self.callbacks(call)
    return [*items, f"callbacks={one_list(own)}"] if own else items

  def selection(self, call: units.MethodCall) -> str:
    """`.map(...)` that drops features which no column reads, and shapes those that one reads.

    The Estimator ignored them; Keras 3 takes the features of a dict in the order of their
    names, and would feed the wrong ones. "" where the file shows that there are none.
    """
    keys = input_fns.feature_keys(self.plan, call.arguments["input_fn"].value)
    if keys is not None and keys == self.feature_keys and self.scalar_features:
      return ""
    return f".map({self.plan.runtime()}.only_inputs({self.unit.name}))"

  def seed(self, network: canned.Network) -> list[str]:
    """`tf.random.set_seed(...)` for RunConfig's tf_random_seed."""
    seed = network.policy.seed
    return [f"{self.tf}.random.set_seed({seed})"] if seed else []

  # -- what the subclasses say --------------------------------------------------

  @abc.abstractmethod
  def check(self, networks: list[canned.Network]) -> None:
    """Refuses what the target cannot express."""

  @abc.abstractmethod
  def factory(self, network: canned.Network, name: str, style: emit.Style) -> list[str]:
    """The function that creates the model."""

  @abc.abstractmethod
  def construct(self, network, factory: str, style: emit.Style, first: bool) -> list[str]:
    """Statements in place of the constructor's."""

  @abc.abstractmethod
  def model_dir(self) -> str:
    """An expression for `estimator.model_dir`."""

  @abc.abstractmethod
  def evaluator(self, node: ast.AST) -> str:
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
