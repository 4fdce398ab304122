"""`migrator rewrite` on notebooks: diffs, writing, exit codes, the report."""

import inspect
import json

import pytest
from click.testing import CliRunner

from migrator.cli import main

RUNNER_OPTIONS = inspect.signature(CliRunner.__init__).parameters
CELLS = (
  "%matplotlib inline\nimport tensorflow as tf\nimport tensorflow.compat.v1 as tf1",
  """def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [1.0]}, [0]))""",
  """columns = [tf.feature_column.numeric_column("x")]
e = tf1.estimator.DNNClassifier([4], columns, "model", n_classes=3)""",
  "e.train(input_fn, max_steps=10)",
)


def notebook(*cells):
  listed = [
    {
      "cell_type": "code",
      "execution_count": None,
      "metadata": {},
      "outputs": [],
      "source": cell.splitlines(keepends=True),
    }
    for cell in cells
  ]
  data = {"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 2}
  return json.dumps(data, indent=1).encode()


PROGRAM = notebook(*CELLS)


@pytest.fixture
def folder(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  return tmp_path


def rewrite(*arguments, stdin=None):
  """Runs the command; returns exit code, stdout and stderr. No exception may get out."""
  # click before 8.2 mixes both streams unless told not to.
  options = {"mix_stderr": False} if "mix_stderr" in RUNNER_OPTIONS else {}
  result = CliRunner(**options).invoke(main, ["rewrite", *map(str, arguments)], input=stdin)
  assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
  return result.exit_code, result.stdout, result.stderr


def test_prints_a_diff_of_each_cell_and_changes_nothing(folder):
  (folder / "n.ipynb").write_bytes(PROGRAM)
  code, out, err = rewrite("n.ipynb")
  assert code == 1
  assert out.startswith(
    "--- n.ipynb:cell 1\n+++ n.ipynb:cell 1\n@@ -1,3 +1,3 @@\n %matplotlib inline\n"
  )
  assert "--- n.ipynb:cell 3\n" in out
  assert "n.ipynb:cell 2\n" not in out
  assert "n.ipynb:cell 4:1:1: EM210" in err
  assert "1 of 1 estimator would be rewritten, 1 file to change; left to you: nothing." in err
  assert (folder / "n.ipynb").read_bytes() == PROGRAM


def test_write_applies_and_a_second_run_has_nothing_to_do(folder):
  (folder / "n.ipynb").write_bytes(PROGRAM)
  code, out, _ = rewrite(".", "--write")
  assert (code, out) == (0, "./n.ipynb: rewritten\n")
  written = (folder / "n.ipynb").read_bytes()
  assert b'"%matplotlib inline\\n",\n    "import tensorflow as tf\\n",' in written
  assert b"tf1" not in written
  code, out, err = rewrite(".", "--write")
  assert (code, out) == (0, "")
  assert "Nothing to rewrite." in err
  assert (folder / "n.ipynb").read_bytes() == written


def test_check_says_what_would_change(folder):
  (folder / "n.ipynb").write_bytes(PROGRAM)
  code, out, _ = rewrite("n.ipynb", "--check")
  assert (code, out) == (1, "n.ipynb: would be rewritten\n")


def test_standard_input_is_a_notebook_by_its_name(folder):
  code, out, _ = rewrite("-", "--write", "--stdin-filename", "n.ipynb", stdin=PROGRAM)
  assert code == 0
  assert "backup = runtime.BackupAndRestore(\n" in "".join(json.loads(out)["cells"][2]["source"])


def test_the_report_has_the_cells(folder):
  (folder / "n.ipynb").write_bytes(PROGRAM)
  rewrite("n.ipynb", "--report", "r.json")
  (shown,) = json.loads((folder / "r.json").read_text())["files"]
  (unit,) = shown["units"]
  assert (unit["name"], unit["cell"], unit["line"], unit["target"]) == ("e", 3, 2, "fit")
  assert {(f["code"], f["cell"], f["line"]) for f in shown["findings"]} >= {("EM210", 4, 1)}


def test_a_notebook_that_must_stay_is_work_for_a_person(folder):
  text = notebook(*CELLS, "!ls {e.model_dir}")
  (folder / "n.ipynb").write_bytes(text)
  code, out, err = rewrite("n.ipynb", "--write")
  assert (code, out) == (1, "")
  assert "n.ipynb:cell 5:1:1: EM005 The notebook is left as it is: `e` changes" in err
  assert "n.ipynb:cell 3:2:5: EM201" in err
  assert "0 of 1 estimator rewritten, 0 files changed; left to you: 1 estimator and 1 other" in err
  assert (folder / "n.ipynb").read_bytes() == text


def test_no_notebook_at_all_is_exit_2(folder):
  (folder / "n.ipynb").write_text('{"cells": [tensorflow')
  code, _, err = rewrite("n.ipynb", "--write")
  assert code == 2
  assert "EM001" in err


def test_a_notebook_that_imports_what_changes_is_named(folder):
  (folder / "task.py").write_text("\n".join(CELLS).replace("%matplotlib inline\n", "") + "\n")
  (folder / "n.ipynb").write_bytes(notebook("!ls", "x = 1\nfrom task import e"))
  code, _, err = rewrite(".")
  assert code == 1
  assert "n.ipynb:cell 2:2:1: EM222" in err
