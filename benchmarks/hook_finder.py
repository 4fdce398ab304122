"""Finds the hook classes of a repository, and says what each of them does.

It knows nothing of rules and rewriting: a class is a hook when a base of it has the name of one of TensorFlow's
hooks, however that is spelled, or is itself such a class of the same repository. Names decide, not
imports: what a benchmark counts must not depend on what the product understands.

A pure observer does nothing but look: it fetches values and reads them, logs, takes the time, counts
steps, writes summaries and files, and asks for the end. What makes a class something else is named in
`HookClass.effects`; a class has the effects of its bases in the repository.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Optional

from migrator.source import document, errors, walk

LISTENER = "CheckpointSaverListener"
BUILT_IN = frozenset(
  """
  CheckpointSaverHook FeedFnHook FinalOpsHook GlobalStepWaiterHook InMemoryEvaluatorHook
  LoggingTensorHook NanTensorHook ProfilerHook SecondOrStepHook StepCounterHook StopAtStepHook
  StopAfterNEvalsHook SummarySaverHook LocalCLIDebugHook DumpingDebugHook TensorBoardDebugHook
  AsyncCheckpointSaverHook TPUInfeedOutfeedSessionHook
  """.split()
)
BASES = BUILT_IN | {"SessionRunHook", LISTENER}
# Those that only look, and whose subclasses therefore can.
_OBSERVING = frozenset(("LoggingTensorHook", "NanTensorHook", "StepCounterHook", "StopAtStepHook"))
METHODS = ("begin", "after_create_session", "before_run", "after_run", "end")

# What an observer may ask of TensorFlow: parts of the name after `tf`.
_LOOKING = re.compile(
  r"""
  (^|\.)(
    (Session|)RunArgs | SessionRun(Hook|Args|Values|Context) | SecondOrStepTimer | GraphKeys\.(GLOBAL_STEP|LOSSES|SUMMARIES)
    | (tf_)?logging(\.\w+)? | get_logger | gfile(\.\w+)? | flags(\.\w+)* | app(\.\w+)? | errors(\.\w+)* | test(\.\w+)*
    | (get_|get_or_create_|assert_|_get_or_create_|)global_step(_read)? | global_step_tensor
    | Summary(\.Value)?(\.FromString)? | summary(\.\w+)* | FileWriter(Cache)?(\.get)? | SummaryWriterCache(\.get)?
    | SessionLog(\.\w+)? | (Event|HistogramProto) | NanLossDuringTrainingError | compat\.as_\w+ | nest(\.\w+)*
    | __version__ | VERSION | Tensor | Operation | float32 | int32 | int64 | float16
    | training_util | latest_checkpoint | CheckpointSaverListener | LoggingTensorHook | NanTensorHook
    | StepCounterHook | StopAtStepHook | as_graph_element | _as_graph_element | estimator\.ModeKeys(\.\w+)?
    | get_default_graph | get_tensor_by_name | get_collection | (ModeKeys|SessionRunHook)(\.\w+)?
    | (global|trainable)_variables | errors_impl(\.\w+)*
  )$
  """,
  re.VERBOSE,
)
# A fetch of one of these changes something.
_ACTING = re.compile(
  r"(^|_)(ops?|init|initializer|initialized|update|updates|assign|broadcast|train|enqueue|put|prefill|bcast)(_|$)"
)
_STEP = re.compile(r"(?i)global_?step")
_SESSION = re.compile(r"(?i)(^|\.|_)(sess|session|coord)$")


@dataclasses.dataclass
class HookClass:
  """A hook class of a repository.

  Attributes:
    repository: the name of its folder.
    path: its file, relative to that folder.
    name: the class.
    qualified: with the classes and functions around it.
    line: of its `class` statement; in a notebook of all cells together. 1-based.
    end: its last line.
    base: the hook of TensorFlow from which it derives.
    bases: its bases as they are spelled.
    methods: which methods of a hook, or of a listener, it defines.
    effects: what it does beside looking, sorted; empty for a pure observer.
    copies: how many other classes of the corpus have the same text.
  """

  repository: str
  path: str
  name: str
  qualified: str
  line: int
  end: int
  base: str
  bases: tuple[str, ...]
  methods: tuple[str, ...]
  effects: tuple[str, ...] = ()
  copies: int = 0
  node: Optional[ast.ClassDef] = dataclasses.field(default=None, repr=False, compare=False)

  @property
  def observes(self) -> bool:
    return not self.effects


def find(repository: Path) -> tuple[list[HookClass], list[str]]:
  """The hook classes of a repository, and the files with hooks that cannot be read.

  Args:
    repository: a folder.

  Returns:
    The classes in the order of files and lines; paths relative to the folder.
  """
  root = repository.resolve()
  raw = {os.path.relpath(f.path, root): Path(f.path).read_bytes() for f in walk.find([str(root)])}
  trees: dict[str, Optional[ast.Module]] = {}
  words, asked = {"Hook", LISTENER}, set()
  while words:
    # What derives from a hook of another file need not mention TensorFlow.
    asked |= words
    pattern = re.compile(rb"|".join(sorted(word.encode() for word in words)))
    for path, content in raw.items():
      if path not in trees and pattern.search(content):
        trees[path] = _parse(content, path)
    inside = {node: tree for tree in trees.values() if tree for _, node in classes(tree)}
    entries = [
      (p, name, n) for p, tree in sorted(trees.items()) if tree for name, n in classes(tree)
    ]
    known = _known([(path, node) for path, _, node in entries])
    words = {node.name for node in known} - asked
  found = []
  for path, qualified, node in entries:
    if node not in known:
      continue
    methods = tuple(m.name for m in node.body if isinstance(m, ast.FunctionDef))
    hook = HookClass(
      repository.name,
      path,
      node.name,
      qualified,
      node.lineno,
      node.end_lineno or node.lineno,
      _origin(node, known),
      tuple(ast.unparse(b) for b in node.bases),
      tuple(m for m in methods if m in (*METHODS, "before_save", "after_save")),
      tuple(sorted(_effects(node, inside, known))),
      node=node,
    )
    found.append(hook)
  of_hook = re.compile(rb"^\s*class \w+\(.*(Hook|Listener)\)", re.MULTILINE)
  unreadable = [p for p, tree in sorted(trees.items()) if tree is None and of_hook.search(raw[p])]
  return found, unreadable


def _parse(raw: bytes, path: str) -> Optional[ast.Module]:
  """The tree of a file or of all code of a notebook; None for what is no Python 3."""
  try:
    source = document.Document.from_bytes(raw, path)
  except errors.SourceError:
    return None
  return None if source.check() is not None else ast.parse(source.text)


def distinct(hooks: Sequence[HookClass]) -> list[HookClass]:
  """Leaves out what has the text of an earlier class, which counts its copies."""
  first: dict[str, HookClass] = {}
  for hook in hooks:
    text = ast.dump(hook.node) if hook.node is not None else f"{hook.path}:{hook.qualified}"
    if text in first:
      first[text].copies += 1
    else:
      first[text] = hook
  return list(first.values())


def classes(tree: ast.AST, around: str = "") -> Iterator[tuple[str, ast.ClassDef]]:
  """All classes, with their qualified names; a class in a function has its name before its own."""
  for child in ast.iter_child_nodes(tree):
    name = around
    if isinstance(child, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
      name = f"{around}.{child.name}" if around else child.name
    if isinstance(child, ast.ClassDef):
      yield name, child
    yield from classes(child, name)


def _last(base: ast.expr) -> str:
  """The last name of a base, without underscores in front: `_SessionRunHook` is an alias."""
  text = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
  return text.lstrip("_") if text.lstrip("_") in BASES else text


def _known(entries) -> dict[ast.ClassDef, Optional[ast.ClassDef]]:
  """Hook classes -> their base among the classes of the repository, None below TensorFlow's."""
  known: dict[ast.ClassDef, Optional[ast.ClassDef]] = {}
  names: dict[str, list[tuple[str, ast.ClassDef]]] = {}
  # A class of the repository with the name of TensorFlow's hides it in its file only.
  for path, node in entries:
    own = {n.name for p, n in entries if p == path and n is not node}
    if any(_last(b) in BASES and not (isinstance(b, ast.Name) and b.id in own) for b in node.bases):
      known[node] = None
      names.setdefault(node.name, []).append((path, node))
  while True:
    before = len(known)
    for path, node in entries:
      for base in node.bases:
        candidates = names.get(_last(base), [])
        if node in known or not candidates or _last(base) == node.name:
          continue
        here = [n for p, n in candidates if p == path]
        known[node] = here[-1] if here else candidates[0][1]
        names.setdefault(node.name, []).append((path, node))
    if len(known) == before:
      return known


def _origin(node: ast.ClassDef, known) -> str:
  while known[node] is not None:
    node = known[node]
  return next(_last(b) for b in node.bases if _last(b) in BASES)


def _effects(node: ast.ClassDef, inside: dict[ast.ClassDef, ast.Module], known) -> set[str]:
  """What a class and its bases do beside looking."""
  found: set[str] = set()
  current: Optional[ast.ClassDef] = node
  while current is not None:
    found |= _own_effects(current, inside[current])
    current = known[current]
  origin = _origin(node, known)
  if origin in BUILT_IN and origin not in _OBSERVING:
    found.add(f"is a {origin}")
  return found


def _own_effects(node: ast.ClassDef, tree: ast.Module) -> set[str]:
  roots, found = _tensorflow_names(tree), set()
  inner = [n for s in node.body for n in ast.walk(s)]
  parents = {child: n for n in inner for child in ast.iter_child_nodes(n)}
  for n in inner:
    if isinstance(n, (ast.Attribute, ast.Name)) and not isinstance(parents.get(n), ast.Attribute):
      chain = _chain(n)
      names = (".".join(chain), ".".join(chain[1:]))
      if chain and chain[0] in roots and not any(map(_LOOKING.search, names)):
        found.add(f"uses {'.'.join(chain)}")
    if isinstance(n, ast.Call):
      found |= _call_effects(n)
      if _chain(n.func)[:1] == ["fetches"] and any(map(_acts, n.args)):
        found.add("runs an operation as a fetch")
    if isinstance(n, ast.Attribute) and n.attr in ("add_update", "assign", "load_state_dict"):
      found.add(f"calls {n.attr}")
  return found


def _call_effects(call: ast.Call) -> set[str]:
  name = _chain(call.func)[-1:] or [""]
  text = ast.unparse(call.func)
  found = set()
  if name == ["SessionRunArgs"]:
    for keyword in call.keywords:
      if keyword.arg in ("feed_dict", "options") and not _is_none(keyword.value):
        found.add("feeds" if keyword.arg == "feed_dict" else "asks for run metadata")
    if len(call.args) > 1:
      found.add("feeds")
    if call.args and _acts(call.args[0]):
      found.add("runs an operation as a fetch")
  elif name == ["run"] and _SESSION.search(text.rpartition(".")[0]):
    fetched = ast.unparse(call.args[0]) if call.args else ""
    if not _STEP.search(fetched):
      found.add("runs the session")
  elif name[0] in ("restore", "save") and "saver" in text.lower():
    found.add(f"calls a saver's {name[0]}")
  elif name[0] in ("eval", "load") and any(_SESSION.search(ast.unparse(a)) for a in call.args):
    found.add("runs the session")
  elif name[0] in ("train", "evaluate", "predict", "export_savedmodel", "export_saved_model"):
    found.add(f"calls {name[0]}")
  elif name[0] in METHODS and text.count(".") > 1 and "super" not in text:
    found.add("calls another hook")
  elif any(_SESSION.search(ast.unparse(a)) for a in call.args) and name[0] not in METHODS:
    found.add("hands on the session")
  return found


def _acts(fetches: ast.expr) -> bool:
  """Whether a fetch has the name of an operation that changes something."""
  inner = list(ast.walk(fetches))
  modules = {n.value for n in inner if isinstance(n, ast.Attribute)}
  for n in inner:
    text = n.attr if isinstance(n, ast.Attribute) else n.id if isinstance(n, ast.Name) else ""
    if n in modules:
      continue
    if _ACTING.search(text) and "summar" not in text.lower():
      return True
  return False


def _is_none(node: ast.expr) -> bool:
  return isinstance(node, ast.Constant) and node.value is None


def _chain(node: ast.AST) -> list[str]:
  """`a.b.c` as ["a", "b", "c"]; empty for anything else."""
  parts: list[str] = []
  while isinstance(node, ast.Attribute):
    parts.append(node.attr)
    node = node.value
  if not isinstance(node, ast.Name):
    return parts[::-1][-1:] if parts else []
  return [node.id, *reversed(parts)]


def _tensorflow_names(tree: ast.Module) -> set[str]:
  """Names of a file that mean TensorFlow or something of it."""
  found = set()
  for n in ast.walk(tree):
    if isinstance(n, ast.Import):
      names = [(a.name, a.asname) for a in n.names]
    elif isinstance(n, ast.ImportFrom):
      names = [(f"{n.module}.{a.name}", a.asname or a.name) for a in n.names]
    else:
      continue
    for origin, name in names:
      if origin.startswith("tensorflow") or (name or "").startswith("tf"):
        found.add(name or origin.partition(".")[0])
  return found - set(dir(builtins))
