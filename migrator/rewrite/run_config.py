"""RunConfig -> the arguments of the TF2 checkpoint policy.

https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/estimator/RunConfig
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Optional

from migrator.analysis import facts
from migrator.analysis.module import UNKNOWN
from migrator.rewrite import config_sources, emit, moves
from migrator.rewrite.plan import Plan, Unsupported

# What becomes of each keyword of RunConfig in TF 1.15 and 2.15.
FATES = {
  "model_dir": "directory",
  "tf_random_seed": "seed",
  "save_summary_steps": "summaries",
  "save_checkpoints_steps": "policy",
  "save_checkpoints_secs": "policy",
  "keep_checkpoint_max": "policy",
  "keep_checkpoint_every_n_hours": "policy",
  "log_step_count_steps": "summaries",
  "session_config": "EM106",
  "device_fn": "EM106",
  "protocol": "EM106",
  "experimental_max_worker_delay_secs": "EM106",
  "session_creation_timeout_secs": "EM106",
  "checkpoint_save_graph_def": "EM106",
  "train_distribute": "EM107",
  "eval_distribute": "EM107",
  "experimental_distribute": "EM107",
}

# Keywords of the older RunConfigs of tf.contrib, and of TPU's.
_CONTRIB = frozenset(
  """cluster evaluation_master gpu_memory_fraction log_device_placement master num_cores
  num_ps_replicas tf_config tpu_config""".split()
)


@dataclasses.dataclass
class Policy:
  """The carried-over arguments of one RunConfig, with the user's comments.

  Attributes:
    arguments: policy and summary keywords in the user's order.
    model_dir: the directory given to RunConfig, if any.
    seed: the seed expression, if any.
    comments: comments above the statement that assigned the RunConfig.
    statements: the statements that assigned the RunConfig, if it had a variable.
    variables: a read of each variable that holds it, also of callers.
    names: the reads of these variables for which something else stands now.
  """

  arguments: dict[str, emit.Item]
  values: dict[str, ast.expr]
  model_dir: Optional[ast.expr] = None
  seed: Optional[str] = None
  comments: tuple[str, ...] = ()
  statements: list[ast.stmt] = dataclasses.field(default_factory=list)
  names: list[ast.Name] = dataclasses.field(default_factory=list)
  variables: list[ast.Name] = dataclasses.field(default_factory=list)

  def items(self, *names: str) -> list[emit.Item]:
    """The keywords among `names`, as output arguments in the user's order."""
    return [
      emit.Item(f"{name}={item.text}", item.leading, item.trailing)
      for name, item in self.arguments.items()
      if name in names
    ]


def read_policy(plan: Plan, config: Optional[facts.Argument], place: ast.AST) -> Policy:
  """Reads the `config=` argument of the constructor that stands at `place`.

  Raises:
    Unsupported: the RunConfig is not in this file, or has what cannot be carried over.
  """
  policy = Policy({}, {})
  if config is not None:
    source = config_sources.read(plan, config.value)
    policy.names, policy.variables = source.names, source.variables
    policy.statements = source.statements
    comments = [line for s in source.statements for line in plan.comments.leading(s)]
    policy.comments = tuple(comments)
    for argument in source.arguments.values():
      if FATES.get(argument.name) in ("directory", "seed", "policy", "summaries"):
        reason = moves.obstacle(plan.module, argument.value, place)
        if reason is not None:
          raise Unsupported("EM109", argument.node, what=f"{argument.name}: {reason}")
      _take(plan, policy, argument)
    if source.unset is not None:
      other, name, before = source.unset
      value = policy.values[name]
      text = f"{before} if {plan.atom(value)} is None else None"
      policy.arguments[other], policy.values[other] = emit.Item(text), value
  _check_cadence(plan, policy)
  return policy


def _take(plan: Plan, policy: Policy, argument: facts.Argument) -> None:
  name, value = argument.name, argument.value
  fate = FATES.get(name)
  is_none = isinstance(value, ast.Constant) and value.value is None
  if fate == "directory":
    policy.model_dir = None if is_none else value
  elif fate == "seed":
    if not is_none:
      policy.seed = plan.source(value)
      plan.report("EM111", argument.node)
  elif fate in ("policy", "summaries"):
    policy.arguments[name] = plan.item(argument, plan.source(value))
    policy.values[name] = value
  elif fate is None and name not in _CONTRIB:
    raise Unsupported("EM109", argument.node, what=f"RunConfig has no keyword {name}")
  elif is_none:
    return
  elif fate == "EM107":
    raise Unsupported("EM107", argument.node, what=name)
  else:
    plan.report("EM106", argument.node, keyword=name)


def _check_cadence(plan: Plan, policy: Policy) -> None:
  """Writes out RunConfig's defaults, in its own order of precedence."""
  steps = policy.values.get("save_checkpoints_steps")
  secs = policy.values.get("save_checkpoints_secs")
  if steps is None and secs is None:
    policy.arguments["save_checkpoints_secs"] = emit.Item("600")
  elif steps is not None and secs is not None:
    known = [plan.module.constant(v) for v in (steps, secs)]
    if known[0] is None and known[1] is not UNKNOWN:
      del policy.arguments["save_checkpoints_steps"]
    elif known[1] is None and known[0] is not UNKNOWN:
      del policy.arguments["save_checkpoints_secs"]
    elif UNKNOWN not in known:
      names = {"steps": "save_checkpoints_steps", "seconds": "save_checkpoints_secs"}
      raise Unsupported("EM102", steps, who="RunConfig", **names)
  policy.arguments.setdefault("keep_checkpoint_max", emit.Item("5"))


def cadence(plan: Plan, policy: Policy) -> tuple[str, object]:
  """Returns ("steps", N), ("secs", S), ("none", None), or ("unknown", None).

  N and S are UNKNOWN where only the running program knows them.
  """
  steps = policy.arguments.get("save_checkpoints_steps")
  secs = policy.arguments.get("save_checkpoints_secs")
  constant = plan.module.constant
  if steps is not None and secs is not None:
    return "unknown", None
  if steps is not None:
    value = constant(policy.values["save_checkpoints_steps"])
    return ("none", None) if value is None or value == 0 else ("steps", value)
  if "save_checkpoints_secs" not in policy.values:
    return "secs", 600
  value = constant(policy.values["save_checkpoints_secs"])
  return ("none", None) if value is None or value == 0 else ("secs", value)
