"""The same name in every spelling; other things with the same name."""

import sys

import pytest

from migrator.lint import engine

TF = "import tensorflow as tf\n"


def _found(text):
  """The findings; the same whether or not the text is gone through whole."""
  found = engine.check_text(text, "a.py")
  gated = engine.examine_bytes(text.encode("utf-8"), "a.py", gate=True).findings
  assert list(gated) == found
  return found


def _places(text):
  return [(f.span.line, f.code) for f in _found(text)]


# Each makes `{name}` of tf.estimator (or of tf.train) in its last line.
_SPELLINGS = [
  TF + "tf.estimator.{name}",
  "import tensorflow\ntensorflow.estimator.{name}",
  "import tensorflow.compat.v1 as tf1\ntf1.estimator.{name}",
  "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\ntf.estimator.{name}",
  "import tensorflow.compat.v2 as tf\ntf.estimator.{name}",
  "import tensorflow.estimator\ntensorflow.estimator.{name}",
  "import tensorflow.estimator as e\ne.{name}",
  "import tensorflow_estimator as te\nte.estimator.{name}",
  "from tensorflow import estimator\nestimator.{name}",
  "from tensorflow import estimator as tf_estimator\ntf_estimator.{name}",
  "from tensorflow import compat\ncompat.v1.estimator.{name}",
  "from tensorflow.compat import v1\nv1.estimator.{name}",
  "from tensorflow.compat.v1 import estimator as tf_estimator\ntf_estimator.{name}",
  "from tensorflow_estimator import estimator\nestimator.{name}",
  TF + "est = tf.estimator\nest.{name}",
  TF + "tf1 = tf.compat.v1\ntf1.estimator.{name}",
  TF + "c = tf.compat\nv = c.v1\ne = v.estimator\ne.{name}",
  TF + "est, train = tf.estimator, tf.train\nest.{name}",
  TF + "est: object = tf.estimator\nest.{name}",
  TF + "if (est := tf.estimator):\n  est.{name}",
  TF + "est = tf.estimator if x else other\nest.{name}",
  TF + "est = x or tf.estimator\nest.{name}",
  TF + "class C:\n  est = tf.estimator\n  def f(self):\n    return self.est.{name}",
  TF + "class C:\n  est = tf.estimator\nC.est.{name}",
  TF
  + "class C:\n  def __init__(self):\n    self.tf = tf\n  def f(self):\n    self.tf.estimator.{name}",
  TF + "def f():\n  global est\n  est = tf.estimator\ndef g():\n  return est.{name}",
  "def f():\n  import tensorflow as tf\n  return tf.estimator.{name}",
  "def f():\n  import tensorflow as tf\n  def g():\n    return tf.estimator.{name}",
  "try:\n  import tensorflow as tf\nexcept ImportError:\n  tf = None\ntf.estimator.{name}",
  "try:\n  import tensorflow.compat.v1 as tf\nexcept ImportError:\n  import tensorflow as tf\ntf.estimator.{name}",
  "import importlib\ntf = importlib.import_module('tensorflow')\ntf.estimator.{name}",
  "import importlib\ntf = importlib.import_module('tensorflow.compat.v1')\ntf.estimator.{name}",
  "import importlib\ne = importlib.import_module('.estimator', 'tensorflow')\ne.{name}",
  "from importlib import import_module as load\nload('tensorflow').estimator.{name}",
  "tf = __import__('tensorflow')\ntf.estimator.{name}",
  "import pytest\ntf = pytest.importorskip('tensorflow')\ntf.estimator.{name}",
  TF + "getattr(tf, 'estimator').{name}",
  TF + "getattr(tf.estimator, '{name}')",
  TF + "getattr(getattr(tf, 'estimator'), '{name}')",
  TF + "f = lambda: tf.estimator.{name}",
  TF + "x = [tf.estimator.{name} for y in z]",
  TF + "x = {{k: tf.estimator.{name} for k in z if k}}",
  TF + "(tf\n  .estimator\n  .{name})",
  TF + "tf.estimator. \\\n  {name}",
  TF + "x = f'{{tf.estimator.{name}!r}}'",
  TF + "x = f'''\n  {{y:{{tf.estimator.{name}}}}}'''",
  TF + "def f(x: tf.estimator.{name}):\n  pass",
  TF + "def f(x: 'tf.estimator.{name}'):\n  pass",
  TF + "def f() -> 'tf.estimator.{name}':\n  pass",
  TF + "def f(x: Optional['tf.estimator.{name}'] = None):\n  pass",
  TF + "x: 'Dict[str, tf.estimator.{name}]' = {{}}",
  TF + "x = typing.cast('tf.estimator.{name}', y)",
  TF + "x = None  # type: tf.estimator.{name}",
  TF + "def f(x):\n  # type: (tf.estimator.{name}) -> None\n  pass",
  TF + "async def f():\n  return await x(tf.estimator.{name})",
  TF + "@d(tf.estimator.{name})\ndef f():\n  pass",
  TF + "del tf.estimator.{name}.x",
  TF + "tf.estimator.{name}.x = y",
  TF + "tf.estimator.{name}\ndel tf",
]


def test_a_name_behind_a_star_is_spelled_out_only_where_it_is_short():
  [_, short] = engine.check_text("from tensorflow.estimator import *\nRunConfig()\n", "a.py")
  assert short.message.startswith("`RunConfig` is probably `tf.estimator.RunConfig`: ")
  [long] = engine.check_text("from common import *\nx = tf.estimator.RunConfig\n", "a.py")
  assert long.message.startswith("`tf.estimator.RunConfig` is probably TensorFlow's: ")


@pytest.mark.parametrize("spelling", _SPELLINGS)
@pytest.mark.parametrize(
  ("name", "code"), [("ModeKeys", "EM229"), ("EstimatorSpec", "EM230"), ("LatestExporter", "EM603")]
)
def test_a_name_is_found_in_every_spelling(spelling, name, code):
  text = spelling.format(name=name) + "\n"
  codes = [f.code for f in _found(text)]
  assert codes.count(code) == 1
  # Besides it: the module, where that has a name of its own, and the switch to TF1.
  assert set(codes) <= {code, "EM216", "EM217"}


@pytest.mark.parametrize(
  "statement",
  [
    "from tensorflow.estimator import ModeKeys",
    "from tensorflow.estimator import ModeKeys as M",
    "from tensorflow.estimator import (\n  RunConfig,\n  ModeKeys,\n)",
    "from tensorflow.compat.v1.estimator import ModeKeys",
    "from tensorflow_estimator.estimator import ModeKeys",
    "from tensorflow_estimator.compat.v1.estimator import ModeKeys",
    "if x:\n  from tensorflow.estimator import ModeKeys",
    "try:\n  from tensorflow.estimator import ModeKeys\nexcept ValueError:\n  pass",
    "def f():\n  from tensorflow.estimator import ModeKeys",
    "class C:\n  from tensorflow.estimator import ModeKeys",
  ],
)
def test_a_name_is_found_where_it_is_imported(statement):
  assert [f.code for f in _found(statement + "\n")].count("EM229") == 1


@pytest.mark.parametrize(
  ("text", "places"),
  [
    ("from tensorflow import *\nx = estimator.RunConfig()\n", [(2, "EM904")]),
    ("from tensorflow import *\nx = train.Saver(), train.Checkpoint()\n", [(2, "EM904")]),
    ("from tensorflow.compat.v1 import *\ndef f():\n  return train.Saver()\n", [(3, "EM904")]),
    ("from tensorflow.train import *\nSaver()\nCheckpoint()\nAdamOptimizer()\n",
     [(2, "EM904"), (4, "EM904")]),
    ("from tensorflow.compat.v1.train import *\nSaver()\nAdamOptimizer()\n", [(2, "EM904")]),
    ("from tensorflow.estimator import *\nRunConfig()\n", [(1, "EM216"), (2, "EM904")]),
    ("from tensorflow.contrib.slim import *\nconv2d(x)\nother(x)\n",
     [(1, "EM901"), (2, "EM904")]),
    ("from tensorflow_estimator.python.estimator.run_config import *\nRunConfig()\n",
     [(1, "EM902"), (2, "EM904")]),
    ("from tensorflow.python.training.saver import *\nSaver()\n", [(1, "EM902"), (2, "EM904")]),
    ("from tensorflow.estimator import *\nclass RunConfig: ...\nRunConfig()\n", [(1, "EM216")]),
    ("from tensorflow.estimator import *\ndef f(RunConfig):\n  RunConfig()\n", [(1, "EM216")]),
    ("from tensorflow.keras.layers import *\nDense(1)\n", []),
    ("from common import *\ntf.estimator.RunConfig(save_checkpoints_steps=1)\n", [(2, "EM904")]),
    ("from .common import *\ndef f():\n  return tf.train.Saver()\n", [(3, "EM904")]),
    ("from common import *\ntf.train.AdamOptimizer()\ntf.keras.Model()\n", []),
    ("from common import *\nimport numpy as tf\ntf.train.Saver()\n", []),
    ("from common import *\ndef f(tf):\n  return tf.train.Saver()\n", []),
    ("from torch import *\nestimator.RunConfig()\n", []),
    ("from .estimator import *\nRunConfig()\n", []),
  ],
)  # fmt: skip
def test_star_imports_are_uncertain(text, places):
  assert _places(text) == places


@pytest.mark.parametrize(
  "text",
  [
    "from sklearn.base import BaseEstimator as estimator\nestimator.RunConfig()\n",
    "from sagemaker.tensorflow import TensorFlow\nestimator = TensorFlow()\nestimator.fit()\n",
    "from sagemaker import estimator\nestimator.Estimator(image)\n",
    "from ray import train, tune\ntrain.RunConfig()\ntune.RunConfig()\n",
    "from ray.train import RunConfig, Checkpoint\nRunConfig(checkpoint_config=c)\n",
    "from azureml.core.runconfig import RunConfiguration as RunConfig\nRunConfig()\n",
    "import torch.train as train\ntrain.Saver()\n",
    "from pytorch_lightning import estimator\nestimator.ModeKeys.TRAIN\n",
    "class RunConfig:\n  pass\nRunConfig(save_checkpoints_steps=1, save_checkpoints_secs=1)\n",
    "class tf:\n  estimator = 1\ntf.estimator.RunConfig()\n",
    "def tf():\n  pass\ntf.estimator.RunConfig()\n",
    TF + "def f(tf):\n  return tf.estimator.RunConfig()\n",
    TF + "def f(x):\n  def g(tf):\n    return tf.estimator.RunConfig()\n",
    TF + "f = lambda tf: tf.estimator.RunConfig()\n",
    TF + "x = [tf.estimator.RunConfig() for tf in y]\n",
    TF + "for tf in y:\n  tf.estimator.RunConfig()\n",
    TF + "tf = other\ntf.estimator.RunConfig()\n",
    TF + "tf = other\ndef f():\n  return tf.estimator.RunConfig()\n",
    TF + "def f():\n  tf = other\n  return tf.estimator.RunConfig()\n",
    TF + "class C:\n  est = other\n  def f(self):\n    return self.est.RunConfig()\n",
    TF + "x = 'tf.estimator.RunConfig'\ny = b'tf.estimator'\n",
    TF + '"""tf.estimator.RunConfig()"""\n# tf.estimator.RunConfig()\n',
    TF + "def f():\n  '''See tf.estimator.RunConfig.\n\n  # type: tf.estimator.RunConfig\n  '''\n",
    TF + "print('tf.estimator.RunConfig is gone')\nx = {'k': 'tf.estimator.RunConfig'}\n",
    TF + "x: Literal['tf.estimator.RunConfig'] = 1\n",
    TF + "x = 1  # type: ignore\ny = 1  # type: int\n",
    TF + "hasattr(tf, 'estimator')\n",
    TF + "tf.train.Checkpoint(m=m)\ntf.train.latest_checkpoint(d)\ntf.train.Coordinator()\n",
    TF + "tf.compat.v1.train.AdamOptimizer()\ntf.compat.v1.train.get_global_step()\n",
    "import tensorflow.compat.v1 as tf\ntf.train.exponential_decay(1, s, 2, 3)\n",
    "import tf_slim as slim\nslim.conv2d(x)\n",
    "import tensorflow.keras as keras\nkeras.Model()\nkeras.callbacks.TensorBoard()\n",
  ],
)
def test_other_things_with_the_same_name_are_no_finding(text):
  assert _found(text) == []


def test_case_01_private_paths_name_what_is_public():
  text = """from tensorflow.python.estimator import gc
from tensorflow.python.estimator.run_config import RunConfig
from tensorflow_estimator.python.estimator.canned.dnn import DNNClassifierV2 as D
from tensorflow.python.training import session_run_hook
import tensorflow.python.training.checkpoint_management as management
config = RunConfig(save_checkpoints_steps=50)
"""
  found = _found(text)
  assert [(f.span.line, f.code) for f in found] == [
    *((line, "EM902") for line in range(1, 6)),
    (6, "EM101"),
  ]
  for finding, words in zip(
    found,
    [
      "(it has no public name)",
      "(public: `tf.estimator.RunConfig`)",
      "(public: `tf.estimator.DNNClassifier`)",
      "(its names are public in `tf.train`)",
      "(its names are public in `tf.train`)",
    ],
  ):
    assert words in finding.message
  assert "a checkpoint every 50 steps" in found[-1].message


@pytest.mark.parametrize(
  "base",
  [
    "tf.train.SessionRunHook",
    "tf.estimator.SessionRunHook",
    "tf.compat.v1.train.SessionRunHook",
    "tf.compat.v1.estimator.SessionRunHook",
    "session_run_hook.SessionRunHook",
    "basic_session_run_hooks.LoggingTensorHook",
    "Base",
    "Alias",
    "getattr(tf.train, 'SessionRunHook')",
  ],
)
def test_case_02_a_hook_through_every_base(base):
  head = """import tensorflow as tf
from tensorflow.python.training import session_run_hook, basic_session_run_hooks
class Base(tf.train.SessionRunHook): ...
Alias = Base
"""
  assert _places(f"{head}class A({base}): ...\n")[-1] == (5, "EM301")


def test_case_66_new_syntax():
  text = (
    TF
    + """async def save(): return tf.train.Saver()
if (n := 3) > 2: s = tf.train.Saver(max_to_keep=n)
print(f"{tf.train.SessionRunHook.__name__}")
async with a as b, c as d: tf.train.Saver(max_to_keep=n)
"""
  )
  places = [(2, "EM401"), (3, "EM401"), (4, "EM301")]
  assert _places(text.replace("async with a as b, c as d: ", "")) == [*places, (5, "EM401")]
  if sys.version_info >= (3, 10):
    text = TF + "match n:\n  case tf.train.Saver(): pass\n  case 3: tf.train.Saver()\n"
    assert _places(text) == [(3, "EM401"), (4, "EM401")]


@pytest.mark.parametrize(
  ("statement", "use"),
  [
    ("from tensorflow.contrib.learn import RunConfig", "RunConfig"),
    ("import tensorflow.contrib.learn as learn", "learn.RunConfig"),
    ("from tensorflow.contrib import learn as contrib_learn", "contrib_learn.RunConfig"),
    ("import tensorflow.contrib as contrib", "contrib.learn.RunConfig"),
    ("from tensorflow import contrib", "contrib.learn.RunConfig"),
    ("import tensorflow as tf", "tf.contrib.learn.RunConfig"),
    ("import tensorflow.contrib.tpu as contrib_tpu", "contrib_tpu.RunConfig"),
  ],
)
def test_case_68_a_contrib_run_config_is_read_like_the_other(statement, use):
  found = _found(f"{statement}\nc = {use}(save_checkpoints_steps=7, keep_checkpoint_max=3)\n")
  assert [f.code for f in found if f.span.line == 2] == ["EM101"]
  assert "every 7 steps" in found[-1].message and "keep_checkpoint_max=3" in found[-1].message
  assert {f.code for f in found if f.span.line == 1} <= {"EM901"}


def test_replacements_are_the_text_of_the_span():
  text = TF + "import tensorflow.compat.v1 as v1\nr = tf.train.NewCheckpointReader(p).x\n"
  text += "m = v1.estimator.ModeKeys.PREDICT\n"
  found = {f.code: f for f in _found(text)}
  assert found["EM604"].replacement == "tf.train.load_checkpoint"
  assert found["EM229"].replacement == '"infer"'


def test_columns_of_names_in_strings_and_comments():
  text = TF + "def f(é, x: 'tf.estimator.Head'):\n  y = 'é'  # type: tf.estimator.Head\n"
  spans = [(f.span.column, f.span.end_column, f.source) for f in _found(text)]
  assert [source[first:last] for first, last, source in spans] == ["tf.estimator.Head"] * 2


@pytest.mark.parametrize(
  ("module", "name"),
  [
    ("tensorflow.python.framework.ops", "disable_eager_execution"),
    ("tensorflow.python.compat.v2_compat", "disable_v2_behavior"),
  ],
)
def test_switches_to_the_behaviour_of_tf1_by_their_private_paths(module, name):
  assert _places(f"from {module} import {name}\n{name}()\n") == [(1, "EM902"), (2, "EM217")]
  assert _places(f"from {module} import convert_to_tensor\n") == []
