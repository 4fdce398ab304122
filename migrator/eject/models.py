"""A model with live columns -> a function that makes the same model without them."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from typing import Any, Optional

import tensorflow as tf

from migrator.eject.blocks import INNER, STYLE, Blocks
from migrator.eject.functions import Names, literal
from migrator.eject.values import EjectError
from migrator.rewrite import columns_layout
from migrator.runtime import columns as runtime_columns

_LIVE = (
  runtime_columns.DenseFeatures,
  runtime_columns.LinearFeatures,
  runtime_columns.SequenceFeatures,
)


@dataclasses.dataclass(frozen=True)
class Ejected:
  """Printed code.

  Attributes:
    text: of a module with a function.
    problems: what a person has to write, one sentence each.
  """

  text: str
  problems: list[str]


class _Unknown(Exception):
  """The model has a part that cannot be printed."""


def eject(model: Any, origin: str) -> Ejected:
  """Returns the source of a function that makes the model, without live columns.

  Args:
    model: a built Keras model with layers over live columns, also in models within it.
    origin: where it is from: `pkg.module:factory`.

  Raises:
    EjectError: if it has no live columns, or columns for which there are no layers.
  """
  live = list(_live_layers(model, set()))
  if not live:
    raise EjectError(
      f"{origin}: the model {model.name} has no layers over feature columns (runtime.columns."
      "DenseFeatures, LinearFeatures, SequenceFeatures): there is nothing to print."
    )
  names = Names()
  inputs = _inputs(model, live)
  dtypes = {key: tf.as_dtype(tensor.dtype).name for key, tensor in inputs.items()}
  blocks = Blocks(live, names, dtypes)
  lines = [*_input_lines(inputs), *blocks.variable_lines()]
  try:
    printer = _Printer(blocks, names, set(inputs))
    body, variable = printer.model(model, outermost=True)
    lines += body
    if getattr(model, "optimizer", None) is not None:
      lines.append(f"# {variable}.compile(...) as {origin} does it.")
    lines.append(f"return {variable}")
    head = "def create_model():"
  except _Unknown as error:
    names.problems.append(
      f"{error}, so that only what takes the place of the columns is printed: put it into the program."
    )
    results: list[str] = []
    for layer in live:
      results.append(names.free("net" if not results else layer.name))
      lines += blocks.lines(layer, results[-1])
    lines.append(f"return inputs, {', '.join(results)}")
    head = "def create_features():"
  todo = [f"# TODO: {problem}" for problem in names.problems]
  text = "\n".join(
    [
      "import tensorflow as tf",
      "from migrator import runtime",
      *sorted(names.imports),
      "",
      *([*todo, ""] if todo else []),
      "",
      head,
      *(f"{STYLE.indent}{line}" if line else "" for line in lines),
    ]
  )
  return Ejected(text + "\n", names.problems)


def _live_layers(layer: Any, seen: set[int]) -> Iterator[Any]:
  """Yields the live layers of a model and of the models in it, each once."""
  if id(layer) in seen:
    return
  seen.add(id(layer))
  if isinstance(layer, _LIVE):
    yield layer
  inner = list(getattr(layer, "layers", ()))
  if not inner and hasattr(layer, "_flatten_layers"):
    inner = list(layer._flatten_layers(recursive=False, include_self=False))
  for sublayer in inner:
    yield from _live_layers(sublayer, seen)


def _inputs(model: Any, live: list[Any]) -> dict[str, Any]:
  """Returns the Inputs of a functional model by feature, else those that the columns read."""
  found = getattr(model, "input", None) if hasattr(model, "inputs") else None
  if isinstance(found, dict):
    return dict(found)
  return runtime_columns.inputs({c.name: c for layer in live for c in layer.columns})


def _input_lines(inputs: dict[str, Any]) -> list[str]:
  items = []
  for key, tensor in inputs.items():
    arguments = [str([None if n is None else int(n) for n in tuple(tensor.shape)[1:]])]
    dtype = tf.as_dtype(tensor.dtype).name
    arguments += [f"dtype={literal(dtype)}"] if dtype != "float32" else []
    spec = getattr(tensor, "type_spec", None)
    if getattr(tensor, "sparse", False) or isinstance(spec, tf.SparseTensorSpec):
      arguments.append("sparse=True")
    elif getattr(tensor, "ragged", False) or isinstance(spec, tf.RaggedTensorSpec):
      arguments.append("ragged=True")
    arguments += [] if "/" in key else [f"name={literal(key)}"]
    items.append(f"{literal(key)}: tf.keras.Input({', '.join(arguments)})")
  return columns_layout.statement("inputs", f"{{{', '.join(items)}}}", INNER)


class _Printer:
  """Writes the layers of functional models in the order of their calls."""

  def __init__(self, blocks: Blocks, names: Names, features: set[str]):
    self._blocks = blocks
    self._names = names
    self._features = features
    self._printed: set[int] = set()
    self._keys: dict[int, str] = {}

  def model(self, model: Any, outermost: bool = False) -> tuple[list[str], str]:
    """Returns statements that make a functional model, and the variable that it is then.

    Raises:
      _Unknown: for a model that cannot be printed.
    """
    kind = [c.__name__ for c in type(model).__mro__]
    if "Functional" not in kind or "Sequential" in kind:
      raise _Unknown(f"The model {model.name} is not a functional one")
    outputs = tf.nest.flatten(model.output)
    if len(outputs) != 1 or not isinstance(model.input, dict):
      raise _Unknown(f"The model {model.name} has no dictionary of inputs or several outputs")
    self._keys.update((id(tensor), key) for key, tensor in model.input.items())
    uses: dict[int, int] = {}
    _count(outputs[0], uses, set())
    self._once(model)
    target = "logits" if outermost else self._names.free(f"{model.name}_logits")
    lines: list[str] = []
    variables: dict[int, str] = {}
    result = self._tensor(outputs[0], lines, variables, uses, target)
    variable = "model" if outermost else self._names.free(model.name)
    made_up = re.fullmatch(r"(model|functional)(_\d+)?", model.name)
    name = "" if made_up else f", name={literal(model.name)}"
    lines.append(f"{variable} = tf.keras.Model(inputs, {result}{name})")
    return lines, variable

  def _once(self, layer: Any) -> None:
    if id(layer) in self._printed:
      raise _Unknown(f"The layer {layer.name} is called several times")
    self._printed.add(id(layer))

  def _tensor(
    self,
    tensor: Any,
    lines: list[str],
    variables: dict[int, str],
    uses: dict[int, int],
    target: Optional[str] = None,
  ) -> str:
    """Adds the statements for a tensor; returns the variable or expression that it is then."""
    if id(tensor) in variables:
      return variables[id(tensor)]
    layer, sources = _call(tensor)
    if isinstance(layer, _LIVE):
      if any(self._keys.get(id(source)) not in self._features for source in sources):
        raise _Unknown(f"The layer {layer.name} is not called on the inputs themselves")
      self._once(layer)
      variable = target or self._names.free("net")
      lines += self._blocks.lines(layer, variable)
    elif hasattr(layer, "layers"):
      if any(not _is_input(source) for source in sources):
        raise _Unknown(f"The model {layer.name} is called on more than the inputs")
      inner, name = self.model(layer)
      lines += inner
      return f"{name}(inputs)"
    elif _is_input(tensor):
      return f"inputs[{literal(self._keys[id(tensor)])}]"
    else:
      self._once(layer)
      given = [self._tensor(source, lines, variables, uses) for source in sources]
      single = len(given) == 1 and uses[id(sources[0])] == 1 and given[0].isidentifier()
      variable = target or (given[0] if single else self._names.free("net"))
      joined = given[0] if len(given) == 1 else f"[{', '.join(given)}]"
      lines += columns_layout.statement(variable, f"{_stock(layer)}({joined})", INNER)
    variables[id(tensor)] = variable
    return variable


def _call(tensor: Any) -> tuple[Any, list[Any]]:
  """Returns the layer that made a symbolic tensor, and the tensors that it was called on."""
  history = tensor._keras_history
  node = history[0]._inbound_nodes[history[1]]
  if isinstance(history[0], tf.keras.layers.InputLayer):
    return history[0], []
  sources = node.keras_inputs if hasattr(node, "keras_inputs") else node.input_tensors
  return history[0], list(sources)


def _count(tensor: Any, uses: dict[int, int], seen: set[int]) -> None:
  """Counts how often the tensors on the way to one are read."""
  if id(tensor) in seen:
    return
  seen.add(id(tensor))
  for source in _call(tensor)[1]:
    uses[id(source)] = uses.get(id(source), 0) + 1
    _count(source, uses, seen)


def _is_input(tensor: Any) -> bool:
  return isinstance(tensor._keras_history[0], tf.keras.layers.InputLayer)


def _stock(layer: Any) -> str:
  """Returns source of a layer of Keras: what is not the default.

  Raises:
    _Unknown: for any other layer, or what has no source.
  """
  kind = type(layer).__name__
  if getattr(tf.keras.layers, kind, None) is not type(layer):
    raise _Unknown(f"The layer {layer.name} is a {kind}, none of Keras")
  parameters = inspect.signature(type(layer).__init__).parameters
  config = layer.get_config()
  required = {
    name: config[name]
    for name, parameter in parameters.items()
    if name in config and parameter.default is parameter.empty
  }
  default = type(layer)(**required).get_config()
  items = [_argument(layer, value) for value in required.values()]
  for name, value in config.items():
    if name in required or name == "name" or value == default.get(name):
      continue
    if name not in parameters and name not in ("trainable", "dtype"):
      continue
    items.append(f"{name}={_argument(layer, value)}")
  made_up = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", kind).lower()
  if not re.fullmatch(rf"{made_up}(_\d+)?", layer.name):
    items.append(f"name={literal(layer.name)}")
  return f"tf.keras.layers.{kind}({', '.join(items)})"


def _argument(layer: Any, value: Any) -> str:
  parts = value if isinstance(value, (list, tuple)) else [value]
  if all(part is None or isinstance(part, (bool, int, float, str)) for part in parts):
    return literal(value)
  raise _Unknown(f"An argument of the layer {layer.name} has no source: {value!r}")
