"""The head of a canned estimator -> the Keras loss, and how many logits there are.

A plain head is a stock loss. Any other is one of `migrator.runtime.heads`, which are losses, too, and
take the arguments of `tf.estimator`'s heads
(https://www.tensorflow.org/versions/r2.15/api_docs/python/tf/estimator/BinaryClassHead).
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Optional

from migrator.analysis import aliases, facts
from migrator.analysis.module import UNKNOWN
from migrator.rewrite import moves
from migrator.rewrite.plan import Plan, Unsupported

# What the flavours' canned estimators do with the losses of a batch, unless they are told.
_DEFAULT_REDUCTION = {"v1": "sum", "v2": "sum_over_batch_size"}
_REDUCTIONS = {
  "v1": {
    "SUM": "sum",
    "MEAN": "mean",
    "SUM_OVER_BATCH_SIZE": "sum_over_batch_size",
    "SUM_OVER_NONZERO_WEIGHTS": "sum_over_nonzero_weights",
    "SUM_BY_NONZERO_WEIGHTS": "sum_over_nonzero_weights",
    "weighted_sum": "sum",
    "weighted_mean": "mean",
    "weighted_sum_over_batch_size": "sum_over_batch_size",
    "weighted_sum_by_nonzero_weights": "sum_over_nonzero_weights",
  },
  "v2": {
    "AUTO": "sum_over_batch_size",
    "SUM": "sum",
    "SUM_OVER_BATCH_SIZE": "sum_over_batch_size",
    "auto": "sum_over_batch_size",
    "sum": "sum",
    "sum_over_batch_size": "sum_over_batch_size",
  },
}

_HEAD_PARAMETERS = {
  "BinaryClassHead": "weight_column thresholds label_vocabulary loss_reduction loss_fn name",
  "LogisticRegressionHead": "weight_column loss_reduction name",
  "MultiClassHead": "n_classes weight_column label_vocabulary loss_reduction loss_fn name",
  "MultiHead": "heads head_weights",
  "MultiLabelHead": """n_classes weight_column thresholds label_vocabulary loss_reduction loss_fn
    classes_for_class_based_metrics name""",
  "PoissonRegressionHead": """label_dimension weight_column loss_reduction compute_full_loss
    name""",
  "RegressionHead": "label_dimension weight_column loss_reduction loss_fn inverse_link_fn name",
}


@dataclasses.dataclass
class Head:
  """A head as source.

  Attributes:
    units: how many logits there are.
    loss: the Keras loss.
    metrics: for `weighted_metrics=`, "" for none.
    comments: the user's, of the argument that says how many logits there are.
    trailing: likewise, at the end of its line.
    reads: the user's expressions in `units` and `loss`.
    names: the variables' reads that the new code has no need of.
  """

  units: str
  loss: str
  metrics: str = ""
  comments: tuple[str, ...] = ()
  trailing: str = ""
  reads: list[ast.expr] = dataclasses.field(default_factory=list)
  names: list[ast.Name] = dataclasses.field(default_factory=list)


def read(plan: Plan, tf: str, kind: str, flavour: str, call: ast.Call, arguments) -> Head:
  """Reads the head of one construction.

  Args:
    plan: of the file.
    tf: the name under which the output knows TF2.
    kind: the estimator's class.
    flavour: "v1" or "v2" of the estimator.
    call: the constructor's.
    arguments: of the constructor, by name.

  Raises:
    Unsupported: a head, or an argument of it, that is not carried over.
  """
  if "Estimator" in kind:
    return _Reader(plan, tf, flavour, call).of_head(arguments)
  reader = _Reader(plan, tf, flavour, call)
  return reader.regression(arguments) if "Regressor" in kind else reader.classes(arguments)


class _Reader:
  """Collects what goes into the loss."""

  def __init__(self, plan: Plan, tf: str, flavour: str, call: ast.Call):
    self._plan = plan
    self._tf = tf
    self._flavour = flavour
    self._call = call
    self._reads: list[ast.expr] = []
    self._names: list[ast.Name] = []

  def classes(self, arguments: dict[str, facts.Argument]) -> Head:
    """The head of a classifier: one logit for two classes, else one for each."""
    plan = self._plan
    given = arguments.get("n_classes")
    number = plan.module.constant(given.value) if given is not None else 2
    if number is UNKNOWN:
      assert given is not None
      return self._unknown_classes(given, arguments)
    if not isinstance(number, int) or number < 2:
      node = given.node if given is not None else self._call
      raise Unsupported("EM208", node, argument=f"n_classes={number}")
    options = self._options(arguments)
    if number == 2:
      loss = self._loss("BinaryClassHead", "BinaryCrossentropy", [], options)
      return self._head("1", loss, given)
    assert given is not None
    text = self._text(given.value)
    loss = self._loss("MultiClassHead", "SparseCategoricalCrossentropy", [text], options)
    return self._head(text, loss, given, "" if "runtime" in loss else '["accuracy"]')

  def _unknown_classes(self, given: facts.Argument, arguments) -> Head:
    """Two classes have a head of their own, and only the running program knows the number."""
    reason = moves.repeat_obstacle(self._plan.module, given.value)
    if reason is not None:
      raise Unsupported("EM208", given.node, argument=f"n_classes ({reason})")
    options = self._options(arguments)
    text = self._text(given.value)
    runtime = self._plan.runtime()
    loss = _call(f"{runtime}.heads.for_classes", [text], self._reduced(options))
    atom = self._plan.atom(given.value)
    return self._head(f"{text} if {atom} > 2 else 1", loss, given)

  def regression(self, arguments: dict[str, facts.Argument]) -> Head:
    """The head of a regressor: a number for each dimension of the label."""
    plan = self._plan
    given = arguments.get("label_dimension")
    number = plan.module.constant(given.value) if given is not None else 1
    options = self._options(arguments)
    if number == 1:
      return self._head("1", self._loss("RegressionHead", "MeanSquaredError", [], options), given)
    assert given is not None
    text = self._text(given.value)
    loss = self._runtime_head("RegressionHead", [f"label_dimension={text}"], options)
    return self._head(text, loss, given)

  def of_head(self, arguments: dict[str, facts.Argument]) -> Head:
    """The head that an estimator was given."""
    given = arguments.get("head")
    if given is None:
      raise Unsupported("EM208", self._call, argument="head (missing)")
    units, loss = self._given_head(given.value)
    return self._head(units, loss, given)

  def _given_head(self, node: ast.expr) -> tuple[str, str]:
    """The number of logits and the loss of one head of the user's."""
    plan, module = self._plan, self._plan.module
    call = self._follow(node)
    symbol = module.resolve(call.func) if isinstance(call, ast.Call) else None
    head, _, name = symbol.path.rpartition(".") if symbol is not None else ("", "", "")
    is_head = head == "tf.estimator" and name in _HEAD_PARAMETERS
    if not is_head or not isinstance(call, ast.Call):
      raise Unsupported("EM264", node, head=module.source(node))
    bound = facts.bind_arguments(call, _HEAD_PARAMETERS[name].split())
    if bound is None or set(bound) - set(_HEAD_PARAMETERS[name].split()):
      raise Unsupported("EM264", call, head=module.source(call))
    for argument in bound.values():
      reason = moves.obstacle(module, argument.value, self._call)
      if reason is not None:
        raise Unsupported("EM264", argument.node, head=f"{name} ({reason})")
    if name == "MultiHead":
      return self._multi_head(bound, call)
    texts = []
    for key, argument in bound.items():
      if key == "loss_reduction":
        reduction = self._reduction(argument, "v2")
        if reduction != "sum_over_batch_size":
          texts.append(f'{key}="{reduction}"')
      elif key == "weight_column":
        texts += [f"{key}={text}" for text in self._weights(argument)]
      elif key == "n_classes":
        texts.insert(0, self._text(argument.value))
      elif module.constant(argument.value) is not None:
        texts.append(f"{key}={self._text(argument.value)}")
    loss = _call(f"{plan.runtime()}.heads.{name}", texts, [])
    if name in ("BinaryClassHead", "LogisticRegressionHead"):
      return "1", loss
    size = bound.get("n_classes") or bound.get("label_dimension")
    if size is None and name.endswith("ClassHead"):
      raise Unsupported("EM264", call, head=f"{name} without n_classes")
    return (self._plan.source(size.value) if size is not None else "1"), loss

  def _multi_head(self, bound: dict[str, facts.Argument], call: ast.Call) -> tuple[str, str]:
    """The logits of all its heads, side by side."""
    module = self._plan.module
    weights = bound.get("head_weights")
    if weights is not None and module.constant(weights.value) is not None:
      raise Unsupported("EM264", weights.node, head="a MultiHead with head_weights")
    heads = self._follow(bound["heads"].value) if "heads" in bound else None
    if not isinstance(heads, (ast.List, ast.Tuple)):
      raise Unsupported("EM264", call, head="a MultiHead whose heads are not written out")
    pairs = [self._given_head(element) for element in heads.elts]
    units = [u for u, _ in pairs]
    known = [int(u) for u in units if u.isdigit()]
    total = str(sum(known)) if len(known) == len(units) else " + ".join(map(_summand, units))
    loss = f"{self._plan.runtime()}.heads.MultiHead([{', '.join(text for _, text in pairs)}])"
    return total, loss

  def _follow(self, node: ast.expr) -> Optional[ast.AST]:
    """What an expression is; a variable's read is noted as needed no more."""
    definition = self._plan.module.definition(node)
    unchanged = (type(None), ast.FunctionDef, ast.ClassDef)
    if isinstance(node, ast.Name) and not isinstance(definition, unchanged):
      self._names.append(node)
    return definition

  def _head(self, units: str, loss: str, given: Optional[facts.Argument], metrics="") -> Head:
    comments: tuple[str, ...] = ()
    trailing = ""
    if given is not None:
      comments = tuple(self._plan.comments.leading(given.node))
      trailing = self._plan.comments.trailing(given.node)
    return Head(units, loss, metrics, comments, trailing, self._reads, self._names)

  def _text(self, node: ast.expr) -> str:
    self._reads.append(node)
    return self._plan.source(node)

  def _options(self, arguments: dict[str, facts.Argument]) -> dict[str, str]:
    """Arguments that make a head more than a stock loss, in the order of the user's."""
    options: dict[str, str] = {}
    constant = self._plan.module.constant
    for name, argument in arguments.items():
      if name == "loss_reduction":
        reduction = self._reduction(argument, self._flavour)
        if reduction != _DEFAULT_REDUCTION[self._flavour]:
          options[name] = f'"{reduction}"'
      elif name == "weight_column":
        options.update((name, text) for text in self._weights(argument))
      elif name == "label_vocabulary" and constant(argument.value) is not None:
        options[name] = self._text(argument.value)
    return options

  def _loss(self, head: str, stock: str, sizes: list[str], options: dict[str, str]) -> str:
    """The stock loss, or where there are options the runtime's head."""
    if options:
      return self._runtime_head(head, sizes, options)
    logits = [] if stock == "MeanSquaredError" else ["from_logits=True"]
    reduction = ['reduction="sum"'] if self._flavour == "v1" else []
    return f"{self._tf}.keras.losses.{stock}({', '.join([*logits, *reduction])})"

  def _runtime_head(self, head: str, sizes: list[str], options: dict[str, str]) -> str:
    return _call(f"{self._plan.runtime()}.heads.{head}", sizes, self._reduced(options))

  def _reduced(self, options: dict[str, str]) -> list[str]:
    """The options, with the reduction of v1, which is not that of the heads."""
    if self._flavour == "v1":
      options = {**options, "loss_reduction": options.get("loss_reduction", '"sum"')}
      if options["loss_reduction"] == '"sum_over_batch_size"':
        del options["loss_reduction"]
    return [f"{name}={text}" for name, text in options.items()]

  def _weights(self, argument: facts.Argument) -> list[str]:
    """The weights' key, or the column with their key: none, or one expression."""
    module = self._plan.module
    if module.constant(argument.value) is None:
      return []
    key = self._plain_key(module.definition(argument.value))
    if key is None:
      return [self._text(argument.value)]
    self._follow(argument.value)
    return [self._text(key)]

  def _plain_key(self, column: Optional[ast.AST]) -> Optional[ast.expr]:
    """The key of a numeric column that is nothing but a key."""
    module = self._plan.module
    symbol = module.resolve(column.func) if isinstance(column, ast.Call) else None
    if symbol is None or symbol.path != "tf.feature_column.numeric_column":
      return None
    assert isinstance(column, ast.Call)
    bound = facts.bind_arguments(column, facts.NUMERIC_COLUMN_PARAMETERS)
    if bound is None or "key" not in bound or set(bound) - {"key", "dtype"}:
      return None
    movable = moves.obstacle(module, bound["key"].value, self._call) is None
    return bound["key"].value if movable else None

  def _reduction(self, argument: facts.Argument, flavour: str) -> str:
    """The name of a reduction among those of the runtime's heads."""
    module = self._plan.module
    symbol = module.resolve(argument.value)
    if not aliases.is_certain(module, argument.value):
      symbol = None
    value = module.constant(argument.value)
    name = value if isinstance(value, str) else ""
    if symbol is not None and ".losses.Reduction." in symbol.path:
      name = symbol.path.rpartition(".")[2]
      # The names are TF1's in `tf.compat.v1.losses`, those of Keras elsewhere.
      keras = symbol.path.startswith("tf.keras.") or symbol.api == "v2"
      flavour = "v2" if keras else (symbol.api or flavour)
    if name not in _REDUCTIONS[flavour]:
      what = module.source(argument.value)
      raise Unsupported("EM208", argument.node, argument=f"loss_reduction={what}")
    return _REDUCTIONS[flavour][name]


def _call(function: str, positional: list[str], keywords: list[str]) -> str:
  return f"{function}({', '.join([*positional, *keywords])})"


def _summand(text: str) -> str:
  return text if text.isidentifier() or text.isdigit() else f"({text})"
