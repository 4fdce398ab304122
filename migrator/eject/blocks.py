"""Layers over live columns -> statements with the layers that take their place."""

from __future__ import annotations

from typing import Any

from migrator.eject.functions import Names, literal
from migrator.eject.values import Reader
from migrator.rewrite import columns_layout, emit
from migrator.rewrite.columns_explicit import Writer
from migrator.rewrite.columns_values import Column
from migrator.runtime import columns as runtime_columns
from migrator.runtime.columns.live_shared import Shared

STYLE = emit.Style()
# Within the function.
INNER = STYLE.nested()


class _Writer(Writer):
  """Writes columns over Inputs that are there already."""

  def _find_inputs(self) -> dict[str, tuple[str, str, str, bool]]:
    return {}


class Blocks:
  """Writes the live layers of a model; what two of them read is made once.

  Args:
    layers: the live layers.
    names: gets what the code imports.
    dtypes: of the features, by name.
  """

  def __init__(self, layers: list[Any], names: Names, dtypes: dict[str, str]):
    self._names = names
    self._reader = Reader(names, dtypes)
    groups: list[dict[str, Any]] = []
    for layer in layers:
      if isinstance(layer, runtime_columns.SequenceFeatures):
        part = "sequence"
      else:
        part = "dnn" if isinstance(layer, runtime_columns.DenseFeatures) else "linear"
      group = next((g for g in groups if part not in g), None)
      if group is None:
        group = {}
        groups.append(group)
      group[part] = layer
    self._places: dict[int, tuple[Writer, str]] = {}
    self._live: dict[int, list[tuple[Any, Column]]] = {}
    self._writers = [self._writer(group) for group in groups]

  def _writer(self, group: dict[str, Any]) -> Writer:
    parts: dict[str, list[Column]] = {}
    for part, layer in group.items():
      self._live[id(layer)] = [(column, self._reader.read(column)) for column in layer.columns]
      parts[part] = [value for _, value in self._live[id(layer)]]
    flavour = "v2" if any(layer.flavour == "v2" for layer in group.values()) else "v1"
    writer = _Writer("tf", "runtime", parts, {*self._names.taken, "net"}, flavour=flavour)
    self._names.taken.update(writer.variables)
    for part, layer in group.items():
      self._places[id(layer)] = (writer, part)
    return writer

  def variable_lines(self) -> list[str]:
    """Statements for the ids that several columns read."""
    return [line for writer in self._writers for line in writer.variable_lines(INNER)]

  def lines(self, layer: Any, target: str) -> list[str]:
    """Statements that define a variable, the output of a live layer; of a sequence also its lengths."""
    writer, part = self._places[id(layer)]
    if part == "linear":
      combiner = "" if layer.sparse_combiner == "sum" else literal(layer.sparse_combiner)
      lines = writer.linear_lines(str(layer.units), combiner, INNER, target)
      return [line.replace('name="linear_model"', f"name={literal(layer.name)}") for line in lines]
    if part == "sequence":
      return self._sequence_lines(layer, writer, target)
    lines = writer.dense_lines(INNER)
    place = max(i for i, line in enumerate(lines) if line.startswith("net = "))
    lines[place] = f"{target} = {lines[place][len('net = ') :]}"
    return lines

  def _sequence_lines(self, layer: Any, writer: Writer, target: str) -> list[str]:
    lines: list[str] = []
    blocks: list[str] = []
    tables: dict[str, str] = {}
    for live, value in self._live[id(layer)]:
      block = self._names.free(f"{value.name}_steps")
      steps = self._names.free("length") if not blocks else "_"
      text = self._sequence(live, value, writer, tables, lines)
      lines += columns_layout.statement(f"{block}, {steps}", text, INNER)
      blocks.append(block)
    joined = blocks[0]
    if len(blocks) > 1:
      joined = f"tf.keras.layers.Concatenate(axis=2)([{', '.join(blocks)}])"
    return [*lines, *columns_layout.statement(target, joined, INNER)]

  def _sequence(
    self, live: Any, value: Column, writer: Writer, tables: dict[str, str], lines: list[str]
  ) -> str:
    layers = "runtime.columns."
    if value.kind == "numeric":
      items = [value.given["shape"], literal(live.default_value)]
      if "normalizer_fn" in value.given:
        items.append(f"normalizer_fn={value.given['normalizer_fn']}")
      return f"{layers}SequenceNumeric({', '.join(items)})(inputs[{value.key_text}])"
    ids = writer.ids(value.sources[0])
    if value.kind == "indicator":
      return f"{layers}SequenceIndicator({value.sources[0].size})({ids})"
    if not isinstance(live, Shared):
      table = writer._embedding_arguments(value, value.name)
      return f"{layers}SequenceEmbedding({table})({ids})"
    if live.table not in tables:
      tables[live.table] = self._names.free(live.table)
      table = writer._embedding_arguments(value, live.table)
      if live.scope:
        table += f", variable_name={literal(live.scope + live.table)}"
      text = f"{layers}SequenceEmbedding({table})"
      lines += columns_layout.statement(tables[live.table], text, INNER)
    return f"{tables[live.table]}({ids})"
