"""Help in which options stand in groups."""

from __future__ import annotations

from typing import Any

import click

_LONGEST = 34


class Option(click.Option):
  """An option with the heading under which the help shows it."""

  def __init__(self, *arguments: Any, group: str = "Options", **settings: Any):
    super().__init__(*arguments, **settings)
    self.group = group


class Command(click.Command):
  """A command whose help shows its options by group, in the order in which groups come first."""

  def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    groups: dict[str, list[tuple[str, str]]] = {}
    for param in self.get_params(ctx):
      record = param.get_help_record(ctx)
      if record is not None and isinstance(param, click.Option):
        groups.setdefault(getattr(param, "group", "Other"), []).append(record)
    for name, rows in groups.items():
      with formatter.section(name):
        formatter.write_dl(rows, col_max=_LONGEST)
