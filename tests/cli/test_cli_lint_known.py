"""`migrator lint`: baselines, changed lines, added comments."""

import os
import subprocess

import pytest
from lint_helpers import BAD, GOOD, TWO, codes, lint, write


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)


def _git(*arguments):
  subprocess.run(
    ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
    check=True,
    capture_output=True,
  )


# -- baseline --------------------------------------------------------------------


def test_what_a_baseline_knows_is_not_reported():
  write("a.py", TWO)
  code, output = lint("--baseline=known.jsonl", "--write-baseline")
  assert (code, output) == (0, "known.jsonl: 2 known findings.\n")
  code, output = lint("--baseline=known.jsonl")
  assert (code, output) == (0, "No new findings, 2 known ones; 1 file checked.\n")
  write("a.py", "# moved\n\n" + TWO + "tf.train.load_checkpoint('y')\n")
  code, output = lint("--baseline=known.jsonl", "--output-format=concise")
  assert code == 1
  assert [line.split()[1] for line in output.splitlines()[:-1]] == ["EM503"]
  assert output.endswith("1 finding in 1 file, 2 known ones; 1 file checked.\n")


def test_what_no_longer_occurs_is_said_and_taken_out_by_writing_anew():
  write("a.py", TWO)
  lint("--baseline=known.jsonl", "--write-baseline")
  write("a.py", BAD)
  write("a.py", BAD.replace("saver = ", ""))
  code, output = lint("--baseline=known.jsonl")
  assert code == 0
  assert output == (
    "known.jsonl: 1 finding no longer occurs; `--write-baseline` takes them out.\n"
    "No new findings, 1 known one; 1 file checked.\n"
  )
  assert lint("--baseline=known.jsonl", "--select=EM4")[1].count("no longer") == 0
  assert lint("--baseline=known.jsonl", "-q") == (0, "")
  assert lint("--baseline=known.jsonl", "--write-baseline")[0] == 0
  assert "no longer" not in lint("--baseline=known.jsonl")[1]


def test_a_baseline_can_be_ignored_to_see_what_is_left_in_it():
  write("pyproject.toml", '[tool.migrator]\nbaseline = "known.jsonl"\n')
  write("a.py", TWO)
  lint("--write-baseline")
  assert lint("--statistics")[1].startswith("No new findings, 2 known ones;")
  code, output = lint("--ignore-baseline", "--output-format=concise")
  assert code == 1
  assert output.endswith("2 findings in 1 file; 1 file checked.\n")


def test_the_folder_of_a_baseline_is_made():
  write("a.py", TWO)
  assert lint("--baseline=ci/lint/known.jsonl", "--write-baseline")[0] == 0
  assert lint("--baseline=ci/lint/known.jsonl")[0] == 0


def test_the_configuration_can_name_the_baseline(monkeypatch):
  write("pyproject.toml", '[tool.migrator]\nbaseline = "ci/known.jsonl"\n')
  write("src/a.py", TWO)
  assert lint("--write-baseline")[1] == f"{os.path.join('ci', 'known.jsonl')}: 2 known findings.\n"
  assert codes(".") == []
  monkeypatch.chdir("src")
  assert codes("a.py") == []
  assert codes("a.py", "--isolated") == ["EM401", "EM503"]


def test_packages_have_baselines_of_their_own():
  for name in ("one", "two"):
    write(f"{name}/pyproject.toml", '[tool.migrator]\nbaseline = "known.jsonl"\n')
    write(f"{name}/a.py", TWO)
  write("b.py", TWO)
  assert lint("--write-baseline")[0] == 0
  assert lint("--output-format=concise", "-q")[1].count(os.path.join(".", "b.py")) == 2
  assert len(codes(".")) == 2
  write("one/b.py", BAD)
  assert len(codes("one")) == 1
  assert codes("two") == []


def test_files_and_rules_that_a_run_does_not_look_at_stay_in_the_baseline():
  write("a.py", TWO)
  write("b.py", TWO)
  lint("--baseline=known.jsonl", "--write-baseline")
  lint("a.py", "--select=EM4", "--baseline=known.jsonl", "--write-baseline")
  assert codes(".", "--baseline=known.jsonl") == []


def test_a_run_on_a_part_of_the_tree_keeps_what_is_known_of_renamed_files_elsewhere():
  write("a.py", BAD)
  write("b.py", BAD)
  lint("--baseline=known.jsonl", "--write-baseline")
  os.rename("a.py", "c.py")
  assert "no longer" not in lint("--baseline=known.jsonl", "b.py")[1]
  assert lint("--baseline=known.jsonl", "--write-baseline", "b.py")[0] == 0
  assert lint("--baseline=known.jsonl")[0] == 0


def test_a_baseline_of_nowhere():
  code, output = lint("--write-baseline")
  assert code == 2
  assert "--write-baseline needs --baseline FILE" in output


@pytest.mark.parametrize(
  ("content", "message"),
  [
    (None, "known.jsonl: no such file; `--write-baseline` makes it."),
    ('{"migrator_baseline": 1}\n{"path": 3}\n', "known.jsonl:2: "),
    ("", "known.jsonl:1: "),
    (b"\xff", "known.jsonl:1: "),
  ],
)
def test_a_faulty_baseline_is_named_with_its_line(content, message):
  write("a.py", BAD)
  if content is not None:
    write("known.jsonl", content)
  code, output = lint("--baseline=known.jsonl")
  assert code == 2
  assert output.startswith("Error: baseline ")
  assert message in output
  assert output.count("\n") == 1


def test_what_cannot_be_parsed_is_never_known():
  write("a.py", BAD + "x = (\n")
  code, output = lint("--baseline=known.jsonl", "--write-baseline")
  assert code == 2
  assert "EM001" in output
  assert lint("--baseline=known.jsonl")[0] == 2


# -- changed lines ---------------------------------------------------------------


def test_only_findings_in_lines_changed_since_a_revision():
  write("a.py", TWO)
  write("b.py", BAD)
  _git("init", "-q")
  _git("add", ".")
  _git("commit", "-qm", "x")
  assert codes(".", "--diff-base=HEAD") == []
  write("a.py", TWO + "tf.train.load_checkpoint('y')\n")
  write("new file.py", BAD)
  _, output = lint("--diff-base=HEAD", "--output-format=concise", "-q")
  assert [line.split(": ")[1][:5] for line in output.splitlines()] == ["EM503", "EM401"]
  _git("checkout", "-q", "-b", "work")
  _git("commit", "-qam", "y")
  assert codes("a.py", "--diff-base", "HEAD~1") == ["EM503"]


def test_a_baseline_and_changed_lines_go_together():
  write("a.py", GOOD)
  _git("init", "-q")
  _git("add", ".")
  _git("commit", "-qm", "x")
  write("a.py", TWO)
  lint("--select=EM5", "--baseline=known.jsonl", "--write-baseline")
  assert codes(".", "--diff-base=HEAD", "--baseline=known.jsonl") == ["EM401"]


def test_a_revision_that_is_not_there_and_no_repository():
  write("a.py", BAD)
  code, output = lint("--diff-base=HEAD")
  assert code == 2
  assert output.startswith("Error: cannot tell what changed since 'HEAD': ")
  _git("init", "-q")
  _git("add", ".")
  _git("commit", "-qm", "x")
  code, output = lint("--diff-base=gone")
  assert code == 2
  assert output.startswith("Error: cannot tell what changed since 'gone': ")


# -- added comments ----------------------------------------------------------------


def test_added_comments_silence_all_findings_and_adding_again_changes_nothing():
  write("a.py", TWO)
  write("b.py", GOOD)
  assert lint("--add-noqa") == (0, "Silenced 2 findings in 1 file.\n")
  with open("a.py") as file:
    text = file.read()
  assert text == (
    "import tensorflow as tf\n"
    "tf.compat.v1.train.Saver()  # noqa: EM401\n"
    "tf.train.load_checkpoint('x')  # noqa: EM503\n"
  )
  assert codes(".") == []
  assert lint("--add-noqa") == (0, "Silenced 0 findings in 0 files.\n")
  with open("a.py") as file:
    assert file.read() == text


def test_only_selected_and_new_findings_get_comments():
  write("a.py", TWO)
  lint("--select=EM5", "--baseline=known.jsonl", "--write-baseline")
  lint("--baseline=known.jsonl", "--add-noqa", "--ignore=EM006")
  with open("a.py") as file:
    assert file.read().count("noqa") == 1


def test_a_file_that_cannot_be_parsed_gets_no_comment():
  write("a.py", BAD + "x = (\n")
  write("b.py", BAD)
  code, output = lint("--add-noqa")
  assert code == 2
  assert "EM001" in output
  assert "Silenced 1 finding in 1 file.\n" in output
  with open("a.py") as file:
    assert file.read() == BAD + "x = (\n"


def test_a_file_that_cannot_be_written_is_named():
  write("a.py", BAD)
  write("b.py", BAD)
  os.chmod("a.py", 0o444)
  code, output = lint("--add-noqa")
  assert code == 2
  assert os.path.join(".", "a.py") + ": the file is read-only\n" in output
  assert output.endswith("Silenced 1 finding in 1 file.\n")


# -- what excludes each other ------------------------------------------------------


@pytest.mark.parametrize(
  ("arguments", "message"),
  [
    (["--write-baseline", "--add-noqa"], "--write-baseline and --add-noqa exclude each other."),
    (["-", "--write-baseline"], "--write-baseline needs files, not stdin."),
    (["-", "--add-noqa"], "--add-noqa needs files, not stdin."),
    (["-", "--watch"], "--watch needs files, not stdin."),
    (["--write-baseline", "--diff-base=HEAD"], "--write-baseline and --diff-base exclude"),
    (["--isolated", "--config=c.toml"], "--config and --isolated exclude each other."),
  ],
)
def test_what_excludes_each_other(arguments, message):
  write("c.toml", "")
  code, output = lint(*arguments, raw="")
  assert code == 2
  assert output.startswith(f"Error: {message}")


def test_noqa_comments_that_silence_nothing_are_findings():
  write(
    "a.py", "import tensorflow as tf  # noqa: EM101\ntf.compat.v1.train.Saver()  # noqa: EM401\n"
  )
  code, output = lint("a.py", "--output-format=concise")
  assert code == 1
  assert output.startswith("a.py:1:")
  assert "EM006" in output.splitlines()[0]
  assert codes("a.py", "--ignore=EM006") == []
  assert codes("a.py", "--ignore-noqa") == ["EM401"]
