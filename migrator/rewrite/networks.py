"""The layers of the canned networks behind their input layers, as source.

The architecture is that of the canned estimators: Dense layers with activation, each followed by
Dropout and BatchNormalization where they are asked for, and a last Dense layer for the logits
(https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/estimator/DNNClassifier).
"""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis import aliases, facts
from migrator.analysis.module import UNKNOWN
from migrator.rewrite import emit
from migrator.rewrite.plan import Plan, Unsupported

# What TF1's canned networks gave their batch normalization; Keras's own momentum is another one.
_BATCH_NORM = "momentum=0.999, epsilon=0.001"
_ACTIVATIONS = ("tf.nn.", "tf.keras.activations.", "tf.math.", "tf.tanh", "tf.sigmoid")


def hidden_layers(
  plan: Plan,
  tf: str,
  arguments: dict[str, facts.Argument],
  prefix: str,
  reads: set[str],
  style: emit.Style,
) -> list[str]:
  """Statements that put the hidden layers behind `net`.

  Args:
    plan: of the file.
    tf: the name under which the output knows TF2.
    arguments: of the constructor.
    prefix: of the arguments' names, "dnn_" in a wide and deep network.
    reads: the variables that the user's code in the function reads.
    style: of the function's body.

  Raises:
    Unsupported: an argument that is not carried over.
  """
  hidden = arguments[f"{prefix}hidden_units"]
  optional = [arguments.get(prefix + n) for n in ("activation_fn", "dropout")]
  optional.append(arguments.get("batch_norm"))
  activation = _activation(plan, optional[0])
  comments: list[str] = []
  for argument in (hidden, *optional):
    if argument is not None:
      comments += plan.comments.leading(argument.node)
      comments += filter(None, [plan.comments.trailing(argument.node)])
  rate, norm = _dropout(plan, optional[1]), optional[2]
  definition = hidden.value
  if isinstance(definition, (ast.List, ast.Tuple)) and not any(
    isinstance(e, ast.Starred) for e in definition.elts
  ):
    lines = []
    for i, node in enumerate(definition.elts):
      name = emit.string(f"hiddenlayer_{i}")
      lines += _layer(tf, plan.source(node), activation, name, rate, style)
      lines += _batch_norm(plan, tf, norm, emit.string(f"batchnorm_{i}"), style)
    return comments + lines
  units = next(n for n in ("units", "layer_units", "units_of_layer") if n not in reads)
  if "i" in reads:
    raise Unsupported("EM220", hidden.node, what="`i` is also a name in the new function")
  # TF1's layers took what a command line gave: texts.
  count = units if _are_numbers(plan, hidden.value) else f"int({units})"
  body = _layer(tf, count, activation, 'f"hiddenlayer_{i}"', rate, style.nested())
  body += _batch_norm(plan, tf, norm, 'f"batchnorm_{i}"', style.nested())
  head = f"for i, {units} in enumerate({plan.source(hidden.value)}):"
  return comments + emit.block(head, body, style)


def _are_numbers(plan: Plan, node: ast.expr) -> bool:
  """Whether the elements of a list of units are not texts, as far as the file shows."""
  found = [node, plan.module.definition(node)]
  return not any(
    isinstance(inner, ast.Attribute) and inner.attr in ("split", "strip", "splitlines")
    for part in found
    if part is not None
    for inner in ast.walk(part)
    if not _is_converted(plan, inner)
  )


def _is_converted(plan: Plan, node: ast.AST) -> bool:
  """Whether a part of an expression stands in one that makes numbers of its texts."""
  for ancestor in plan.module.ancestors(node):
    if isinstance(ancestor, ast.stmt):
      return False
    makes: Optional[ast.AST] = None
    if isinstance(ancestor, (ast.ListComp, ast.GeneratorExp)) and isinstance(
      ancestor.elt, ast.Call
    ):
      makes = ancestor.elt.func
    elif isinstance(ancestor, ast.Call) and getattr(ancestor.func, "id", "") == "map":
      makes = ancestor.args[0] if ancestor.args else None
    if isinstance(makes, ast.Name) and makes.id == "int":
      return True
  return False


def _dropout(plan: Plan, dropout: Optional[facts.Argument]) -> Optional[str]:
  if dropout is None or plan.module.constant(dropout.value) is None:
    return None
  if plan.module.constant(dropout.value) is UNKNOWN:
    return f"{plan.atom(dropout.value)} or 0.0"  # None means no dropout
  return plan.source(dropout.value)


def _layer(tf, units_text, activation, name, rate, style) -> list[str]:
  items = [units_text, *([f"activation={activation}"] if activation else []), f"name={name}"]
  lines = emit.bracketed(f"net = {tf}.keras.layers.Dense(", items, ")(net)", style)
  if rate is not None:
    lines.append(f"net = {tf}.keras.layers.Dropout({rate})(net)")
  return lines


def _batch_norm(plan: Plan, tf, argument: Optional[facts.Argument], name, style) -> list[str]:
  asked = plan.module.constant(argument.value) if argument is not None else False
  if argument is None or not asked:
    return []
  known = asked is not UNKNOWN
  items = [*_BATCH_NORM.split(", "), f"name={name}"]
  head = f"net = {tf}.keras.layers.BatchNormalization("
  lines = emit.bracketed(head, items, ")(net)", style if known else style.nested())
  return lines if known else emit.block(f"if {plan.source(argument.value)}:", lines, style)


def _activation(plan: Plan, argument: Optional[facts.Argument]) -> Optional[str]:
  if argument is None:
    return '"relu"'
  if plan.module.constant(argument.value) is None:
    return None
  symbol = plan.module.resolve(argument.value)
  certain = aliases.is_certain(plan.module, argument.value)
  if certain and symbol is not None and symbol.path == "tf.nn.relu":
    return '"relu"'
  if symbol is not None and not symbol.path.startswith(_ACTIVATIONS):
    raise Unsupported("EM208", argument.node, argument="activation_fn")
  return plan.source(argument.value)


def logits(tf: str, units: str, style: emit.Style, name: str = "logits") -> list[str]:
  """Statements that put the last layer behind `net`; its result is called `name`."""
  items = [units, 'name="logits"']
  return emit.bracketed(f"{name} = {tf}.keras.layers.Dense(", items, ")(net)", style)
