"""The command line: one file per command, imported only when that command is called."""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, Optional

import click

from migrator import __version__

# Name -> (module, help). The help stands here so that `--help` imports no command.
_COMMANDS = {
  "rewrite": ("migrator.cli.rewrite", "Rewrite Estimator programs to TF2; prints a diff."),
  "lint": ("migrator.cli.lint", "Report deprecated and faulty checkpoint APIs."),
  "inspect": ("migrator.cli.inspect", "Show what is in a TF1 checkpoint."),
  "convert": ("migrator.cli.convert", "Convert TF1 checkpoints to TF2."),
  "eject": ("migrator.cli.eject", "Print a model without its tf.feature_column objects."),
  "verify": ("migrator.cli.verify", "Run a program before and after, and compare the two."),
  "rule": ("migrator.cli.rule", "Explain one rule."),
  "rules": ("migrator.cli.rules", "List all rules."),
  "completion": ("migrator.cli.completion", "Print the completion script of a shell."),
}
INTERRUPTED = 130


class LazyGroup(click.Group):
  """A group that imports a command's module when the command is called."""

  def list_commands(self, ctx: click.Context) -> list[str]:
    return list(_COMMANDS)

  def get_command(self, ctx: click.Context, cmd_name: str) -> Optional[click.Command]:
    if cmd_name not in _COMMANDS:
      return None
    module = importlib.import_module(_COMMANDS[cmd_name][0])
    return getattr(module, cmd_name)

  def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    with formatter.section("Commands"):
      formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])

  def main(
    self,
    args: Optional[Sequence[str]] = None,
    prog_name: Optional[str] = None,
    complete_var: Optional[str] = None,
    standalone_mode: bool = True,
    **extra: Any,
  ) -> Any:
    """Runs a command and exits: 0, 1 or 2 as the command says, 130 when interrupted.

    What the system refuses is one line on stderr, never a traceback.
    """
    run = functools.partial(
      super().main, args, prog_name, complete_var, standalone_mode=False, **extra
    )
    if not standalone_mode:
      return run()
    _open_what_is_closed()
    code: Any = 0
    try:
      code = run()
    except click.ClickException as error:
      error.show()
      code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
      click.echo("Interrupted.", err=True)
      code = INTERRUPTED
    except BrokenPipeError:
      # The reader of our output has gone; keep Python from complaining when it flushes.
      os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
      code = 1
    except ValueError as error:
      from migrator.lint.rules import RuleError  # loaded already, if that is what was raised

      if not isinstance(error, RuleError):
        raise
      click.echo(f"Error: {error}", err=True)
      code = 2
    except OSError as error:
      place = f"{error.filename}: " if error.filename else ""
      if not place and _is_nowhere():
        place = "the current folder is gone: "
      click.echo(f"Error: {place}{error.strerror or error}", err=True)
      code = 2
    sys.exit(code if isinstance(code, int) else 0)


def _open_what_is_closed() -> None:
  """Opens those of stdin, stdout and stderr that are closed (`>&-`), on the null device.

  Else the next file that is opened would get the number of one of them.
  """
  for number, name in enumerate(("stdin", "stdout", "stderr")):
    if getattr(sys, name) is not None:
      continue
    try:
      os.fstat(number)
    except OSError:
      os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free: this one
    mode = "r" if number == 0 else "w"
    setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _is_nowhere() -> bool:
  try:
    os.getcwd()
  except OSError:
    return True
  return False


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", "-V", prog_name="migrator")
def main() -> None:
  """Moves TensorFlow Estimator programs, and their checkpoints, to TF2.

  Exit codes: 0 nothing to say; 1 findings, pending changes or work left for a person;
  2 usage error, or input that cannot be read or parsed.
  """
