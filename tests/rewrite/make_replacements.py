"""Brings the lines of migrator/rewrite/replacements.txt up to date whose names the runtime lists.

Run it with TF 2.16 or later: `make_replacements.py migrator/rewrite/replacements.txt`. The other
lines of the table are written by hand.
"""

import importlib
import inspect
import pathlib
import sys

from migrator.analysis import removed_names

# Modules of TF1, and the module of the runtime that has their names.
MODULES = (
  ("tf.contrib.crf", "contrib.crf"),
  ("tf.contrib.framework", "contrib.framework"),
  ("tf.contrib.layers", "contrib.layers"),
  ("tf.contrib.lookup", "contrib.lookup"),
  ("tf.contrib.losses", "contrib.losses"),
  ("tf.contrib.metrics", "contrib.metrics"),
  ("tf.contrib.rnn", "rnn_cell"),
  ("tf.contrib.rnn", "contrib.rnn"),
  ("tf.contrib.slim", "contrib.slim"),
  ("tf.estimator.experimental", "hosted_hooks"),
  ("tf.contrib.estimator", "hosted_hooks"),
)
# Modules that the table of removed names does not list: those inside of modules, and that of TF 1.14.
INNER = (
  ("tf.contrib.crf.python.ops.crf", "contrib.crf"),
  ("tf.contrib.framework.python.ops.variables", "contrib.framework.variables"),
  ("tf.contrib.gan", "contrib.gan"),
  ("tf.contrib.gan.eval", "contrib.gan.eval"),
  ("tf.contrib.gan.eval.eval_utils", "contrib.gan.eval.eval_utils"),
  ("tf.contrib.gan.eval.summaries", "contrib.gan.eval.summaries"),
  ("tf.contrib.gan.features", "contrib.gan.features"),
  ("tf.contrib.gan.losses", "contrib.gan.losses"),
  ("tf.contrib.gan.losses.wargs", "contrib.gan.losses.wargs"),
  ("tf.contrib.gan.python.losses", "contrib.gan.losses"),
  ("tf.contrib.gan.python.losses.python.losses_impl", "contrib.gan.losses.wargs"),
  ("tf.contrib.gan.python.namedtuples", "contrib.gan.tuples"),
  ("tf.contrib.gan.python.train", "contrib.gan"),
  ("tf.contrib.layers.python.layers.initializers", "contrib.layers.initializers"),
  ("tf.contrib.layers.python.layers.layers", "contrib.layers"),
  ("tf.contrib.layers.python.layers.regularizers", "contrib.layers.regularizers"),
  ("tf.contrib.layers.python.layers.utils", "contrib.layers.utils"),
  ("tf.contrib.layers.utils", "contrib.layers.utils"),
  ("tf.contrib.slim.initializers", "contrib.layers.initializers"),
  ("tf.contrib.slim.layers", "contrib.layers"),
  ("tf.contrib.slim.losses", "contrib.losses"),
  ("tf.contrib.slim.metrics", "contrib.metrics"),
  ("tf.contrib.slim.regularizers", "contrib.layers.regularizers"),
  ("tf.contrib.slim.summaries", "contrib.slim.summaries"),
  ("tf.contrib.slim.utils", "contrib.layers.utils"),
)
# What these modules have for themselves.
_OWN = ("XAVIER", "ZEROS", "variable_collections")


def _is_ours(value):
  return callable(value) and str(getattr(value, "__module__", "")).startswith("migrator.")


def names(module, own):
  """The names of a module of TF1 that a module of the runtime has."""
  found = importlib.import_module(f"migrator.runtime.{own}")
  public = [n for n in getattr(found, "__all__", dir(found)) if not n.startswith("_")]
  # A module may lack some names of TF1's: its own line says which it has.
  public = [n for n in public if not inspect.ismodule(getattr(found, n))]
  if (module, own) in INNER:
    if hasattr(found, "__all__"):
      return public
    return [n for n in public if n not in _OWN and _is_ours(getattr(found, n))]
  return [n for n in public if n in removed_names.names(module)]


def main(path):
  table = pathlib.Path(path)
  lines = [line.split() for line in table.read_text().splitlines()]
  made = {(m, f"runtime.{own}"): names(m, own) for m, own in (*MODULES, *INNER)}
  kept = [line for line in lines if tuple(line[:2]) not in made]
  known = {f"{line[0]}.{word.partition('=')[0]}" for line in kept for word in line[2:]}
  for (module, home), found in made.items():
    rest = sorted(n for n in found if f"{module}.{n}" not in known)
    kept += [[module, home, *rest]] if rest else []
  table.write_text("".join(f"{' '.join(line)}\n" for line in kept))


if __name__ == "__main__":
  main(*sys.argv[1:])
