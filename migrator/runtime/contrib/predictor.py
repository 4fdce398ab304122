"""Predictions from a SavedModel in a session that stays open: `tf.contrib.predictor`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Optional

import tensorflow as tf

v1 = tf.compat.v1

__all__ = ["from_saved_model"]


class SavedModelPredictor:
  """Feeds and fetches the tensors of a signature; a call takes and returns numpy arrays by name."""

  def __init__(
    self,
    export_dir: Any,
    signature_def_key: Optional[str] = None,
    signature_def: Any = None,
    input_names: Optional[Mapping[str, str]] = None,
    output_names: Optional[Mapping[str, str]] = None,
    tags: Optional[str] = None,
    graph: Any = None,
    config: Any = None,
  ):
    """Loads the model; see `from_saved_model`."""
    if (input_names is None) != (output_names is None):
      raise ValueError(
        "input_names and output_names must both be specified or both be unspecified."
      )
    ways = (signature_def_key, signature_def, input_names)
    if sum(way is not None for way in ways) > 1:
      raise ValueError(
        "You must specify at most one of signature_def_key OR signature_def OR "
        "(input_names AND output_names)."
      )
    self._graph = graph or tf.Graph()
    with self._graph.as_default():
      self._session = v1.Session(config=config)
      found = (tags or "serve").split(",")
      loaded = v1.saved_model.load(self._session, found, os.fspath(export_dir))
    if input_names is None or output_names is None:
      signature = signature_def or _signature(loaded, signature_def_key)
      input_names = {key: info.name for key, info in signature.inputs.items()}
      output_names = {key: info.name for key, info in signature.outputs.items()}
    tensor = self._graph.get_tensor_by_name
    self._feed_tensors = {key: tensor(name) for key, name in input_names.items()}
    self._fetch_tensors = {key: tensor(name) for key, name in output_names.items()}

  @property
  def graph(self) -> Any:
    """The graph of the model."""
    return self._graph

  @property
  def session(self) -> Any:
    """The session with its values."""
    return self._session

  @property
  def feed_tensors(self) -> dict[str, Any]:
    """The inputs by name."""
    return self._feed_tensors

  @property
  def fetch_tensors(self) -> dict[str, Any]:
    """The outputs by name."""
    return self._fetch_tensors

  def __repr__(self) -> str:
    return (
      f"{type(self).__name__} with feed tensors {self._feed_tensors} "
      f"and fetch_tensors {self._fetch_tensors}"
    )

  def __call__(self, input_dict: Mapping[str, Any]) -> dict[str, Any]:
    """Predicts.

    Args:
      input_dict: arrays, or what becomes one, by the names of the inputs; those that are left out or None
        are not fed.

    Returns:
      The outputs by name, numpy arrays.

    Raises:
      ValueError: with the message of `tf.contrib.predictor`, for names that are no inputs.
    """
    unexpected = set(input_dict) - set(self._feed_tensors)
    if unexpected:
      raise ValueError(
        f"Got unexpected keys in input_dict: {unexpected}\nexpected: {set(self._feed_tensors)}"
      )
    feeds = {
      tensor: input_dict[key]
      for key, tensor in self._feed_tensors.items()
      if input_dict.get(key) is not None
    }
    return self._session.run(self._fetch_tensors, feed_dict=feeds)


def from_saved_model(
  export_dir: Any,
  signature_def_key: Optional[str] = None,
  signature_def: Any = None,
  input_names: Optional[Mapping[str, str]] = None,
  output_names: Optional[Mapping[str, str]] = None,
  tags: Optional[str] = None,
  graph: Any = None,
  config: Any = None,
) -> SavedModelPredictor:
  """Returns what predicts with a SavedModel, of TF1 or TF2.

  Args:
    export_dir: the directory of the SavedModel; bytes as an export returns them, too.
    signature_def_key: which signature; by default "serving_default".
    signature_def: a `SignatureDef` instead.
    input_names: {name of the caller's choice: name of a tensor} instead, with `output_names`.
    output_names: likewise.
    tags: of the graph, separated by commas; by default "serve".
    graph: where the model is loaded; by default a new one.
    config: the `ConfigProto` of the session.

  Raises:
    ValueError: if there is no such signature, or more than one way says what to feed and fetch.
  """
  return SavedModelPredictor(
    export_dir, signature_def_key, signature_def, input_names, output_names, tags, graph, config
  )


def _signature(loaded: Any, key: Optional[str]) -> Any:
  key = key or v1.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
  for name in (key, f"default_input_alternative:{key}"):
    if name in loaded.signature_def:
      return loaded.signature_def[name]
  raise ValueError(
    f'Got signature_def_key "{key}". Available signatures are {list(loaded.signature_def)}.'
  )
