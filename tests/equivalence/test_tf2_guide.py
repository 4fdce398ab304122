"""The tf2_guide program: what TF2 code does after an interruption."""

import harness


def test_second_fit_trains_the_six_epochs_that_are_left(lab, python):
  scratch = lab.scratch()
  arguments = ["--model_dir", "{model_dir}"]
  outcome = lab.start(harness.after("tf2_guide", "fit"), arguments, scratch, python)
  assert "RuntimeError: Interruption" in outcome.run.output
  assert "epochs after the interruption: 6" in outcome.run.output


def test_unchanged_program_fails_under_keras_3(lab, target_pythons):
  run = lab.start(harness.before("tf2_guide"), [], lab.scratch(), target_pythons[1], fails=True)
  assert "experimental" in run.errors
