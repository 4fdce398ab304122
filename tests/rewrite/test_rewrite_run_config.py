"""Every RunConfig keyword has a fate."""

import json

import pytest
from helpers import HEAD, codes, left_whole, run, transformed

from migrator.rewrite import run_config

CALL = "e = tf1.estimator.DNNClassifier([4, 3], columns, {extra} n_classes=3, config={config})\n"
TRAIN = "e.train(input_fn, max_steps=10)\n"


def program(config, extra='"model",'):
  return HEAD + CALL.format(config=config, extra=extra) + TRAIN


def test_every_keyword_of_run_config_has_a_fate(repository):
  fields = json.loads((repository / "tests/lint/run_config_fields.json").read_text())
  for version, names in fields.items():
    assert set(names) <= set(run_config.FATES), version


@pytest.mark.parametrize("keyword", [k for k, f in run_config.FATES.items() if f == "EM106"])
def test_dropped_keyword_gets_a_code(keyword):
  result = run(program(f"tf1.estimator.RunConfig({keyword}=f())"))
  assert result.changed
  assert [f for f in result.findings if f.code == "EM106" and keyword in f.message]


@pytest.mark.parametrize("keyword", [k for k, f in run_config.FATES.items() if f == "EM107"])
def test_distribution_is_refused(keyword):
  message = left_whole(program(f"tf1.estimator.RunConfig({keyword}=f())"), "EM107")
  assert keyword in message


def test_tf_config_is_refused():
  left_whole(program("None") + 'import os\nos.environ["TF_CONFIG"] = "{}"\n', "EM107")


@pytest.mark.parametrize("value", ["3", "args.n", "max(1, n)"])
@pytest.mark.parametrize(
  "keyword",
  [
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "save_summary_steps",
    "log_step_count_steps",
  ],
)
def test_policy_keyword_is_carried_over_to_fit(keyword, value):
  text = transformed(program(f"tf1.estimator.RunConfig({keyword}={value})"))
  assert f"{keyword}={value}" in text.replace("\n", "").replace("    ", "")


def test_defaults_are_written_out():
  text = transformed(program("None"))
  assert "save_checkpoints_secs=600" in text
  assert "keep_checkpoint_max=5" in text


def test_seed_is_carried_over_with_a_note():
  result = run(program("tf1.estimator.RunConfig(tf_random_seed=7)"))
  assert "tf.random.set_seed(7)\ne = create_e()" in result.text
  assert "EM111" in codes(result)


def test_model_dir_of_run_config_is_used():
  text = transformed(program('tf1.estimator.RunConfig(model_dir="there")', extra=""))
  assert '"there"' in text
  assert "mkdtemp" not in text


def test_two_different_model_dirs_are_refused():
  left_whole(program('tf1.estimator.RunConfig(model_dir="there")'), "EM208")


def test_both_cadences_are_refused():
  config = "tf1.estimator.RunConfig(save_checkpoints_steps=3, save_checkpoints_secs=60)"
  left_whole(program(config), "EM102")


def test_none_unsets_one_cadence():
  config = "tf1.estimator.RunConfig(save_checkpoints_steps=3, save_checkpoints_secs=None)"
  text = transformed(program(config))
  assert "save_checkpoints_steps=3" in text
  assert "secs" not in text


def test_two_cadences_that_only_the_run_knows_go_to_the_runtime():
  config = "tf1.estimator.RunConfig(save_checkpoints_steps=a, save_checkpoints_secs=b)"
  text = transformed(program(config))
  assert "save_checkpoints_steps=a" in text
  assert "save_checkpoints_secs=b" in text


def test_nothing_saved_stays_nothing_saved():
  text = transformed(program("tf1.estimator.RunConfig(save_checkpoints_steps=None)"))
  assert "save_checkpoints_steps=None" in text
  assert "secs" not in text


@pytest.mark.parametrize("value", ["0", "None", "n"])
def test_keeping_all_is_left_to_the_runtime(value):
  # Case 20: RunConfig's 0 and None keep everything, and so do the runtime's.
  config = f"tf1.estimator.RunConfig(save_checkpoints_steps=1, keep_checkpoint_max={value})"
  for target in ("fit", "loop"):
    assert f"keep_checkpoint_max={value}," in transformed(program(config), target=target)


def test_cadence_of_a_loop():
  text = transformed(program("tf1.estimator.RunConfig(save_checkpoints_secs=60)"), target="loop")
  assert "runtime.CheckpointManager(" in text
  assert "save_checkpoints_secs=60" in text


@pytest.mark.parametrize(
  "config",
  [
    "make_config()",
    "tf1.estimator.RunConfig(**options)",
    "tf1.estimator.RunConfig().replace(save_checkpoints_steps=None)",
    "tf1.estimator.RunConfig().replace(**options)",
    "text.replace(save_checkpoints_steps=3)",
    "configs[0]",
  ],
)
def test_run_config_that_is_not_in_the_file_is_refused(config):
  left_whole(program(config), "EM109")


def test_run_config_that_others_read_is_refused():
  source = HEAD + "config = tf1.estimator.RunConfig(save_checkpoints_steps=3)\n"
  source += CALL.format(config="config", extra='"m",') + TRAIN + "print(config.is_chief)\n"
  message = left_whole(source, "EM109")
  assert "config" in message


def test_run_config_of_two_units_is_removed_once_both_are_rewritten():
  source = HEAD + "config = tf1.estimator.RunConfig(save_checkpoints_steps=3)\n"
  one = CALL.format(config="config", extra='"m",') + TRAIN
  two = one.replace("e = ", "g = ").replace("e.train", "g.train").replace('"m"', '"n"')
  text = transformed(source + one + two)
  assert "RunConfig" not in text
  assert text.count("save_checkpoints_steps=3") == 2


def test_run_config_stays_when_one_of_two_units_stays():
  source = HEAD + "config = tf1.estimator.RunConfig(save_checkpoints_steps=3)\n"
  one = CALL.format(config="config", extra='"m",') + TRAIN
  two = one.replace("e = ", "g = ").replace("e.train", "g.train") + "run(g)\n"
  left_whole(source + one + two, "EM109")


def test_comments_of_the_run_config_are_kept():
  source = HEAD + (
    "# Save often.\n"
    "config = tf1.estimator.RunConfig(\n"
    "    # The machine is preempted.\n"
    "    save_checkpoints_steps=3,  # three\n"
    "    keep_checkpoint_max=2)  # two\n"
  )
  text = transformed(source + CALL.format(config="config", extra='"m",') + TRAIN)
  for comment in ("# Save often.", "# The machine is preempted.", "# three", "# two"):
    assert text.count(comment) == 1
