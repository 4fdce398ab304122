"""The three modes in which a model_fn is called."""


class ModeKeys:
  """The values of `mode`, as in `tf.estimator.ModeKeys`; programs also write the strings themselves."""

  TRAIN = "train"
  EVAL = "eval"
  PREDICT = "infer"
