"""Patterns mean what they mean to git: git itself is asked."""

import itertools
import subprocess

import pytest

from migrator.source.ignore import Ignore

PATTERNS = """
a b.py *.py *.PY ?.py [ab].py [!a].py [^a].py [a-c].py [c-a].py [[:digit:]].py [[:alpha:]][[:digit:]].py
[]].py []a].py [a-].py [-a].py [\\]].py [a\\-c].py [a].p[y] [a [ ] [] [!] a\\ \\a.py \\*.py a\\*.py \\!a.py
\\#a.py !a.py #a.py a/ /a a/b /a/b a/b/ **/b **/b.py a/** a/**/b.py **/a/b.py a** **a.py a**b.py ** *** */ */*
*/b.py a/*/c a/?/c ** / // ./a a//b a/b/**/c/*.py [[:nope:]].py *a*b* a*/b?.py *.p* .py a.py/ [/].py a[/]b.py
""".split()
PATHS = ["/".join(parts) for n in (1, 2, 3) for parts in itertools.product("abc", repeat=n)]
NAMES = ["a.py", "b.py", "c.py", "1.py", "a1.py", "].py", "-.py", "*.py", "!a.py", "#a.py", "a*.py"]
NAMES += ["ab.py", "a b.py", "b\\.py", ".py", "A.PY"]


@pytest.fixture(scope="module", name="repository_of_paths")
def _repository_of_paths(tmp_path_factory):
  root = tmp_path_factory.mktemp("repository")
  subprocess.run(["git", "init", "-q", str(root)], check=True)
  paths = [*NAMES]
  for folder in PATHS:
    (root / folder).mkdir(parents=True, exist_ok=True)
    paths += [f"{folder}/{name}" for name in NAMES]
  for path in paths:
    (root / path).write_text("")
  return root, paths


@pytest.mark.parametrize("pattern", [*PATTERNS, "a.py ", "a b.py", "a\\ b.py", "*.py\n!a.py"])
def test_a_pattern_matches_what_git_matches(repository_of_paths, pattern):
  root, paths = repository_of_paths
  (root / ".gitignore").write_text(pattern + "\n")
  command = ["git", "-C", str(root), "ls-files", "-z", "--others", "--exclude-standard"]
  listed = subprocess.run(command, capture_output=True, check=True).stdout.decode().split("\0")
  for suffixes in ((), (".py", ".PY")):
    ignore = Ignore(str(root), pattern.split("\n"), suffixes)
    left = [path for path in paths if not ignore.check_path(str(root / path), False)]
    assert sorted(left) == sorted(p for p in listed if p and p != ".gitignore")
