"""Replaces the uses of removed names in one file, where they stand or where a name is bound."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis import aliases, facts, guards, stars, symbols
from migrator.analysis.binding import Binding
from migrator.analysis.module import UNKNOWN, Module, Use
from migrator.rewrite import compat, dimensions, replacements, same_names
from migrator.rewrite import replacements_imports as imported
from migrator.rewrite.plan import Plan, Unsupported

_TF = symbols.Symbol("tf")
# Arguments that the strategies of contrib took and those of tf.distribute do not.
_STRATEGY = ("devices", "device", "cross_device_ops")
# {function of the runtime: its parameters, the one that it takes less for than TF1's, what it takes}.
_RUN = tuple("experiment_fn output_dir schedule run_config hparams".split())
_SCHEDULES = "continuous_train_and_eval evaluate local_run test train train_and_evaluate".split()
_ONLY: dict[str, tuple[tuple[str, ...], str, tuple]] = {
  "runtime.contrib.datasets.load_dataset": (("name",), "name", ("mnist",)),
  "runtime.contrib.learn.run": (_RUN, "schedule", (None, UNKNOWN, *_SCHEDULES)),
}
# {class of the runtime: the arguments that it takes as None or False only}.
_WITHOUT = {
  "runtime.contrib.learn.Experiment": ("checkpoint_and_export", "eval_metrics"),
  "runtime.contrib.training.HParams": ("hparam_def",),
}
# Arguments of `batch_norm` that switch to another computation.
_RENORMALIZATION = ("renorm", "adjustment")


def plan_file(plan: Plan, whole: bool) -> list[Unsupported]:
  """See `replacements.plan_file`."""
  return _FilePass(plan, whole).run()


class _FilePass:
  """The edits of one file.

  Args:
    plan: gets them.
    whole: whether `import tensorflow as tf` may become `import tensorflow.compat.v1 as tf`.
  """

  def __init__(self, plan: Plan, whole: bool):
    self._plan = plan
    self._module: Module = plan.module
    self._tf1 = plan.source_version == 1
    self._swaps = self._tf1 and whole and compat.can_swap(self._module)
    self._obstacles: list[Unsupported] = []
    # Names that stay: they mean the replacement of their module because its import does.
    self._kept: set[ast.AST] = set()

  def run(self) -> list[Unsupported]:
    module = self._module
    for use in module.uses():
      is_import = isinstance(use.node, (ast.Import, ast.ImportFrom))
      if not is_import and not guards.is_for_older(module, use.node):
        self._use(use)
    for use in _slim_uses(module):
      self._use(use)
    for use, origin in stars.uses(module):
      if replacements.find(use.symbol.path) or replacements.removed(use.symbol):
        name = module.source(use.node)
        self._refuse("EM907", use.node, name=name, origin=origin)
    imports = imported.Imports(self._plan, self._swaps, self._tf1, self._kept)
    self._obstacles += imports.run()
    if self._tf1 or self._swaps:
      self._obstacles += dimensions.plan_values(self._plan, self.tf_text)
    return self._obstacles

  def _refuse(self, code: str, node: ast.AST, **values: str) -> None:
    self._obstacles.append(Unsupported(code, node, **values))

  # -- one use ------------------------------------------------------------------

  def _needs_tf1_spelling(self, use: Use) -> bool:
    if not self._tf1 or self._swaps or not compat.is_tf1_spelling(self._module, use):
      return False
    return not same_names.is_same(self._module, use)

  def _use(self, use: Use) -> None:
    symbol, node = use.symbol, use.node
    if node in self._plan.expressions:
      return
    found = replacements.find(symbol.path)
    if found is None:
      if replacements.removed(symbol):
        self._without_replacement(use)
      elif self._is_misplaced(use):
        self._plan.expressions[node] = self.tf_text(node, f"tf.compat.v1{symbol.path[2:]}")
      elif self._needs_tf1_spelling(use):
        compat.respell(self._plan, use)
      return
    if found.path.startswith("runtime.contrib.") and found.path.endswith(".batch_norm"):
      self._refuse_renormalization(node)
    if self._is_other(node, found.path):
      self._obstacles.append(replacements.unsupported(symbol, node))
      return
    head, head_symbol = self._head(node)
    if head is None:
      self._replace(use, found)
      return
    bound = f"{symbol.path}.".startswith(f"{head_symbol.path}.")
    depth = len(head_symbol.path.split(".")) if bound else 0
    if self._is_variable(head) and depth >= found.length:
      return  # its value is replaced, be it one of several
    if not aliases.is_certain(self._module, head):
      self._refuse("EM906", node, name=self._module.source(head), symbol=symbol.path)
      return
    via = replacements.home(head_symbol.path)
    rest = ".".join(symbol.path.split(".")[depth : found.length])
    # TensorFlow's own modules are no places to import modules from: some are attributes only.
    via = via if via and via.startswith("runtime") else None
    if depth and via and replacements.removed(head_symbol) and found.path == f"{via}.{rest}":
      self._kept.add(head)
      return
    self._replace(use, found)

  def _replace(self, use: Use, found: replacements.Replacement) -> None:
    node = use.node
    if use.symbol.path.startswith("tf.contrib.distribute.") and self._has_old_arguments(node):
      self._obstacles.append(replacements.unsupported(use.symbol, node))
      return
    for _ in range(len(use.symbol.path.split(".")) - found.length):
      if not isinstance(node, ast.Attribute):
        self._refuse("EM906", use.node, name=self._module.source(use.node), symbol=use.symbol.path)
        return
      node = node.value
    self._plan.expressions[node] = self.tf_text(node, found.path)

  def _has_old_arguments(self, node: ast.AST) -> bool:
    """Whether a call of a strategy gives more than devices, as `num_gpus`."""
    call = self._module.parents.get(node)
    if not isinstance(call, ast.Call) or call.func is not node:
      return False
    return len(call.args) > 1 or any(k.arg not in _STRATEGY for k in call.keywords)

  def _is_other(self, node: ast.AST, path: str) -> bool:
    """Whether a function that offers less than TF1's is used for what may be something else."""
    call = self._module.parents.get(node)
    called = call if isinstance(call, ast.Call) and call.func is node else None
    for keyword in called.keywords if called is not None else ():
      if keyword.arg in _WITHOUT.get(path, ()) and self._module.constant(keyword.value) not in (
        None,
        False,
      ):
        return True
    if path not in _ONLY:
      return False
    parameters, name, offered = _ONLY[path]
    bound = facts.bind_arguments(called, parameters) if called is not None else None
    if bound is None:
      return True
    value = self._module.constant(bound[name].value) if name in bound else None
    return value not in offered

  def _refuse_renormalization(self, node: ast.AST) -> None:
    """EM912 where a call asks for what `batch_norm` of the runtime does not offer."""
    call = self._module.parents.get(node)
    if not isinstance(call, ast.Call) or call.func is not node:
      return
    for keyword in call.keywords:
      value = keyword.value
      literal = isinstance(value, ast.Constant)
      asked = bool(getattr(value, "value", None)) if literal else keyword.arg == "adjustment"
      if keyword.arg in _RENORMALIZATION and asked:
        self._refuse("EM912", value, name=self._module.source(node), argument=keyword.arg)

  def _without_replacement(self, use: Use) -> None:
    """A removed module that only stands for a name, as in `layers = tf.layers`; else an obstacle."""
    via = replacements.home(use.symbol.path)
    parent = self._module.parents.get(use.node)
    names = isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is use.node
    if via and names:
      self._plan.expressions[use.node] = self.tf_text(use.node, via)
    elif not self._is_said(use):
      self._obstacles.append(replacements.unsupported(use.symbol, use.node))

  def _is_said(self, use: Use) -> bool:
    """Whether a name only repeats what the value of a variable says."""
    head, symbol = self._head(use.node)
    return head is not None and self._is_variable(head) and symbol.path == use.symbol.path

  def _is_misplaced(self, use: Use) -> bool:
    """A hook that `tf.estimator` had a second time."""
    if not use.symbol.path.startswith("tf.train."):
      return False
    spelled = self._module.source(use.node)
    if isinstance(use.node, ast.Name):
      bound = self._bindings(use.node)
      return any(b.kind == "import" and ".estimator." in b.target for b in bound)
    _, symbol = self._head(use.node)
    in_estimator = symbol is not None and symbol.path.startswith("tf.estimator")
    return in_estimator or ".estimator." in spelled

  # -- what a chain begins with ---------------------------------------------------

  def _head(self, node: ast.AST) -> tuple[Optional[ast.AST], symbols.Symbol]:
    """The first part of a chain that has a meaning of its own and is not TensorFlow itself."""
    chain = [node]
    while isinstance(chain[-1], ast.Attribute):
      chain.append(chain[-1].value)
    for part in reversed(chain):
      symbol = self._module.resolve(part)
      if symbol is not None:
        if symbol.path == "tf" or isinstance(part, ast.Call):
          return None, _TF
        return part, symbol
    return None, _TF

  def _bindings(self, node: ast.AST) -> list[Binding]:
    if not isinstance(node, ast.Name):
      return []
    here = self._module.scope_of.get(node, self._module.root)
    return here.lookup(node.id)[1]

  def _is_variable(self, head: ast.AST) -> bool:
    """Whether a name has its meaning by an assignment, not by an import."""
    bound = self._bindings(head)
    return isinstance(head, ast.Attribute) or any(b.kind == "assign" for b in bound)

  # -- text -----------------------------------------------------------------------

  def tf_text(self, node: ast.AST, path: str) -> str:
    """What means `path` where the node stands; asks for the imports that it needs."""
    head, _, rest = path.partition(".")
    if head == "runtime":
      name = self._plan.runtime()
      return f"{name}.{rest}" if rest else name
    root: ast.AST = node
    while isinstance(root, ast.Attribute):
      root = root.value
    symbol = self._module.resolve(root) if isinstance(root, ast.Name) else None
    if symbol is not None and symbol.path == "tf" and isinstance(root, ast.Name):
      name, is_v1 = root.id, symbol.api == "v1"
    else:
      name, is_v1 = compat.tf_name(self._plan)
    if (is_v1 or self._swaps) and rest.startswith("compat.v1."):
      rest = rest[len("compat.v1.") :]
    return f"{name}.{rest}"


def _slim_uses(module: Module) -> Iterator[Use]:
  """The uses of `tf_slim`, longest chain only, in source order."""
  if "tf_slim" not in module.text:
    return
  for node in list(module.nodes()):
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
      continue
    symbol = module.resolve(node)
    if symbol is None or not replacements.is_slim(symbol):
      continue
    chain: ast.expr = node
    parent = module.parents[chain]
    while isinstance(parent, ast.Attribute):
      symbol = symbol.attribute(parent.attr)
      chain, parent = parent, module.parents[parent]
    yield Use(symbol, chain, module.span(chain))
