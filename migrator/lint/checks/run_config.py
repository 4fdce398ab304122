"""What a RunConfig asks for, and what of it has no counterpart."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Optional

from migrator.analysis import facts, units
from migrator.analysis.module import UNKNOWN, Module
from migrator.lint import values
from migrator.lint.checks.registry import Context, Report, check

RUN_CONFIGS = (
  "tf.estimator.RunConfig",
  "tf.estimator.tpu.RunConfig",
  "tf.contrib.learn.RunConfig",
  "tf.contrib.tpu.RunConfig",
)
# Carried over, or with a rule of their own.
_KNOWN = frozenset(
  (
    "model_dir",
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
    "train_distribute",
    "eval_distribute",
    "experimental_distribute",
  )
)
_DISTRIBUTION = ("train_distribute", "eval_distribute", "experimental_distribute")
_DEFAULT_KEEP_HOURS = 10000
_UNSET = object()


class Policy:
  """The checkpoint policy of a RunConfig call.

  Attributes:
    steps, seconds: the cadence: a number, None for off, UNKNOWN, or not given (`is_default`).
    keep: keep_checkpoint_max; 5 where it is not given.
  """

  def __init__(self, module: Module, found: values.Arguments):
    self._module = module
    self._found = found
    self.complete = found.complete
    self.steps = self._value("save_checkpoints_steps")
    self.seconds = self._value("save_checkpoints_secs")
    keep = self._value("keep_checkpoint_max")
    self.keep = 5 if keep is _UNSET else keep

  def _value(self, name: str) -> Any:
    node = self._found.get(name)
    return _UNSET if node is None else values.literal(self._module, node)

  @property
  def is_default(self) -> bool:
    return self.complete and self.steps is _UNSET and self.seconds is _UNSET

  @property
  def conflicts(self) -> bool:
    """Whether both are certainly set; None and UNKNOWN are not."""
    return all(v not in (_UNSET, None, UNKNOWN) for v in (self.steps, self.seconds))

  @property
  def saves_nothing(self) -> bool:
    """Whether both are off. Giving one as None or 0 takes the other's default away."""
    given = [v for v in (self.steps, self.seconds) if v is not _UNSET]
    return self.complete and bool(given) and all(v is None or v == 0 for v in given)

  def describe(self) -> str:
    """The policy in words, for example "a checkpoint every 100 steps and ..."."""
    if self.saves_nothing:
      return "no checkpoint at all"
    ends = "and at the first and last step"
    if self.steps not in (_UNSET, None):
      number = self.spell("save_checkpoints_steps")
      cadence = "a checkpoint at every step"
      if self.steps != 1:
        cadence = f"a checkpoint every {number} steps {ends}"
    elif self.seconds not in (_UNSET, None):
      cadence = f"a checkpoint every {self.spell('save_checkpoints_secs')} seconds {ends}"
    elif self.complete:
      cadence = f"the default of a checkpoint every 600 seconds {ends}"
    else:
      return "a checkpoint policy that cannot be read here"
    keep = self.spell("keep_checkpoint_max")
    keep += " (all)" if self.keep in (0, None) else ""
    return f"{cadence}, keep_checkpoint_max={keep}"

  def spell(self, name: str) -> str:
    """A keyword's value as a number if it is known, else its source."""
    node = self._found.get(name)
    if node is None:
      return "5" if name == "keep_checkpoint_max" else "None"
    value = values.literal(self._module, node)
    return f"`{values.text(self._module, node)}`" if value is UNKNOWN else repr(value)


def read_policy(module: Module, call: ast.Call) -> Policy:
  """The policy of a call of RunConfig."""
  return Policy(module, _run_config_arguments(module, call))


def _run_config_arguments(module: Module, call: ast.Call) -> values.Arguments:
  symbol = module.resolve(call.func)
  positional = symbol is not None and symbol.path == "tf.estimator.RunConfig"
  return values.arguments(module, call, facts.RUN_CONFIG_PARAMETERS if positional else ())


@check("EM101", "EM102", "EM103", "EM104", "EM105", "EM108", "EM109", "EM110", "EM111")
def policies(context: Context) -> Iterator[Report]:
  """What each RunConfig asks for."""
  module = context.module
  for call, symbol in context.calls_of(*RUN_CONFIGS):
    found = _run_config_arguments(module, call)
    policy = Policy(module, found)
    yield context.report("EM101", call, symbol=symbol.path, policy=policy.describe())
    if not found.complete:
      yield context.report("EM109", call, what="not all arguments of RunConfig are literal")
    if policy.conflicts:
      yield context.report("EM102", call)
    elif policy.saves_nothing:
      given = [n for n in ("save_checkpoints_steps", "save_checkpoints_secs") if found.get(n)]
      reason = " and ".join(f"{name}={policy.spell(name)}" for name in given)
      yield context.report("EM103", call, reason=reason)
    elif policy.is_default:
      yield context.report("EM110", call, keep=_keep_words(policy))
    elif policy.seconds not in (_UNSET, None):
      node = found.nodes["save_checkpoints_secs"]
      yield context.report("EM105", node, value=values.text(module, node))
    if policy.keep in (0, None):
      value = policy.spell("keep_checkpoint_max")
      yield context.report("EM104", found.nodes["keep_checkpoint_max"], value=value)
    hours = found.get("keep_checkpoint_every_n_hours")
    if hours is not None and values.literal(module, hours) != _DEFAULT_KEEP_HOURS:
      yield context.report("EM108", hours)
    seed = found.get("tf_random_seed")
    if seed is not None and values.literal(module, seed) is not None:
      yield context.report("EM111", seed)


def _keep_words(policy: Policy) -> str:
  return "(all of them)" if policy.keep in (0, None) else policy.spell("keep_checkpoint_max")


@check("EM106", "EM107")
def keywords(context: Context) -> Iterator[Report]:
  """Keywords of RunConfig that are not carried over."""
  module = context.module
  for call, symbol in context.calls_of(*RUN_CONFIGS):
    if symbol.path != "tf.estimator.RunConfig":
      continue
    for name, node in _run_config_arguments(module, call).nodes.items():
      if values.literal(module, node) is None:
        continue  # None was the default of all of them
      if name in _DISTRIBUTION:
        yield context.report("EM107", node, what=name)
      elif name not in _KNOWN:
        yield context.report("EM106", node, keyword=name)


@check("EM107")
def cluster(context: Context) -> Iterator[Report]:
  """TF_CONFIG in a program that uses Estimators (Keras and loops have their own use for it)."""
  if not any(use.symbol.path.startswith("tf.estimator") for use in context.uses):
    return
  for node in context.module.scope_of:
    if isinstance(node, ast.Constant) and node.value == "TF_CONFIG":
      yield context.report("EM107", node, what="TF_CONFIG")


@check("EM109", "EM110")
def configs(context: Context) -> Iterator[Report]:
  """Estimators without a RunConfig, or with one that cannot be read here."""
  for call, symbol in context.calls:
    if units.estimator_kind(symbol) is None:
      continue
    parameters = ("model_fn", "model_dir", "config") if _is_custom(symbol) else ()
    found = values.arguments(context.module, call, parameters)
    config = found.get("config")
    if config is None:
      if found.complete or not any(k.arg is None for k in call.keywords):
        yield context.report("EM110", call, keep=5)
      continue
    if values.literal(context.module, config) is None:
      yield context.report("EM110", call, keep=5)
      continue
    origin = _foreign_origin(context.module, config)
    if origin is not None:
      yield context.report("EM109", config, what=origin)


def _is_custom(symbol) -> bool:
  return symbol.path == "tf.estimator.Estimator"


def _foreign_origin(module: Module, config: ast.expr) -> Optional[str]:
  """Why a config= argument is no RunConfig call of this file; None when it is one."""
  shown = values.text(module, config)
  found = values.possible(module, config)
  if found is None:
    function = _parameter_of(module, config)
    return f"`{shown}` is {function or 'not made in this file'}"
  if not all(values.is_call_of(module, v, RUN_CONFIGS) for v in found):
    made = next(v for v in found if not values.is_call_of(module, v, RUN_CONFIGS))
    return f"`{values.text(module, made)}` is no plain RunConfig call"
  if len(found) > 1:
    return f"`{shown}` is bound {len(found)} times"
  return None


def _parameter_of(module: Module, node: ast.expr) -> Optional[str]:
  """Words for the function whose parameter a name is, or None."""
  if not isinstance(node, ast.Name):
    return None
  scope, bindings = module.scope_of[node].lookup(node.id)
  if scope is None or not any(binding.kind == "param" for binding in bindings):
    return None
  function = scope.node
  if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
    return f"a parameter of `{function.name}`"
  return "a parameter"
