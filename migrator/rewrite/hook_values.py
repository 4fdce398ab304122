"""What the expressions of a hook stand for: the global step, the loss, a value by name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from migrator.analysis import facts, symbols
from migrator.analysis.module import Module
from migrator.rewrite import hook_tensors

_STEP_CALLS = frozenset(
  """tf.train.get_global_step tf.train.get_or_create_global_step tf.train.create_global_step
  tf.contrib.framework.get_global_step tf.contrib.framework.get_or_create_global_step
  tf.contrib.framework.create_global_step""".split()
)
# This one TF's own hooks call; what it gives is the step before, in every version.
_STALE_STEP_CALLS = ("_get_or_create_global_step_read", "get_or_create_global_step_read")
ARGS = ("tf.train.SessionRunArgs",)
_UPDATES = ("tf.GraphKeys.UPDATE_OPS", "tf.compat.v1.GraphKeys.UPDATE_OPS")
# Where graphs give tensors by name.
_LOOKUPS = ("get_tensor_by_name", "as_graph_element")
_STEP_NAMES = ("global_step", "global_step:0", "GLOBAL_STEP")
# The loss of the canned estimators' heads, in training and in evaluation.
LOSS_NAMES = frozenset(
  f"{name}{end}" for name in hook_tensors.LOSSES.values() for end in ("", ":0")
)

# What a callback may use as the hook did.
HARMLESS = (
  "tf.logging",
  "tf.get_logger",
  "tf.gfile",
  "tf.io.gfile",
  "tf.errors",
  "tf.flags",
  "tf.app.flags",
  "tf.train.latest_checkpoint",
  "tf.train.get_checkpoint_state",
  "tf.train.list_variables",
  "tf.train.load_variable",
  "tf.train.load_checkpoint",
  "tf.keras.callbacks",
  "tensorflow.python.platform.tf_logging",
  "tensorflow.python.platform.gfile",
)
# Of the session's time, but they work without one.
WRITERS = ("tf.Summary", "tf.summary.FileWriter", "tf.summary.SummaryWriterCache")
RESPELLED = ("tf.train.SecondOrStepTimer", "tf.train.NanLossDuringTrainingError")


_CONTAINERS = ("list", "tuple", "dict", "call")
# Methods of lists and dicts that change them.
CHANGES = frozenset("append clear extend insert pop popitem remove setdefault update".split())


class Value(NamedTuple):
  """What an expression stands for.

  Attributes:
    kind: "step", "stale step", "named" (a value of `logs`, whose key is `text`), "key" (an expression
      that holds a key, a variable or a structure of them when the hook runs), "list", "tuple", "dict", "call" (of a
      named tuple's class), "updates" (the collection of update operations) or "none".
    text: of "named" the key; of "key" the source; of "call" the class.
    items: of a list, tuple, dict or call.
    keys: of a dict, the sources of its keys.
    names: of a call, the names of the arguments, "" where given by position.
    guessed: of "named", whether the name is only the one that the hook has for it.
    parameter: of "key" the parameter of the constructor that gives it, if any.
  """

  kind: str
  text: str = ""
  items: tuple[Value, ...] = ()
  keys: tuple[ast.expr, ...] = ()
  parameter: str = ""
  names: tuple[str, ...] = ()
  guessed: bool = False

  def leaves(self) -> Iterator[Value]:
    """All values that are no containers."""
    if self.kind in ("list", "tuple", "dict", "call"):
      for item in self.items:
        yield from item.leaves()
    else:
      yield self


class Values:
  """The values of one hook class, with what its base classes in the file assign.

  Args:
    module: the file.
    node: the class.
    family: the class and its base classes in the file.
    guess: whether a tensor of which nothing is known may be called as the hook calls it.
  """

  def __init__(
    self, module: Module, node: ast.ClassDef, family: list[ast.ClassDef], guess: bool = False
  ):
    self._module = module
    self._guess = guess
    self._node = node
    self._family = family
    self._assigned: dict[str, list[ast.Assign]] = {}
    for owner in family:
      for inner in ast.walk(owner):
        if isinstance(inner, ast.Assign):
          for target in inner.targets:
            if is_own_attribute(target):
              assert isinstance(target, ast.Attribute)
              self._assigned.setdefault(target.attr, []).append(inner)
    self._changed = {
      target.attr for owner in family for target in _changed_in(owner) if is_own_attribute(target)
    }
    self._pending: set[str] = set()
    self._own_nodes = {n for owner in family for n in ast.walk(owner)}

  def of(self, node: Optional[ast.expr]) -> Optional[Value]:
    """What an expression stands for; None if that is not known."""
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
      return Value("none")
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
      return named(node.value)
    if isinstance(node, (ast.List, ast.Tuple)):
      items = [self.of(element) for element in node.elts]
      kind = "list" if isinstance(node, ast.List) else "tuple"
      return None if None in items else Value(kind, items=tuple(items))  # type: ignore[arg-type]
    if isinstance(node, ast.Dict) and None not in node.keys:
      items = [
        self.of(value) or self._called(self._module.constant(key))
        for key, value in zip(node.keys, node.values)
      ]
      keys = tuple(key for key in node.keys if key is not None)
      return None if None in items else Value("dict", items=tuple(items), keys=keys)  # type: ignore[arg-type]
    if isinstance(node, ast.Call):
      return self._call(node)
    if isinstance(node, ast.Subscript):
      return self._fetched_by_train(node)
    if isinstance(node, ast.Name) and isinstance(self._module.constant(node), str):
      return named(self._module.constant(node))
    if is_own_attribute(node):
      assert isinstance(node, ast.Attribute)
      return self.attribute(node.attr)
    if isinstance(node, ast.Name):
      return self._name(node)
    return None

  def _called(self, name: Any) -> Optional[Value]:
    """A tensor by the name that the hook has for it, where that may be guessed."""
    if not self._guess or not isinstance(name, str):
      return None
    called = name.strip("_")
    for suffix in ("_tensor", "_op"):
      called = called[: -len(suffix)] if called.endswith(suffix) else called
    return Value("named", called, guessed=True) if called else None

  def _call(self, node: ast.Call) -> Optional[Value]:
    symbol = self._module.resolve(node.func)
    if symbol is not None and symbol.path in _STEP_CALLS:
      return Value("step")
    if symbol is not None and symbol.path.rpartition(".")[2] in _STALE_STEP_CALLS:
      return Value("stale step")
    if self._is_named_tuple(node.func) and not any(isinstance(a, ast.Starred) for a in node.args):
      values = [*node.args, *(k.value for k in node.keywords)]
      items = [self.of(value) for value in values]
      names = [""] * len(node.args) + [k.arg or "" for k in node.keywords]
      if None in items or None in [k.arg for k in node.keywords]:
        return None
      text = self._module.source(node.func)
      return Value("call", text, tuple(items), names=tuple(names))  # type: ignore[arg-type]
    if isinstance(node.func, ast.Attribute) and node.func.attr == "get_collection" and node.args:
      symbol_of_key = self._module.resolve(node.args[0])
      named_key = symbol_of_key is not None and symbol_of_key.path.endswith("GraphKeys.GLOBAL_STEP")
      if named_key or self._module.constant(node.args[0]) == "global_step":
        return Value("list", items=(Value("step"),))
    if symbol is not None and symbol.path in ("tf.get_collection", "tf.compat.v1.get_collection"):
      key = self._module.resolve(node.args[0]) if node.args else None
      return Value("updates") if key is not None and key.path in _UPDATES else None
    if isinstance(node.func, ast.Attribute) and node.func.attr in _LOOKUPS and node.args:
      name = self._module.constant(node.args[0])
      return named(name) if isinstance(name, str) else None
    return None

  def _is_named_tuple(self, node: ast.expr) -> bool:
    """Whether a name of the module's is a named tuple's class."""
    definition = self._module.definition(node)
    if isinstance(definition, ast.Call):
      return self._module.source(definition.func).rpartition(".")[2] in ("namedtuple", "NamedTuple")
    bases = definition.bases if isinstance(definition, ast.ClassDef) else []
    return any(self._module.source(b).rpartition(".")[2] == "NamedTuple" for b in bases)

  def _fetched_by_train(self, node: ast.Subscript) -> Optional[Value]:
    """`run_context.original_args.fetches[1]`: the Estimator fetches [train_op, loss]."""
    if not isinstance(node.value, ast.Attribute) or node.value.attr != "fetches":
      return None
    place = self._module.constant(node.slice)
    if "original_args" in self._module.source(node.value) and place in (1, -1):
      return Value("named", "loss")
    return None

  def _name(self, node: ast.Name) -> Optional[Value]:
    scope, bindings = self._module.scope_of[node].lookup(node.id)
    if scope is not None and scope.node not in self._own_nodes and not scope.is_module:
      return self._called(node.id)  # of the function around the class
    if len(bindings) != 1 or bindings[0].value is None or scope is None:
      return None
    for load in facts.loads(self._module, node):
      parent = self._module.parents[load]
      stored = isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load)
      if stored or isinstance(parent, ast.Attribute):
        return None  # something changes what it holds
    if not isinstance(scope.node, ast.FunctionDef):
      return None
    value = self.of(bindings[0].value)
    looked_up = isinstance(bindings[0].value, (ast.Call, ast.Attribute, ast.Subscript))
    looked_up = looked_up and self._is_tensor(bindings[0].value)
    return value or (self._called(node.id) if looked_up else None)

  def attribute(self, name: str) -> Optional[Value]:
    """What `self.name` stands for, if all assignments agree; None at first is looked over."""
    if name in self._pending:
      return None
    self._pending.add(name)
    try:
      found = [v for v in map(self._stored, self._assigned.get(name, ())) if v != Value("none")]
    finally:
      self._pending.discard(name)
    if not found or any(value != found[0] for value in found):
      return None
    value = found[0]
    if value is not None and value.kind in _CONTAINERS and name in self._changed:
      return None
    if value is not None and value.kind == "key":
      return value._replace(text=f"self.{name}")
    return value

  def _stored(self, statement: ast.Assign) -> Optional[Value]:
    node = statement.value
    if isinstance(node, ast.Name):
      parameter = self._parameter(node)
      if parameter:
        return Value("key", parameter=parameter)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
      return Value("key", node.value) if self._guess else named(node.value)
    value = self.of(node)
    looked_up = isinstance(node, (ast.Call, ast.Attribute, ast.Subscript))
    if value is None and looked_up and self._is_tensor(node):
      assert isinstance(statement.targets[0], ast.Attribute)
      return self._called(statement.targets[0].attr)
    return value

  def _is_tensor(self, node: ast.expr) -> bool:
    """Whether TensorFlow makes or finds what an expression gives, and no session has run it."""
    if any(isinstance(n, ast.Attribute) and n.attr in ("run", "eval") for n in ast.walk(node)):
      return False
    for inner in ast.walk(node):
      symbol = self._module.resolve(inner) if isinstance(inner, (ast.Name, ast.Attribute)) else None
      if symbol is not None and symbols.is_tensorflow(symbol) and symbol.path != "tf":
        return not symbol.path.startswith((*HARMLESS, *RESPELLED, *WRITERS))
      if isinstance(inner, ast.Attribute) and inner.attr in (*_LOOKUPS, "get_collection"):
        return True
    return False

  def _parameter(self, node: ast.Name) -> str:
    """The constructor's parameter that a name reads, "" if it is none."""
    _, bindings = self._module.scope_of[node].lookup(node.id)
    method = next((a for a in self._module.ancestors(node) if isinstance(a, ast.FunctionDef)), None)
    if method is None or method.name != "__init__" or len(bindings) != 1:
      return ""
    return node.id if bindings[0].kind == "param" else ""

  def assignments(self, name: str) -> list[ast.Assign]:
    """The statements of the class itself that assign `self.name`."""
    own = set(ast.walk(self._node))
    return [a for a in self._assigned.get(name, ()) if a in own]

  def is_text(self, name: str) -> bool:
    """Whether `self.name` holds a tensor's name, not the tensor."""
    values = [statement.value for statement in self._assigned.get(name, ())]
    return all(isinstance(value, ast.Constant) for value in values)

  def attributes(self) -> list[str]:
    """The names of all attributes that are assigned."""
    return list(self._assigned)


def _changed_in(node: ast.AST) -> Iterator[Any]:
  """What `+=`, an assignment to an item or a method of a container changes."""
  for inner in ast.walk(node):
    if isinstance(inner, ast.AugAssign):
      yield inner.target
    elif isinstance(inner, ast.Subscript) and not isinstance(inner.ctx, ast.Load):
      yield inner.value
    elif isinstance(inner, ast.Call):
      method = inner.func
      if isinstance(method, ast.Attribute) and method.attr in CHANGES:
        yield method.value


def named(name: str) -> Value:
  """The value of a tensor's name."""
  if name in _STEP_NAMES:
    return Value("step")
  if name in LOSS_NAMES:
    return Value("named", "loss")
  if name in ("loss", "loss:0"):
    # In the graph of a canned estimator it is a summary; who asks for it means the loss.
    return Value("named", "loss", guessed=True)
  return Value("named", name[:-2] if name.endswith(":0") else name)


def is_own_attribute(node: ast.AST) -> bool:
  """Whether a node is `self.name`."""
  return (
    isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
  )


def reads(node: ast.AST, name: str) -> bool:
  """Whether a node reads `self.<name>`."""
  return (
    isinstance(node, ast.Attribute)
    and is_own_attribute(node)
    and node.attr == name
    and isinstance(node.ctx, ast.Load)
  )


def family(module: Module, node: ast.ClassDef) -> list[ast.ClassDef]:
  """A hook class and the hook classes of the file from which it derives, nearest first."""
  found = [node]
  for current in found:
    for base in current.bases:
      definition = module.definition(base)
      if not isinstance(definition, ast.ClassDef) or definition in found:
        continue
      if facts.hook_base(module, definition) is not None:
        found.append(definition)
  return found


def method(classes: list[ast.ClassDef], name: str) -> Optional[ast.FunctionDef]:
  """The definition of a method that the first of the classes has, or inherits."""
  for node in classes:
    for statement in node.body:
      if isinstance(statement, ast.FunctionDef) and statement.name == name:
        return statement
  return None


def is_docstring(node: ast.stmt) -> bool:
  """Whether a statement is nothing but a string."""
  return (
    isinstance(node, ast.Expr)
    and isinstance(node.value, ast.Constant)
    and isinstance(node.value.value, str)
  )
