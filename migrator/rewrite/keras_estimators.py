"""`tf.keras.estimator.model_to_estimator` -> the Keras model itself.

https://www.tensorflow.org/versions/r2.15/api_docs/python/tf/keras/estimator/model_to_estimator
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Optional

from migrator.analysis import units
from migrator.rewrite import canned, columns, emit, keras_models, run_config, unit_network
from migrator.rewrite.plan import Plan, Unsupported

KIND = units.KERAS
# They say how the Estimator copied its model, or in which form it wrote checkpoints: both are read.
_WITHOUT_EFFECT = ("custom_objects", "checkpoint_format")


@dataclasses.dataclass
class KerasNetwork(unit_network.Network):
  """What one call of model_to_estimator becomes; `model` is the expression of the user's model.

  Attributes:
    call: the call.
    optimizer_flavour: "v1" for an optimizer of tf.train, which names its slots so; else "v2".
    weighted: whether the features may bring weights of the examples.
  """

  call: Optional[ast.Call] = None
  optimizer_flavour: str = "v2"
  weighted: bool = False

  def key(self) -> tuple:
    """Each has a model of its own."""
    return (self.model, self.loss, id(self.call))

  @property
  def flavour(self) -> str:
    """The flavour of the checkpoint."""
    return self.optimizer_flavour

  @property
  def is_keras(self) -> bool:
    """True."""
    return True

  @property
  def has_weights(self) -> bool:
    """Whether the input functions may give the weights of the examples."""
    return self.weighted

  def optimizer_item(self, model: Optional[str] = None, prefix: str = "optimizer=") -> emit.Item:
    """The optimizer with which the model is compiled."""
    return emit.Item(f"{prefix}{model}.optimizer")

  def step_loss(self, model: str, loss: str, weights: str) -> str:
    """The compiled loss, with what regularization adds, of a batch."""
    del loss
    outputs = f"{model}(features, training=True)"
    return f"{model}.compute_loss(features, labels, {outputs}{weights})"


def read(
  plan: Plan, tf: str, unit: units.Unit, construction: units.Construction, exact: bool
) -> KerasNetwork:
  """Reads one call of model_to_estimator.

  Raises:
    Unsupported: an argument that is not carried over.
  """
  arguments, call = construction.arguments, construction.call
  constant = plan.module.constant
  given = {n: a for n, a in arguments.items() if constant(a.value) is not None}
  if "export_outputs" in given:
    raise Unsupported("EM208", given["export_outputs"].node, argument="export_outputs")
  if unit.added_metrics:
    raise Unsupported("EM209", unit.added_metrics[0].call, name="add_metrics on a Keras model")
  if "keras_model" in given:
    node = given["keras_model"].value
    model = plan.source(node)
  elif "keras_model_path" in given:
    node = given["keras_model_path"].value
    model = f"{tf}.keras.models.load_model({plan.source(node)})"
    if "custom_objects" in given:
      objects = plan.source(given["custom_objects"].value)
      model = f"{model[:-1]}, custom_objects={objects})"
  else:
    raise Unsupported("EM208", call, argument="keras_model (missing)")
  policy = run_config.read_policy(plan, arguments.get("config"), call)
  _keep(plan, construction, policy)
  directory, item = canned.read_directory(plan, arguments.get("model_dir"), policy)
  text = ""
  if "metric_names_map" in given:
    text = f"metric_names_map={plan.source(given['metric_names_map'].value)}"
  config = arguments.get("config")
  compiled = keras_models.read(plan, tf, node, call, exact)
  if "keras_model" in given:
    keras_models.report_reads(plan, node, call)
  return KerasNetwork(
    [],
    model,
    "",
    f"{plan.runtime()}.heads.CompiledHead({text})",
    "",
    [],
    policy,
    plan.source(directory) if directory is not None else None,
    directory,
    item,
    columns.Columns([], plan=plan),
    config.value if config is not None and isinstance(config.value, ast.Name) else None,
    call=call,
    optimizer_flavour=compiled,
    weighted=keras_models.mentions(plan, "sample_weights"),
    names=[
      a.value for n, a in given.items() if n in _WITHOUT_EFFECT and isinstance(a.value, ast.Name)
    ],
  )


def _keep(plan: Plan, construction: units.Construction, policy: run_config.Policy) -> None:
  """Writes out what the Estimator kept: its Saver of objects did not know the RunConfig.

  Raises:
    Unsupported: EM208, a format that only the running program knows.
  """
  argument = construction.arguments.get("checkpoint_format")
  version = {"v1": 1, "v2": 2}.get(construction.symbol.api, plan.source_version)
  written = plan.module.constant(argument.value) if argument is not None else None
  if written is None:
    written = "saver" if version == 1 else "checkpoint"
  if argument is not None and written not in ("saver", "checkpoint"):
    raise Unsupported("EM208", argument.node, argument="checkpoint_format")
  if written == "saver":
    return
  usual = {"keep_checkpoint_max": 5, "keep_checkpoint_every_n_hours": 10000}
  for name, value in usual.items():
    node = policy.values.get(name)
    if node is not None and plan.module.constant(node) != value:
      plan.report("EM294", node, name=name, value=value)
      item = policy.arguments[name]
      policy.arguments[name] = emit.Item(str(value), item.leading, item.trailing)


def variable(plan: Plan, unit: units.Unit) -> str:
  """The user's variable of the model, where it may stand for the estimator's; else the estimator's name."""
  if len(unit.constructions) != 1 or unit.handle:
    return unit.name
  construction = unit.constructions[0]
  argument = construction.arguments.get("keras_model")
  if construction.kind != KIND or argument is None or not isinstance(argument.value, ast.Name):
    return unit.name
  module, name = plan.module, argument.value
  scope, bindings = module.scope_of[name].lookup(name.id)
  scopes = {module.scope_of[call.call] for call in unit.calls}
  same = scope is module.scope_of[construction.call] and scopes <= {scope}
  return name.id if same and len(bindings) == 1 else unit.name
