"""Reading a file and giving it another text: only what changed may change."""

import codecs

import pytest

from migrator.source import errors
from migrator.source.document import Document, mentions

LINES = ["import tensorflow as tf", "x = tf.train.Saver()", "y = 'é'", "z = 1"]


def _changed(document):
  return document.replace_text(document.text.replace("Saver", "Checkpoint"))


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("bom", [b"", codecs.BOM_UTF8], ids=["plain", "bom"])
@pytest.mark.parametrize("final", [True, False], ids=["final-newline", "no-final-newline"])
def test_only_the_changed_line_changes(newline, bom, final):
  raw = bom + (newline.join(LINES) + (newline if final else "")).encode("utf-8")
  document = Document.from_bytes(raw, "a.py")
  assert document.newline == newline
  assert document.replace_text(document.text) == raw
  assert _changed(document) == raw.replace(b"Saver", b"Checkpoint")


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_new_lines_get_the_line_end_of_the_file(newline):
  raw = newline.join(LINES).encode("utf-8")
  document = Document.from_bytes(raw, "a.py")
  new = document.text.replace("z = 1", "z = 1\nz = 2\n")
  assert document.replace_text(new) == raw + newline.encode() + b"z = 2"


def test_mixed_line_ends_stay_where_they_are():
  raw = b"a = 1\r\nb = 2\nc = 3\r\nd = 4\r\n"
  document = Document.from_bytes(raw, "a.py")
  assert document.newline == "\r\n"
  assert document.replace_text(document.text) == raw
  assert document.replace_text("a = 1\nb = 2\nnew\nc = 3\nd = 4\n") == (
    b"a = 1\r\nb = 2\nnew\r\nc = 3\r\nd = 4\r\n"
  )


def test_a_latin_1_cookie_is_kept():
  raw = "# -*- coding: latin-1 -*-\nname = 'café'  # tf.estimator\n".encode("latin-1")
  document = Document.from_bytes(raw, "a.py")
  assert document.encoding == "iso-8859-1"
  assert "café" in document.text
  new = document.replace_text(document.text + "b = 1\n")
  assert new == raw + b"b = 1\n"


def test_a_character_that_the_encoding_lacks_is_refused():
  raw = "# -*- coding: latin-1 -*-\nname = 'café'\n".encode("latin-1")
  document = Document.from_bytes(raw, "a.py")
  with pytest.raises(errors.SourceError) as caught:
    document.replace_text(document.text + "b = '→'\n")
  assert caught.value.code == errors.ENCODING
  assert caught.value.line == 3


def test_latin_1_without_a_cookie_is_an_error_with_its_line():
  raw = b"import tensorflow\n\n\nname = 'caf\xe9'\n"
  with pytest.raises(errors.SourceError) as caught:
    Document.from_bytes(raw, "a.py")
  assert (caught.value.code, caught.value.line) == (errors.ENCODING, 4)
  assert "0xe9" in caught.value.reason


@pytest.mark.parametrize(
  ("raw", "reason"),
  [
    (b"# -*- coding: klingon -*-\nx = 1\n", "klingon"),
    (codecs.BOM_UTF8 + b"# -*- coding: latin-1 -*-\nx = 1\n", "byte order mark"),
    (b"name = 'caf\xe9'\n", "0xe9 in line 1"),
    (b"# coding: hex\n6162\n", "hex"),
  ],
  ids=["unknown-cookie", "cookie-against-bom", "first-line", "no-text-codec"],
)
def test_encodings_that_do_not_fit(raw, reason):
  with pytest.raises(errors.SourceError) as caught:
    Document.from_bytes(raw, "a.py")
  assert caught.value.code == errors.ENCODING
  assert reason in caught.value.reason


def test_an_empty_file():
  document = Document.from_bytes(b"", "a.py")
  assert (document.text, document.check()) == ("", None)
  assert document.replace_text("") == b""


def test_tabs_stay():
  raw = b"def f():\n\tx = 1  # a\n  # comment at column 2\n\treturn x\n"
  document = Document.from_bytes(raw, "a.py")
  assert document.check() is None
  assert document.replace_text(document.text) == raw


def test_read_names_the_file(tmp_path):
  path = tmp_path / "a.py"
  path.write_bytes(b"x = '\xff'\n")
  with pytest.raises(errors.SourceError) as caught:
    Document.read(str(path))
  assert str(caught.value).startswith(f"{path}:1:1: EM003 ")


@pytest.mark.parametrize(
  ("raw", "expected"),
  [
    (b"import tensorflow as tf", True),
    (b"from keras import callbacks", True),
    (b"def train(estimator): ...", True),
    (b"import numpy as np", False),
  ],
)
def test_the_gate(raw, expected):
  assert mentions(raw) is expected
