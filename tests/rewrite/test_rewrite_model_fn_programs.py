"""The committed rewritten programs with their own model_fn are what the tool writes."""

import shutil

import pytest
from click.testing import CliRunner

from migrator.analysis.module import Module
from migrator.cli import main
from migrator.rewrite import todo

FORMS = {"hosted": ["--hosted"], "loop": [], "fit": ["--target", "fit"]}
# Where no form is better than the one that keeps the model_fn, there is no other file.
PROGRAMS = {
  "model_fn_attention": ("hosted",),
  "model_fn_bert": ("hosted",),
  "model_fn_cnn": ("hosted", "loop"),
  "model_fn_ema": ("hosted",),
  "model_fn_embedding": ("hosted",),
  "model_fn_forgotten_updates": ("hosted",),
  "model_fn_gan": ("hosted",),
  "model_fn_init": ("hosted",),
  "model_fn_joint": ("hosted", "loop"),
  "model_fn_keras": ("loop",),
  "model_fn_mlp": ("hosted", "loop"),
  "model_fn_multi_task": ("hosted",),
  "model_fn_plain": ("hosted", "loop", "fit"),
  "model_fn_resnet": ("hosted",),
  "model_fn_tagger": ("hosted",),
  "model_fn_triplet": ("hosted",),
  "model_fn_wide_deep": ("hosted",),
}
CASES = [(name, form) for name, forms in PROGRAMS.items() for form in forms]


def files(folder, name):
  """Returns the texts of a program by the names of its files."""
  path = folder / f"{name}.py"
  if path.exists():
    return {"main.py": path.read_text()}
  root = folder / name
  return {str(p.relative_to(root)): p.read_text() for p in root.rglob("*") if p.is_file()}


def rewritten(folder, directory, options):
  """Rewrites a copy of a program; returns the result of the command and the texts of the files."""
  if (folder / "before").is_dir():
    shutil.copytree(folder / "before", directory / "program")
  else:
    (directory / "program").mkdir()
    shutil.copy(folder / "before.py", directory / "program" / "main.py")
  result = run(directory / "program", options)
  return result, files(directory, "program")


def run(directory, options):
  return CliRunner().invoke(main, ["rewrite", "--write", *options, str(directory)])


@pytest.mark.parametrize(("name", "form"), CASES)
def test_committed_program_is_the_output_and_a_second_run_changes_nothing(
  repository, tmp_path, name, form
):
  folder = repository / "fixtures" / "programs" / name
  result, texts = rewritten(folder, tmp_path, FORMS[form])
  assert "left to you: nothing" in result.output
  assert texts == files(folder, f"after_{form}")
  run(tmp_path / "program", FORMS[form])
  assert files(tmp_path, "program") == texts


@pytest.mark.parametrize(("name", "form"), CASES)
def test_no_removed_name_is_left(repository, name, form):
  for path, text in files(repository / "fixtures" / "programs" / name, f"after_{form}").items():
    if path.endswith(".py"):
      module = Module(text)
      assert not [use for use in module.uses() if todo.is_removed(module, use)]
      assert "tf.estimator" not in text


@pytest.mark.parametrize("name", [n for n, forms in PROGRAMS.items() if "loop" not in forms])
def test_a_model_fn_that_cannot_be_taken_apart_is_kept_with_the_reason(repository, tmp_path, name):
  folder = repository / "fixtures" / "programs" / name
  result, texts = rewritten(folder, tmp_path, [])
  assert "EM234" in result.output
  assert texts == files(folder, "after_hosted")
