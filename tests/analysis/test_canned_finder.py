"""benchmarks/canned_finder.py: files that make canned estimators, whatever the product understands of them."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import canned_finder


def test_it_finds_calls_partials_and_bases_in_files_and_notebooks(tmp_path):
  folder = tmp_path / "owner+name"
  folder.mkdir()
  (folder / "call.py").write_text("import x\nx.y.DNNClassifier([3])\nx.LinearRegressor(c)\n")
  (folder / "copy.py").write_text("import x\nx.y.DNNClassifier([3])\nx.LinearRegressor(c)\n")
  (folder / "partial.py").write_text("make = functools.partial(tf.estimator.DNNRegressor, [3])\n")
  (folder / "base.py").write_text("class Mine(DNNLinearCombinedEstimator):\n  pass\n")
  (folder / "two.py").write_text("print 3\ne = model_to_estimator(m)\n")
  (folder / "mentions.py").write_text('"""A DNNClassifier."""\nkind = DNNClassifier\n')
  cells = [{"cell_type": "code", "source": ["%matplotlib inline\n", "KMeans(3)"], "metadata": {}}]
  notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 0}
  (folder / "a.ipynb").write_text(json.dumps(notebook))
  found = {f.path: f for f in canned_finder.find(tmp_path)}
  assert {path: (f.kinds, f.calls) for path, f in found.items()} == {
    "a.ipynb": (("KMeans",), 1),
    "base.py": (("DNNLinearCombinedEstimator",), 1),
    "call.py": (("DNNClassifier", "LinearRegressor"), 2),
    "partial.py": (("DNNRegressor",), 1),
    "two.py": (("model_to_estimator",), 1),
  }
  assert found["call.py"].copies == 1
  assert found["two.py"].broken
