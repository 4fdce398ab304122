"""Hooks with a Saver that stay: the finding says what they do with it."""

import pytest
from helpers import HEAD, NEW, left_whole


@pytest.mark.parametrize(
  ("variables", "use", "said"),
  [
    ("", "self.saver.save(session, 'best')", "saves all variables"),
    ("", "self.saver.restore(session, 'old')", "restores all variables"),
    ("", "a = self.saver.save, self.saver.restore", "saves and restores all variables"),
    ("", "keep(self.saver)", "makes a Saver of all variables"),
    ("[v]", "self.saver.save(session, 'best')", "saves [v]"),
  ],
)
def test_what_a_hook_does_with_its_saver_is_said(variables, use, said):
  hook = (
    "\nclass Best(tf1.train.SessionRunHook):\n    def begin(self):\n"
    f"        self.saver = tf1.train.Saver({variables})\n"
    f"    def after_create_session(self, session, coord):\n        {use}\n\n"
  )
  source = HEAD + hook + NEW + "e.train(input_fn, max_steps=10, hooks=[Best()])\n"
  assert said in left_whole(source, "EM302")
