"""Fixtures of the tests of conversion."""

import json

import pytest
from click.testing import CliRunner

from migrator.cli import main


class Command:
  """Runs `migrator convert` within this process."""

  def __init__(self):
    self.code = None
    self.output = ""

  def __call__(self, *arguments):
    """Runs it; returns what it printed, stdout and stderr together."""
    result = CliRunner().invoke(main, ["convert", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
      raise result.exception
    self.code, self.output = result.exit_code, result.output
    return result.output

  def json(self, *arguments):
    """Runs it with --json; returns the reports."""
    result = CliRunner().invoke(main, ["convert", "--json", *map(str, arguments)])
    self.code, self.output = result.exit_code, result.output
    # stderr is part of the output in older versions of click: the list begins a line.
    text = result.stdout
    return json.loads(text[text.index("[\n") :])


@pytest.fixture
def convert():
  """The command."""
  return Command()
