"""`tf.contrib.training.HParams(...)` -> `types.SimpleNamespace(...)`, where only attributes are read and set.

What else an HParams had (tensorflow/contrib/training/python/training/hparam.py) a namespace lacks, so that a use of it in
another module raises; a file that shows one keeps its HParams.
"""

from __future__ import annotations

import ast

from migrator.rewrite.plan import Plan

_HPARAMS = "tf.contrib.training.HParams"
_METHODS = frozenset(
  """add_hparam set_hparam del_hparam parse parse_json override_from_dict set_from_map
  set_model_structure get_model_structure get_type to_json to_proto from_proto""".split()
)
# Those that other objects have, too: only on what may be hyperparameters by its name.
_COMMON = frozenset(("values", "get", "name"))


def plan_spellings(plan: Plan) -> list[ast.AST]:
  """Plans the new calls of the whole file; returns the nodes that they replace."""
  module = plan.module
  found: list[ast.Call] = []
  for use in module.uses():
    if use.symbol.path != _HPARAMS or isinstance(use.node, ast.alias):
      continue
    call = module.parents.get(use.node)
    if not isinstance(call, ast.Call) or call.func is not use.node or not _is_plain(plan, call):
      return []
    found.append(call)
  if not found or _asks_more(plan, found) or _hides_types(plan, found):
    return []
  for call in found:
    plan.expressions[call.func] = "types.SimpleNamespace"
    plan.report("EM284", call.func)
  plan.needs("import types")
  return [call.func for call in found]


def _is_plain(plan: Plan, call: ast.Call) -> bool:
  """Whether a call gives nothing but values by name: a list of mixed types, an HParams refused."""
  names = {k.arg for k in call.keywords}
  return not call.args and not {"hparam_def", "model_structure"} & names


def _asks_more(plan: Plan, calls: list[ast.Call]) -> bool:
  """Whether the file uses anything but attributes of its hyperparameters."""
  module = plan.module
  names = {"hparams", "hparam", "hyper_params", "hyperparams"}
  for call in calls:
    parent = module.parents[call]
    if isinstance(parent, ast.Assign):
      names |= {t.id for t in parent.targets if isinstance(t, ast.Name)}
  for node in ast.walk(module.tree):
    if isinstance(node, ast.Attribute):
      owner = node.value.id if isinstance(node.value, ast.Name) else None
      is_hparams = owner in names or node.value in calls
      if node.attr in _METHODS or (node.attr in _COMMON and is_hparams and _is_called(plan, node)):
        return True
    elif isinstance(node, ast.Compare) and any(
      isinstance(o, (ast.In, ast.NotIn)) for o in node.ops
    ):
      if any(isinstance(c, ast.Name) and c.id in names for c in node.comparators):
        return True
  return False


def _is_called(plan: Plan, node: ast.Attribute) -> bool:
  call = plan.module.parents.get(node)
  return isinstance(call, ast.Call) and call.func is node


def _hides_types(plan: Plan, calls: list[ast.Call]) -> bool:
  """Whether `types` means something else where a call stands."""
  for call in calls:
    _, bindings = plan.module.scope_of[call].lookup("types")
    if any(b.kind != "import" or b.target != "types" for b in bindings):
      return True
  return False
