"""Columns that the file shows -> Keras inputs and layers, written out.

The input layer of the Estimator is the concatenation of the dense columns in the order of their
names, whatever the order of the list; its linear model has the weights of each column by its name
(https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/feature_column/input_layer).
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Sequence

from migrator.rewrite import emit
from migrator.rewrite.columns_values import CATEGORICAL, Column
from migrator.rewrite.plan import Unsupported

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
  """

  def __init__(
    self,
    tf: str,
    runtime: object,
    parts: dict[str, list[Column]],
    taken: Iterable[str] = (),
    sparse: bool = False,
    comments: Sequence[tuple[Column, tuple[tuple[str, ...], str]]] = (),
  ):
    self._tf = tf
    self._runtime = runtime
    self.parts = {part: sorted(cs, key=lambda c: c.name) for part, cs in parts.items()}
    self._order = [column for columns in parts.values() for column in columns]
    self._taken = set(taken)
    self._sparse = sparse
    self._comments = list(comments)
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
        what = f"the feature {column.key!r} in columns of two types or shapes"
        raise Unsupported("EM207", column.reads[0], column=what)
    for key, text in raw:
      old = found.setdefault(key, (text, "[None]", "string", True))
      if not old[3] or old[2] == "float32":
        raise CrossOfNumbers(key)
    return found

  def input_lines(self, style: emit.Style) -> list[str]:
    """Statements that define `inputs`, a dict of Keras inputs by raw feature."""
    items: list[emit.Item] = []
    for key, (text, shape, dtype, categorical) in self.inputs.items():
      arguments = [shape]
      if categorical:
        arguments += [f'dtype="{dtype}"', *(["sparse=True"] if self._sparse else [])]
      arguments += [] if "/" in key else [f"name={text}"]
      call = f"{self._tf}.keras.Input({', '.join(arguments)})"
      items.append(emit.Item(f"{text}: {call}"))
    return emit.bracketed("inputs = {", items, "}", style)

  # -- variables that hold what is read twice ------------------------------------

  def _find_variables(self) -> dict[Column, str]:
    counts: dict[Column, int] = {}
    for part, columns in self.parts.items():
      for column in columns:
        self._count(column, part, counts)
    names: dict[Column, str] = {}
    for column, count in counts.items():
      if count > 1 and self._is_layer(column):
        names[column] = self._variable(column.name)
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
    for column, name in sorted(self._variables.items(), key=lambda item: _depth(item[0])):
      text = self._ids(column) if column.is_categorical else self._dense(column)
      lines += emit.statement(f"{name} = {text}", style)
    return lines

  @property
  def variables(self) -> list[str]:
    return list(self._variables.values())

  # -- layers -------------------------------------------------------------------

  def ids(self, column: Column) -> str:
    """Source of the ids of a categorical or bucketized column."""
    return self._variables.get(column) or self._ids(column)

  def _ids(self, column: Column) -> str:
    if column.kind == "weighted":
      weights = f"inputs[{column.key_text}]"
      return f"{self._layers}WeightedIds()([{self.ids(column.sources[0])}, {weights}])"
    head = f"{self._layers}{_IDS[column.kind]}({self._arguments(column)})"
    if column.kind == "crossed":
      keys = [
        f"inputs[{key[1]}]" if isinstance(key, tuple) else self.ids(column.sources[key])
        for key in column.crossed
      ]
      return f"{head}([{', '.join(keys)}])"
    if column.kind == "bucketized":
      return f"{head}({self.dense(column.sources[0])})"
    return f"{head}(inputs[{column.key_text}])"

  def _arguments(self, column: Column) -> str:
    return ", ".join(t if n in _FIRST else f"{n}={t}" for n, t in column.arguments)

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
      return f"{self._layers}Indicator({source.size})({self.ids(source)})"
    items = [source.size, given["dimension"]]
    items += [f"{_RENAMED.get(n, n)}={t}" for n, t in column.arguments if n != "dimension"]
    items.append(f"name={emit.string(column.name)}")
    return f"{self._layers}Embedding({', '.join(items)})({self.ids(source)})"

  def _flat(self, column: Column) -> str:
    value = self.dense(column)
    if column.kind == "numeric" and column.rank > 1:
      return f"{self._tf}.keras.layers.Flatten()({value})"
    return value

  # -- parts --------------------------------------------------------------------

  def dense_lines(self, style: emit.Style) -> list[str]:
    """Statements that define `net`, float32 [batch, n], from the columns of the DNN."""
    columns = self.parts["dnn"]
    if len(columns) == 1:
      return emit.statement(f"net = {self._flat(columns[0])}", style)
    items = [self._item(column, self._flat(column)) for column in columns]
    head = f"net = {self._tf}.keras.layers.Concatenate()(["
    return emit.bracketed(head, items, "])", style)

  def linear_lines(
    self, units: str, combiner: str, style: emit.Style, target: str = "logits"
  ) -> list[str]:
    """Statements that define the logits of the linear part, float32 [batch, units]."""
    columns = self.parts["linear"]
    buckets = [f"{emit.string(c.name)}: {c.size}" for c in columns if c.is_categorical]
    arguments = [units]
    if buckets:
      arguments.append(f"num_buckets={{{', '.join(buckets)}}}")
    arguments += [f"sparse_combiner={combiner}"] if combiner else []
    arguments.append('name="linear_model"')
    layer = emit.bracketed(f"{target} = {self._layers}LinearModel(", arguments, ")({", style)
    items = [
      self._item(c, f"{emit.string(c.name)}: {self.ids(c) if c.is_categorical else self._flat(c)}")
      for c in columns
    ]
    if len(layer) == 1:
      return emit.bracketed(layer[0], items, "})", style)
    return [*layer[:-1], *emit.bracketed(layer[-1], items, "})", style)]

  def _item(self, column: Column, text: str) -> emit.Item:
    for other, (leading, trailing) in self._comments:
      if other is column:
        return emit.Item(text, leading, trailing)
    return emit.Item(text)


class CrossOfNumbers(Exception):
  """A cross over a feature that is a number."""


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
