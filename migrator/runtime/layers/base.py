"""`tf.layers.Layer`: variables by `get_variable`, under the names that TF1 gives them.

Which scope a layer's variables have is decided where TF1 decides it: at the first call, or where a
function is given a name; an explicit scope is used as it stands, another gets a number that is free.
"""

from __future__ import annotations

import copy
import inspect
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from migrator.runtime.layers import graphs, values
from migrator.runtime.layers.collected import Collected
from migrator.runtime.layers.input_spec import InputSpec

v1 = tf.compat.v1


class Layer(Collected):
  """Base class of the layers, and of those that programs write themselves.

  Args:
    trainable: False keeps variables out of training and update operations out of UPDATE_OPS.
    name: first part of the variables' names; the scope around adds a number if it is taken.
    dtype: of the variables; None for that of the first input.
    activity_regularizer: function from an output to a loss, which is divided by the batch size.
    _scope: name or scope of the variables, used as it stands.
    _reuse: True to take variables that exist.

  Raises:
    TypeError: an argument that no layer has.
  """

  def __init__(
    self, trainable: bool = True, name: Any = None, dtype: Any = None, **kwargs: Any
  ) -> None:
    scope, self._reuse = kwargs.pop("_scope", None), kwargs.pop("_reuse", None)
    super().__init__(values.regularizer(kwargs.pop("activity_regularizer", None)))
    kwargs.pop("autocast", None)
    if kwargs:
      raise TypeError(f"{type(self).__name__} has no argument {', '.join(map(repr, kwargs))}")
    self.trainable = trainable
    self.built = False
    self.input_spec: Any = None
    self._dtype = None if dtype is None else tf.as_dtype(dtype).name
    self._trainable_weights: list[Any] = []
    self._non_trainable_weights: list[Any] = []
    self._base_name = name.name if isinstance(name, v1.VariableScope) else name
    self._name = name if isinstance(name, str) and name else graphs.unique_name(type(self).__name__)
    self._base_name = self._base_name or graphs.snake_case(type(self).__name__)
    self._scope: Optional[Any] = None
    self._current_scope: Optional[Any] = None
    if scope:
      with v1.variable_scope(scope) as self._scope:
        pass

  @property
  def name(self) -> str:
    """The name that it was given, or one that no other layer of the graph has."""
    return self._name

  @property
  def dtype(self) -> Optional[str]:
    """Of its variables; None before the first call where that decides."""
    return self._dtype

  @property
  def scope_name(self) -> str:
    """Name of the scope of its variables.

    Raises:
      ValueError: it has not been called, which decides it.
    """
    if self._scope is None:
      raise ValueError(f"The scope of layer {self._name!r} has no name before its first call")
    return str(self._scope.name)

  @property
  def trainable_weights(self) -> list[Any]:
    """Variables that are trained: none where the layer is not trainable."""
    return list(self._trainable_weights) if self.trainable else []

  @property
  def non_trainable_weights(self) -> list[Any]:
    """Variables that are not trained."""
    frozen = [] if self.trainable else self._trainable_weights
    return [*frozen, *self._non_trainable_weights]

  @property
  def weights(self) -> list[Any]:
    """All variables, those that are trained first."""
    return self.trainable_weights + self.non_trainable_weights

  variables = property(lambda self: self.weights)
  trainable_variables = property(lambda self: self.trainable_weights)
  non_trainable_variables = property(lambda self: self.non_trainable_weights)

  def build(self, input_shape: Any) -> None:
    """Makes the variables. To be overridden; called once, with the shape of the first input."""
    del input_shape
    self.built = True

  def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns the outputs. To be overridden."""
    del args, kwargs
    return inputs

  def compute_output_shape(self, input_shape: Any) -> tf.TensorShape:
    """Returns the shape of the outputs. To be overridden.

    Raises:
      NotImplementedError: the layer does not say it.
    """
    raise NotImplementedError(f"{type(self).__name__} has no compute_output_shape")

  def count_params(self) -> int:
    """Returns the number of values in all variables."""
    return sum(int(np.prod(w.shape.as_list())) for w in self.weights)

  def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    """Calls the layer."""
    return self(inputs, *args, **kwargs)

  def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    """Makes the variables at the first call, and returns the outputs of `call`.

    Args:
      inputs: tensor, or structure of tensors.
      *args: of `call`.
      **kwargs: of `call`; `scope` is the scope of the variables where no other is decided.

    Raises:
      ValueError: the inputs are not as `input_spec` says.
    """
    self._set_scope(kwargs.pop("scope", None))
    # A layer that is called in another graph finds its variables in that graph's store by their
    # names, or has them made there.
    reuse = v1.AUTO_REUSE if self.built else self._reuse
    with v1.variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
      self._current_scope = scope
      if "scope" in inspect.signature(self.call).parameters:
        kwargs["scope"] = scope
      inputs = tf.nest.map_structure(graphs.tensor, inputs)
      with v1.name_scope(scope.original_name_scope):
        self._enter_graph()
        if not self.built:
          self._build(inputs)
        self._check(inputs)
        outputs = self.call(inputs, *args, **kwargs)
        if outputs is None:
          raise ValueError(f"{type(self).__name__}.call returned None: it has to return a tensor")
        self._regularize_activity(outputs)
    graphs.collect(self.updates, v1.GraphKeys.UPDATE_OPS)
    return outputs

  def add_weight(
    self,
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: Optional[bool] = None,
    constraint: Any = None,
    use_resource: Optional[bool] = None,
    synchronization: Any = tf.VariableSynchronization.AUTO,
    aggregation: Any = v1.VariableAggregation.NONE,
    partitioner: Any = None,
    **kwargs: Any,
  ) -> Any:
    """Returns a variable of the layer's scope, a new one or one that exists.

    Args:
      name: within the scope.
      shape: of the variable.
      dtype: default: of the layer, or float32.
      initializer: default: that of the scope, or glorot_uniform.
      regularizer: function from the variable to a loss; besides that of the scope.
      trainable: whether it is trained, if the layer is.
      constraint: function that optimizers apply after an update.
      use_resource: see `tf.compat.v1.get_variable`.
      synchronization: see there.
      aggregation: see there.
      partitioner: see there; default: that of the scope.
      **kwargs: `experimental_autocast`, which is without effect here.

    Raises:
      TypeError: another keyword.
      ValueError: trainable with synchronization ON_READ.
    """
    if set(kwargs) - {"experimental_autocast"}:
      raise TypeError(f"add_weight has no argument {', '.join(map(repr, kwargs))}")
    if synchronization == tf.VariableSynchronization.ON_READ:
      if trainable:
        raise ValueError(f"{name}: a variable that is synchronized on reading cannot be trainable")
      trainable = False
    trainable = (trainable is None or trainable) and self.trainable
    dtype = tf.as_dtype(dtype or self._dtype or tf.float32)
    self._set_scope(None)
    reuse = v1.AUTO_REUSE if self.built else self._reuse
    created: list[Any] = []
    with v1.variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
      self._current_scope = scope
      outer = scope.regularizer

      def record(value: Any) -> Any:
        # Called by get_variable for each variable, or part of one, that does not exist yet.
        created.append(value)
        return None if outer is None else outer(value)

      with v1.name_scope(scope.original_name_scope):
        variable = v1.get_variable(
          name,
          shape,
          dtype,
          initializer=values.initializer(initializer),
          regularizer=record,
          trainable=trainable,
          use_resource=use_resource,
          constraint=values.constraint(constraint),
          synchronization=synchronization,
          aggregation=aggregation,
          partitioner=partitioner,
        )
        if created:
          parts, own = graphs.parts(variable), values.regularizer(regularizer)
          if outer is not None:
            self._regularized += [(name, part, outer) for part in parts]
          if own is not None:
            self._regularized += [(name, part, own) for part in parts]
            self._regularize(self._regularized[-len(parts) :])
    self._track(variable, trainable)
    return variable

  def add_variable(self, *args: Any, **kwargs: Any) -> Any:
    """Is `add_weight`."""
    return self.add_weight(*args, **kwargs)

  def get_config(self) -> dict[str, Any]:
    """Returns the arguments that all layers have."""
    return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype}

  def __deepcopy__(self, memo: dict[int, Any]) -> Any:
    made = type(self).__new__(type(self))
    memo[id(self)] = made
    for key, value in self.__dict__.items():
      shallow = key in ("_scope", "_current_scope") or isinstance(value, (tf.Tensor, tf.Variable))
      made.__dict__[key] = copy.copy(value) if shallow else copy.deepcopy(value, memo)
    return made

  def _set_scope(self, scope: Any) -> None:
    if self._scope is not None:
      return
    if self._reuse:
      taken = v1.variable_scope(self._base_name if scope is None else scope)
    else:
      taken = v1.variable_scope(scope, default_name=self._base_name)
    with taken as self._scope:
      pass

  def _build(self, inputs: Any) -> None:
    first = tf.nest.flatten(inputs)[0]
    if self._dtype is None and hasattr(first, "dtype"):
      self._dtype = first.dtype.base_dtype.name
    shapes = tf.nest.map_structure(lambda t: getattr(t, "shape", None), inputs)
    self.build(shapes)
    self.built = True

  def _check(self, inputs: Any) -> None:
    # One, or a list of one for each input; also those of Keras, which say the same.
    specs = [] if self.input_spec is None else tf.nest.flatten(self.input_spec)
    for spec, tensor in zip(specs, tf.nest.flatten(inputs)):
      if spec is not None:
        InputSpec.check(spec, tensor, self._name)

  def _track(self, variable: Any, trainable: bool) -> None:
    parts = graphs.parts(variable)
    # A getter of the scope may have made it one that is not trained.
    trained = trainable and all(getattr(part, "trainable", False) for part in parts)
    kept = self._trainable_weights if trained else self._non_trainable_weights
    for part in parts:
      if not any(part is other for other in kept):
        kept.append(part)
