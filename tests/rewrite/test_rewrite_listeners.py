"""`train(saving_listeners=)` in all targets (case 12)."""

import pytest
from helpers import HEAD, codes, left_whole, program, run, transformed

UPLOAD = """
class Upload(tf1.train.CheckpointSaverListener):
    def after_save(self, session, global_step_value):
        print("copy model.ckpt-%d" % global_step_value)
        return global_step_value >= 100


"""
COUNT = """
class Count(tf1.train.SessionRunHook):
    def end(self, session):
        print("end")


"""


def listening(argument, *, before="", hooks="", **options):
  """The rewritten text of a program whose train call has these listeners."""
  train = f"{before}e.train(input_fn, {hooks}max_steps=10, saving_listeners={argument})\n"
  head = HEAD + UPLOAD + (COUNT if "Count" in hooks else "")
  return transformed(program(head=head, train=train), **options)


def test_fit_gives_the_listeners_to_the_backup():
  text = listening("[Upload()]", target="fit")
  assert "class Upload(runtime.CheckpointSaverListener):" in text
  assert "callbacks=[backup.with_listeners([Upload()])]," in text


def test_fit_keeps_the_hooks_behind_the_backup():
  text = listening("[Upload()]", hooks="hooks=[Count()], ", target="fit")
  assert "callbacks=[backup.with_listeners([Upload()]), Count()]," in text


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_list_in_a_variable_stays(target):
  before = "listeners = []\nlisteners.append(Upload())\n"
  text = listening("listeners", before=before, target=target)
  assert before in text
  expected = {"fit": "with_listeners(listeners)", "loop": "saving_listeners=listeners"}
  assert expected[target] in text


def test_loop_has_a_parameter_and_a_session_for_them():
  text = listening("[Upload()]", target="loop")
  assert "def train(input_fn, max_steps, callbacks=(), saving_listeners=()):" in text
  body = text[text.index("def train(") :]
  places = [
    body.index(line)
    for line in (
      "manager.restore_or_initialize()",
      "CallbackList(",
      "manager.begin_session(e, saving_listeners)",
      "manager.save()  # at the start",
      "callbacks.on_train_begin()",
      "manager.save()  # when due",
      "callbacks.on_train_batch_end(",
      "manager.end_session()  # at the end",
      "callbacks.on_train_end()",
    )
  ]
  assert places == sorted(places)
  assert "train(input_fn, max_steps=10, saving_listeners=[Upload()])" in text


@pytest.mark.parametrize("target", ["fit", "loop"])
@pytest.mark.parametrize("argument", ["None", "[]", "()"])
def test_no_listeners_leave_no_trace(target, argument):
  train = f"e.train(input_fn, max_steps=10, saving_listeners={argument})\n"
  assert transformed(program(train=train), target=target) == transformed(program(), target=target)


def test_only_the_training_with_listeners_gets_them():
  train = "e.train(input_fn, steps=2)\ne.train(input_fn, steps=3, saving_listeners=[Upload()])\n"
  for target in ("fit", "loop"):
    text = transformed(program(head=HEAD + UPLOAD, train=train), target=target)
    assert text.count("[Upload()]") == 1


def test_stock_backup_tells_no_listener():
  new = (
    "e = tf1.estimator.DNNClassifier([4, 3], columns, 'model', n_classes=3,\n"
    "    config=tf1.estimator.RunConfig(save_checkpoints_steps=5))\n"
  )
  train = "e.train(input_fn, max_steps=10, saving_listeners=[Upload()])\n"
  source = program(head=HEAD + UPLOAD, new=new, train=train)
  assert "tells no listener" in left_whole(source, "EM218", stock=True)


def test_listener_of_unknown_origin_leaves_the_unit():
  train = "e.train(input_fn, max_steps=10, saving_listeners=[somewhere.Upload()])\n"
  left_whole("import somewhere\n" + program(train=train), "EM304")


def test_hook_in_place_of_a_listener_leaves_the_unit():
  train = "e.train(input_fn, max_steps=10, saving_listeners=[Count()])\n"
  result = run(program(head=HEAD + COUNT, train=train))
  assert result.left and not result.changed
  assert codes(result)


EVALUATES = """
class Evaluates(tf1.train.CheckpointSaverListener):
    def after_save(self, session, global_step_value):
        print(e.{call})


"""


def evaluating(call, **options):
  """The rewritten text of a program whose listener makes this call."""
  train = "e.train(input_fn, max_steps=10, saving_listeners=[Evaluates()])\n"
  head = HEAD + EVALUATES.replace("{call}", call)
  return transformed(program(head=head, train=train), **options)


def test_evaluation_by_a_listener_of_the_loop_gives_the_training_its_state_back():
  text = evaluating("evaluate(input_fn, steps=1)", target="loop")
  assert "with manager.newest():\n        return runtime.evaluate(" in text
  assert "print(evaluate(input_fn(), steps=1))" in text
  text = evaluating("predict(input_fn)", target="loop")
  assert "with manager.newest():\n        yield from runtime.predict(e, dataset)" in text


def test_evaluation_by_a_listener_of_fit_is_that_of_the_backup():
  text = evaluating("evaluate(input_fn, steps=1)", target="fit")
  assert "print(backup.evaluate(input_fn(), steps=1))" in text


def test_evaluation_beside_the_training_restores_for_good():
  train = "e.train(input_fn, max_steps=10, saving_listeners=[Upload()])\n"
  source = program("e.evaluate(input_fn)\n", head=HEAD + UPLOAD, train=train)
  assert "newest()" not in transformed(source, target="loop")
