"""Makes migrator/analysis/tf1_names.txt: what plain `tf` has in TF 1.15 only.

Run it three times:
  python3.7 (TF 1.15)   make_tf1_names.py collect names.json
  python    (TF 2.15)   make_tf1_names.py check names.json names-2.15.json
  python    (TF 2.21)   make_tf1_names.py check names.json names-2.21.json
and then `make_tf1_names.py write names-2.15.json names-2.21.json tf1_names.txt`.
"""

import json
import pathlib
import sys
import types

SKIPPED = ("compat", "contrib", "core", "examples", "python", "tools")


def collect(module, prefix, depth=0):
  """Yields the public dotted names below a module."""
  for name in sorted(dir(module)):
    full = prefix + "." + name
    if name.startswith("_") or full.split(".")[1] in SKIPPED:
      continue
    try:
      value = getattr(module, name)
    except Exception:  # a lazily loaded part that is not installed
      continue
    yield full
    kinds = ("TFModuleWrapper", "DeprecationWrapper", "LazyLoader")
    is_module = isinstance(value, types.ModuleType) or type(value).__name__ in kinds
    if is_module and depth < 5 and "tensorflow" in getattr(value, "__name__", ""):
      yield from collect(value, full, depth + 1)


def exists(root, dotted):
  for part in dotted.split(".")[1:]:
    try:
      root = getattr(root, part)
    except Exception:  # Keras 3 raises other errors than AttributeError
      return False
  return True


def main(arguments):
  command, files = arguments[0], arguments[1:]
  if command == "write":
    old, new = (json.loads(pathlib.Path(name).read_text()) for name in files[:2])
    gone = sorted(n for n in new if not new[n] and not old[n])
    shortest = [n for n in gone if not any(n.startswith(g + ".") for g in gone)]
    pathlib.Path(files[2]).write_text("".join(n + "\n" for n in shortest))
    return
  import tensorflow as tf

  if command == "collect":
    pathlib.Path(files[0]).write_text(json.dumps(list(collect(tf, "tf"))))
  else:
    names = json.loads(pathlib.Path(files[0]).read_text())
    pathlib.Path(files[1]).write_text(json.dumps({n: exists(tf, n) for n in names}))


if __name__ == "__main__":
  main(sys.argv[1:])
