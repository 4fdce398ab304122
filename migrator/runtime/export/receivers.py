"""What a `serving_input_receiver_fn` returns, and the usual ones of these functions."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional

import tensorflow as tf

# The keys of what is no dict.
_FEATURE = "feature"
_INPUT = "input"
_LABEL = "label"


class _Fields(NamedTuple):
  """The fields of both kinds of receivers."""

  features: Any
  receiver_tensors: Any
  receiver_tensors_alternatives: Optional[dict] = None


class ServingInputReceiver(_Fields):
  """The features of a request, and the tensors that are fed.

  Attributes:
    features: dict name -> tensor; a single tensor becomes `{"feature": tensor}`.
    receiver_tensors: dict name -> tensor that is fed; a single one becomes `{"input": tensor}`.
    receiver_tensors_alternatives: dict name -> other tensors that may be fed instead; each gives signatures
      `<name>:<signature>`.
  """

  def __new__(
    cls,
    features: Any,
    receiver_tensors: Any,
    receiver_tensors_alternatives: Optional[dict] = None,
  ) -> ServingInputReceiver:
    """Returns a receiver.

    Raises:
      ValueError: with the Estimator's messages, for anything but tensors with names.
    """
    return _checked(cls, features, receiver_tensors, receiver_tensors_alternatives)


class TensorServingInputReceiver(_Fields):
  """As `ServingInputReceiver`, for a model whose features are one tensor."""

  def __new__(
    cls,
    features: Any,
    receiver_tensors: Any,
    receiver_tensors_alternatives: Optional[dict] = None,
  ) -> TensorServingInputReceiver:
    """Returns a receiver.

    Raises:
      ValueError: with the Estimator's messages, for anything but a tensor, and tensors with names.
    """
    if features is None:
      raise ValueError("features must be defined.")
    _check_tensor(features, None, "feature")
    receiver = _checked(cls, features, receiver_tensors, receiver_tensors_alternatives)
    return receiver._replace(features=receiver.features[_FEATURE])


def _checked(cls: Any, features: Any, tensors: Any, alternatives: Optional[dict]) -> Any:
  """Returns an instance of a receiver whose fields are dicts."""
  features = _wrapped(features, "feature", _FEATURE, ints=True)
  tensors = _wrapped(tensors, "receiver_tensor", _INPUT)
  if alternatives is not None:
    if not isinstance(alternatives, dict):
      raise ValueError(f"receiver_tensors_alternatives must be a dict: {alternatives}.")
    alternatives = {
      name: _wrapped(value, "receiver_tensors_alternative", _INPUT)
      for name, value in alternatives.items()
    }
  return _Fields.__new__(cls, features, tensors, alternatives)


def _wrapped(
  tensors: Any, field: str, default: str, ints: bool = False, check: bool = True
) -> dict:
  """Returns tensors as a dict.

  Args:
    tensors: one, or a dict.
    field: what they are called in messages.
    default: the name of one.
    ints: whether names may be numbers.
    check: whether names and values are looked at.

  Raises:
    ValueError: with the Estimator's messages.
  """
  if tensors is None:
    raise ValueError(f"{field}s must be defined.")
  if not isinstance(tensors, dict):
    tensors = {default: tensors}
  for name, tensor in tensors.items() if check else ():
    if not isinstance(name, (str, int) if ints else str):
      kinds = "strings or ints" if ints else "strings"
      raise ValueError(f"{field} keys must be {kinds}: {name}.")
    _check_tensor(tensor, name, field)
  return tensors


def _check_tensor(tensor: Any, name: Any, field: str) -> None:
  """Raises the Estimator's ValueError for what is no tensor."""
  if not isinstance(tensor, (tf.Tensor, tf.SparseTensor, tf.RaggedTensor)):
    label = f" {name}" if name else ""
    raise ValueError(f"{field}{label} must be a Tensor, SparseTensor, or RaggedTensor.")


def build_parsing_serving_input_receiver_fn(
  feature_spec: dict, default_batch_size: Optional[int] = None
) -> Callable[[], ServingInputReceiver]:
  """Returns a function for exports that take serialized `tf.Example`s.

  Args:
    feature_spec: as in `tf.io.parse_example`.
    default_batch_size: how many examples a request has; None for any number.
  """

  def serving_input_receiver_fn() -> ServingInputReceiver:
    serialized = tf.compat.v1.placeholder(
      tf.string, [default_batch_size], name="input_example_tensor"
    )
    features = tf.io.parse_example(serialized, feature_spec)
    return ServingInputReceiver(features, {"examples": serialized})

  return serving_input_receiver_fn


def build_raw_serving_input_receiver_fn(
  features: dict, default_batch_size: Optional[int] = None
) -> Callable[[], ServingInputReceiver]:
  """Returns a function for exports that take the features themselves.

  Args:
    features: name -> something with the data type and the shape, batch included: a tensor, a `tf.TensorSpec`
      or a `tf.keras.Input`.
    default_batch_size: how many rows a request has; None for any number.
  """

  def serving_input_receiver_fn() -> ServingInputReceiver:
    tensors = _placeholders(features, default_batch_size)
    return ServingInputReceiver(tensors, dict(tensors))

  return serving_input_receiver_fn


class SupervisedInputReceiver(NamedTuple):
  """What is fed to an export of the graph that trains or evaluates.

  Attributes:
    features: a Tensor or a dict of Tensors.
    labels: a Tensor or a dict of Tensors.
    receiver_tensors: dict name -> tensor that is fed.
  """

  features: Any
  labels: Any
  receiver_tensors: dict


def build_raw_supervised_input_receiver_fn(
  features: Any, labels: Any, default_batch_size: Optional[int] = None
) -> Callable[[], SupervisedInputReceiver]:
  """Returns a function for exports of graphs that train or evaluate; features and labels are fed.

  Args:
    features: something with data type and shape, batch included, or a dict of them.
    labels: as `features`.
    default_batch_size: how many rows a request has; None for any number.

  Raises:
    ValueError: with the Estimator's message, if features and labels share a name.
  """
  both = set(_wrapped(features, "feature", _INPUT, check=False)) & set(
    _wrapped(labels, "label", _LABEL, check=False)
  )
  if both:
    raise ValueError(f"Features and labels must have distinct keys. Found overlapping keys: {both}")

  def supervised_input_receiver_fn() -> SupervisedInputReceiver:
    made = [
      _placeholders(given, default_batch_size)
      if isinstance(given, dict)
      else _placeholder(given, default_batch_size)
      for given in (features, labels)
    ]
    fed = {
      **_wrapped(made[0], "feature", _INPUT, ints=True),
      **_wrapped(made[1], "label", _LABEL, ints=True),
    }
    return SupervisedInputReceiver(made[0], made[1], fed)

  return supervised_input_receiver_fn


def _placeholders(like: dict, batch_size: Optional[int]) -> dict:
  """Returns placeholders by name."""
  return {name: _placeholder(value, batch_size) for name, value in like.items()}


def _placeholder(like: Any, batch_size: Optional[int]) -> Any:
  """Returns a placeholder of a data type, a shape and, as clients may feed it by that, the name of an operation."""
  shape = tf.TensorShape([batch_size]).concatenate(tf.TensorShape(like.shape)[1:])
  name = getattr(getattr(like, "op", None), "name", None)
  return tf.compat.v1.placeholder(tf.as_dtype(like.dtype), shape, name)
