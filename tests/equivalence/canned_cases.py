"""The programs with canned estimators, how they are started, and what is compared."""

import dataclasses

import harness

MODEL_DIR = "model_dir"


@dataclasses.dataclass(frozen=True)
class Case:
  """One program with one choice of arguments.

  Attributes:
    program: Name of the fixture.
    arguments: Its arguments.
    legacy_edit: (old, new): what the legacy program needs to run under TensorFlow 2.15.
    model_dir: The model directory relative to the working directory.
    prints: Whether what it prints is the same, too.
  """

  program: str
  arguments: tuple = ("--model_dir", MODEL_DIR)
  legacy_edit: tuple = ()
  model_dir: str = MODEL_DIR
  prints: bool = True

  def legacy(self, directory):
    """Returns the legacy program, edited if need be, in a directory."""
    source = harness.before(self.program)
    if not self.legacy_edit:
      return source
    text = source.read_text()
    assert self.legacy_edit[0] in text
    path = directory / f"{self.program}.py"
    path.write_text(text.replace(*self.legacy_edit))
    return path


# Columns that share an embedding cannot be made in TensorFlow 2's eager mode.
_GRAPHS = ("tf1 = tf.compat.v1\n", "tf1 = tf.compat.v1\ntf1.disable_eager_execution()\n")

CASES = {
  "census_wide": Case("canned_census", ("--model_dir", MODEL_DIR, "--model_type", "wide")),
  "census_deep": Case("canned_census", ("--model_dir", MODEL_DIR, "--model_type", "deep")),
  "census_wide_deep": Case("canned_census"),
  "titanic": Case("canned_titanic"),
  "housing": Case("canned_housing"),
  "babyweight": Case("canned_babyweight", ("--output_dir", MODEL_DIR)),
  "weighted": Case("canned_weighted"),
  "reviews": Case("canned_reviews"),
  "multi_label": Case("canned_multi_label"),
  "multi_head": Case("canned_multi_head"),
  "baseline": Case("canned_baseline"),
  "movielens": Case("canned_movielens", legacy_edit=_GRAPHS),
  "from_config": Case("canned_from_config"),
  "schedule": Case("canned_schedule"),
  "keras_model": Case("canned_keras_model"),
  "pandas": Case("canned_pandas"),
}


def stacked(rows):
  """Returns one row of all: logits near 0 are compared by the size of those of all rows."""
  return (
    [{key: [dtype, [row[key][1] for row in rows]] for key, (dtype, _) in rows[0].items()}]
    if rows
    else []
  )
