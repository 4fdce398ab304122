"""SessionRunHook classes -> Keras callbacks.

https://www.tensorflow.org/guide/migrate/sessionrunhook_callback
"""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis import facts
from migrator.lint import wording
from migrator.rewrite.plan import Plan, Unsupported

# hook method -> (callback method, parameters after self)
METHODS = {
  "begin": ("on_train_begin", "logs=None"),
  "after_create_session": ("on_train_begin", "logs=None"),
  "before_run": ("on_train_batch_begin", "batch, logs=None"),
  "after_run": ("on_train_batch_end", "batch, logs=None"),
  "end": ("on_train_end", "logs=None"),
}
# What a callback may use as the hook did.
_HARMLESS = ("tf.logging", "tf.get_logger", "tf.gfile", "tf.io.gfile", "tf.errors", "tf.flags")
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
    Unsupported: EM302 or EM305, naming what has no counterpart.
  """
  if node in plan.classes:
    return
  base_symbol = facts.hook_base(plan.module, node)
  if base_symbol is None:
    raise Unsupported("EM304", node, name=node.name)
  if base_symbol.path == "tf.train.CheckpointSaverListener":
    raise Unsupported("EM305", node, name=node.name)
  if base_symbol.path != "tf.train.SessionRunHook":
    raise Unsupported("EM303", node, name=base_symbol.path, **wording.of(base_symbol))
  plan.classes.append(node)
  for base in node.bases:
    _convert_base(plan, tf, node, base, use)
  _check_body(plan, node)
  methods = [m for m in node.body if isinstance(m, ast.FunctionDef)]
  names = {m.name for m in methods}
  if {"begin", "after_create_session"} <= names:
    raise Unsupported("EM302", node, hook=node.name, what="has both begin and after_create_session")
  for method in methods:
    if method.name in METHODS:
      _convert_method(plan, node, method)
    elif method.name.startswith("on_") or method.name in ("set_model", "set_params"):
      raise Unsupported("EM302", method, hook=node.name, what=f"defines {method.name}")
    _convert_attributes(plan, node, method)
  _refuse_graph_names(plan, node)


def convert_call(plan: Plan, call: ast.Call, node: ast.ClassDef) -> None:
  """Plans the construction of a converted hook: graph tensors among the arguments become keys.

  Raises:
    Unsupported: EM302, an argument names a tensor that the training does not give.
  """


def _convert_base(plan: Plan, tf: str, node: ast.ClassDef, base: ast.expr, use: str) -> None:
  symbol = plan.module.resolve(base)
  definition = plan.module.definition(base)
  if symbol is not None and symbol.path == "tf.train.SessionRunHook":
    plan.expressions[base] = f"{tf}.keras.callbacks.Callback"
  elif isinstance(definition, ast.ClassDef) and facts.hook_base(plan.module, definition):
    convert_class(plan, tf, definition, use)
    if definition in plan.twins:
      plan.expressions[base] = plan.twins[definition]
  elif not isinstance(definition, ast.ClassDef) or definition.bases:
    what = f"derives from {plan.module.source(base)}"
    raise Unsupported("EM302", base, hook=node.name, what=what)
  else:
    names = plan.module.scopes[definition].bindings
    for name in (*METHODS, *TAKEN):
      if name in names:
        what = f"gets {name} from {definition.name}"
        raise Unsupported("EM302", base, hook=node.name, what=what)


def _check_body(plan: Plan, node: ast.ClassDef) -> None:
  """Hook methods must be plain methods of the class, and only the session may call them."""
  own = plan.module.scopes[node].bindings
  for name in TAKEN:
    if name in own:
      raise Unsupported("EM302", node, hook=node.name, what=f"has an attribute {name}")
  for name in METHODS:
    for binding in own.get(name, []):
      method = binding.node
      plain = isinstance(method, ast.FunctionDef) and not method.decorator_list
      if not plain or method not in node.body or len(own[name]) > 1:
        raise Unsupported("EM302", method, hook=node.name, what=f"defines {name} in another way")
  for inner in ast.walk(node):
    if isinstance(inner, ast.Attribute) and inner.attr in METHODS:
      what = f"uses {plan.module.source(inner)}"
      raise Unsupported("EM302", inner, hook=node.name, what=what)
    if isinstance(inner, ast.Name) and inner.id == node.name and node in plan.twins:
      plan.expressions[inner] = plan.twins[node]


def _refuse_graph_names(plan: Plan, node: ast.ClassDef) -> None:
  """A hook that asks TensorFlow's graph for something would silently get something else."""
  for use in plan.module.uses():
    inside = any(a is node for a in plan.module.ancestors(use.node))
    if not inside or use.node in node.bases or isinstance(use.node, (ast.Import, ast.ImportFrom)):
      continue
    if not use.symbol.path.startswith(_HARMLESS):
      raise Unsupported("EM302", use.node, hook=node.name, what=f"uses {use.symbol.path}")


def _convert_method(plan: Plan, node: ast.ClassDef, method: ast.FunctionDef) -> None:
  arguments = method.args
  names = [a.arg for a in arguments.posonlyargs + arguments.args]
  if not names or arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
    raise Unsupported("EM302", method, hook=node.name, what=f"{method.name} has unusual parameters")
  new_name, parameters = METHODS[method.name]
  read = {n.id for n in ast.walk(method) if isinstance(n, ast.Name)}
  if "logs" in read:
    raise Unsupported("EM302", method, hook=node.name, what="reads a variable called logs")
  if "batch" in read:
    # Keras gives it by position.
    parameters = parameters.replace("batch,", "_batch,")
  if method.name == "before_run":
    plan.report("EM306", method, name=node.name)
  plan.functions[method] = (new_name, f"{names[0]}, {parameters}")
  for inner in ast.walk(method):
    if isinstance(inner, ast.Name) and inner.id in names[1:]:
      if _drops_parameters(plan, method, inner, names[1:]):
        continue
      _convert_parameter(plan, node, method, inner, names[0])
    elif isinstance(inner, ast.Return) and not _is_none(inner.value):
      raise Unsupported("EM302", inner, hook=node.name, what="fetches tensors")


def _drops_parameters(
  plan: Plan, method: ast.FunctionDef, name: ast.Name, parameters: list[str]
) -> bool:
  """`del run_context, run_values` says that they are not used: it goes."""
  statement = plan.module.statement(name)
  if not isinstance(statement, ast.Delete) or len(method.body) == 1:
    return False
  deleted = [t.id if isinstance(t, ast.Name) else "" for t in statement.targets]
  if not set(deleted) <= set(parameters):
    return False
  plan.statement(statement).replacement = []
  return True


def _is_none(node: Optional[ast.expr]) -> bool:
  return node is None or (isinstance(node, ast.Constant) and node.value is None)


def _convert_parameter(plan, node, method, name: ast.Name, self_name: str) -> None:
  """`run_context.request_stop()` is the only use of a hook's parameters that has a counterpart."""
  attribute = plan.module.parents.get(name)
  call = plan.module.parents.get(attribute)
  statement = plan.module.parents.get(call)
  if (
    isinstance(attribute, ast.Attribute)
    and attribute.attr == "request_stop"
    and isinstance(call, ast.Call)
    and isinstance(statement, ast.Expr)
  ):
    plan.statement(statement).replacement = [f"{self_name}.model.stop_training = True"]
    return
  used = plan.module.source(attribute if isinstance(attribute, ast.Attribute) else name)
  raise Unsupported("EM302", name, hook=node.name, what=f"uses {used} in {method.name}")


def _convert_attributes(plan: Plan, node: ast.ClassDef, method: ast.FunctionDef) -> None:
  positional = method.args.posonlyargs + method.args.args
  if not positional:
    return
  own = {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
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
      plan.expressions[inner] = f"{inner.value.id}.{renamed}"
