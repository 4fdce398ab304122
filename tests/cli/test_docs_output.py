"""What the documentation shows is what the commands print.

`python tests/cli/test_docs_output.py` puts today's output into the pages.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import textwrap

import pytest
import yaml

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/lint.md")
# A block that begins with a call of lint or inspect, perhaps in another folder.
BLOCK = re.compile(
  r"^```(?:console)?\n(?P<shown>\$ (?:cd (?P<folder>\S+) && )?migrator (?P<words>(?:lint|inspect) .*)\n)"
  r"(?P<output>(?:(?!```).*\n)*)```$",
  re.M,
)


def _output(match):
  """What the command of a block prints, stdout first."""
  words = match["words"].split()
  options = ["--no-cache"] if words[0] == "lint" else []
  process = subprocess.run(
    [sys.executable, "-m", "migrator.cli", *words, *options],
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


@pytest.mark.parametrize("page", sorted((REPOSITORY / "docs").glob("*.md")), ids=lambda p: p.name)
def test_every_call_of_lint_in_the_pages_can_be_made(page, tmp_path, monkeypatch):
  from migrator.cli.lint import lint  # not above: this is a script, too

  monkeypatch.chdir(tmp_path)
  text = page.read_text(encoding="utf-8")
  calls = re.findall(r"^[ $\-]*(?:run: )?migrator lint( .*)?$", text, re.M)
  for call in calls:
    words = [word for word in shlex.split(call, comments=True) if not word.startswith("#")]
    for word in words:
      if word.endswith(".py"):
        (tmp_path / word).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / word).touch()
      elif not word.startswith("-") and "." not in word:
        (tmp_path / word).mkdir(parents=True, exist_ok=True)
    lint.make_context("lint", words)
  assert calls or page.name not in ("ci.md", "lint.md", "silencing.md")


def test_the_readme_shows_what_the_rewrite_says():
  program = REPOSITORY / "fixtures" / "programs" / "fault_tolerance"
  process = subprocess.run(
    [sys.executable, "-m", "migrator.cli", "rewrite", "before.py"],
    capture_output=True,
    text=True,
    cwd=program,
    env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    check=False,
  )
  assert process.stderr in (REPOSITORY / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["docs/ci.md"])
def test_the_yaml_in_the_pages_can_be_read(page):
  blocks = re.findall(r"^```yaml\n(.*?)^```", (REPOSITORY / page).read_text(), re.M | re.S)
  assert len(blocks) > 4
  for block in blocks:
    assert yaml.safe_load(textwrap.dedent(block))


if __name__ == "__main__":
  for name in PAGES:
    path = REPOSITORY / name
    path.write_text(BLOCK.sub(_renewed, path.read_text(encoding="utf-8")), encoding="utf-8")
