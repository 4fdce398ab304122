"""Rules that a name alone decides: removed symbols, hooks, private modules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Optional

from migrator.analysis import hosting, stars, symbols
from migrator.analysis.module import Use
from migrator.lint import symbol_table, values, wording
from migrator.lint.checks.registry import Context, Report, check, hook_classes
from migrator.lint.checks.run_config import RUN_CONFIGS

_PRIVATE = "EM902"
_HOOK_RULES = ("EM301", "EM303", "EM305")
# Useful without a session, and public in every TF2 as tf.compat.v1.train.X.
_KEPT_IN_COMPAT = ("tf.train.NanLossDuringTrainingError", "tf.train.SecondOrStepTimer")
_ENABLING = ("tf.enable_eager_execution", "tf.enable_v2_behavior")
# Rules about graphs and sessions, in which a file runs that keeps its model_fn.
_OF_GRAPHS = ("EM217", "EM301", "EM303", "EM305", "EM4", "EM602", "EM604")
# Rules about names that do the same work in `tf.compat.v1.train`, also with eager execution.
_WORK_IN_COMPAT = ("EM405", "EM407", "EM408", "EM409", "EM604")


@check("EM2", "EM3", "EM4", "EM501", "EM6", "EM9")
def named_symbols(context: Context) -> Iterator[Report]:
  """Every use of a symbol that a rule lists."""
  table = symbol_table.of(context.rules)
  for use in context.uses:
    code = table.code(use.symbol.path)
    if _is_private(context, use):
      spelled = _spelling(context, use)
      if code is not None or table.code(_private_path(spelled)) is not None:
        yield _guarded(context, use, _PRIVATE) or Report(
          _PRIVATE, use.span, {"module": spelled, "public": wording.public(use.symbol)}
        )
      continue
    if code is None or code == _PRIVATE:
      continue  # a private name was reported where it was imported
    if _is_kept(context, use, code):
      continue
    parent = context.module.parents.get(use.node)
    called = isinstance(parent, ast.Call) and parent.func is use.node
    if _is_variable(context, use) and not called and not isinstance(parent, ast.ClassDef):
      continue  # reported where the variable gets its value
    lower = _guarded(context, use, code)
    if lower is not None:
      yield lower
      continue
    if called and use.symbol.path in RUN_CONFIGS:
      continue  # EM101 says more
    if code in _HOOK_RULES and isinstance(parent, ast.ClassDef):
      continue  # `hooks` reports the class
    if code == "EM217" and _is_undone(context, parent):
      continue
    given = _words(context, use)
    if code == "EM202":
      variable = _variable(context, parent) if isinstance(parent, ast.Call) else None
      given["what"] = wording.custom_estimator(variable, called)
    if code == "EM217":  # `tf.disable_eager_execution` is no name of TF2
      given["symbol"] = wording.spelled(use.symbol)
    yield Report(code, use.span, given, _fix(context, use, code))


def _guarded(context: Context, use: Use, code: str) -> Optional[Report]:
  """The report of a use that a check of the version, or the like, keeps from newer versions."""
  words = context.guard(use, code)
  if words is None:
    return None
  return Report("EM905", use.span, {"guard": words, **_words(context, use)})


def _words(context: Context, use: Use) -> dict[str, Any]:
  """The values of a message about a use."""
  found = {"name": wording.shown(use.symbol.path), **wording.of(use.symbol)}
  if context.is_of_estimator(use):
    path = wording.shown(use.symbol.path)
    symbol = use.symbol._replace(path="tf.estimator" + path[len("tf.train") :])
    found.update(name=symbol.path, symbol=symbol.path, removal=wording.removal(symbol))
  return found


def _is_undone(context: Context, call: Optional[ast.AST]) -> bool:
  """Whether eager execution is enabled again behind a call that disables it."""
  module = context.module
  statement = module.parents.get(call) if call is not None else None
  block = module.parents.get(statement) if statement is not None else None
  body = getattr(block, "body", None)
  if not isinstance(body, list) or statement not in body:
    return False
  behind = body[body.index(statement) :]
  return any(
    isinstance(s, ast.Expr) and values.is_call_of(module, s.value, _ENABLING) for s in behind
  )


@check("EM904")
def star_imports(context: Context) -> Iterator[Report]:
  """Names that a star import of TensorFlow may bind."""
  table = symbol_table.of(context.rules)
  for use, origin in stars.uses(context.module):
    code = table.code(use.symbol.path)
    if code is None or _is_kept(context, use, code):
      continue
    if code in _WORK_IN_COMPAT and not symbols.is_tensorflow(symbols.canonical(origin)):
      continue  # the other module may import tensorflow.compat.v1
    name = values.text(context.module, use.node)
    path = wording.shown(use.symbol.path)
    meaning = "TensorFlow's" if name == path else f"`{path}`"
    yield Report("EM904", use.span, {"name": name, "module": origin, "meaning": meaning})


def _fix(context: Context, use: Use, code: str) -> Optional[str]:
  """What the text of a use becomes, where that is a matter of the name alone."""
  if not isinstance(use.node, ast.Attribute):
    return None
  if code == "EM229":
    return wording.mode_key(use.symbol.path)
  if code == "EM501" and use.symbol.path.endswith(".BackupAndRestore"):
    module, dot, name = context.module.source(use.node).rpartition(".experimental.")
    return f"{module}.{name}" if dot else None
  if code == "EM604" and use.symbol.path == "tf.train.NewCheckpointReader":
    source = context.module.source(use.node)
    if source.endswith("train.NewCheckpointReader"):
      return source[: -len("NewCheckpointReader")] + "load_checkpoint"
  return None


def _is_private(context: Context, use: Use) -> bool:
  """Whether the private path is spelled at this place, not behind an imported name."""
  if not use.symbol.private:
    return False
  if isinstance(use.node, (ast.Import, ast.ImportFrom)):
    return True
  root = use.node
  while isinstance(root, ast.Attribute):
    root = root.value
  symbol = context.module.resolve(root)
  return symbol is not None and not symbol.private


def _is_variable(context: Context, use: Use) -> bool:
  """Whether a use is a variable that holds the symbol, as `est` after `est = tf.estimator`."""
  if not isinstance(use.node, ast.Name):
    return False
  scope = context.module.scope_of.get(use.node, context.module.root)
  _, bindings = scope.lookup(use.node.id)
  return bool(bindings) and all(binding.kind != "import" for binding in bindings)


def _is_kept(context: Context, use: Use, code: str) -> bool:
  """Whether `tf.compat.v1.train` still has it, and it is worth something there."""
  if use.symbol.api != "v1":
    return False
  if code.startswith(_OF_GRAPHS) and hosting.is_hosted(context.module.text):
    return not context.is_of_estimator(use)
  if code in _WORK_IN_COMPAT and use.symbol.path.startswith("tf.train."):
    return True
  return use.symbol.path in _KEPT_IN_COMPAT and not context.is_of_estimator(use)


def _private_path(spelled: str) -> str:
  """The private module path as the rules list it."""
  tail = spelled.partition(".")[2]
  return "tensorflow." + tail.rpartition("python.estimator")[0] + tail[tail.find("python.") :]


def _spelling(context: Context, use: Use) -> str:
  node = use.node
  if not isinstance(node, (ast.Import, ast.ImportFrom)):
    return values.text(context.module, node)
  for alias in node.names:
    name = alias.name
    if isinstance(node, ast.ImportFrom):
      name = f"{node.module}.{alias.name}" if alias.name != "*" else str(node.module)
    if len(node.names) == 1 or symbols.canonical(name) == use.symbol:
      return name
  return use.symbol.path


def _variable(context: Context, call: ast.Call) -> Optional[str]:
  """The variable or attribute that a call is assigned to, as the rewrite names it too."""
  parent = context.module.parents.get(call)
  if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
    return None
  return values.text(context.module, parent.targets[0])


@check("EM301", "EM305")
def hooks(context: Context) -> Iterator[Report]:
  """Every class that derives from a hook, also through another class of the file."""
  for node, base, symbol in hook_classes(context.module):
    if context.is_guarded(base, "EM301"):
      continue  # `named_symbols` reports the name
    in_estimator = "estimator" in context.module.source(base)
    if symbol.api == "v1" and not in_estimator and hosting.is_hosted(context.module.text):
      continue  # the training that uses it runs a session
    code = "EM305" if symbol.path.endswith(".CheckpointSaverListener") else "EM301"
    yield context.report(code, base, name=node.name)
