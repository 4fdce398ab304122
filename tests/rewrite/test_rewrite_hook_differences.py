"""Each difference that the tables of the hook programs leave out is one that the rewrite reports."""

import pytest

from migrator.rewrite.engine import Options, rewrite

ALLOWED = {
  "hooks_built_in": {"EM306": "once more", "EM323": "the last step; TF1 computed"},
  "hooks_evaluate": {"EM313": ""},
  "hooks_listeners": {"EM306": "once more", "EM316": "", "EM319": ""},
  "hooks_observers": {"EM306": "once more", "EM311": ""},
  "hooks_saver": {"EM316": ""},
  "hooks_sessions": {"EM306": "once more", "EM311": "", "EM313": ""},
  "hooks_stopping": {"EM306": "once more", "EM316": ""},
}


def findings(repository, program, target):
  path = repository / "fixtures" / "programs" / program / "before.py"
  return rewrite(path.read_text(), "before.py", Options(target=target)).findings


@pytest.mark.parametrize("target", ["fit", "loop"])
@pytest.mark.parametrize("program", ALLOWED)
def test_difference_that_a_table_leaves_out_is_reported(repository, program, target):
  found = findings(repository, program, target)
  for code, words in ALLOWED[program].items():
    assert [f for f in found if f.code == code and words in f.message], code


def test_end_of_data_that_a_hook_raises_is_reported_where_it_ends_no_training(repository):
  loop = {f.code for f in findings(repository, "hooks_stopping", "loop")}
  fit = {f.code for f in findings(repository, "hooks_stopping", "fit")}
  assert loop - fit == {"EM329"}


def test_failure_of_what_is_fetched_after_the_last_batch_is_reported(repository):
  found = findings(repository, "hooks_built_in", "fit")
  named = [f.message for f in found if f.code == "EM323" and "OutOfRangeError" in f.message]
  assert [message.split(":")[0] for message in named] == ["`FinalOpsHook`", "`LoggingTensorHook`"]


@pytest.mark.parametrize("program", ["hooks_files", "hooks_early_stopping"])
def test_nothing_is_reported_that_a_table_does_not_leave_out(repository, program):
  codes = {f.code for f in findings(repository, program, "fit")}
  assert not codes & {"EM306", "EM313", "EM316", "EM319", "EM323", "EM329"}
