"""Makes the lists of TensorFlow's names that the analysis and the tests read.

Run it with three interpreters, then put the parts together with any:

  python3.7 (TF 1.15)  make_symbol_list.py collect 1.15.json
  python    (TF 2.15)  make_symbol_list.py collect 2.15.json
  python    (TF 2.21)  make_symbol_list.py collect 2.21.json
  python               make_symbol_list.py write 1.15.json 2.15.json 2.21.json

`write` makes
  migrator/analysis/removed_names.txt  public names of TF 1.15 and 2.15 in `tf.estimator`,
      `tf.keras.estimator`, `tf.contrib` and `tf.train` which plain `tf` of TF 2.21 lacks:
      a module and its names on each line.
  migrator/analysis/private_names.txt  where private modules of the Estimator and of
      `tensorflow.python.training` hold public names: the private module, the public one, names.
      `Name=Other` where the public name is `Other`, `!` before it where it is the one of
      `compat.v1` and TF2's is another, `~` where it is TF2's and `compat.v1`'s is another.
  tests/rules/tf_2_21_names.txt  the public names of TF 2.21 without `compat`: must map to no rule.
"""

import importlib
import json
import pathlib
import pkgutil
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
REMOVED = ROOT / "migrator" / "analysis" / "removed_names.txt"
PRIVATE = ROOT / "migrator" / "analysis" / "private_names.txt"
PUBLIC = ROOT / "tests" / "rules" / "tf_2_21_names.txt"

AREAS = ("tf.estimator", "tf.keras.estimator", "tf.train", "tf.contrib")
# Their names are no part of the interface: what a file imported, or C++ ops.
SKIPPED = ("absolute_import", "division", "print_function", "python", "ops", "core", "tools")
PRIVATE_PACKAGES = (
  "tensorflow.python.estimator",
  "tensorflow_estimator.python.estimator",
  "tensorflow.python.training",
  "tensorflow.python.checkpoint",
)
PRIVATE_MODULES = ("tensorflow.python.pywrap_tensorflow",)


def is_module(value):
  kinds = ("TFModuleWrapper", "DeprecationWrapper", "LazyLoader", "KerasLazyLoader")
  return isinstance(value, types.ModuleType) or type(value).__name__ in kinds


def members(module):
  """Yields (name, value) of the public names of a module."""
  for name in sorted(dir(module)):
    if name.startswith("_") or name in SKIPPED:
      continue
    try:
      yield name, getattr(module, name)
    except Exception:  # a lazily loaded part that is not installed
      yield name, None


def belongs(value, prefix):
  """Whether a module is a part of the interface below `prefix`, not something it imported."""
  name = getattr(value, "__name__", "")
  if prefix.startswith("tf.contrib"):
    part = ".".join(prefix.split(".")[1:3])
    return "." + part + "." in name + "." and prefix.count(".") < 4
  return "_api" in name or ".api." in name or name.startswith(("tensorflow.", "keras"))


def walk(module, prefix):
  """Returns {module: names} for a module and the public modules below it, each once."""
  found = {}
  seen = {id(module)}
  waiting = [(module, prefix)]
  while waiting:  # breadth first: a module that has two names gets the shorter one
    module, prefix = waiting.pop(0)
    found[prefix] = []
    for name, value in members(module):
      below = prefix + "." + name
      if is_module(value) and not belongs(value, below):
        continue
      found[prefix].append(name)
      if is_module(value) and id(value) not in seen and below.count(".") < 5:
        seen.add(id(value))
        waiting.append((value, below))
  return found


def reach(root, dotted):
  for part in dotted.split(".")[1:]:
    try:
      root = getattr(root, part)
    except Exception:  # Keras 3 raises other errors than AttributeError
      return None
  return root


def collect(tf):
  """Returns the names of the running TensorFlow as plain data."""
  version = ".".join(tf.__version__.split(".")[:2])
  data = {"version": version, "areas": {}, "v1": {}, "public": {}, "private": []}
  for area in AREAS:
    for key, root in (("areas", tf), ("v1", tf.compat.v1)):
      module = reach(root, area)
      if module is not None:
        data[key].update(walk(module, area))
  for area in (data["areas"], data["v1"]):
    if "tf.contrib" in area:  # also the parts that `import tensorflow` does not load
      packages = {info.name for info in pkgutil.iter_modules(tf.contrib.__path__) if info.ispkg}
      area["tf.contrib"] = sorted(packages.union(area["tf.contrib"]) - set(SKIPPED))
  if version == "2.21":
    for name, value in members(tf):
      if name != "compat" and is_module(value):
        data["public"].update(walk(value, "tf." + name))
    data["public"]["tf"] = [name for name, _ in members(tf) if name != "compat"]
  else:
    data["private"] = private_names(tf)
  return data


def private_names(tf):
  """Returns [module, public module, name, public name, mark] of private modules."""
  public = {}
  for mark, root in (("~", tf), ("!", tf.compat.v1)):
    for area in AREAS[:3]:
      module = reach(root, area)
      for prefix, names in (walk(module, area) if module else {}).items():
        holder = reach(root, prefix)
        for name in names:
          value = getattr(holder, name, None)
          if callable(value):
            public.setdefault(id(value), {}).setdefault((prefix, name), set()).add(mark)
  found = []
  for module in private_modules():
    name_of_module = module.__name__.replace("tensorflow_core", "tensorflow")
    if name_of_module.startswith("tensorflow_estimator.python.estimator.api"):
      continue
    for name, value in vars(module).items():
      places = public.get(id(value))
      if name.startswith("_") or not places:
        continue
      prefix, public_name = best(places, name_of_module, name)
      marks = places[(prefix, public_name)]
      mark = "" if len(marks) == 2 else min(marks)
      found.append([name_of_module, prefix, name, public_name, mark])
  return found


def best(places, module, name):
  """The public place of an object that fits a private module best."""
  home = "tf.train" if ".training" in module or ".checkpoint" in module else "tf.estimator"
  return min(places, key=lambda p: (p[1] != name, not p[0].startswith(home), len(p[0]), p))


def private_modules():
  for package in PRIVATE_PACKAGES:
    try:
      top = importlib.import_module(package)
    except Exception:  # not in this version
      continue
    yield top
    for info in pkgutil.walk_packages(top.__path__, package + ".", onerror=lambda _: None):
      if info.name.endswith("_test") or ".api" in info.name:
        continue
      try:
        yield importlib.import_module(info.name)
      except Exception:  # needs what is not installed
        continue
  for name in PRIVATE_MODULES:
    try:
      yield importlib.import_module(name)
    except Exception:
      continue


def write(parts):
  """Writes the three lists."""
  kept = {m + "." + n for m, names in parts["2.21"]["public"].items() for n in names}
  removed = {}
  for version in ("1.15", "2.15"):
    for key in ("areas", "v1"):
      for module, names in parts[version][key].items():
        gone = {n for n in names if module + "." + n not in kept}
        removed.setdefault(module, set()).update(gone)
  _save(REMOVED, (m + " " + " ".join(sorted(n)) for m, n in sorted(removed.items()) if n))
  names = sorted(parts["2.21"]["public"].items())
  _save(PUBLIC, (m + " " + " ".join(sorted(n)) for m, n in names if n))
  lines = {}
  for version in ("1.15", "2.15"):
    for module, prefix, name, public_name, mark in parts[version]["private"]:
      module = module.replace("tensorflow_estimator.python.", "tensorflow.python.")
      word = mark + name + ("" if name == public_name else "=" + public_name)
      # The later version decides what is TF2's.
      lines.setdefault((module, prefix), {})[name] = word
  _save(
    PRIVATE,
    (" ".join([m, p, *sorted(words.values())]) for (m, p), words in sorted(lines.items())),
  )


def _save(path, lines):
  path.write_text("".join(line + "\n" for line in lines))


def main(arguments):
  if arguments[0] == "write":
    parts = [json.loads(pathlib.Path(name).read_text()) for name in arguments[1:]]
    write({part["version"]: part for part in parts})
    return
  import tensorflow as tf

  pathlib.Path(arguments[1]).write_text(json.dumps(collect(tf)))


if __name__ == "__main__":
  main(sys.argv[1:])
