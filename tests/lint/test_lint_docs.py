"""The example in docs/lint.md is what the command prints."""

import re

from click.testing import CliRunner

from migrator import cli


def test_the_example(repository, monkeypatch):
  monkeypatch.chdir(repository)
  text = (repository / "docs" / "lint.md").read_text(encoding="utf-8")
  command, output = re.search(r"```console\n\$ migrator (.*)\n((?:.*\n)*?)```", text).groups()
  assert CliRunner().invoke(cli.main, command.split()).output == output
