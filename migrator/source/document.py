"""A file as a document: its bytes, its text, and the text's way back to bytes."""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, Optional

from migrator.source import errors, newlines, parse

if TYPE_CHECKING:
  from migrator.source.notebook import Notebook

_GATE = (b"tensorflow", b"keras", b"estimator")


def mentions(raw: bytes) -> bool:
  """Whether a file can be of interest at all: a cheap test before it is decoded and parsed."""
  return any(word in raw for word in _GATE)


class Document(NamedTuple):
  """A .py file or a notebook.

  Attributes:
    path: the file as the user named it.
    raw: its bytes.
    encoding: from the coding cookie (PEP 263), else UTF-8.
    bom: whether the file begins with a UTF-8 byte order mark.
    newline: the line end that most lines have: "\\n", "\\r\\n" or "\\r".
    text: what the bytes say, without the byte order mark, line ends as they are. For a
      notebook: the code of all cells, magics replaced by `pass`.
    notebook: the cells, for a notebook.
  """

  path: str
  raw: bytes
  encoding: str
  bom: bool
  newline: str
  text: str
  notebook: Optional[Notebook] = None

  @classmethod
  def read(cls, path: str) -> Document:
    """Reads a file.

    Raises:
      OSError: it cannot be read.
      SourceError: EM003, it cannot be decoded; EM001, it is no valid notebook.
    """
    with open(path, "rb") as file:
      return cls.from_bytes(file.read(), path)

  @classmethod
  def from_bytes(cls, raw: bytes, path: str) -> Document:
    """The document of bytes. Raises SourceError like `read`."""
    bom = raw.startswith(codecs.BOM_UTF8)
    body = raw[len(codecs.BOM_UTF8) :] if bom else raw
    if path.endswith(".ipynb"):
      from migrator.source import notebook  # only here: most files are none

      text = _decode(body, "utf-8", path)
      book = notebook.read(text, path)
      return cls(path, raw, "utf-8", bom, _dominant_newline(text), book.text, book)
    encoding = _encoding(raw, path)
    text = _decode(body, encoding, path)
    return cls(path, raw, encoding, bom, _dominant_newline(text), text)

  @classmethod
  def from_text(cls, text: str, path: str) -> Document:
    """The document of a text that is in no file yet; always Python, in UTF-8."""
    return cls(path, text.encode("utf-8", "replace"), "utf-8", False, _dominant_newline(text), text)

  @property
  def is_notebook(self) -> bool:
    return self.notebook is not None

  def parts(self) -> list[Document]:
    """The document and, for a notebook, one for each program that it writes to a file.

    They have the same bytes; `text` and `locate` are those of the program.
    """
    files = self.notebook.files if self.notebook is not None else ()
    return [self, *(self._replace(text=f.text, notebook=f) for f in files)]

  def check(self) -> Optional[errors.SourceError]:
    """Returns why the text is no Python 3 (EM001, EM002), or None when it is."""
    return parse.check(self.text, self.path)

  def locate(self, line: int) -> tuple[Optional[int], int]:
    """Returns the cell (None for a .py file) and the line in it for a line of `text`."""
    if self.notebook is None:
      return None, line
    return self.notebook.locate(line)

  def replace_text(self, text: str) -> bytes:
    """Returns the bytes of the file with another text.

    Lines that are the same in both texts keep their bytes. New lines get the line end of the
    file; the byte order mark, the encoding and a missing final newline are kept.

    Args:
      text: the new text; its lines may end with "\\n" where the file's do not.

    Raises:
      SourceError: EM003, the text has characters that the file's encoding lacks.
      ValueError: the document is a notebook.
    """
    if self.is_notebook:
      raise ValueError(f"{self.path}: the text of a notebook cannot be replaced")
    if _is_mixed(self.text):
      text = newlines.restore(self.text, newlines.unify(text), self.newline)
    elif self.newline != "\n":
      text = newlines.unify(text).replace("\n", self.newline)
    if self.text and not self.text.endswith(("\n", "\r")):
      text = re.sub(r"(\r\n|\r|\n)\Z", "", text)
    try:
      body = text.encode(self.encoding)
    except UnicodeEncodeError as error:
      line = text[: error.start].count("\n") + 1
      reason = f"{text[error.start]!r} does not exist in {self.encoding}, line {line}"
      raise errors.SourceError(errors.ENCODING, self.path, reason, line) from error
    return codecs.BOM_UTF8 + body if self.bom else body

  def replace_cells(self, new: Mapping[int, str]) -> bytes:
    """Returns the bytes of the notebook with other sources of some cells.

    All else keeps its bytes: other cells, outputs, metadata, layout, the lines that stay.

    Args:
      new: the new source by the 1-based number of the cell among all cells.

    Raises:
      KeyError: there is no such cell, or it has no source.
      ValueError: the document is no notebook, or a source cannot be changed.
    """
    if not self.is_notebook:
      raise ValueError(f"{self.path}: it has no cells")
    from migrator.source import cells  # only here: most files are no notebooks

    body = self.raw[len(codecs.BOM_UTF8) :] if self.bom else self.raw
    changed = cells.replace(body.decode(self.encoding), new).encode(self.encoding)
    return codecs.BOM_UTF8 + changed if self.bom else changed


def _encoding(raw: bytes, path: str) -> str:
  """The encoding by cookie or byte order mark. Raises SourceError for an unknown one."""
  end = raw.find(b"\n", raw.find(b"\n") + 1)
  if b"coding" not in (raw if end < 0 else raw[:end]) and not raw.startswith(codecs.BOM_UTF8):
    return "utf-8"  # as most files: `tokenize` takes longer to say so than the rest of reading
  try:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
  except SyntaxError as error:
    reason = str(error.msg or error)
    if "invalid or missing encoding" in reason:
      # No cookie and the first lines are no UTF-8: say where, as for any later line.
      _decode(raw, "utf-8", path)
    if raw.startswith(codecs.BOM_UTF8):
      reason = f"the coding cookie contradicts the UTF-8 byte order mark ({reason})"
    raise errors.SourceError(errors.ENCODING, path, reason) from error
  return "utf-8" if encoding == "utf-8-sig" else encoding


def _decode(body: bytes, encoding: str, path: str) -> str:
  try:
    return body.decode(encoding)
  except UnicodeDecodeError as error:
    line = body[: error.start].count(b"\n") + 1
    reason = f"byte 0x{body[error.start]:02x} in line {line} is not {encoding}"
    raise errors.SourceError(errors.ENCODING, path, reason, line) from error
  except LookupError as error:  # a codec that is not from bytes to text
    raise errors.SourceError(errors.ENCODING, path, str(error)) from error


def _dominant_newline(text: str) -> str:
  if "\r" not in text:
    return "\n"
  pairs = text.count("\r\n")
  feeds = text.count("\n") - pairs
  returns = text.count("\r") - pairs
  if pairs > feeds and pairs >= returns:
    return "\r\n"
  return "\r" if returns > feeds else "\n"


def _is_mixed(text: str) -> bool:
  """Whether there are several kinds of line ends, so that each line keeps its own."""
  pairs = text.count("\r\n")
  counts = (pairs, text.count("\n") - pairs, text.count("\r") - pairs)
  return sum(count > 0 for count in counts) > 1
