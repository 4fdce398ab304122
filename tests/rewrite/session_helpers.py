"""What the tests of programs around a session share."""

import textwrap

from helpers import run

HEAD = "import os\nimport tensorflow.compat.v1 as tf\n"
TRAINED = """\
global_step = tf.train.get_or_create_global_step()
train_op = tf.train.AdamOptimizer().minimize(loss, global_step=global_step)
"""
SUPERVISED = """\
sv = tf.train.Supervisor(logdir=FLAGS.logdir{arguments})
with sv.managed_session({session}) as s:
  while not sv.should_stop():
    s.run(train_op)
    {save}
"""


def found(text, head=HEAD):
  """The findings about the session units of a program; it is left as it is."""
  source = head + textwrap.dedent(text)
  result = run(source)
  assert result.text == source
  known = [f for f in result.findings if f.code in ("EM417", "EM418")]
  assert result.left >= len(known)
  for finding in known:
    compile(finding.proposal, "proposal", "exec")
  return known


def proposed(text, head=HEAD):
  """The one proposal, with its comments joined."""
  (finding,) = found(text, head)
  return finding.proposal


def comments(proposal):
  """The words of all comments."""
  lines = [line[1:].strip() for line in proposal.split("\n") if line.startswith("#")]
  return " ".join(lines)


def saver(arguments="", save="", restore="pass"):
  body = f"saver = tf.train.Saver({arguments})\nwith tf.Session() as s:\n  {restore}\n"
  return TRAINED + body + f"  for i in range(9):\n    s.run(train_op)\n    {save}\n"


def monitored(arguments, before="", loop="session.run(train_op)\n"):
  head = f"with tf.train.MonitoredTrainingSession({arguments}) as session:\n"
  return f"{before}{head}  while not session.should_stop():\n{textwrap.indent(loop, ' ' * 4)}"
