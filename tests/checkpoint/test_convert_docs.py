"""What the pages show of `migrator convert` is what it prints.

`python tests/checkpoint/test_convert_docs.py` puts today's output into the pages.
"""

import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
SOURCE = REPOSITORY / "fixtures" / "checkpoints" / "tf1.15" / "dnn_classifier_adam"
PAGES = ("README.md", "docs/checkpoints.md")
BLOCK = re.compile(
  r"^```console\n(?P<shown>\$ migrator (?P<words>convert .*)\n)(?P<output>(?:(?!```).*\n)*)```$",
  re.M,
)
MODULE = re.compile(r"^```python\n# (?P<name>\w+\.py)\n(?P<text>(?:(?!```).*\n)*)```$", re.M)


def outputs(page):
  """Returns (block, what its command prints) of a page; runs in the current directory."""
  from click.testing import CliRunner

  from migrator.cli import main

  text = (REPOSITORY / page).read_text(encoding="utf-8")
  shutil.copytree(SOURCE, "old_model")
  for match in MODULE.finditer(text):
    pathlib.Path(match["name"]).write_text(match["text"], encoding="utf-8")
  found = []
  for match in BLOCK.finditer(text):
    found.append((match, CliRunner().invoke(main, shlex.split(match["words"])).output))
  return found


def in_a_folder_of_its_own(page):
  """Returns `outputs` of a page."""
  here, path, modules = os.getcwd(), list(sys.path), set(sys.modules)
  with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    try:
      return outputs(page)
    finally:
      os.chdir(here)
      sys.path[:] = path
      for name in set(sys.modules) - modules:
        if name.startswith("my_models"):
          del sys.modules[name]


def test_the_pages_show_what_is_printed():
  count = 0
  for page in PAGES:
    for match, output in in_a_folder_of_its_own(page):
      assert match["output"] == output
      count += 1
  assert count > 2


if __name__ == "__main__":
  sys.path.insert(0, str(REPOSITORY))
  for name in PAGES:
    content = (REPOSITORY / name).read_text(encoding="utf-8")
    for block, printed in reversed(in_a_folder_of_its_own(name)):
      begin, end = block.span("output")
      content = content[:begin] + printed + content[end:]
    (REPOSITORY / name).write_text(content, encoding="utf-8")
