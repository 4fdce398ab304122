"""`tf.contrib.learn`: experiments around a model_fn, for one process."""

from __future__ import annotations

from typing import Any, Callable, Optional

from migrator.runtime.contrib.experiments import Experiment
from migrator.runtime.contrib.export_strategies import ExportStrategy, make_export_strategy

__all__ = ["Experiment", "ExportStrategy", "make_export_strategy", "run"]

_SCHEDULES = (
  *("continuous_train_and_eval", "evaluate", "local_run", "test", "train", "train_and_evaluate"),
)


def run(
  experiment_fn: Callable[..., Experiment],
  output_dir: Optional[str] = None,
  schedule: Optional[str] = None,
  run_config: Any = None,
  hparams: Any = None,
) -> Any:
  """Makes an experiment and runs it, and returns what its schedule returns: `learn_runner.run`.

  Args:
    experiment_fn: called with `run_config` and `hparams`, or with `output_dir`.
    output_dir: the model_dir, where no configuration is given.
    schedule: the name of the method to run; by default "train_and_evaluate".
    run_config: with a model_dir.
    hparams: for the function.

  Raises:
    ValueError: if neither or both of `output_dir` and `run_config` are given, there is no model_dir, or the
      schedule is none that the runtime offers.
    TypeError: if the function cannot be called or gives no Experiment.
  """
  if output_dir is not None and run_config is not None:
    raise ValueError("Cannot provide both `output_dir` and `run_config`")
  if output_dir is None and run_config is None:
    raise ValueError("Must set value for `output_dir` or `run_config`")
  if not callable(experiment_fn):
    raise TypeError(f'Experiment builder "{experiment_fn}" is not callable.')
  if run_config is not None:
    if not run_config.model_dir:
      raise ValueError("Must specify a model directory `model_dir` in `run_config`.")
    experiment = experiment_fn(run_config, hparams)
  elif not output_dir:
    raise ValueError("Must specify an output directory")
  elif hparams is not None:
    raise ValueError("Must set `hparams` as None for `experiment_fn` with `output_dir`.")
  else:
    experiment = experiment_fn(output_dir=output_dir)
  if not isinstance(experiment, Experiment):
    raise TypeError(
      f"Experiment builder did not return an Experiment instance, got {type(experiment)} instead."
    )
  name = schedule or "train_and_evaluate"
  if name not in _SCHEDULES:
    raise ValueError(f"The schedule {name!r} is none of {', '.join(_SCHEDULES)}")
  return getattr(experiment, name)()
