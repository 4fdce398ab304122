"""Programs around a session, run as they are and with the code that is proposed for their checkpoints.

What the proposal leaves to a person is done here by text: the marked lines of the graph go, a run of
the train op becomes a call of `train_step`.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
import textwrap

import numpy as np
import tensorflow as tf

from migrator.rewrite import sessions
from migrator.runtime import state

GRAPH = """\
import os
import tensorflow.compat.v1 as tf
global_step = tf.train.get_or_create_global_step()  # graph
features = tf.constant([[1.0, 2.0], [3.0, 4.0]])  # graph
kernel = tf.get_variable("dense/kernel", [2, 1], initializer=tf.ones_initializer())  # graph
bias = tf.get_variable("dense/bias", [1], initializer=tf.zeros_initializer())  # graph
loss = tf.reduce_mean(tf.square(tf.matmul(features, kernel) + bias))  # graph
train_op = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss, global_step=global_step)  # graph
"""
SESSION = """\
init = tf.global_variables_initializer()  # graph
with tf.Session() as session:
  session.run(init)  # graph
"""
_REPLACED = re.compile(r"# In place of lines? (\d+)(?:-(\d+))?, ")


def program(text, session=False):
  """The source of a program: the graph, then the text."""
  indent = "  " if session else ""
  body = textwrap.indent(textwrap.dedent(text), indent)
  if not session:
    return GRAPH + body
  saver, rest = body.split("\n", 1)
  return GRAPH + saver.strip() + "\n" + SESSION + rest


def proposal(source):
  """The proposed code of the one unit of a program."""
  (finding,) = sessions.findings(source, "program.py")
  return finding.proposal


def migrated(source):
  """The program as a person makes it from the proposal."""
  setup, replaced = _sections(proposal(source))
  if "session.should_stop()" in source:
    return setup
  lines, skipped = [], 0
  for number, line in enumerate(source.split("\n"), start=1):
    indent = line[: len(line) - len(line.lstrip())]
    if number in replaced:
      skipped, code = replaced[number]
      lines += [indent + part for part in code]
    elif number <= skipped:
      continue
    elif re.match(r"\w+ = tf\.train\.(Saver|Supervisor)\(", line):
      # The loop stays that of the program, which saves in it.
      lines += setup.partition("for batch in dataset:")[0].split("\n")
    elif line.startswith(("with tf.Session()", "with supervisor.managed_session()")):
      lines.append("if True:")
    elif not line.endswith("# graph"):
      lines.append(line.replace("session.run(train_op)", "train_step(None)"))
  return "\n".join(lines)


def _sections(text):
  """The lines before the first replaced line; first replaced line -> the last, the new lines."""
  setup, replaced, current = [], {}, None
  for line in text.split("\n"):
    match = _REPLACED.match(line)
    if match:
      current = []
      replaced[int(match[1])] = int(match[2] or match[1]), current
    elif current is None:
      setup.append(line)
    else:
      current.append(line)
  return "\n".join(setup), replaced


class Outcome:
  """What one run of a program did.

  Attributes:
    saved: names of the checkpoints that it wrote, in order; one that was written again at once counts once.
    files: names of those that are left in the directory.
    listed: names of those in the `checkpoint` file.
    error: the type of the exception with which it ended, or None.
    weights: the kernel at the end.
  """

  def __init__(self, directory, saved, error, weights):
    # A manager does not write one step twice in a row.
    self.saved = [name for name, before in zip(saved, ["", *saved]) if name != before]
    found = [f[: -len(".index")] for f in os.listdir(directory) if f.endswith(".index")]
    self.files = sorted(found, key=lambda name: [int(n) for n in re.findall(r"\d+", name)])
    self.listed = [os.path.basename(p) for p in state.recorded(str(directory))]
    self.error = error
    self.weights = weights


def run_session(source, directory, **names):
  """Runs a program with its session."""
  saved = []
  save = tf.compat.v1.train.Saver.save

  def recording(self, *args, **kwargs):
    path = save(self, *args, **kwargs)
    saved.append(os.path.basename(path))
    return path

  scope = {"DIRECTORY": str(directory), **names}
  error = None
  with _patched(tf.compat.v1.train.Saver, "save", recording), tf.Graph().as_default():
    try:
      exec(compile(source, "program.py", "exec"), scope)
    except Interruption as e:
      error = type(e).__name__
  newest = tf.train.latest_checkpoint(str(directory))
  weights = tf.train.load_variable(newest, "dense/kernel") if newest else None
  return Outcome(directory, saved, error, weights)


def run_without_eager(source, directory, runs):
  """Runs a program in a process of its own, which has TF1's behaviour, with LAST in each run.

  A Supervisor's threads would find themselves in eager mode here.
  """
  code = (
    "import json, sys, tensorflow as tf\n"
    "tf.compat.v1.disable_v2_behavior()\n"
    "from session_programs import run_session\n"
    "source, directory, runs = json.load(sys.stdin)\n"
    "done = [run_session(source, directory, LAST=last) for last in runs]\n"
    "print(json.dumps([[o.saved, o.files, o.listed] for o in done]))\n"
  )
  process = subprocess.run(
    [sys.executable, "-c", code],
    input=json.dumps([source, str(directory), runs]),
    capture_output=True,
    text=True,
    env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    check=False,
  )
  assert process.returncode == 0, process.stderr[-3000:]
  return json.loads(process.stdout.splitlines()[-1])


class Interruption(Exception):
  """What a program is interrupted with."""


def make_model():
  """The model of the programs."""
  model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(1, name="dense")])
  model.get_layer("dense").set_weights([np.ones([2, 1]), np.zeros([1])])
  return model


def load(source, directory):
  """Runs the proposed code of a program that only restores; returns the kernel."""
  model = make_model()
  exec(
    compile(proposal(source), "proposal.py", "exec"), {"DIRECTORY": str(directory), "model": model}
  )
  return model.get_layer("dense").get_weights()[0]


def run_migrated(source, directory, per_batch=1, interrupt_at=None, **names):
  """Runs the program with the proposed code; the directory is that of the session program."""
  saved = []
  write = tf.train.Checkpoint.write

  def recording(self, path, *args, **kwargs):
    saved.append(os.path.basename(path))
    return write(self, path, *args, **kwargs)

  model = make_model()
  optimizer = tf.keras.optimizers.SGD(0.01, momentum=0.9)
  scope = {"DIRECTORY": str(directory), "model": model, "optimizer": optimizer, **names}
  features = tf.constant([[1.0, 2.0], [3.0, 4.0]])

  def train_step(_):
    with tf.GradientTape() as tape:
      loss = tf.reduce_mean(tf.square(model(features, training=True)))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    step = scope["checkpoint"].by_name["global_step"]
    step.assign_add(per_batch)
    if int(step) == interrupt_at:
      raise Interruption

  scope.update(train_step=train_step, dataset=iter(lambda: 0, 1), Interruption=Interruption)
  error = None
  with _patched(tf.train.Checkpoint, "write", recording):
    try:
      exec(compile(migrated(source), "migrated.py", "exec"), scope)
    except Interruption as e:
      error = type(e).__name__
  weights = model.get_layer("dense").get_weights()[0]
  return Outcome(os.path.join(directory, "tf2"), saved, error, weights)


@contextlib.contextmanager
def _patched(owner, name, value):
  old = getattr(owner, name)
  setattr(owner, name, value)
  try:
    yield
  finally:
    setattr(owner, name, old)
