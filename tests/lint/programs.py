"""Random programs that use TensorFlow's names in ways that make reading only parts of them hard."""

import random

_IMPORTS = (
  "import tensorflow as tf",
  "import tensorflow.compat.v1 as tf",
  "import os, tensorflow as tf, sys",
  "import numpy as np; import tensorflow as tf",
  "try:\n  import tensorflow.compat.v1 as tf\nexcept ImportError:\n  import tensorflow as tf",
  "import tensorflow as tf\nfrom tensorflow import estimator as est",
  "import tensorflow as tf\nfrom tensorflow.contrib import (\n  slim,  # (layers\n  learn as est,\n)",
  "import tensorflow as tf\nest = tf.estimator",
  "import tensorflow as tf\ntrain, est = tf.train, tf.estimator",
  "import tensorflow as tf\ntf1 = tf.compat.v1\nest = (\n  tf1.estimator\n)",
  "import tensorflow as tf\nest = tf.estimator if tf.__version__ else None",
  "from tensorflow \\\n  import estimator as est, train \\\n  as own\nimport tensorflow as tf",
  "from tensorflow.python.training import session_run_hook as est\nimport tensorflow as tf",
  "import tensorflow as tf\nclass Names:\n  est = tf.estimator\n  other = 1\nest = Names.est",
  "from tensorflow.keras import estimator as est\nimport tensorflow as tf",
  "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  import tensorflow as tf",
  "import importlib\ntf = importlib.import_module('tensorflow')",
  "from tensorflow import *\nimport tensorflow as tf",
  "def load():\n  global tf\n  import tensorflow as tf\nload()",
)
_SIMPLE = (
  "x = tf.train.Saver()",
  "x = est.RunConfig(save_checkpoints_steps=STEPS)",
  "config = tf.estimator.RunConfig(save_checkpoints_secs=60, keep_checkpoint_max=0)",
  "config = tf.estimator.RunConfig(**options)",
  "config = None",
  "classifier = tf.estimator.DNNClassifier([4], [], config=config)",
  "classifier = est.Estimator(model_fn, config=self.config)",
  "self.config = tf.estimator.RunConfig(save_checkpoints_steps=5)",
  "self.config = make_config()",
  "options['save_checkpoints_steps'] = 3",
  "options = dict(save_checkpoints_steps=10)",
  "mode = tf.estimator.ModeKeys.TRAIN",
  "y = mode == tf.estimator.ModeKeys.EVAL",
  "y = [tf\n  .estimator\n  .ModeKeys.TRAIN,\n0]",
  "y = (tf).train.latest_checkpoint(model_dir)",
  "est2 = est",
  "z = est2.ModeKeys",
  "s = f'{tf.train.Saver} and text'",
  "s = '''\ndef quoted():\n  tf.train.Saver()\n'''",
  's = """\nclass Quoted(object):\n  x = 1\n""" + str(x)',
  "hook = getattr(tf.train, 'StopAtStepHook')(5)",
  "run(lambda e=tf.estimator: e.inputs)",
  "if (e := tf.estimator):\n  e.RunConfig()",
  "if hasattr(tf, 'estimator'):\n  tf.estimator.RunConfig()",
  "tf = None",
  "del x",
  "x: 'tf.estimator.RunConfig' = None",
  "x = None  # type: tf.estimator.Estimator",
  "# tf.train.Saver",
  "print('nothing here')",
  "value = compute(1,\n  2)",
  "with open('f') as f:\n  data = f.read()\nclose()",
  "for i in range(3):\n  tf.estimator.RunConfig()",
  "os.environ['TF_CONFIG'] = '{}'",
  "tf.summary.scalar('a', 1)",
  "tf.keras.layers.Dense(4)",
  "return x",
)
_BASES = ("object", "tf.train.SessionRunHook", "Base", "est.Estimator", "Kind0", "Kind1")
_DECORATORS = ("", "", "@staticmethod\n", "@decorate(\n  1,\n)\n", "@tf.function\n")


def program(seed: int) -> str:
  """The text of one program; always the same for a seed."""
  return _Writer(random.Random(seed)).program()


class _Writer:
  def __init__(self, chance: random.Random):
    self._chance = chance
    self._indent = chance.choice(("  ", "    ", "\t"))
    self._names = 0

  def program(self) -> str:
    chance = self._chance
    parts = [chance.choice(_IMPORTS), "STEPS = 100", "options = {}", "model_dir = '/tmp/model'"]
    if chance.random() < 0.3:
      parts.insert(0, '"""Uses tf.estimator:\n\ndef example():\n  tf.train.Saver()\n"""')
    for _ in range(chance.randint(1, 7)):
      parts.append(self._top())
    if chance.random() < 0.05:
      parts.insert(2, "\fx = 1")
    text = "\n".join(part for part in parts) + "\n"
    if chance.random() < 0.1:
      text = text.replace("\n", "\r\n")
    return text

  def _top(self) -> str:
    kind = self._chance.random()
    if kind < 0.4:
      return self._function("")
    if kind < 0.8:
      return self._class()
    return self._statement(top=True)

  def _statement(self, top: bool = False) -> str:
    choices = [s for s in _SIMPLE if not (top and ("self" in s or s == "return x"))]
    return self._chance.choice(choices)

  def _block(self, depth: int = 0) -> str:
    lines = []
    if self._chance.random() < 0.2:
      lines.append('"""Says tf.estimator.RunConfig.\n\n# a comment\n"""')
    for _ in range(self._chance.randint(1, 4)):
      if depth < 2 and self._chance.random() < 0.15:
        lines.append(self._function("", depth + 1))
      else:
        lines.append(self._statement())
    return self._shift("\n".join(lines))

  def _shift(self, text: str) -> str:
    """One level deeper; the lines of strings and brackets may stay at the left edge."""
    result = []
    quoted = ""
    for line in text.split("\n"):
      result.append(line if quoted else self._indent + line)
      for quotes in ("'''", '"""'):
        if line.count(quotes) % 2 and quoted in ("", quotes):
          quoted = "" if quoted else quotes
    return "\n".join(result)

  def _name(self) -> int:
    self._names += 1
    return self._names

  def _function(self, receiver: str, depth: int = 0) -> str:
    head = self._chance.choice(("def", "def", "def", "async def"))
    parameters = self._chance.choice(
      ("", "mode=None", "tf", "mode=tf.estimator.ModeKeys.TRAIN", "\n  first,\n  *rest,\n")
    )
    parameters = ", ".join(p for p in (receiver, parameters) if p)
    name = self._chance.choice((f"function{self._name()}", "make_config"))
    decorator = self._chance.choice(_DECORATORS)
    return f"{decorator}{head} {name}({parameters}):\n{self._block(depth)}"

  def _class(self) -> str:
    base = self._chance.choice(_BASES)
    base = self._chance.choice((base, f"\n  {base},\n"))
    members = [f"attribute = {self._chance.choice(('1', 'tf.estimator', 'None'))}"]
    for _ in range(self._chance.randint(0, 4)):
      members.append(self._function("self"))
    if self._chance.random() < 0.2:
      members.append(f"class Inner({self._chance.choice(_BASES)}):\n{self._indent}pass")
    body = self._shift("\n".join(members))
    return f"class Kind{self._chance.randint(0, 3)}({base}):\n{body}"
