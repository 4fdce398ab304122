"""Estimators whose model_fn is taken apart: network, loss, metrics and predictions are functions.

The statements stay the user's own. What cannot be proved to stay the same keeps the model_fn as it is:
every refusal here has a form to fall back to.
"""

from __future__ import annotations

from migrator.analysis import units
from migrator.rewrite.model_fns import found
from migrator.rewrite.model_fns.fit import ModelFitTarget
from migrator.rewrite.model_fns.target import SplitTarget
from migrator.rewrite.plan import Plan

__all__ = ["ModelFitTarget", "SplitTarget", "fit_target", "target"]


def target(plan: Plan, tf: str, unit: units.Unit, options) -> SplitTarget:
  """What writes a unit in this form.

  Args:
    plan: of the file.
    tf: the name under which the output knows TF2.
    unit: an Estimator with a model_fn of its own.
    options: of the rewriting.

  Raises:
    Unsupported: EM244, why the model_fn stays as it is; another code for what no form carries over.
  """
  split = found.split(plan, unit)
  plan.release(split.function.node)
  return SplitTarget(plan, tf, unit, split, options.resume_data)


def fit_target(plan: Plan, tf: str, unit: units.Unit, options) -> ModelFitTarget:
  """What writes a unit as a Keras model; arguments as of `target`.

  Raises:
    Unsupported: EM255, why it is no Keras model, when it writes; EM244 and others, also now.
  """
  split = found.split(plan, unit)
  plan.release(split.function.node)
  return ModelFitTarget(plan, tf, unit, split, options.exact)
