"""Notebooks: what is no Python stays, or keeps the notebook whole."""

import pytest
from notebook_helpers import (
  CELLS,
  DATA,
  HOOK,
  IMPORTS,
  MODEL,
  NEW_HOOK,
  TRAIN,
  book,
  left_whole,
  places,
  rewritten,
  sources,
)

from migrator.rewrite import notebooks
from migrator.rewrite.notebook_cells import LeftWholeError
from migrator.source.document import Document


@pytest.mark.parametrize(
  "magic",
  [
    "%matplotlib inline",
    "!pip install 'tensorflow<2'",
    "!pip install \\\n  tensorflow \\\n  numpy",
    "%load_ext tensorboard\n%tensorboard --logdir model",
    "files = !ls",
    "tf.train?",
    "pip install tensorflow",
  ],
)
@pytest.mark.parametrize("place", ["first", "middle", "last", "alone"])
def test_magics_keep_their_place_and_their_bytes(magic, place):
  first, second = IMPORTS, HOOK
  cells = {
    "first": [f"{magic}\n{first}", f"{magic}\n\n{second}"],
    "middle": [first.replace("\n", f"\n{magic}\n"), f"x = 1\n{magic}\n{second}"],
    "last": [f"{first}\n{magic}", f"{second}\n\n{magic}\n"],
    "alone": [magic, first, magic, second, magic],
  }[place]
  result = rewritten(book(*cells, DATA, MODEL, TRAIN))
  new = sources(result.raw)
  assert result.left == 0
  assert [cell.count(magic) for cell in new[: len(cells)]] == [c.count(magic) for c in cells]
  assert sum(NEW_HOOK in cell for cell in new) == 1
  if place == "first":
    assert new[0] == f"{magic}\nimport tensorflow as tf\nfrom migrator import runtime"
    assert new[1] == f"{magic}\n\n{NEW_HOOK}"
  if place == "last":
    assert new[1] == f"{NEW_HOOK}\n\n{magic}\n"
  if place == "alone":
    assert new[0] == new[2] == new[4] == magic


@pytest.mark.parametrize("head", ["%%time", "%%capture out", "%%bash", "%%html", "# shown\n%%time"])
def test_cell_magics_keep_their_cell(head):
  other = f"{head}\nls model"
  body = f"{head}\n{TRAIN}" if head.endswith(("time", "out")) else TRAIN
  cells = (IMPORTS, HOOK, DATA, MODEL, other if body == TRAIN else "", body)
  new = sources(rewritten(book(*cells)).raw)
  assert new[4] == cells[4]
  assert new[5].startswith(head + "\nif steps :=" if body != TRAIN else "if steps :=")


def test_what_is_measured_keeps_its_magic():
  result = rewritten(book(*CELLS, "%time x = Stopper()\n%timeit -n 3 Stopper()"))
  assert sources(result.raw)[5] == "%time x = Stopper()\n%timeit -n 3 Stopper()"


def test_what_is_measured_is_rewritten_where_it_stays_one_line():
  result = rewritten(
    book(
      *CELLS,
      "%time r = classifier.evaluate(input_fn)\nr",
      "%time classifier.train(input_fn, hooks=[Stopper()], steps=1234)",
    )
  )
  assert sources(result.raw)[5:7] == [
    "%time r = backup.evaluate(input_fn())\nr",
    "%time classifier.fit(input_fn().map(runtime.only_inputs(classifier)).take(1234), "
    "callbacks=[backup, Stopper()], verbose=0)",
  ]


def test_a_program_that_a_cell_writes_is_rewritten_in_it():
  program = "\n\n".join(CELLS)
  result = rewritten(
    book("%matplotlib inline", f"%%writefile task.py\n{program}", "!python task.py")
  )
  first, written, last = sources(result.raw)
  assert (first, last) == ("%matplotlib inline", "!python task.py")
  assert written.startswith("%%writefile task.py\nimport tensorflow as tf\nfrom migrator import")
  assert NEW_HOOK in written
  assert result.left == 0


def test_what_is_measured_cannot_become_several_lines():
  result = rewritten(book(*CELLS[:-1], "%time " + TRAIN))
  assert result.raw is None
  assert ("EM220", 5, 1) in places(result)
  assert [unit.target for unit in result.units] == [""]


@pytest.mark.parametrize(
  "old, new, reason",
  [
    ("pass  # <migrator magic 0>\n", "", "a magic of cell 1"),
    ("pass  # <migrator magic 0>\n", "pass  # <migrator magic 0>\n" * 2, "a magic of cell 1"),
    ("pass  # <migrator magic 0>", "  pass  # <migrator magic 0>", "a magic of cell 1"),
    ("0;    f()", "f()", "what cell 2 measures"),
    ("if True:\n", "", "the indented code of cell 3"),
    ("# <migrator cell 2>\n", "", "would move to another one"),
    ("# <migrator cell 2>\n", "# <migrator cell 2>\n" * 2, "would move to another one"),
    ("# <migrator cell 2>\n", "# <migrator cell 3>\n", "would move to another one"),
    ("# <migrator cell end>\n", "# <migrator cell end>\nx = 1\n", "would move to another one"),
    ("# <migrator cell 1>\n", "x = 1\n# <migrator cell 1>\n", "before its first cell"),
  ],
)
def test_nothing_is_written_when_a_magic_or_a_cell_would_be_lost(old, new, reason):
  raw = book("!ls\nx = 1", "%time f()\ny = 1", "  z = 1")
  joined = notebooks.Joined(Document.from_bytes(raw, "n.ipynb").notebook)
  assert joined.split(joined.text) == {}
  changed = joined.text.replace(" = 1", " = 2")
  assert joined.split(changed) == {1: "!ls\nx = 2", 2: "%time f()\ny = 2", 3: "  z = 2"}
  assert old in changed
  with pytest.raises(LeftWholeError, match=reason):
    joined.split(changed.replace(old, new))


def test_a_magic_in_a_method_stays_there():
  result = rewritten(book(IMPORTS, HOOK + "\n    !date", DATA, MODEL, TRAIN))
  assert sources(result.raw)[1] == NEW_HOOK + "\n    !date"


@pytest.mark.parametrize(
  "cell",
  [
    "classifier.train?",
    "!ls {classifier.model_dir}",
    "%lprun -f f classifier.train(input_fn)",
    "print classifier.model_dir",
    "%tensorboard --logdir {classifier.model_dir}",
  ],
)
def test_what_is_no_python_may_not_read_what_changes(cell):
  message = left_whole(*CELLS, cell)
  assert "`classifier` changes, and is read where cell 6 is no Python" in message


@pytest.mark.parametrize("cell", ["!ls classifier", "print 'x'", "x = = 2", "%run classifiers.py"])
def test_other_cells_that_are_no_python_do_no_harm(cell):
  result = rewritten(book(*CELLS, cell))
  assert NEW_HOOK in sources(result.raw)
  assert sources(result.raw)[5] == cell


def test_a_cell_that_cannot_be_read_is_reported_and_left_to_a_person():
  result = rewritten(book(*CELLS, "print 'saved'", "print tf.train.Saver()"))
  assert [f.cell for f in result.findings if f.code == "EM004"] == [7]
  assert result.left == 1


def test_imports_of_a_cell_that_cannot_be_read_get_the_new_one_beside_them():
  first = "import tensorflow as tf\nprint 'loaded'\nimport tensorflow.compat.v1 as tf1"
  message = left_whole(first + "\nprint tf1.VERSION", *CELLS[1:])
  assert "`tf1`" in message
  result = rewritten(book(first.replace(" as tf1", " as tf1\nprint 'all'"), *CELLS[1:]))
  assert "print 'loaded'" in sources(result.raw)[0]
  assert "from migrator import runtime" in sources(result.raw)[0]


def test_a_comment_like_those_that_hold_the_cells_apart():
  assert "`# <migrator`" in left_whole(*CELLS, "# <migrator cell 3>")
