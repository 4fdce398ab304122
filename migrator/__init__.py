"""Moves TensorFlow Estimator programs, and their checkpoints, to TF2."""

__version__ = "0.1.0"
