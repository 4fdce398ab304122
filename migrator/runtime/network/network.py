"""The network of a program with its own model_fn, as a function of the features."""

from __future__ import annotations

import contextlib
import copy
import inspect
import re
import weakref
from collections.abc import Iterator
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.export import resources
from migrator.runtime.network import plain
from migrator.runtime.network.store import VariableStore

_v1 = tf.compat.v1
_ARGUMENTS = ("features", "labels", "training", "params")


class Network:
  """The variables and the outputs of a function in the style of TF1.

  The function makes its variables with `tf.compat.v1.get_variable`, `runtime.layers`,
  `tf.compat.v1.feature_column`, ... as a model_fn did; they have the names that they had in its graph. They are made
  when the network is built; each further call finds them again. The function is run as a graph of its own
  for each kind of input, so it may be called as often as one likes, in a `tf.function` or without.

  What the function assigns to variables, as the moving statistics of batch normalization, is done
  with each call with `training=True`, in the order of the program, whether fetched or not.

  Attributes:
    name: "network".
    built: whether the variables have been made.
    stop_training: for callbacks.
    losses: the regularization losses of the last call, scalar tensors; within a `tf.function` those of
      the last call in the same trace.
    tables: the lookup tables that the function has made.
    global_step: int64, shape []; what the function finds with `tf.compat.v1.train.get_global_step`.
  """

  def __init__(
    self,
    forward: Callable[..., Any],
    element_spec: Any = None,
    params: Any = None,
    name: str = "network",
  ):
    """Makes a network.

    Args:
      forward: takes `features`, and those of `labels`, `training` and `params` that it wants; returns a
        tensor or a structure of tensors.
      element_spec: of the dataset: features, or (features, labels). With it the variables are made
        now, else with `build` or the first call.
      params: what `forward` gets a copy of as `params`.
      name: for messages.

    Raises:
      ValueError: if forward takes another argument.
    """
    parameters = inspect.signature(forward).parameters
    unknown = [n for n, p in parameters.items() if n not in _ARGUMENTS and p.default is p.empty]
    if unknown:
      raise ValueError(
        f"forward can take {', '.join(_ARGUMENTS)}, and nothing else without a default: {unknown}."
      )
    self.name = name
    self.params = copy.deepcopy(params)  # As the Estimator, which let no model_fn change them.
    self.built = False
    self.stop_training = False
    self.losses: list[Any] = []
    self.global_step = tf.Variable(0, dtype=tf.int64, trainable=False, name="global_step")
    self._forward = forward
    self._takes = frozenset(parameters)
    self._store = VariableStore(self.global_step)
    self._when_built: list[Callable[[], Any]] = []
    self.tables: list[Any] = []
    self._plain: Any = weakref.WeakKeyDictionary()  # graph of a trace -> its Python values
    self._function = self._traced()
    if element_spec is not None:
      self.build(element_spec)

  @tf.autograph.experimental.do_not_convert
  def __call__(self, features: Any, labels: Any = None, training: bool = False) -> Any:
    """Returns what `forward` returns: tensors, and Python values as they are.

    Args:
      features: a tensor or a structure of tensors.
      labels: likewise, where `forward` takes labels.
      training: whether dropout, batch normalization, ... are to train.

    Raises:
      ValueError: if `forward` makes variables that it did not make when the network was built.
    """
    given = (features,) if labels is None or "labels" not in self._takes else (features, labels)
    outputs, self.losses = self._function(given, bool(training))
    self._finish()
    if self._plain:
      # They may be others in each trace: those of the one that has just run.
      graph = self._function.get_concrete_function(given, bool(training)).graph
      outputs = plain.joined(outputs, self._plain.get(graph, []))
    return outputs

  def build(self, element_spec: Any) -> None:
    """Makes the variables, unless that has been done.

    Args:
      element_spec: of the dataset: features, or (features, labels); or the dataset itself.
    """
    if self.built:
      return
    if isinstance(element_spec, tf.data.Dataset):
      element_spec = element_spec.element_spec
    given = element_spec if isinstance(element_spec, tuple) else (element_spec,)
    given = given if "labels" in self._takes else given[:1]
    # The names of the arguments become names of operations, with which a variable must not collide.
    given = tf.nest.map_structure(_unnamed, given)
    self._function.get_concrete_function(given, True)
    self._finish()

  @contextlib.contextmanager
  def traced_anew(self) -> Iterator[list]:
    """Lets an evaluation or a prediction run the Python of `forward` again, as an Estimator did for each.

    What it reads besides its arguments, as a variable of the module, may have another value by then.

    Yields:
      What has to live as long as what was traced within.
    """
    kept, before = self._function, len(self.tables)
    self._function = self._traced()
    held = [self._function]
    try:
      yield held
    finally:
      held += self.tables[before:]
      del self.tables[before:]
      self._function = kept

  def _traced(self) -> Any:
    return tf.function(self._run, autograph=False, reduce_retracing=True)

  def when_built(self, callback: Callable[[], Any]) -> None:
    """Calls a function as soon as the variables are there: now, or after they have been made."""
    if self.built:
      callback()
    else:
      self._when_built.append(callback)

  def _finish(self) -> None:
    """Notes that the variables are there."""
    if self.built:
      return
    self.built = self._store.complete = True
    with tf.init_scope():
      while self._when_built:
        self._when_built.pop(0)()

  def _run(self, inputs_of_network: tuple, training: bool) -> tuple:
    """Runs `forward` in the graph that is being traced; returns its outputs and the losses.

    Operations of the graph have the name of the first parameter: no variable should have it.
    """
    # Copies of dicts and lists, to which it may add.
    inputs_of_network = tf.nest.map_structure(lambda part: part, inputs_of_network)
    arguments = {"features": inputs_of_network[0], "training": training, "params": self.params}
    arguments["labels"] = inputs_of_network[1] if len(inputs_of_network) > 1 else None
    # The tables that it makes live as long as somebody holds them.
    with resources.recorded() as made, self._store.fresh():
      outputs = self._forward(**{n: v for n, v in arguments.items() if n in self._takes})
      losses = _v1.get_collection(_v1.GraphKeys.REGULARIZATION_LOSSES)
      losses = [tf.convert_to_tensor(loss) for loss in losses]
    outputs, values = plain.parted(outputs)
    if values:
      self._plain[_v1.get_default_graph()] = values
    self.tables.extend(made)
    return outputs, losses

  @property
  def named_variables(self) -> dict[str, tf.Variable]:
    """TF1 name -> variable, in the order in which they were made. Not local ones."""
    return dict(self._store.variables)

  @property
  def variables(self) -> list[tf.Variable]:
    """All variables, in the order in which they were made."""
    return list(self._store.variables.values())

  weights = variables

  @property
  def trainable_variables(self) -> list[tf.Variable]:
    """The variables of TF1's collection TRAINABLE_VARIABLES."""
    return [v for v in self._store.variables.values() if v.trainable]

  trainable_weights = trainable_variables

  @property
  def non_trainable_variables(self) -> list[tf.Variable]:
    """The others."""
    return [v for v in self._store.variables.values() if not v.trainable]

  non_trainable_weights = non_trainable_variables

  def trainable_variables_in(self, scope: str) -> list[tf.Variable]:
    """Returns what `tf.compat.v1.trainable_variables(scope)` returned: a pattern for the beginning of names."""
    return [
      v for n, v in self._store.variables.items() if v.trainable and re.match(scope, n + ":0")
    ]

  def regularization_loss(self) -> tf.Tensor:
    """Returns what `tf.compat.v1.losses.get_regularization_loss()` returned after the last call."""
    return tf.add_n(self.losses) if self.losses else tf.constant(0.0)


def _unnamed(spec: Any) -> Any:
  return tf.TensorSpec(spec.shape, spec.dtype) if isinstance(spec, tf.TensorSpec) else spec
