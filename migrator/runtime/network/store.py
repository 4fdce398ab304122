"""Keeps the variables that code in the style of TF1 makes, one for each name, across traces of a function."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any, Callable

import tensorflow as tf

_v1 = tf.compat.v1
_KEYS = _v1.GraphKeys
# A function's graph shares these with the graph around it, and code in the style of TF1 writes to them.
_SHARED = (
  ("__variable_store",),
  ("__varscope",),
  _KEYS.GLOBAL_VARIABLES,
  _KEYS.LOCAL_VARIABLES,
  _KEYS.MODEL_VARIABLES,
  _KEYS.TRAINABLE_VARIABLES,
  _KEYS.MOVING_AVERAGE_VARIABLES,
  _KEYS.GLOBAL_STEP,
  _KEYS.LOSSES,
  _KEYS.REGULARIZATION_LOSSES,
  _KEYS.UPDATE_OPS,
  _KEYS.SUMMARIES,
  _KEYS.ACTIVATIONS,
  _KEYS.WEIGHTS,
  _KEYS.BIASES,
)
_PART = re.compile(r"(.*)/part_\d+")
# What a layer of Keras 3 keeps of its random numbers; TF1 had it outside of variables.
_RANDOM_STATE = re.compile(r"(.*/)?seed_generator_state(_\d+)?")


def _without_second_scopes(name: str) -> str:
  """Returns the name of a variable without the numbers that come of Keras 3 opening a layer's scope twice.

  It opens it when it builds the layer, and again when it calls it, which is numbered. So the layer `dense_1`
  would find its scope taken by the call of `dense`, and have `dense_1_1`. Keras 2 opened the scope once, and
  built the layer in it.

  Args:
    name: with the scopes of the graph.
  """
  if not hasattr(tf.keras.layers.Layer, "path"):  # Keras 2
    return name
  # A layer's path has the names of the layers around it, and no numbers of scopes.
  here = tf.keras.layers.Layer(name="here")
  here.build(None)
  path = here.path.split("/")[:-1]
  *scopes, own = name.split("/")
  first = len(scopes) - len(path)
  if first < 0 or not all(map(_is_numbered, scopes[first:], path)):
    return name
  return "/".join([*scopes[:first], *path, own])


def _is_numbered(scope: str, name: str) -> bool:
  return re.fullmatch(re.escape(name) + r"(_\d+)?", scope) is not None


class VariableStore:
  """The variables by their TF1 names: `tf.Variable`s of eager TensorFlow, each made once.

  Attributes:
    variables: all that a TF1 checkpoint holds, in the order in which they were made.
    others: those that it does not hold: local ones, and the state of random number generators.
    global_step: what `tf.compat.v1.train.get_global_step()` finds.
    complete: whether all variables have been made.
  """

  def __init__(self, global_step: tf.Variable):
    self.variables: dict[str, tf.Variable] = {}
    self.others: dict[str, tf.Variable] = {}
    self.global_step = global_step
    self.complete = False
    self._making = False
    self._used: set[str] = set()
    self._graph: Any = None

  @contextlib.contextmanager
  def fresh(self) -> Iterator[None]:
    """Lets code run as at the beginning of a graph, and gives it the variables that it made before.

    What the graph's collections held is there again at the end. Within it they hold what this code adds,
    each variable once, as if it had been made now.
    """
    graph = _v1.get_default_graph()
    saved = {key: list(graph.get_collection_ref(key)) for key in _SHARED}
    used, self._used = self._used, set()
    around, self._graph = self._graph, graph
    for key in _SHARED:
      graph.clear_collection(key)
    graph.add_to_collection(_KEYS.GLOBAL_STEP, self.global_step)
    graph.add_to_collection(_KEYS.GLOBAL_VARIABLES, self.global_step)
    try:
      with tf.variable_creator_scope(self._create):
        yield
    finally:
      self._used, self._graph = used, around
      for key in _SHARED:
        graph.clear_collection(key)
        graph.get_collection_ref(key).extend(saved[key])

  def _create(self, next_creator: Callable[..., tf.Variable], **kwargs: Any) -> tf.Variable:
    """Gives the variable of a name, made if there is none. A creator for `tf.variable_creator_scope`."""
    if self._making:  # tf.Variable comes back here.
      return next_creator(**kwargs)
    collections = list(kwargs.get("collections") or [_KEYS.GLOBAL_VARIABLES])
    with _v1.name_scope(kwargs.get("name"), "Variable") as scope:
      name = self._whole(_without_second_scopes(scope[:-1]))
    random_state = _RANDOM_STATE.fullmatch(name) is not None
    # Keras 3 counts these in the whole process: here their order tells which is which.
    name = self._unique("seed_generator_state" if random_state else name)
    local = _KEYS.LOCAL_VARIABLES in collections or random_state
    kept = self.others if local else self.variables
    if name not in kept:
      kept[name] = self._new(name, kwargs)
    variable = kept[name]
    trainable = _KEYS.TRAINABLE_VARIABLES
    if variable.trainable and not local and trainable not in collections:
      collections.append(trainable)
    for key in collections:
      _v1.add_to_collection(key, variable)
    return variable

  def _whole(self, name: str) -> str:
    """Returns the name with the scope in which Keras is called.

    Keras 2 makes the layers of a Sequential model in a graph of its own, that of the model not being known
    there. In TF1's graph the name had it.
    """
    if not tf.executing_eagerly():
      return name
    scope = self._graph.get_name_scope()
    return f"{scope}/{name}" if scope and not name.startswith(scope + "/") else name

  def _unique(self, name: str) -> str:
    """Returns the name that TF1 gave: with a number, where this call has made another of that name."""
    found, number = name, 0
    while found in self._used:
      number += 1
      found = f"{name}_{number}"
    self._used.add(found)
    return found

  def _new(self, name: str, kwargs: dict) -> tf.Variable:
    """Makes a variable outside of the function that is being traced.

    Raises:
      ValueError: if there is a checkpoint of all variables already.
      NotImplementedError: if TF1 had it in parts, or its initial value is computed from the input.
    """
    if self.complete:
      raise ValueError(
        f"{name} was not made when the network was built: the function has to make the same variables in "
        "each call, with training=True and without. Layers of Keras need a `name`."
      )
    part = _PART.fullmatch(name)
    if part:
      raise NotImplementedError(
        f"{part.group(1)} is made in parts by a partitioner, which a Network cannot do: take the "
        "partitioner away if no checkpoint is to be read, or use runtime.ModelFn."
      )
    initial = kwargs.get("initial_value")
    if not callable(initial) and tf.is_tensor(initial) and not hasattr(initial, "numpy"):
      initial = tf.get_static_value(initial)
      if initial is None:
        raise NotImplementedError(
          f"The initial value of {name} is computed in the graph, which a Network cannot do: give an "
          "initializer or a constant, or use runtime.ModelFn."
        )
    with tf.init_scope():
      self._making = True
      try:
        # The name is the whole one, whatever the scope around it.
        with _v1.name_scope(None):
          return tf.Variable(
            initial,
            name=name,
            dtype=kwargs.get("dtype"),
            trainable=kwargs.get("trainable") is not False,
            shape=kwargs.get("shape"),
            constraint=kwargs.get("constraint"),
            synchronization=kwargs.get("synchronization") or tf.VariableSynchronization.AUTO,
            aggregation=kwargs.get("aggregation") or tf.VariableAggregation.NONE,
          )
      finally:
        self._making = False
