"""Who may import whom: the "never" rules of the house, checked on every file."""

import ast
import pathlib
import sys

import pytest

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "migrator"
FILES = sorted(PACKAGE.rglob("*.py"))
TENSORFLOW = ("tensorflow", "keras", "tf_keras")
# Room -> (our rooms it may use, other packages it may use besides the standard library).
RULES = {
  "source": ((), ()),
  "analysis": ((), ()),
  "lint": (("analysis", "source"), ("tomli",)),
  "rewrite": (("analysis", "lint", "source"), ("libcst",)),
  # Map files are TOML, which Python reads itself from 3.11 on.
  "runtime": ((), (*TENSORFLOW, "numpy", "google", "tomli")),
  "checkpoint": (("runtime",), (*TENSORFLOW, "numpy")),
  "eject": (("checkpoint", "rewrite", "runtime"), (*TENSORFLOW, "numpy")),
  "verify": ((), ()),
  "cli": (
    ("analysis", "checkpoint", "eject", "lint", "rewrite", "source", "verify"),
    ("click", "tomli"),
  ),
}
# These run as scripts inside the program that they watch: they import what it does, and
# each other by their own names.
OBSERVERS = frozenset(p.stem for p in (PACKAGE / "verify").glob("observer*.py"))
THIRD_PARTY = frozenset(
  (*TENSORFLOW, "numpy", "google", "libcst", "click", "pathspec", "tomli", "pandas", "h5py", "yaml")
)


def _imports(path):
  """(module, line) of every import, also those inside functions."""
  for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
    if isinstance(node, ast.Import):
      yield from ((alias.name, node.lineno) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
      assert not node.level, f"{path}:{node.lineno}: relative import"
      if node.module == "migrator":
        yield from ((f"migrator.{alias.name}", node.lineno) for alias in node.names)
      else:
        yield node.module, node.lineno


def _room(path):
  parts = path.relative_to(PACKAGE).parts
  return parts[0] if len(parts) > 1 else ""


def _is_standard(head):
  if sys.version_info >= (3, 10):
    return head in sys.stdlib_module_names
  return head not in THIRD_PARTY


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_imports_stay_within_the_rules(path):
  room = _room(path)
  if not room:
    assert list(_imports(path)) == []
    return
  ours, others = RULES[room]
  observer = room == "verify" and path.stem in OBSERVERS
  for module, line in _imports(path):
    head = module.split(".")[0]
    if head == "migrator":
      target = module.split(".")[1] if "." in module else ""
      allowed = target in (room, "__version__", *ours)
    else:
      allowed = _is_standard(head) or head in others
      allowed = allowed or (observer and head in (*TENSORFLOW, "numpy", *OBSERVERS))
    assert allowed, f"{path}:{line}: {room} must not import {module}"
