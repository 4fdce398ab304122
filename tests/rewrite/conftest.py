"""What tests of several files share."""

import textwrap

import pytest

from migrator.rewrite.engine import Options
from migrator.rewrite.run import Run
from migrator.source import walk


@pytest.fixture
def run(tmp_path):
  """Writes files, rewrites them (or those of them that are named) and returns the results."""

  def rewrite(files, only=None, **options):
    for name, text in files.items():
      path = tmp_path / name
      path.parent.mkdir(parents=True, exist_ok=True)
      path.write_text(textwrap.dedent(text))
    said = []
    made = Run(Options(**{"hosted": True, **options}), True, said.append)
    paths = [str(tmp_path / name) for name in only or files]
    made.rewrite_files([walk.SourceFile(path, True) for path in paths])
    assert not said
    texts = {name: (tmp_path / name).read_text() for name in files}
    return texts, {r.path[len(str(tmp_path)) + 1 :]: r for r in made.results}

  return rewrite
