"""The one kind of error with which the runtime refuses a checkpoint."""


class CheckpointError(ValueError):
  """A checkpoint cannot be used, and nothing of it has been loaded.

  The message names the checkpoint, what is wrong with it (every variable with both shapes, where
  variables are the reason) and the ways out.
  """
