"""Feature columns of a canned estimator -> Keras inputs, its input layer and its linear model.

Columns that the file shows become layers, written out; of others the running program makes layers
from the columns themselves.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Optional

from migrator.analysis import facts, units
from migrator.rewrite import columns_explicit, columns_live, columns_numeric, emit, moves
from migrator.rewrite.columns_explicit import Conflict, Writer
from migrator.rewrite.columns_interpreter import Interpreter
from migrator.rewrite.columns_unread import remove_unread
from migrator.rewrite.columns_values import Column, NotStatic, Value
from migrator.rewrite.plan import Plan, Unsupported

__all__ = ["Columns", "input_lines", "read_columns", "read_parts", "remove_unread"]

# Variables of the new function that are not those of a column.
_LOCALS = frozenset(
  """activation dnn dnn_logits i inputs layer len linear linear_logits logits model net runtime
  units""".split()
)


@dataclasses.dataclass
class Columns(columns_numeric.Columns):
  """The columns of one estimator.

  Attributes:
    variables: the names that the lines below define, besides `inputs`, `net` and the logits.
    live: the source of the columns of each part, where only the running program has them.
    reason: why it is only the running program.
    sparse_features: whether the input functions give sparse tensors.
    registered: the functions that a `.keras` file of the model names.
  """

  plan: Optional[Plan] = None
  parts: dict[str, list[Column]] = dataclasses.field(default_factory=dict)
  variables: list[str] = dataclasses.field(default_factory=list)
  live: dict[str, ast.expr] = dataclasses.field(default_factory=dict)
  reason: Optional[NotStatic] = None
  sparse_features: bool = False
  taken: frozenset[str] = frozenset()
  notes: Sequence[tuple[Column, tuple[tuple[str, ...], str]]] = ()
  only_numeric: bool = False
  flavour: str = "v1"
  registered: list[ast.FunctionDef] = dataclasses.field(default_factory=list)

  @property
  def sparse(self) -> bool:
    """Whether a weight may be looked up by an id: its gradient is sparse."""
    if self.only_numeric:
      return False
    return bool(self.live) or columns_explicit.looks_up(self.parts)

  def count(self, part: str) -> str:
    """Source of the number of columns of a part: a number if the file shows it."""
    if part in self.live:
      return f"len({columns_live.name(self._plan, self.live, part)})"
    return str(len(self.parts[part]))

  @property
  def _plan(self) -> Plan:
    assert self.plan is not None
    return self.plan

  def _writer(self, tf: str) -> Writer:
    runtime = _Runtime(self._plan)
    return Writer(
      tf,
      runtime,
      self.parts,
      taken=self.taken,
      sparse=self.sparse_features,
      comments=self.notes,
      flavour=self.flavour,
    )

  def lines(self, tf: str, style: emit.Style) -> list[str]:
    """Statements that define `inputs`, a dict of Keras inputs, and what several lines read."""
    if self.only_numeric:
      return columns_numeric.input_lines(tf, self, style)
    if self.live:
      return columns_live.input_lines(self._plan, self.live, self.sparse_features, style)
    writer = self._writer(tf)
    return [*writer.input_lines(style), *writer.variable_lines(style)]

  def dense_lines(self, tf: str, style: emit.Style) -> list[str]:
    """Statements that define `net`, float32 [batch, n], the input of the first hidden layer."""
    if self.only_numeric:
      return columns_numeric.dense_lines(tf, self, style)
    if self.live:
      return columns_live.dense_lines(self._plan, self.live, style)
    return self._writer(tf).dense_lines(style)

  def linear_lines(
    self, tf: str, units: str, combiner: str, style: emit.Style, target: str = "logits"
  ) -> list[str]:
    """Statements that define the logits of the linear part, float32 [batch, units].

    Args:
      tf: the name of TF2.
      units: source of the number of logits.
      combiner: source of `sparse_combiner`; "" for the default, "sum".
      style: of the place.
      target: the variable.
    """
    if self.live:
      return columns_live.linear_lines(self._plan, self.live, units, combiner, style, target)
    return self._writer(tf).linear_lines(units, combiner, style, target)


class _Runtime:
  """The name of the runtime; asks for its import when it is written."""

  def __init__(self, plan: Plan):
    self._plan = plan

  def __str__(self) -> str:
    return self._plan.runtime()


def read_columns(plan: Plan, argument: facts.Argument, place: ast.Call) -> Columns:
  """Reads `feature_columns=` of a DNN; see `read_parts`."""
  return read_parts(plan, {"dnn": argument}, place)


def input_lines(plan: Plan, tf: str, found: Columns, style: emit.Style) -> list[str]:
  """Statements that define `inputs` and `net`."""
  del plan
  return [*found.lines(tf, style), *found.dense_lines(tf, style)]


def read_parts(
  plan: Plan, arguments: Mapping[str, facts.Argument], place: ast.Call, sparse: bool = False
) -> Columns:
  """Reads the columns of an estimator for a function that stands at `place`.

  Args:
    plan: of the file.
    arguments: the columns of "dnn" and "linear", or of one of them.
    place: the call of the constructor.
    sparse: whether the input functions give sparse tensors, as `tf.io.parse_example` does.

  Raises:
    Unsupported: a column that is not carried over.
  """
  numeric = _numeric(plan, arguments["dnn"], place) if list(arguments) == ["dnn"] else None
  if numeric is not None:
    return numeric
  try:
    return _explicit(plan, arguments, place, sparse)
  except NotStatic as reason:
    return _live(plan, arguments, reason, sparse)


def _numeric(plan: Plan, argument: facts.Argument, place: ast.Call) -> Optional[Columns]:
  """Numeric columns in a list or a loop; None where there are others, or another way to them."""
  try:
    found = columns_numeric.read_columns(plan, argument, place)
  except Unsupported:
    return None
  known = [column.known_key for column in found.columns if column.known_key is not None]
  if len(set(known)) < len(known):
    return None
  fields = {f.name: getattr(found, f.name) for f in dataclasses.fields(found)}
  return Columns(**fields, plan=plan, only_numeric=True)


def _explicit(plan: Plan, arguments, place: ast.Call, sparse: bool) -> Columns:
  interpreter = Interpreter(plan, place)
  found = Columns([], plan=plan, sparse_features=sparse)
  symbol = plan.module.resolve(place.func)
  if symbol is not None:
    found.flavour, _ = units.flavour_of(plan.module, symbol, plan.source_version)
  notes = []
  for part, argument in arguments.items():
    value = interpreter.value(argument.value)
    columns = _column_list(plan, argument.value, value)
    found.parts[part] = [c.column for c in columns if c.column is not None]
    notes += [(c.column, c.comments) for c in columns if c.column is not None and any(c.comments)]
    _check(plan, part, argument.value, found.parts[part])
    found.names += [n for n in ast.walk(argument.value) if isinstance(n, ast.Name)]
  every = [column for columns in found.parts.values() for column in columns]
  notes = _with_comments_above(every, notes, interpreter.above)
  for column in every:
    for read in column.all_reads():
      _check_read(plan, read, place)
      found.expressions.append(read)  # type: ignore[arg-type]
  gone = {id(name) for name in found.names}
  read_names = {
    n.id
    for expression in (*found.expressions, place)
    for n in ast.walk(expression)
    if isinstance(n, ast.Name) and id(n) not in gone
  }
  found.taken = _LOCALS | read_names | {plan.tf}
  found.notes = notes
  try:
    writer = found._writer(plan.tf)
  except Conflict as reason:
    raise Unsupported("EM207", place, column=str(reason)) from None
  found.variables = writer.variables
  for key, (text, shape, _, _) in writer.inputs.items():
    found.columns.append(columns_numeric.Column(text, shape, 1, emit.Item(""), key))
  shown = [columns_numeric.Column("", "", 1, emit.Item("", *n[1])) for n in notes]
  found.columns += shown
  found.keys = frozenset(writer.inputs)
  found.statements = [*interpreter.statements, *interpreter.functions]
  _name_normalizers(plan, found, every)
  if found.flavour == "v2" and any(c.kind == "shared" and c.group[1] for c in every):
    plan.report("EM254", place)
  return found


def _with_comments_above(every: list[Column], notes, above) -> list:
  """Adds what stands above the statements of columns to what stands at the elements of lists."""
  notes = list(notes)
  shown: set[str] = {c for _, (leading, trailing) in notes for c in (*leading, trailing)}
  for column in every:
    for source in (column, *column.all_sources()):
      comments = tuple(c for c in above.get(source, ()) if c not in shown)
      shown.update(comments)
      if comments:
        given = [i for i, note in enumerate(notes) if note[0] is column]
        if given:
          leading, trailing = notes[given[0]][1]
          notes[given[0]] = (column, ((*comments, *leading), trailing))
        else:
          notes.append((column, (comments, "")))
  return notes


def _name_normalizers(plan: Plan, found: Columns, columns: Iterable[Column]) -> None:
  """Notes the normalizer_fn of columns, to register them for `.keras` files; says what differs."""
  for column in columns:
    _name_normalizers(plan, found, column.sources)
    node = column.normalizer
    if node is None:
      continue
    function = plan.module.definition(node)
    if isinstance(function, ast.Lambda):
      plan.report("EM250", node, name=column.name, what="is a lambda")
    elif (
      not isinstance(function, ast.FunctionDef)
      or plan.module.parents[function] is not plan.module.tree
      or function.decorator_list
    ):
      what = "is no plain function at the top level of the file"
      plan.report("EM250", node, name=column.name, what=what)
    else:
      found.registered.append(function)
    plan.report("EM252", node, name=column.name)


def _column_list(plan: Plan, node: ast.expr, value: Value) -> list[Value]:
  items = [value] if value.column is not None else value.items
  if items is None and value.entries is not None:
    items = None
  if items is None:
    raise NotStatic(node, f"`{plan.module.source(node)}` is not known in the file")
  for item in items:
    if item.column is None:
      raise NotStatic(node, f"`{item.text or plan.module.source(node)}` is not known in the file")
  if not items:
    raise Unsupported("EM207", node, column="an empty list")
  return items


def _check(plan: Plan, part: str, node: ast.expr, columns: list[Column]) -> None:
  names = [column.name for column in columns]
  for column in columns:
    if names.count(column.name) > 1:
      raise Unsupported("EM207", node, column=f"two columns of the name {column.name!r}")
    if part == "dnn" and column.is_categorical and column.kind != "bucketized":
      what = f"{column.name!r} without an indicator or embedding, which the input layer refuses"
      raise Unsupported("EM207", node, column=what)
    if part == "linear" and column.kind in ("embedding", "shared"):
      raise NotStatic(node, f"the linear part has the embedding {column.name!r}")


def _check_read(plan: Plan, read: ast.AST, place: ast.AST) -> None:
  reason: Optional[str]
  if isinstance(read, ast.Name):
    reason = moves.name_obstacle(plan.module, read, read, place)
  elif isinstance(read, ast.Call):
    reason = f"`{plan.module.source(read.func)}()` would be called again or later"
  else:
    reason = f"`{plan.module.source(read)}` has a side effect"
  if reason is not None:
    raise NotStatic(read, reason)


def _live(plan: Plan, arguments, reason: NotStatic, sparse: bool) -> Columns:
  found = Columns([], plan=plan, sparse_features=sparse, reason=reason)
  columns_live.check(plan)
  for part, argument in arguments.items():
    found.live[part] = argument.value
    found.expressions.append(argument.value)
  found.columns = [columns_numeric.Column("", "", 1, emit.Item(""))]
  found.variables = columns_live.variables(plan, found.live)
  plan.report("EM251", next(iter(found.live.values())), reason=reason.reason)
  return found
