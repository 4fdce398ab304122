"""Canonical TF1 names: one `Symbol` for every spelling of the same thing."""

from __future__ import annotations

import functools
from typing import NamedTuple, Optional

from migrator.analysis import private_names, removed_names

# Hooks that `tf.estimator` exported a second time; the canonical name is that of `tf.train`.
_ESTIMATOR_HOOKS = frozenset(
  """CheckpointSaverHook CheckpointSaverListener FeedFnHook FinalOpsHook GlobalStepWaiterHook
  LoggingTensorHook LoggingTensorHook NanLossDuringTrainingError NanTensorHook ProfilerHook
  SecondOrStepTimer SessionRunArgs SessionRunContext SessionRunHook SessionRunValues
  StepCounterHook StopAtStepHook SummarySaverHook""".split()
)

_CONTRIB_FUNCTIONS = (
  "checkpoints_iterator",
  "stop_if_higher_hook",
  "stop_if_lower_hook",
  "stop_if_no_decrease_hook",
  "stop_if_no_increase_hook",
)

# What `tensorflow.python.tpu` takes over from the Estimator's package.
_TPU_MODULES = ("tpu_config", "tpu_context", "tpu_estimator")

# Packages beside the public modules.
_PRIVATE_PACKAGES = ("python", "core", "tools", "compiler")

# Where code that sets TF1's behaviour finds it, besides the public names.
_SWITCHES = {
  "tensorflow.python.framework.ops.disable_eager_execution": "disable_eager_execution",
  "tensorflow.python.compat.v2_compat.disable_v2_behavior": "disable_v2_behavior",
}


class Symbol(NamedTuple):
  """A TensorFlow name behind any alias.

  Attributes:
    path: canonical dotted name, for example "tf.estimator.RunConfig".
    api: "v1" when it was reached through `compat.v1`, "v2" through `compat.v2`, "" for plain
      `tf` or `tensorflow_estimator`. A private path gives "v1" or "v2" where what it holds is in
      that one only, else "".
    private: whether it was reached through a module path that is not public.
  """

  path: str
  api: str = ""
  private: bool = False

  def attribute(self, name: str) -> Symbol:
    """The symbol of `self.name`."""
    return _attribute(self, name)


@functools.lru_cache(maxsize=20_000)
def _attribute(symbol: Symbol, name: str) -> Symbol:
  return canonical(_spelled(symbol) + "." + name, symbol.private)


def _spelled(symbol: Symbol) -> str:
  """A dotted name that `canonical` turns back into the symbol."""
  prefix = {"v1": "tensorflow.compat.v1", "v2": "tensorflow.compat.v2", "": "tensorflow"}
  if symbol.path == "tf":
    return prefix[symbol.api]
  if symbol.path.startswith("tf."):
    return prefix[symbol.api] + symbol.path[2:]
  return symbol.path


def canonical(dotted: str, private: bool = False) -> Symbol:
  """Returns the symbol of an absolute dotted import name.

  Args:
    dotted: for example "tensorflow.compat.v1.estimator.RunConfig".
    private: whether a part of the name was already found to be private.
  """
  head, _, rest = dotted.partition(".")
  if head == "tensorflow_core":  # where TF 1.15 and 2.0 keep what `tensorflow` shows
    return canonical("tensorflow" + ("." + rest if rest else ""), private=True)
  if head == "tensorflow_estimator":
    # tensorflow_estimator.estimator and tensorflow_estimator.compat.v1.estimator are public.
    if rest == "python" or rest.startswith("python."):
      tail = rest.rpartition(".estimator.")[2]
      return _private("tensorflow.python.estimator." + tail)
    return canonical("tensorflow" + ("." + rest if rest else ""), private)
  if head == "keras":
    return canonical("tensorflow.keras" + ("." + rest if rest else ""), private)
  if head != "tensorflow":
    return Symbol(dotted)
  parts = rest.split(".") if rest else []
  api = ""
  while len(parts) >= 2 and parts[0] == "compat" and parts[1] in ("v1", "v2"):
    api, parts = parts[1], parts[2:]
  if parts and parts[0] == "_api":  # tensorflow._api.v1 and v2 hold the public modules.
    api, parts, private = (parts[1] if len(parts) > 1 else ""), parts[2:], True
  if parts and parts[0] in _PRIVATE_PACKAGES:
    if len(parts) > 2 and parts[1] == "tpu" and parts[2] in _TPU_MODULES:
      parts.insert(1, "estimator")
    return _private("tensorflow." + ".".join(parts))
  if len(parts) > 3 and parts[0] == "contrib" and parts[2] == "python":
    parts = _contrib(parts)
  if len(parts) == 2 and parts[0] == "estimator" and parts[1] in _ESTIMATOR_HOOKS:
    parts[0] = "train"
  return Symbol(".".join(["tf", *parts]), api, private)


def _contrib(parts: list[str]) -> list[str]:
  """`contrib.tpu.python.tpu.tpu_config.RunConfig` as `contrib.tpu.RunConfig`.

  A word in small letters may be a module that has the name of its function, so only functions
  that a rule asks for are taken.
  """
  name = parts[-1]
  if not name[:1].isupper() and name not in _CONTRIB_FUNCTIONS:
    return parts
  public = removed_names.names(".".join(["tf", *parts[:2]]))
  return [*parts[:2], name] if name in public else parts


def _private(dotted: str) -> Symbol:
  if dotted in _SWITCHES:
    return canonical("tensorflow.compat.v1." + _SWITCHES[dotted], private=True)
  module, _, name = dotted.rpartition(".")
  public = private_names.public(module, name)
  if public is None:
    return Symbol(dotted, "", private=True)
  path, api = public
  return canonical("tensorflow." + (f"compat.{api}." if api else "") + path[3:], private=True)


def is_value(symbol: Optional[Symbol]) -> bool:
  """Whether a symbol is an attribute of a class, as `ModeKeys.TRAIN` is.

  A variable that holds one is no second name of the API.
  """
  return symbol is not None and symbol.path.rpartition(".")[0].rpartition(".")[2][:1].isupper()


def is_tensorflow(symbol: Optional[Symbol]) -> bool:
  """Whether a symbol belongs to TensorFlow (also to its private modules)."""
  return symbol is not None and (
    symbol.path == "tf" or symbol.path.startswith(("tf.", "tensorflow."))
  )
