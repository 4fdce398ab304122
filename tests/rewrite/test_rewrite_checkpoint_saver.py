"""A CheckpointSaverHook among the hooks of a training (cases 10 and 20)."""

import pytest
from helpers import HEAD, codes, left_whole, program, run, transformed

from migrator.rewrite import emit

NEW = "e = tf1.estimator.DNNClassifier([4, 3], columns, {directory}, n_classes=3{more})\n"
HOOK = "tf1.train.CheckpointSaverHook({arguments})"
UPLOAD = """
class Upload(tf1.train.CheckpointSaverListener):
    def before_save(self, session, global_step_value):
        print(global_step_value)


"""


def saving(arguments, *, directory='"model"', more="", head=HEAD, before="", hooks=None):
  """A program that trains with such a hook."""
  hook = HOOK.format(arguments=arguments)
  train = f"e.train(input_fn, hooks={hooks or f'[{hook}]'}, max_steps=10)\n"
  new = before.format(hook=hook) + NEW.format(directory=directory, more=more)
  return program(head=head, new=new, train=train)


def test_fit_has_the_saver_at_its_place_among_the_callbacks():
  text = transformed(saving('"model", save_steps=5'), target="fit")
  assert 'callbacks=[backup, runtime.CheckpointSaver("model", save_steps=5)],' in text


def test_keep_is_that_of_the_configuration_as_the_estimators_saver_had_it():
  more = ", config=tf1.estimator.RunConfig(keep_checkpoint_max=2, save_checkpoints_steps=3)"
  for target in ("fit", "loop"):
    text = transformed(saving('"model", save_steps=5', more=more), target=target)
    assert "keep_checkpoint_max=2" in text
    assert text.count("Manager(") + text.count("BackupAndRestore(") == 1


def test_loop_leaves_its_saves_to_it():
  text = transformed(saving('"model", save_steps=5'), target="loop")
  assert 'callbacks=[runtime.CheckpointSaver("model", save_steps=5)]' in text
  body = text[text.index("def train(") :]
  assert body.index("CallbackList(") < body.index("manager.begin_session()")
  assert body.index("manager.begin_session()") < body.index("manager.save()  # at the start")
  assert "manager.end_session()  # at the end" in body


def test_loop_may_have_no_cadence_of_its_own_then():
  more = ", config=tf1.estimator.RunConfig(save_checkpoints_steps=None)"
  text = transformed(saving('"model", save_steps=5', more=more), target="loop")
  assert "save_checkpoints_steps=None" in text


def test_variables_comments_and_layout_stay():
  before = "# Often.\nhook = {hook}\n"
  source = saving('"model",\n    save_steps=5', before=before, hooks="[hook]")
  text = transformed(source, target="fit")
  assert '# Often.\nhook = runtime.CheckpointSaver("model",\n    save_steps=5)\n' in text
  assert "callbacks=[backup, hook]" in text


@pytest.mark.parametrize("base", ["train", "estimator"])
def test_every_spelling_is_known(base):
  head = HEAD.replace(
    "tf1\n", f"tf1\nfrom tensorflow.compat.v1.{base} import CheckpointSaverHook as Saver\n"
  )
  source = saving("", head=head, hooks='[Saver("model", 600)]')
  if base == "train":
    assert 'runtime.CheckpointSaver("model", 600)' in transformed(source, target="fit")
  source = source.replace(
    f"from tensorflow.compat.v1.{base} import CheckpointSaverHook as Saver",
    "from tensorflow.python.training.basic_session_run_hooks import CheckpointSaverHook as Saver",
  )
  assert 'runtime.CheckpointSaver("model", 600)' in transformed(source, target="fit")


def test_its_listeners_are_converted():
  source = saving('"model", save_steps=5, listeners=[Upload()]', head=HEAD + UPLOAD)
  text = transformed(source, target="fit")
  assert "class Upload(runtime.CheckpointSaverListener):" in text
  assert 'runtime.CheckpointSaver("model", save_steps=5, listeners=[Upload()])' in text


@pytest.mark.parametrize(
  ("arguments", "expected"),
  [
    ('"model", None, 5', '"model", None, 5'),
    ('"model", save_steps=5, saver=None', 'checkpoint_dir="model", save_steps=5'),
    (
      '"model", None, 5, None, "mine", None',
      'checkpoint_dir="model", save_secs=None, save_steps=5, checkpoint_basename="mine"',
    ),
    ('"model", save_secs=60, save_graph_def=False', 'checkpoint_dir="model", save_secs=60'),
    ('e.model_dir, save_steps="12" and 3', 'backup.model_dir, save_steps="12" and 3'),
    ('checkpoint_dir="./model/", save_steps=n', 'checkpoint_dir="./model/", save_steps=n'),
  ],
)
def test_arguments_keep_their_meaning(arguments, expected):
  source = saving(arguments, before="n = int(input())\n")
  _, _, text = transformed(source, target="fit").partition("callbacks=")
  assert f"runtime.CheckpointSaver({expected})" in emit.joined(text)


@pytest.mark.parametrize("directory", ["path", 'os.path.join(path, "a")'])
def test_directory_by_the_same_expression_is_the_same(directory):
  before = "import os\npath = input()\n"
  result = run(saving(f"{directory}, save_steps=5", before=before, directory=directory))
  assert result.changed and not result.left
  assert "EM331" not in codes(result)


def test_directory_that_may_be_another_is_reported():
  before = "path, other = input(), input()\n"
  result = run(saving("other, save_steps=5", before=before, directory="path"))
  assert result.changed and not result.left
  (message,) = [f.message for f in result.findings if f.code == "EM331"]
  assert "`other`" in message and "`path`" in message


@pytest.mark.parametrize(
  ("arguments", "code", "words"),
  [
    ('"best", save_steps=5', "EM330", "nothing to the model_dir 'model'"),
    ('"model", save_steps=5, saver=tf1.train.Saver()', "EM330", "`saver=` is not of the graph"),
    ('"model", save_steps=5, scaffold=tf1.train.Scaffold()', "EM330", "`scaffold=`"),
    ('"model"', "EM330", "raises an error"),
    ('"model", 5, 5', "EM102", "save_steps"),
    ('"model", save_steps=5, checkpoint_basename="a/b"', "EM330", "checkpoint_basename"),
    ("save_steps=5", "EM330", "no checkpoint_dir"),
    ("**options", "EM330", "not all shown"),
  ],
)
def test_what_cannot_save_as_it_did_leaves_the_unit(arguments, code, words):
  assert words in left_whole(saving(arguments), code)


def test_temporary_model_directory_is_not_the_hooks():
  assert "temporary" in left_whole(saving('"model", save_steps=5', directory="None"), "EM330")


def test_hook_of_an_evaluation_leaves_the_unit():
  hook = HOOK.format(arguments='"model", save_steps=5')
  left_whole(program(f"e.evaluate(input_fn, hooks=[{hook}])\n"), "EM322")


def test_stock_backup_leaves_its_saves_to_nobody():
  more = ", config=tf1.estimator.RunConfig(save_checkpoints_steps=5)"
  source = saving('"model", save_steps=5', more=more)
  assert "CheckpointSaver" in left_whole(source, "EM218", stock=True)
