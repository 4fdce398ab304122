"""SessionRunHook classes -> Keras callbacks.

https://www.tensorflow.org/guide/migrate/sessionrunhook_callback
"""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis import facts, symbols
from migrator.lint import wording
from migrator.rewrite import hook_listeners, hook_notes, hook_savers, hook_values, hook_writers
from migrator.rewrite.hook_fetches import Fetches, FetchPlan
from migrator.rewrite.hook_parameters import Parameters
from migrator.rewrite.hook_values import Values
from migrator.rewrite.plan import Plan, StatementEdit, Unsupported

# hook method -> (what follows on_train_, on_test_ or on_predict_, parameters after self)
_EVENTS = {
  "begin": ("begin", "logs=None"),
  "after_create_session": ("begin", "logs=None"),
  "before_run": ("batch_begin", "batch, logs=None"),
  "after_run": ("batch_end", "batch, logs=None"),
  "end": ("end", "logs=None"),
}
METHODS = tuple(_EVENTS)
_PREFIXES = {"train": "on_train_", "evaluate": "on_test_", "predict": "on_predict_"}
_OF_GRAPH = ("graph", "session", "original_args", "get_tensor_by_name", "get_collection")
# What looks at or changes directories.
_FILES = ("latest_checkpoint", "get_checkpoint_state", "rmtree", "listdir", "remove", "glob")
# Hook of TensorFlow -> callback of the runtime whose methods a subclass may override.
_BASES = {
  "tf.train.SessionRunHook": "",
  "tf.train.StepCounterHook": "StepCounter",
  "tf.train.LoggingTensorHook": "LoggingTensor",
}
# Attributes that keras.callbacks.Callback uses itself.
TAKEN = frozenset(("model", "_model", "params", "validation_data"))


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
  if symbol.path not in _BASES:
    raise Unsupported("EM303", node, name=symbol.path, **wording.of(symbol))
  order = [u for u in _PREFIXES if u == use or u in uses]
  plan.hook_uses[node] = tuple(order)
  if node not in plan.classes:
    plan.classes.append(node)
  _Conversion(plan, tf, node, symbol, use, order).run()


def convert_call(plan: Plan, call: ast.Call, node: ast.ClassDef) -> None:
  """Plans the construction of a converted hook: graph tensors among the arguments become keys.

  Raises:
    Unsupported: EM302, an argument names a tensor that the training does not give.
  """
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
    if not isinstance(argument, ast.Constant):
      what = f"fetches {plan.module.source(argument)}"
      raise Unsupported("EM302", argument, hook=node.name, what=what)
    plan.expressions[argument] = f'"{key}"'


class _Conversion:
  """Plans the edits of one class."""

  def __init__(self, plan: Plan, tf: str, node, symbol: symbols.Symbol, use: str, uses):
    self._plan = plan
    self._tf = tf
    self._node = node
    self._symbol = symbol
    self._use = use
    self._uses = uses
    self._family = hook_values.family(plan.module, node)
    self._values = Values(plan.module, node, self._family, guess=plan.known_keys is None)
    self._pending: list[ast.AST] = []
    self._kept_variables: set[str] = set()
    self._methods = [m for m in node.body if isinstance(m, ast.FunctionDef)]

  def run(self) -> None:
    for base in self._node.bases:
      self._base(base)
    self._check_body()
    self._base_calls()
    hook_writers.convert(self._plan, self._tf, self._node)
    hook_savers.convert(self._plan, self._node)
    fetches = self._fetches()
    handed: set[tuple[str, int, str]] = set()
    for method in self._methods:
      if method.name in METHODS:
        self._supers(method)
        handed |= self._parameters(method, fetches)
      elif method.name.startswith("on_") or method.name in ("set_model", "set_params"):
        self._refuse(method, f"defines {method.name}")
      self._rename_taken(method)
    self._helpers(handed, fetches)
    hook_writers.finish(self._plan)
    self._remove_tensors()
    self._name_methods()
    self._refuse_graph_names()
    self._aliases()
    hook_notes.report(self._plan, self._node)

  def _refuse(self, node: ast.AST, what: str) -> None:
    raise Unsupported("EM302", node, hook=self._node.name, what=what)

  def _parameters(self, method, fetches, roles=None) -> set[tuple[str, int, str]]:
    parameters = Parameters(
      self._plan, self._node, method, self._values, fetches, self._uses, roles
    )
    parameters.convert()
    self._pending += parameters.pending
    return parameters.handed

  def _helpers(self, handed: set[tuple[str, int, str]], fetches: Optional[Fetches]) -> None:
    """Converts own methods that get `run_context`, `run_values` or the session."""
    plan = self._plan
    inherited = {h for c in self._family[1:] for h in plan.hook_helpers.get(c, ())}
    for name, _, _ in handed - inherited:
      if not self._has(name):
        self._refuse(self._node, f"hands the session's objects to {name} of its base class")
    done: set[tuple[str, int, str]] = set()
    waiting = handed | inherited
    while waiting - done:
      name = min(waiting - done)[0]
      roles = {place: role for n, place, role in waiting if n == name}
      done |= {h for h in waiting if h[0] == name}
      method = next((m for m in self._methods if m.name == name), None)
      if method is not None:
        waiting |= self._parameters(method, fetches, roles)
    plan.hook_helpers[self._node] = frozenset(waiting)

  # -- bases and super -----------------------------------------------------------

  def _base(self, base: ast.expr) -> None:
    plan = self._plan
    symbol = plan.module.resolve(base)
    definition = plan.module.definition(base)
    if symbol is not None and symbol.path == self._symbol.path:
      own = _BASES[symbol.path]
      callback = f"{plan.runtime()}.{own}" if own else f"{self._tf}.keras.callbacks.Callback"
      plan.expressions[base] = callback
    elif isinstance(definition, ast.ClassDef) and facts.hook_base(plan.module, definition):
      convert_class(plan, self._tf, definition, self._use)
      if definition in plan.twins:
        plan.expressions[base] = plan.twins[definition]
    elif isinstance(base, ast.Name) and base.id == "object":
      pass
    elif not isinstance(definition, ast.ClassDef) or definition.bases:
      self._refuse(base, f"derives from {plan.module.source(base)}")
    else:
      names = plan.module.scopes[definition].bindings
      for name in (*METHODS, *TAKEN):
        if name in names:
          self._refuse(base, f"gets {name} from {definition.name}")

  def _supers(self, method: ast.FunctionDef) -> None:
    """`super().begin()` in `begin`: the callback's method of the same place."""
    for inner in ast.walk(method):
      if not isinstance(inner, ast.Attribute) or inner.attr not in METHODS:
        continue
      call = self._plan.module.parents[inner]
      statement = self._plan.module.parents[call]
      calls = isinstance(call, ast.Call) and call.func is inner
      if not calls or inner.attr != method.name or not _is_super(inner.value):
        self._refuse(inner, f"uses {self._plan.module.source(inner)}")
      if not isinstance(statement, ast.Expr):
        self._refuse(inner, f"uses what {self._plan.module.source(call)} returns")
      if method.name == "begin" and self._has("after_create_session"):
        self._refuse(inner, "calls super().begin() and has after_create_session")
      if len(self._family) == 1 and self._symbol.path == "tf.train.SessionRunHook":
        self._plan.statement(statement).replacement = []
        continue
      event, parameters = _EVENTS[method.name]
      arguments = parameters.replace("=None", "")
      owner = self._plan.source(inner.value)
      name = f"{_PREFIXES[self._uses[0]]}{event}"
      self._plan.statement(statement).replacement = [f"{owner}.{name}({arguments})"]

  def _has(self, name: str) -> bool:
    return any(m.name == name for m in self._methods)

  # -- what must be plain -----------------------------------------------------------

  def _check_body(self) -> None:
    """Hook methods must be plain methods of the class, and only the session may call them."""
    plan, node = self._plan, self._node
    own = plan.module.scopes[node].bindings
    for name in TAKEN:
      if name in own:
        self._refuse(node, f"has an attribute {name}")
    for name in METHODS:
      for binding in own.get(name, []):
        method = binding.node
        plain = isinstance(method, ast.FunctionDef) and not method.decorator_list
        if not plain or method not in node.body or len(own[name]) > 1:
          self._refuse(method, f"defines {name} in another way")
    for inner in ast.walk(node):
      if isinstance(inner, ast.Attribute) and inner.attr in METHODS and not _is_super(inner.value):
        self._refuse(inner, f"uses {plan.module.source(inner)}")
      if isinstance(inner, ast.Name) and inner.id == node.name and node in plan.twins:
        plan.expressions[inner] = plan.twins[node]
    for method in self._methods:
      if method.name in METHODS:
        self._check_parameters(method)
    both = self._has("begin") and self._has("after_create_session")
    inherits = any(
      hook_values.method(self._family[1:], n) for n in ("begin", "after_create_session")
    )
    if inherits and (both or self._has("begin") or self._has("after_create_session")):
      inherited = {
        n for n in ("begin", "after_create_session") if hook_values.method(self._family[1:], n)
      }
      own_names = {n for n in ("begin", "after_create_session") if self._has(n)}
      if inherited != own_names:
        self._refuse(node, "has begin, and after_create_session of its base class")

  def _base_calls(self) -> None:
    """`tf.train.SessionRunHook.__init__(self)` names the callback's class as well."""
    for inner in ast.walk(self._node):
      if isinstance(inner, ast.Attribute) and inner.attr == "__init__":
        symbol = self._plan.module.resolve(inner.value)
        if symbol is not None and symbol.path == self._symbol.path:
          base = next((b for b in self._node.bases if b in self._plan.expressions), None)
          if base is not None:
            self._plan.expressions[inner.value] = self._plan.expressions[base]

  def _check_parameters(self, method: ast.FunctionDef) -> None:
    arguments = method.args
    names = [a.arg for a in arguments.posonlyargs + arguments.args]
    if not names or arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
      self._refuse(method, f"{method.name} has unusual parameters")
    if names[0] != "self":
      self._refuse(method, f"calls its instance {names[0]} in {method.name}")
    if any(isinstance(n, ast.Name) and n.id == "logs" for n in ast.walk(method)):
      self._refuse(method, "reads a variable called logs")

  # -- what is fetched ---------------------------------------------------------------

  def _fetches(self) -> Optional[Fetches]:
    """What the hook fetches; plans the edits of `before_run` if it is the class's own."""
    plan = self._plan
    method = hook_values.method(self._family, "before_run")
    if method is None:
      return None
    owner = next(c for c in self._family if method in c.body)
    if owner is not self._node:
      return plan.hook_fetches.get(owner)
    fetching = FetchPlan(plan, self._node, self._values, method)
    value = fetching.read()
    if not fetching.fetches_something():
      after = hook_values.method(self._family, "after_run")
      if (
        after is not None
        and after not in self._node.body
        and plan.hook_fetches.get(next(c for c in self._family if after in c.body))
      ):
        self._refuse(method, "does not fetch what after_run of its base class reads")
      if value is not None and method.body and isinstance(method.body[-1], ast.Return):
        fetching.drop()
      plan.hook_fetches.pop(self._node, None)
      return None
    fetched = self._planned(fetching, value)
    plan.hook_fetches[self._node] = fetched
    return fetched

  def _planned(self, fetching: FetchPlan, value) -> Fetches:
    plan = self._plan
    before = plan.source_version == 2 and "train" in self._uses
    if value is None:
      attribute = self._free_attribute("_fetches", "_fetched_tensors")
      if before and len(self._uses) > 1:
        self._refuse(self._node, "fetches other values in each run, in training and evaluation")
      fetching.store(attribute)
      self._kept_variables = fetching.variables
      if not any(self._mentions_results(m) for m in self._readers()):
        self._refuse(self._node, "runs what it fetches, and does not read it")
      if fetching.appended and not any(self._reads_all(m) for m in self._readers()):
        what = f"runs {plan.module.source(fetching.appended[0])} by fetching it"
        self._refuse(fetching.appended[0], what)
      plan.hook_keys[self._node] = tuple(
        v for v in map(self._values.attribute, self._values.attributes()) if v and v.kind == "key"
      )
      plan.report("EM312", self._node, name=self._node.name, what="what `before_run` asks for")
      return Fetches(attribute=attribute, before_step=before)
    fetching.check_read(value, self._readers())
    leaves = list(value.leaves())
    plan.hook_keys[self._node] = tuple(v for v in leaves if v.kind == "key")
    names = [v.text for v in leaves if v.kind == "named" and (v.guessed or v.text != "loss")]
    if any(v.kind == "updates" for v in leaves):
      plan.report("EM318", self._node, name=self._node.name)
    if plan.known_keys is not None and not set(names) <= plan.known_keys:
      self._refuse(self._node, f"fetches {names[0]}")
    if names or plan.hook_keys[self._node]:
      shown = ", ".join(f'"{n}"' for n in names) or plan.hook_keys[self._node][0].text
      plan.report("EM312", self._node, name=self._node.name, what=shown)
    step = f"{plan.runtime()}.global_step(self.model)" if leaves else ""
    if any(v.kind == "step" for v in leaves):
      self._report_step()
    capture: list[str] = []
    if before and any(v.kind == "step" for v in leaves):
      if len(self._uses) > 1:
        # Evaluation counts nothing: what is read before the run is right in both.
        attribute = self._free_attribute("_fetched_step", "_fetched_global_step")
        capture = [f"self.{attribute} = {step}"]
        step = f"self.{attribute}"
      else:
        step = f"{step} - 1"
    fetching.drop(capture)
    return Fetches(value=value, step=step)

  def _readers(self) -> list[ast.FunctionDef]:
    """The `after_run` methods that get what this class fetches: its own, or an inherited one."""
    found = hook_values.method(self._family, "after_run")
    readers = [] if found is None else [found]
    for node in ast.walk(self._plan.module.tree):
      if isinstance(node, ast.ClassDef) and self._node in hook_values.family(
        self._plan.module, node
      ):
        readers += [
          m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "after_run"
        ]
    return readers

  def _mentions_results(self, method: ast.FunctionDef) -> bool:
    names = [a.arg for a in method.args.posonlyargs + method.args.args][2:3]
    return any(isinstance(n, ast.Name) and [n.id] == names for n in ast.walk(method))

  def _reads_all(self, method: ast.FunctionDef) -> bool:
    """Whether a method does more with what was fetched than taking items that are always there."""
    names = [a.arg for a in method.args.posonlyargs + method.args.args][2:3]
    for node in ast.walk(method):
      if isinstance(node, ast.Attribute) and node.attr == "results":
        parent = self._plan.module.parents[node]
        plain = isinstance(parent, ast.Subscript) and isinstance(parent.slice, ast.Constant)
        if isinstance(node.value, ast.Name) and [node.value.id] == names and not plain:
          return True
    return False

  def _report_step(self) -> None:
    plan = self._plan
    when = "before" if plan.source_version == 2 else "after"
    plan.report(
      "EM311", self._node, name=self._node.name, when=when, version=str(plan.source_version)
    )

  def _free_attribute(self, *candidates: str) -> str:
    taken = {n.attr for c in self._family for n in ast.walk(c) if isinstance(n, ast.Attribute)}
    found = next((c for c in candidates if c not in taken), None)
    if found is None:
      self._refuse(self._node, f"has an attribute {candidates[0]}")
    assert found is not None
    return found

  # -- tensors that are gone -----------------------------------------------------------

  def _remove_tensors(self) -> None:
    """Attributes that held the global step's tensor, or one by name, go with their checks."""
    for name in self._values.attributes():
      value = self._values.attribute(name)
      if value is None or not self._holds_tensors(name, value):
        continue
      for statement in self._values.assignments(name):
        if len(statement.targets) != 1:
          self._refuse(statement, f"uses {self._plan.module.source(statement.value)}")
        self._plan.statement(statement).replacement = []
      for inner in ast.walk(self._node):
        if hook_values.reads(inner, name) and not self._is_edited(inner):
          self._remove_check(inner)
    self._remove_variables()
    for node in [*self._pending, *self._session_objects()]:
      if not self._is_edited(node):
        self._refuse(node, f"uses {self._plan.module.source(node)}")

  def _holds_tensors(self, name: str, value: hook_values.Value) -> bool:
    """Whether an attribute holds tensors, which are gone, not only their names."""
    if value.kind in ("step", "stale step", "named"):
      return True
    return value.kind in ("list", "tuple", "dict", "call") and any(
      isinstance(inner, ast.Call)
      for statement in self._values.assignments(name)
      for inner in ast.walk(statement.value)
    )

  def _session_objects(self) -> list[ast.Name]:
    """All places where a hook's method reads one of its parameters: none may stay."""
    found = []
    for method in self._methods:
      if method.name in METHODS and method in self._node.body:
        names = [a.arg for a in method.args.posonlyargs + method.args.args][1:]
        found += [
          n
          for n in ast.walk(method)
          if isinstance(n, ast.Name) and n.id in names and isinstance(n.ctx, ast.Load)
        ]
    return found

  def _remove_variables(self) -> None:
    """Variables that held a graph, or a tensor of it, go with the last place that reads them."""
    found = [
      s
      for method in self._methods
      for s in ast.walk(method)
      if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name)
    ]
    changed = True
    while changed:
      changed = False
      for statement in found:
        target = statement.targets[0]
        assert isinstance(target, ast.Name)
        loads = facts.loads(self._plan.module, target)
        if self._is_edited(statement) or not loads or not self._is_of_graph(statement.value):
          continue
        if target.id in self._kept_variables:
          continue
        if all(self._is_edited(load) for load in loads):
          self._plan.statement(statement).replacement = []
          changed = True

  def _is_of_graph(self, node: ast.expr) -> bool:
    """Whether an expression asks TensorFlow or the session for something of the graph."""
    for inner in ast.walk(node):
      if isinstance(inner, (ast.Name, ast.Attribute)):
        symbol = self._plan.module.resolve(inner)
        if symbol is not None and symbols.is_tensorflow(symbol) and symbol.path != "tf":
          return not symbol.path.startswith(hook_values.HARMLESS)
        if isinstance(inner, ast.Attribute) and inner.attr in _OF_GRAPH:
          return True
    return False

  def _remove_check(self, node: ast.AST) -> None:
    """`if self._global_step is None: raise ...` goes; another use is refused."""
    statement = self._plan.module.statement(node)
    test = statement.test if isinstance(statement, (ast.If, ast.Assert)) else None
    compared = isinstance(test, ast.Compare) and test.left is node
    negated = isinstance(test, ast.UnaryOp) and test.operand is node
    plain = not isinstance(statement, ast.If) or (
      not statement.orelse and all(isinstance(s, ast.Raise) for s in statement.body)
    )
    if not (compared or negated or test is node) or not plain:
      self._refuse(node, f"uses {self._plan.module.source(node)}, a tensor")
    self._plan.statements.setdefault(statement, StatementEdit()).replacement = []

  def _is_edited(self, node: ast.AST) -> bool:
    """Whether a node stands in what the plan replaces."""
    plan = self._plan
    for current in (node, *plan.module.ancestors(node)):
      if current in plan.expressions:
        return True
      if isinstance(current, ast.stmt):
        edit = plan.statements.get(current)
        if edit is not None and edit.replacement is not None:
          return True
      if current is self._node:
        break
    return False

  def _refuse_graph_names(self) -> None:
    """A hook that asks TensorFlow's graph for something would silently get something else."""
    plan, node = self._plan, self._node
    for use in plan.module.uses():
      inside = any(a is node for a in plan.module.ancestors(use.node))
      if not inside or use.node in node.bases or isinstance(use.node, (ast.Import, ast.ImportFrom)):
        continue
      if use.symbol.path in hook_values.RESPELLED:
        plan.expressions[use.node] = f"{self._tf}.compat.v1.{use.symbol.path[3:]}"
      elif not use.symbol.path.startswith(hook_values.HARMLESS) and not self._is_edited(use.node):
        self._refuse(use.node, f"uses {use.symbol.path}")

  # -- names ----------------------------------------------------------------------------

  def _name_methods(self) -> None:
    both = self._has("begin") and self._has("after_create_session")
    for method in self._methods:
      if method.name not in METHODS:
        continue
      if self._is_empty(method):
        self._plan.statements.setdefault(method, StatementEdit()).replacement = []
        continue
      if method.name == "begin" and both:
        continue
      event, parameters = _EVENTS[method.name]
      if any(isinstance(n, ast.Name) and n.id == "batch" for n in ast.walk(method)):
        # Keras gives it by position.
        parameters = parameters.replace("batch,", "_batch,")
      if method.name == "before_run":
        self._plan.report("EM306", method, name=self._node.name)
      if method.name == "begin":
        self._report_begin(method)
      name = f"{_PREFIXES[self._uses[0]]}{event}"
      self._plan.functions[method] = (name, f"self, {parameters}")
      if method.name == "after_create_session" and both:
        self._call_begin(method)

  def _report_begin(self, method: ast.FunctionDef) -> None:
    """What a hook does before the first checkpoint of a session, its callback does after it."""
    for inner in ast.walk(method):
      if isinstance(inner, ast.Raise) and not self._is_edited(inner):
        self._plan.report("EM316", method, name=self._node.name, what="can raise")
      elif isinstance(inner, ast.Attribute) and inner.attr in _FILES:
        what = f"calls {self._plan.module.source(inner)}"
        self._plan.report("EM316", method, name=self._node.name, what=what)

  def _call_begin(self, method: ast.FunctionDef) -> None:
    """A hook with both keeps `begin`, which the callback's `on_train_begin` calls first."""
    begin = next(m for m in self._methods if m.name == "begin")
    if self._is_empty(begin):
      return
    body = [s for s in method.body if not hook_values.is_docstring(s)] or method.body
    before = self._plan.statements.setdefault(body[0], StatementEdit()).before
    if "self.begin()" not in before:
      before.insert(0, "self.begin()")
    self._plan.report("EM313", method, name=self._node.name)

  def _is_empty(self, method: ast.FunctionDef) -> bool:
    """Whether nothing of a method is left but its description."""
    removed = 0
    for statement in method.body:
      edit = self._plan.statements.get(statement)
      if edit is not None and edit.replacement == [] and not edit.before:
        removed += 1
      elif not hook_values.is_docstring(statement):
        return False
    return removed > 0

  def _aliases(self) -> None:
    """`on_test_begin = on_train_begin` for a hook that is used in several ways."""
    if len(self._uses) < 2:
      return
    lines = []
    for name in METHODS:
      for method in self._methods:
        if method.name == name and method in self._plan.functions:
          event = _EVENTS[name][0]
          first, *others = (f"{_PREFIXES[use]}{event}" for use in self._uses)
          lines += [f"{other} = {first}" for other in others]
    self._plan.statements.setdefault(self._node.body[-1], StatementEdit()).after = lines

  def _rename_taken(self, method: ast.FunctionDef) -> None:
    positional = method.args.posonlyargs + method.args.args
    if not positional:
      return
    own = {n.attr for c in self._family for n in ast.walk(c) if isinstance(n, ast.Attribute)}
    for inner in ast.walk(method):
      if (
        isinstance(inner, ast.Attribute)
        and inner.attr in TAKEN
        and isinstance(inner.value, ast.Name)
        and inner.value.id == positional[0].arg
      ):
        renamed = "hook_" + inner.attr.lstrip("_")
        while renamed in own:
          renamed += "_"
        self._plan.expressions[inner] = f"{inner.value.id}.{renamed}"


def _is_super(node: ast.expr) -> bool:
  return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
