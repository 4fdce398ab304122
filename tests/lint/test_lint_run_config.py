"""RunConfig: the policy in words, and a fate for every keyword."""

import json
import pathlib

import pytest

from migrator.analysis import facts
from migrator.lint import engine

FIELDS = json.loads(pathlib.Path(__file__).with_name("run_config_fields.json").read_text())
# Not about the policy or the session: these simply carry over, or have a rule that needs a value.
CARRIED_OVER = {
  "model_dir",
  "save_summary_steps",
  "save_checkpoints_steps",
  "save_checkpoints_secs",
  "keep_checkpoint_max",
  "log_step_count_steps",
}
OWN_RULE = {
  "tf_random_seed": "EM111",
  "keep_checkpoint_every_n_hours": "EM108",
  "train_distribute": "EM107",
  "eval_distribute": "EM107",
  "experimental_distribute": "EM107",
}


def _lint(arguments, head=""):
  text = f"import tensorflow as tf\n{head}config = tf.estimator.RunConfig({arguments})\n"
  return engine.check_text(text, "a.py")


def _codes(arguments, head=""):
  return [f.code for f in _lint(arguments, head)]


def _policy(arguments, head=""):
  found = [f for f in _lint(arguments, head) if f.code == "EM101"]
  assert len(found) == 1
  return found[0].message.partition("here it asks for ")[2].rstrip(".")


@pytest.mark.parametrize("version", sorted(FIELDS))
def test_the_parameters_are_those_of_tensorflow(version):
  """The recorded signatures: make_run_config_fields.py, run on TF 1.15 and 2.15."""
  assert list(facts.RUN_CONFIG_PARAMETERS[: len(FIELDS[version])]) == FIELDS[version]


@pytest.mark.parametrize("keyword", FIELDS["2.15"])
def test_every_keyword_has_a_fate(keyword):
  codes = _codes(f"save_checkpoints_steps=5, {keyword}=value", "value = f()\n")
  if keyword == "save_checkpoints_steps":
    codes = _codes("save_checkpoints_steps=5")
  if keyword in CARRIED_OVER:
    assert set(codes) <= {"EM101", "EM105"}
  else:
    assert sorted(codes) == ["EM101", OWN_RULE.get(keyword, "EM106")]


def test_an_argument_that_run_config_lacks():
  found = _lint("save_checkpoint_steps=5")
  assert "`save_checkpoint_steps`" in next(f.message for f in found if f.code == "EM106")


@pytest.mark.parametrize(
  ("arguments", "policy"),
  [
    ("save_checkpoints_steps=1", "a checkpoint at every step, keep_checkpoint_max=5"),
    (
      "save_checkpoints_steps=100",
      "a checkpoint every 100 steps and at the first and last step, keep_checkpoint_max=5",
    ),
    (
      "save_checkpoints_secs=20*60, keep_checkpoint_max=10",
      "a checkpoint every 1200 seconds and at the first and last step, keep_checkpoint_max=10",
    ),
    (
      "",
      "the default of a checkpoint every 600 seconds and at the first and last step, "
      "keep_checkpoint_max=5",
    ),
    (
      "None, None, 100, 7, keep_checkpoint_max=0",
      "a checkpoint every 7 steps and at the first and last step, keep_checkpoint_max=0 (all)",
    ),
    (
      "save_checkpoints_steps=FLAGS.steps, keep_checkpoint_max=None",
      "a checkpoint every `FLAGS.steps` steps and at the first and last step, "
      "keep_checkpoint_max=None (all)",
    ),
    ("save_checkpoints_steps=None", "no checkpoint at all"),
    ("save_checkpoints_secs=0", "no checkpoint at all"),
    ("**options()", "a checkpoint policy that cannot be read here"),
  ],
)
def test_the_policy_in_words(arguments, policy):
  assert _policy(arguments) == policy


def test_a_constant_is_followed():
  assert "every 50 steps" in _policy("save_checkpoints_steps=EVERY", "EVERY = 5 * 10\n")


@pytest.mark.parametrize(
  ("arguments", "codes"),
  [
    ("save_checkpoints_steps=5, save_checkpoints_secs=6", ["EM101", "EM102"]),
    ("save_checkpoints_steps=5, save_checkpoints_secs=None", ["EM101"]),
    ("save_checkpoints_steps=5, save_checkpoints_secs=seconds", ["EM101", "EM105"]),
    ("save_checkpoints_steps=None, save_checkpoints_secs=None", ["EM101", "EM103"]),
    ("save_checkpoints_steps=0", ["EM101", "EM103"]),
    ("save_checkpoints_steps=steps", ["EM101"]),
    ("", ["EM101", "EM110"]),
    ("keep_checkpoint_max=None, save_checkpoints_steps=5", ["EM101", "EM104"]),
    ("keep_checkpoint_max=1, save_checkpoints_steps=5", ["EM101"]),
    ("session_config=None, device_fn=None, save_checkpoints_steps=5", ["EM101"]),
    ("**options", ["EM101", "EM109"]),
  ],
)
def test_cadences(arguments, codes):
  head = "def f(seconds, steps, options):\n  pass\nseconds = f()\nsteps = f()\n"
  assert sorted(_codes(arguments, head)) == codes


@pytest.mark.parametrize(
  ("arguments", "words"),
  [
    ("save_checkpoints_steps=-1", "`save_checkpoints_steps=-1` raises ValueError"),
    ("save_checkpoints_secs=-5", "`save_checkpoints_secs=-5` raises ValueError"),
    ("save_checkpoints_steps='5'", "`save_checkpoints_steps='5'` raises TypeError"),
    ("keep_checkpoint_max=-1", "`keep_checkpoint_max=-1` raises ValueError"),
    ("keep_checkpoint_max=2.5", "`keep_checkpoint_max=2.5` raises TypeError when"),
    ("keep_checkpoint_every_n_hours=0", "`keep_checkpoint_every_n_hours=0` raises ValueError"),
    ("log_step_count_steps=0", "`log_step_count_steps=0` raises ValueError"),
    ("save_checkpoints_steps=2.5, save_summary_steps=0", ""),
    ("log_step_count_steps=None, keep_checkpoint_max=3", ""),
  ],
)
def test_values_that_are_refused(arguments, words):
  found = [f.message for f in _lint(arguments) if f.code == "EM113"]
  assert [m.startswith(words) for m in found] == ([True] if words else [])


@pytest.mark.parametrize(
  ("arguments", "codes"),
  [
    ("save_checkpoints_steps=None", ["EM110"]),
    ("save_checkpoints_secs=0", ["EM110"]),
    ("save_checkpoints_secs=None", ["EM103"]),
    ("save_checkpoints_steps=0", ["EM103"]),
    ("None, 0, False, 1, 7, 100, 60", ["EM105"]),
    ("save_checkpoints_steps=5, save_checkpoints_secs=6", ["EM102"]),
  ],
)
def test_contrib_learn_has_rules_of_its_own(arguments, codes):
  text = f"from tensorflow.contrib.learn import RunConfig\nc = RunConfig({arguments})\n"
  found = engine.check_text(text, "a.py")
  assert [f.code for f in found if f.code.startswith("EM10") and f.code != "EM101"] + [
    f.code for f in found if f.code == "EM110"
  ] == codes


def test_case_68_the_cadence_of_contrib_s_run_configs():
  text = """
from tensorflow.contrib.learn import RunConfig
import tensorflow.contrib.tpu as contrib_tpu
cfg = RunConfig(save_checkpoints_secs=60, keep_checkpoint_max=3)
tpu_cfg = contrib_tpu.RunConfig(save_checkpoints_steps=100)
"""
  found = [f.message for f in engine.check_text(text, "a.py") if f.code == "EM101"]
  assert found == [
    "`tf.contrib.learn.RunConfig` is not in TF 2.0 and later; here it asks for a checkpoint every "
    "60 seconds and at the first and last step, keep_checkpoint_max=3.",
    "`tf.contrib.tpu.RunConfig` is not in TF 2.0 and later; here it asks for a checkpoint every "
    "100 steps and at the first and last step, keep_checkpoint_max=5.",
  ]


def test_case_22_a_dict_with_a_platform_default():
  text = """
import tensorflow as tf
base = dict(save_checkpoints_secs=300)
cfg = tf.estimator.RunConfig(**{**base, "save_checkpoints_steps": 100})
ok = tf.estimator.RunConfig(save_checkpoints_secs=None, save_checkpoints_steps=100)
off = tf.estimator.RunConfig(save_checkpoints_steps=None, save_checkpoints_secs=None)
"""
  found = engine.check_text(text, "a.py")
  assert [(f.code, f.span.line) for f in found if f.code in ("EM102", "EM103")] == [
    ("EM102", 4),
    ("EM103", 6),
  ]
  conflict = next(f for f in found if f.code == "EM102")
  assert conflict.message.startswith(
    "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set"
  )
  asked = next(f for f in found if f.code == "EM101" and f.span.line == conflict.span.line)
  assert asked.message.endswith("asks for two cadences, which exclude each other.")


def test_a_dict_that_changes_later_is_not_trusted():
  text = """
import tensorflow as tf
base = {"save_checkpoints_secs": 300}
base["save_checkpoints_secs"] = None
cfg = tf.estimator.RunConfig(save_checkpoints_steps=100, **base)
"""
  codes = [f.code for f in engine.check_text(text, "a.py")]
  assert sorted(codes) == ["EM101", "EM109"]


@pytest.mark.parametrize(
  ("config", "what"),
  [
    ("make()", "`make()` is no plain RunConfig call"),
    ("given", "`given` is a parameter of `build`"),
    ("FLAGS.config", "`FLAGS.config` is not made in this file"),
    ("twice", "`twice` is bound 2 times"),
    ("replaced", "`base.replace(model_dir='m')` is no plain RunConfig call"),
  ],
)
def test_configs_that_cannot_be_read(config, what):
  text = f"""
import tensorflow as tf
from common import FLAGS, make
base = tf.estimator.RunConfig(save_checkpoints_steps=5)
replaced = base.replace(model_dir='m')
twice = tf.estimator.RunConfig(save_checkpoints_steps=5)
twice = tf.estimator.RunConfig(save_checkpoints_steps=6)

def build(given):
  return tf.estimator.Estimator(model_fn, config={config})
"""
  found = [f for f in engine.check_text(text, "a.py") if f.code == "EM109"]
  assert [(f.span.line, what in f.message) for f in found] == [(10, True)]


@pytest.mark.parametrize("config", ["", ", config=None"])
def test_an_estimator_without_a_config_has_the_default_policy(config):
  text = f"import tensorflow as tf\ne = tf.estimator.Estimator(model_fn, 'm'{config})\n"
  assert "EM110" in [f.code for f in engine.check_text(text, "a.py")]


def test_tf_config_matters_to_estimators_only():
  line = "import os\nimport tensorflow as tf\nos.environ['TF_CONFIG'] = '{}'\n"
  assert not engine.check_text(line, "a.py")
  found = engine.check_text(line + "spec = tf.estimator.EvalSpec(f, 9)\n", "a.py")
  assert [(f.code, f.span.line) for f in found] == [("EM107", 3), ("EM204", 4)]


@pytest.mark.parametrize(
  "trial",
  [
    "json.loads(os.environ.get('TF_CONFIG', '{}')).get('task', {}).get('trial', '')",
    "json.loads(os.environ['TF_CONFIG'])['task']['trial']",
  ],
)
def test_the_number_of_a_trial_is_no_distributed_training(trial):
  text = (
    f"import json, os\nimport tensorflow as tf\nspec = tf.estimator.EvalSpec(f, 9)\nn = {trial}\n"
  )
  assert "EM107" not in [f.code for f in engine.check_text(text, "a.py")]


def test_a_run_config_that_leaves_saving_to_a_hook_does_not_save_nothing():
  text = """
import tensorflow as tf
config = tf.estimator.RunConfig(save_checkpoints_steps=None, save_checkpoints_secs=None)
"""
  assert "EM103" in [f.code for f in engine.check_text(text, "a.py")]
  text += "hook = tf.compat.v1.train.CheckpointSaverHook('m', save_steps=100)\n"
  assert "EM103" not in [f.code for f in engine.check_text(text, "a.py")]


MAKER = "e = tf.estimator.Estimator(model_fn, 'm')\n"


@pytest.mark.parametrize(
  ("uses", "reported"),
  [
    ("e.predict(input_fn)", False),
    ("print(e.evaluate(input_fn), e.model_dir, e.latest_checkpoint())", False),
    ("e.export_saved_model('x', receiver)  # what e learned", False),
    ("def run():\n  return e.predict(input_fn)", False),
    ("e.model_dir", True),
    ("e.predict(input_fn)\ndef run(): e.train(input_fn)", True),
    ("e.predict(input_fn)\ntrain(e)", True),
    ("e.predict(input_fn)\ntf.estimator.train_and_evaluate(e, a, b)", True),
    ("e.predict(input_fn)\nf = e", True),
    ("predict = e.predict", True),
    ("e.predict(input_fn)\nall = [e]", True),
  ],
)
def test_what_is_only_read_has_no_policy(uses, reported):
  head = "import tensorflow as tf\n"
  inside = "".join(f"  {line}\n" for line in (MAKER + uses).splitlines())
  for text in (head + MAKER + uses + "\n", f"{head}def main():\n{inside}"):
    codes = [f.code for f in engine.check_text(text, "a.py")]
    assert ("EM110" in codes) == reported


@pytest.mark.parametrize("arguments", ["", "save_checkpoints_steps=None"])
@pytest.mark.parametrize(
  ("uses", "reported"),
  [
    ("e = tf.estimator.Estimator(f, config=config)\ne.predict(i)", False),
    ("e = tf.estimator.Estimator(f, 'm', config)\ne.predict(i)\nprint(config.model_dir)", False),
    ("tf.estimator.Estimator(f, config=config).predict(i)", False),
    ("e = tf.estimator.Estimator(f, config=config)", True),
    ("e = tf.estimator.Estimator(f, config=config)\ne.predict(i)\ne.train(i)", True),
    ("e = tf.estimator.Estimator(f, config=config)\ne.predict(i)\nrun(config)", True),
    ("e = tf.estimator.Estimator(f, config=config)\ne.predict(i)\nconfig.replace(a=1)", True),
    ("self.e = tf.estimator.Estimator(f, config=config)\nself.e.predict(i)", True),
  ],
)
def test_a_config_of_what_is_only_read_saves_nothing_anyway(arguments, uses, reported):
  text = f"config = tf.estimator.RunConfig({arguments})\n{uses}"
  inside = "".join(f"  {line}\n" for line in text.splitlines())
  codes = [
    f.code for f in engine.check_text(f"import tensorflow as tf\ndef main(self):\n{inside}", "a.py")
  ]
  assert bool({"EM103", "EM110"} & set(codes)) == reported


def test_a_config_of_the_module_is_read_where_its_name_says_config():
  text = MAKER.replace("'m'", "config=config") + "e.predict(i)\n"
  found = engine.check_text(
    f"import tensorflow as tf\nconfig = tf.estimator.RunConfig()\n{text}", "a"
  )
  assert "EM110" not in {f.code for f in found}
