"""Columns that the file shows -> Keras inputs and layers, written out.

The input layer of the Estimator is the concatenation of the dense columns in the order of their
names, whatever the order of the list; its linear model has the weights of each column by its name
(https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/feature_column/input_layer).
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Sequence
from typing import Any

from migrator.rewrite import columns_layout, emit
from migrator.rewrite.columns_values import CATEGORICAL, Column

_IDS = {
  "vocabulary": "VocabularyIds",
  "vocabulary_file": "VocabularyFileIds",
  "hash": "HashIds",
  "identity": "IdentityIds",
  "bucketized": "BucketIds",
  "crossed": "CrossIds",
}
# The parameter of the ids layers that goes by its position.
_FIRST = ("vocabulary_list", "vocabulary_file", "hash_bucket_size", "num_buckets", "boundaries")
_RENAMED = {"initializer": "embeddings_initializer"}


class Writer:
  """Writes the columns of one estimator.

  Args:
    tf: the name under which the output knows TF2.
    runtime: the name under which it knows the runtime.
    parts: the columns of "dnn" and "linear".
    taken: names that the variables of the new function must not have.
    sparse: whether the input functions give sparse tensors, as `tf.io.parse_example` does.
    comments: of each column, above and behind it.
    flavour: of the estimator.
  """

  def __init__(
    self,
    tf: str,
    runtime: object,
    parts: dict[str, list[Column]],
    taken: Iterable[str] = (),
    sparse: bool = False,
    comments: Sequence[tuple[Column, tuple[tuple[str, ...], str]]] = (),
    flavour: str = "v1",
  ):
    self._tf = tf
    self._runtime = runtime
    self.parts = {part: sorted(cs, key=lambda c: c.name) for part, cs in parts.items()}
    self._order = [column for columns in parts.values() for column in columns]
    self._taken = set(taken)
    self._sparse = sparse
    self._comments = list(comments)
    self._flavour = flavour
    self._layer_names: dict[Any, str] = {}
    self.inputs = self._find_inputs()
    self._variables = self._find_variables()

  @property
  def _layers(self) -> str:
    return f"{self._runtime}.columns."

  # -- inputs -------------------------------------------------------------------

  def _find_inputs(self) -> dict[str, tuple[str, str, str, bool]]:
    """By raw feature: source of the key, of the shape, dtype, and whether it is categorical."""
    found: dict[str, tuple[str, str, str, bool]] = {}
    raw: list[tuple[str, str]] = []
    for column in _all(self._order):
      raw += [key for key in column.crossed if isinstance(key, tuple)]
      if not column.key:
        continue
      numeric = column.kind == "numeric"
      shape = column.given["shape"] if numeric else "[None]"
      new = (column.key_text, shape, column.dtype, not numeric)
      old = found.setdefault(column.key, new)
      if old[1:] != new[1:]:
        raise Conflict(f"the feature {column.key!r} in columns of two types or shapes")
    for key, text in raw:
      old = found.setdefault(key, (text, "[None]", "string", True))
      if not old[3] or old[2] == "float32":
        raise Conflict(f"crossed_column over {key!r}, which is also a number")
    return found

  def input_lines(self, style: emit.Style) -> list[str]:
    """Statements that define `inputs`, a dict of Keras inputs by raw feature."""
    items = []
    for key, (text, shape, dtype, categorical) in self.inputs.items():
      arguments = [shape]
      if categorical:
        arguments += [f'dtype="{dtype}"'] if dtype != "float32" else []
        arguments += ["sparse=True"] if self._sparse else []
      arguments += [] if "/" in key else [f"name={text}"]
      items.append(f"{text}: {self._tf}.keras.Input({', '.join(arguments)})")
    return columns_layout.statement("inputs", f"{{{', '.join(items)}}}", style)

  # -- variables that hold what is read twice ------------------------------------

  def _find_variables(self) -> dict[Column, str]:
    counts: dict[Column, int] = {}
    for part, columns in self.parts.items():
      for column in columns:
        self._count(column, part, counts)
    names: dict[Column, str] = {}
    for column, count in counts.items():
      if not column.size and column.kind == "vocabulary_file":
        self._layer_names[column] = self._variable(f"{column.name}_vocabulary")
      if count > 1 and self._is_layer(column):
        names[column] = self._variable(column.name)
      if column.kind == "shared" and column.group not in self._layer_names:
        self._layer_names[column.group] = self._variable(column.group[0])
    return names

  def _count(self, column: Column, part: str, counts: dict[Column, int]) -> None:
    counts[column] = counts.get(column, 0) + 1
    if counts[column] == 1:
      for source in column.sources:
        self._count(source, part, counts)

  def _is_layer(self, column: Column) -> bool:
    return column.kind != "numeric" or "normalizer_fn" in column.given

  def _variable(self, name: str) -> str:
    base = re.sub(r"\W", "_", name).strip("_") or "column"
    base = f"column_{base}" if base[0].isdigit() or keyword.iskeyword(base) else base
    candidate, number = base, 2
    while candidate in self._taken:
      candidate = f"{base}_ids" if number == 2 else f"{base}_ids_{number - 1}"
      number += 1
    self._taken.add(candidate)
    return candidate

  def variable_lines(self, style: emit.Style) -> list[str]:
    """Statements for the ids that several columns read."""
    lines: list[str] = []
    for column, name in self._layer_names.items():
      if isinstance(column, Column):
        lines += columns_layout.statement(name, self._ids_layer(column), style)
    for column, name in sorted(self._variables.items(), key=lambda item: _depth(item[0])):
      text = self._ids(column) if column.is_categorical else self._dense(column)
      lines += columns_layout.statement(name, text, style)
    return lines

  def table_lines(self, style: emit.Style) -> list[str]:
    """Statements for the layers that several columns share."""
    lines: list[str] = []
    written = set()
    for column in self.parts.get("dnn", ()):
      if column.kind == "shared" and column.group not in written:
        written.add(column.group)
        name, variable = column.group
        if variable:
          scope = "/" if self._flavour == "v2" else "input_from_feature_columns/"
          variable = f", variable_name={emit.string(scope + variable)}"
          if self._flavour == "v2" and "trainable" not in column.given:
            # The variable was none of its Keras model, the only ones that it trained.
            variable += ", trainable=False"
        items = self._embedding_arguments(column, name)
        text = f"{self._layers}Embedding({items}{variable})"
        lines += columns_layout.statement(self._layer_names[column.group], text, style)
    return lines

  @property
  def variables(self) -> list[str]:
    return [*self._variables.values(), *self._layer_names.values()]

  def size(self, column: Column) -> str:
    """Source of the number of ids of a categorical column."""
    if column in self._layer_names:
      return f"{self._layer_names[column]}.num_buckets"
    return self.size(column.sources[0]) if column.kind == "weighted" else column.size

  # -- layers -------------------------------------------------------------------

  def ids(self, column: Column) -> str:
    """Source of the ids of a categorical or bucketized column."""
    return self._variables.get(column) or self._ids(column)

  def _ids(self, column: Column) -> str:
    if column.kind == "weighted":
      weights = f"inputs[{column.key_text}]"
      return f"{self._layers}WeightedIds()([{self.ids(column.sources[0])}, {weights}])"
    head = self._layer_names.get(column) or self._ids_layer(column)
    if column.kind == "crossed":
      keys = [
        f"inputs[{key[1]}]" if isinstance(key, tuple) else self.ids(column.sources[key])
        for key in column.crossed
      ]
      return f"{head}([{', '.join(keys)}])"
    if column.kind == "bucketized":
      return f"{head}({self.dense(column.sources[0])})"
    return f"{head}(inputs[{column.key_text}])"

  def _ids_layer(self, column: Column) -> str:
    arguments = ", ".join(t if n in _FIRST else f"{n}={t}" for n, t in column.arguments)
    return f"{self._layers}{_IDS[column.kind]}({arguments})"

  def dense(self, column: Column) -> str:
    """Source of the block of a dense column."""
    if column in self._variables and not column.is_categorical:
      return self._variables[column]
    return self._dense(column)

  def _dense(self, column: Column) -> str:
    given = column.given
    if column.kind == "numeric":
      value = f"inputs[{column.key_text}]"
      if "normalizer_fn" in given:
        value = f"{self._layers}Normalizer({given['normalizer_fn']})({value})"
      return value
    if column.kind == "bucketized":
      source = column.sources[0]
      if column in self._variables or source.size != "1":
        return f"{self._layers}Indicator({column.size})({self.ids(column)})"
      arguments = f'bin_boundaries={given["boundaries"]}, output_mode="one_hot"'
      return f"{self._tf}.keras.layers.Discretization({arguments})({self.dense(source)})"
    source = column.sources[0]
    if column.kind == "indicator":
      return f"{self._layers}Indicator({self.size(source)})({self.ids(source)})"
    if column.kind == "shared":
      return f"{self._layer_names[column.group]}({self.ids(source)})"
    items = self._embedding_arguments(column, column.name)
    return f"{self._layers}Embedding({items})({self.ids(source)})"

  def _embedding_arguments(self, column: Column, name: str) -> str:
    items = [self.size(column.sources[0]), column.given["dimension"]]
    items += [f"{_RENAMED.get(n, n)}={t}" for n, t in column.arguments if n != "dimension"]
    return ", ".join([*items, f"name={emit.string(name)}"])

  def _flat(self, column: Column) -> str:
    value = self.dense(column)
    if column.kind == "numeric" and column.rank > 1:
      return f"{self._tf}.keras.layers.Flatten()({value})"
    return value

  # -- parts --------------------------------------------------------------------

  def dense_lines(self, style: emit.Style) -> list[str]:
    """Statements that define `net`, float32 [batch, n], from the columns of the DNN."""
    columns = self.parts["dnn"]
    blocks = [self._flat(column) for column in columns]
    text = blocks[0]
    if len(columns) > 1:
      text = f"{self._tf}.keras.layers.Concatenate()([{', '.join(blocks)}])"
    lines = columns_layout.statement("net", text, style, self._commented(columns, blocks))
    return [*self.table_lines(style), *lines]

  def linear_lines(
    self, units: str, combiner: str, style: emit.Style, target: str = "logits"
  ) -> list[str]:
    """Statements that define the logits of the linear part, float32 [batch, units]."""
    columns = self.parts["linear"]
    buckets = [f"{emit.string(c.name)}: {self.size(c)}" for c in columns if c.is_categorical]
    arguments = [units]
    if buckets:
      arguments.append(f"num_buckets={{{', '.join(buckets)}}}")
    arguments += [f"sparse_combiner={combiner}"] if combiner else []
    arguments.append('name="linear_model"')
    values = [self.ids(c) if c.is_categorical else self._flat(c) for c in columns]
    pairs = [f"{emit.string(c.name)}: {value}" for c, value in zip(columns, values)]
    layer = f"{self._layers}LinearModel({', '.join(arguments)})"
    text = f"{layer}({{{', '.join(pairs)}}})"
    return columns_layout.statement(target, text, style, self._commented(columns, values))

  def _commented(self, columns: list[Column], texts: list[str]):
    """The comments of columns by the texts that stand for them."""
    return {
      text: comments
      for column, text in zip(columns, texts)
      for other, comments in self._comments
      if other is column
    }


class Conflict(Exception):
  """Columns that need two Inputs for one feature."""


def _all(columns: Iterable[Column]) -> Iterable[Column]:
  for column in columns:
    yield from _all(column.sources)
    yield column


def _depth(column: Column) -> int:
  return 1 + max((_depth(source) for source in column.sources), default=0)


def looks_up(parts: dict[str, list[Column]]) -> bool:
  """Whether any weight is looked up by an id."""
  return any(c.kind in ("embedding", "shared") for c in parts.get("dnn", ())) or any(
    c.kind in CATEGORICAL or c.kind == "bucketized" for c in parts.get("linear", ())
  )
