"""`migrator rule`."""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence

import click

from migrator.cli import completion, config
from migrator.lint import docs, rules


@click.command()
@click.argument(
  "codes", nargs=-1, required=True, metavar="CODE...", shell_complete=completion.codes
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list, if several are asked.")
def rule(codes: Sequence[str], as_json: bool) -> None:
  """Explain rules, by their codes or names.

  Those of your own, that `rules` in [tool.migrator] names, as well.
  """
  rules.use(config.load().rules)
  found = [_find(code, rules.load()) for code in codes]
  if as_json:
    plain = [docs.to_json(each) for each in found]
    click.echo(json.dumps(plain if len(plain) > 1 else plain[0], indent=2))
    return
  pages = [docs.page(each) for each in found]
  if sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
    width = min(shutil.get_terminal_size().columns, 100)
    pages = [_render(page, width) for page in pages]
  click.echo("\n".join(pages), nl=False)


def _find(code: str, known: Mapping[str, rules.Rule]) -> rules.Rule:
  """The rule of a code or name. Raises InputError, with what is near."""
  found = known.get(code.upper())
  if found is None:
    found = next((r for r in known.values() if r.name == code.lower()), None)
  if found is not None:
    return found
  count = sum(each.startswith(code.upper()) for each in known)
  if count:
    raise config.InputError(
      f"{code!r} is the beginning of {count} rules; `migrator rules --select {code}` lists them."
    )
  near = _near_codes(code.upper(), known)
  names = {r.name: r.code for r in known.values()}
  near += [f"{n} ({names[n]})" for n in difflib.get_close_matches(code.lower(), names, n=2)]
  hint = f"; do you mean {' or '.join(near[:3])}?" if near else "; `migrator rules` lists all."
  raise config.InputError(f"there is no rule {code!r}{hint}")


def _near_codes(code: str, known: Mapping[str, rules.Rule]) -> list[str]:
  letters = code.rstrip("0123456789OIL")
  digits = code[len(letters) :].translate(str.maketrans("OIL", "011"))
  near = [letters + digits] if letters + digits in known else []
  near += [n for n in difflib.get_close_matches(code, known, n=2) if n not in near]
  return near[:2]


def _render(page: str, width: int) -> str:
  """The Markdown of a page for a terminal: bold headings, paragraphs as wide as it is."""
  lines: list[str] = []
  paragraph: list[str] = []
  code = False
  for line in [*page.splitlines(), ""]:
    fence = line in ("```python", "```")
    if not code and line and not fence:
      paragraph.append(line)
      continue
    if paragraph:
      lines += _paragraph(paragraph, width)
      paragraph = []
    if fence:
      code = not code
    else:
      lines.append("    " + line if line else "")
  return "\n".join(lines)


def _paragraph(lines: Sequence[str], width: int) -> list[str]:
  if lines[0].startswith("#"):
    return [click.style(lines[0].lstrip("# "), bold=True)]
  if lines[0].startswith("- "):
    return list(lines)
  text = textwrap.fill(" ".join(lines), width, break_long_words=False, break_on_hyphens=False)
  return [re.sub(r"\*\*(.+?)\*\*", lambda m: click.style(m[1], bold=True), text)]
