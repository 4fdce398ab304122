"""The programs that the tests train twice: as an Estimator (legacy.py) and as a migrated model.

A job is a plain dict, so that it can be handed to the other TensorFlow as JSON:

  model_dir: where to train.
  flavour: "v1" or "v2".
  optimizer: "adam", "adagrad", "sgd", "momentum", "rmsprop" or "default".
  hidden_units, classes, features, dropout: of the classifier; features is a list of [key, shape].
  seed: of the data and of the initial weights.
  batch: how many examples a batch has.
  config: keywords of RunConfig.
  calls: what is done one after the other, each a list of the kind and its arguments:
    ["train", {"max_steps": 10, "batches": 20, "raise_at": 6}], ["evaluate", {"batches": 3}],
    ["predict", {"predict_keys": [...]}], ["new", {"config": {...}}] (the Estimator made again, as by a
    restart), ["copy", {"to": directory}] (of the model directory), ["events", {}],
    ["check_config", {...}] (the error that RunConfig raises).
"""

import numpy as np

ROWS = 96


def job(model_dir, **changes):
  """Returns a job with the given changes to the defaults."""
  result = {
    "model_dir": str(model_dir),
    "flavour": "v1",
    "optimizer": "adam",
    "hidden_units": [6, 5],
    "classes": 3,
    "features": [["x", [4]]],
    "dropout": None,
    "seed": 1,
    "batch": 8,
    "config": {},
    "calls": [],
  }
  unknown = set(changes) - set(result)
  if unknown:
    raise KeyError(f"no such key of a job: {unknown}")
  result.update(changes)
  return result


def make_data(job, labels_shape=()):
  """Returns the features (a dict, float32, [rows, *shape]) and labels (int32, [rows, *labels_shape])."""
  random = np.random.RandomState(job["seed"])
  labels = random.randint(job["classes"], size=ROWS).astype(np.int32)
  features = {}
  for key, shape in job["features"]:
    noise = random.rand(ROWS, *shape).astype(np.float32)
    centre = np.random.RandomState(job["seed"] + 100).rand(job["classes"], *shape)
    features[key] = (noise + centre[labels]).astype(np.float32)
  return features, labels.reshape(ROWS, *labels_shape)


def make_dataset(tf, job, batches=None, labels=True, first=0):
  """Returns the dataset of a job: the rows in order, again and again, at most `batches` batches."""
  features, y = make_data(job)
  dataset = tf.data.Dataset.from_tensor_slices((features, y) if labels else features)
  dataset = dataset.repeat().batch(job["batch"])
  return dataset.skip(first).take(-1 if batches is None else batches)


def catalogue(root):
  """Returns all jobs of the tests by name; their model directories are `<root>/<name>`."""
  result = {}

  def add(name, calls, **changes):
    result[name] = job(root / name, calls=calls, **changes)

  ten = [["train", {"max_steps": 10}]]
  for every in (1, 3, 4):
    add(f"every_{every}", ten, config={"save_checkpoints_steps": every})
  add(
    "default_policy",
    [*ten, ["train", {"max_steps": 15}], ["train", {"steps": 5}], ["train", {"batches": 3}]],
  )
  chain = [
    *ten,
    ["train", {"max_steps": 10}],
    ["train", {"max_steps": 8}],
    ["train", {"max_steps": 15}],
    ["train", {"steps": 6}],
    ["train", {"batches": 5}],
    ["train", {"max_steps": 100, "batches": 5}],
    ["new", {"config": {"save_checkpoints_steps": 4, "keep_checkpoint_max": 2}}],
    ["train", {"steps": 9}],
  ]
  add("chain", chain, config={"save_checkpoints_steps": 4})
  for keep in (0, None, 2):
    config = {"save_checkpoints_steps": 3, "keep_checkpoint_max": keep}
    add(f"keep_{keep}", [["train", {"max_steps": 11}], ["train", {"max_steps": 14}]], config=config)
  for every in (1, 4):
    calls = [["train", {"max_steps": 10, "raise_at": 6}], ["new", {}], *ten]
    add(f"interrupted_{every}", calls, config={"save_checkpoints_steps": every})
  add("stopped", [["train", {"stop_at": 5}]], config={"save_checkpoints_steps": 3})
  off = [["train", {"max_steps": 3}], ["train", {"max_steps": 3, "raise_at": 2}], ["evaluate", {}]]
  add("off", off, config={"save_checkpoints_steps": None})
  add("zero", off[:1], config={"save_checkpoints_secs": 0})
  nan = [["train", {"max_steps": 6, "nan_at": 3}], ["train", {"max_steps": 4, "nan_at": 1}]]
  # Not with summaries: the Estimator's histograms fail of NaN in their own way.
  add("nan", nan, hidden_units=[], config={"save_checkpoints_steps": 2, **QUIET})
  nan = [["train", {"max_steps": 3, "nan_at": 3}]]
  add("nan_at_the_end", nan, hidden_units=[], config=QUIET)
  for steps in (1, 3):
    calls = [
      ["train", {"max_steps": 7}],
      ["train", {"max_steps": 12}],
      ["evaluate", {}],
      ["evaluate", {"name": "other"}],
      ["events", {}],
    ]
    config = {"save_summary_steps": steps, "log_step_count_steps": 2}
    add(f"events_{steps}", calls, config=config)
  add("no_events", [["train", {"max_steps": 3}], ["events", {}]], config=QUIET)
  add(
    "untrained",
    [["evaluate", {}], ["evaluate", {"batches": 0}], ["predict", {}], ["events", {}]],
  )
  add("arguments", [["check_config", arguments] for arguments in BAD_CONFIGS])
  result["arguments"]["calls"] += [
    ["train", {"steps": 5, "max_steps": 3}],
    ["train", {"steps": 0}],
    ["train", {"max_steps": 0}],
    ["evaluate", {"steps": 0}],
    ["predict", {"predict_keys": ["nothing"]}],
  ]

  results = [
    ["evaluate", {}],
    ["evaluate", {"steps": 2}],
    ["predict", {}],
    ["predict", {"predict_keys": ["classes", "logits"]}],
    ["predict", {"yield_single_examples": False}],
  ]
  thirty = [["train", {"max_steps": 30}]]
  ends = {"save_checkpoints_steps": 30}
  scalars = [["a", []], ["b", []], ["c", []]]
  for optimizer in ("adam", "adagrad", "sgd", "momentum", "rmsprop"):
    calls = thirty + (results if optimizer == "adam" else [])
    add(f"v1_{optimizer}", calls, optimizer=optimizer, config=ends)
  for optimizer in ("adam", "default", "momentum"):
    calls = thirty + (results if optimizer == "default" else [])
    add(f"v2_{optimizer}", calls, flavour="v2", optimizer=optimizer, config=ends, features=scalars)
  for flavour, optimizer in (("v1", "adam"), ("v1", "adagrad"), ("v2", "adam")):
    name = f"half_{flavour}_{optimizer}"
    calls = [
      ["train", {"max_steps": 6}],
      ["copy", {"to": f"{root / name}_at_6"}],
      ["new", {}],
      *ten,
    ]
    add(name, calls, flavour=flavour, optimizer=optimizer)
  return result


QUIET = {"save_summary_steps": 0, "log_step_count_steps": None}
BAD_CONFIGS = (
  {"save_checkpoints_steps": 1, "save_checkpoints_secs": 1},
  {"save_checkpoints_steps": -1},
  {"save_checkpoints_secs": -1},
  {"keep_checkpoint_max": -1},
  {"keep_checkpoint_every_n_hours": 0},
  {"save_summary_steps": -1},
  {"log_step_count_steps": 0},
)
