"""`migrator rules`."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence

import click

from migrator.cli import completion, config, config_file
from migrator.lint import docs, rule_examples
from migrator.lint import rules as loader


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(exists=True), metavar="[PATH]...")
@click.option(
  "--select",
  multiple=True,
  metavar="CODES",
  shell_complete=completion.codes,
  help="Only these rules; EM1 is all of EM1xx.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the rules as JSON.")
@click.option("--check", is_flag=True, help="Run the examples of your own rules.")
@click.pass_context
def rules(
  context: click.Context, paths: Sequence[str], select: Sequence[str], as_json: bool, check: bool
) -> None:
  """List all rules: code, name, fix, TensorFlow version, who reports it, message.

  PATH names rules of your own, files or folders of them, instead of those that `rules` in
  [tool.migrator] names. Exit code of --check: 0 all examples are as they should be, 1 some are
  not, 2 a rule is faulty.
  """
  loader.use(paths or config.load().rules)
  known = loader.load()
  prefixes = config_file.check_codes(select, "--select")
  if prefixes:
    known = {code: rule for code, rule in known.items() if code.startswith(prefixes)}
  if check:
    _check(context, known)
  elif as_json:
    click.echo(json.dumps([docs.to_json(rule) for rule in known.values()], indent=2))
  else:
    _list(known)


def _list(known: Mapping[str, loader.Rule]) -> None:
  """One line for each rule; a heading, and no longer than a line, on a terminal only."""
  rows = [
    (r.code, r.name, r.fix, r.removed_in or "-", r.reported_by, rule_examples.message(r))
    for r in known.values()
  ]
  terminal = sys.stdout.isatty()
  if terminal:
    rows.insert(0, ("code", "name", "fix", "TF", "by", "message"))
  widths = [max((len(row[i]) for row in rows), default=0) for i in range(5)]
  for number, row in enumerate(rows):
    cells = [f"{cell:<{width}}" for cell, width in zip(row, widths)]
    line = "  ".join([*cells, row[-1]])
    if terminal:
      columns = shutil.get_terminal_size().columns
      line = line if len(line) <= columns else line[: columns - 1] + "…"
    click.echo(click.style(line, bold=True) if terminal and number == 0 else line)


def _check(context: click.Context, known: Mapping[str, loader.Rule]) -> None:
  own = [rule for rule in known.values() if rule.plugin]
  if not own:
    raise config.InputError(
      "there are no rules of your own: name a file or folder, or set `rules` in [tool.migrator]"
    )
  failures = [failure for rule in own for failure in rule_examples.failures(rule)]
  for failure in failures:
    click.echo(failure)
  count = sum(len(rule.examples) for rule in own)
  examples = "1 example" if count == 1 else f"{count} examples"
  plural = "" if len(own) == 1 else "s"
  said = f"{len(failures)} failed" if failures else "all as they should be"
  click.echo(f"{len(own)} rule{plural}, {examples}: {said}.", err=True)
  context.exit(1 if failures else 0)
