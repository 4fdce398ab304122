"""What the documentation shows is what the commands print.

`python tests/cli/test_docs_output.py` puts today's output into the pages.
"""

import os
import pathlib
import re
import subprocess
import sys

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/lint.md")
# A block that begins with a call of lint, perhaps in another folder.
BLOCK = re.compile(
  r"^```(?:console)?\n(?P<shown>\$ (?:cd (?P<folder>\S+) && )?migrator (?P<words>lint .*)\n)"
  r"(?P<output>(?:(?!```).*\n)*)```$",
  re.M,
)


def _output(match):
  """What the command of a block prints, stdout first."""
  process = subprocess.run(
    [sys.executable, "-m", "migrator.cli", *match["words"].split(), "--no-cache"],
    capture_output=True,
    text=True,
    cwd=REPOSITORY / (match["folder"] or "."),
    env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    check=False,
  )
  return process.stdout + process.stderr


def _renewed(match):
  begin, end = match.span("output")
  start = match.start()
  return match[0][: begin - start] + _output(match) + match[0][end - start :]


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_show_what_the_commands_print(page):
  blocks = list(BLOCK.finditer((REPOSITORY / page).read_text(encoding="utf-8")))
  assert blocks
  for match in blocks:
    assert match["output"] == _output(match)


if __name__ == "__main__":
  for name in PAGES:
    path = REPOSITORY / name
    path.write_text(BLOCK.sub(_renewed, path.read_text(encoding="utf-8")), encoding="utf-8")
