"""Runs the cases of the contributed modules and tells what they made and computed.

Runs in Python 3.7 with TensorFlow 1.15, too.
"""

import inspect

import contrib_cases
import numpy as np

COLLECTIONS = ("model_variables", "W", "B", "all", "mine", "ends", "biases", "weights")
# These start as the program made them.
KEPT = ("local_step", "biased", "learning_rate", "global_step", "beta1_power", "beta2_power")
SIGNATURES = ("layers", "framework", "lookup", "losses", "crf", "rnn", "training")


def plain(value):
  """Returns a value of a session as JSON holds it: text, or [shape, numbers]."""
  value = np.asarray(value)
  if value.dtype.kind in "OS":
    return value.item().decode()
  numbers = value.astype(np.float64).ravel()
  return [list(value.shape), [float(format(one, ".9g")) for one in numbers]]


def _initial(tf, variable):
  name = variable.op.name
  if name.split("/")[-1] in KEPT or not variable.dtype.base_dtype.is_floating:
    return None
  low = 0.5 if name.endswith("moving_variance") or "/" not in name else -1.0
  if name.split("/")[-1] in ("Adagrad", "Momentum", "Adam", "Adam_1"):
    low = 0.1
  return contrib_cases.values(name, variable.shape.as_list(), low)


def _names(v1, collection):
  found = v1.get_collection(collection)
  return [getattr(one, "aliases", None) or one.op.name for one in found]


def _tags(v1, session):
  """Returns the tags of the summaries, with the scalars."""
  merged = v1.summary.merge_all()
  if merged is None:
    return {}
  summary = v1.Summary.FromString(session.run(merged))
  return {one.tag: one.simple_value for one in summary.value}


def _gradients(tf, outputs, trainable):
  """Returns {name: gradient} of the outputs, each element with a factor of its own."""
  total = sum(
    tf.reduce_sum(one * contrib_cases.values(key, one.shape.as_list()))
    for key, one in sorted(outputs.items())
    if one.dtype == tf.float32 and one.shape.is_fully_defined()
  )
  gradients = zip(trainable, tf.gradients(total, trainable) if trainable else [])
  return {var.op.name: tf.convert_to_tensor(one) for var, one in gradients if one is not None}


def run(tf, contrib, name):
  """Returns what a case made (variables, collections) and computed (outputs, gradients, updates)."""
  v1 = tf.compat.v1
  with tf.Graph().as_default():
    outputs = contrib_cases.CASES[name](tf, contrib)
    trainable = v1.trainable_variables()
    gradients = {} if name.startswith("optimize") else _gradients(tf, outputs, trainable)
    # Optimizing a graph takes longer than running it.
    config = v1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with v1.Session(config=config) as session:
      result = {
        "variables": [[one.op.name, one.shape.as_list()] for one in v1.global_variables()],
        "trainable": [one.op.name for one in trainable],
        "local": [one.op.name for one in v1.local_variables()],
        "collections": {key: _names(v1, key) for key in COLLECTIONS if v1.get_collection(key)},
        "updates": [len(v1.get_collection(key)) for key in ("update_ops", "own")],
      }
      session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
      session.run(v1.tables_initializer())
      for one in v1.global_variables():
        value = _initial(tf, one)
        if value is not None:
          one.load(value, session)
      scalars = {}
      for key in ("regularization_losses", "losses"):
        scalars[key] = session.run(v1.get_collection(key))
      result["penalties"] = {key: [plain(one) for one in some] for key, some in scalars.items()}
      result["gradients"] = {key: plain(one) for key, one in session.run(gradients).items()}
      result["tags"] = {key: plain(one) for key, one in _tags(v1, session).items()}
      result["outputs"] = {key: plain(one) for key, one in session.run(outputs).items()}
      updates = [v1.get_collection("update_ops"), v1.get_collection("own")]
      for _ in range(2):
        session.run([tf.group(*[one for some in updates for one in some])])
      after = session.run({one.op.name: one for one in v1.global_variables()})
      result["after"] = {key: plain(one) for key, one in after.items() if "moving" in key}
      if name.startswith("optimize"):
        session.run(outputs)
        after = session.run({one.op.name: one for one in v1.global_variables()})
        result["after"] = {key: plain(one) for key, one in after.items()}
    return result


def _default(value):
  if value is inspect.Parameter.empty:
    return "required"
  if value is None or isinstance(value, (bool, int, float, str, tuple)):
    return repr(value)
  return "object"


def signatures(module):
  """Returns {name: [[argument, default], ...]} of the functions of a module."""
  found = {}
  for name in dir(module):
    function = getattr(module, name)
    if name.startswith("_") or not inspect.isfunction(function):
      continue
    parameters = inspect.signature(function).parameters.values()
    found[name] = [[one.name, _default(one.default)] for one in parameters]
  return found
