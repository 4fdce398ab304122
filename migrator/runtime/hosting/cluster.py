"""What TF_CONFIG says about the process, for programs that run in one."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any, Optional

CHIEF = "chief"
MASTER = "master"
WORKER = "worker"
PS = "ps"
EVALUATOR = "evaluator"


@dataclasses.dataclass(frozen=True)
class Task:
  """The place of the process in its cluster; the defaults are those of a process without one.

  Attributes:
    cluster: job -> addresses; {} without a cluster.
    task_type: the job.
    task_id: its number in the job.
    global_id: its number in the cluster.
    is_chief: whether it saves.
    master: the session to train in.
    evaluation_master: the session to evaluate in.
    num_ps_replicas: how many parameter servers there are.
    num_worker_replicas: how many processes train.
    service: what the platform says besides.
    model_dir: the directory that the environment gives, or None.
  """

  cluster: dict[str, Any] = dataclasses.field(default_factory=dict)
  task_type: str = WORKER
  task_id: int = 0
  global_id: Optional[int] = 0
  is_chief: bool = True
  master: str = ""
  evaluation_master: str = ""
  num_ps_replicas: int = 0
  num_worker_replicas: int = 1
  service: Optional[dict[str, Any]] = None
  model_dir: Optional[str] = None


def read() -> Task:
  """Returns what the environment variable TF_CONFIG says.

  Raises:
    ValueError: with the Estimator's messages, for what it refuses; also if there is more than one task.
    TypeError: if the service is no dict.
  """
  config = _environment()
  service = config.get("service")
  if service is not None and not isinstance(service, dict):
    raise TypeError(f'If "service" is set in TF_CONFIG, it must be a dict. Given {type(service)}')
  model_dir = config.get("model_dir")
  if model_dir == "":
    raise ValueError("model_dir in TF_CONFIG should be non-empty.")
  task = config.get("task") or {}
  cluster = config.get("cluster") or {}
  common: dict[str, Any] = {"service": service, "model_dir": model_dir}
  if cluster:
    return _in_cluster(config, cluster, task, common)
  if task.get("type", WORKER) != WORKER:
    raise ValueError('If "cluster" is not set in TF_CONFIG, task type must be WORKER.')
  if int(task.get("index", 0)) != 0:
    raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
  return Task(
    master=config.get("session_master", ""),
    evaluation_master=config.get("eval_session_master", ""),
    **common,
  )


def _environment() -> dict[str, Any]:
  """Returns the value of TF_CONFIG."""
  try:
    config = json.loads(os.environ.get("TF_CONFIG") or "{}")
  except ValueError as e:
    raise ValueError(f"TF_CONFIG is not a JSON object: {e}") from e
  if not isinstance(config, dict):
    raise ValueError(f"TF_CONFIG is not a JSON object: {config!r}")
  return config


def _in_cluster(
  config: dict[str, Any], cluster: dict[str, Any], task: dict[str, Any], common: dict[str, Any]
) -> Task:
  """Returns the task of a process in a cluster of one task."""
  first = MASTER if MASTER in cluster else CHIEF
  if first == MASTER and CHIEF in cluster:
    raise ValueError("If `master` node exists in `cluster`, job `chief` is not supported.")
  if first not in cluster:
    raise ValueError(f'If "cluster" is set in TF_CONFIG, it must have one "{first}" node.')
  if len(cluster[first]) > 1:
    raise ValueError(f'The "cluster" in TF_CONFIG must have only one "{first}" node.')
  kind, index = task.get("type"), task.get("index")
  if not kind:
    raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
  if index is None:
    raise ValueError('If "cluster" is set in TF_CONFIG, task index must be set.')
  index = int(index)
  if index < 0:
    raise ValueError("Task index must be non-negative number.")
  if kind == EVALUATOR and first == MASTER:
    raise ValueError(
      "If `master` node exists in `cluster`, task_type `evaluator` is not supported."
    )
  tasks = sum(len(addresses) for addresses in cluster.values())
  if tasks > 1 or kind == EVALUATOR:
    what = "a separate evaluator" if tasks == 1 else f"a cluster of {tasks} tasks"
    raise ValueError(
      f"TF_CONFIG describes {what}. Migrated programs run in one process: unset TF_CONFIG, or train with "
      "a tf.distribute strategy and checkpoints of your own."
    )
  if kind not in cluster or index >= len(cluster[kind]):
    raise ValueError(
      f"{kind} {index} is not a valid task of the cluster {cluster}. Note that these values may be coming "
      "from the TF_CONFIG environment variable."
    )
  return Task(
    cluster=cluster,
    task_type=kind,
    task_id=index,
    master=config.get("session_master", ""),
    **common,
  )
