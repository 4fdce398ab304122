"""DNNClassifier -> a function that creates the Keras model, layer by layer.

The architecture is that of the canned estimator: Dense layers with activation, each followed
by Dropout, and a last Dense layer for the logits
(https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/estimator/DNNClassifier).
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Optional, Union

from migrator.analysis import facts, units
from migrator.analysis.module import UNKNOWN
from migrator.rewrite import columns, emit, optimizers, run_config
from migrator.rewrite.plan import Plan, Unsupported

# Arguments of the constructor that have no counterpart yet.
_REFUSED = (
  "weight_column",
  "label_vocabulary",
  "input_layer_partitioner",
  "warm_start_from",
  "loss_reduction",
)
# Variables of the generated function; a user's expression in it cannot read others so named.
_LOCALS = frozenset(("inputs", "net", "logits", "model"))


@dataclasses.dataclass
class Network:
  """What one construction of a DNNClassifier becomes.

  Attributes:
    body: statements of the factory up to `logits`, in the style of a nested block.
    model: the expression of the model, of `inputs` and `logits`.
    scope: of the variables' names in checkpoints, less what the model's own layers have of it.
    loss: the expression of the head, which is the Keras loss.
    metrics: for `weighted_metrics=`, "" for none.
    parts: the Keras optimizers, each with the nested model whose weights it trains; "" for all.
    policy: the checkpoint policy.
    directory: the expression of the model directory, and its node; None: a temporary directory.
    columns: the feature columns, with the statements they leave without use.
    config_name: the read of the RunConfig's variable, if it has one.
    warm_start: of the argument `warm_start_from=`, "" for none.
    names: the reads of variables that the new code has no need of.
  """

  body: list[str]
  model: str
  scope: str
  loss: str
  metrics: str
  parts: list[tuple[str, optimizers.Optimizer]]
  policy: run_config.Policy
  directory: Optional[str]
  directory_node: Optional[ast.expr]
  directory_item: Optional[emit.Item]
  columns: columns.Columns
  config_name: Optional[ast.Name]
  warm_start: str = ""
  names: list[ast.Name] = dataclasses.field(default_factory=list)

  def key(self) -> tuple:
    """Constructions with equal keys can share one factory."""
    code = tuple(line for line in self.body if not line.lstrip().startswith("#"))
    return (code, self.model, self.loss, *((part, o.text) for part, o in self.parts))

  def compile_items(self) -> list[Union[emit.Item, str]]:
    """The arguments of `model.compile` within the factory."""
    items: list[Union[emit.Item, str]] = [self.optimizer_item(), f"loss={self.loss}"]
    return [*items, f"weighted_metrics={self.metrics}"] if self.metrics else items

  def optimizer_item(self, model: Optional[str] = None, prefix: str = "optimizer=") -> emit.Item:
    """The optimizer as an argument.

    Args:
      model: the variable of the model, outside of the factory; None within it.
      prefix: of the argument.
    """
    if len(self.parts) == 1:
      return optimizers.as_item(self.parts[0][1], prefix)
    return optimizers.combined(self.parts, model, prefix)


def read(
  plan: Plan, tf: str, unit: units.Unit, construction: units.Construction, exact: bool
) -> Network:
  """Reads one construction.

  Raises:
    Unsupported: an argument that is not carried over.
  """
  arguments = construction.arguments
  for name in _REFUSED:
    if name in arguments and plan.module.constant(arguments[name].value) is not None:
      raise Unsupported("EM208", arguments[name].node, argument=name)
  if "batch_norm" in arguments and plan.module.constant(arguments["batch_norm"].value):
    raise Unsupported("EM208", arguments["batch_norm"].node, argument="batch_norm")
  for name in ("hidden_units", "feature_columns"):
    if name not in arguments:
      raise Unsupported("EM208", construction.call, argument=f"{name} (missing)")
  for node in ast.walk(construction.call):
    if isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
      what = f"`{plan.module.source(node)}` would be evaluated in a function"
      raise Unsupported("EM220", node, what=what)
  call = construction.call
  found = columns.read_columns(plan, arguments["feature_columns"], call)
  policy = run_config.read_policy(plan, arguments.get("config"), call)
  optimizer = optimizers.convert(plan, tf, arguments.get("optimizer"), unit.flavour, exact, call)
  taken = _names(arguments, found, optimizer) & _LOCALS
  if taken:
    what = f"`{min(taken)}` is also a name in the new function"
    raise Unsupported("EM220", call, what=what)
  style = plan.style_at(construction.call).nested()
  body = list(found.comments) or plan.comments.leading(arguments["feature_columns"].node)
  body += columns.input_lines(plan, tf, found, style)
  body += _hidden_layers(plan, tf, arguments, style)
  body += _logits(plan, tf, construction, style)
  directory_node, directory_item = _directory(plan, arguments.get("model_dir"), policy)
  config = arguments.get("config")
  config_name = config.value if config is not None else None
  return Network(
    body,
    f'{tf}.keras.Model(inputs, logits, name="dnn")',
    "dnn",
    loss(tf, unit.flavour),
    '["accuracy"]',
    [("", optimizer)],
    policy,
    plan.source(directory_node) if directory_node is not None else None,
    directory_node,
    directory_item,
    found,
    config_name if isinstance(config_name, ast.Name) else None,
    names=[optimizer.name] if optimizer.name is not None else [],
  )


def _names(arguments: dict[str, facts.Argument], *others) -> set[str]:
  """The variables that the code which goes into the function reads."""
  outside = ("config", "model_dir", "feature_columns", "optimizer")
  nodes: list[ast.AST] = [a.value for name, a in arguments.items() if name not in outside]
  for other in others:
    if isinstance(other, columns.Columns):
      nodes += other.expressions
    else:
      nodes.append(ast.parse(other.text))
  return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)}


def _directory(plan: Plan, argument: Optional[facts.Argument], policy: run_config.Policy):
  if argument is not None and plan.module.constant(argument.value) is not None:
    text = plan.source(argument.value)
    if policy.model_dir is not None and plan.source(policy.model_dir) != text:
      raise Unsupported("EM208", argument.node, argument="a model_dir other than RunConfig's")
    return argument.value, plan.item(argument, text)
  return policy.model_dir, None


def _hidden_layers(plan: Plan, tf: str, arguments, style: emit.Style) -> list[str]:
  hidden, dropout = arguments["hidden_units"], arguments.get("dropout")
  activation = _activation(plan, arguments.get("activation_fn"))
  rate = None
  if dropout is not None and plan.module.constant(dropout.value) is not None:
    rate = plan.source(dropout.value)
    if plan.module.constant(dropout.value) is UNKNOWN:
      rate = f"{plan.atom(dropout.value)} or 0.0"  # None means no dropout
  comments = plan.comments.leading(hidden.node)
  trailing = plan.comments.trailing(hidden.node)
  comments += [trailing] if trailing else []
  for argument in (arguments.get("activation_fn"), dropout):
    if argument is not None:
      comments += plan.comments.leading(argument.node)
      trailing = plan.comments.trailing(argument.node)
      comments += [trailing] if trailing else []
  definition = hidden.value
  if isinstance(definition, (ast.List, ast.Tuple)) and not any(
    isinstance(e, ast.Starred) for e in definition.elts
  ):
    lines = []
    for i, units_node in enumerate(definition.elts):
      name = emit.string(f"hiddenlayer_{i}")
      lines += _layer(tf, plan.source(units_node), activation, name, rate, style)
    return comments + lines
  read = _names(arguments)
  units_name = next(n for n in ("units", "layer_units", "units_of_layer") if n not in read)
  if "i" in read:
    raise Unsupported("EM220", hidden.node, what="`i` is also a name in the new function")
  body = _layer(tf, units_name, activation, 'f"hiddenlayer_{i}"', rate, style.nested())
  head = f"for i, {units_name} in enumerate({plan.source(hidden.value)}):"
  return comments + emit.block(head, body, style)


def _layer(tf, units_text, activation, name, rate, style) -> list[str]:
  items = [units_text, *([f"activation={activation}"] if activation else []), f"name={name}"]
  lines = emit.bracketed(f"net = {tf}.keras.layers.Dense(", items, ")(net)", style)
  if rate is not None:
    lines.append(f"net = {tf}.keras.layers.Dropout({rate})(net)")
  return lines


def _activation(plan: Plan, argument: Optional[facts.Argument]) -> Optional[str]:
  if argument is None:
    return '"relu"'
  if plan.module.constant(argument.value) is None:
    return None
  symbol = plan.module.resolve(argument.value)
  if symbol is not None and symbol.path == "tf.nn.relu":
    return '"relu"'
  if symbol is not None and symbol.path.startswith(("tf.nn.", "tf.tanh", "tf.sigmoid")):
    return plan.source(argument.value)
  if isinstance(plan.module.definition(argument.value), (ast.FunctionDef, ast.Lambda)):
    return plan.source(argument.value)
  raise Unsupported("EM208", argument.node, argument="activation_fn")


def _logits(plan: Plan, tf: str, construction, style: emit.Style) -> list[str]:
  argument = construction.arguments.get("n_classes")
  classes = plan.module.constant(argument.value) if argument is not None else 2
  if classes is UNKNOWN:
    raise Unsupported("EM208", argument.node, argument="n_classes (not known in the file)")
  if not isinstance(classes, int) or classes <= 2:
    node = argument.node if argument is not None else construction.call
    raise Unsupported("EM208", node, argument=f"n_classes={classes} (the binary head)")
  comments = plan.comments.leading(argument.node)
  trailing = plan.comments.trailing(argument.node)
  items = [plan.source(argument.value), 'name="logits"']
  lines = emit.bracketed(f"logits = {tf}.keras.layers.Dense(", items, ")(net)", style)
  if trailing:
    lines[-1] += "  " + trailing
  return comments + lines


def loss(tf: str, flavour: str) -> str:
  """The head's loss: its sum over the batch in v1, its mean in v2."""
  reduction = ', reduction="sum"' if flavour == "v1" else ""
  return f"{tf}.keras.losses.SparseCategoricalCrossentropy(from_logits=True{reduction})"
