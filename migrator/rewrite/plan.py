"""A plan: what changes in one file, and what is left to a person."""

from __future__ import annotations

import ast
import dataclasses
import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any, Optional

from migrator.analysis.comments import Comments
from migrator.analysis.module import Module
from migrator.lint import rules
from migrator.lint.finding import Finding
from migrator.rewrite import emit


@dataclasses.dataclass
class StatementEdit:
  """What happens to one statement.

  Attributes:
    before: lines of statements to put before it.
    replacement: lines that stand in its place; None keeps it, an empty list removes it.
    after: lines of statements to put after it.
    comments: comment lines to put above it.
    leading_first: whether the comments above the statement go above `before`.
    drop_comments: whether the comments above it have moved elsewhere.
  """

  before: list[str] = dataclasses.field(default_factory=list)
  replacement: Optional[list[str]] = None
  after: list[str] = dataclasses.field(default_factory=list)
  comments: list[str] = dataclasses.field(default_factory=list)
  leading_first: bool = True
  drop_comments: bool = False


class Unsupported(Exception):
  """A construct that cannot be carried over.

  Args:
    code: the rule to report.
    node: the place.
    **values: values for the rule's message.
  """

  def __init__(self, code: str, node: ast.AST, **values: Any):
    super().__init__(code)
    self.code = code
    self.node = node
    self.values = values


class Plan:
  """The edits of one file, keyed by the `ast` nodes that they replace."""

  def __init__(self, module: Module, path: str):
    self.module = module
    self.path = path
    self.comments = Comments(module)
    self.style = emit.Style(indent=_indentation(module.text))
    self.statements: dict[ast.stmt, StatementEdit] = {}
    self.expressions: dict[ast.AST, str] = {}
    # One or more arguments in the place of one, for example "x, key=y".
    self.arguments: dict[ast.AST, str] = {}
    # An argument behind all others of a call.
    self.endings: dict[ast.Call, str] = {}
    self.functions: dict[ast.FunctionDef, tuple[str, str]] = {}
    self.decorators: dict[ast.FunctionDef, str] = {}
    self.classes: list[ast.ClassDef] = []
    self.twins: dict[ast.ClassDef, str] = {}
    self.hook_names: list[ast.expr] = []
    # What is known of converted hook classes: who calls them, what they fetch, and which of it
    # is known only when they run.
    self.hook_uses: dict[ast.ClassDef, tuple[str, ...]] = {}
    self.hook_fetches: dict[ast.ClassDef, Any] = {}
    self.hook_helpers: dict[ast.ClassDef, frozenset[tuple[str, int, str]]] = {}
    self.hook_keys: dict[ast.ClassDef, tuple[Any, ...]] = {}
    # The values of a step that the training of the file gives; None where that is not known.
    self.known_keys: Optional[frozenset[str]] = frozenset(("loss",))
    self.source_version = 2
    # The input functions that returned tensors, and return a Dataset now.
    self.dataset_functions: list[ast.FunctionDef] = []
    self.refused_hooks: dict[ast.ClassDef, Unsupported] = {}
    self.tf = "tf"
    # What the Estimator gave an input function as `params`.
    self.filled_params = "{}"
    self.in_loop = False  # whether the trainings of the file become loops of their own
    self.pending_writers: list[Any] = []
    self.moved_comments: set[str] = set()
    self.unit_calls: set[ast.Call] = set()
    self.imports: set[str] = set()
    self.tf_import = ""
    self.target: Any = None  # the Target that is being written
    # Where its estimator was handed to a hook that has become a callback.
    self.handed: set[ast.Name] = set()
    # Arguments that stay where they are evaluated, and the variable that holds each.
    self.kept: dict[ast.AST, str] = {}
    # Serving input functions that have been followed.
    self.serving: set[ast.AST] = set()
    self._runtime = ""
    self.findings: list[Finding] = []
    self._names = {n.id for n in ast.walk(module.tree) if isinstance(n, ast.Name)}
    self._names |= {binding for scope in module.scopes.values() for binding in scope.bindings}

  def report(self, code: str, node: ast.AST, **values: Any) -> None:
    """Adds a finding, once per place and rule."""
    symbol = self.module.resolve(node)
    if symbol is not None:
      values.setdefault("symbol", symbol.path)
    finding = rules.finding(code, self.module.span(node), self.path, **values)
    if finding not in self.findings:
      self.findings.append(finding)

  def statement(self, node: ast.AST) -> StatementEdit:
    """The edit of the statement that holds the node."""
    return self.statements.setdefault(self.module.statement(node), StatementEdit())

  def remove(self, node: ast.AST, drop_comments: bool = True) -> None:
    edit = self.statement(node)
    edit.replacement = []
    edit.drop_comments = drop_comments

  def fresh(self, *candidates: str) -> str:
    """The first candidate that no name of the file uses; marks it as used."""
    numbered = (f"{candidates[-1]}_{i}" for i in range(2, 1000))
    name = next(c for c in (*candidates, *numbered) if c not in self._names)
    self._names.add(name)
    return name

  def release(self, function: ast.FunctionDef) -> None:
    """Frees the variables of a function, which will be in functions of their own."""
    inside = {n for n in ast.walk(function) if isinstance(n, ast.Name)}
    own = set(self.module.scopes[function].bindings)
    outside = (n for n in ast.walk(self.module.tree) if isinstance(n, ast.Name))
    bound = {
      name
      for node, scope in self.module.scopes.items()
      if node is not function
      for name in scope.bindings
    }
    self._names -= own - {n.id for n in outside if n not in inside} - bound

  def runtime(self) -> str:
    """The name under which the output knows the runtime; asks for its import."""
    if not self._runtime:
      self._runtime = self.fresh("runtime", "migrator_runtime")
    alias = "" if self._runtime == "runtime" else f" as {self._runtime}"
    self.needs(f"from migrator import runtime{alias}")
    return self._runtime

  def drop_unread_imports(self) -> None:
    """Takes back the imports of the runtime and of TF2 if nothing that is written reads them."""
    edits = self.statements.values()
    texts = [line for e in edits for line in (*e.before, *(e.replacement or ()), *e.after)]
    texts += [*self.expressions.values(), *self.arguments.values(), *self.decorators.values()]
    texts += [part for pair in self.functions.values() for part in pair]
    alias = "" if self._runtime == "runtime" else f" as {self._runtime}"
    known = {self._runtime: f"from migrator import runtime{alias}"}
    if self.tf_import:
      known[self.tf_import.rpartition(" ")[2]] = self.tf_import
    for name, statement in known.items():
      if name and not any(f"{name}." in text for text in texts):
        self.imports.discard(statement)

  def needs(self, statement: str) -> None:
    """Asks for an import, for example "import os"."""
    self.imports.add(statement)

  def source(self, node: ast.AST) -> str:
    """The source of an expression with the plan's edits inside it applied.

    Continuation lines are moved as if the statement began in the first column.
    """
    if node in self.expressions:
      return self.expressions[node]
    column = self.module.statement(node).col_offset
    found = self.with_edits(node)
    if "\n" in found and re.search(r"\"\"\"|'''|\\\n", found):
      raise Unsupported("EM220", node, what="a string or line that is continued")
    return emit.dedent(found, column)

  def with_edits(self, node: ast.AST) -> str:
    """The source of an expression or statement with the edits inside it, in its old columns."""
    text = self.module.source(node)
    start, _ = self._extent(node)
    encoded = text.encode("utf-8")
    for (begin, end), new in sorted(self._edited(node), reverse=True):
      encoded = encoded[: begin - start] + new.encode("utf-8") + encoded[end - start :]
    return encoded.decode("utf-8")

  def _edited(self, node: ast.AST) -> Iterator[tuple[tuple[int, int], str]]:
    """Extent and new text of what is replaced inside a node, outermost nodes only, and of what is added."""
    if node in self.endings:
      assert isinstance(node, ast.Call)
      yield self._ending(node)
    for child in ast.iter_child_nodes(node):
      if child in self.arguments or child in self.expressions:
        yield self._extent(child), self.arguments.get(child) or self.expressions[child]
      else:
        yield from self._edited(child)

  def _ending(self, call: ast.Call) -> tuple[tuple[int, int], str]:
    """Where an argument is added to a call, and its text."""
    arguments = [*call.args, *call.keywords]
    if not arguments:
      place = self._extent(call)[1] - 1
      return (place, place), self.endings[call]
    place = max(self._extent(argument)[1] for argument in arguments)
    behind = (
      self.module.source(call).encode("utf-8")[place - self._extent(call)[0] :].decode("utf-8")
    )
    if behind.count(")") > 1:  # The argument stands in parentheses.
      raise Unsupported("EM220", call, what="an argument in parentheses")
    return (place, place), f", {self.endings[call]}"

  def atom(self, node: ast.AST) -> str:
    """`source`, in parentheses where an operator or attribute beside it would bind tighter."""
    text = self.source(node)
    simple = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.Dict, ast.Set)
    if isinstance(node, simple) or (isinstance(node, ast.Constant) and "\n" not in text):
      return text
    return f"({text})"

  def keep_comments(self, node: ast.AST) -> None:
    """Moves the comments inside an expression above its statement."""
    edit = self.statement(node)
    edit.comments += [c for c in self.comments.inside(node) if c not in edit.comments]

  def _extent(self, node: ast.AST) -> tuple[int, int]:
    """UTF-8 byte offsets of the begin and the end of a node."""
    assert isinstance(node, (ast.expr, ast.keyword, ast.stmt))
    begin = self._line_starts[node.lineno - 1] + node.col_offset
    end = self._line_starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
    return begin, end

  @functools.cached_property
  def _line_starts(self) -> list[int]:
    lengths = (len(line.encode("utf-8")) + 1 for line in self.module.parser_lines)
    return [0, *itertools.accumulate(lengths)]

  def item(self, argument, text: str) -> emit.Item:
    """An output argument that carries the comments of an input argument."""
    node = argument.node
    return emit.Item(text, self.comments.leading(node), self.comments.trailing(node))

  def argument_comments(self, call: ast.Call) -> list[str]:
    """All comments of the arguments of a call."""
    found: list[str] = []
    for node in (*call.args, *call.keywords):
      found += self.comments.leading(node)
      trailing = self.comments.trailing(node)
      found += [trailing] if trailing else []
    return found

  def style_at(self, node: ast.AST) -> emit.Style:
    """The style with the width that is left at the statement's indentation."""
    column = self.module.statement(node).col_offset
    line = self.module.parser_lines[self.module.statement(node).lineno - 1]
    return emit.Style(self.style.indent, self.style.width - len(line[:column].expandtabs(4)))

  def in_loop_of(self, node: ast.AST) -> Sequence[ast.AST]:
    """The loops around a node within its function."""
    loops = []
    for ancestor in self.module.ancestors(node):
      if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        break
      if isinstance(ancestor, (ast.For, ast.While, ast.AsyncFor)):
        loops.append(ancestor)
    return loops


def _indentation(text: str) -> str:
  """The first indentation of the file, or four spaces."""
  for line in text.split("\n"):
    stripped = line.lstrip(" \t")
    if stripped and stripped != line and not stripped.startswith(("#", ")", "]", "}")):
      previous = text[: text.index(line)].rstrip()
      if previous.endswith(":"):
        return line[: len(line) - len(stripped)]
  return "    "
