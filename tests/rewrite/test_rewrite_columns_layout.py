"""Long statements of layers are laid out as `ruff format` has them."""

import ast
import shutil
import subprocess

import pytest

from migrator.rewrite import columns_layout, emit

_LONG = '"a_very_long_name_of_a_feature_that_is_crossed"'
TEXTS = {
  "short": 'inputs["age"]',
  "display": f"Concatenate()([inputs[{_LONG}], inputs[{_LONG}], age])",
  "display that fits on its own line": f"runtime.columns.CrossIds(10000)([inputs[{_LONG}], age, b])",
  "arguments of the first call": (
    f'runtime.columns.Embedding(len(VOCABULARIES["education"]), 8, name={_LONG})(education)'
  ),
  "arguments of both calls": (
    f"runtime.columns.Embedding(len(VOCABULARIES), 8, initializer, name={_LONG})"
    f"(runtime.columns.CrossIds(100000)([inputs[{_LONG}], occupation]))"
  ),
  "dict": (
    f'runtime.columns.LinearModel(1, num_buckets={{"a": 3, {_LONG}: 10000, "b": len(WORDS)}}, '
    f'name="linear_model")({{"age": age, {_LONG}: CrossIds(10000)([age, inputs[{_LONG}]]), "s": s}})'
  ),
  "nested layers": (
    'Concatenate()([inputs["age"], Discretization(bin_boundaries=[18.0, 65.0, 70.0, 75.0, 80.0], '
    f'output_mode="one_hot")(inputs["age"]), Indicator(3)(VocabularyIds([{_LONG}, "x", "y"])'
    '(inputs["w"])), Embedding(100, 8, name="h_embedding")(h)])'
  ),
  "inputs": (
    f'{{"a": tf.keras.Input([None], dtype="string", sparse=True, name={_LONG}), '
    '"b": tf.keras.Input([1], name="b")}'
  ),
  "long key": f"Model(1)({{{_LONG[:-1]}_and_one_more_of_them_here: inputs[{_LONG}]}})".replace(
    "here:", 'here":'
  ),
  "one argument that is a list": f"Ids(name=[{_LONG}, {_LONG}, {_LONG}])",
}


@pytest.mark.parametrize("width", [60, 79, 88])
def test_layout_is_that_of_ruff(tmp_path, width):
  ruff = shutil.which("ruff")
  assert ruff, "ruff is in the test requirements"
  style = emit.Style("    ", width)
  lines = [line for text in TEXTS.values() for line in columns_layout.statement("x", text, style)]
  path = tmp_path / "laid_out.py"
  path.write_text("\n".join(lines) + "\n")
  command = [ruff, "format", "--isolated", f"--line-length={width}", str(path)]
  subprocess.run(command, check=True, capture_output=True)
  assert path.read_text().splitlines() == lines


@pytest.mark.parametrize("name", TEXTS)
def test_layout_changes_no_meaning(name):
  lines = columns_layout.statement("x", TEXTS[name], emit.Style("  ", 40))
  assert ast.dump(ast.parse("\n".join(lines))) == ast.dump(ast.parse(f"x = {TEXTS[name]}"))


def test_comments_stand_at_their_elements():
  comments = {"a": (("# First.",), ""), "b": ((), "# second")}
  assert columns_layout.statement("x", "f([a, b])", emit.Style("  ", 40), comments) == [
    "x = f(",
    "  [",
    "    # First.",
    "    a,",
    "    b,  # second",
    "  ]",
    ")",
  ]
