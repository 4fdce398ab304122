"""Lays out generated code the way `ruff format` would, in the indentation of the file."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Sequence
from typing import Union

LINE_LENGTH = 88


@dataclasses.dataclass
class Item:
  """One argument or element, with the user's comments that belong to it."""

  text: str
  leading: Sequence[str] = ()
  trailing: str = ""

  @property
  def commented(self) -> bool:
    return bool(self.leading or self.trailing)


@dataclasses.dataclass
class Style:
  """How the file is laid out.

  Attributes:
    indent: one level of indentation.
    width: characters that a line may have, less the indentation of the place.
  """

  indent: str = "    "
  width: int = LINE_LENGTH

  def nested(self) -> Style:
    return Style(self.indent, self.width - len(self.indent.expandtabs(4)))


def bracketed(head: str, items: Sequence[Union[Item, str]], tail: str, style: Style) -> list[str]:
  """Lines of `head` + items + `tail`, where head ends in an opening bracket.

  One line if it fits, else all items on one indented line, else one item a line with a
  trailing comma; comments force the last form.
  """
  parts = [item if isinstance(item, Item) else Item(item) for item in items]
  plain = not any(p.commented for p in parts)
  multiline = any("\n" in p.text for p in parts)
  joined = ", ".join(p.text for p in parts)
  if plain and not multiline and len(head + joined + tail) <= style.width:
    return [head + joined + tail]
  if plain and len(parts) == 1 and multiline and parts[0].text[-1] in ")]}":
    # A single bracketed argument hugs the brackets of the call.
    first, *rest = parts[0].text.split("\n")
    if first[-1] in "([{" and len(head + first) <= style.width:
      return [head + first, *rest[:-1], rest[-1] + tail]
  if (
    plain
    and not multiline
    and parts
    and len(style.indent.expandtabs(4) + joined) <= style.width
    and not head.rstrip().endswith(("{", "["))
  ):
    return [head, style.indent + joined, tail]
  lines = [head]
  for part in parts:
    lines += [style.indent + comment for comment in part.leading]
    body = wrap(part.text, style.nested()).split("\n")
    trailing = "  " + part.trailing if part.trailing else ""
    if len(body[-1]) + 1 + len(trailing) > style.nested().width and trailing:
      lines.append(style.indent + part.trailing)
      trailing = ""
    lines += [style.indent + body[0], *[indented(line, style) for line in body[1:]]]
    lines[-1] += "," + trailing
  return [*lines, tail]


def wrap(argument: str, style: Style, prefix: str = "", suffix: str = ",") -> str:
  """Breaks an argument that is a call or list and too long for a line, at its own arguments.

  Args:
    argument: the text.
    style: of the place.
    prefix: what stands before it on its line; part of the result.
    suffix: what will stand behind it; not part of the result.
  """
  whole = prefix + argument
  if "\n" in argument or len(whole + suffix) <= style.width:
    return whole
  try:
    call = ast.parse(f"f({argument})", mode="eval").body
  except SyntaxError:
    return whole
  assert isinstance(call, ast.Call)
  value = call.args[0] if call.args else call.keywords[0].value
  inner: list[Union[ast.expr, ast.keyword]] = []
  if isinstance(value, ast.List) or (isinstance(value, ast.Tuple) and len(value.elts) > 1):
    inner = [*value.elts]
  elif isinstance(value, ast.Call):
    inner = [*value.args, *value.keywords]
  if not inner:
    return whole
  links = _chain(value)
  if len(links) > 1 and not prefix:
    # A chain of calls breaks before its dots.
    encoded = argument.encode("utf-8")
    ends = [link.value.end_col_offset - 2 for link in links]  # type: ignore[operator]
    pieces = [encoded[i:j].decode("utf-8") for i, j in zip([0, *ends], [*ends, None])]
    return "\n".join(piece.strip() for piece in pieces)
  places = sorted((a.col_offset - 2, (a.end_col_offset or 0) - 2) for a in inner)
  encoded = argument.encode("utf-8")
  items = [encoded[begin:end].decode("utf-8") for begin, end in places]
  head = prefix + encoded[: places[0][0]].decode("utf-8")
  tail = encoded[places[-1][1] :].decode("utf-8")
  return "\n".join(bracketed(head, items, tail, style))


def _chain(node: ast.expr) -> list[ast.Attribute]:
  """The attributes of `f(...).a(...).b(...)`, innermost first, down to the first call."""
  links: list[ast.Attribute] = []
  while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
    if not isinstance(node.func.value, ast.Call):
      break
    links.append(node.func)
    node = node.func.value
  return links[::-1]


def joined(text: str) -> str:
  """An expression on one line, unless it has comments or a string over several lines."""
  if "\n" not in text or "#" in text or '"""' in text or "'''" in text or "\\\n" in text:
    return text
  short = _on_one_line(text, ",")
  # The comma of `(x,)` makes it a tuple.
  return short if _same(short, text) else _on_one_line(text, "")


def _on_one_line(text: str, dropped: str) -> str:
  """Joins lines; what is dropped goes from the end of those in front of a closing bracket."""
  whole, *lines = text.split("\n")
  for line in filter(None, map(str.strip, lines)):
    if line[0] in ")]}":
      whole = whole.rstrip(dropped) + line if dropped else whole + line
    else:
      whole += line if whole[-1] in "([{" or line[0] == "." else " " + line
  return whole


def _same(one: str, other: str) -> bool:
  """Whether two arguments of a call mean the same."""
  try:
    return ast.dump(ast.parse(f"f({one})")) == ast.dump(ast.parse(f"f({other})"))
  except SyntaxError:
    return True  # a part of an expression only


def indented(line: str, style: Style) -> str:
  return style.indent + line if line.strip() else ""


def block(head: str, body: Sequence[str], style: Style) -> list[str]:
  """A compound statement; simple statements in it that are too long for a line are broken."""
  lines = [part for line in body for part in statement(line, style.nested())]
  return [head, *[indented(line, style) for line in lines]]


def statement(line: str, style: Style) -> list[str]:
  """A simple statement, broken within its call or list where a line cannot hold it."""
  if len(line) <= style.width or line[:1] in " \t#@" or line.rstrip().endswith((":", "(", ",")):
    return [line]
  try:
    node = ast.parse(line).body[0]
  except SyntaxError:  # a line of a longer statement
    return [line]
  value = getattr(node, "value", None)
  if isinstance(value, ast.Call):
    inner: Sequence[ast.AST] = [*value.args, *value.keywords]
  else:
    inner = value.elts if isinstance(value, ast.List) else ()
  if value is None or not inner:
    return [line]
  code, _, comment = line.partition("  #")
  prefix = code.encode("utf-8")[: value.col_offset].decode("utf-8")
  lines = wrap(code[len(prefix) :], style, prefix, "").split("\n")
  return ["#" + comment, *lines] if comment else lines


def string(value: str) -> str:
  """A literal in double quotes where that needs no escape."""
  text = repr(value)
  return text if '"' in value or "\\" in text else '"' + text[1:-1] + '"'


def dedent(text: str, columns: int) -> str:
  """Moves the continuation lines of a source segment `columns` to the left.

  Leaves the text alone when a line of it belongs to a string over several lines.
  """
  if "\n" not in text or '"""' in text or "'''" in text:
    return text
  lines = text.split("\n")
  return "\n".join([lines[0], *[re.sub(rf"^[ \t]{{0,{columns}}}", "", line) for line in lines[1:]]])


def number(value: float) -> str:
  """A float as a person writes it: 1e-8, not 1e-08."""
  return re.sub(r"e([-+])0+(\d)", lambda m: "e" + m[1].replace("+", "") + m[2], repr(value))
