"""Several optimizers as one, each of which trains its own part of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.kernel_optimizer import register

_KERAS_3 = getattr(tf.keras, "__version__", "2").startswith("3")


@register
class Combined(tf.keras.optimizers.Optimizer):
  """Several optimizers as one: for `compile`, or for `apply_gradients` of a loop.

  An Estimator for wide and deep models had one for `dnn/` and another for `linear/`. One gradient of the
  loss is computed, and each optimizer gets that of its part. Their counts and learning rates are their own;
  those that a callback reads or sets here are the first one's.

      optimizer = Combined([(tf.keras.optimizers.Adagrad(0.05), dnn), (Ftrl(0.2), linear)])

  A model that is loaded from a `.keras` file has it, too: the variables are found by their places among
  those of the model, or by their names if it was not built when it was saved.

  Attributes:
    singles: the optimizers, in their order. What is called `optimizers` has its rates set by the callbacks of
      newer versions of Keras, each of them, and those of older ones know of one.
  """

  def __init__(self, parts: Sequence[tuple[Any, Any]], name: str = "combined"):
    """Makes the optimizer.

    Args:
      parts: pairs of an optimizer and what it trains: a layer or model, or a list of variables.
      name: of the optimizer.

    Raises:
      ValueError: if there are none, or one scales the loss.
      TypeError: if they are no pairs.
    """
    parts = list(parts)
    if not parts:
      raise ValueError("There are no optimizers to combine.")
    if not all(isinstance(part, (list, tuple)) and len(part) == 2 for part in parts):
      raise TypeError("Optimizers are combined as pairs: [(optimizer, layer or variables), ...].")
    optimizers = [tf.keras.optimizers.get(optimizer) for optimizer, _ in parts]
    for optimizer in optimizers:
      if getattr(optimizer, "loss_scale_factor", None) is not None:
        raise ValueError(
          f"{optimizer.name} scales the loss, which is one for all of the optimizers."
        )
    if _KERAS_3:
      super().__init__(learning_rate=0.0, name=name)
    else:
      super().__init__(name=name, jit_compile=False)
    self.singles = optimizers
    # As TF1's graph did, count with the first; what the base class has made is not used.
    self._iterations = optimizers[0]._iterations
    self._learning_rate = optimizers[0]._learning_rate
    self._parts = _Untracked([part for _, part in parts])

  @property
  def iterations(self) -> Any:
    """The count of the first optimizer."""
    return self.singles[0].iterations

  @iterations.setter
  def iterations(self, variable: Any) -> None:
    self.singles[0].iterations = variable

  @property
  def learning_rate(self) -> Any:
    """The learning rate of the first optimizer."""
    return self.singles[0].learning_rate

  @learning_rate.setter
  def learning_rate(self, value: Any) -> None:
    self.singles[0].learning_rate = value

  @property
  def variables(self) -> Any:
    """The variables of all of them; a list that may be called, as in Keras 2."""
    return _Variables(v for optimizer in self.singles for v in _variables(optimizer))

  def pairs(self, trainable: Sequence[Any]) -> list[tuple[Any, list]]:
    """Returns each optimizer with the variables that it trains, in the order of `trainable`.

    Args:
      trainable: all of the variables that are trained.

    Raises:
      ValueError: unless each of them belongs to one optimizer.
    """
    owners: dict[int, int] = {}
    for place, part in enumerate(self._parts.value):
      for variable in _trained(part, trainable):
        if owners.setdefault(id(variable), place) != place:
          raise ValueError(f"Two of the optimizers train {_name(variable)}: one of them may.")
    without = [_name(v) for v in trainable if id(v) not in owners]
    if without:
      raise ValueError(f"None of the optimizers trains {', '.join(without)}.")
    return [
      (optimizer, [v for v in trainable if owners[id(v)] == place])
      for place, optimizer in enumerate(self.singles)
    ]

  def build(self, var_list: Any) -> None:
    """Makes the slots of each optimizer for its variables.

    Raises:
      ValueError: unless each variable belongs to one optimizer.
    """
    if getattr(self, "_built", False):
      return
    self._built_for = _Untracked(list(var_list))
    pairs = self.pairs(self._built_for.value)
    for optimizer, variables in pairs:
      if not getattr(optimizer, "built", getattr(optimizer, "_built", False)):
        optimizer.build(variables)
    self._owners = _Untracked({id(v): place for place, (_, vs) in enumerate(pairs) for v in vs})
    self.built = self._built = True

  def apply_gradients(self, grads_and_vars: Any, name: Optional[str] = None, **kwargs: Any) -> Any:
    """Lets each optimizer update its variables, and count.

    Args:
      grads_and_vars: pairs of gradient and variable. An optimizer none of whose variables is among them
        does nothing.
      name: is not used.
      **kwargs: what Keras 2 takes besides.

    Returns:
      The count of the first one.

    Raises:
      ValueError: for a variable that belongs to no optimizer.
    """
    grads_and_vars = list(grads_and_vars)
    if not getattr(self, "_built", False):
      with tf.init_scope():
        self.build([variable for _, variable in grads_and_vars])
    owned: list[list] = [[] for _ in self.singles]
    for gradient, variable in grads_and_vars:
      if id(variable) not in self._owners.value:
        raise ValueError(f"None of the optimizers trains {_name(variable)}.")
      owned[self._owners.value[id(variable)]].append((gradient, variable))
    for optimizer, pairs in zip(self.singles, owned):
      if pairs:
        optimizer.apply_gradients(pairs, **kwargs)
    return self._iterations

  def apply(self, grads: Any, trainable_variables: Any = None) -> None:
    """Updates all variables (Keras 3).

    Raises:
      ValueError: if it is not built, and no variables are given.
    """
    if trainable_variables is None:
      if not getattr(self, "_built", False):
        raise ValueError("The optimizer is not built: give the variables with the gradients.")
      trainable_variables = self._built_for.value
    self.apply_gradients(zip(grads, trainable_variables))

  def finalize_variable_values(self, var_list: Any) -> None:
    """Lets each optimizer do at the end of `fit` what it does with its variables."""
    for optimizer, variables in self.pairs(list(var_list)):
      optimizer.finalize_variable_values(variables)

  def save_own_variables(self, store: Any) -> None:
    """Saves nothing: Keras saves each of the optimizers."""

  def load_own_variables(self, store: Any) -> None:
    """Loads nothing: Keras loads each of the optimizers."""

  def get_config(self) -> dict:
    """Returns the optimizers, the names of their variables, and their places if it is built.

    Raises:
      ValueError: if a layer that an optimizer trains has no weights yet.
    """
    parts = []
    for place, (optimizer, part) in enumerate(zip(self.singles, self._parts.value)):
      entry: dict[str, Any] = {"optimizer": tf.keras.optimizers.serialize(optimizer)}
      if getattr(self, "_built", False):
        built_for = self._built_for.value
        owned = [i for i, v in enumerate(built_for) if self._owners.value[id(v)] == place]
        entry.update(variables=[_name(built_for[i]) for i in owned], places=owned)
      elif isinstance(part, _Named):
        entry.update(variables=part.names, places=part.places)
      else:
        entry.update(variables=[_name(v) for v in _trained(part, ())], places=None)
      if not entry["variables"]:
        raise ValueError(f"What {optimizer.name} trains has no weights yet.")
      parts.append(entry)
    return {"name": self.name, "parts": parts}

  @classmethod
  def from_config(cls, config: dict, custom_objects: Optional[dict] = None) -> Any:
    """Makes the optimizer from the result of `get_config`; `build` finds the variables."""
    parts = [
      (
        tf.keras.optimizers.deserialize(part["optimizer"], custom_objects=custom_objects),
        _Named(part["variables"], part["places"]),
      )
      for part in config["parts"]
    ]
    return cls(parts, name=config["name"])


class _Untracked:
  """A value in which Keras and TensorFlow look for no variables."""

  def __init__(self, value: Any):
    self.value = value


class _Named:
  """Variables that are only described: those of a model that is being loaded."""

  def __init__(self, names: Sequence[str], places: Optional[Sequence[int]]):
    """Describes them.

    Args:
      names: theirs; in Keras 2 those of a loaded model may lack their beginning.
      places: among the variables that are trained; None if that is not known.
    """
    self.names = list(names)
    self.places = None if places is None else list(places)

  def find(self, trainable: Sequence[Any]) -> list:
    """Returns the variables.

    Raises:
      ValueError: if there is no variable of a name, or several.
    """
    if self.places is not None and max(self.places) < len(trainable):
      return [trainable[place] for place in self.places]
    found = []
    for name in self.names:
      named = [v for v in trainable if _name(v) == name]
      named = named or [v for v in trainable if name.endswith("/" + _name(v))]
      if len(named) != 1:
        raise ValueError(
          f"{'Several' if named else 'None'} of the variables of the model "
          f"{'are' if named else 'is'} called {name}: load the model with compile=False, and compile it "
          "again with runtime.optimizers.Combined([(optimizer, layer), ...])."
        )
      found += named
    return found


class _Variables(list):
  """A list; called, it gives itself."""

  def __call__(self) -> list:
    return self


def _variables(optimizer: Any) -> list:
  return list(optimizer.variables)


def _trained(part: Any, trainable: Sequence[Any]) -> list:
  """Returns the variables of a part: of a layer, described, or given."""
  if isinstance(part, tf.keras.layers.Layer):
    return list(part.trainable_variables)
  return part.find(trainable) if isinstance(part, _Named) else list(part)


def _name(variable: Any) -> str:
  return str(getattr(variable, "path", variable.name))
