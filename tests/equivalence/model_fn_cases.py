"""The programs with their own model_fn, how they are started, and what is compared."""

import dataclasses
import pathlib
import shutil

import harness

MODEL_DIR = "model_dir"
FORMS = ("hosted", "loop", "fit")
# TensorFlow 2.15 has TF1's names only there.
_TF1 = ("import tensorflow as tf\n", "import tensorflow.compat.v1 as tf\n")
_TF1_SHAPES = (_TF1[0], _TF1[1] + "tf.disable_v2_tensorshape()\n")


@dataclasses.dataclass(frozen=True)
class Case:
  """One program.

  Attributes:
    program: Name of the fixture.
    arguments: Its arguments.
    legacy_edit: (old, new): what its files need to run under TensorFlow 2.15.
    forms: What it is migrated to.
    recorded: Whether it runs under TensorFlow 1.15 only; that is what it is compared with.
    prints: Whether what it prints at the end is the same, too.
  """

  program: str
  arguments: tuple = ("--model_dir", MODEL_DIR)
  legacy_edit: tuple = ()
  forms: tuple = ("hosted",)
  recorded: bool = False
  prints: bool = True

  def legacy(self, directory):
    """Copies the legacy program, edited if need be, to a directory; returns its main file."""
    folder = harness.PROGRAMS / self.program
    target = directory / self.program
    if (folder / "before").is_dir():
      shutil.copytree(folder / "before", target)
    else:
      target.mkdir()
      shutil.copy(folder / "before.py", target / "main.py")
    for path in target.rglob("*.py"):
      if self.legacy_edit:
        path.write_text(path.read_text().replace(*self.legacy_edit))
    return target / "main.py"

  def after(self, form) -> pathlib.Path:
    """Returns the main file of the migrated program."""
    path = harness.PROGRAMS / self.program / f"after_{form}.py"
    return path if path.exists() else path.with_suffix("") / "main.py"


CASES = {
  "mlp": Case("model_fn_mlp", legacy_edit=_TF1, forms=("hosted", "loop")),
  "cnn": Case("model_fn_cnn", forms=("hosted", "loop")),
  "forgotten_updates": Case("model_fn_forgotten_updates"),
  "resnet": Case("model_fn_resnet", legacy_edit=_TF1),
  "attention": Case("model_fn_attention"),
  "wide_deep": Case("model_fn_wide_deep"),
  "gan": Case("model_fn_gan"),
  "multi_task": Case("model_fn_multi_task", legacy_edit=_TF1),
  "embedding": Case("model_fn_embedding"),
  "ema": Case("model_fn_ema"),
  "triplet": Case("model_fn_triplet", legacy_edit=_TF1_SHAPES),
  "joint": Case("model_fn_joint", forms=("hosted", "loop")),
  "keras": Case("model_fn_keras", forms=("loop",)),
  "plain": Case("model_fn_plain", legacy_edit=_TF1, forms=FORMS),
  "tagger": Case("model_fn_tagger", recorded=True),
  "bert": Case("model_fn_bert", ("--output_dir", MODEL_DIR), recorded=True),
}
