"""SessionRunHook classes -> Keras callbacks.

https://www.tensorflow.org/guide/migrate/sessionrunhook_callback
"""

from __future__ import annotations

import ast
from typing import Any, Optional

from migrator.analysis import facts
from migrator.lint import wording
from migrator.rewrite import (
  hook_bases,
  hook_leftovers,
  hook_listeners,
  hook_names,
  hook_notes,
  hook_requests,
  hook_savers,
  hook_values,
  hook_writers,
)
from migrator.rewrite.hook_class import BASES, METHODS, PREFIXES, TAKEN, HookClass
from migrator.rewrite.hook_fetches import Fetches
from migrator.rewrite.hook_parameters import Parameters
from migrator.rewrite.plan import Plan, Unsupported

_LOGGED = ("tensors", "every_n_iter", "every_n_secs", "at_end", "formatter")

__all__ = ["METHODS", "TAKEN", "convert_call", "convert_class"]


def convert_class(plan: Plan, tf: str, node: ast.ClassDef, use: str = "train") -> None:
  """Plans the conversion of a hook class (and of its base classes in the file).

  Args:
    plan: of the file.
    tf: the name under which the output knows TF2.
    node: the class.
    use: "train", "evaluate", "predict" or "listener": who calls the hook.

  Raises:
    Unsupported: EM302 or EM303, naming what has no counterpart.
  """
  uses = plan.hook_uses.get(node, ())
  if use in uses:
    return
  symbol = facts.hook_base(plan.module, node)
  if symbol is None:
    raise Unsupported("EM304", node, name=node.name)
  if (symbol.path == "tf.train.CheckpointSaverListener") != (use == "listener"):
    raise Unsupported("EM302", node, hook=node.name, what=f"derives from {symbol.path}")
  if use == "listener":
    hook_listeners.convert_class(plan, node)
    return
  if symbol.path not in BASES:
    raise Unsupported("EM303", node, name=symbol.path, **wording.of(symbol))
  if uses:
    _forget(plan, node)
  order = [u for u in PREFIXES if u == use or u in uses]
  plan.hook_uses[node] = tuple(order)
  if node not in plan.classes:
    plan.classes.append(node)
  _convert(HookClass(plan, tf, node, symbol, use, order))


def _forget(plan: Plan, node: ast.ClassDef) -> None:
  """Drops the edits of a class that was converted for fewer uses: all are planned anew."""
  inside = set(ast.walk(node)) - {node}
  planned: list[dict[Any, Any]] = [plan.statements, plan.expressions, plan.functions]
  for edits in planned:
    for edited in [n for n in edits if n in inside]:
      del edits[edited]


def convert_call(plan: Plan, call: ast.Call, node: ast.ClassDef) -> None:
  """Plans the construction of a converted hook: graph tensors among the arguments become keys.

  Raises:
    Unsupported: EM302, an argument names a tensor that the training does not give.
  """
  _convert_logged(plan, call, node)
  wanted = {
    value.parameter
    for owner in hook_values.family(plan.module, node)
    for value in plan.hook_keys.get(owner, ())
    if value.parameter
  }
  constructor = hook_values.method(hook_values.family(plan.module, node), "__init__")
  if not wanted or constructor is None or plan.known_keys is None:
    return
  names = [a.arg for a in constructor.args.posonlyargs + constructor.args.args][1:]
  arguments = facts.bind_arguments(call, names)
  for name in sorted(wanted):
    argument = (arguments or {}).get(name)
    if argument is None:
      what = f"fetches its argument {name}, which is not given here"
      raise Unsupported("EM302", call, hook=node.name, what=what)
    _convert_key(plan, node, argument.value)


def _convert_logged(plan: Plan, call: ast.Call, node: ast.ClassDef) -> None:
  """Plans the tensors that the constructor of a `LoggingTensorHook` gets."""
  symbol = facts.hook_base(plan.module, node)
  if plan.known_keys is None or symbol is None or symbol.path != "tf.train.LoggingTensorHook":
    return
  calls = [
    n
    for owner in hook_values.family(plan.module, node)
    for n in ast.walk(owner)
    if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "__init__"
  ]
  if hook_values.method(hook_values.family(plan.module, node), "__init__") is None:
    calls = [call]
  for made in calls:
    tensors = (facts.bind_arguments(made, _LOGGED) or {}).get("tensors")
    named = tensors is not None and plan.module.definition(tensors.value)
    if tensors is None or named is not tensors.value or not isinstance(named, ast.Dict):
      what = f"logs {plan.module.source(tensors.value if tensors else made)}"
      raise Unsupported("EM302", made, hook=node.name, what=what)
    _convert_key(plan, node, named)


def _convert_key(plan: Plan, node: ast.ClassDef, argument: ast.expr) -> None:
  """Plans an argument that names tensors: what it names has to be a value of a step."""
  if isinstance(argument, (ast.List, ast.Tuple)):
    for element in argument.elts:
      _convert_key(plan, node, element)
    return
  if isinstance(argument, ast.Dict):
    for item in argument.values:
      _convert_key(plan, node, item)
    return
  name = plan.module.constant(argument)
  value = hook_values.named(name) if isinstance(name, str) else None
  key = "global_step" if value is not None and value.kind == "step" else value and value.text
  if not key or key not in {*(plan.known_keys or ()), "global_step"}:
    what = f"fetches {plan.module.source(argument)}"
    raise Unsupported("EM302", argument, hook=node.name, what=what)
  if key != name:
    if not isinstance(argument, (ast.Constant, ast.Name)):
      what = f"fetches {plan.module.source(argument)}"
      raise Unsupported("EM302", argument, hook=node.name, what=what)
    plan.expressions[argument] = f'"{key}"'


def _convert(hook: HookClass) -> None:
  """Plans the edits of one class."""
  plan = hook.plan
  _check_original_args(hook)
  hook_bases.convert(hook, lambda base: convert_class(plan, hook.tf, base, hook.use))
  hook_writers.convert(plan, hook.tf, hook.node)
  hook_savers.convert(plan, hook.node)
  fetches = hook_requests.plan_fetches(hook)
  handed: set[tuple[str, int, str]] = set()
  for method in hook.methods:
    if method.name in METHODS:
      hook_bases.supers(hook, method)
      handed |= _parameters(hook, method, fetches)
    elif method.name.startswith("on_") or method.name in ("set_model", "set_params"):
      hook.refuse(method, f"defines {method.name}")
    hook_names.rename_taken(hook, method)
  _helpers(hook, handed, fetches)
  hook_writers.finish(plan)
  hook_leftovers.remove_tensors(hook)
  hook_names.name_methods(hook)
  hook_leftovers.refuse_graph_names(hook)
  hook_names.add_aliases(hook)
  hook_notes.report(plan, hook.node)


def _check_original_args(hook: HookClass) -> None:
  """Refuses `original_args` outside of a training: the loss is no part of what the others run."""
  if set(hook.uses) <= {"train"}:
    return
  for node in ast.walk(hook.node):
    if isinstance(node, ast.Attribute) and node.attr == "original_args":
      what = (
        "reads original_args, and an evaluation or prediction fetches other values than a training"
      )
      hook.refuse(node, what)


def _parameters(hook: HookClass, method, fetches, roles=None) -> set[tuple[str, int, str]]:
  parameters = Parameters(hook.plan, hook.node, method, hook.values, fetches, hook.uses, roles)
  parameters.convert()
  hook.pending += parameters.pending
  return parameters.handed


def _helpers(
  hook: HookClass, handed: set[tuple[str, int, str]], fetches: Optional[Fetches]
) -> None:
  """Converts own methods that get `run_context`, `run_values` or the session."""
  plan = hook.plan
  inherited = {h for c in hook.family[1:] for h in plan.hook_helpers.get(c, ())}
  for name, _, _ in handed - inherited:
    if not hook.has(name):
      hook.refuse(hook.node, f"hands the session's objects to {name} of its base class")
  done: set[tuple[str, int, str]] = set()
  waiting = handed | inherited
  while waiting - done:
    name = min(waiting - done)[0]
    roles = {place: role for n, place, role in waiting if n == name}
    done |= {h for h in waiting if h[0] == name}
    method = next((m for m in hook.methods if m.name == name), None)
    if method is not None:
      waiting |= _parameters(hook, method, fetches, roles)
  plan.hook_helpers[hook.node] = frozenset(waiting)
