"""What a hook does with the session's parameters: `run_context`, `run_values`, `session`.

https://www.tensorflow.org/guide/migrate/sessionrunhook_callback
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Optional

from migrator.analysis import facts
from migrator.rewrite import hook_values
from migrator.rewrite.hook_fetches import Fetches
from migrator.rewrite.hook_values import Value, Values
from migrator.rewrite.plan import Plan, StatementEdit, Unsupported

# Who calls the hook -> the attribute of the model that ends what it does.
STOPS = {"train": "stop_training", "evaluate": "stop_evaluating", "predict": "stop_predicting"}
# The parameters of the hook methods after self, by what they are.
ROLES = {
  "begin": (),
  "after_create_session": ("session", ""),
  "before_run": ("context",),
  "after_run": ("context", "values"),
  "end": ("session",),
}
_READ_NOW = frozenset(("step", "stale step", "key"))
_RUN = ("fetches", "feed_dict", "options", "run_metadata")


class Parameters:
  """Plans the edits of the places where one hook method reads its parameters.

  Args:
    plan: of the file.
    node: the hook's class.
    method: the method.
    values: of the class.
    fetches: what the hook fetches, None if it fetches nothing.
    uses: who calls the hook.
    roles: of the method's parameters after self, where it is no method of a hook: by place.

  Attributes:
    pending: places of the session's graph, which have to go with what is looked up in it.
    handed: own methods to which a parameter is handed on: name, place and role.
  """

  def __init__(
    self,
    plan: Plan,
    node: ast.ClassDef,
    method: ast.FunctionDef,
    values: Values,
    fetches: Optional[Fetches],
    uses: Sequence[str],
    roles: Optional[dict[int, str]] = None,
  ):
    self._plan = plan
    self._module = plan.module
    self._node = node
    self._method = method
    self._values = values
    self._fetches = fetches
    self._uses = uses
    self._names = [a.arg for a in method.args.posonlyargs + method.args.args][1:]
    places = dict(enumerate(ROLES[method.name])) if roles is None else roles
    self._roles = {n: places[i] for i, n in enumerate(self._names) if i in places}
    self._is_helper = roles is not None
    self.pending: list[ast.AST] = []
    self.handed: set[tuple[str, int, str]] = set()
    self._variable = ""

  def convert(self) -> None:
    """Plans all of them.

    Raises:
      Unsupported: EM302, a use without counterpart.
    """
    self._variable = self._hoisted()
    for inner in ast.walk(self._method):
      if isinstance(inner, ast.Name) and self._is_parameter(inner) and not self._dropped(inner):
        self._convert(inner, self._roles[inner.id])

  def _hoisted(self) -> str:
    """The variable that holds what was fetched, where it is read more than once; else ""."""
    if self._fetches is None or self._method.name != "after_run":
      return ""
    value = self._fetches.value
    reads = [
      n
      for n in ast.walk(self._method)
      if isinstance(n, ast.Attribute) and n.attr == "results" and self._is_values(n.value)
    ]
    kinds = {leaf.kind for leaf in value.leaves()} if value is not None else {"key"}
    late = bool(kinds & _READ_NOW) and any(map(self._is_late, reads))
    whole = value is None or value.kind in _READ_NOW or any(map(self._is_changed, reads))
    often = len(reads) > 1 or any(map(self._is_repeated, reads))
    if not late and not (often and whole):
      return ""
    used = {n.id for n in ast.walk(self._method) if isinstance(n, ast.Name)}
    names = ("global_step", "step") if value is not None and "step" in value.kind else ()
    name = next((n for n in (*names, "results", "fetched") if n not in used), "")
    if name:
      first = next(s for s in self._method.body if not hook_values.is_docstring(s))
      line = f"{name} = {self._fetches.results(self._plan.runtime())}"
      edit = self._plan.statements.setdefault(first, StatementEdit())
      edit.before = [b for b in edit.before if not b.startswith(f"{name} = ")] + [line]
    return name

  def _is_late(self, node: ast.AST) -> bool:
    """Whether a place is in a function of its own, which may be called when other steps have run."""
    scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    found = next(a for a in self._module.ancestors(node) if isinstance(a, scopes))
    return found is not self._method

  def _is_repeated(self, node: ast.AST) -> bool:
    """Whether a loop of the method evaluates a place several times."""
    for ancestor in self._module.ancestors(node):
      if isinstance(ancestor, (ast.For, ast.While)) and node is not getattr(ancestor, "iter", None):
        return True
      if ancestor is self._method:
        break
    return False

  def _is_changed(self, node: ast.AST) -> bool:
    """Whether a place changes a container, or gives it another name under which it may change."""
    parent = self._module.parents[node]
    if isinstance(parent, ast.Subscript):
      return not isinstance(parent.ctx, ast.Load)
    if isinstance(parent, ast.Attribute):
      return parent.attr in hook_values.CHANGES
    named = isinstance(parent, ast.Assign) and not isinstance(parent.targets[0], ast.Tuple)
    return named or isinstance(parent, (ast.Compare, ast.AugAssign, ast.NamedExpr))

  def _is_values(self, node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and self._names[1:2] == [node.id]

  def _is_parameter(self, name: ast.Name) -> bool:
    """Whether a name is the parameter, also in a function within the method."""
    if name.id not in self._roles:
      return False
    scope, _ = self._module.scope_of[name].lookup(name.id)
    return scope is not None and scope.node is self._method

  def _dropped(self, name: ast.Name) -> bool:
    """`del run_context` and `_ = run_context` say that it is not used: they go."""
    statement = self._module.statement(name)
    edit = self._plan.statements.get(statement)
    if edit is not None and edit.replacement is not None:
      return True  # it went with its statement
    if isinstance(statement, ast.Delete):
      deleted = [t.id if isinstance(t, ast.Name) else "" for t in statement.targets]
      if set(deleted) <= set(self._names):
        self._plan.statement(statement).replacement = []
        return True
    ignored = isinstance(statement, ast.Assign) and statement.value is name
    if ignored and [getattr(t, "id", "") for t in statement.targets] == ["_"]:  # type: ignore[attr-defined]
      self._plan.statement(statement).replacement = []
      return True
    return False

  def _convert(self, name: ast.Name, role: str) -> None:
    parent = self._module.parents[name]
    if isinstance(parent, ast.Call) and name in parent.args and self._hand_on(parent, name, role):
      pass
    elif role == "session":
      self._session(name)
    elif self._is_helper and role == "values" and self._is_tested(name):
      pass
    elif not isinstance(parent, ast.Attribute) or not role:
      self._refuse(name, name)
    elif role == "values":
      self._run_values(parent)
    elif parent.attr == "session":
      self._context_session(parent)
    elif parent.attr == "request_stop":
      self._request_stop(parent)
    elif parent.attr == "stop_requested" and len(self._uses) == 1:
      self._plan.expressions[parent] = f"self.model.{STOPS[self._uses[0]]}"
    elif parent.attr == "original_args" and self._is_fetched(parent):
      pass
    else:
      self._refuse(name, parent)

  def _refuse(self, name: ast.AST, used: ast.AST) -> None:
    what = f"uses {self._module.source(used)} in {self._method.name}"
    raise Unsupported("EM302", name, hook=self._node.name, what=what)

  def _is_tested(self, name: ast.Name) -> bool:
    """Whether a place only asks if there is something."""
    parent = self._module.parents[name]
    if isinstance(parent, ast.Compare):
      return all(isinstance(o, (ast.Is, ast.IsNot)) for o in parent.ops)
    if isinstance(parent, (ast.If, ast.IfExp, ast.While)):
      return parent.test is name
    return isinstance(parent, ast.BoolOp)

  def _hand_on(self, call: ast.Call, name: ast.Name, role: str) -> bool:
    """Plans the argument of a call of an own method, which is converted too if it reads it."""
    if self._ignores(call, name):
      self._give_none(call, name)
      return True
    if not hook_values.is_own_attribute(call.func) or not role:
      return False
    assert isinstance(call.func, ast.Attribute)
    place = call.args.index(name)
    if any(isinstance(a, ast.Starred) for a in call.args[:place]):
      return False
    helper = hook_values.method(hook_values.family(self._module, self._node), call.func.attr)
    if helper is None:
      return False
    self.handed.add((call.func.attr, place, role))
    if role == "values":
      if not self._is_helper and self._fetches is None:
        return False
      if self._is_helper:
        return True  # it holds the results already
      assert self._fetches is not None
      self._plan.expressions[name] = self._fetches.results(self._plan.runtime())
    else:
      self._give_none(call, name)
    return True

  def _give_none(self, call: ast.Call, argument: ast.expr) -> None:
    """Plans None in place of an object that no callback has."""
    self._plan.expressions[argument] = "None"
    assert isinstance(call.func, ast.Attribute)
    what = self._module.source(argument)
    self._plan.report("EM326", call, name=self._node.name, method=call.func.attr, what=what)

  def _ignores(self, call: ast.Call, name: ast.Name) -> bool:
    """Whether a call is one of an own method that does nothing with this argument."""
    if not hook_values.is_own_attribute(call.func) or any(
      isinstance(a, ast.Starred) for a in call.args
    ):
      return False
    assert isinstance(call.func, ast.Attribute)
    found = False
    for owner in ast.walk(self._module.tree):
      if not isinstance(owner, ast.ClassDef) or facts.hook_base(self._module, owner) is None:
        continue
      for method in owner.body:
        if isinstance(method, ast.FunctionDef) and method.name == call.func.attr:
          found = True
          parameters = [a.arg for a in method.args.posonlyargs + method.args.args][1:]
          place = call.args.index(name)
          if place >= len(parameters) or _reads(method, parameters[place]):
            return False
    return found

  # -- run_values and run_context --------------------------------------------------

  def _run_values(self, attribute: ast.Attribute) -> None:
    if self._is_helper and attribute.attr == "results":
      self._plan.expressions[attribute] = self._module.source(attribute.value)
      return
    if attribute.attr != "results" or self._fetches is None:
      self._refuse(attribute, attribute)
      return
    if self._variable:
      self._plan.expressions[attribute] = self._variable
      return
    runtime = self._plan.runtime()
    parent = self._module.parents[attribute]
    value = self._fetches.value
    if value is not None and isinstance(parent, ast.Subscript) and parent.value is attribute:
      item = self._item(value, parent)
      if item is not None:
        self._plan.expressions[parent] = self._bound(parent, self._fetches.text(item, runtime))
        return
    text = self._fetches.results(runtime)
    unpacked = (
      isinstance(parent, ast.Assign)
      and len(parent.targets) == 1
      and isinstance(parent.targets[0], (ast.Tuple, ast.List))
    )
    if unpacked and value is not None and value.kind in ("list", "tuple") and len(value.items) > 1:
      text = text[1:-1]
    self._plan.expressions[attribute] = self._bound(attribute, text)

  def _bound(self, node: ast.AST, text: str) -> str:
    """A difference in parentheses where an operator beside it would bind tighter."""
    string = next((a for a in self._module.ancestors(node) if isinstance(a, ast.JoinedStr)), None)
    if string is not None and '"' in text and self._module.source(string).lstrip("fFrR")[:1] == '"':
      text = text.replace('"', "'")
    if text.startswith("{") and isinstance(self._module.parents[node], ast.FormattedValue):
      return f"({text})"  # two braces would be one of the text
    loose = (ast.Assign, ast.keyword, ast.Call, ast.Return, ast.Tuple, ast.List, ast.Dict)
    return f"({text})" if text.endswith(" - 1") and not self._is_in(node, loose) else text

  def _is_in(self, node: ast.AST, kinds) -> bool:
    parent = self._module.parents[node]
    return isinstance(parent, kinds) and getattr(parent, "func", None) is not node

  def _item(self, value: Value, node: ast.Subscript) -> Optional[Value]:
    """The item that a subscript with a constant takes of a fetched container."""
    key = self._module.constant(node.slice)
    if value.kind == "dict":
      keys = [self._module.constant(k) for k in value.keys]
      return value.items[keys.index(key)] if isinstance(key, str) and key in keys else None
    if value.kind in ("list", "tuple") and isinstance(key, int):
      return value.items[key] if -len(value.items) <= key < len(value.items) else None
    return None

  def _request_stop(self, attribute: ast.Attribute) -> None:
    call = self._module.parents[attribute]
    statement = self._module.parents[call]
    if not isinstance(call, ast.Call) or not isinstance(statement, ast.Expr):
      self._refuse(attribute, attribute)
    targets = " = ".join(f"self.model.{STOPS[use]}" for use in self._uses)
    self._plan.statement(statement).replacement = [f"{targets} = True"]

  def _is_fetched(self, attribute: ast.Attribute) -> bool:
    """Whether `run_context.original_args` stands in what is fetched."""
    for ancestor in self._module.ancestors(attribute):
      if isinstance(ancestor, ast.expr) and self._values.of(ancestor) is not None:
        return True
      if isinstance(ancestor, ast.stmt):
        break
    return False

  # -- the session -------------------------------------------------------------------

  def _context_session(self, attribute: ast.Attribute) -> None:
    """`run_context.session`, also where a variable holds it."""
    statement = self._module.parents[attribute]
    if isinstance(statement, ast.Assign) and statement.value is attribute:
      target = statement.targets[0]
      if len(statement.targets) == 1 and isinstance(target, ast.Name):
        _, bindings = self._module.scope_of[target].lookup(target.id)
        if len(bindings) == 1:
          self._plan.statement(statement).replacement = []
          for load in facts.loads(self._module, target):
            self._session(load)
          return
    self._session(attribute)

  def _session(self, node: ast.expr) -> None:
    """The only thing that can be run in no session is reading the global step."""
    parent = self._module.parents[node]
    call = self._module.parents.get(parent)
    if isinstance(parent, ast.Attribute) and parent.attr == "graph":
      self.pending.append(parent)
      return
    if isinstance(parent, ast.Attribute) and parent.attr == "run" and isinstance(call, ast.Call):
      arguments = facts.bind_arguments(call, _RUN)
      if arguments is not None and list(arguments) == ["fetches"]:
        text = self._read(self._values.of(arguments["fetches"].value))
        if text is not None:
          self._plan.expressions[call] = text
          return
      what = f"runs {self._module.source(call.args[0])}" if call.args else "runs something"
      raise Unsupported("EM302", call, hook=self._node.name, what=f"{what} in the session")
    if isinstance(parent, ast.Call) and node in parent.args:
      symbol = self._module.resolve(parent.func)
      if symbol is not None and symbol.path == "tf.train.global_step" and len(parent.args) == 2:
        text = self._read(self._values.of(parent.args[1]))
        if text is not None:
          self._plan.expressions[parent] = text
          return
      if isinstance(node, ast.Attribute) and self._hand_on_attribute(parent, node):
        return
    self._refuse(node, parent if isinstance(parent, (ast.Attribute, ast.Call)) else node)

  def _hand_on_attribute(self, call: ast.Call, node: ast.Attribute) -> bool:
    """`self.log(run_context.session)`."""
    if not hook_values.is_own_attribute(call.func):
      return False
    assert isinstance(call.func, ast.Attribute)
    helper = hook_values.method(hook_values.family(self._module, self._node), call.func.attr)
    if helper is None or any(isinstance(a, ast.Starred) for a in call.args):
      return False
    self.handed.add((call.func.attr, call.args.index(node), "session"))
    self._give_none(call, node)
    return True

  def _read(self, value: Optional[Value]) -> Optional[str]:
    """The source of what a run of its own reads: the global step as it is now."""
    if value is None:
      return None
    if value.kind in ("step", "stale step"):
      return f"{self._plan.runtime()}.global_step(self.model)"
    if value.kind == "named" and self._method.name == "end" and self._plan.known_keys is None:
      self._plan.report("EM317", self._node, name=self._node.name, what=f'"{value.text}"')
      return f'logs["{value.text}"]'
    if value.kind == "list" and value.items:
      items = [self._read(item) for item in value.items]
      return None if None in items else f"[{', '.join(i for i in items if i)}]"
    return None


def _reads(method: ast.FunctionDef, name: str) -> bool:
  """Whether a method reads a parameter for something else than `del` or handing it on."""
  return any(
    isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Del)
    for n in ast.walk(method)
  )
