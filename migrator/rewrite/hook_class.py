"""A hook class while it is converted: what is known of it, and what all parts of the conversion ask."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NoReturn

from migrator.analysis import symbols
from migrator.rewrite import hook_values
from migrator.rewrite.plan import Plan, Unsupported

# hook method -> (what follows on_train_, on_test_ or on_predict_, parameters after self)
EVENTS = {
  "begin": ("begin", "logs=None"),
  "after_create_session": ("begin", "logs=None"),
  "before_run": ("batch_begin", "batch, logs=None"),
  "after_run": ("batch_end", "batch, logs=None"),
  "end": ("end", "logs=None"),
}
METHODS = tuple(EVENTS)
PREFIXES = {"train": "on_train_", "evaluate": "on_test_", "predict": "on_predict_"}
# Hook of TensorFlow -> callback of the runtime whose methods a subclass may override.
BASES = {
  "tf.train.SessionRunHook": "",
  "tf.train.StepCounterHook": "StepCounter",
  "tf.train.LoggingTensorHook": "LoggingTensor",
}
# Attributes that keras.callbacks.Callback uses itself.
TAKEN = frozenset(("model", "_model", "params", "validation_data"))


class HookClass:
  """A hook class with the plan of its file.

  Attributes:
    plan: of the file.
    tf: the name under which the output knows TF2.
    node: the class.
    symbol: the hook of TensorFlow from which it derives.
    use: for whom it is converted now; uses: all who call it.
    family: the class and the hook classes of the file from which it derives.
    values: what its expressions stand for.
    methods: its own methods.
    pending: places that have to be gone in the end.
    kept_variables: variables of `before_run` that stay.
  """

  def __init__(
    self,
    plan: Plan,
    tf: str,
    node: ast.ClassDef,
    symbol: symbols.Symbol,
    use: str,
    uses: Sequence[str],
  ):
    self.plan = plan
    self.tf = tf
    self.node = node
    self.symbol = symbol
    self.use = use
    self.uses = uses
    self.family = hook_values.family(plan.module, node)
    self.values = hook_values.Values(plan.module, node, self.family, guess=plan.known_keys is None)
    self.methods = [m for m in node.body if isinstance(m, ast.FunctionDef)]
    self.pending: list[ast.AST] = []
    self.kept_variables: set[str] = set()

  def refuse(self, node: ast.AST, what: str) -> NoReturn:
    """Raises EM302."""
    raise Unsupported("EM302", node, hook=self.node.name, what=what)

  def has(self, name: str) -> bool:
    """Whether the class itself has a method."""
    return any(m.name == name for m in self.methods)

  def event(self, name: str, use: str) -> str:
    """The callback's method for a hook's method."""
    return f"{PREFIXES[use]}{EVENTS[name][0]}"

  def is_edited(self, node: ast.AST) -> bool:
    """Whether a node stands in what the plan replaces."""
    plan = self.plan
    for current in (node, *plan.module.ancestors(node)):
      if current in plan.expressions:
        return True
      if isinstance(current, ast.stmt):
        edit = plan.statements.get(current)
        if edit is not None and edit.replacement is not None:
          return True
      if current is self.node:
        break
    return False

  def free_attribute(self, *candidates: str) -> str:
    """The first of the names that no attribute has."""
    taken = {n.attr for c in self.family for n in ast.walk(c) if isinstance(n, ast.Attribute)}
    found = next((c for c in candidates if c not in taken), None)
    if found is None:
      self.refuse(self.node, f"has an attribute {candidates[0]}")
    return found
