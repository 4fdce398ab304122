"""Programs around a session stay as they are; the code for their checkpoints is in the finding."""

import json
import pathlib
import re
import textwrap

import pytest
from click.testing import CliRunner
from helpers import program as estimator_program
from helpers import run
from session_helpers import HEAD, SUPERVISED, TRAINED, comments, found, monitored, proposed, saver

from migrator.cli import main
from migrator.lint import engine
from migrator.rewrite import sessions


@pytest.mark.parametrize(
  ("arguments", "cadence"),
  [
    ("", "save_checkpoints_secs=600"),
    ("save_checkpoint_steps=FLAGS.every", "save_checkpoints_steps=FLAGS.every"),
    ("save_checkpoint_secs=60", "save_checkpoints_secs=60"),
    ("save_checkpoint_secs=None, save_checkpoint_steps=9", "save_checkpoints_steps=9"),
    ("save_checkpoint_secs=60, save_checkpoint_steps=0", "save_checkpoints_secs=60"),
    ("save_checkpoint_secs=s, save_checkpoint_steps=n", "save_checkpoints_steps=n, "),
  ],
)
def test_the_cadence_of_a_session_is_that_of_the_manager(arguments, cadence):
  code = proposed(monitored(f"checkpoint_dir='logs', {arguments}"))
  assert f"  {cadence}" in code
  assert code.count("save_checkpoints_") == 1 + cadence.endswith(" ")
  assert "keep_checkpoint_max=5" in code
  assert 'os.path.join("logs", "tf2")' in code.replace("'", '"')


@pytest.mark.parametrize("off", ["save_checkpoint_secs=None", "save_checkpoint_steps=0"])
def test_a_session_that_saves_nothing_still_restores(off):
  (finding,) = found(monitored(f"checkpoint_dir=logs, {off}"))
  assert finding.code == "EM418"
  assert "runtime.load_tf1_checkpoint(model, logs)" in finding.proposal
  assert ".save(" not in finding.proposal


@pytest.mark.parametrize("arguments", ["", "checkpoint_dir=None", "hooks=[]"])
def test_a_session_without_directory_has_no_checkpoints(arguments):
  assert found(monitored(arguments)) == []


def test_two_cadences_that_are_refused_are_a_question():
  code = proposed(monitored("checkpoint_dir='m', save_checkpoint_secs=6, save_checkpoint_steps=3"))
  assert "ValueError: which one is meant?" in comments(code)
  assert "  save_checkpoints_steps=3,\n" in code


def test_the_saver_of_the_scaffold_says_what_stays():
  text = monitored(
    "checkpoint_dir='m', scaffold=scaffold",
    "saver = tf.train.Saver(max_to_keep=KEEP, keep_checkpoint_every_n_hours=2)\n"
    "scaffold = tf.train.Scaffold(saver=saver, init_fn=load, ready_op=ready)\n",
  )
  code = proposed(text)
  assert "  keep_checkpoint_max=KEEP,\n  keep_checkpoint_every_n_hours=2,\n" in code
  assert "line 4: `init_fn=load`: called where there was no checkpoint" in comments(code)
  assert "line 4: `ready_op=ready`: nothing waits for variables" in comments(code)


def test_a_scaffold_from_elsewhere_is_a_question():
  code = proposed(monitored("checkpoint_dir='m', scaffold=make_scaffold()"))
  assert "`make_scaffold()` may bring a Saver" in comments(code)


def test_two_savers_are_one_manager_and_a_question():  # Case 10.
  hook = (
    "hook = tf.train.CheckpointSaverHook('m', save_steps=3, saver=tf.train.Saver(max_to_keep=2))\n"
  )
  code = proposed(monitored("checkpoint_dir='m', save_checkpoint_steps=4, hooks=[hook]", hook))
  assert code.count("CheckpointManager(") == 1
  assert "save_checkpoints_steps=4" in code
  said = (
    "line 3: this CheckpointSaverHook saves too, to the same directory: save_checkpoints_steps=3,"
  )
  assert said in comments(code)
  assert "which cadence is meant?" in comments(code)


def test_a_hook_that_saves_alone_is_the_manager_and_forgets_earlier_runs():
  hook = (
    "saver = tf.train.Saver(max_to_keep=2)\n"
    "hook = tf.train.CheckpointSaverHook('m', save_steps=3, saver=saver, checkpoint_basename='a',"
    " listeners=[Log()])\n"
  )
  code = proposed(monitored("checkpoint_dir='m', save_checkpoint_secs=0, hooks=[hook]", hook))
  for argument in ("save_checkpoints_steps=3", "keep_checkpoint_max=2", "checkpoint_name='a'"):
    assert f"  {argument},\n" in code
  assert "recover_last_checkpoints=False" in code
  assert "`listeners=[Log()]` hear of each save" in comments(code)


@pytest.mark.parametrize(
  ("argument", "lines"),
  [
    ("last_step=STEPS", ["  if step >= STEPS:"]),
    ("last_step=2 * STEPS", ["  if step >= (2 * STEPS):"]),
    ("num_steps=STEPS", ["last_step = int(step) + STEPS", "  if step >= last_step:"]),
  ],
)
def test_a_stop_hook_is_asked_after_the_step(argument, lines):
  code = proposed(
    monitored(f"checkpoint_dir='m', hooks=[tf.train.StopAtStepHook({argument}), Mine()]")
  )
  for line in lines:
    assert f"\n{line}" in code
  assert code.index("manager.save()  # when due") < code.index(lines[-1].strip())
  assert "line 3, `Mine()` becomes a callback" in comments(code)


def test_several_runs_in_a_round_are_said_with_their_lines():  # Case 04.
  loop = "session.run(train_op)\nsession.run(queue_size)\n"
  code = proposed(monitored("checkpoint_dir='m', hooks=[Count()]", loop=loop))
  assert "lines 5, 6: 2 runs in each round" in comments(code)


def test_a_step_that_is_counted_twice_is_said():  # Case 06.
  text = TRAINED + "train_op = tf.group(train_op, [global_step.assign(global_step + 1)])\n"
  code = proposed(text + monitored("checkpoint_dir='m'"))
  assert "every cadence here stands for N/2 batches" in comments(code)
  assert "step.assign_add(2)" in comments(code)


def test_a_chief_and_workers_are_a_question():
  code = proposed(monitored("master=m, is_chief=(task == 0), checkpoint_dir='m', config=c"))
  assert "only the chief saves" in comments(code)
  assert "`master=m`: the program runs in one process" in comments(code)
  assert "`config=c`: devices, memory and threads are set with `tf.config`" in comments(code)
  assert "one process" not in proposed(monitored("master='', checkpoint_dir='m'"))


def test_the_graph_has_to_change_first_line_by_line():
  text = """
    x = tf.placeholder(tf.float32)
    queue = tf.train.string_input_producer(files)
    y = tf.layers.dense(x, 3)
    """
  loop = "session.run(train_op, feed_dict={x: 1})\n"
  code = proposed(textwrap.dedent(text) + TRAINED + monitored("checkpoint_dir='m'", loop=loop))
  said = comments(code)
  assert "- line 6: `tf.layers.dense`: variables of the model" in said
  assert "- line 4: `tf.placeholder`: an argument of `train_step`; what `feed_dict`" in said
  assert "(line 11) is a batch" in said
  assert "- line 5: `tf.train.string_input_producer`: the input queue becomes `dataset`" in said
  assert "- line 8: `tf.train.AdamOptimizer().minimize`: a GradientTape" in said
  assert "`step.assign_add(1)` stands for `global_step=global_step`" in said


@pytest.mark.parametrize(
  ("arguments", "session", "cadence"),
  [
    ("", "", "save_checkpoints_secs=600"),
    (", save_model_secs=N", "", "save_checkpoints_secs=N"),
    (", save_model_secs=0", "", None),
    ("", "start_standard_services=False", None),
  ],
)
def test_a_supervisor_saves_by_the_clock(arguments, session, cadence):
  save = "sv.saver.save(s, sv.save_path, global_step=global_step)"
  text = TRAINED + SUPERVISED.format(arguments=arguments, session=session, save=save)
  code = proposed(text)
  assert (f"  {cadence},\n" in code) is (cadence is not None)
  assert ("manager.save()  # when due" in code) is (cadence is not None)
  assert 'os.path.join(FLAGS.logdir, "tf2")' in code
  assert "manager.save(check_interval=False)" in code
  assert "at the end" not in code


@pytest.mark.parametrize("session", ["", "start_standard_services=False"])
def test_a_supervisor_without_saver_has_no_checkpoints(session):
  assert found(SUPERVISED.format(arguments=", saver=None", session=session, save="pass")) == []


def test_names_of_the_program_are_not_taken():
  text = saver(save='saver.save(s, "logs/m", global_step=step)').replace("for i", "for step")
  code = proposed(text + "manager = checkpoint = None\n")
  assert "checkpoint_2 = runtime.named_checkpoint" in code
  assert "step_counter = checkpoint_2.by_name" in code
  assert "checkpoint_number=step" in code


def test_an_expression_over_several_lines_keeps_its_meaning():
  path = 'os.path.join(\n        FLAGS.dir,  # where\n        "m")'
  code = proposed(saver(save=f"saver.save(s, {path}, i)"))
  assert 'os.path.join(FLAGS.dir, "tf2")' in code


def test_an_estimator_is_rewritten_beside_a_session():
  body = '\nsaver = tf1.train.Saver()\nsaver.restore(s, "old/m-3")\n'
  result = run(estimator_program(body))
  assert result.changed
  assert [f.code for f in result.findings if f.proposal] == ["EM418"]


def test_a_file_without_session_is_not_looked_at():
  assert sessions.findings("import tensorflow as tf\n", "p.py") == []


def test_the_proposal_is_printed_and_reported(tmp_path):
  source = HEAD + saver(save='saver.save(s, "logs/m", i)')
  path, report = tmp_path / "p.py", tmp_path / "report.json"
  path.write_text(source)
  result = CliRunner().invoke(main, ["rewrite", "--write", "--report", str(report), str(path)])
  assert result.exit_code == 1
  assert path.read_text() == source
  assert "\n    manager = runtime.CheckpointManager(\n" in result.output
  (file,) = json.loads(report.read_text())["files"]
  (finding,) = [f for f in file["findings"] if f["code"] == "EM417"]
  assert "manager = runtime.CheckpointManager(" in finding["proposal"]
  assert all("proposal" not in f for f in file["findings"] if f["code"] != "EM417")


def test_lint_says_nothing_new():
  text = HEAD + saver(save='saver.save(s, "logs/m", i)')
  assert "EM417" not in {f.code for f in engine.check_text(text, "p.py")}


def test_the_page_about_sessions_shows_what_is_proposed():
  page = (pathlib.Path(__file__).parents[2] / "docs" / "sessions.md").read_text(encoding="utf-8")
  source, shown, proposal = re.findall(r"^```\w+\n(.*?)^```$", page, re.M | re.S)
  (finding,) = sessions.findings(source, "train.py")
  assert shown == f"$ migrator rewrite train.py\n{finding}\n"
  assert proposal == finding.proposal
