"""Savers whose paths change with each save, or are not known where the Saver is made."""

import pytest
from session_helpers import comments, proposed, saver

HOOK = """\
class Best(tf.train.SessionRunHook):
  def __init__(self, model):
    self._saver = tf.train.Saver(max_to_keep=model.params["keep"])

  def after_run(self, run_context, run_values):
    total = evaluate(run_context.session)
    if total < self._best:
      self._saver.save(run_context.session, {path}, global_step=step + 1)
"""


@pytest.mark.parametrize(
  "path",
  [
    'os.path.join(DIR, "loss={{:.4f}}".format(total))',
    'DIR + "/loss=%.2f" % total',
    'f"b/{total}"',
  ],
)
def test_a_name_that_changes_with_each_save_is_written_without_a_manager(path):
  path = path.replace("{{", "{").replace("}}", "}")
  code = proposed(HOOK.replace("{path}", path))
  assert "CheckpointManager" not in code
  written = code.partition(".write(")[2]
  assert "total" in written
  assert "int(step + 1))" in written
  said = comments(code)
  assert "line 10: the name changes with each save (`total`), which no manager can do" in said
  assert 'The Saver kept the newest `model.params["keep"]`'.replace("`", "") in said
  assert "only if `total < self._best`" in said


@pytest.mark.parametrize(
  ("name", "changes"),
  [('"logs/%s" % part', True), ("os.path.join(DIR, part)", True), ('"a/m"', False)],
)
def test_a_name_of_each_round_is_written_without_a_manager(name, changes):
  text = f"saver = tf.train.Saver()\nfor part in parts:\n  saver.save(s, {name}, global_step=9)\n"
  code = proposed(text)
  assert ("CheckpointManager" not in code) is changes
  assert ("the name changes" in comments(code)) is changes


def test_a_saver_that_kept_all_leaves_nothing_to_delete():
  text = HOOK.replace("{path}", 'f"b/{total}"').replace('model.params["keep"]', "None")
  assert "which no manager can do. The Saver kept all of them." in comments(proposed(text))


def test_a_directory_that_is_put_together_again_in_each_round_is_one():
  text = (
    "saver = tf.train.Saver()\nfor i in n:\n  logs = os.path.join(DIR, 'a')\n"
    "  saver.save(s, os.path.join(logs, 'm'), global_step=i)\n"
  )
  code = proposed(text)
  assert 'os.path.join(logs, "tf2")' in code
  assert "changes" not in comments(code)


def test_a_directory_that_only_the_saving_function_knows_is_said():
  text = """\
    class Model:
      def __init__(self):
        self.saver = tf.train.Saver()
      def save(self, s, directory, step):
        self.saver.save(s, os.path.join(directory, "m"), global_step=step)
    """
  assert "line 7: `directory` is known there only: the manager" in comments(proposed(text))


def test_a_path_that_is_known_where_the_saver_is_made_is_no_question():
  said = comments(proposed(saver(save='saver.save(s, FLAGS.dir + "/m", global_step=i)')))
  assert "is known there only" not in said
  assert "changes" not in said


def test_a_program_that_went_on_without_a_checkpoint_asks_first():
  text = """\
    def restore(s, saver):
      state = tf.train.get_checkpoint_state(FLAGS.directory_of_all_the_checkpoints_of_the_training)
      if not state:
        return False
      saver.restore(s, state.model_checkpoint_path)
      return True

    restore(s, tf.train.Saver())
    saver = tf.train.Saver()
    """
  code = proposed(text)
  directory = "FLAGS.directory_of_all_the_checkpoints_of_the_training"
  assert f"ask `if tf.train.latest_checkpoint({directory}):` first" in comments(code)
  assert f'newest = tf.train.latest_checkpoint(os.path.join({directory}, "tf2"))' in code
  assert "restore(newest)" in code
  by_path = 'saver = tf.train.Saver()\nsaver.restore(s, "logs/m-3")\n'
  assert "Without a checkpoint" not in proposed(by_path)


def test_a_comment_that_makes_a_line_too_long_stands_above():
  path = "os.path.join(FLAGS.the_directory_of_all_checkpoints, FLAGS.the_name_of_the_checkpoint)"
  code = proposed(f"saver = tf.train.Saver()\nsaver.restore(s, {path})\n")
  assert f"# Of the old program:\nruntime.load_tf1_checkpoint(model, {path})\n" in code
