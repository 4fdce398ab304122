"""The Estimators of a file: the calls that make them, and those that train and evaluate them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple, Optional

from migrator.analysis import facts, symbols, units
from migrator.analysis.module import UNKNOWN, Module
from migrator.lint import values
from migrator.lint.checks import policy, reaching
from migrator.lint.checks.registry import Context

# Every training of an Estimator has an input_fn; hardly anything else has.
# Words of which a training with a number of steps has one: `steps=` is in `max_steps=` as well.
TRAIN_WORDS = ("input_fn", "steps=", "TrainSpec")
TRAINERS = (".train(", ".fit(", "TrainSpec")
# What is trained gets an input_fn, or is made by what has one of these names.
TRAINING = rf"input_fn|TrainSpec|model_to_estimator|KMeans|{'|'.join(units.ESTIMATOR_SUFFIXES)}"
TRAIN_SPEC_PARAMETERS = ("input_fn", "max_steps", "hooks", "saving_listeners")
EVAL_SPEC_PARAMETERS = tuple(
  "input_fn steps name hooks exporters start_delay_secs throttle_secs".split()
)
_FIT_PARAMETERS = ("x", "y", "input_fn", "steps", "batch_size", "monitors", "max_steps")
_CONTRIB = ("tf.contrib.estimator", "tf.contrib.learn", "tf.contrib.tpu")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# Those of constructors that the rewrite does not know, as far as all versions agree.
_FIRST_PARAMETERS = {
  "KMeans": ("num_clusters", "model_dir"),
  "LinearClassifier": ("feature_columns", "model_dir"),
  "LinearEstimator": ("head", "feature_columns", "model_dir"),
  "LinearRegressor": ("feature_columns", "model_dir"),
}
_DEPTH = 4  # calls through which an estimator is followed


class Training(NamedTuple):
  """One `estimator.train(...)`, `estimator.fit(...)` of contrib, or TrainSpec.

  Attributes:
    call: the call.
    name: "train", "fit" or "TrainSpec".
    makers: the calls that can have made its estimator; () when they are not in this file.
    arguments: of the call.
  """

  call: ast.Call
  name: str
  makers: tuple[ast.Call, ...]
  arguments: values.Arguments


def is_estimator(symbol: Optional[symbols.Symbol]) -> bool:
  """Whether a call of the symbol makes an Estimator."""
  if symbol is None:
    return False
  head, _, name = symbol.path.rpartition(".")
  if name == "model_to_estimator":
    return symbol.path.startswith("tf.")
  if units.estimator_kind(symbol) is not None:
    return True
  return head in _CONTRIB and name.endswith(units.ESTIMATOR_SUFFIXES)


def makers(module: Module, node: ast.AST, depth: int = _DEPTH) -> tuple[ast.Call, ...]:
  """The calls that can have made the estimator an expression stands for.

  Returns:
    All of them, of a name that is bound again and again the last one above; () when one may be
    outside of this file, or makes something else.
  """
  found: list[ast.Call] = []
  for value in reaching.possible(module, node):
    inner: tuple[ast.Call, ...] = ()
    if isinstance(value, ast.Call):
      if is_estimator(module.resolve(value.func)):
        inner = (value,)
      else:
        inner = _made_by(module, value, depth)
    if not inner:
      return ()
    found += inner
  return tuple(dict.fromkeys(found))


def _made_by(module: Module, call: ast.Call, depth: int) -> tuple[ast.Call, ...]:
  """The same for what a function of this file returns."""
  function = module.definition(call.func) if isinstance(call.func, ast.Name) else None
  if not isinstance(function, ast.FunctionDef) or not depth:
    return ()
  found: list[ast.Call] = []
  for statement in own_nodes(function):
    if isinstance(statement, ast.Return) and statement.value is not None:
      inner = makers(module, statement.value, depth - 1)
      if not inner:
        return ()
      found += inner
  return tuple(found)


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
  """All nodes inside a function, class or loop, without those of functions within it."""
  stack = list(ast.iter_child_nodes(function))
  while stack:
    node = stack.pop()
    yield node
    if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
      stack += ast.iter_child_nodes(node)


def trainings(context: Context) -> Iterator[Training]:
  """Every training of an Estimator in the module, also of one that is made elsewhere."""
  module = context.module
  specs = _trained_specs(context)
  for call, _ in context.calls_of("tf.estimator.TrainSpec"):
    found = values.arguments(module, call, TRAIN_SPEC_PARAMETERS)
    yield Training(call, "TrainSpec", specs.get(call, ()), found)
  for node in module.scope_of:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
      continue
    name = node.func.attr
    if name not in ("train", "fit") or symbols.is_tensorflow(module.resolve(node.func)):
      continue
    parameters = facts.METHOD_PARAMETERS["train"] if name == "train" else _FIT_PARAMETERS
    found = values.arguments(module, node, parameters)
    made = makers(module, node.func.value)
    if made or _looks_like_training(module, found.get("input_fn"), node):
      yield Training(node, name, made, found)


def _looks_like_training(module: Module, input_fn: Optional[ast.expr], call: ast.Call) -> bool:
  """Whether an object that is made elsewhere is trained as only Estimators are."""
  if _is_migrated(module):
    return False  # an object with the functions of a loop, of what the input function gives
  if any(k.arg == "input_fn" for k in call.keywords):
    return True
  if any("input_fn" in module.source(a) for a in call.args[1:]):
    return False  # `hooks` and `steps` come behind it: a method of the program's own
  return input_fn is not None and "input_fn" in module.source(input_fn)


def _is_migrated(module: Module) -> bool:
  """Whether the file imports our runtime."""
  imports = (b for found in module.root.bindings.values() for b in found if b.kind == "import")
  return any(b.target == "migrator.runtime" for b in imports)


def _trained_specs(context: Context) -> dict[ast.AST, tuple[ast.Call, ...]]:
  """The makers of the estimator with which each TrainSpec is used, by TrainSpec."""
  found: dict[ast.AST, tuple[ast.Call, ...]] = {}
  for estimator, specs, _ in evaluated_trainings(context):
    for spec in specs:
      found[spec] = makers(context.module, estimator) if estimator is not None else ()
  return found


def evaluated_trainings(
  context: Context,
) -> Iterator[tuple[Optional[ast.expr], list[ast.Call], list[ast.Call]]]:
  """Every `train_and_evaluate`: its estimator, the TrainSpec and EvalSpec calls it can get."""
  module = context.module
  for call, _ in context.calls_of("tf.estimator.train_and_evaluate"):
    found = values.arguments(module, call, ("estimator", "train_spec", "eval_spec"))
    lists = []
    for name, path in (("train_spec", "TrainSpec"), ("eval_spec", "EvalSpec")):
      node = found.get(name)
      possible = values.possible(module, node) if node is not None else None
      paths = ("tf.estimator." + path,)
      known = [v for v in possible or () if isinstance(v, ast.Call)]
      lists.append([v for v in known if values.is_call_of(module, v, paths)])
    yield found.get("estimator"), lists[0], lists[1]


def policy_of(context: Context, maker: ast.Call) -> Optional[policy.Policy]:
  """The checkpoint policy of an estimator; None where it cannot be read in this file."""
  module = context.module
  found = constructor_arguments(module, maker)
  config = found.get("config")
  if config is None or values.literal(module, config) is None:
    return policy.Policy(module, values.Arguments({})) if found.complete else None
  made = values.possible(module, config)
  if made is None or len(made) != 1:
    return None
  call = made[0]
  if not isinstance(call, ast.Call) or not values.is_call_of(module, call, policy.RUN_CONFIGS):
    return None
  return policy.read(module, call)


def constructor_arguments(module: Module, maker: ast.Call) -> values.Arguments:
  """The arguments of an estimator's constructor by name."""
  symbol = module.resolve(maker.func)
  name = symbol.path.rpartition(".")[2] if symbol is not None else ""
  if name in ("Estimator", "TPUEstimator"):
    return values.arguments(module, maker, ("model_fn", "model_dir", "config", "params"))
  parameters = facts.PARAMETERS.get((name, "v2"), _FIRST_PARAMETERS.get(name, ()))[:3]
  return values.arguments(module, maker, parameters)


def enclosing_loop(module: Module, node: ast.AST) -> Optional[ast.AST]:
  """The innermost loop around a node in the same function, or None."""
  for ancestor in module.ancestors(node):
    if isinstance(ancestor, (ast.For, ast.AsyncFor, ast.While)):
      return ancestor
    if isinstance(ancestor, (*_FUNCTIONS, ast.ClassDef)):
      return None
  return None


def enclosing_function(module: Module, node: ast.AST) -> Optional[ast.AST]:
  """The innermost def around a node, or None at the level of the module or of a class."""
  for ancestor in module.ancestors(node):
    if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)):
      return ancestor
  return None


def keys(module: Module, node: ast.AST) -> set[str]:
  """Texts by which two expressions are the same: the constant, else names with their scope."""
  value = module.constant(node)
  if value is not UNKNOWN:
    return {repr(str(value).rstrip("/"))}
  found = {_key(module, node)}
  definition = module.definition(node)
  if definition is not None and not isinstance(definition, ast.Call):
    found.add(_key(module, definition))
  return found


def _key(module: Module, node: ast.AST) -> str:
  owners = []
  for part in ast.walk(node):
    if isinstance(part, ast.Name):
      owner: Optional[ast.AST] = None
      if part.id == "self":
        owner = next((a for a in module.ancestors(part) if isinstance(a, ast.ClassDef)), None)
      else:
        scope, _ = module.scope_of[part].lookup(part.id)
        owner = scope.node if scope is not None else None
      owners.append(str(id(owner)))
  return " ".join([ast.dump(node), *owners])


def elements(module: Module, node: Optional[ast.AST]) -> Iterator[ast.AST]:
  """What is in a list: of a display, a sum of lists, or added to the variable later."""
  return _elements(module, node, set())


def _elements(module: Module, node: Optional[ast.AST], seen: set[ast.AST]) -> Iterator[ast.AST]:
  if node is None or node in seen:
    return
  seen.add(node)
  if isinstance(node, ast.Name):
    _, bindings = module.scope_of.get(node, module.root).lookup(node.id)
    for binding in bindings:
      added = binding.value
      if isinstance(binding.node, ast.AugAssign):
        added = binding.node.value
      yield from _elements(module, added, seen)
    for call, method in _method_calls(module, node):
      if method == "append":
        yield call.args[0]
      elif method == "extend":
        yield from _elements(module, call.args[0], seen)
    return
  for piece, is_list in values.pieces(node) or ():
    if is_list:
      yield from _elements(module, piece, seen)
    else:
      yield piece


def _method_calls(module: Module, name: ast.Name) -> Iterator[tuple[ast.Call, str]]:
  """The calls `name.method(x)` with one argument, and their methods."""
  for load in facts.loads(module, name):
    parent = module.parents.get(load)
    call = module.parents.get(parent) if parent is not None else None
    if not isinstance(parent, ast.Attribute) or not isinstance(call, ast.Call):
      continue
    if call.func is parent and len(call.args) == 1:
      yield call, parent.attr
