"""What docs/estimators.md shows is in the committed programs."""

import re
import textwrap


def test_the_programs_of_the_page_are_those_of_the_fixture(repository):
  page = (repository / "docs" / "estimators.md").read_text(encoding="utf-8")
  folder = repository / "fixtures" / "programs" / "canned_housing"
  blocks = re.findall(r"```python\n(.*?)```", page, re.S)
  assert len(blocks) == 2
  for name, block in zip(("before", "after_fit"), blocks):
    assert textwrap.dedent(block) in (folder / f"{name}.py").read_text(encoding="utf-8")
