"""Applies a plan to the source with libcst: only the planned places change."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Optional

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from migrator.analysis.module import Module
from migrator.rewrite import emit, leading_lines
from migrator.rewrite.leading_lines import Statement
from migrator.rewrite.plan import Plan, StatementEdit, Unsupported

_Place = tuple[int, int]
_Extent = tuple[int, int, int, int]


def apply(plan: Plan) -> str:
  """Returns the new source text.

  Raises:
    Unsupported: EM220, an edit whose place libcst does not show as a node of its own.
  """
  wrapper = MetadataWrapper(cst.parse_module(plan.module.text), unsafe_skip_copy=True)
  editor = _Editor(plan, wrapper.module)
  code = wrapper.visit(editor).code
  missed = editor.missed()
  if missed is not None:
    raise Unsupported("EM220", missed, what="statements that share a line")
  return code


def _shares_line(module: Module, node: ast.AST) -> bool:
  """Whether another statement stands on the line where that of the node begins."""
  statement = module.statement(node)
  parent = module.parents[statement]
  blocks = (getattr(parent, field, None) for field in ("body", "orelse", "finalbody"))
  block = next((b for b in blocks if isinstance(b, list) and statement in b), [])
  return any(
    other is not statement and other.lineno <= statement.lineno <= (other.end_lineno or 0)
    for other in block
  )


class _Editor(cst.CSTTransformer):
  """Replaces expressions, methods and statements at the places of the plan."""

  METADATA_DEPENDENCIES = (PositionProvider,)

  def __init__(self, plan: Plan, module: cst.Module):
    super().__init__()
    self._plan = plan
    self._config = module.config_for_parsing
    self._done: set = set()
    self._values: dict[ast.stmt, ast.expr] = {}  # of statements whose value is replaced instead
    # In a notebook, %time measures one line, which stays one.
    on_shared = {s: self._on_shared_line(s, e) for s, e in plan.statements.items()}
    edits = {s: e for s, e in plan.statements.items() if on_shared[s] is None}
    self._statements = {self._start(s): (s, e) for s, e in edits.items()}
    self._expressions = {
      self._extent(n): (n, self._fitted(n, t)) for n, t in plan.expressions.items()
    }
    for statement, text in on_shared.items():
      if text is not None and isinstance(statement, ast.Expr):
        self._expressions[self._extent(statement.value)] = (statement.value, text)
        self._values[statement] = statement.value
    self._arguments = {self._extent(n): (n, t) for n, t in plan.arguments.items()}
    self._endings = {self._extent(n): (n, t) for n, t in plan.endings.items()}
    self._functions = {self._start(f): (f, v) for f, v in plan.functions.items()}
    self._decorators = {self._start(f): (f, d) for f, d in plan.decorators.items()}
    self._twins = {self._start(c): n for c, n in plan.twins.items()}

  def _on_shared_line(self, statement: ast.stmt, edit: StatementEdit) -> Optional[str]:
    """The expression that takes the place of one which shares its line; None for other edits."""
    plain = edit == StatementEdit(replacement=edit.replacement, drop_comments=edit.drop_comments)
    if not (plain and edit.replacement and isinstance(statement, ast.Expr)):
      return None
    if not _shares_line(self._plan.module, statement):
      return None
    text = emit.joined("\n".join(edit.replacement))
    try:
      new = ast.parse(text).body
    except SyntaxError:  # several statements that were joined
      return None
    is_one = "\n" not in text and len(new) == 1 and isinstance(new[0], ast.Expr)
    return text if is_one else None

  def _fitted(self, node: ast.AST, text: str) -> str:
    """The text of an expression, on one line where it shares that."""
    shared = "\n" in text and _shares_line(self._plan.module, node)
    return emit.joined(text) if shared else text

  def _start(self, node) -> _Place:
    span = self._plan.module.span(node)
    return (span.line, span.column)

  def _extent(self, node) -> _Extent:
    span = self._plan.module.span(node)
    return (span.line, span.column, span.end_line, span.end_column)

  def missed(self):
    """The first planned node that was not found, or None.

    Expressions inside replaced statements are part of the replacement already.
    """
    replaced = [s for s, e in self._plan.statements.items() if e.replacement is not None]
    edited = [s for s, e in self._plan.statements.items() if e != StatementEdit()]
    for planned in [*edited, *self._plan.functions, *self._plan.decorators]:
      if self._values.get(planned, planned) not in self._done:
        return planned
    for node, text in self._expressions.values():
      if "\n" in text and _shares_line(self._plan.module, node):
        return node
    for node in [*self._plan.expressions, *self._plan.arguments, *self._plan.endings]:
      inside = any(s is node or s in self._plan.module.ancestors(node) for s in replaced)
      if node not in self._done and not inside:
        return node
    return None

  # -- expressions and methods --------------------------------------------------

  def _place(self, node: cst.CSTNode) -> _Extent:
    position = self.get_metadata(PositionProvider, node)
    start, end = position.start, position.end
    return (start.line, start.column, end.line, end.column)

  def _expression(self, original, updated):
    found = self._expressions.get(self._place(original))
    if found is None:
      return updated
    self._done.add(found[0])
    new = cst.parse_expression(found[1], config=self._config)
    if getattr(updated, "lpar", None):
      new = new.with_changes(lpar=updated.lpar, rpar=updated.rpar)
    return new

  def leave_Call(self, original_node, updated_node):
    found = self._endings.get(self._place(original_node))
    if found is not None and found[0] not in self._done:
      self._done.add(found[0])
      updated_node = self._with_ending(updated_node, found[1])
    return self._expression(original_node, updated_node)

  def _with_ending(self, call: cst.Call, text: str) -> cst.Call:
    """The call with another argument behind the others, which has their last comma."""
    made = cst.parse_expression(f"f({text})", config=self._config)
    assert isinstance(made, cst.Call)
    if not call.args:
      return call.with_changes(args=made.args)
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    last = call.args[-1]
    added = made.args[0].with_changes(
      comma=last.comma, whitespace_after_arg=last.whitespace_after_arg
    )
    last = last.with_changes(comma=comma, whitespace_after_arg=cst.SimpleWhitespace(""))
    return call.with_changes(args=[*call.args[:-1], last, added])

  def leave_Name(self, original_node, updated_node):
    return self._expression(original_node, updated_node)

  def leave_Attribute(self, original_node, updated_node):
    return self._expression(original_node, updated_node)

  def leave_Arg(self, original_node, updated_node):
    found = self._arguments.get(self._place(original_node))
    if found is None:
      return updated_node
    self._done.add(found[0])
    call = cst.parse_expression(f"f({found[1]})", config=self._config)
    assert isinstance(call, cst.Call)
    last = call.args[-1].with_changes(comma=updated_node.comma)
    return cst.FlattenSentinel([*call.args[:-1], last])

  def leave_List(self, original_node, updated_node):
    return self._expression(original_node, updated_node)

  def leave_Tuple(self, original_node, updated_node):
    return self._expression(original_node, updated_node)

  def leave_SimpleString(self, original_node, updated_node):
    return self._expression(original_node, updated_node)

  def leave_Subscript(self, original_node, updated_node):
    return self._expression(original_node, updated_node)

  def leave_ConcatenatedString(self, original_node, updated_node):
    return self._expression(original_node, updated_node)

  def leave_FunctionDef(self, original_node, updated_node):
    line, column, _, _ = self._place(original_node)
    decorated = self._decorators.get((line, column))
    if decorated is not None:
      self._done.add(decorated[0])
      decorator = cst.Decorator(cst.parse_expression(decorated[1], config=self._config))
      updated_node = updated_node.with_changes(decorators=[decorator, *updated_node.decorators])
    found = self._functions.get((line, column))
    if found is None:
      return updated_node
    self._done.add(found[0])
    name, parameters = found[1]
    template = cst.parse_statement(f"def f({parameters}): pass", config=self._config)
    assert isinstance(template, cst.FunctionDef)
    return updated_node.with_changes(name=cst.Name(name), params=template.params)

  # -- statements ---------------------------------------------------------------

  def leave_IndentedBlock(self, original_node, updated_node):
    body, footer = self._edit_body(original_node.body, updated_node.body, blank_lines=1)
    if not body:
      body = [cst.parse_statement("pass", config=self._config)]
    return updated_node.with_changes(body=body, footer=[*footer, *updated_node.footer])

  def leave_SimpleStatementSuite(self, original_node, updated_node):
    """A statement on the line of its `if`: one that takes its place stays there, several do not."""
    if len(original_node.body) != 1:
      return updated_node
    line, column, _, _ = self._place(original_node.body[0])
    node, edit = self._statements.get((line, column), (None, None))
    if edit is None:
      return updated_node
    self._done.add(node)
    own = cst.SimpleStatementLine(body=updated_node.body)
    statements = self._edited(edit, own) or [cst.parse_statement("pass", config=self._config)]
    first = statements[0]
    is_line = isinstance(first, cst.SimpleStatementLine) and len(statements) == 1
    if is_line and not first.leading_lines:
      return updated_node.with_changes(body=first.body)
    end = updated_node.trailing_whitespace
    return cst.IndentedBlock(body=statements, header=end)

  def leave_Module(self, original_node, updated_node):
    body, footer = self._edit_body(original_node.body, updated_node.body, blank_lines=2)
    return updated_node.with_changes(body=body, footer=[*footer, *updated_node.footer])

  def _edit_body(self, original, updated, blank_lines: int):
    result: list[Statement] = []
    above: list[cst.EmptyLine] = []  # where cells begin, and what stands before that
    pending: list[cst.EmptyLine] = []  # what a removed statement leaves above the next one
    generated: list[int] = []
    for old, new in zip(original, updated):
      line, column, _, _ = self._place(old)
      node, edit = self._statements.get((line, column), (None, None))
      if isinstance(old, cst.SimpleStatementLine) and len(old.body) != 1:
        only_comments = edit is not None and edit == StatementEdit(comments=edit.comments)
        edit = edit if only_comments else None
      before, new = leading_lines.cells_above(new)
      if before:
        # What a removed statement leaves behind stays in its cell.
        above, pending = [*above, *pending, *before], []
      waiting, pending = pending, []
      if edit is None:
        statements = [leading_lines.prepend(new, waiting)]
        twin = self._twins.get((line, column))
        if twin is not None:
          statements = [
            leading_lines.prepend(leading_lines.cells_above(old)[1], waiting),
            new.with_changes(name=cst.Name(twin)),
          ]
          generated.append(len(result) + 1)
      else:
        self._done.add(node)
        self._keep_comments(node, edit)
        statements = self._edited(edit, new, waiting)
        if statements:
          inserted = len(statements) - (edit.replacement is None)
          generated += range(len(result), len(result) + inserted)
        else:
          pending = leading_lines.stacked(waiting, leading_lines.left_behind(edit, new))
      if statements:
        lines = [*above, *statements[0].leading_lines]
        statements[0] = statements[0].with_changes(leading_lines=lines)
        above = []
      result += statements
    if result and original and blank_lines == 1:
      # What stood above a removed statement does not begin the block.
      result[0] = leading_lines.without_blanks(
        result[0], len(leading_lines.blank_lines(original[0].leading_lines))
      )
    leading_lines.space_functions(result, generated, blank_lines)
    return result, [line for line in (*above, *pending) if line.comment]

  def _keep_comments(self, node, edit: StatementEdit) -> None:
    """Comments inside a replaced statement that its replacement does not show go above it."""
    if not edit.replacement or edit.drop_comments:
      return
    text = "\n".join([*edit.before, *edit.replacement, *edit.after, *edit.comments])
    moved = self._plan.moved_comments
    for comment in self._plan.comments.inside(node):
      if comment not in text and comment not in moved:
        edit.comments.append(comment)

  def _edited(
    self, edit: StatementEdit, new: Statement, above: Sequence[cst.EmptyLine] = ()
  ) -> list[Statement]:
    """What an edit makes of a statement, below what removed ones above it left behind."""
    before = self._parse(edit.before)
    own = [new] if edit.replacement is None else self._parse(edit.replacement)
    after = self._parse(edit.after)
    statements = before + own + after
    if not statements:
      return []
    lines = leading_lines.stacked(above, leading_lines.leading(edit, new))
    if edit.replacement is not None:
      target = 0 if edit.leading_first or not own else len(before)
      statements[target] = leading_lines.prepend(statements[target], lines)
    elif before and edit.leading_first:
      statements[0] = leading_lines.prepend(statements[0], lines)
      statements[len(before)] = new.with_changes(leading_lines=[])
    else:
      statements[len(before)] = new.with_changes(leading_lines=lines)
    return statements

  def _parse(self, lines: Sequence[str]) -> list[Statement]:
    if not lines:
      return []
    module = cst.parse_module("\n".join(lines) + "\n", config=self._config)
    body = list(module.body)
    if module.header:
      body[0] = leading_lines.prepend(body[0], module.header)
    return body
