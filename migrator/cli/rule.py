"""`migrator rule`."""

from __future__ import annotations

import difflib
import json

import click

from migrator.cli import config
from migrator.lint import docs, rules


@click.command()
@click.argument("code")
@click.option("--json", "as_json", is_flag=True, help="Print the rule as JSON.")
def rule(code: str, as_json: bool) -> None:
  """Explain the rule CODE (its name works too)."""
  known = rules.load()
  found = known.get(code.upper())
  if found is None:
    found = next((r for r in known.values() if r.name == code.lower()), None)
  if found is None:
    names = [*known, *(r.name for r in known.values())]
    near = difflib.get_close_matches(code, [*names, *(n.lower() for n in names)], n=1)
    hint = f"; do you mean {near[0]}?" if near else "; `migrator rules` lists all."
    raise config.InputError(f"there is no rule {code!r}{hint}")
  click.echo(json.dumps(docs.to_json(found), indent=2) if as_json else docs.page(found), nl=as_json)
