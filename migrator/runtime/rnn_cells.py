"""What has to be right for a recurrent cell of TF1 to be one of Keras: the gates, and no parts that it lacks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Optional

from migrator.runtime import renames
from migrator.runtime.name_map import Source

# Below the scope of the cell; `W_F_diag` before TF 1.2.
_PARTS = (
  (re.compile(r"w_[fio]_diag", re.IGNORECASE), "peepholes"),
  (re.compile(r"(projection|Projection)/.*"), "a projection"),
  (re.compile(r"(input|transform|forget|output|state)/(gamma|beta)"), "layer normalization"),
  (re.compile(r"candidate/(input|hidden)_projection/.*"), "the reset gate behind the product"),
)
_OPAQUE = re.compile(r"(^|/)opaque_kernel$")
_ATTRIBUTES = ("kernel", "recurrent_kernel", "bias")


def fault(
  name: str,
  source: Source,
  rank: int,
  variables: Iterable[str],
  others: dict[str, Optional[Source]],
) -> str:
  """Returns why a variable of the model cannot come from where the map says, "" if it can.

  Args:
    name: of the variable of the model.
    source: where it comes from.
    rank: of the variable.
    variables: the names in the checkpoint.
    others: where every variable of the model comes from.
  """
  gates = _gates(source)
  reason = ""
  if any(_OPAQUE.search(old) for old in source.names):
    reason = (
      "the weights of a CudnnLSTM or CudnnGRU in one piece, in an order that depends on the version of "
      "cuDNN. Let the old program save it through its canonical saver"
    )
  elif gates is None and source.names != (name,) and any(map(renames.rnn_cell, source.names)):
    reason = (
      "the gates of TF1's RNN cells are in another order than those of Keras; say gates = "
      '"lstm", "gru" or "keep" in the map file'
    )
  elif gates in ("lstm", "gru"):
    reason = _parts(source, variables)
  if not reason and gates == "lstm":
    reason = _forget_bias(source, rank)
  if not reason and gates is None:
    reason = _forgotten(name, others)
  return f"{name} <- {source.names[0]}: {reason}" if reason else ""


def _gates(source: Source) -> Optional[str]:
  return dict(source.steps).get("gates")


def _parts(source: Source, variables: Iterable[str]) -> str:
  """Returns what the cell has that the Keras layer has not."""
  scope = re.sub(r"/(gates|candidate|Linear)$", "", source.names[0].rpartition("/")[0])
  for old in variables:
    for pattern, what in _PARTS:
      if old.startswith(scope + "/") and pattern.fullmatch(old[len(scope) + 1 :]):
        return f"the cell has {what} ({old}), which the layer of Keras has not"
  return ""


def _forget_bias(source: Source, rank: int) -> str:
  given = "forget_bias" in dict(source.steps)
  if rank == 1 and not given:
    return (
      "the bias of an LSTM needs forget_bias, the cell's argument (TF1's default is 1.0): Keras has it "
      "in the bias"
    )
  return "forget_bias is only for the bias" if rank != 1 and given else ""


def _forgotten(name: str, others: dict[str, Optional[Source]]) -> str:
  """Returns a reason if the other variables of the layer have their gates reordered, and this one not."""
  layer, _, attribute = name.rpartition("/")
  for other in _ATTRIBUTES:
    source = others.get(f"{layer}/{other}" if layer else other)
    if attribute in _ATTRIBUTES and source is not None and _gates(source) in ("lstm", "gru"):
      return f'{other} of this layer has gates = "{_gates(source)}", so this needs it as well'
  return ""
