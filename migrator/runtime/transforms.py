"""What can be done to a TF1 value on its way into a new variable, each a named function of arrays.

A transform that only moves elements about is done to the slots of the variable, too. Everything keeps its
dtype, but for `Cast`.
"""

from __future__ import annotations

import abc
import dataclasses
import math
from typing import Any, Optional

import numpy as np

Shape = tuple[int, ...]


class Transform(abc.ABC):
  """Something that is done to an array."""

  @property
  @abc.abstractmethod
  def name(self) -> str:
    """What it is, in words, for reports."""

  @abc.abstractmethod
  def apply(self, value: Any) -> Any:
    """Returns the new array."""

  def shape(self, shape: Shape) -> Shape:
    """Returns the shape that an array of `shape` gets.

    Raises:
      ValueError: if it cannot be done to such an array; both shapes are named.
    """
    return self.apply(np.broadcast_to(np.float32(0), shape)).shape

  def for_slots(self) -> Optional[Transform]:
    """Returns what is to be done to the slots: None for nothing."""
    return self


@dataclasses.dataclass(frozen=True)
class Transpose(Transform):
  """Exchanges the axes, as `numpy.transpose` does."""

  axes: tuple[int, ...]

  @property
  def name(self) -> str:
    return f"transpose {list(self.axes)}"

  def apply(self, value: Any) -> Any:
    if sorted(self.axes) != list(range(value.ndim)):
      raise ValueError(
        f"{self.name} needs an array of {len(self.axes)} axes, this one is {list(value.shape)}"
      )
    return np.transpose(value, self.axes)


@dataclasses.dataclass(frozen=True)
class Reshape(Transform):
  """Gives the same elements in the same order another shape, as `numpy.reshape` does."""

  to: Shape

  @property
  def name(self) -> str:
    return f"reshape {list(self.to)}"

  def apply(self, value: Any) -> Any:
    if math.prod(self.to) != value.size:
      raise ValueError(
        f"{self.name} needs {math.prod(self.to)} values, {list(value.shape)} has {value.size}"
      )
    return value.reshape(self.to)


@dataclasses.dataclass(frozen=True)
class Squeeze(Transform):
  """Takes away axes of length 1; all of them by default."""

  axes: Optional[tuple[int, ...]] = None

  @property
  def name(self) -> str:
    return "squeeze" if self.axes is None else f"squeeze {list(self.axes)}"

  def apply(self, value: Any) -> Any:
    try:
      return np.squeeze(value, self.axes)
    except ValueError as error:
      raise ValueError(f"{self.name} cannot be done to {list(value.shape)}: {error}") from error


@dataclasses.dataclass(frozen=True)
class Split(Transform):
  """Takes one of several equal parts along an axis."""

  axis: int
  index: int
  parts: int

  @property
  def name(self) -> str:
    return f"part {self.index} of {self.parts} along axis {self.axis}"

  def apply(self, value: Any) -> Any:
    fits = -value.ndim <= self.axis < value.ndim and 0 <= self.index < self.parts
    if not fits or value.shape[self.axis] % self.parts:
      raise ValueError(f"{self.name} cannot be taken of {list(value.shape)}")
    return np.split(value, self.parts, self.axis)[self.index]


@dataclasses.dataclass(frozen=True)
class Rows(Transform):
  """Takes some of the rows: `kernel[begin:end]`, as an RNN kernel holds those of input and of state."""

  begin: int
  end: Optional[int] = None

  @property
  def name(self) -> str:
    return f"rows {self.begin}:{'' if self.end is None else self.end}"

  def apply(self, value: Any) -> Any:
    if not value.ndim or not 0 <= self.begin < (self.end or value.shape[0]) <= value.shape[0]:
      raise ValueError(f"{self.name} cannot be taken of {list(value.shape)}")
    return value[self.begin : self.end]


@dataclasses.dataclass(frozen=True)
class Cast(Transform):
  """Changes the dtype; the slots keep theirs."""

  to: str

  @property
  def name(self) -> str:
    return f"cast to {self.to}"

  def apply(self, value: Any) -> Any:
    return value.astype(self.to)

  def shape(self, shape: Shape) -> Shape:
    return shape

  def for_slots(self) -> Optional[Transform]:
    return None


@dataclasses.dataclass(frozen=True)
class LstmGates(Transform):
  """Turns the gates of `BasicLSTMCell` and `LSTMCell` (i, j, f, o) into those of Keras (i, f, j, o).

  TF1 adds the forget bias at run time; Keras has it in the bias.
  (https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/nn/rnn_cell/BasicLSTMCell)

  Attributes:
    forget_bias: what is added to the gate f: for a bias the cell's `forget_bias` (1.0 by default), for a
      kernel 0. Slots get nothing added.
  """

  forget_bias: float = 0.0

  @property
  def name(self) -> str:
    added = f", forget bias {self.forget_bias:+g}" if self.forget_bias else ""
    return f"LSTM gates i,j,f,o -> i,f,j,o{added}"

  def apply(self, value: Any) -> Any:
    if not value.ndim or value.shape[-1] % 4:
      raise ValueError(f"LSTM gates need a last axis of 4 x units, this one is {list(value.shape)}")
    i, j, f, o = np.split(value, 4, -1)
    if self.forget_bias:
      f = (f + np.asarray(self.forget_bias, value.dtype)).astype(value.dtype)
    return np.concatenate([i, f, j, o], -1)

  def shape(self, shape: Shape) -> Shape:
    return _unless(
      bool(shape) and shape[-1] % 4 == 0, "LSTM gates need a last axis of 4 x units", shape
    )

  def for_slots(self) -> Optional[Transform]:
    return LstmGates()


@dataclasses.dataclass(frozen=True)
class GruGates(Transform):
  """Turns the gates of `GRUCell` (r, u) and its candidate, joined, into those of Keras (z, r, h).

  Both keep the share u or z of the old state. The Keras GRU has to be made with reset_after=False.
  (https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/nn/rnn_cell/GRUCell)
  """

  @property
  def name(self) -> str:
    return "GRU gates r,u,c -> z,r,h"

  def apply(self, value: Any) -> Any:
    if not value.ndim or value.shape[-1] % 3:
      raise ValueError(f"GRU gates need a last axis of 3 x units, this one is {list(value.shape)}")
    r, u, c = np.split(value, 3, -1)
    return np.concatenate([u, r, c], -1)

  def shape(self, shape: Shape) -> Shape:
    return _unless(
      bool(shape) and shape[-1] % 3 == 0, "GRU gates need a last axis of 3 x units", shape
    )


@dataclasses.dataclass(frozen=True)
class TimesMinusRate(Transform):
  """Multiplies with minus the learning rate: TF1's Momentum into the velocity of Keras.

  TF1: accum = m accum + g, var -= rate accum; Keras: velocity = m velocity - rate g, var += velocity.

  Attributes:
    rate: the learning rate of the next step.
  """

  rate: float

  @property
  def name(self) -> str:
    return f"times -{self.rate:g}"

  def apply(self, value: Any) -> Any:
    return value * np.asarray(-self.rate, value.dtype)

  def shape(self, shape: Shape) -> Shape:
    return shape


def _unless(fits: bool, need: str, shape: Shape) -> Shape:
  """Returns the shape if it fits."""
  if not fits:
    raise ValueError(f"{need}, this one is {list(shape)}")
  return shape


def concatenate(values: list, axis: int) -> Any:
  """Returns several arrays as one, along an axis.

  Raises:
    ValueError: if the shapes do not fit; they are named.
  """
  if len(values) == 1:
    return values[0]
  try:
    return np.concatenate(values, axis)
  except ValueError as error:
    shapes = ", ".join(str(list(value.shape)) for value in values)
    raise ValueError(f"{shapes} cannot be joined along axis {axis}") from error
