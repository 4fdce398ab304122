"""Runs a legacy program and its migrated twin and compares what they do to their checkpoints."""

from migrator.verify.compare import Report
from migrator.verify.runs import CannotRunError
from migrator.verify.verification import verify

__all__ = ["CannotRunError", "Report", "verify"]
