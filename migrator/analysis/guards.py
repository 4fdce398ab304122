"""Code that runs only where TensorFlow still has a name, or that never runs."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Optional

from migrator.analysis import conditions, symbols
from migrator.analysis.conditions import Known, Version

if TYPE_CHECKING:
  from migrator.analysis.module import Module, Use

# A text without any of these has no code that never runs, or no guard.
_DEAD = ("TYPE_CHECKING", "MYPY", "if False", "if 0", "if True", "if 1", "if not True", "while 0")
_WORDS = (
  *("hasattr", "getattr", "except", "__version__", "VERSION", "find_spec", "suppress"),
  *("in dir(", "in vars(", *_DEAD),
)
_IMPORT_ERRORS = ("ImportError", "ModuleNotFoundError")
_GENERAL = ("Exception", "BaseException")
_LEAVING = ("sys.exit", "os._exit", "pytest.skip", "exit", "quit", "self.skipTest")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BLOCKS = ("body", "orelse", "finalbody")


# The oldest version that runs rewritten programs.
_OLDEST = (2, 15)


@functools.lru_cache(maxsize=16)
def _of(module: Module) -> Guards:
  return Guards(module, lambda name: False)


def is_for_older(module: Module, node: ast.AST) -> bool:
  """Whether a node runs only with versions of TensorFlow that run no rewritten program."""
  return _of(module).is_before(node, _OLDEST)


class Guards:
  """Finds the guards around the uses of a module.

  Args:
    module: the module.
    is_removed: whether newer versions lack a canonical name.
  """

  def __init__(self, module: Module, is_removed: Callable[[str], bool]):
    self._module = module
    self._is_removed = is_removed
    self._inert = not any(word in module.parsed for word in _WORDS)
    self._has_dead_code = any(word in module.parsed for word in _DEAD)
    self._guarded_bindings: dict[int, bool] = {}

  def is_dead(self, use: Use) -> bool:
    """Whether a use never runs, or is reported where the guarded name was imported instead.

    The first: code for a type checker only, and names that are imported for it only. The
    second: names that `except ImportError` gives another meaning.
    """
    if self._inert:
      return False
    bindings = self._bindings(use)
    if self._has_dead_code:
      if any(known.never for known in self._around(use.node)):
        return True
      if bindings and all(any(k.never for k in self._around(b.node)) for b in bindings):
        return True
    if not bindings:
      return False
    fallback = self._fallback(bindings)
    return fallback == "other" or (fallback == "none" and self._is_asked(use.node))

  def is_before(self, node: ast.AST, version: Version) -> bool:
    """Whether a node runs with versions of TensorFlow before this one only, or never."""
    if self._inert:
      return False
    return any(k.never or (k.below and k.below <= version) for k in self._around(node))

  def _is_asked(self, node: ast.AST) -> bool:
    """Whether a name stands in a condition: `if estimator:`, `estimator is not None`."""
    if not isinstance(node, ast.Name):
      return False
    child: ast.AST = node
    for parent in self._module.ancestors(node):
      if isinstance(parent, (ast.If, ast.IfExp, ast.While, ast.Assert)):
        return child is parent.test
      if not isinstance(parent, (ast.BoolOp, ast.UnaryOp, ast.Compare)):
        return False
      child = parent
    return False

  def words(self, use: Use, removed: Version) -> Optional[str]:
    """What guards a use against a version that lacks it, for a message; None: nothing does.

    Args:
      use: the use.
      removed: the first version without it, () where that is not known.
    """
    if self._inert:
      return None
    paths = self._paths(use)
    found = self._guard(use.node, paths, removed)
    if found is None and self._fallback(self._bindings(use)) == "none":
      found = "its import may fail"
    return found

  def _guard(self, node: ast.AST, paths: Sequence[str], removed: Version) -> Optional[str]:
    if isinstance(node, ast.Call) and len(node.args) == 3:
      return "`getattr` with a default"
    for known in self._around(node):
      if any(self._tells(known, path) for path in paths):
        return f"`{known.words}`"
      if known.below and removed and known.below <= removed:
        return f"`{known.words}`"
    errors = self._caught(node)
    return f"`except {errors}`" if errors else None

  def _tells(self, known: Known, path: str) -> bool:
    """Whether it says that a name is there; `hasattr(tf.compat, "v1")` says so of none."""
    above = known.exists
    if not above or not self._is_removed(above):
      return False
    return path == above or path.startswith(above + ".")

  def _paths(self, use: Use) -> list[str]:
    """The canonical names whose existence means that the use is there."""
    paths = [use.symbol.path]
    if not use.symbol.path.startswith("tf.estimator") and "estimator" in _text(self._module, use):
      paths.append("tf.estimator")  # tf.estimator.SessionRunHook is tf.train's
    if not isinstance(use.node, (ast.Import, ast.ImportFrom)):
      node = use.node
      while isinstance(node, ast.Attribute):
        symbol = self._module.resolve(node)
        if symbol is not None:
          paths.append(symbol.path)
        node = node.value
    return paths

  # -- names whose import is guarded -------------------------------------------

  def _bindings(self, use: Use) -> list:
    """The bindings of the name at the root of a use, where they are imports of TensorFlow."""
    node = use.node
    while isinstance(node, ast.Attribute):
      node = node.value
    if not isinstance(node, ast.Name):
      return []
    scope = self._module.scope_of.get(node, self._module.root)
    _, bindings = scope.lookup(node.id)
    return bindings

  def _fallback(self, bindings: list) -> str:
    """What a name is where the import of TensorFlow's fails: "other", "none", or "" for no guard."""
    guarded = [b for b in bindings if self._is_guarded(b)]
    if not guarded:
      return ""
    for binding in guarded:
      if isinstance(binding.value, ast.IfExp) and not self._is_constant(binding.value):
        return "other"
    for binding in (b for b in bindings if b not in guarded):
      if binding.kind == "import":
        symbol = symbols.canonical(binding.target)
        if symbols.is_tensorflow(symbol) and self._is_removed(symbol.path):
          return ""  # the other one is no better
        return "other"
      if binding.kind in ("def", "class"):
        return "other"
      if binding.value is not None and not isinstance(binding.value, ast.Constant):
        return "other"
    return "none"

  def _is_guarded(self, binding) -> bool:
    key = id(binding)
    if key not in self._guarded_bindings:
      self._guarded_bindings[key] = self._is_guarded_binding(binding)
    return self._guarded_bindings[key]

  def _is_guarded_binding(self, binding) -> bool:
    """Whether a binding gives a removed name, if TensorFlow has it, and nothing stops if not."""
    symbol: Optional[symbols.Symbol]
    if binding.kind == "import":
      symbol = symbols.canonical(binding.target)
    elif binding.kind == "assign" and binding.value is not None:
      symbol = self._module.resolve(binding.value)
    else:
      return False
    if symbol is None or not symbols.is_tensorflow(symbol) or not self._is_removed(symbol.path):
      return False
    node = binding.node if binding.kind == "import" else binding.value
    if isinstance(node, ast.Call) and len(node.args) == 3:
      return True  # getattr(tf, "estimator", None)
    if isinstance(node, ast.IfExp):
      parts = (node.body, node.orelse)
      node = next((p for p in parts if symbols.is_tensorflow(self._module.resolve(p))), node)
    return bool(self._caught(node)) or any(
      known.below or self._tells(known, symbol.path) for known in self._around(node)
    )

  def _is_constant(self, choice: ast.IfExp) -> bool:
    """Whether one of the two is None or the like."""
    return any(isinstance(part, ast.Constant) for part in (choice.body, choice.orelse))

  # -- what stands around a node -------------------------------------------------

  def _around(self, node: ast.AST) -> Iterator[Known]:
    """What the conditions around a node say."""
    module, child = self._module, node
    for parent in module.ancestors(node):
      yield from self._of(parent, child)
      child = parent

  def _of(self, parent: ast.AST, child: ast.AST) -> Sequence[Known]:
    key = (parent, child)
    if key not in self._seen:
      self._seen[key] = tuple(self._read(parent, child))
    return self._seen[key]

  @functools.cached_property
  def _seen(self) -> dict[tuple[ast.AST, ast.AST], tuple[Known, ...]]:
    return {}

  def _read(self, parent: ast.AST, child: ast.AST) -> Iterator[Known]:
    module = self._module
    if isinstance(parent, (ast.If, ast.While)):
      if child in parent.body:
        yield from conditions.implied(module, parent.test, True)
      elif child in parent.orelse and isinstance(parent, ast.If):
        yield from conditions.implied(module, parent.test, False)
    elif isinstance(parent, ast.IfExp):
      if child is not parent.test:
        yield from conditions.implied(module, parent.test, child is parent.body)
    elif isinstance(parent, ast.BoolOp):
      for value in parent.values[: parent.values.index(child)]:  # type: ignore[arg-type]
        yield from conditions.implied(module, value, isinstance(parent.op, ast.And))
    elif isinstance(parent, _FUNCTIONS) and child in parent.body:
      yield from self._decorators(parent.decorator_list)
    if isinstance(child, ast.stmt):
      yield from self._before(parent, child)

  def _before(self, parent: ast.AST, child: ast.stmt) -> Iterator[Known]:
    """What holds because an earlier statement of the block would have left it otherwise."""
    for field in _BLOCKS:
      block = getattr(parent, field, None)
      if not isinstance(block, list) or child not in block:
        continue
      for statement in block[: block.index(child)]:
        if isinstance(statement, ast.Assert):
          yield from conditions.implied(self._module, statement.test, True)
        elif (
          isinstance(statement, ast.If) and not statement.orelse and self._leaves(statement.body)
        ):
          yield from conditions.implied(self._module, statement.test, False)

  def _leaves(self, block: Sequence[ast.stmt]) -> bool:
    last = block[-1]
    if isinstance(last, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
      return True
    call = last.value if isinstance(last, ast.Expr) else None
    return isinstance(call, ast.Call) and self._module.source(call.func) in _LEAVING

  def _decorators(self, decorators: Sequence[ast.expr]) -> Iterator[Known]:
    for decorator in decorators:
      if not isinstance(decorator, ast.Call) or not decorator.args:
        continue
      name = self._module.source(decorator.func).rpartition(".")[2].lower()
      if name in ("skipif", "skipunless"):
        yield from conditions.implied(self._module, decorator.args[0], name == "skipunless")

  def _caught(self, node: ast.AST) -> str:
    """The errors that a `try` around a node turns into something else; "" where none does."""
    is_import = isinstance(node, (ast.Import, ast.ImportFrom))
    child = node
    for parent in self._module.ancestors(node):
      if isinstance(parent, _FUNCTIONS):
        return ""
      if isinstance(parent, ast.Try) and child in parent.body:
        for handler in parent.handlers:
          if self._turns(handler, is_import, parent.body):
            return self._module.source(handler.type) if handler.type is not None else "all errors"
      if isinstance(parent, (ast.With, ast.AsyncWith)) and child in parent.body:
        for item in parent.items:
          call = item.context_expr
          if isinstance(call, ast.Call) and _last(call.func) == "suppress":
            names = [_last(argument) for argument in call.args]
            if any(name in _errors(is_import) for name in names):
              return ", ".join(names)
      child = parent
    return ""

  def _turns(self, handler: ast.ExceptHandler, is_import: bool, body: Sequence[ast.stmt]) -> bool:
    """Whether a handler makes something of the error that a removed name raises."""
    if isinstance(handler.body[-1], ast.Raise) or self._leaves(handler.body):
      return False
    kind = handler.type
    names = [_last(n) for n in (kind.elts if isinstance(kind, ast.Tuple) else [kind])]
    if any(name in _errors(is_import) for name in names):
      return True
    # `except Exception` around a program is no guard of a name, around a few names it is.
    general = kind is None or any(name in _GENERAL for name in names)
    return general and all(_only_names(statement) for statement in body)


def _errors(is_import: bool) -> tuple[str, ...]:
  return _IMPORT_ERRORS if is_import else ("AttributeError",)


def _only_names(statement: ast.stmt) -> bool:
  if isinstance(statement, (ast.Import, ast.ImportFrom)):
    return True
  value = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
  return isinstance(value, (ast.Name, ast.Attribute, ast.Constant))


def _last(node: Optional[ast.AST]) -> str:
  if isinstance(node, ast.Attribute):
    return node.attr
  return node.id if isinstance(node, ast.Name) else ""


def _text(module: Module, use: Use) -> str:
  return module.source(use.node) if isinstance(use.node, (ast.expr, ast.stmt)) else ""
