"""docs/model_fn.md shows what the rewriter writes, and names what there is."""

import re

from migrator.lint import rules
from migrator.rewrite.engine import Options, rewrite


def _page(repository):
  return (repository / "docs" / "model_fn.md").read_text(encoding="utf-8")


def test_the_page_shows_what_the_rewriter_writes(repository):
  before, after = re.findall(r"```python\n(.*?)```", _page(repository), re.S)
  hosted = rewrite(before, "program.py", Options(hosted=True))
  assert hosted.text == after
  assert not hosted.findings
  assert [unit.target for unit in rewrite(before, "program.py").units] == ["loop"]


def test_the_codes_of_the_page_are_rules(repository):
  known = rules.load()
  for code in set(re.findall(r"EM\d{3}", _page(repository))):
    assert code in known
