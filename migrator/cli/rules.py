"""`migrator rules`."""

from __future__ import annotations

import json

import click

from migrator.lint import docs
from migrator.lint import rules as loader


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the rules as JSON.")
def rules(as_json: bool) -> None:
  """List all rules: code, name, kind of fix, message."""
  known = loader.load()
  if as_json:
    click.echo(json.dumps([docs.to_json(rule) for rule in known.values()], indent=2))
    return
  width = max(len(rule.name) for rule in known.values())
  for rule in known.values():
    click.echo(f"{rule.code}  {rule.name:<{width}}  {rule.fix:<6}  {rule.message}")
