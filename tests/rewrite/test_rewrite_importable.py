"""Which file an import means, where many have its name: the one that Python can find."""

import ast

import pytest

from migrator.rewrite import importable

# {case: (statement, importer, files that are meant)}; a text of another file than "" is behind "=".
CASES = {
  "a folder without __init__ hides the modules of other projects": (
    "from utils import util",
    "tcn/estimators/base.py",
    "tcn/utils/util.py other/utils.py third/utils/__init__.py",
    "tcn/utils/util.py",
  ),
  "other projects have the name, this one has not": (
    "import utils.util",
    "tcn/train.py",
    "other/utils.py third/utils/__init__.py",
    "",
  ),
  "TensorFlow is no folder": (
    "import tensorflow as tf",
    "tpu/program.py",
    "tensorflow/__init__.py lib/tensorflow.py tpu/tensorflow.py",
    "",
  ),
  "a package is no place to import from": (
    "import torch",
    "horovod/spark/program.py",
    "horovod/__init__.py horovod/torch/__init__.py horovod/spark/__init__.py",
    "",
  ),
  "unless scripts are in it": (
    "import model",
    "trainer/deep/layers.py",
    "trainer/__init__.py trainer/model.py trainer/deep/__init__.py trainer/task.py=__main__",
    "trainer/model.py",
  ),
  "or the importer": (
    "import model",
    "trainer/task.py",
    "trainer/__init__.py trainer/model.py",
    "trainer/model.py",
  ),
  "a folder beside has all of the names": (
    "from nets import resnet",
    "research/delf/delf.py",
    "research/slim/nets/__init__.py research/slim/nets/resnet.py research/depth/nets.py=x",
    "research/slim/nets/__init__.py research/slim/nets/resnet.py",
  ),
  "or says them": (
    "from networks import deep",
    "bin/program.py",
    "src/networks.py=deep more/networks.py=deeper",
    "src/networks.py",
  ),
  "the nearest folder above": (
    "import a.b",
    "one/two/program.py",
    "a/__init__.py a/b.py one/a/__init__.py one/a/b.py one/a/c.py",
    "one/a/__init__.py one/a/b.py",
  ),
  "a package of which a part is no file": (
    "import a.compiled",
    "program.py",
    "a/__init__.py b/a.py",
    "a/__init__.py",
  ),
  "a package before a module": ("import a", "program.py", "a.py a/__init__.py", "a/__init__.py"),
  "the standard library before other folders": (
    "import queue",
    "spark/program.py",
    "queue.py src/queue.py",
    "",
  ),
  "but not before the importer's": (
    "import queue",
    "spark/program.py",
    "spark/queue.py",
    "spark/queue.py",
  ),
  "a relative import": (
    "from ..b import c",
    "one/a/program.py",
    "one/b/c.py b/c.py",
    "one/b/c.py",
  ),
  "not the importer itself": ("import program", "program.py", "", ""),
}


@pytest.mark.parametrize(("statement", "importer", "there", "meant"), CASES.values(), ids=CASES)
def test_an_import_means_the_file_that_python_can_find(statement, importer, there, meant, tmp_path):
  files = {importer: ""}
  for one in there.split():
    name, _, text = one.partition("=")
    files[name] = text
  for name, text in files.items():
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(text + "\n")
  found = importable.Files(str(tmp_path / name) for name in files).meant(
    ast.parse(statement).body[0], str(tmp_path / importer)
  )
  assert sorted(found) == sorted(str(tmp_path / name) for name in meant.split())
