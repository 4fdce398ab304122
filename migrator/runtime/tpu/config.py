"""RunConfig and TPUConfig of programs that were written for TPUs, on CPU and GPU."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from migrator.runtime.hosting.run_config import RunConfig as _RunConfig

_ITERATIONS = re.compile(r"([1-9]\d*)([smh])?")
_SECONDS = {"s": 1, "m": 60, "h": 3600}
_CORES = (1, 2, 4, 8, 16, 32, 64, 128)


class InputPipelineConfig:
  """How the input of a TPU is fed, as in `tf.estimator.tpu.InputPipelineConfig`."""

  PER_SHARD_V1 = 1
  PER_HOST_V1 = 2
  PER_HOST_V2 = 3
  BROADCAST = 4
  SLICED = 5


class _Fields(NamedTuple):
  """The fields of a TPUConfig."""

  iterations_per_loop: Union[int, str]
  num_shards: Optional[int]
  num_cores_per_replica: Optional[int]
  per_host_input_for_training: Any
  tpu_job_name: Optional[str]
  initial_infeed_sleep_secs: Optional[int]
  input_partition_dims: Any
  eval_training_input_configuration: int
  experimental_host_call_every_n_steps: int
  experimental_allow_per_host_v2_parallel_get_next: bool
  experimental_feed_hook: Any


class TPUConfig(_Fields):
  """What a program says of the TPU. On CPU and GPU only `iterations_per_loop` means something, for logs."""

  __slots__ = ()

  def __new__(
    cls,
    iterations_per_loop: Union[int, str] = 2,
    num_shards: Optional[int] = None,
    num_cores_per_replica: Optional[int] = None,
    per_host_input_for_training: Any = True,
    tpu_job_name: Optional[str] = None,
    initial_infeed_sleep_secs: Optional[int] = None,
    input_partition_dims: Any = None,
    eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1,
    experimental_host_call_every_n_steps: int = 1,
    experimental_allow_per_host_v2_parallel_get_next: bool = False,
    experimental_feed_hook: Any = None,
  ) -> TPUConfig:
    """Checks the values as `tf.estimator.tpu.TPUConfig` did.

    Raises:
      ValueError: with its messages, for values that it refuses.
      TypeError: with its messages, for numbers of other types.
    """
    iterations(iterations_per_loop)
    if num_shards is not None:
      check_positive(num_shards, "TPUConfig num_shards")
    if input_partition_dims is not None:
      if len(input_partition_dims) not in (1, 2):
        raise ValueError("input_partition_dims must be a list/tuple with one or two elements.")
      if per_host_input_for_training is not InputPipelineConfig.PER_HOST_V2:
        raise ValueError("input_partition_dims is only supported in PER_HOST_V2 mode.")
      if num_cores_per_replica is None:
        raise ValueError("input_partition_dims requires setting num_cores_per_replica.")
    if num_cores_per_replica is not None and num_cores_per_replica not in _CORES:
      raise ValueError(
        f"num_cores_per_replica must be {', '.join(map(str, _CORES))}; got {num_cores_per_replica}"
      )
    if eval_training_input_configuration not in (
      InputPipelineConfig.PER_HOST_V1,
      InputPipelineConfig.SLICED,
    ):
      raise ValueError(
        "eval_training_input_configuration must be PER_HOST_V1 or SLICED; got "
        f"{eval_training_input_configuration}"
      )
    if isinstance(per_host_input_for_training, bool):
      per_host_input_for_training = (
        InputPipelineConfig.PER_HOST_V1
        if per_host_input_for_training
        else InputPipelineConfig.PER_SHARD_V1
      )
    if initial_infeed_sleep_secs:
      check_positive(initial_infeed_sleep_secs, "TPUConfig initial_infeed_sleep_secs")
    return super().__new__(
      cls,
      iterations_per_loop,
      num_shards,
      num_cores_per_replica,
      per_host_input_for_training,
      tpu_job_name,
      initial_infeed_sleep_secs,
      input_partition_dims,
      eval_training_input_configuration,
      experimental_host_call_every_n_steps,
      experimental_allow_per_host_v2_parallel_get_next,
      experimental_feed_hook,
    )


class RunConfig(_RunConfig):
  """A `runtime.RunConfig` with a TPUConfig."""

  def __init__(
    self,
    tpu_config: Optional[TPUConfig] = None,
    evaluation_master: Optional[str] = None,
    master: Optional[str] = None,
    cluster: Any = None,
    **kwargs: Any,
  ):
    """Makes a configuration.

    Args:
      tpu_config: what is said of the TPU; by default TPUConfig().
      evaluation_master: None or "": evaluations run in this process.
      master: None or "": trainings run in this process.
      cluster: None: there is no TPU.
      **kwargs: those of `runtime.RunConfig`.

    Raises:
      ValueError: as `runtime.RunConfig`; also for a session or a cluster elsewhere.
    """
    super().__init__(**kwargs)
    if master is not None and cluster is not None:
      raise ValueError("Both master and cluster are set.")
    for name, value in (
      ("master", master),
      ("evaluation_master", evaluation_master),
      ("cluster", cluster),
    ):
      if value:
        raise ValueError(
          f"RunConfig({name}={value!r}) asks for a session on another machine. The model_fn runs in this process, "
          f"on CPU or GPU: leave {name} out."
        )
    self._tpu_config = tpu_config or TPUConfig()

  @property
  def tpu_config(self) -> TPUConfig:
    """What is said of the TPU."""
    return self._tpu_config

  @property
  def cluster(self) -> None:
    """No cluster of TPUs."""
    return None

  def replace(self, **kwargs: Any) -> RunConfig:
    """Returns a copy with other values, as `runtime.RunConfig.replace`; also with another `tpu_config`."""
    tpu_config = kwargs.pop("tpu_config", self._tpu_config)
    new: Any = super().replace(**kwargs)
    new._tpu_config = tpu_config
    return new


def iterations(iterations_per_loop: Any) -> tuple[int, bool]:
  """Returns what `iterations_per_loop` says.

  Args:
    iterations_per_loop: steps, or a time as "30s", "5m", "1h".

  Returns:
    The steps and False, or the seconds and True.

  Raises:
    ValueError: with TPUConfig's message, for anything else.
  """
  match = _ITERATIONS.fullmatch(str(iterations_per_loop))
  if not match:
    raise ValueError(
      "Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer value or "
      "time-based value `<N><s|m|h>` where <N> is anypositive integer and `s`, `m`, `h` are unit of "
      "time in seconds, minutes, hours respectively. Examples of valid values: `3600s`, `60m`, `1h`."
    )
  number, unit = match.groups()
  return int(number) * _SECONDS.get(unit, 1), unit in _SECONDS


def check_positive(value: Any, name: str) -> None:
  """Checks a number.

  Raises:
    TypeError: with TPUConfig's message, if it is no integer.
    ValueError: with TPUConfig's message, if it is not positive.
  """
  if not isinstance(value, (int, np.integer)):
    raise TypeError(f"{name} must be int, got {type(value)}")
  if value <= 0:
    raise ValueError(f"{name} must be positive, got {value}")
