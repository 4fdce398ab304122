"""benchmarks/made_up_canned.py: models of rewritten files are built, and take a step on made-up examples."""

import json
import subprocess
import sys

import pytest

MODEL = """\
import sys
import tensorflow as tf
from migrator import runtime

WORDS = ["one", "two"]


def main(argv):
  data = {data}
  def create():
    inputs = {{
      "word": tf.keras.Input([None], dtype="string", name="word"),
      "x": tf.keras.Input([2], name="x"),
    }}
    ids = runtime.columns.VocabularyIds(WORDS)(inputs["word"])
    net = tf.keras.layers.Concatenate()([runtime.columns.Indicator(2)(ids), inputs["x"]])
    logits = tf.keras.layers.Dense({logits}, name="logits")(net)
    model = tf.keras.Model(inputs, logits, name="dnn")
    model.compile(tf.keras.optimizers.SGD(0.1), loss={loss})
    return model
  model = create()
  backup = runtime.BackupAndRestore(model, "/nowhere", variable_scope="dnn")
  model.fit(data.map(runtime.only_inputs(model)).take(1000), callbacks=[backup], verbose=0)
  print(backup.evaluate(data)["accuracy"])


if __name__ == "__main__":
  main(sys.argv)
"""
ABSENT = (
  'tf.data.TextLineDataset("absent.csv").map(lambda line: ({"word": line, "x": [0.0, 0.0]}, 0))'
)
VOCABULARY = 'runtime.heads.BinaryClassHead(weight_column="w", label_vocabulary=["no", "yes"])'


@pytest.fixture(scope="module")
def answers(repository, tmp_path_factory):
  """What is said of each file, by its name."""
  folder = tmp_path_factory.mktemp("made_up")
  texts = {
    "absent": MODEL.format(data=ABSENT, logits=1, loss=VOCABULARY),
    "open": MODEL.format(data='open("absent")', logits=3, loss="runtime.heads.MultiClassHead(3)"),
    "wrong": MODEL.format(data=ABSENT, logits=2, loss="runtime.heads.MultiClassHead(3)"),
  }
  lines = []
  for name, text in texts.items():
    path = folder / f"{name}.py"
    path.write_text(text)
    scratch = str(folder / name)
    lines.append(
      {"path": str(path), "data": str(folder), "factories": ["create"], "scratch": scratch}
    )
  process = subprocess.run(
    [sys.executable, str(repository / "benchmarks" / "made_up_canned.py")],
    input="".join(json.dumps(line) + "\n" for line in lines),
    capture_output=True,
    text=True,
    check=False,
  )
  told = [json.loads(line) for line in process.stdout.splitlines()]
  assert len(told) == len(texts), process.stderr
  return dict(zip(texts, told))


def test_examples_are_made_up_where_the_files_of_a_dataset_are_not_there(answers):
  said = answers["absent"]
  assert (said["imported"], said["built"], said["stepped"], said["how"]) == (
    None,
    None,
    None,
    "run",
  )


def test_a_function_that_needs_its_data_first_runs_without_what_fails(answers):
  said = answers["open"]
  assert (said["built"], said["stepped"], said["how"]) == (None, None, "part by part")


def test_a_model_that_cannot_be_trained_is_told(answers):
  said = answers["wrong"]
  assert said["built"] is None
  assert said["stepped"]
