"""A canned estimator's construction -> a function that creates the Keras model, layer by layer."""

from __future__ import annotations

import ast
import math
from typing import Optional

from migrator.analysis import facts, units
from migrator.rewrite import (
  added_metrics,
  columns,
  columns_explicit,
  columns_numeric,
  emit,
  head_losses,
  input_fns,
  late_changes,
  moves,
  networks,
  optimizers,
  run_config,
  unit_network,
  warm_start,
)
from migrator.rewrite.plan import Plan, Unsupported

# Of each part of a network: what it is in checkpoints, the argument with its columns and that with
# its optimizer, by the kind of the network.
_PARTS = {
  "DNN": {"dnn": ("feature_columns", "optimizer")},
  "Linear": {"linear": ("feature_columns", "optimizer")},
  "DNNLinearCombined": {
    "dnn": ("dnn_feature_columns", "dnn_optimizer"),
    "linear": ("linear_feature_columns", "linear_optimizer"),
  },
  "Baseline": {"baseline": ("", "optimizer")},
}
_PARTITIONERS = ("input_layer_partitioner", "partitioner")


def read(
  plan: Plan, tf: str, unit: units.Unit, construction: units.Construction, exact: bool
) -> unit_network.Network:
  """Reads one construction.

  Raises:
    Unsupported: an argument that is not carried over.
  """
  return _Reader(plan, tf, unit, construction, exact).read()


class _Reader:
  """Reads one construction, part by part."""

  def __init__(self, plan: Plan, tf: str, unit: units.Unit, construction, exact: bool):
    self._plan = plan
    self._tf = tf
    self._unit = unit
    self._flavour = unit.flavour
    self._call = construction.call
    self._arguments: dict[str, facts.Argument] = construction.arguments
    self._exact = exact
    self._kind = construction.kind
    self._network = self._kind
    for suffix in ("Classifier", "Regressor", "Estimator"):
      self._network = self._network.removesuffix(suffix)
    self._style = plan.style_at(self._call).nested()

  def read(self) -> unit_network.Network:
    """Returns what becomes of the construction."""
    plan, arguments = self._plan, self._arguments
    self._check()
    given = self._given_parts()
    found = self._columns(given) if given else self._any_feature()
    given_parts = list(given) or list(_PARTS[self._network])
    policy = run_config.read_policy(plan, arguments.get("config"), self._call)
    head = head_losses.read(plan, self._tf, self._kind, self._flavour, self._call, arguments)
    parts = [(part, self._optimizer(part, found)) for part in given_parts]
    if len(parts) == 1 and self._network != "DNNLinearCombined":
      parts = [("", parts[0][1])]
    names = [o.name for _, o in parts if o.name is not None] + head.names
    start, start_names = warm_start.read(plan, arguments.get("warm_start_from"), self._call)
    reads = self._reads(head, found, parts)
    body = self._body(given_parts, head, found, reads)
    self._check_names(body, reads)
    node, item = read_directory(plan, arguments.get("model_dir"), policy)
    config = arguments.get("config")
    config_name = config.value if config is not None else None
    combined = self._network == "DNNLinearCombined"
    name = "dnn_linear_combined" if combined else given_parts[0]
    return unit_network.Network(
      body,
      f'{self._tf}.keras.Model(inputs, logits, name="{name}")',
      "" if combined else name,
      head.loss,
      head.metrics,
      parts,
      policy,
      plan.source(node) if node is not None else None,
      node,
      item,
      found,
      config_name if isinstance(config_name, ast.Name) else None,
      start,
      [*names, *start_names],
      added_metrics.read(plan, self._unit, self._call),
    )

  # -- arguments ------------------------------------------------------------------

  def _constant(self, name: str):
    argument = self._arguments.get(name)
    return self._plan.module.constant(argument.value) if argument is not None else None

  def _check(self) -> None:
    """Refuses what cannot be carried over, and reports what is left out."""
    plan = self._plan
    if self._network == "Baseline" and self._flavour == "v2":
      what = "the v2 class fails in TF 2.15 itself"
      raise Unsupported("EM263", self._call, estimator=self._kind, what=what)
    late_changes.check(plan, self._unit, self._call, self._arguments)
    for name in _PARTITIONERS:
      if self._constant(name) is not None:
        plan.report("EM262", self._arguments[name].node, argument=name)
    for node in ast.walk(self._call):
      if isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
        what = f"`{plan.module.source(node)}` would be evaluated in a function"
        raise Unsupported("EM220", node, what=what)

  def _is_empty(self, node: ast.expr) -> bool:
    """Whether there is no column, so that there is no such part of a network with two parts."""
    if self._network != "DNNLinearCombined":
      return False
    if isinstance(node, (ast.List, ast.Tuple)):
      return not node.elts
    return self._plan.module.constant(node) is None

  def _given_parts(self) -> dict[str, facts.Argument]:
    """The argument with the columns of each part of the network that there is."""
    given: dict[str, facts.Argument] = {}
    if self._network == "Baseline":
      return given
    for part, (name, _) in _PARTS[self._network].items():
      argument = self._arguments.get(name)
      if argument is not None and not self._is_empty(argument.value):
        given[part] = argument
    needed = [name for name, _ in _PARTS[self._network].values()] if not given else []
    if "dnn" in given:
      needed = ["dnn_hidden_units" if self._network == "DNNLinearCombined" else "hidden_units"]
    for name in needed:
      if self._constant(name) is None:
        raise Unsupported("EM208", self._call, argument=f"{name} (missing)")
    return given

  def _columns(self, given: dict[str, facts.Argument]) -> columns.Columns:
    sparse = input_fns.parses_examples(self._plan, self._unit)
    return columns.read_parts(self._plan, given, self._call, sparse)

  def _any_feature(self) -> columns.Columns:
    """A feature for a network that only counts the examples of a batch.

    Raises:
      Unsupported: EM263, the file does not show a feature that all input functions give.
    """
    plan = self._plan
    functions = input_fns.of_unit(plan.module, self._unit)
    keys = [input_fns.feature_keys(plan, node) for node in functions]
    known = [k for k in keys if k is not None]
    common = frozenset.intersection(*known) if known and len(known) == len(keys) else frozenset()
    if not common:
      what = "the file does not show the features that its input functions give"
      raise Unsupported("EM263", self._call, estimator=self._kind, what=what)
    key = emit.string(min(common))
    column = columns_numeric.Column(key, "[None]", 1, emit.Item(""), min(common))
    return columns.Columns([column], keys=frozenset([min(common)]), plan=plan)

  def _optimizer(self, part: str, found: columns.Columns) -> optimizers.Optimizer:
    """The optimizer of one part, with what the Estimator took for a name and for nothing.

    The rates are those of TensorFlow's estimator/canned/{dnn,linear,dnn_linear_combined}.py.
    """
    name = _PARTS[self._network][part][1]
    if part == "baseline":
      rule = optimizers.Rule("Ftrl", "0.3")
    elif part == "dnn":
      combined = self._network == "DNNLinearCombined"
      rate = "0.001" if combined else "0.05" if self._flavour == "v1" else None
      rule = optimizers.Rule("Adagrad", rate)
    else:
      rule = self._linear_rule(found)
    own = {part: found.parts[part]} if part in found.parts else {}
    sparse = found.sparse and (part in found.live or columns_explicit.looks_up(own))
    settings = optimizers.Settings(self._tf, self._flavour, self._exact, sparse, self._call)
    return optimizers.convert(self._plan, self._arguments.get(name), rule, settings)

  def _linear_rule(self, found: columns.Columns) -> optimizers.Rule:
    if self._network == "DNNLinearCombined":
      # Less than that only where there are more than 40,000 columns.
      return optimizers.Rule("Ftrl", "0.005")
    number = found.count("linear")
    if number.isdigit():
      ftrl = emit.number(min(0.2, 1.0 / math.sqrt(int(number))))
    else:
      ftrl = f"min(0.2, {number} ** -0.5)"
    # None is not the default: that is "Ftrl", whose rate does not depend on the columns.
    return optimizers.Rule("Ftrl", "0.2", ftrl)

  # -- the new function ---------------------------------------------------------

  def _reads(self, head: head_losses.Head, found: columns.Columns, parts) -> set[str]:
    """The variables that the code which goes into the function reads."""
    own = ("hidden_units", "activation_fn", "dropout", "batch_norm", "sparse_combiner")
    nodes: list[ast.AST] = [
      a.value for n, a in self._arguments.items() if n.endswith(own) or n == "batch_norm"
    ]
    nodes += [*head.reads, *found.expressions, *(ast.parse(o.text) for _, o in parts)]
    return {
      n.id
      for node in nodes
      for n in ast.walk(node)
      if isinstance(n, ast.Name) and not moves.is_own(self._plan.module, n, node)
    }

  def _check_names(self, body: list[str], reads: set[str]) -> None:
    """The new function's own variables must not hide those that the user's code reads."""
    made = {"model"}
    for node in ast.walk(ast.parse("\n".join(body))):
      if isinstance(node, ast.Assign):
        made |= {t.id for t in node.targets if isinstance(t, ast.Name)}
    if made & reads:
      what = f"`{min(made & reads)}` is also a name in the new function"
      raise Unsupported("EM220", self._call, what=what)

  def _body(self, given: list[str], head, found: columns.Columns, reads: set[str]) -> list[str]:
    plan, tf, style = self._plan, self._tf, self._style
    comments = list(found.comments)
    if not comments:
      for name in (_PARTS[self._network][part][0] for part in given):
        if name:
          comments += plan.comments.leading(self._arguments[name].node)
    if given == ["baseline"]:
      text = found.columns[0].key
      lines = emit.bracketed(
        "inputs = {", [f"{text}: {tf}.keras.Input([None], name={text})"], "}", style
      )
      layer = f"logits = {plan.runtime()}.columns.Bias("
      return [
        *lines,
        *head.comments,
        *emit.bracketed(layer, [head.units, 'name="bias"'], ")(inputs)", style),
      ]
    body = comments + found.lines(tf, style)
    combined = self._network == "DNNLinearCombined"
    for part in given:
      name = f"{part}_logits" if combined else "logits"
      body += self._part(part, name, head, found, reads, shown=part != given[0])
      if combined:
        body.append(f'{part} = {tf}.keras.Model(inputs, {name}, name="{part}")')
    if combined:
      terms = [f"{part}(inputs)" for part in given]
      last = f"{tf}.keras.layers.Add()([{', '.join(terms)}])" if len(terms) > 1 else terms[0]
      body.append(f"logits = {last}")
    return body

  def _part(
    self, part: str, name: str, head, found: columns.Columns, reads: set[str], shown: bool
  ) -> list[str]:
    """Statements up to the logits of one part."""
    plan, tf, style = self._plan, self._tf, self._style
    if part == "dnn":
      prefix = "dnn_" if self._network == "DNNLinearCombined" else ""
      lines = found.dense_lines(tf, style)
      lines += networks.hidden_layers(plan, tf, self._arguments, prefix, reads, style)
      last = networks.logits(tf, head.units, style, name)
    else:
      combiner = self._arguments.get(
        "sparse_combiner", self._arguments.get("linear_sparse_combiner")
      )
      text = plan.source(combiner.value) if combiner is not None else ""
      lines = []
      last = found.linear_lines(tf, head.units, text, style, name)
    if shown:
      return [*lines, *last]
    if head.trailing:
      last[-1] += "  " + head.trailing
    return [*lines, *head.comments, *last]


def read_directory(plan: Plan, argument: Optional[facts.Argument], policy: run_config.Policy):
  """The node of the model directory, None for a temporary one; and its item, if it is an argument.

  Raises:
    Unsupported: EM208, another directory than that of the RunConfig.
  """
  if argument is not None and plan.module.constant(argument.value) is not None:
    text = plan.source(argument.value)
    if policy.model_dir is not None and plan.source(policy.model_dir) != text:
      raise Unsupported("EM208", argument.node, argument="a model_dir other than RunConfig's")
    return argument.value, plan.item(argument, text)
  return policy.model_dir, None
