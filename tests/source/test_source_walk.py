"""From paths to files."""

import os
import random
import subprocess

import pytest

from migrator.source import walk


def _tree(root, *names):
  for name in names:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")


def _find(root, *paths, **options):
  found = walk.find([str(root / p) for p in paths] or [str(root)], **options)
  return [os.path.relpath(f.path, root).replace(os.sep, "/") for f in found]


def test_python_and_notebooks_in_a_fixed_order(tmp_path):
  names = ["b.py", "a.py", "a/z.py", "a/b/c.ipynb", "c.txt", "d.pyc"]
  random.shuffle(names)
  _tree(tmp_path, *names)
  assert _find(tmp_path) == ["a.py", "b.py", "a/z.py", "a/b/c.ipynb"]


def test_what_is_skipped(tmp_path):
  _tree(
    tmp_path,
    "a.py",
    ".hidden.py",
    ".git/hooks/a.py",
    ".venv/lib/a.py",
    "node_modules/x/a.py",
    "__pycache__/a.py",
    "env/pyvenv.cfg",
    "env/lib/a.py",
  )
  assert _find(tmp_path) == ["a.py"]


def test_files_that_are_named_are_always_taken(tmp_path):
  _tree(tmp_path, ".hidden.py", "script", "node_modules/a.py", "ignored.py", ".git/HEAD")
  (tmp_path / ".gitignore").write_text("ignored.py\n")
  named = [".hidden.py", "script", "node_modules/a.py", "ignored.py"]
  found = list(walk.find([str(tmp_path / n) for n in named]))
  assert [os.path.relpath(f.path, tmp_path).replace(os.sep, "/") for f in found] == named
  assert all(f.explicit for f in found)
  assert not next(walk.find([str(tmp_path / "node_modules")])).explicit


def test_gitignore_of_each_folder(tmp_path):
  _tree(tmp_path, "a.py", "gen_a.py", "build/b.py", "sub/gen_b.py", "sub/gen_keep.py", "sub/c.py")
  (tmp_path / ".gitignore").write_text("# generated\ngen_*.py\n/build/\n")
  (tmp_path / "sub" / ".gitignore").write_text("!gen_keep.py\nc.py\n")
  assert _find(tmp_path) == ["a.py", "sub/gen_keep.py"]


def test_gitignore_above_the_folder_up_to_the_repository(tmp_path):
  _tree(tmp_path, "repo/.git/HEAD", "repo/sub/a.py", "repo/sub/gen.py")
  (tmp_path / ".gitignore").write_text("a.py\n")
  (tmp_path / "repo" / ".gitignore").write_text("gen.py\n")
  assert _find(tmp_path, "repo/sub") == ["repo/sub/a.py"]


def test_a_named_folder_is_searched_even_if_it_is_ignored(tmp_path):
  _tree(tmp_path, ".git/HEAD", "build/a.py", "build/sub/b.py", "build/gen/c.py")
  (tmp_path / ".gitignore").write_text("/build/\n")
  (tmp_path / "build" / ".gitignore").write_text("gen/\n")
  assert _find(tmp_path) == []
  assert _find(tmp_path, "build") == ["build/a.py", "build/sub/b.py"]
  assert _find(tmp_path, "build/sub") == ["build/sub/b.py"]


def test_exclude(tmp_path):
  _tree(tmp_path, "a.py", "third_party/b.py", "sub/third_party/c.py", "sub/d_pb2.py")
  found = _find(tmp_path, exclude=["/third_party/", "*_pb2.py"], exclude_root=str(tmp_path))
  assert found == ["a.py", "sub/third_party/c.py"]


def test_symlink_loops_end(tmp_path):
  _tree(tmp_path, "a/b/c.py")
  (tmp_path / "a" / "b" / "up").symlink_to(tmp_path / "a")
  (tmp_path / "self.py").symlink_to(tmp_path / "self.py")
  (tmp_path / "dangling.py").symlink_to(tmp_path / "gone.py")
  assert _find(tmp_path) == ["a/b/c.py"]


def test_a_file_under_two_names_is_taken_once(tmp_path):
  _tree(tmp_path, "a.py")
  (tmp_path / "b.py").symlink_to(tmp_path / "a.py")
  assert _find(tmp_path) == ["a.py"]
  assert _find(tmp_path, "a.py", "b.py", ".") == ["a.py"]


def test_a_folder_that_cannot_be_read_is_reported(tmp_path, monkeypatch):
  _tree(tmp_path, "a/x.py", "b/y.py")
  real = os.scandir

  def scandir(path):
    if os.path.basename(path) == "a":
      raise PermissionError(13, "Permission denied", path)
    return real(path)

  monkeypatch.setattr(os, "scandir", scandir)
  problems = []
  assert _find(tmp_path, on_error=problems.append) == ["b/y.py"]
  assert [os.path.basename(p.filename) for p in problems] == ["a"]


def test_a_missing_path(tmp_path):
  with pytest.raises(FileNotFoundError) as caught:
    walk.find([str(tmp_path / "gone")])
  assert caught.value.filename == str(tmp_path / "gone")


def test_a_folder_with_a_pyproject_has_excludes_of_its_own(tmp_path):
  for name in ("a/x.py", "a/gen.py", "a/sub/gen.py", "b/gen.py", "b/y.py"):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
  (tmp_path / "b" / "pyproject.toml").write_text("")
  asked = []

  def excludes_of(folder):
    asked.append(folder)
    inner = folder.endswith("b")
    return [(folder, ["y.py"] if inner else ["gen.py"])]

  found = walk.find([str(tmp_path)], excludes_of=excludes_of)
  names = [os.path.relpath(file.path, tmp_path) for file in found]
  assert names == [os.path.join("a", "x.py"), os.path.join("b", "gen.py")]
  assert asked == [str(tmp_path), str(tmp_path / "b")]


def test_a_single_file_can_be_held_against_patterns(tmp_path):
  excludes = [(str(tmp_path), ["third_party/", "gen_*.py"])]
  matches = walk.matcher(excludes)
  assert matches(str(tmp_path / "third_party" / "sub" / "a.py"))
  assert matches(str(tmp_path / "gen_a.py"))
  assert not matches(str(tmp_path / "a.py"))
  assert not matches(str(tmp_path.parent / "gen_a.py"))
  assert not walk.matcher([])(str(tmp_path / "a.py"))


def test_a_virtual_environment_is_searched_when_it_is_named(tmp_path):
  _tree(tmp_path, "env/pyvenv.cfg", "env/a.py")
  assert _find(tmp_path) == []
  assert _find(tmp_path, "env") == ["env/a.py"]


@pytest.mark.parametrize(
  ("pattern", "left"),
  [
    ("*.pyc", ["a.py", "b.ipynb", "sub/c.py"]),
    ("*.py", ["b.ipynb"]),
    ("*.p[xy]", ["b.ipynb"]),
    ("?.ipynb", ["a.py", "sub/c.py"]),
    ("*y", ["b.ipynb"]),
    ("sub/*", ["a.py", "b.ipynb"]),
    ("sub", ["a.py", "b.ipynb"]),
    ("a.py/", ["a.py", "b.ipynb", "sub/c.py"]),
    ("/c.py", ["a.py", "b.ipynb", "sub/c.py"]),
    ("**/c.py", ["a.py", "b.ipynb"]),
    ("sub/**", ["a.py", "b.ipynb"]),
    ("*\n!sub/\n!c.py", ["sub/c.py"]),
    ("sub/*\n!sub/c.py", ["a.py", "b.ipynb", "sub/c.py"]),
    ("\\*.py", ["a.py", "b.ipynb", "sub/c.py"]),
    ("a.py   ", ["b.ipynb", "sub/c.py"]),
    ("#a.py\n\n", ["a.py", "b.ipynb", "sub/c.py"]),
  ],
)
def test_patterns_of_all_kinds(tmp_path, pattern, left):
  _tree(tmp_path, "a.py", "b.ipynb", "sub/c.py")
  (tmp_path / ".gitignore").write_text(pattern + "\n")
  assert _find(tmp_path) == left


@pytest.mark.parametrize("seed", range(60))
def test_what_git_ignores_is_left_out(tmp_path, seed):
  chance = random.Random(seed)
  names = ("a", "b", "gen", "build", "x_pb2")
  folders = [
    "/".join(chance.choice(names) for _ in range(chance.randrange(1, 4))) for _ in range(8)
  ]
  _tree(tmp_path, *(f"{f}/{n}.py" for f in ("", *folders) for n in names if chance.random() < 0.7))
  patterns = (
    *("*.pyc", "build/", "/gen", "gen/*", "*_pb2.py", "a/b", "**/b/", "a/**/x_pb2.py", "b.py"),
    *("!gen/a.py", "!*_pb2.py", "*", "!*/", "!b.py", "/*", "!/a", "x*", "?.py", "[ab].py"),
  )
  for folder in ("", *chance.sample(folders, 3)):
    if (tmp_path / folder).is_dir():
      chosen = chance.sample(patterns, chance.randrange(1, 4))
      (tmp_path / folder / ".gitignore").write_text("\n".join(chosen) + "\n")
  subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
  command = ["git", "-C", str(tmp_path), "ls-files", "-z", "--others", "--exclude-standard"]
  listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split("\0")
  assert sorted(_find(tmp_path)) == sorted(name for name in listed if name.endswith(".py"))
