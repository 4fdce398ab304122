"""What input functions return: an iterator's next element, or tensors, becomes the Dataset.

An Estimator takes the tensors of an input function as one batch that it reads again at each step
(https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/estimator/Estimator#train): as does
`Dataset.from_tensors(...).repeat()`.
"""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis import facts, local_calls
from migrator.analysis.module import Module
from migrator.rewrite import datasets, parsed_examples
from migrator.rewrite.plan import Plan, Unsupported

_ITERATORS = ("make_one_shot_iterator", "make_initializable_iterator")
_ITERATOR_FUNCTIONS = tuple(f"tf.data.{name}" for name in _ITERATORS)
# Operations whose value is another at each step of TF1, or that nothing fills any more.
_CHANGES = ("random", "py_func", "numpy_function", "dropout", "shuffle", "generator")
_QUEUES = ("tf.train.", "tf.FIFOQueue", "tf.queue.", "tf.PaddingFIFOQueue", "tf.RandomShuffleQueue")


def returns_dataset(plan: Plan, tf: str, function: ast.FunctionDef, node: ast.AST) -> bool:
  """Makes a function of the file return its Dataset; plans the edits where it does not yet.

  Args:
    plan: gets the edits.
    tf: the name of TF2 in the output.
    function: the input function, or one that makes its result.
    node: where it is used as one, for messages.

  Returns:
    False, without edits, if it gives something of another module, of which this file shows nothing.

  Raises:
    Unsupported: EM205 or EM28x, where that is not known.
  """
  module = plan.module
  if datasets.function_returns_dataset(module, function) or function in plan.dataset_functions:
    return True
  name = function.name
  if function.decorator_list or local_calls.is_generator(module, function):
    raise Unsupported("EM205", node, what=f"{name}() may not return a Dataset")
  values = local_calls.returns(module, function)
  if not values:
    raise Unsupported("EM205", node, what=f"{name}() may not return a Dataset")
  _check_queues(module, function)
  unseen = [not datasets.is_dataset(module, v) and _is_unseen(module, v) for v in values]
  if any(unseen):
    if all(u or datasets.is_dataset(module, v) for u, v in zip(unseen, values)):
      return False
    raise Unsupported("EM205", node, what=f"{name}() may not return a Dataset")
  plan.dataset_functions.append(function)
  for value in values:
    _returned(plan, tf, function, value, node)
  _other_callers(plan, function)
  return True


def _is_unseen(module: Module, value: ast.expr) -> bool:
  """Whether another module has what a function gives."""
  if isinstance(value, ast.Call) and local_calls.called(module, value) is not None:
    return False
  return _element(module, value) is None and datasets.is_imported(module, value)


def _returned(plan: Plan, tf: str, function, value: ast.expr, node: ast.AST) -> None:
  module = plan.module
  if datasets.is_dataset(module, value):
    return
  if isinstance(value, ast.Call):
    called = local_calls.called(module, value)
    if called is not None and called is not function:
      if not returns_dataset(plan, tf, called, node):
        raise Unsupported("EM205", node, what=f"{called.name}() may not return a Dataset")
      return
  element = _element(module, value)
  if element is not None:
    _take_dataset(plan, value, *element)
    return
  if not _is_batch(module, value):
    raise Unsupported("EM205", node, what=f"{function.name}() may not return a Dataset")
  _check_constant(module, function)
  batch = value
  if isinstance(value, ast.Tuple) and module.constant(value.elts[1]) is None:
    batch = value.elts[0]
  text = plan.source(batch)
  text = f"({text})" if isinstance(batch, ast.Tuple) and not text.startswith("(") else text
  statement = module.statement(value)
  lines = f"return {tf}.data.Dataset.from_tensors({text}).repeat()"
  plan.statement(statement).replacement = lines.split("\n")


# -- iterators ------------------------------------------------------------------------


def _element(module: Module, value: ast.expr) -> Optional[tuple[ast.expr, list[ast.stmt]]]:
  """The Dataset whose next element a value is, and the statements that only serve to get it."""
  if isinstance(value, ast.Call):
    return _next_of(module, value)
  if isinstance(value, ast.Tuple) and len(value.elts) == 2:
    features, labels = value.elts
    if isinstance(features, ast.Name) and isinstance(labels, ast.Constant) and labels.value is None:
      value = features  # what predict reads has no labels
  targets = value.elts if isinstance(value, ast.Tuple) else [value]
  if not targets or not all(isinstance(t, ast.Name) for t in targets):
    return None
  names = [t.id for t in targets]  # type: ignore[attr-defined]
  bindings = [module.scope_of[t].lookup(t.id)[1] for t in targets]  # type: ignore[attr-defined]
  if any(len(found) != 1 for found in bindings):
    return None
  statement = bindings[0][0].node
  if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
    return None
  target = statement.targets[0]
  got = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
  if [getattr(g, "id", None) for g in got] != names:
    return None
  if isinstance(value, ast.Tuple) != isinstance(target, (ast.Tuple, ast.List)):
    return None
  found = _next_of(module, statement.value)
  if found is None:
    return None
  for name in got:
    if facts.loads(module, name) != [t for t in targets if t.id == name.id]:  # type: ignore
      raise Unsupported("EM280", statement, what=f"`{name.id}` is changed or read after it")  # type: ignore
  return found[0], [statement, *found[1]]


def _next_of(module: Module, node: ast.expr) -> Optional[tuple[ast.expr, list[ast.stmt]]]:
  """The Dataset of `iterator.get_next()`, and the statement that makes the iterator."""
  if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
    return None
  if node.func.attr != "get_next":
    return None
  iterator = node.func.value
  made = module.definition(iterator)
  if not isinstance(made, ast.Call):
    return None
  dataset = _iterated(module, made)
  if dataset is None:
    return None
  if not isinstance(iterator, ast.Name):
    return dataset, []
  statements: list[ast.stmt] = [module.statement(made)]
  for load in facts.loads(module, iterator):
    if load is iterator:
      continue
    initialiser = _initialiser(module, load)
    if initialiser is None:
      raise Unsupported("EM280", load, what="its iterator is also used elsewhere")
    statements.append(initialiser)
  return dataset, statements


def _iterated(module: Module, made: ast.Call) -> Optional[ast.expr]:
  symbol = module.resolve(made.func)
  if symbol is not None and symbol.path in _ITERATOR_FUNCTIONS and made.args:
    return made.args[0]
  if isinstance(made.func, ast.Attribute) and made.func.attr in _ITERATORS:
    return made.func.value
  return None


def _initialiser(module: Module, load: ast.Name) -> Optional[ast.stmt]:
  """`tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)`, or None."""
  attribute = module.parents[load]
  call = module.parents[attribute]
  if not isinstance(attribute, ast.Attribute) or attribute.attr != "initializer":
    return None
  symbol = module.resolve(call.func) if isinstance(call, ast.Call) else None
  statement = module.parents[call]
  is_collected = symbol is not None and symbol.path == "tf.add_to_collection"
  return statement if is_collected and isinstance(statement, ast.Expr) else None


def _take_dataset(plan: Plan, value: ast.expr, dataset: ast.expr, statements) -> None:
  module = plan.module
  place = module.statement(value)
  for name in ast.walk(dataset):
    if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load):
      scope, bindings = module.scope_of[name].lookup(name.id)
      if scope is not module.scope_of[place] or not statements:
        continue
      first = min(s.lineno for s in statements)
      if any(b.node.lineno > first for b in bindings):  # type: ignore[attr-defined]
        raise Unsupported("EM280", place, what=f"`{name.id}` gets another value after it")
  for statement in statements:
    if module.parents[statement] is not module.parents[place] and _is_shared(module, statement):
      raise Unsupported("EM280", statement, what="its iterator serves several results")
    plan.remove(statement, drop_comments=False)
  plan.statement(place).replacement = [f"return {plan.source(dataset)}"]


def _is_shared(module: Module, statement: ast.stmt) -> bool:
  function = module.scope_of[statement].node
  return isinstance(function, ast.FunctionDef) and len(local_calls.returns(module, function)) > 1


# -- tensors ----------------------------------------------------------------------------


def _is_batch(module: Module, value: ast.expr) -> bool:
  """Whether a value is features, or features and labels: a dict, or a pair."""
  if isinstance(value, ast.Tuple):
    return len(value.elts) == 2 and not any(isinstance(e, ast.Starred) for e in value.elts)
  definition = module.definition(value)
  return isinstance(definition, (ast.Dict, ast.DictComp)) or (
    isinstance(definition, ast.Tuple) and len(definition.elts) == 2
  )


def _check_queues(module: Module, function: ast.FunctionDef) -> None:
  for node in parsed_examples.reached(module, function):
    if not isinstance(node, ast.Call):
      continue
    symbol = module.resolve(node.func)
    if symbol is None:
      continue
    if symbol.path.startswith(_QUEUES) or symbol.path.endswith("Reader"):
      raise Unsupported("EM280", node, what=f"`{module.source(node.func)}` reads a queue")


def _check_constant(module: Module, function: ast.FunctionDef) -> None:
  """Refuses tensors that TF1 computed anew, with another value, at each step."""
  for node in parsed_examples.reached(module, function):
    if isinstance(node, ast.Attribute) and node.attr == "get_next":
      raise Unsupported("EM280", node, what="its tensors are changed after `get_next()`")
    if not isinstance(node, ast.Call):
      continue
    symbol = module.resolve(node.func)
    if symbol is None:
      continue
    if symbol.path.startswith("tf.") and any(c in symbol.path.lower() for c in _CHANGES):
      what = f"`{module.source(node.func)}` gave another value at each step"
      raise Unsupported("EM280", node, what=what)
    if symbol.path.partition(".")[0] not in datasets.WELL_KNOWN:
      raise Unsupported("EM205", node, what=f"`{module.source(node.func)}` is not in this file")


def stays_dataset(plan: Plan, value: ast.expr) -> bool:
  """Whether a function that a factory returns gave a Dataset before, too."""
  definition = plan.module.definition(value)
  if isinstance(definition, ast.Lambda):
    return datasets.is_dataset(plan.module, definition.body)
  return isinstance(definition, ast.FunctionDef) and datasets.function_returns_dataset(
    plan.module, definition
  )


# -- who else calls it ----------------------------------------------------------------------


def _other_callers(plan: Plan, function: ast.FunctionDef) -> None:
  """Calls that want the tensors get the first element of the Dataset."""
  module = plan.module
  if isinstance(module.parents[function], ast.ClassDef):
    return
  for read in local_calls.reads_of(module, function):
    call = module.parents[read]
    if not isinstance(call, ast.Call) or call.func is not read:
      continue
    parent = module.parents[call]
    if isinstance(parent, (ast.Return, ast.Lambda)) or call in plan.expressions:
      continue
    plan.expressions[call] = f"next(iter({plan.source(call)}))"
    plan.report("EM281", call, function=function.name)
