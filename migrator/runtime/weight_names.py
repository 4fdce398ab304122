"""Names of the weights of a Keras model that depend neither on the version of Keras nor on the process.

A name is the way to the weight: `<scope>/<layer>/.../<attribute>`. `Variable.name` and `Variable.path` are
not used: they differ between Keras 2 and Keras 3 and count the models of a process. A layer that stands
for several scopes of the old program says its names itself, with a method `variable_names()`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

# Where Keras itself keeps lists of all weights and layers; the way through them is no name.
_INTERNAL = re.compile(
  r"_(self_.*|obj_reference.*|layers|operations|nodes|tracker|metrics|loss.*|compile.*|optimizer|"
  r"(non_)?trainable_(weights|variables)|inbound_.*|outbound_.*|functional|layer_call_.*|"
  r"keras_.*|unconditional_.*|undeduplicated_.*|saved_model_.*|distribute_.*)"
)
# Wrappers that have one layer: its weights are theirs, as `lstm/kernel` and not `lstm/lstm_cell/kernel`.
_TRANSPARENT = ("cell", "layer")
_DIRECTION = re.compile(r"(forward|backward)_(.*)")
# A canned Estimator made its batch normalization within the scope of the hidden layer.
_BATCH_NORM = re.compile(r"batchnorm_(\d+)")
# TF1's and Keras 2's name of what Keras 3 calls otherwise.
_ATTRIBUTES = {
  ("DepthwiseConv1D", "kernel"): "depthwise_kernel",
  ("DepthwiseConv2D", "kernel"): "depthwise_kernel",
}


def weight_names(model: Any, scope: str = "") -> dict[str, Any]:
  """Returns the weights of a built model by stable name.

  The layers of a functional or sequential model are called by their names. What a layer or a subclassed
  model keeps in an attribute is called by its name if the program gave it one, else by the attribute,
  `blocks/0` in a list: a name that Keras made counts the layers of the process. The cell of an RNN and the
  layer within TimeDistributed and SpectralNormalization add nothing. A layer that is reached on several
  ways is called as one of the model's `layers` if it is one of them, else by the first way in the order of
  the names.

  A layer with a method `variable_names()` -> {name: weight} has those names in place of the way to it. They
  begin with the scope of the model that holds the layer, nested models are scopes of their own; with a
  leading "/" they are whole. The layer `batchnorm_0` is `hiddenlayer_0/batchnorm_0` beside a `hiddenlayer_0`.

  Args:
    model: a built Keras model with unique layer names.
    scope: what the names begin with, e.g. "dnn".

  Returns:
    `<scope>/<layer>/<attribute>` -> the Keras weight. Not the state of random number generators.

  Raises:
    ValueError: if the model is not built, or two weights have the same name, or one has none.
  """
  if hasattr(model, "named_variables"):  # A runtime.Network knows its names.
    return dict(model.named_variables)
  if not model.built:
    raise ValueError(
      f"The model {model.name} has no weights yet: give it an Input layer, or call it once on a batch."
    )
  walk = _Walk(model)
  walk.collect(model, scope, scope)
  walk.check()
  order = {id(weight): place for place, weight in enumerate(model.weights)}
  return dict(sorted(walk.names.items(), key=lambda item: order[id(item[1])]))


class _Walk:
  """The way through a model.

  Attributes:
    names: name -> weight.
  """

  def __init__(self, model: Any):
    self.names: dict[str, Any] = {}
    self._left = {id(w): w for w in model.weights}
    self._named: set[int] = set()
    self._seen: set[int] = set()
    # Layers of functional models, by the name that they have there.
    self._places: dict[int, str] = {}
    self._model = model

  def collect(self, layer: Any, prefix: str, scope: str) -> None:
    """Adds the weights of a layer or model, and those of what it holds.

    Args:
      layer: the layer.
      prefix: the way to it.
      scope: the way to the model that holds it.
    """
    if id(layer) in self._seen or self._places.get(id(layer), prefix) != prefix:
      return
    self._seen.add(id(layer))
    is_graph = _is_graph(layer)
    if isinstance(layer, tf.keras.Model):
      scope = prefix
    self._add_own_names(layer, scope)
    if is_graph:
      # Versions of Keras order them differently.
      sublayers = sorted(layer.layers, key=lambda sublayer: sublayer.name)
      places = _places(sublayers, prefix)
      for sublayer in sublayers:
        self._places.setdefault(id(sublayer), places[sublayer.name])
      for sublayer in sublayers:
        self.collect(sublayer, places[sublayer.name], scope)
    for attribute, value in _attributes(layer):
      if id(value) in self._left:
        name = _ATTRIBUTES.get((type(layer).__name__, attribute), attribute)
        self._add(_join(prefix, name), value)
      elif isinstance(value, tf.keras.layers.Layer):
        self.collect(value, _join(prefix, _name(layer, attribute, value)), scope)
      elif isinstance(value, tf.Variable) and self._is_lost(layer, value):
        raise ValueError(
          f"{_join(prefix, attribute)} is a tf.Variable that Keras neither trains nor saves: make it "
          "with add_weight."
        )
      else:
        for key, part in _parts(value, set()):
          if id(part) in self._left:
            self._add(_join(prefix, attribute, key), part)
          elif isinstance(part, tf.keras.layers.Layer):
            self.collect(part, _join(prefix, _name(layer, f"{attribute}/{key}", part)), scope)
    if not is_graph:
      for sublayer in getattr(layer, "layers", ()):
        self.collect(sublayer, _join(prefix, sublayer.name), scope)

  def _add_own_names(self, layer: Any, scope: str) -> None:
    """Adds the weights to which a layer gives names itself."""
    if isinstance(layer, tf.keras.Model) or not callable(getattr(layer, "variable_names", None)):
      return
    for name, weight in layer.variable_names().items():
      if id(weight) in self._left:
        self._add(name[1:] if name.startswith("/") else _join(scope, name), weight)

  def _add(self, name: str, weight: Any) -> None:
    if name in self.names:
      raise ValueError(f"Two weights of the model are called {name}: give the layers unique names.")
    self._named.add(id(weight))
    self.names[name] = self._left.pop(id(weight))

  def _is_lost(self, layer: Any, value: tf.Variable) -> bool:
    """Returns whether Keras 3 does not know of a variable; Keras 2, whose layers are modules, does."""
    return value.trainable and id(value) not in self._named and not isinstance(layer, tf.Module)

  def check(self) -> None:
    """Raises if a weight has not been reached.

    Raises:
      ValueError: naming those.
    """
    if self._left:
      raise ValueError(
        f"{len(self._left)} weights of {self._model.name} are no attributes of its layers, so that a "
        "checkpoint has no stable name for them: "
        f"{', '.join(str(getattr(w, 'path', w.name)) for w in self._left.values())}."
      )


def _places(sublayers: list, prefix: str) -> dict[str, str]:
  """Returns the way to each layer of a functional model, by its name."""
  places = {sublayer.name: _join(prefix, sublayer.name) for sublayer in sublayers}
  for name in list(places):
    match = _BATCH_NORM.fullmatch(name)
    if match and f"hiddenlayer_{match.group(1)}" in places:
      places[name] = _join(prefix, f"hiddenlayer_{match.group(1)}", name)
  return places


def _is_graph(layer: Any) -> bool:
  """Returns whether the layers of a model are called by their names."""
  return any(c.__name__ in ("Functional", "Sequential") for c in type(layer).__mro__)


def _attributes(layer: Any) -> list[tuple[str, Any]]:
  """Returns the attributes of a layer, the public ones first, without what Keras keeps of its own."""
  found = [(n, v) for n, v in vars(layer).items() if not _INTERNAL.fullmatch(n)]
  found.sort(key=lambda item: (item[0].startswith("_"), item[0]))
  return [(name.lstrip("_"), value) for name, value in found]


def _parts(value: Any, seen: set[int]) -> Iterator[tuple[str, Any]]:
  """Yields what lists, tuples and dictionaries hold, also within each other."""
  items: Any = ()
  if isinstance(value, (list, tuple)):
    items = enumerate(value)
  elif isinstance(value, dict):
    items = sorted(value.items(), key=lambda item: str(item[0]))
  if not items or id(value) in seen:
    return
  seen.add(id(value))
  for key, part in items:
    yield str(key), part
    for inner_key, inner in _parts(part, seen):
      yield f"{key}/{inner_key}", inner


def _name(parent: Any, attribute: str, layer: Any) -> str:
  """Returns what a layer adds to the names of its weights; "" for nothing."""
  if attribute in _TRANSPARENT and _is_transparent(parent):
    return ""
  match = _DIRECTION.fullmatch(layer.name)
  if match and isinstance(parent, tf.keras.layers.Bidirectional):
    name = match.group(2)
    return f"{match.group(1)}_{_snake(layer) if _is_made_up(layer, name) else name}"
  return attribute if _is_made_up(layer, layer.name) else layer.name


def _is_transparent(parent: Any) -> bool:
  layers = tf.keras.layers
  return isinstance(parent, (layers.RNN, layers.TimeDistributed, layers.SpectralNormalization))


def _is_made_up(layer: Any, name: str) -> bool:
  """Returns whether Keras would make up such a name: `dense`, `dense_7`."""
  return re.fullmatch(re.escape(_snake(layer)) + r"(_\d+)?", name) is not None


def _snake(layer: Any) -> str:
  """Returns the name of the class as Keras writes it in the names of layers."""
  name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", type(layer).__name__))
  return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


def _join(*parts: str) -> str:
  return "/".join(part for part in parts if part)
