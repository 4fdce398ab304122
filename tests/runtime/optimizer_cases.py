"""Training jobs, one for each optimizer, that the real Estimator and the migrated program both do.

Imported by the process of the Estimator and by the tests, with different versions of TensorFlow.
"""

import dataclasses

import numpy as np

BATCH = 16
ROWS = 60  # Of the table; a batch looks some up, others twice, and the last three never are.
SAVED = 20  # The step from which the migrated program goes on.
STEPS = 40


@dataclasses.dataclass(frozen=True)
class Case:
  """An optimizer in a training job.

  Attributes:
    tf1: the class in `tf.compat.v1.train`, or "BERT".
    rate: the learning rate, or that of the first step.
    arguments: of the TF1 class.
    schedule: "" for a constant rate, "staircase" or "polynomial".
    clip: Keras's argument for clipping and its value.
    ema: the decay of the moving averages, None without.
    ema_num_updates: whether they are told the number of updates.
  """

  tf1: str
  rate: float
  arguments: dict = dataclasses.field(default_factory=dict)
  schedule: str = ""
  clip: tuple = ()
  ema: float = None
  ema_num_updates: bool = False


SGD, MOMENTUM, RMSPROP = "GradientDescentOptimizer", "MomentumOptimizer", "RMSPropOptimizer"
FTRL, PROXIMAL = "FtrlOptimizer", "ProximalGradientDescentOptimizer"
CASES = {
  "sgd": Case(SGD, 0.1),
  "sgd_staircase": Case(SGD, 0.2, schedule="staircase"),
  "sgd_clipnorm": Case(SGD, 0.2, clip=("clipnorm", 0.1)),
  "sgd_clipvalue": Case(SGD, 0.2, clip=("clipvalue", 0.02)),
  "sgd_global_clipnorm": Case(SGD, 0.2, clip=("global_clipnorm", 0.2)),
  "sgd_ema": Case(SGD, 0.1, ema=0.9),
  "momentum": Case(MOMENTUM, 0.05, {"momentum": 0.9}),
  "momentum_staircase": Case(MOMENTUM, 0.1, {"momentum": 0.9}, schedule="staircase"),
  "nesterov": Case(MOMENTUM, 0.05, {"momentum": 0.9, "use_nesterov": True}),
  "adagrad": Case("AdagradOptimizer", 0.1),
  "adam": Case("AdamOptimizer", 0.01),
  "adam_polynomial": Case("AdamOptimizer", 0.02, schedule="polynomial"),
  "adam_clip_ema": Case(
    "AdamOptimizer", 0.01, clip=("global_clipnorm", 0.2), ema=0.99, ema_num_updates=True
  ),
  "rmsprop": Case(RMSPROP, 0.01),
  "rmsprop_momentum": Case(RMSPROP, 0.01, {"momentum": 0.5}),
  "rmsprop_centered": Case(RMSPROP, 0.01, {"centered": True}),
  "rmsprop_centered_momentum": Case(RMSPROP, 0.01, {"centered": True, "momentum": 0.5}),
  "ftrl": Case(FTRL, 0.1),
  "ftrl_l1_l2": Case(
    FTRL, 0.1, {"l1_regularization_strength": 0.01, "l2_regularization_strength": 0.1}
  ),
  "ftrl_power": Case(FTRL, 0.1, {"learning_rate_power": -0.7, "initial_accumulator_value": 0.5}),
  "ftrl_shrinkage": Case(FTRL, 0.1, {"l2_shrinkage_regularization_strength": 0.1}),
  "ftrl_beta": Case(FTRL, 0.1, {"beta": 0.5}, schedule="staircase"),
  "adadelta": Case("AdadeltaOptimizer", 1.0),
  "adam_weight_decay": Case(
    "BERT",
    0.01,
    {"weight_decay_rate": 0.1, "exclude_from_weight_decay": ["LayerNorm", "bias"]},
    clip=("global_clipnorm", 1.0),
    schedule="polynomial",
  ),
  "proximal_sgd": Case(PROXIMAL, 0.1, {"l1_regularization_strength": 0.001}),
  "proximal_adagrad": Case("ProximalAdagradOptimizer", 0.1, {"l1_regularization_strength": 0.001}),
}
_OURS = {"BERT": "AdamWeightDecay"}


def batches(seed, count=STEPS):
  """Returns the batches of a run: ids int64 [BATCH, 3], x float32 [BATCH, 4], labels int64 [BATCH]."""
  random = np.random.RandomState(seed)
  teacher = random.randn(4, 3)
  effects = random.randn(ROWS, 3)
  result = []
  for _ in range(count):
    x = random.randn(BATCH, 4).astype(np.float32)
    ids = random.randint(0, ROWS - 3, [BATCH, 3])
    labels = np.argmax(x @ teacher + effects[ids].mean(1) + random.randn(BATCH, 3), axis=1)
    result.append((ids, x, labels))
  return result


def make_optimizer(tf, optimizers, case, **changes):
  """Returns our optimizer for a case.

  Args:
    tf: TensorFlow.
    optimizers: `runtime.optimizers`.
    case: the case.
    **changes: arguments that replace those of the case.
  """
  name = _OURS.get(case.tf1, case.tf1[: -len("Optimizer")])
  arguments = dict([case.clip] if case.clip else [], **case.arguments)
  if case.ema is not None:
    arguments.update(use_ema=True, ema_momentum=case.ema, ema_num_updates=case.ema_num_updates)
  return getattr(optimizers, name)(make_rate(tf, case), **{**arguments, **changes})


def make_rate(tf, case):
  """Returns the learning rate as Keras takes it."""
  schedules = tf.keras.optimizers.schedules
  if case.schedule == "staircase":
    return schedules.ExponentialDecay(case.rate, 8, 0.7, staircase=True)
  if case.schedule == "polynomial":
    return schedules.PolynomialDecay(case.rate, 50, 0.001)
  return case.rate


def make_model(tf, sparse):
  """Returns the Keras model whose names are those of the Estimator's variables."""
  inputs = {"x": tf.keras.Input([4], name="x")}
  net = inputs["x"]
  if sparse:
    inputs["ids"] = tf.keras.Input([3], name="ids", dtype="int64")
    rows = tf.keras.layers.Embedding(ROWS, 4, name="lookup")(inputs["ids"])
    rows = tf.keras.layers.GlobalAveragePooling1D(name="mean")(rows)
    net = tf.keras.layers.Concatenate(name="concatenated")([rows, net])
  net = tf.keras.layers.Dense(8, activation="tanh", name="hidden")(net)
  return tf.keras.Model(inputs, tf.keras.layers.Dense(3, name="logits")(net))


def loss_of(tf, labels, logits):
  """Returns the mean cross entropy, float32, shape []."""
  return tf.reduce_mean(
    tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
  )


def make_step(tf, model, optimizer):
  """Returns the function that trains on a batch and returns its loss."""

  @tf.function
  def step(ids, x, labels):
    with tf.GradientTape() as tape:
      inputs = {"ids": ids, "x": x} if len(model.inputs) > 1 else {"x": x}
      loss = loss_of(tf, labels, model(inputs, training=True))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss

  return lambda batch: float(step(*(tf.constant(part) for part in batch)))


def train(tf, model, optimizer, data):
  """Trains a Keras model on batches in a loop; returns the losses."""
  return list(map(make_step(tf, model, optimizer), data))
