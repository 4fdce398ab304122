"""Exporters and serving input functions -> those of `runtime.export`.

They change where they stand; what a serving input function builds, it builds in a graph as before.

https://www.tensorflow.org/guide/migrate/saved_model_estimator
"""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis import facts, symbols
from migrator.rewrite import hook_flow
from migrator.rewrite.plan import Plan, Unsupported

_WHOLE = "name serving_input_receiver_fn assets_extra as_text"
EXPORTERS = {
  "FinalExporter": tuple(_WHOLE.split()),
  "LatestExporter": (*_WHOLE.split(), "exports_to_keep"),
  "BestExporter": (
    "name",
    "serving_input_receiver_fn",
    "event_file_pattern",
    "compare_fn",
    "assets_extra",
    "as_text",
    "exports_to_keep",
  ),
}
_MODULE = "tf.estimator.export."
_RECEIVERS = frozenset(
  """ServingInputReceiver TensorServingInputReceiver build_parsing_serving_input_receiver_fn
  build_raw_serving_input_receiver_fn""".split()
)


# -- exporters --------------------------------------------------------------------


def exporters(plan: Plan, argument: Optional[facts.Argument]) -> Optional[str]:
  """A list of the exporters of an EvalSpec; None where there are none.

  Raises:
    Unsupported: EM273, an exporter that is not known, or that something else uses.
  """
  if argument is None or plan.module.constant(argument.value) is None:
    return None
  if isinstance(argument.value, (ast.List, ast.Tuple)) and not argument.value.elts:
    return None
  is_list = _follow(plan, argument.value, set())
  text = plan.source(argument.value)
  return text if is_list else f"[{text}]"


def _follow(plan: Plan, node: ast.expr, adding: set[ast.AST]) -> bool:
  """Follows exporters to where they are made; whether the expression is a list of them.

  Args:
    plan: of the file.
    node: the expression.
    adding: the calls that put exporters into lists that are followed.
  """
  module = plan.module
  if isinstance(node, (ast.List, ast.Tuple)):
    for element in node.elts:
      if _follow(plan, element, adding):
        raise _refused(element, f"`{module.source(element)}` is a list in a list")
    return True
  if isinstance(node, ast.IfExp):
    kinds = {
      _follow(plan, n, adding) for n in (node.body, node.orelse) if module.constant(n) is not None
    }
    if len(kinds) == 1:
      return kinds.pop()
  elif isinstance(node, ast.Name):
    return _variable(plan, node, adding)
  elif isinstance(node, ast.Call):
    name = exporter_name(module.resolve(node.func))
    if name is not None:
      _convert(plan, node, name)
      return False
  raise _refused(node, f"`{module.source(node)}` is not known to be one of TensorFlow's")


def _variable(plan: Plan, name: ast.Name, adding: set[ast.AST]) -> bool:
  module = plan.module
  _, bindings = module.scope_of[name].lookup(name.id)
  values = [b.value for b in bindings if b.kind == "assign" and b.value is not None]
  if not values or len(values) < len(bindings):
    raise _refused(name, f"`{name.id}` is not known to be one of TensorFlow's")
  kinds = {_follow(plan, v, adding) for v in values if module.constant(v) is not None}
  if len(kinds) != 1:
    raise _refused(name, f"`{name.id}` is not known to be one of TensorFlow's")
  added = facts.appends(module, name) if True in kinds else []
  if added is None:
    raise _refused(name, f"`{name.id}` is changed in a way that is not known")
  adding.update(added)
  for call in added:
    _follow(plan, call.args[0], adding)
  for load in facts.loads(module, name):
    if not _is_known(plan, load, adding):
      raise _refused(load, f"`{name.id}` is also used here")
  return kinds.pop()


def _is_known(plan: Plan, load: ast.Name, adding: set[ast.AST]) -> bool:
  """Whether a read of an exporter's variable belongs to an EvalSpec that is rewritten."""
  for ancestor in plan.module.ancestors(load):
    if ancestor in plan.unit_calls or ancestor in adding:
      return True
    if isinstance(ancestor, ast.stmt):
      # `exporters = [exporter]`, whose variable is looked at by itself.
      value = getattr(ancestor, "value", None)
      return isinstance(ancestor, ast.Assign) and isinstance(value, (ast.List, ast.Tuple))
  return False


def exporter_name(symbol: Optional[symbols.Symbol]) -> Optional[str]:
  """The key of `EXPORTERS`, if the symbol is one of these; else None."""
  head, _, name = symbol.path.rpartition(".") if symbol is not None else ("", "", "")
  return name if head == "tf.estimator" and name in EXPORTERS else None


def _convert(plan: Plan, call: ast.Call, name: str) -> None:
  arguments = facts.bind_arguments(call, EXPORTERS[name])
  if arguments is None or set(arguments) - set(EXPORTERS[name]):
    raise _refused(call, f"the arguments of the {name} are not all known")
  plan.report("EM277", call)
  if "serving_input_receiver_fn" in arguments:
    serving(plan, arguments["serving_input_receiver_fn"].value)
  plan.expressions[call.func] = f"{plan.runtime()}.export.{name}"


def _refused(node: ast.AST, what: str) -> Unsupported:
  return Unsupported("EM273", node, what=what)


# -- serving input functions --------------------------------------------------------


def serving(plan: Plan, node: ast.expr) -> None:
  """Lets a serving input function make what `runtime.export` reads.

  One that the file does not show is handed on, and reported (EM271).
  """
  module = plan.module
  made = module.definition(node)
  if isinstance(made, ast.Constant) and made.value is None:
    return
  if isinstance(made, (ast.FunctionDef, ast.Lambda)):
    _convert_body(plan, made)
  elif isinstance(made, ast.Call):
    symbol = module.resolve(made.func)
    function = module.definition(made.func)
    if symbol is not None and symbol.path.startswith(_MODULE):
      _convert_body(plan, made)
    elif symbol is not None and symbol.path == "functools.partial" and made.args:
      serving(plan, made.args[0])
    elif isinstance(function, ast.FunctionDef):
      _convert_body(plan, function)  # it gives the serving input function
    else:
      plan.report("EM271", node, what=module.source(node))
  else:
    method = _method(plan, made if made is not None else node)
    if method is not None:
      _convert_body(plan, method)
    else:
      plan.report("EM271", node, what=module.source(node))


def _method(plan: Plan, node: ast.AST) -> Optional[ast.FunctionDef]:
  """The method that `self.name` is."""
  if not isinstance(node, ast.Attribute) or not hook_flow.is_own(plan.module, node):
    return None
  owner = hook_flow.own_class(plan.module, node)
  body = owner.body if owner is not None else []
  found = [n for n in body if isinstance(n, ast.FunctionDef) and n.name == node.attr]
  return found[0] if len(found) == 1 else None


def _convert_body(plan: Plan, node: ast.AST) -> None:
  """Spells the names of TF1 in a serving input function, and in those that it calls, as TF2."""
  if node in plan.serving:
    return
  plan.serving.add(node)
  module = plan.module
  inside = set(ast.walk(node))
  for use in module.uses():
    if use.node not in inside:
      continue
    name = use.symbol.path[len(_MODULE) :] if use.symbol.path.startswith(_MODULE) else ""
    if name in _RECEIVERS:
      plan.expressions[use.node] = f"{plan.runtime()}.export.{name}"
    elif facts.is_tf1_only(module, use) and not use.symbol.path.startswith("tf.contrib."):
      _respell(plan, use.node)
  for inner in inside:
    if not isinstance(inner, ast.Call):
      continue
    function = module.definition(inner.func)
    called = function if isinstance(inner.func, ast.Name) else _method(plan, inner.func)
    if isinstance(called, ast.FunctionDef):
      _convert_body(plan, called)


def _respell(plan: Plan, node: ast.AST) -> None:
  """`tf.placeholder` -> `tf.compat.v1.placeholder`."""
  root = node
  while isinstance(root, ast.Attribute):
    root = root.value
  if isinstance(root, ast.Name) and plan.module.resolve(root) == symbols.Symbol("tf"):
    plan.expressions[root] = f"{root.id}.compat.v1"
