"""docs/hooks.md shows what the rewriter writes, and names what there is."""

import pathlib
import re

import pytest

from migrator.lint import rules
from migrator.rewrite.engine import Options, rewrite

REPOSITORY = pathlib.Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs" / "hooks.md").read_text(encoding="utf-8")


def test_the_page_shows_what_becomes_of_its_example():
  before, after = re.findall(r"```python\n(.*?)```", PAGE, re.S)
  result = rewrite(before, "loss_logger.py", Options(hooks="all"))
  assert result.text == after
  assert not result.left


@pytest.mark.parametrize("code", sorted(set(re.findall(r"EM\d{3}", PAGE))))
def test_each_code_of_the_page_is_a_rule(code):
  assert code in rules.load()


@pytest.mark.parametrize("name", sorted(set(re.findall(r"runtime\.(\w+)", PAGE))))
def test_each_name_of_the_runtime_on_the_page_exists(name):
  init = (REPOSITORY / "migrator" / "runtime" / "__init__.py").read_text(encoding="utf-8")
  assert f'"{name}"' in init
