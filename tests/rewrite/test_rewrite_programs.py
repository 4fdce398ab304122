"""The committed rewritten programs are what the tool writes, and nothing is left in them."""

import pytest

from migrator.analysis.module import Module
from migrator.rewrite import todo
from migrator.rewrite.engine import Options, rewrite

ESTIMATOR_PROGRAMS = (
  "fault_tolerance",
  "iris_policy",
  "iris_default_policy",
  "iris_temporary_dir",
  "changed_hidden_units",
  "hooks_built_in",
  "hooks_early_stopping",
  "hooks_evaluate",
  "hooks_files",
  "hooks_listeners",
  "hooks_observers",
  "hooks_saver",
  "hooks_sessions",
  "hooks_stopping",
)
CANNED_PROGRAMS = (
  "canned_babyweight",
  "canned_baseline",
  "canned_census",
  "canned_from_config",
  "canned_housing",
  "canned_keras_model",
  "canned_movielens",
  "canned_multi_head",
  "canned_multi_label",
  "canned_pandas",
  "canned_reviews",
  "canned_schedule",
  "canned_titanic",
  "canned_warm_start",
  "canned_weighted",
)


@pytest.mark.parametrize("target", ["fit", "loop"])
@pytest.mark.parametrize("name", (*ESTIMATOR_PROGRAMS, *CANNED_PROGRAMS))
def test_committed_program_is_the_output(repository, name, target):
  folder = repository / "fixtures" / "programs" / name
  before = (folder / "before.py").read_text()
  result = rewrite(before, "before.py", Options(target=target))
  assert result.text == (folder / f"after_{target}.py").read_text()
  assert result.complete


def test_committed_guide_is_the_output(repository):
  folder = repository / "fixtures" / "programs" / "tf2_guide"
  result = rewrite((folder / "before.py").read_text(), "before.py")
  assert result.text == (folder / "after_fit.py").read_text()


@pytest.mark.parametrize("target", ["fit", "loop"])
@pytest.mark.parametrize("name", (*ESTIMATOR_PROGRAMS, *CANNED_PROGRAMS))
def test_rewriting_twice_changes_nothing(repository, name, target):
  folder = repository / "fixtures" / "programs" / name
  text = (folder / f"after_{target}.py").read_text()
  result = rewrite(text, "after.py", Options(target=target))
  assert result.text == text
  assert not result.findings


@pytest.mark.parametrize("target", ["fit", "loop"])
@pytest.mark.parametrize("name", CANNED_PROGRAMS)
def test_no_name_of_an_estimator_is_left(repository, name, target):
  module = Module((repository / "fixtures" / "programs" / name / f"after_{target}.py").read_text())
  assert not [u for u in module.uses() if todo.is_removed(module, u)]
  assert "tf.estimator" not in module.text


@pytest.mark.parametrize("target", ["fit", "loop"])
@pytest.mark.parametrize("name", ESTIMATOR_PROGRAMS)
def test_no_estimator_is_left(repository, name, target):
  text = (repository / "fixtures" / "programs" / name / f"after_{target}.py").read_text()
  module = Module(text)
  assert not [u for u in module.uses() if todo.is_removed(module, u)]
  assert "estimator" not in text.replace("Estimator", "").replace("from migrator", "")


def test_guide_rewritten_keeps_the_finding_of_its_second_fault(repository):
  text = (repository / "fixtures" / "programs" / "tf2_guide" / "before.py").read_text()
  result = rewrite(text, "before.py")
  (dropped,) = [f for f in result.findings if f.code == "EM503"]
  assert "checkpoint.restore(save_path).assert_existing_objects_matched()" in dropped.message
  assert {"EM501", "EM502"} <= {f.code for f in result.findings}
