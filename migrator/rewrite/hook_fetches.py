"""What a hook fetches in `before_run`, and where its values are read in `after_run`.

https://www.tensorflow.org/guide/migrate/sessionrunhook_callback
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence
from typing import Optional

from migrator.analysis import facts
from migrator.rewrite import emit, hook_values
from migrator.rewrite.hook_values import Value, Values
from migrator.rewrite.plan import Plan, Unsupported

_ARGS_PARAMETERS = ("fetches", "feed_dict", "options")


@dataclasses.dataclass
class Fetches:
  """What `before_run` of a hook asks for.

  Attributes:
    value: what is fetched, where every run fetches the same; else None.
    attribute: the attribute that holds what is fetched, where that is known only when the hook
      runs; else "".
    step: the source of the global step as it was fetched.
    before_step: whether the fetched step is the one before this run counted.
  """

  value: Optional[Value] = None
  attribute: str = ""
  step: str = ""
  before_step: bool = False

  def results(self, runtime: str) -> str:
    """The source of `run_values.results`."""
    if self.attribute:
      before = ", before_step=True" if self.before_step else ""
      return f"{runtime}.fetch(self.{self.attribute}, self.model, logs{before})"
    assert self.value is not None
    return self.text(self.value, runtime)

  def text(self, value: Value, runtime: str) -> str:
    """The source of a fetched value."""
    if value.kind == "step":
      return self.step
    if value.kind == "stale step":
      return f"{runtime}.global_step(self.model) - 1"
    if value.kind == "named":
      return f'logs["{value.text}"]'
    if value.kind == "key":
      return f"{runtime}.fetch({value.text}, self.model, logs)"
    if value.kind in ("none", "updates"):
      return "None"
    items = [self.text(item, runtime) for item in value.items]
    if value.kind == "call":
      given = [f"{n}={item}" if n else item for n, item in zip(value.names, items)]
      return f"{value.text}({', '.join(given)})"
    if value.kind == "dict":
      pairs = zip(value.keys, items)
      return "{" + ", ".join(f"{_key(key)}: {item}" for key, item in pairs) + "}"
    if value.kind == "tuple":
      return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    return f"[{', '.join(items)}]"


class FetchPlan:
  """Plans the edits of one `before_run` that fetches something.

  Args:
    plan: of the file.
    node: the hook's class.
    values: of the class.
    method: its `before_run`.
  """

  def __init__(self, plan: Plan, node: ast.ClassDef, values: Values, method: ast.FunctionDef):
    self._plan = plan
    self._node = node
    self._values = values
    self._method = method
    self._returns = [n for n in _own_nodes(method) if isinstance(n, ast.Return)]
    # What is fetched in some run: the step, something that may be it, values by other names.
    self.has_step = self.may_hold_step = self.has_names = False
    self.variables: set[str] = set()  # of the method, that hold what is fetched
    self.appended: list[ast.expr] = []  # to what is fetched, in some runs
    self._statements: list[ast.Assign] = []  # that hold the SessionRunArgs

  def read(self) -> Optional[Value]:
    """What is fetched if that is the same in every run, else None. Checks all returns.

    Raises:
      Unsupported: EM302, for feeds, options and returns that are no SessionRunArgs.
    """
    fetched = [f for f in map(self.fetched, self._returns) if f is not None]
    if len(self._returns) != 1 or self._returns[0] is not self._method.body[-1]:
      return None
    if not fetched:
      return Value("none")
    value = self._values.of(fetched[0])
    if value is None or not self._is_constant(fetched[0]):
      return None
    return value

  def check_read(self, value: Value, after: Sequence[ast.FunctionDef]) -> None:
    """Checks that everything that could be an operation is read when it has run.

    What is fetched and not read was fetched for what it does, as an update is.

    Args:
      value: what is fetched.
      after: the methods that can read it.

    Raises:
      Unsupported: EM302.
    """
    for item in self._unread(value, after):
      for leaf in item.leaves():
        if leaf.kind == "key" or (leaf.kind == "named" and leaf.text != "loss"):
          what = f"runs {leaf.text} by fetching it"
          raise Unsupported("EM302", self._method, hook=self._node.name, what=what)

  def _unread(self, value: Value, after: Sequence[ast.FunctionDef]) -> list[Value]:
    """The parts of what is fetched that no method reads."""
    module = self._plan.module
    read: set[int] = set()
    for method in after:
      names = [a.arg for a in method.args.posonlyargs + method.args.args]
      for node in ast.walk(method):
        if not isinstance(node, ast.Name) or names[2:3] != [node.id]:
          continue
        results = module.parents[node]
        if not isinstance(results, ast.Attribute):
          return [] if isinstance(results, ast.Call) else [value]
        places = self._places(value, results)
        if places is None:
          return []
        read |= places
    items = value.items or (value,)
    return [item for place, item in enumerate(items) if place not in read]

  def _places(self, value: Value, results: ast.Attribute) -> Optional[set[int]]:
    """Which items of a container a place reads; None for all."""
    module = self._plan.module
    parent = module.parents[results]
    if not value.items:
      return None
    if isinstance(parent, ast.Subscript):
      key = module.constant(parent.slice)
      if value.kind == "dict":
        keys = [module.constant(k) for k in value.keys]
        return {keys.index(key)} if key in keys else None
      return {key % len(value.items)} if isinstance(key, int) else None
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    if isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == len(value.items):
      unused = [isinstance(e, ast.Name) and e.id.startswith("_") for e in target.elts]
      return {place for place, ignored in enumerate(unused) if not ignored}
    return None

  def fetches_something(self) -> bool:
    return any(self.fetched(node) is not None for node in self._returns)

  def fetched(self, node: ast.Return) -> Optional[ast.expr]:
    """The fetches that a return gives; None where it gives None."""
    value = node.value
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
      return None
    if isinstance(value, ast.Name):
      _, bindings = self._plan.module.scope_of[value].lookup(value.id)
      statement = bindings[0].node if len(bindings) == 1 else None
      if isinstance(statement, ast.Assign) and isinstance(bindings[0].value, ast.Call):
        if statement not in self._statements:
          self._statements.append(statement)
        value = bindings[0].value
    symbol = self._plan.module.resolve(value.func) if isinstance(value, ast.Call) else None
    if symbol is None or symbol.path not in hook_values.ARGS:
      what = f"returns {self._plan.module.source(value)} from before_run"
      raise Unsupported("EM302", node, hook=self._node.name, what=what)
    assert isinstance(value, ast.Call)
    arguments = facts.bind_arguments(value, _ARGS_PARAMETERS)
    if arguments is None:
      raise Unsupported("EM302", value, hook=self._node.name, what="fetches *args or **kwargs")
    for name in ("feed_dict", "options"):
      if name == "options" and self._only_reports(arguments.get(name)):
        self._plan.report("EM315", value, name=self._node.name)
      elif name in arguments and self._plan.module.constant(arguments[name].value) is not None:
        what = "feeds the session" if name == "feed_dict" else "gives options to the session"
        raise Unsupported("EM302", value, hook=self._node.name, what=what)
    return arguments["fetches"].value if "fetches" in arguments else None

  def _only_reports(self, argument: Optional[facts.Argument]) -> bool:
    """Whether options change only what TensorFlow says when it runs out of memory."""
    call = self._plan.module.definition(argument.value) if argument is not None else None
    if not isinstance(call, ast.Call) or call.args:
      return False
    return [k.arg for k in call.keywords] == ["report_tensor_allocations_upon_oom"]

  def _is_constant(self, node: ast.expr) -> bool:
    """Whether the keys of all dicts in it can be written where the values are read."""
    return not any(
      isinstance(inner, ast.Dict)
      and any(isinstance(n, ast.Name) for key in inner.keys if key for n in ast.walk(key))
      for inner in ast.walk(node)
    )

  def drop(self, replacement: Optional[list[str]] = None) -> None:
    """Plans the removal of the return of a before_run that always fetches the same."""
    for statement in (self._returns[0], *self._statements):
      edit = self._plan.statement(statement)
      edit.replacement, edit.drop_comments = [], True
    self._plan.statement(self._returns[0]).replacement = replacement or []

  def store(self, attribute: str) -> None:
    """Plans that `before_run` keeps what it fetches in an attribute.

    Raises:
      Unsupported: EM302, for what is no key, variable or structure of them.
    """
    for statement in self._statements:
      raise Unsupported(
        "EM302", statement, hook=self._node.name, what="keeps its SessionRunArgs in a variable"
      )
    always = self._method.body[-1] in self._returns
    for node in self._returns:
      fetched = self.fetched(node)
      last = self._is_last(node)
      if fetched is None:
        always = False
        if node is self._method.body[-1]:
          self._plan.statement(node).replacement = []
        continue
      self._check(fetched, set())
      lines = [f"self.{attribute} = {self._plan.source(fetched)}"]
      self._plan.statement(node).replacement = lines if last else [*lines, "return"]
    if not always or len(self._returns) > 1:
      first = self._method.body[0]
      if hook_values.is_docstring(first) and len(self._method.body) > 1:
        first = self._method.body[1]
      self._plan.statement(first).before.insert(0, f"self.{attribute} = None")

  def _is_last(self, node: ast.stmt) -> bool:
    """Whether the method ends after a statement without a `return`."""
    block: ast.AST = self._method
    while True:
      bodies = [getattr(block, "body", []), getattr(block, "orelse", [])]
      body = next((b for b in bodies if b and self._holds(b[-1], node)), None)
      if body is None or (block is self._method and body is not self._method.body):
        return self._followed_by_none(node)
      if body[-1] is node:
        return True
      if not isinstance(body[-1], ast.If):
        return False
      block = body[-1]

  def _holds(self, statement: ast.stmt, node: ast.AST) -> bool:
    return statement is node or statement in self._plan.module.ancestors(node)

  def _followed_by_none(self, node: ast.AST) -> bool:
    """`if ...: return SessionRunArgs(...)` before a last `return None`, which goes."""
    body = self._method.body
    return (
      len(body) > 1
      and isinstance(body[-1], ast.Return)
      and self.fetched(body[-1]) is None
      and isinstance(body[-2], ast.If)
      and (node in body[-2].body[-1:] or node in body[-2].orelse[-1:])
    )

  def _check(self, node: ast.expr, seen: set[str]) -> None:
    """Checks that an expression holds keys when it runs, and plans those of the global step."""
    value = self._values.of(node)
    self.may_hold_step |= value is not None and value.kind in ("step", "key")
    self.has_step |= value is not None and value.kind == "step"
    self.has_names |= value is not None and (
      value.kind == "key" or (value.kind == "named" and (value.guessed or value.text != "loss"))
    )
    if value is not None and value.kind == "step":
      self._plan.expressions[node] = '"global_step"'
      return
    if value is not None and value.kind == "named":
      known = self._plan.known_keys
      if known is not None and value.text not in known:
        raise Unsupported("EM302", node, hook=self._node.name, what=f"fetches {value.text}")
      if self._plan.module.constant(node) not in (value.text, f"{value.text}:0"):
        self._plan.expressions[node] = f'"{value.text}"'
      return
    if value is not None and value.kind in ("key", "none"):
      return
    if isinstance(node, (ast.List, ast.Tuple)):
      for element in node.elts:
        self._check(element, seen)
    elif isinstance(node, ast.Dict):
      for item in node.values:
        self._check(item, seen)
    elif isinstance(node, ast.IfExp):
      self._check(node.body, seen)
      self._check(node.orelse, seen)
    elif isinstance(node, ast.Name) and node.id not in seen:
      self._check_variable(node, seen | {node.id})
    else:
      what = f"fetches {self._plan.module.source(node)}"
      raise Unsupported("EM302", node, hook=self._node.name, what=what)

  def _check_variable(self, node: ast.Name, seen: set[str]) -> None:
    """A variable of the method: what is assigned to it, its items, or appended."""
    scope, bindings = self._plan.module.scope_of[node].lookup(node.id)
    assigned = [b.value for b in bindings if b.kind == "assign" and b.value is not None]
    if scope is None or scope.node is not self._method or len(assigned) != len(bindings):
      what = f"fetches {node.id}"
      raise Unsupported("EM302", node, hook=self._node.name, what=what)
    self.variables.add(node.id)
    for value in assigned:
      self._check(value, seen)
    for inner in _own_nodes(self._method):
      if isinstance(inner, ast.Assign):
        for target in inner.targets:
          if isinstance(target, ast.Subscript) and _is_name(target.value, node.id):
            self._check(inner.value, seen)
        continue
      if not isinstance(inner, ast.Call) or not isinstance(inner.func, ast.Attribute):
        continue
      if _is_name(inner.func.value, node.id):
        if inner.func.attr != "append" or len(inner.args) != 1:
          what = f"fetches {node.id}, which {inner.func.attr} changes"
          raise Unsupported("EM302", inner, hook=self._node.name, what=what)
        self._check(inner.args[0], seen)
        self.appended.append(inner.args[0])


def _key(node: ast.expr) -> str:
  """The source of a key of a dict, as the rest of the code that is written."""
  if isinstance(node, ast.Constant) and isinstance(node.value, str):
    return emit.string(node.value)
  return ast.unparse(node)


def _is_name(node: ast.AST, name: str) -> bool:
  return isinstance(node, ast.Name) and node.id == name


def _own_nodes(function: ast.FunctionDef):
  """The nodes of a function without those of functions in it."""
  waiting: list[ast.AST] = list(function.body)
  while waiting:
    node = waiting.pop(0)
    yield node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
      waiting.extend(ast.iter_child_nodes(node))
