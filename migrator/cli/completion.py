"""`migrator completion`, and what shells offer for options that take codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
  from click.shell_completion import CompletionItem

SHELLS = ("bash", "zsh", "fish")
_PROGRAM = "migrator"
_VARIABLE = "_MIGRATOR_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
  """Print the completion script of a shell.

  \b
    bash   eval "$(migrator completion bash)"          in ~/.bashrc
    zsh    eval "$(migrator completion zsh)"           in ~/.zshrc
    fish   migrator completion fish | source           in ~/.config/fish/config.fish
  """
  from click import shell_completion

  kind = shell_completion.get_completion_class(shell)
  assert kind is not None
  completer = kind(context.find_root().command, {}, _PROGRAM, _VARIABLE)
  # Not `completer.source()`, which for bash runs the bash that is here.
  click.echo(completer.source_template % completer.source_vars())


def codes(context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
  """The codes that go on with the last one of a list with commas."""
  from click.shell_completion import CompletionItem

  from migrator.cli import config
  from migrator.lint import rules

  try:
    rules.use(config.load().rules)
    known = rules.load()
  except (click.ClickException, OSError, ValueError):
    rules.use(())  # this is not the moment to speak of faulty files
    known = rules.load()
  before, comma, part = incomplete.rpartition(",")
  return [
    CompletionItem(before + comma + code, help=rule.name)
    for code, rule in known.items()
    if code.startswith(part.upper())
  ]
