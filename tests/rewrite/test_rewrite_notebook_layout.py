"""Notebooks: nothing of the file changes but lines of code."""

import json

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
  code,
  rewritten,
  sources,
)

from migrator.rewrite.engine import Options
from migrator.rewrite.files import rewrite_bytes

LAYOUTS = {
  "indent of one": {},
  "indent of two": {"indent": 2},
  "indent of tabs": {"indent": "\t"},
  "one line": {"indent": None},
  "no blanks": {"indent": None, "separators": (",", ":")},
  "sorted keys": {"sort_keys": True},
  "plain characters": {"ensure_ascii": False},
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_lines_that_stay_keep_their_bytes(layout):
  comment = "# caf\u00e9 \U0001f600 \\u00e9 \x0c end\n"
  first = code(f"# {chr(233)}t{chr(233)}\n{IMPORTS}\nprint('\\t\\\\ \"quoted\" </b>')")
  text = {"cell_type": "markdown", "metadata": {}, "source": ["tf1.estimator \u00e9"]}
  raw = book(first, text, HOOK, "", DATA, text, comment + MODEL, TRAIN, **layout)
  result = rewritten(raw)
  old = json.loads(raw)["cells"]
  expected = json.loads(raw)
  for cell, source in zip(expected["cells"], sources(result.raw)):
    cell["source"] = source.splitlines(keepends=True)
  # Python writes the same layout, so that every byte is compared.
  for cell, before in zip(expected["cells"], old):
    if "".join(before["source"]) == "".join(cell["source"]):
      cell["source"] = before["source"]
    else:
      cell["source"] = _lines("".join(cell["source"]))
  assert result.raw == (json.dumps(expected, **{"indent": 1, **layout}) + "\n").encode()


def _lines(text):
  """Lines with their ends; a form feed ends none."""
  return [line for line in text.replace("\n", "\n\0").split("\0") if line]


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\r\n"])
def test_the_end_of_the_file_is_kept(end):
  raw = book(*CELLS).rstrip() + end.encode()
  assert rewritten(raw).raw.endswith(b"}" + end.encode())


def test_a_byte_order_mark_is_kept():
  raw = b"\xef\xbb\xbf" + book(*CELLS)
  result = rewrite_bytes(raw, "n.ipynb", Options())
  assert result.raw.startswith(b"\xef\xbb\xbf{")
  assert rewrite_bytes(result.raw, "n.ipynb", Options()).raw is None


def test_sources_as_one_string_stay_one_string():
  result = rewritten(book(*[{**code(""), "source": cell} for cell in CELLS]))
  cells = json.loads(result.raw)["cells"]
  assert all(isinstance(cell["source"], str) for cell in cells)
  assert cells[1]["source"] == NEW_HOOK


def test_lists_with_several_lines_in_one_string():
  hook = {**code(""), "source": [HOOK[:30], HOOK[30:]]}
  result = rewritten(book(IMPORTS, hook, DATA, MODEL, TRAIN))
  assert sources(result.raw)[1] == NEW_HOOK


def test_strings_that_share_a_line_of_the_file_go_on_doing_so():
  raw = book(IMPORTS, HOOK + "\nx = 1\ny = 2\nz = 3", DATA, MODEL, TRAIN)
  raw = raw.replace(b',\n    "y = 2', b', "y = 2').replace(b',\n    "z = 3', b'  ,"z = 3')
  result = rewritten(raw)
  assert b'"x = 1\\n", "y = 2\\n"  ,"z = 3"\n' in result.raw


def test_escapes_that_json_does_not_need_stay_in_lines_that_stay():
  raw = book(IMPORTS, HOOK, DATA, MODEL + "\nprint('<b>')", TRAIN).replace(
    b"<b>", b"\\u003cb\\u003e"
  )
  result = rewritten(raw)
  assert b"print('\\u003cb\\u003e')" in result.raw


def test_sources_of_nbformat_3():
  cells = [{"cell_type": "code", "input": [cell], "language": "python"} for cell in CELLS]
  raw = json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}).encode()
  result = rewrite_bytes(raw, "n.ipynb", Options())
  assert json.loads(result.raw)["worksheets"][0]["cells"][1]["input"] == NEW_HOOK.splitlines(True)


def test_line_ends_of_a_cell_are_kept():
  raw = book(IMPORTS, HOOK.replace("\n", "\r\n"), DATA, MODEL, TRAIN)
  assert sources(rewritten(raw).raw)[1] == NEW_HOOK.replace("\n", "\r\n")
