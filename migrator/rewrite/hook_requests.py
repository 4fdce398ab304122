"""What the runs of a hook class fetch, and who of its methods reads it."""

from __future__ import annotations

import ast
from typing import Optional

from migrator.rewrite import hook_values
from migrator.rewrite.hook_class import HookClass
from migrator.rewrite.hook_fetches import Fetches, FetchPlan


def plan_fetches(hook: HookClass) -> Optional[Fetches]:
  """What the hook fetches; plans the edits of `before_run` if it is the class's own."""
  plan = hook.plan
  method = hook_values.method(hook.family, "before_run")
  if method is None:
    return None
  owner = next(c for c in hook.family if method in c.body)
  if owner is not hook.node:
    return plan.hook_fetches.get(owner)
  fetching = FetchPlan(plan, hook.node, hook.values, method)
  value = fetching.read()
  if not fetching.fetches_something():
    after = hook_values.method(hook.family, "after_run")
    if (
      after is not None
      and after not in hook.node.body
      and plan.hook_fetches.get(next(c for c in hook.family if after in c.body))
    ):
      hook.refuse(method, "does not fetch what after_run of its base class reads")
    if value is not None and method.body and isinstance(method.body[-1], ast.Return):
      fetching.drop()
    plan.hook_fetches.pop(hook.node, None)
    return None
  fetched = _planned(hook, fetching, value)
  _check_inherited_reader(hook, fetched)
  plan.hook_fetches[hook.node] = fetched
  return fetched


def _check_inherited_reader(hook: HookClass, fetched: Fetches) -> None:
  """The base class's `after_run` has been written for what its own `before_run` fetches."""
  own = next((m for m in hook.methods if m.name == "after_run"), None)
  calls = own is None or any(
    isinstance(n, ast.Attribute) and n.attr == "after_run" for n in ast.walk(own)
  )
  reader = hook_values.method(hook.family[1:], "after_run")
  if reader is None or not calls or not _mentions_results(hook, reader):
    return
  theirs = hook.plan.hook_fetches.get(next(c for c in hook.family if reader in c.body))
  runtime = hook.plan.runtime()
  if theirs is None or theirs.results(runtime) != fetched.results(runtime):
    before_run = next(m for m in hook.methods if m.name == "before_run")
    hook.refuse(before_run, "fetches something else for after_run of its base class")


def _planned(hook: HookClass, fetching: FetchPlan, value) -> Fetches:
  plan = hook.plan
  before = plan.source_version == 2 and "train" in hook.uses
  if value is None:
    attribute = hook.free_attribute("_fetches", "_fetched_tensors")
    if before and len(hook.uses) > 1:
      hook.refuse(hook.node, "fetches other values in each run, in training and evaluation")
    fetching.store(attribute)
    hook.kept_variables = fetching.variables
    if not any(_mentions_results(hook, m) for m in _readers(hook)):
      hook.refuse(hook.node, "runs what it fetches, and does not read it")
    if fetching.appended and not any(_reads_all(hook, m) for m in _readers(hook)):
      what = f"runs {plan.module.source(fetching.appended[0])} by fetching it"
      hook.refuse(fetching.appended[0], what)
    plan.hook_keys[hook.node] = tuple(
      v for v in map(hook.values.attribute, hook.values.attributes()) if v and v.kind == "key"
    )
    if fetching.has_names:
      plan.report("EM312", hook.node, name=hook.node.name, what="what `before_run` asks for")
    if fetching.has_step:
      _report_step(hook)
    return Fetches(attribute=attribute, before_step=before and fetching.may_hold_step)
  fetching.check_read(value, _readers(hook))
  leaves = list(value.leaves())
  plan.hook_keys[hook.node] = tuple(v for v in leaves if v.kind == "key")
  names = [v.text for v in leaves if v.kind == "named" and (v.guessed or v.text != "loss")]
  if any(v.kind == "updates" for v in leaves):
    plan.report("EM318", hook.node, name=hook.node.name)
  if plan.known_keys is not None and not set(names) <= plan.known_keys:
    hook.refuse(hook.node, f"fetches {names[0]}")
  if names or plan.hook_keys[hook.node]:
    shown = ", ".join(f'"{n}"' for n in names) or plan.hook_keys[hook.node][0].text
    plan.report("EM312", hook.node, name=hook.node.name, what=shown)
  step = f"{plan.runtime()}.global_step(self.model)" if leaves else ""
  if any(v.kind == "step" for v in leaves):
    _report_step(hook)
  capture: list[str] = []
  if before and any(v.kind == "step" for v in leaves):
    if len(hook.uses) > 1:
      # Evaluation counts nothing: what is read before the run is right in both.
      attribute = hook.free_attribute("_fetched_step", "_fetched_global_step")
      capture = [f"self.{attribute} = {step}"]
      step = f"self.{attribute}"
    else:
      step = f"{step} - 1"
  fetching.drop(capture)
  return Fetches(value=value, step=step)


def _readers(hook: HookClass) -> list[ast.FunctionDef]:
  """The `after_run` methods that get what this class fetches: its own, or an inherited one."""
  found = hook_values.method(hook.family, "after_run")
  readers = [] if found is None else [found]
  for node in ast.walk(hook.plan.module.tree):
    if isinstance(node, ast.ClassDef) and hook.node in hook_values.family(hook.plan.module, node):
      readers += [m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "after_run"]
  return readers


def _mentions_results(hook: HookClass, method: ast.FunctionDef) -> bool:
  names = [a.arg for a in method.args.posonlyargs + method.args.args][2:3]
  return any(isinstance(n, ast.Name) and [n.id] == names for n in ast.walk(method))


def _reads_all(hook: HookClass, method: ast.FunctionDef) -> bool:
  """Whether a method does more with what was fetched than taking items that are always there."""
  names = [a.arg for a in method.args.posonlyargs + method.args.args][2:3]
  for node in ast.walk(method):
    if isinstance(node, ast.Attribute) and node.attr == "results":
      parent = hook.plan.module.parents[node]
      plain = isinstance(parent, ast.Subscript) and isinstance(parent.slice, ast.Constant)
      if isinstance(node.value, ast.Name) and [node.value.id] == names and not plain:
        return True
  return False


def _report_step(hook: HookClass) -> None:
  plan = hook.plan
  when = "before" if plan.source_version == 2 else "after"
  plan.report("EM311", hook.node, name=hook.node.name, when=when, version=str(plan.source_version))
