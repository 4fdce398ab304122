"""What a RunConfig asks for, and what of it has no counterpart."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Optional

from migrator.analysis import facts, units
from migrator.analysis.module import UNKNOWN, Module
from migrator.lint import values
from migrator.lint.checks import policy, readers
from migrator.lint.checks.registry import Context, Report, check

# The checks of names and directories read it here.
RUN_CONFIGS = policy.RUN_CONFIGS
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
# Of what makes an Estimator, up to config; that of the canned ones is given by keyword.
_PARAMETERS = {
  "tf.estimator.Estimator": ("model_fn", "model_dir", "config"),
  "tf.keras.estimator.model_to_estimator": (
    "keras_model",
    "keras_model_path",
    "custom_objects",
    "model_dir",
    "config",
  ),
}
# Numbers that may not be negative, and those that may not be 0 either.
_NOT_NEGATIVE = frozenset(
  ("save_checkpoints_steps", "save_checkpoints_secs", "keep_checkpoint_max", "save_summary_steps")
)
_POSITIVE = frozenset(("keep_checkpoint_every_n_hours", "log_step_count_steps"))


@check("EM101", "EM102", "EM103", "EM104", "EM105", "EM108", "EM109", "EM110", "EM111", "EM113")
def policies(context: Context) -> Iterator[Report]:
  """What each RunConfig asks for."""
  module = context.module
  for call, symbol in context.calls_of(*RUN_CONFIGS):
    asked = policy.read(module, call)
    found = asked.found
    gone = "2.0" if symbol.path.startswith("tf.contrib.") else "2.16"
    if not context.is_guarded(call.func, "EM101"):  # else EM905
      yield context.report("EM101", call, symbol=symbol.path, version=gone, policy=asked.describe())
    if not found.complete:
      yield context.report("EM109", call, what="not all arguments of RunConfig are literal")
    if asked.conflicts:
      yield context.report("EM102", call, **_both(symbol.path))
    elif asked.saves_nothing and any(context.calls_of("tf.train.CheckpointSaverHook")):
      pass  # switched off in favour of the hook
    elif (asked.saves_nothing or asked.is_default) and readers.configures_readers(module, call):
      pass  # nothing is trained that could be saved
    elif asked.saves_nothing:
      given = [n for n in ("save_checkpoints_steps", "save_checkpoints_secs") if found.get(n)]
      reason = " and ".join(f"{name}={asked.spell(name)}" for name in given)
      yield context.report("EM103", call, reason=reason)
    elif asked.is_default:
      yield context.report("EM110", call, keep=asked.keep_words())
    elif asked.has_seconds:
      node = found.nodes["save_checkpoints_secs"]
      yield context.report("EM105", node, value=values.text(module, node))
    if asked.keep in (0, None):
      value = asked.spell("keep_checkpoint_max")
      yield context.report("EM104", found.nodes["keep_checkpoint_max"], value=value)
    hours = found.get("keep_checkpoint_every_n_hours")
    if hours is not None and not _is_never(values.literal(module, hours)):
      yield context.report("EM108", hours)
    seed = found.get("tf_random_seed")
    if seed is not None and values.literal(module, seed) is not None:
      yield context.report("EM111", seed)
    yield from _invalid(context, found)


def _is_never(hours: Any) -> bool:
  """Whether no job lives so many hours: the default, or a larger number to say so."""
  return isinstance(hours, (int, float)) and hours >= _DEFAULT_KEEP_HOURS


def _both(path: str) -> dict[str, str]:
  """Who raises when both cadences are set: that of contrib.learn only when it is used."""
  who = "RunConfig" if path != "tf.contrib.learn.RunConfig" else "the training"
  return {"steps": "save_checkpoints_steps", "seconds": "save_checkpoints_secs", "who": who}


def _invalid(context: Context, found: values.Arguments) -> Iterator[Report]:
  """EM113: values that RunConfig or the Saver refuses."""
  for name, node in found.nodes.items():
    value = values.literal(context.module, node)
    error = _error(name, value)
    if error is not None:
      yield context.report("EM113", node, keyword=name, value=repr(value), error=error)


def _error(name: str, value: Any) -> Optional[str]:
  """The exception that a value leads to, measured on TF 1.15 and 2.15; None for a good one."""
  if value is UNKNOWN or value is None:
    return None
  if isinstance(value, str):
    return "raises TypeError" if name in _NOT_NEGATIVE | _POSITIVE else None
  if not isinstance(value, (int, float)):
    return None
  if name in _NOT_NEGATIVE and value < 0:
    return "raises ValueError"
  if name in _POSITIVE and value <= 0:
    return "raises ValueError"
  if name == "keep_checkpoint_max" and isinstance(value, float):
    return "raises TypeError when the Saver is built"
  return None


@check("EM106", "EM107")
def keywords(context: Context) -> Iterator[Report]:
  """Keywords of RunConfig that are not carried over."""
  module = context.module
  for call, symbol in context.calls_of(*RUN_CONFIGS):
    is_plain = symbol.path == "tf.estimator.RunConfig"
    for name, node in policy.arguments(module, call).nodes.items():
      if values.literal(module, node) is None:
        continue  # None was the default of all of them
      if not is_plain and name not in facts.RUN_CONFIG_PARAMETERS:
        continue  # those of TPUs and of contrib.learn have parameters of their own
      if name in _DISTRIBUTION:
        yield context.report("EM107", node, what=name)
      elif name not in _KNOWN:
        yield context.report("EM106", node, keyword=name)


@check("EM107", words=("TF_CONFIG",), also=("estimator",))
def cluster(context: Context) -> Iterator[Report]:
  """TF_CONFIG in a program that uses Estimators (Keras and loops have their own use for it)."""
  if not any(use.symbol.path.startswith("tf.estimator") for use in context.uses):
    return
  for node in context.module.scope_of:
    if not isinstance(node, ast.Constant) or node.value != "TF_CONFIG":
      continue
    if not _is_trial(context.module, node):
      yield context.report("EM107", node, what="TF_CONFIG")


def _is_trial(module: Module, node: ast.AST) -> bool:
  """Whether TF_CONFIG is asked for the number of a hyperparameter trial only."""
  expression = node
  for ancestor in module.ancestors(node):
    if not isinstance(ancestor, ast.expr):
      break
    expression = ancestor
  names = [n.value for n in ast.walk(expression) if isinstance(n, ast.Constant)]
  return "trial" in names and "cluster" not in names


@check("EM109", "EM110")
def configs(context: Context) -> Iterator[Report]:
  """Estimators without a RunConfig, or with one that cannot be read here."""
  for call, symbol in context.calls:
    if units.estimator_kind(symbol) is None and symbol.path not in _PARAMETERS:
      continue
    found = values.arguments(context.module, call, _PARAMETERS.get(symbol.path, ()))
    config = found.get("config")
    if config is None or values.literal(context.module, config) is None:
      given = found.complete or not any(k.arg is None for k in call.keywords)
      if (config is not None or given) and not readers.only_reads(context.module, call):
        yield context.report("EM110", call, keep="the newest 5")
      continue
    origin = _foreign_origin(context.module, config)
    if origin is not None:
      yield context.report("EM109", config, what=origin)


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
