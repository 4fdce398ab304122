"""Findings in changed lines only: measured against real repositories made by git."""

import json
import os
import subprocess

import pytest

from migrator.lint import changed, engine, git

HEADER = "import tensorflow as tf\n"
SAVER = "tf.train.Saver()\n"
NEW = "new = tf.train.Saver()\n"


def _git(*arguments, cwd="."):
  subprocess.run(
    ["git", "-c", "protocol.file.allow=always", *arguments],
    cwd=cwd,
    check=True,
    capture_output=True,
  )


def _write(path, text):
  os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
  with open(path, "w", encoding="utf-8", newline="") as file:
    file.write(text)


def _commit(cwd="."):
  _git("add", "-A", cwd=cwd)
  _git("commit", "--quiet", "--allow-empty", "-m", "a step", cwd=cwd)


@pytest.fixture(autouse=True)
def repository(tmp_path, monkeypatch):
  """An empty repository, in which we are; nothing of the user's git configuration counts."""
  for name in [name for name in os.environ if name.startswith("GIT_")]:
    monkeypatch.delenv(name)
  monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
  monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
  for role in ("AUTHOR", "COMMITTER"):
    monkeypatch.setenv(f"GIT_{role}_NAME", "someone")
    monkeypatch.setenv(f"GIT_{role}_EMAIL", "someone@example.com")
  folder = tmp_path / "repository"
  folder.mkdir()
  monkeypatch.chdir(folder)
  _git("init", "--quiet", "--initial-branch=main")
  return folder


def _kept(*paths, base="main", root="."):
  """(path, cell, line) of the findings that stay."""
  lines = changed.changed_lines(base, root)
  found = [finding for path in paths for finding in engine.check_file(path)]
  return sorted({(f.path, f.cell, f.span.line) for f in lines.filter(found)})


def _lines(path, **options):
  return [line for _, _, line in _kept(path, **options)]


def test_only_lines_that_differ_from_the_working_tree():
  _write("a.py", HEADER + SAVER + "x = 1\n" + SAVER)
  _commit()
  assert _lines("a.py") == []
  _write("a.py", HEADER + "y = 1\n" + SAVER + "x = 2\n" + SAVER + NEW)
  assert _lines("a.py") == [6]
  _git("add", "a.py")
  assert _lines("a.py") == [6]
  _commit()
  assert _lines("a.py", base="HEAD~1") == [6]
  assert _lines("a.py") == []


def test_what_the_other_branch_did_since_does_not_count():
  _write("a.py", HEADER + SAVER)
  _commit()
  _git("checkout", "--quiet", "-b", "topic")
  _write("a.py", HEADER + SAVER + "x = 1\n")
  _commit()
  _git("checkout", "--quiet", "main")
  _write("a.py", HEADER + "saver = tf.train.Saver()\n")
  _commit()
  _git("checkout", "--quiet", "topic")
  assert _lines("a.py") == []


@pytest.mark.parametrize(
  "text",
  [
    "c = tf.estimator.RunConfig(\n  a=1,\n  b=3,\n)\n",
    "c = tf.estimator.RunConfig(\n  a=1,\n)\n",
    "c = tf.estimator.RunConfig(\n  a=1,\n  b=2,\n  c=3,\n)\n",
  ],
)
def test_a_statement_counts_when_any_of_its_lines_changed_or_is_gone(text):
  _write("a.py", HEADER + "c = tf.estimator.RunConfig(\n  a=1,\n  b=2,\n)\n" + SAVER)
  _commit()
  _write("a.py", HEADER + text + SAVER)
  lines = _lines("a.py")
  assert 2 in lines
  assert text.count("\n") + 2 not in lines


def test_lines_that_are_gone_between_statements_do_not_count():
  _write("a.py", HEADER + SAVER + "x = 1\n" + SAVER)
  _commit()
  _write("a.py", HEADER + SAVER + SAVER)
  assert _lines("a.py") == []


def test_the_body_of_a_function_does_not_touch_its_header():
  text = "class H(tf.train.SessionRunHook):\n  def begin(self):\n    x = 1\n"
  _write("a.py", HEADER + text)
  _commit()
  _write("a.py", HEADER + text.replace("x = 1", "x = 2"))
  assert _lines("a.py") == []
  _write("a.py", HEADER + text.replace("class H", "class K"))
  assert _lines("a.py") == [2]


def test_files_that_are_not_tracked_count_wholly(repository, tmp_path):
  _write("a.py", HEADER + SAVER)
  _write(".gitignore", "build/\n")
  _commit()
  _write("new.py", HEADER + SAVER)
  _write("build/b.py", HEADER + SAVER)
  _write(str(tmp_path / "outside.py"), HEADER + SAVER)
  outside = str(tmp_path / "outside.py")
  kept = _kept("a.py", "new.py", "build/b.py", outside)
  assert [path for path, _, _ in kept] == sorted(["new.py", "build/b.py", outside])
  _git("rm", "--quiet", "--cached", "a.py")
  assert _lines("a.py") == [2]


def test_a_renamed_file_counts_by_its_changed_lines():
  text = HEADER + SAVER + "".join(f"x{i} = {i}\n" for i in range(30))
  _write("a.py", text)
  _commit()
  _git("mv", "a.py", "b c.py")
  assert _lines("b c.py") == []
  _write("b c.py", text + SAVER)
  assert _lines("b c.py") == [33]


@pytest.mark.parametrize(
  "name", ["a b.py", "ä/ö.py", 'quo"te.py', "back\\slash.py", "tab\t.py", "n\nl.py"]
)
def test_any_path(name):
  _write(name, HEADER + SAVER)
  _commit()
  _write(name, HEADER + SAVER + SAVER)
  assert _lines(name) == [3]


def test_from_a_folder_below_by_any_name_of_the_file(repository, monkeypatch):
  _write("src/pkg/a.py", HEADER + SAVER)
  _commit()
  _write("src/pkg/a.py", HEADER + SAVER + SAVER)
  os.symlink("src", "link")
  monkeypatch.chdir(repository / "src")
  for path in (
    "pkg/a.py",
    "./pkg/../pkg/a.py",
    "../link/pkg/a.py",
    str(repository / "src/pkg/a.py"),
  ):
    assert _lines(path) == [3]


def test_the_users_settings_for_diffs_do_not_matter():
  _write("a.py", HEADER + SAVER)
  _write(".gitattributes", "*.py diff=shout\n")
  _commit()
  for setting in (
    "diff.noprefix=true",
    "diff.mnemonicPrefix=true",
    "diff.external=false",
    "diff.shout.command=false",
    "diff.shout.textconv=false",
    "diff.context=9",
    "diff.interHunkContext=9",
    "diff.renames=false",
    "diff.suppressBlankEmpty=true",
    "diff.algorithm=patience",
    "color.ui=always",
    "core.quotePath=true",
    "diff.relative=true",
  ):
    _git("config", *setting.split("="))
  _write("a.py", HEADER + "\n" + SAVER + NEW)
  assert _lines("a.py") == [4]


def test_a_file_that_git_takes_for_binary_counts_wholly_when_it_differs():
  _write("a.py", HEADER + SAVER)
  _write("b.py", HEADER + SAVER)
  _write(".gitattributes", "*.py binary\n")
  _commit()
  _write("a.py", HEADER + SAVER + "x = 1\n")
  assert _kept("a.py", "b.py") == [("a.py", None, 2)]


def test_line_ends_that_git_does_not_know():
  text = (HEADER + SAVER).replace("\n", "\r") + "y = 1\n" + SAVER
  _write("a.py", text)
  _commit()
  _write("a.py", text + SAVER)
  assert _lines("a.py") == [5]
  _write("a.py", text.replace("y = 1", "y = 2"))
  assert _lines("a.py") == [2]  # in one line with it, for git


def test_errors_of_files_that_changed_stay():
  _write("a.py", HEADER + "x = 1\ny = (\n")
  _commit()
  assert _lines("a.py") == []
  _write("a.py", HEADER + "x = 2\ny = (\n")
  assert _lines("a.py") == [3]


def test_mode_bits_are_no_change():
  _write("a.py", HEADER + SAVER)
  _commit()
  os.chmod("a.py", 0o755)
  assert _lines("a.py") == []


def test_submodules(repository, tmp_path):
  library = str(tmp_path / "library")
  os.mkdir(library)
  _git("init", "--quiet", "--initial-branch=main", cwd=library)
  _write(f"{library}/a.py", HEADER + SAVER + "x = 1\n" * 9)
  _commit(cwd=library)
  _git("submodule", "--quiet", "add", library, "lib")
  _commit()
  assert _lines("lib/a.py") == []
  _write("lib/a.py", HEADER + SAVER + "x = 1\n" * 9 + SAVER)
  assert _lines("lib/a.py") == [12]
  _commit(cwd="lib")
  assert _lines("lib/a.py") == [12]
  _notebook("lib/n.ipynb", HEADER + SAVER)
  _commit(cwd="lib")
  _commit()
  _notebook("lib/n.ipynb", HEADER + SAVER, SAVER)
  assert _kept("lib/n.ipynb", base="HEAD") == [("lib/n.ipynb", 2, 1)]
  _write("lib/new.py", HEADER + SAVER)
  assert _lines("lib/new.py") == [2]
  assert _lines("lib/a.py") == []


def test_a_folder_in_a_submodule_belongs_to_the_repository_in_which_we_are(
  repository, tmp_path, monkeypatch
):
  library = str(tmp_path / "library")
  os.mkdir(library)
  _git("init", "--quiet", "--initial-branch=trunk", cwd=library)
  _write(f"{library}/src/a.py", HEADER + SAVER)
  _commit(cwd=library)
  _git("submodule", "--quiet", "add", library, "lib")
  _commit()
  _write("lib/src/a.py", HEADER + SAVER + SAVER)
  _write("own.py", HEADER + SAVER)
  assert _kept("lib/src/a.py", "own.py", root="lib/src") == [
    ("lib/src/a.py", None, 3),
    ("own.py", None, 2),
  ]
  _commit()
  assert _lines("own.py", root="lib/src") == []
  monkeypatch.chdir("lib")
  assert _lines("src/a.py", base="trunk", root="src") == [3]
  with pytest.raises(changed.ChangedError, match="no revision 'main'"):
    _lines("src/a.py", root="src")


@pytest.mark.parametrize("folder", [".", "src"])
def test_in_a_hook_or_an_alias_git_names_its_folder(folder, monkeypatch):
  _write("src/a.py", HEADER + SAVER)
  _commit()
  _git("worktree", "add", "--quiet", "-b", "other", "../other")
  monkeypatch.chdir("../other")
  _write("src/a.py", HEADER + SAVER + SAVER)
  top = subprocess.run(["git", "rev-parse", "--absolute-git-dir"], capture_output=True, text=True)
  monkeypatch.setenv("GIT_DIR", top.stdout.strip())
  monkeypatch.setenv("GIT_INDEX_FILE", os.path.join(top.stdout.strip(), "index"))
  monkeypatch.setenv("GIT_PREFIX", "")
  assert _lines("src/a.py", root=folder) == [3]


def test_a_working_tree_that_the_user_names_counts_from_here(repository, monkeypatch):
  _write("src/a.py", HEADER + SAVER)
  _commit()
  _write("src/a.py", HEADER + SAVER + SAVER)
  os.rename(".git", "../bare.git")
  monkeypatch.setenv("GIT_DIR", "../bare.git")
  monkeypatch.setenv("GIT_WORK_TREE", ".")
  assert _lines("src/a.py", root="src") == [3]


# -- notebooks --------------------------------------------------------------------


def _notebook(path, *sources, indent=1, **extra):
  cells = [
    {"cell_type": "code", "metadata": {}, "outputs": [], "source": source, **extra}
    for source in sources
  ]
  _write(path, json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}, indent=indent))


def test_a_notebook_counts_by_the_lines_of_its_cells():
  _notebook("n.ipynb", HEADER + SAVER, SAVER)
  _commit()
  _notebook("n.ipynb", "x = 1", HEADER + SAVER, "%time f()\n" + SAVER, SAVER + SAVER)
  assert _kept("n.ipynb") == [("n.ipynb", 4, 1), ("n.ipynb", 4, 2)]


@pytest.mark.parametrize("attributes", ["", "*.ipynb binary\n", "*.ipynb -diff\n"])
def test_the_layout_of_the_json_and_outputs_do_not_matter(attributes):
  _write(".gitattributes", attributes)
  _notebook("n.ipynb", HEADER + SAVER, SAVER)
  _commit()
  lines = [HEADER, SAVER]
  _notebook("n.ipynb", lines, [SAVER.strip()], indent=None, execution_count=3)
  assert _kept("n.ipynb") == []
  _notebook("n.ipynb", [*lines, NEW], [SAVER.strip()], indent=None, execution_count=3)
  assert _kept("n.ipynb") == [("n.ipynb", 1, 3)]


def test_a_renamed_notebook_and_a_new_one():
  _notebook("n.ipynb", HEADER + SAVER, "x = 1\n" * 50)
  _commit()
  _git("mv", "n.ipynb", "m.ipynb")
  _notebook("new.ipynb", HEADER + SAVER)
  _git("add", "new.ipynb")
  assert _kept("m.ipynb", "new.ipynb") == [("new.ipynb", 1, 2)]


def test_a_notebook_that_was_none_before_counts_wholly():
  _write("n.ipynb", "<<<<<<<\n")
  _commit()
  _notebook("n.ipynb", HEADER + SAVER)
  assert _kept("n.ipynb") == [("n.ipynb", 1, 2)]


# -- what cannot be told ------------------------------------------------------------


def _message(base="main", root="."):
  with pytest.raises(changed.ChangedError) as caught:
    changed.changed_lines(base, root)
  return str(caught.value)


def test_no_repository(tmp_path):
  assert "not a git repository" in _message(root=str(tmp_path))


def test_no_git(monkeypatch):
  monkeypatch.setenv("PATH", "")
  assert "the command `git` is not there" in _message()


@pytest.mark.parametrize("base", ["none", "", "-x", "HEAD~99", "main...HEAD"])
def test_an_unknown_revision(base):
  _commit()
  assert f"git knows no revision {base!r}" in _message(base)


def test_a_branch_that_only_the_remote_has(repository, tmp_path):
  _commit()
  _git("branch", "release")
  _git("clone", "--quiet", str(repository), str(tmp_path / "clone"))
  assert "did you mean 'origin/release'?" in _message("release", str(tmp_path / "clone"))


def test_a_shallow_clone(repository, tmp_path):
  for _ in range(3):
    _commit()
  old = git.run(".", "rev-parse", "HEAD~1").decode().strip()
  clone = str(tmp_path / "clone")
  _git("clone", "--quiet", "--depth=1", f"file://{repository}", clone)
  assert "the clone is shallow" in _message(old, clone)
  assert changed.changed_lines("HEAD", clone).diffs == {}


def test_no_common_ancestor():
  _commit()
  _git("checkout", "--quiet", "--orphan", "other")
  _commit()
  _git("commit", "--quiet", "--amend", "--allow-empty", "-m", "another")
  assert "no common ancestor" in _message()


def test_no_commit_yet():
  _write("a.py", "")
  assert "git knows no revision 'main'" in _message()
