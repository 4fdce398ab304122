"""--stock: Keras's own BackupAndRestore over epochs of N steps, where N divides the total."""

import harness
import pytest


@pytest.fixture(scope="module")
def program(tmp_path_factory):
  """fault_tolerance with numbers in the place of two arguments, rewritten with --stock."""
  directory = tmp_path_factory.mktemp("stock")
  text = harness.before("fault_tolerance").read_text()
  for old, new in (("=args.save_checkpoints_steps", "=2"), ("=args.max_steps", "=10")):
    assert old in text
    text = text.replace(old, new)
  source = directory / "before.py"
  source.write_text(text)
  return harness.rewrite(source, directory / "rewritten", "--stock")


def test_interrupted_program_ends_at_the_same_step_and_a_finished_one_does_nothing(
  lab, program, python
):
  args = ["--model_dir", "{model_dir}", *harness.QUIET]
  scratch = lab.scratch()
  outcome = lab.start(program, args, scratch, python)
  assert "RuntimeError: Interruption" in outcome.run.output
  # The backup follows the other callbacks: of the interrupted step 6 there is none.
  steps = [step for step, _ in outcome.run.losses]
  assert steps == [*range(1, 7), *range(5, 11)]
  again = lab.start(program, args, scratch, python)
  assert again.run.losses == []
