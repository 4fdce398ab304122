"""Feature columns as the file shows them, before anything runs."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any, Optional

from migrator.analysis.module import UNKNOWN


class NotStatic(Exception):
  """The columns are not known before the program runs.

  Args:
    node: the place.
    reason: what only the running program knows.
  """

  def __init__(self, node: ast.AST, reason: str):
    super().__init__(reason)
    self.node = node
    self.reason = reason


@dataclasses.dataclass(eq=False)
class Value:
  """What an expression of the file stands for.

  Attributes:
    text: source that gives the value at the place of the new function.
    reads: the names and calls of the file in `text`; they have to be movable.
    scalar: the literal value of something that is no container, or UNKNOWN.
    items: of a list, tuple or set; None where not known, or for another type.
    entries: of a dict, by key; likewise.
    is_tuple: whether `items` are those of a tuple.
    column: a feature column.
    function: a function of the file.
    environment: in which the function was defined.
    comments: above and behind the element of a list that it was read from.
    origin: the expression that made it.
  """

  text: str = ""
  reads: tuple[ast.AST, ...] = ()
  scalar: Any = UNKNOWN
  items: Optional[list[Value]] = None
  entries: Optional[dict[Any, Value]] = None
  is_tuple: bool = False
  column: Optional[Column] = None
  function: Optional[ast.FunctionDef] = None
  environment: Any = None
  comments: tuple[tuple[str, ...], str] = ((), "")
  origin: Optional[ast.AST] = None

  @property
  def constant(self) -> Any:
    """The literal value, or UNKNOWN."""
    if self.items is not None:
      values = [item.constant for item in self.items]
      known = not any(value is UNKNOWN for value in values)
      return (tuple(values) if self.is_tuple else values) if known else UNKNOWN
    if self.entries is not None:
      found = {key: entry.constant for key, entry in self.entries.items()}
      return UNKNOWN if any(value is UNKNOWN for value in found.values()) else found
    return self.scalar

  def forget(self) -> None:
    """Something that is not followed may have changed the value: nothing is known of it."""
    for part in (*(self.items or ()), *(self.entries or {}).values()):
      part.forget()
    self.items = self.entries = None

  def has_columns(self) -> bool:
    """Whether it is a column, or a container of columns."""
    parts = (*(self.items or ()), *(self.entries or {}).values())
    return self.column is not None or any(part.has_columns() for part in parts)


@dataclasses.dataclass(frozen=True)
class Column:
  """One feature column.

  Two columns with equal fields compute the same.

  Attributes:
    kind: numeric, bucketized, vocabulary, vocabulary_file, hash, identity, crossed, weighted,
      indicator, embedding or shared.
    name: TensorFlow's name of it, which orders the blocks and names the variables.
    arguments: source of the arguments by parameter, of those that are given.
    sources: the columns that it is made of.
    key: the raw feature, of the kinds that read one; of a weighted column its weight.
    dtype: of that feature: "float32", "int64", "string".
    rank: of a numeric column.
    size: the number of values or ids, as source text; "" where only the running program knows.
    crossed: the keys of a crossed column in order: a raw feature, or the index of a source.
    normalizer: the expression of the normalizer_fn of a numeric column.
    group: of columns that share an embedding, its name, and the name of its variable if that is
      not as usual.
  """

  kind: str
  name: str
  arguments: tuple[tuple[str, str], ...] = ()
  sources: tuple[Column, ...] = ()
  key: str = ""
  dtype: str = "float32"
  rank: int = 1
  size: str = ""
  crossed: tuple[Any, ...] = ()
  group: tuple[str, str] = ("", "")
  normalizer: Optional[ast.expr] = dataclasses.field(default=None, compare=False)
  key_text: str = dataclasses.field(default="", compare=False)
  reads: tuple[ast.AST, ...] = dataclasses.field(default=(), compare=False)

  @property
  def is_categorical(self) -> bool:
    """Whether it gives ids; a bucketized column gives both ids and values."""
    return self.kind in CATEGORICAL or self.kind == "bucketized"

  @property
  def given(self) -> dict[str, str]:
    return dict(self.arguments)

  def all_reads(self) -> list[ast.AST]:
    """The user's expressions that go into the new function."""
    return [*self.reads, *(read for source in self.sources for read in source.all_reads())]

  def all_sources(self) -> list[Column]:
    """The columns that it is made of, down to those of the features."""
    return [c for source in self.sources for c in (source, *source.all_sources())]


CATEGORICAL = frozenset(
  ("vocabulary", "vocabulary_file", "hash", "identity", "crossed", "weighted")
)


def plus(text: str, number: int) -> str:
  """Source of `text + number`, computed where the text is a number."""
  if text.isdigit():
    return str(int(text) + number)
  return f"{text} + {number}" if number else text
