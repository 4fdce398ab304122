"""Which checkpoints a Saver keeps, and which Saver is asked."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import UNKNOWN, Module
from migrator.lint import values
from migrator.lint.checks import policy
from migrator.lint.checks.registry import Context, Report, check

_SAVER = "tf.train.Saver"
_SAVER_PARAMETERS = ("var_list", "reshape", "sharded", "max_to_keep")
_SCAFFOLD = "tf.train.Scaffold"
_SCAFFOLD_PARAMETERS = tuple(
  """init_op init_feed_dict init_fn ready_op ready_for_local_init_op local_init_op summary_op
  saver copy_from_scaffold local_init_feed_dict""".split()
)
SPECS = (
  "tf.estimator.EstimatorSpec",
  "tf.estimator.tpu.TPUEstimatorSpec",
  "tf.contrib.tpu.TPUEstimatorSpec",
)


def calls(module: Module, node: Optional[ast.AST]) -> list[ast.Call]:
  """The calls that an expression can stand for."""
  found = values.possible(module, node) if node is not None else None
  return [v for v in found or () if isinstance(v, ast.Call)]


def savers_of(module: Module, scaffold: ast.Call) -> list[ast.Call]:
  """The Saver calls that a Scaffold call can get."""
  if not values.is_call_of(module, scaffold, (_SCAFFOLD,)):
    return []
  saver = values.arguments(module, scaffold, _SCAFFOLD_PARAMETERS).get("saver")
  return [c for c in calls(module, saver) if values.is_call_of(module, c, (_SAVER,))]


def kept(module: Module, saver: ast.Call) -> str:
  """The `max_to_keep` of a Saver call: a number, or its source."""
  found = values.arguments(module, saver, _SAVER_PARAMETERS)
  node = found.get("max_to_keep")
  if node is None:
    return "5" if found.complete else "?"
  value = values.literal(module, node)
  return f"`{values.text(module, node)}`" if value is UNKNOWN else repr(value)


@check("EM411", words=("Scaffold", "GraphKeys.SAVERS"), also=("Saver(",))
def keeping_savers(context: Context) -> Iterator[Report]:
  """A Saver of a model_fn, whose `max_to_keep` decides instead of RunConfig's."""
  module = context.module
  savers = []
  for call, _ in context.calls_of(_SCAFFOLD):
    savers += savers_of(module, call)
  for call, _ in context.calls_of("tf.add_to_collection"):
    found = values.arguments(module, call, ("name", "value"))
    name = found.get("name")
    symbol = module.resolve(name) if name is not None else None
    if symbol is not None and symbol.path == "tf.GraphKeys.SAVERS":
      added = calls(module, found.get("value"))
      savers += [c for c in added if values.is_call_of(module, c, (_SAVER,))]
  configs = [policy.read(module, c) for c, _ in context.calls_of(*policy.RUN_CONFIGS)]
  for saver in dict.fromkeys(savers):
    keep = kept(module, saver)
    if keep == "?" or not _is_trained(context, saver):
      continue
    if _is_meant(keep, configs):
      continue
    known = configs[0] if len(configs) == 1 and configs[0].complete else None
    if known is not None and known.spell("keep_checkpoint_max") == keep:
      continue
    theirs = "keep_checkpoint_max"
    if known is not None:
      theirs += f"={known.spell('keep_checkpoint_max')}"
    shown = f"{keep} (all)" if keep in ("0", "None") else keep
    yield context.report("EM411", saver, keep=shown, theirs=theirs)


def _is_meant(keep: str, configs: list[policy.Policy]) -> bool:
  """Whether a Saver keeps as many as it is told by what a RunConfig is told by, too."""
  if re.fullmatch(r"`(.*\W)?keep_checkpoint_max\W*`", keep):
    return True  # the program's own option of this name is handed to the Saver
  given = [c for c in configs if c.found.get("keep_checkpoint_max") is not None]
  return bool(given) and all(c.spell("keep_checkpoint_max") == keep for c in given)


def _is_trained(context: Context, saver: ast.Call) -> bool:
  """Whether a Saver is made for a training by an Estimator."""
  module = context.module
  functions = [a for a in module.ancestors(saver) if isinstance(a, ast.FunctionDef)]
  if not functions or _restores(module, saver):
    return False
  within = set(ast.walk(functions[-1]))
  specs = [call for call, _ in context.calls_of(*SPECS) if call in within]
  if all(_is_for_reading(module, call) for call in specs):
    return False
  child: ast.AST = saver
  for ancestor in module.ancestors(saver):
    if isinstance(ancestor, ast.If):
      trains = says_training(ancestor.test)
      if trains is not None and trains != (child in ancestor.body):
        return False
    child = ancestor
  return True


def _is_for_reading(module: Module, spec: ast.Call) -> bool:
  """Whether an EstimatorSpec is one of evaluation or prediction only."""
  mode = values.arguments(module, spec, ("mode",)).get("mode")
  symbol = module.resolve(mode) if mode is not None else None
  return symbol is not None and symbol.path.endswith(("ModeKeys.EVAL", "ModeKeys.PREDICT"))


def _restores(module: Module, saver: ast.Call) -> bool:
  """Whether a Saver is there to read: averages under the names of the variables, for example."""
  node = values.arguments(module, saver, _SAVER_PARAMETERS).get("var_list")
  found = [node, *(values.possible(module, node) or ())] if node is not None else []
  return any("restore" in module.source(f) for f in found if f is not None)


def says_training(test: ast.expr) -> Optional[bool]:
  """Whether a condition says that the mode is TRAIN, or that it is another; None: neither."""
  if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
    return next((t for t in map(says_training, test.values) if t is not None), None)
  if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
    inner = says_training(test.operand)
    return None if inner is None else not inner
  if isinstance(test, (ast.Name, ast.Attribute)):
    name = test.id if isinstance(test, ast.Name) else test.attr
    return True if name in ("is_training", "training", "is_train") else None
  if not isinstance(test, ast.Compare) or len(test.ops) != 1:
    return None
  words = {n.attr for n in ast.walk(test) if isinstance(n, ast.Attribute)}
  words |= {str(n.value).upper() for n in ast.walk(test) if isinstance(n, ast.Constant)}
  same = isinstance(test.ops[0], (ast.Eq, ast.Is))
  if not same and not isinstance(test.ops[0], (ast.NotEq, ast.IsNot)):
    return None
  if "TRAIN" in words:
    return same
  return False if same and words & {"EVAL", "PREDICT", "INFER"} else None


@check("EM414")
def keep_all(context: Context) -> Iterator[Report]:
  """A Saver that deletes nothing."""
  module = context.module
  for call, _ in context.calls_of(_SAVER):
    keep = values.arguments(module, call, _SAVER_PARAMETERS).get("max_to_keep")
    if keep is not None and values.literal(module, keep) in (0, None):
      yield context.report("EM414", keep, value=values.text(module, keep))
