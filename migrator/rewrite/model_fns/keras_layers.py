"""Layers and functions of TF1 -> the Keras layers that compute the same, with the names of the old checkpoints.

Signatures: https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/layers. What a layer cannot say is refused.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Optional

from migrator.analysis import facts
from migrator.analysis.model_fns import calls
from migrator.analysis.model_fns.modes import Unreadable
from migrator.rewrite import emit
from migrator.rewrite.plan import Plan


@dataclasses.dataclass(frozen=True)
class Layer:
  """How a function of `tf.layers` is written.

  Attributes:
    keras: the class in `tf.keras.layers`.
    parameters: of the function, behind the input, in order.
    base: what TF1 called it where the program gave no name; "" for what has no weights.
    rank: of its output; None: that of its input.
  """

  keras: str
  parameters: tuple[str, ...]
  base: str = ""
  rank: Optional[int] = None


_REST = tuple(
  """activation use_bias kernel_initializer bias_initializer kernel_regularizer bias_regularizer
  activity_regularizer kernel_constraint bias_constraint trainable name reuse""".split()
)
_CONV = ("filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate", *_REST)
_POOL = ("pool_size", "strides", "padding", "data_format", "name")
_NORM = tuple(
  """axis momentum epsilon center scale beta_initializer gamma_initializer moving_mean_initializer
  moving_variance_initializer beta_regularizer gamma_regularizer beta_constraint gamma_constraint training
  trainable name reuse renorm renorm_clipping renorm_momentum fused virtual_batch_size adjustment""".split()
)
DROPOUT, NORM = "Dropout", "BatchNormalization"
LAYERS = {
  "dense": Layer("Dense", ("units", *_REST), "dense"),
  **{f"conv{n}d": Layer(f"Conv{n}D", _CONV, f"conv{n}d", n + 2) for n in (1, 2, 3)},
  **{f"max_pooling{n}d": Layer(f"MaxPooling{n}D", _POOL, "", n + 2) for n in (1, 2, 3)},
  **{f"average_pooling{n}d": Layer(f"AveragePooling{n}D", _POOL, "", n + 2) for n in (1, 2, 3)},
  "flatten": Layer("Flatten", ("name", "data_format"), "", 2),
  "dropout": Layer(DROPOUT, ("rate", "noise_shape", "seed", "training", "name")),
  "batch_normalization": Layer(NORM, _NORM, "batch_normalization"),
}
_ACTIVATIONS = frozenset(
  "relu sigmoid tanh softmax elu selu softplus softsign swish relu6 leaky_relu".split()
)
# Keras takes these by their names; relu6 and leaky_relu are not called alike in both versions.
_BY_NAME = _ACTIVATIONS - {"relu6", "leaky_relu"}
_ACTIVATION_PATHS = ("tf.nn", "tf", "tf.math", "tf.keras.activations", "tf.sigmoid", "tf.tanh")
# Regularizers of contrib -> those of Keras with the same value.
_CONTRIB = {
  "tf.contrib.layers.l2_regularizer": "l2(0.5 * {})",
  "tf.contrib.layers.l1_regularizer": "l1({})",
}
# May stand, as long as they say nothing.
_UNSAID = {
  "activity_regularizer": (None,),
  "kernel_constraint": (None,),
  "bias_constraint": (None,),
  "beta_constraint": (None,),
  "gamma_constraint": (None,),
  "beta_regularizer": (None,),
  "gamma_regularizer": (None,),
  "trainable": (True,),
  "reuse": (None, False),
  "renorm": (False,),
  "renorm_clipping": (None,),
  "renorm_momentum": (0.99,),
  "virtual_batch_size": (None,),
  "adjustment": (None,),
  "noise_shape": (None,),
  "data_format": ("channels_last",),
  "axis": (-1,),
}


class Arguments:
  """The arguments of one call, as those of a Keras layer.

  Args:
    plan: of the file.
    tf: the name under which the output knows TF2.
    call: the call.
    layer: what it becomes.
  """

  def __init__(self, plan: Plan, tf: str, call: ast.Call, layer: Layer):
    bound = facts.bind_arguments(call, ("inputs", *layer.parameters))
    if bound is None or "inputs" not in bound or set(bound) - {"inputs", *layer.parameters}:
      raise self.refusal(plan, call)
    self._plan = plan
    self._tf = tf
    self._layer = layer
    self.input = bound.pop("inputs").value
    self.given = bound
    # Whether it adds to the loss.
    self.regularized = False

  @staticmethod
  def refusal(plan: Plan, node: ast.AST) -> Unreadable:
    what = plan.module.source(node).partition("\n")[0]
    return Unreadable(node, f"`{what}` is written as no Keras layer")

  def name(self) -> Optional[ast.expr]:
    """The name that the program gives; None for none."""
    argument = self.given.get("name")
    if argument is None or self._plan.module.constant(argument.value) is None:
      return None
    return argument.value

  def items(self) -> list[str]:
    """The arguments, without the name of the layer.

    Raises:
      Unreadable: what no Keras layer has.
    """
    plan = self._plan
    items: list[str] = []
    for name, argument in self.given.items():
      value = plan.module.constant(argument.value)
      if name in ("name", "training"):
        continue
      if name in _UNSAID:
        if not any(value is v or (v is not None and value == v) for v in _UNSAID[name]):
          raise self.refusal(plan, argument.node)
        continue
      if value is None or name == "fused":
        continue  # TF1's defaults are Keras's
      text = self._value(name, argument.value, value)
      first = argument.node is argument.value and len(items) < 2
      items.append(text if first and name in _FIRST else f"{name}={text}")
    return items

  def _value(self, name: str, node: ast.expr, value: object) -> str:
    if name == "activation":
      return activation(self._plan, node)
    if name.endswith("_initializer"):
      return self._initializer(node)
    if name.endswith("_regularizer"):
      self.regularized = True
      return self._regularizer(node)
    if name == "padding" and isinstance(value, str):
      return emit.string(value.lower())
    return self._plan.source(node)

  def _initializer(self, node: ast.expr) -> str:
    called = node.func if isinstance(node, ast.Call) else node
    symbol = self._plan.module.resolve(called)
    path = symbol.path if symbol is not None else ""
    known = path.endswith("_initializer") or ".initializers." in path
    if not known or path.startswith("tf.contrib.") or not isinstance(node, ast.Call):
      raise self.refusal(self._plan, node)
    return self._plan.source(node)

  def _regularizer(self, node: ast.expr) -> str:
    path = calls.path(self._plan.module, node) if isinstance(node, ast.Call) else ""
    if path.startswith("tf.keras.regularizers."):
      return self._plan.source(node)
    assert isinstance(node, ast.AST)
    scale = [*getattr(node, "args", ()), *(k.value for k in getattr(node, "keywords", ()))]
    if path not in _CONTRIB or len(scale) != 1:
      raise self.refusal(self._plan, node)
    return f"{self._tf}.keras.regularizers.{_CONTRIB[path].format(self._plan.atom(scale[0]))}"


_FIRST = frozenset(("units", "filters", "kernel_size", "pool_size", "rate"))


def activation(plan: Plan, node: ast.expr) -> str:
  """An activation as the argument of a layer.

  Raises:
    Unreadable: one that is not known.
  """
  name = activation_name(plan, node)
  if name is None:
    raise Arguments.refusal(plan, node)
  return emit.string(name) if name in _BY_NAME else plan.source(node)


def activation_name(plan: Plan, node: ast.expr) -> Optional[str]:
  """The name of a function that is an activation, None for another one."""
  symbol = plan.module.resolve(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
  head, _, name = symbol.path.rpartition(".") if symbol is not None else ("", "", "")
  return name if head in _ACTIVATION_PATHS and name in _ACTIVATIONS else None
