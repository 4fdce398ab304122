"""Files that import a program with a model_fn are rewritten with it, all or nothing."""

import textwrap

MODEL = """
  import tensorflow as tf

  def model_fn(features, labels, mode):
    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features, 1))
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

  def create_estimator(run_config):
    return tf.estimator.Estimator(model_fn, config=run_config)
"""
INPUTS = """
  import tensorflow as tf

  def read():
    return tf.data.TextLineDataset(tf.gfile.Glob("*.csv"))
"""
TASK = """
  import tensorflow as tf
  from trainer import inputs, model

  config = tf.estimator.RunConfig(model_dir="m", save_checkpoints_steps=10)
  estimator = model.create_estimator(config)
  train_spec = tf.estimator.TrainSpec(inputs.read, max_steps=20)
  tf.estimator.train_and_evaluate(estimator, train_spec, tf.estimator.EvalSpec(inputs.read))
"""
PACKAGE = {"trainer/model.py": MODEL, "trainer/inputs.py": INPUTS, "trainer/task.py": TASK}
CANNED = """
  import tensorflow as tf

  def create_estimator(directory):
    column = tf.feature_column.numeric_column("x")
    estimator = tf.estimator.LinearRegressor([column], model_dir=directory)
    return estimator

  def train():
    estimator = create_estimator("m")
    estimator.train(input_fn, max_steps=10)

  def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[1.0]]))
"""


def _codes(result):
  return [finding.code for finding in result.findings]


def test_a_driver_and_what_it_imports_are_rewritten_with_the_program(run):
  texts, results = run(PACKAGE)
  assert "runtime.ModelFn(model_fn, config=run_config)" in texts["trainer/model.py"]
  task = texts["trainer/task.py"]
  assert 'config = runtime.RunConfig(model_dir="m", save_checkpoints_steps=10)' in task
  assert "train_spec = runtime.TrainSpec(inputs.read, max_steps=20)" in task
  assert "runtime.train_and_evaluate(estimator, train_spec, runtime.EvalSpec(inputs.read))" in task
  assert "import tensorflow.compat.v1 as tf" in texts["trainer/inputs.py"]
  assert sum(result.left for result in results.values()) == 0


def test_a_driver_of_a_driver_and_a_test_follow(run):
  files = {
    **PACKAGE,
    "trainer/__main__.py": "import tensorflow as tf\nfrom trainer import task\ntf.app.run()\n",
    "trainer/model_test.py": """
      import tensorflow as tf
      from trainer import model

      class ModelTest(tf.test.TestCase):
        def test_loss(self):
          model.model_fn(tf.placeholder(tf.float32), None, tf.estimator.ModeKeys.PREDICT)
    """,
  }
  texts, _ = run(files)
  assert "import tensorflow.compat.v1 as tf" in texts["trainer/__main__.py"]
  assert "runtime.ModeKeys.PREDICT" in texts["trainer/model_test.py"]


def test_a_driver_without_its_program_in_the_call_stays(run):
  texts, _ = run(PACKAGE, only=["trainer/task.py", "trainer/inputs.py"])
  assert texts == {name: textwrap.dedent(text) for name, text in PACKAGE.items()}


def test_a_driver_of_another_project_stays(run):
  other = "import tensorflow as tf\nimport modelling\nconfig = tf.estimator.RunConfig()\n"
  texts, _ = run({**PACKAGE, "other/task.py": other, "other/modelling.py": INPUTS})
  assert texts["other/task.py"] == other
  assert texts["other/modelling.py"] == textwrap.dedent(INPUTS)


def test_a_name_without_replacement_keeps_the_driver_and_both_files_say_so(run):
  task = TASK + "  tf.contrib.learn.learn_runner.tune(estimator)\n"
  texts, results = run({**PACKAGE, "trainer/task.py": task})
  assert texts["trainer/task.py"] == textwrap.dedent(task)
  assert "runtime.ModelFn" in texts["trainer/model.py"]
  assert {"EM233", "EM901"} <= set(_codes(results["trainer/task.py"]))
  (said,) = [f for f in results["trainer/model.py"].findings if f.code == "EM915"]
  assert "trainer/task.py imports this file and stays as it is (EM233 in line" in said.message
  assert said.span.line == 10
  assert results["trainer/model.py"].left == 1


def test_a_driver_of_a_program_of_an_earlier_run_follows(run):
  texts, _ = run(PACKAGE, only=["trainer/model.py"])
  texts, _ = run(texts)
  assert "runtime.RunConfig" in texts["trainer/task.py"]
  assert "import tensorflow.compat.v1 as tf" in texts["trainer/inputs.py"]


def test_a_second_run_changes_nothing(run):
  once, _ = run(PACKAGE)
  twice, results = run(once)
  assert twice == once
  assert all(result.raw is None for result in results.values())


def test_a_driver_means_the_tensorflow_for_all_parts_of_the_program(run):
  model = """
    import tensorflow as tf

    def model_fn(features, labels, mode):
      return tf.estimator.EstimatorSpec(mode, predictions=tf.nn.dropout(features, 0.9))
  """
  task = "import tensorflow as tf\nfrom trainer import model\ntf.app.run(model.main)\n"
  texts, _ = run({"trainer/model.py": model, "trainer/task.py": task})
  assert "import tensorflow.compat.v1 as tf" in texts["trainer/model.py"]
  texts, _ = run({"trainer/model.py": model, "trainer/task.py": task.replace("tf.app", "app")})
  assert "tensorflow.compat.v1" not in texts["trainer/model.py"]


def test_a_driver_of_canned_estimators_stays_and_says_where_it_has_to_follow(run):
  """Its estimator is no `runtime.ModelFn`, which `runtime.train_and_evaluate` asks for."""
  texts, results = run({**PACKAGE, "trainer/model.py": CANNED})
  assert "BackupAndRestore" in texts["trainer/model.py"]
  assert texts["trainer/task.py"] == textwrap.dedent(TASK)
  messages = [f.message for f in results["trainer/task.py"].findings if f.code == "EM222"]
  assert len(messages) == 1
  assert messages[0].startswith("`create_estimator` comes from")
  assert "EM204" in _codes(results["trainer/task.py"])


def test_a_driver_of_both_kinds_stays_where_an_estimator_is_another_thing_now(run):
  task = TASK + "  from trainer import canned\n  canned.create_estimator('c').train(inputs.read)\n"
  texts, results = run({**PACKAGE, "trainer/canned.py": CANNED, "trainer/task.py": task})
  assert texts["trainer/task.py"] == textwrap.dedent(task)
  assert "EM222" in _codes(results["trainer/task.py"])
  (said,) = [f for f in results["trainer/model.py"].findings if f.code == "EM915"]
  assert "(EM222 in line 10)" in said.message
  assert "EM915" not in _codes(results["trainer/canned.py"])


def test_canned_estimators_that_only_a_driver_imports_are_as_without_it(run):
  task = TASK + "  from trainer import canned\n  canned.train()\n"
  texts, _ = run({**PACKAGE, "trainer/canned.py": CANNED, "trainer/task.py": task})
  alone, _ = run({"trainer/canned.py": CANNED})
  assert texts["trainer/canned.py"] == alone["trainer/canned.py"]
  assert "runtime.RunConfig" in texts["trainer/task.py"]


def test_an_attribute_that_no_longer_holds_an_estimator_is_said_where_it_is_read(run):
  model = """
    import tensorflow as tf

    class Trainer:
      def __init__(self, directory):
        column = tf.feature_column.numeric_column("x")
        self.linear = tf.estimator.LinearRegressor([column], model_dir=directory)

      def fit(self):
        self.linear.train(input_fn, max_steps=10)

    def input_fn():
      return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[1.0]]))
  """
  task = "import model\nmade = model.Trainer('m')\nmade.linear.train(model.input_fn)\nmade.fit()\n"
  texts, results = run({"model.py": model, "task.py": task, "other.py": "x.linear.train(f)\n"})
  assert "self.linear = runtime.BackupAndRestore(" in texts["model.py"]
  (said,) = results["task.py"].findings
  assert said.code == "EM222"
  assert (said.span.line, said.message.split(" comes")[0]) == (3, "`made.linear`")
  assert "other.py" not in results or not results["other.py"].findings
