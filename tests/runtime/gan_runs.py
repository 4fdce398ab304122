"""Runs the cases of `tf.contrib.gan` and tells what they made, computed and trained.

Runs in Python 3.7 with TensorFlow 1.14, too.
"""

import inspect

import gan_cases
from contrib_cases import values
from contrib_runs import plain

STEPS = 2
TUPLES = (
  "ACGANModel",
  "CycleGANLoss",
  "CycleGANModel",
  "GANLoss",
  "GANModel",
  "GANTrainOps",
  "GANTrainSteps",
  "InfoGANModel",
)
# Collections whose members count.
COUNTED = ("losses", "regularization_losses", "update_ops", "train_op")


def _start(v1, session):
  """Gives each variable of a network a value of its own."""
  slots = ("Adam", "Momentum", "RMSProp")
  for one in v1.global_variables():
    name = one.op.name
    parts = name.split("/")
    is_slot = any(part.startswith(slots) for part in parts)
    if is_slot or "power" in parts[-1] or parts[-1] in ("global_step", "moved"):
      continue
    low = 0.5 if parts[-1] == "moving_variance" else -1.0
    one.load(values(name, one.shape.as_list(), low), session)


def _points(graph):
  """Returns {where a gradient penalty draws its points: numbers}, which seeds would not give twice."""
  found = [one for one in graph.get_operations() if one.type == "RandomUniform"]
  found = [one for one in found if "gradient_penalty" in one.name]
  return {one.outputs[0]: values("points", [4, 1], 0.0) for one in found}


def _tags(v1, text):
  """Returns {tag: value} of summaries, scalars only with one."""
  return {one.tag: one.simple_value for one in v1.Summary.FromString(text).value}


def _images(tf, session, text):
  """Returns {tag: pixels [height, width, channels]} of the images of summaries."""
  found = {}
  for one in tf.compat.v1.Summary.FromString(text).value:
    if one.HasField("image"):
      decoded = tf.image.decode_png(one.image.encoded_image_string)
      found[one.tag] = plain(session.run(decoded))
  return found


def run(tf, gan, layers, name):
  """Returns what a case made (variables, collections), computed (outputs) and trained (variables)."""
  v1 = tf.compat.v1
  with tf.Graph().as_default() as graph:
    made = gan_cases.CASES[name](tf, gan, layers)
    result = {
      "variables": [[one.op.name, one.shape.as_list()] for one in v1.global_variables()],
      "trainable": [one.op.name for one in v1.trainable_variables()],
      "networks": [[one.op.name for one in some] for some in made.get("variables", [])],
      "counts": {key: len(v1.get_collection(key)) for key in COUNTED},
    }
    feed = _points(graph)
    config = v1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with v1.Session(config=config) as session:
      session.run(v1.global_variables_initializer())
      _start(v1, session)
      merged = v1.summary.merge_all()
      summaries = tf.constant(b"") if merged is None else merged
      outputs, collected, text = session.run(
        [made["outputs"], v1.get_collection("losses"), summaries], feed
      )
      result["outputs"] = {key: plain(one) for key, one in outputs.items()}
      result["collected"] = [plain(one) for one in collected]
      result["images"] = _images(tf, session, text)
      result["tags"] = {key: plain(one) for key, one in _tags(v1, text).items()}
      trained = [[session.run(one, feed) for one in made["train"]] for _ in range(STEPS)]
      result["trained"] = [[plain(one) for one in some] for some in trained]
      after = session.run({one.op.name: one for one in v1.global_variables()})
      result["after"] = {key: plain(one) for key, one in after.items()}
  return result


def train(tf, gan, api, name, directory):
  """Returns what a program of 4 steps, and 2 more from its checkpoint, leaves there and loses then.

  Args:
    tf: TensorFlow.
    gan: `tf.contrib.gan`.
    api: has `Estimator`, `EstimatorSpec`, `layers`, `while_loop` and `latest_checkpoint`.
    name: a program of `gan_cases`.
    directory: that of the model.
  """

  def input_fn():
    return gan_cases.program_input(tf)

  for steps in (4, 2):
    estimator = api.Estimator(gan_cases.PROGRAMS[name](tf, gan, api), directory)
    estimator.train(input_fn, steps=steps)
  reader = tf.train.load_checkpoint(api.latest_checkpoint(directory))
  found = {one: plain(reader.get_tensor(one)) for one in reader.get_variable_to_shape_map()}
  metrics = estimator.evaluate(input_fn, steps=3)
  return {
    "variables": found,
    "metrics": {key: plain(one) for key, one in metrics.items()},
  }


def errors(tf, gan, layers):
  """Returns {case: kind of the error that it raises}."""
  found = {}
  for name, (kind, build) in gan_cases.ERRORS.items():
    with tf.Graph().as_default():
      try:
        build(tf, gan, layers)
        found[name] = "none"
      except kind as error:
        found[name] = type(error).__name__
  return found


class _Session:
  """Keeps what it is asked to run."""

  def __init__(self):
    self.asked = []

  def run(self, fetches):
    self.asked.append(fetches)


class _Context:
  """What a hook gets in front of a step."""

  def __init__(self, session):
    self.session = session


def hooks(gan):
  """Returns {how: what the hooks ask to be run in front of a step}."""
  found = {}
  for kind in ("sequential", "joint"):
    for steps in (None, (2, 3), (3, 1), (0, 2)):
      make = getattr(gan, f"get_{kind}_train_hooks")
      made = make() if steps is None else make(gan.GANTrainSteps(*steps))
      session = _Session()
      some = made(gan.GANTrainOps("g", ["d", "e"], "i"))
      for hook in some:
        hook.before_run(_Context(session))
      found[f"{kind} {steps}"] = session.asked
  return found


def fields(gan):
  """Returns {tuple: its fields}."""
  return {name: list(getattr(gan, name)._fields) for name in TUPLES}


def _default(value):
  if value is inspect.Parameter.empty:
    return "required"
  if value is None or isinstance(value, (bool, int, float, str)):
    return repr(value)
  return "object"


def signatures(*modules):
  """Returns {name: [[argument, default], ...]} of the functions of modules."""
  found = {}
  for module in modules:
    for name in dir(module):
      function = getattr(module, name)
      if not name.startswith("_") and inspect.isfunction(function):
        parameters = inspect.signature(function).parameters.values()
        found[name] = [[one.name, _default(one.default)] for one in parameters]
  return found
