"""Modules that a program with a model_fn imports are rewritten with it, all or nothing."""

import textwrap

PROGRAM = """
  import tensorflow as tf
  import networks

  def model_fn(features, labels, mode):
    return tf.estimator.EstimatorSpec(mode, loss=networks.loss(features))

  tf.logging.info("start")
  estimator = tf.estimator.Estimator(model_fn)
"""
NETWORKS = """
  import tensorflow as tf

  def loss(x):
    return tf.reduce_sum(tf.layers.dense(x, 3))
"""


def _codes(result):
  return [finding.code for finding in result.findings]


def test_a_module_is_rewritten_with_the_program_that_imports_it(run):
  texts, results = run({"program.py": PROGRAM, "networks.py": NETWORKS})
  assert "runtime.ModelFn(model_fn)" in texts["program.py"]
  assert "tf.reduce_sum(runtime.layers.dense(x, 3))" in texts["networks.py"]
  assert [(u.name, u.kind, u.target) for u in results["networks.py"].units] == [
    ("networks", "module", "hosted")
  ]


def test_a_module_without_a_program_is_left_alone(run):
  texts, results = run({"networks.py": NETWORKS})
  assert texts["networks.py"] == textwrap.dedent(NETWORKS)
  assert results["networks.py"].raw is None


def test_a_module_with_a_model_fn_is_rewritten_by_itself(run):
  text = "import tensorflow as tf\n\ndef f(x, mode):\n  return tf.estimator.EstimatorSpec(mode)\n"
  texts, _ = run({"models.py": text})
  assert "return runtime.EstimatorSpec(mode)" in texts["models.py"]


def test_modules_of_modules_packages_and_relative_imports_are_followed(run):
  texts, _ = run(
    {
      "bin/program.py": PROGRAM.replace("import networks", "from lib import networks"),
      "lib/__init__.py": "import tensorflow as tf\nX = tf.placeholder\n",
      "lib/networks.py": NETWORKS.replace("import tensorflow as tf", "from .deep import tf, deep"),
      "lib/deep/__init__.py": "import tensorflow as tf\nfrom . import deep\n",
      "lib/deep/deep.py": NETWORKS,
      "lib/unused.py": NETWORKS,
    }
  )
  assert "import tensorflow.compat.v1 as tf" in texts["lib/__init__.py"]
  assert "import tensorflow.compat.v1 as tf" in texts["lib/deep/__init__.py"]
  assert "runtime.layers.dense" in texts["lib/deep/deep.py"]
  assert texts["lib/unused.py"] == textwrap.dedent(NETWORKS)


def test_a_module_of_the_same_name_in_another_project_is_not_meant(run):
  texts, _ = run(
    {
      "one/trainer/program.py": PROGRAM,
      "two/trainer/networks.py": NETWORKS,
      "three/bin/program.py": PROGRAM,
      "three/src/networks.py": NETWORKS,
    }
  )
  assert texts["two/trainer/networks.py"] == textwrap.dedent(NETWORKS)
  assert "runtime.layers.dense" in texts["three/src/networks.py"]


def test_a_name_without_a_replacement_keeps_the_module_and_is_said_at_the_import(run):
  networks = NETWORKS + "\n  y = tf.contrib.gan.gan_train\n"
  texts, results = run({"program.py": PROGRAM, "networks.py": networks})
  assert texts["networks.py"] == textwrap.dedent(networks)
  assert "EM901" in _codes(results["networks.py"])
  found = [f for f in results["program.py"].findings if f.code == "EM909"]
  assert [f.span.line for f in found] == [3]
  assert "networks.py" in found[0].message
  assert "EM233 in line" in found[0].message


def test_a_module_means_the_tensorflow_that_its_program_is_written_for(run):
  """Dropout's second argument is what TF1 keeps and what TF2 drops."""
  networks = """
    import tensorflow as tf

    def loss(x):
      return tf.nn.dropout(x, 0.9)
  """
  texts, _ = run({"program.py": PROGRAM, "networks.py": networks})
  assert "import tensorflow.compat.v1 as tf" in texts["networks.py"]
  modern = PROGRAM.replace('tf.logging.info("start")', "")
  texts, _ = run({"program.py": modern, "networks.py": networks})
  assert texts["networks.py"] == textwrap.dedent(networks)


def test_a_program_means_the_tensorflow_that_its_modules_are_written_for(run):
  program = PROGRAM.replace('tf.logging.info("start")', "x = tf.nn.dropout(y, 0.9)")
  texts, _ = run({"program.py": program, "networks.py": NETWORKS})
  assert "import tensorflow.compat.v1 as tf" in texts["program.py"]


def test_a_module_can_follow_in_a_later_run(run):
  files = {"program.py": PROGRAM, "networks.py": NETWORKS}
  texts, _ = run(files, only=["program.py"])
  assert texts["networks.py"] == textwrap.dedent(NETWORKS)
  texts, _ = run({**texts}, only=["program.py", "networks.py"])
  assert "runtime.layers.dense" in texts["networks.py"]


def test_a_second_run_changes_nothing(run):
  once, _ = run({"program.py": PROGRAM, "networks.py": NETWORKS})
  twice, results = run(once)
  assert twice == once
  assert all(result.raw is None for result in results.values())


def test_programs_that_import_each_other_end(run):
  networks = NETWORKS + "\n  import program\n"
  texts, _ = run({"program.py": PROGRAM, "networks.py": networks})
  assert "runtime.layers.dense" in texts["networks.py"]
