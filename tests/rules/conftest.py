"""Rules of a team's own, for one test."""

import pytest

from migrator.lint import rules


@pytest.fixture
def own_rules(tmp_path):
  """A function that puts a rule (its keys, and its `[[match]]`) in use, and returns its file."""
  folder = tmp_path / "own rules"
  folder.mkdir()

  def add(match, code="ACME001", message="`{symbol}` is ours.", more=""):
    path = folder / f"{code}.toml"
    name = f"rule-{code.lower()}"
    path.write_text(
      f'code = "{code}"\nname = "{name}"\nmessage = "{message}"\nwhy = "Because."\n{more}\n'
      f"{match}\n[[examples]]\nok = 'x = 1'\n",
      encoding="utf-8",
    )
    rules.use([str(folder)])
    return path

  yield add
  rules.use([])
