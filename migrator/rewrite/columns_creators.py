"""Calls that create feature columns -> `Column`."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrator.analysis import aliases, facts
from migrator.analysis.module import UNKNOWN
from migrator.rewrite import emit
from migrator.rewrite.columns_parameters import (
  CHECKPOINT,
  COLLECTION,
  DTYPES,
  PARAMETERS,
  VOCABULARY_FILE_V1,
)
from migrator.rewrite.columns_values import Column, NotStatic, Value, plus
from migrator.rewrite.plan import Plan, Unsupported


class Creator:
  """Makes the column, or columns, of one call.

  Args:
    plan: of the file.
    call: the call.
    name: what is called, a key of `PARAMETERS`.
    evaluate: gives the value of an argument.
  """

  def __init__(self, plan: Plan, call: ast.Call, name: str, evaluate: Callable[[ast.expr], Value]):
    self._plan = plan
    self._call = call
    self._name = name
    parameters = PARAMETERS[name]
    if name == "categorical_column_with_vocabulary_file" and self._is_v1():
      parameters = VOCABULARY_FILE_V1
    bound = facts.bind_arguments(call, parameters)
    if bound is None:
      raise NotStatic(call, f"`{plan.module.source(call)}` has *args or **kwargs")
    unknown = set(bound) - set(parameters)
    if unknown:
      raise Unsupported("EM207", call, column=f"{name} with {min(unknown)}")
    self._values = {n: evaluate(a.value) for n, a in bound.items()}
    self._nodes = bound
    # An argument that is None is one that is not given.
    self._given = {n: v for n, v in self._values.items() if v.constant is not None}

  def _is_v1(self) -> bool:
    symbol = self._plan.module.resolve(self._call.func)
    api = symbol.api if symbol is not None else ""
    return api == "v1" or (not api and self._plan.source_version == 1)

  def make(self) -> Value:
    """The column; for shared embeddings a list of them."""
    if self._name.startswith("shared_embedding"):
      return Value(items=[Value(column=c) for c in self._shared()])
    makers = {
      "numeric_column": self._numeric,
      "bucketized_column": self._bucketized,
      "crossed_column": self._crossed,
      "weighted_categorical_column": self._weighted,
      "indicator_column": self._indicator,
      "embedding_column": self._embedding,
    }
    return Value(column=makers.get(self._name, self._categorical)())

  # -- arguments ----------------------------------------------------------------

  def _required(self, name: str) -> Value:
    if name not in self._given:
      raise NotStatic(self._call, f"`{self._plan.module.source(self._call)}` has no {name}")
    return self._given[name]

  def _key(self, name: str = "key") -> str:
    key = self._required(name).constant
    if not isinstance(key, str):
      raise NotStatic(self._nodes[name].value, "the name of a feature is not known in the file")
    return key

  def _key_text(self, name: str = "key") -> str:
    """The key as the user spelled it, in the quotes of the new code."""
    value = self._given[name]
    plain = value.text[:1] in "\"'"
    return emit.string(value.constant) if plain or not value.text else value.text

  def _texts(self, *names: str, **defaults: object) -> tuple[tuple[str, str], ...]:
    """Source of the arguments that are given and are not the default."""
    found = []
    for name in names:
      value = self._given.get(name)
      if value is None or (name in defaults and value.constant == defaults[name]):
        continue
      if not value.text:
        raise NotStatic(self._nodes[name].value, f"{name} cannot be written again")
      found.append((name, value.text))
    return tuple(found)

  def _reads(self, *names: str) -> tuple[ast.AST, ...]:
    return tuple(read for n in names if n in self._given for read in self._given[n].reads)

  def _dtype(self, default: str) -> str:
    if "dtype" not in self._given:
      return default
    node = self._nodes["dtype"].value
    definition = self._plan.module.definition(node)
    symbol = self._plan.module.resolve(definition) if definition is not None else None
    certain = symbol is not None and aliases.is_certain(self._plan.module, node)
    dtype = DTYPES.get(symbol.path) if symbol is not None and certain else None
    if dtype is None:
      raise NotStatic(node, "the type of a feature is not known in the file")
    return dtype

  def _source(self, name: str) -> Column:
    column = self._required(name).column
    if column is None:
      raise NotStatic(self._nodes[name].value, f"{name} is not known in the file")
    return column

  def _categorical_source(self, name: str = "categorical_column") -> Column:
    column = self._source(name)
    if not column.is_categorical:
      raise Unsupported("EM207", self._call, column=f"{self._name} of a {column.kind} column")
    return column

  # -- columns ------------------------------------------------------------------

  def _numeric(self) -> Column:
    key = self._key()
    shape, rank, size = "[1]", 1, "1"
    given = self._given.get("shape")
    if given is not None:
      value = given.constant
      shape = given.text
      if isinstance(value, int):
        shape, size = f"[{given.text}]", given.text
      elif isinstance(value, (list, tuple)) and all(isinstance(v, int) for v in value):
        rank = len(value)
        size = "1"
        for dimension in value:
          size = str(int(size) * dimension)
        shape, rank = ("[1]", 1) if list(value) in ([], [1]) else (shape, rank)
      else:
        raise NotStatic(self._nodes["shape"].value, "a shape is not known in the file")
    self._dtype("float32")
    texts = (("shape", shape), *self._texts("normalizer_fn"))
    reads = self._reads("key", "shape", "normalizer_fn")
    normalizer = self._nodes["normalizer_fn"].value if "normalizer_fn" in self._given else None
    return Column(
      "numeric",
      key,
      texts,
      key=key,
      rank=rank,
      size=size,
      normalizer=normalizer,
      key_text=self._key_text(),
      reads=reads,
    )

  def _bucketized(self) -> Column:
    source = self._source("source_column")
    if source.kind != "numeric" or source.rank > 1:
      raise Unsupported("EM207", self._call, column=f"bucketized_column of a {source.kind} column")
    boundaries = self._required("boundaries")
    size = plus(_length(boundaries), 1)
    if source.size != "1":
      known = size.isdigit() and source.size.isdigit()
      size = str(int(size) * int(source.size)) if known else f"({size}) * {source.size}"
    return Column(
      "bucketized",
      f"{source.name}_bucketized",
      self._texts("boundaries"),
      (source,),
      size=size,
      reads=self._reads("boundaries"),
    )

  def _categorical(self) -> Column:
    key = self._key()
    kind = {"identity": "identity", "bucket": "hash", "list": "vocabulary"}.get(
      self._name.rpartition("_")[2], "vocabulary_file"
    )
    dtype = {"identity": "int64"}.get(kind, "string")
    if kind == "identity":
      texts = self._texts("num_buckets", "default_value")
      size = self._required("num_buckets").text
    elif kind == "hash":
      dtype = self._dtype(dtype)
      texts, size = self._texts("hash_bucket_size"), self._required("hash_bucket_size").text
    else:
      names: tuple[str, ...] = ("vocabulary_list",)
      if kind == "vocabulary_file":
        names = ("vocabulary_file", "vocabulary_size")
        size = self._given["vocabulary_size"].text if "vocabulary_size" in self._given else ""
        dtype = self._dtype(dtype)
      else:
        vocabulary = self._required("vocabulary_list")
        size = _length(vocabulary)
        dtype = self._dtype(_dtype_of(vocabulary, self._call))
      texts = self._texts(
        *names,
        "default_value",
        "num_oov_buckets",
        "file_format",
        default_value=-1,
        num_oov_buckets=0,
      )
      oov = dict(texts).get("num_oov_buckets")
      if oov is not None and size:
        size = plus(size, int(oov)) if oov.isdigit() else f"{size} + {oov}"
    if dtype not in ("string", "int64"):
      raise Unsupported("EM207", self._call, column=f"a categorical column of {dtype}")
    reads = self._reads(*(n for n in self._given if n != "dtype"))
    return Column(
      kind, key, texts, key=key, dtype=dtype, size=size, key_text=self._key_text(), reads=reads
    )

  def _crossed(self) -> Column:
    keys = self._required("keys").items
    if keys is None:
      raise NotStatic(self._nodes["keys"].value, "the keys of a cross are not known in the file")
    crossed: list[object] = []
    sources: list[Column] = []
    leaves: list[str] = []
    for key in keys:
      if key.column is not None:
        if not key.column.is_categorical or key.column.kind in ("hash", "weighted"):
          what = f"crossed_column over a {key.column.kind} column"
          raise Unsupported("EM207", self._call, column=what)
        leaves += _leaves(key.column)
        # A cross of a cross crosses the keys of both.
        nested = key.column.kind == "crossed"
        for leaf in key.column.crossed if nested else (0,):
          crossed.append(len(sources) if isinstance(leaf, int) else leaf)
          if isinstance(leaf, int):
            sources.append(key.column.sources[leaf] if nested else key.column)
      elif isinstance(key.constant, str):
        crossed.append((key.constant, emit.string(key.constant)))
        leaves.append(key.constant)
      else:
        raise NotStatic(self._nodes["keys"].value, "the keys of a cross are not known in the file")
    return Column(
      "crossed",
      "_X_".join(sorted(leaves)),
      self._texts("hash_bucket_size", "hash_key"),
      tuple(sources),
      size=self._required("hash_bucket_size").text,
      crossed=tuple(crossed),
      reads=self._reads("hash_bucket_size", "hash_key"),
    )

  def _weighted(self) -> Column:
    source = self._categorical_source()
    key = self._key("weight_feature_key")
    return Column(
      "weighted",
      f"{source.name}_weighted_by_{key}",
      (),
      (source,),
      key=key,
      dtype="float32" if self._dtype("float32").startswith("float") else "int64",
      size=source.size,
      key_text=self._key_text("weight_feature_key"),
      reads=self._reads("weight_feature_key"),
    )

  def _indicator(self) -> Column:
    source = self._categorical_source()
    return Column("indicator", f"{source.name}_indicator", (), (source,), size=source.size)

  def _embedding(self) -> Column:
    source = self._categorical_source()
    texts, reads = self._embedding_arguments()
    name = f"{source.name}_embedding"
    size = self._required("dimension").text
    return Column("embedding", name, texts, (source,), size=size, reads=reads)

  def _embedding_arguments(self):
    names = ("dimension", "combiner", "initializer", *CHECKPOINT.split())
    texts = self._texts(*names, combiner="mean", trainable=True, use_safe_embedding_lookup=True)
    return texts, self._reads(*names)

  def _shared(self) -> list[Column]:
    given = self._required("categorical_columns").items
    sources = [value.column for value in given or ()]
    known = [s for s in sources if s is not None and s.is_categorical]
    if not known or len(known) != len(sources):
      raise NotStatic(self._call, "the columns that share an embedding are not known in the file")
    name = "_".join(sorted(s.name for s in known)) + "_shared_embedding"
    if COLLECTION in self._given:
      name = self._key(COLLECTION)
    # TF1's function names the table like that of an embedding column, TF2's does not.
    variable = "" if self._name == "shared_embedding_columns" else name
    texts, reads = self._embedding_arguments()
    size = self._required("dimension").text
    return [
      Column(
        "shared",
        f"{s.name}_shared_embedding",
        texts,
        (s,),
        size=size,
        group=(name, variable),
        reads=reads,
      )
      for s in known
    ]


def _leaves(column: Column) -> list[str]:
  """The names that make up the name of a cross."""
  if column.kind != "crossed":
    return [column.name]
  return [
    leaf
    for key in column.crossed
    for leaf in ([key[0]] if isinstance(key, tuple) else _leaves(column.sources[key]))
  ]


def _length(value: Value) -> str:
  """Source of the number of elements: of a list that is written out, the number."""
  written = value.text.lstrip()[:1] in "[("
  if value.items is not None and written:
    return str(len(value.items))
  return f"len({value.text})"


def _dtype_of(vocabulary: Value, node: ast.AST) -> str:
  """The type of the features that a vocabulary list is for."""
  words = vocabulary.constant
  if words is UNKNOWN or not isinstance(words, (list, tuple)) or not words:
    raise NotStatic(node, "the type of a vocabulary is not known in the file")
  if all(isinstance(word, str) for word in words):
    return "string"
  if all(isinstance(word, int) and not isinstance(word, bool) for word in words):
    return "int64"
  raise NotStatic(node, "the type of a vocabulary is not known in the file")
