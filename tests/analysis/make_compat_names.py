"""Makes migrator/analysis/different_names.txt, tf2_names.txt and gone_names.txt.

different_names.txt: what plain `tf` of TF2 has, but as another object than `tf.compat.v1`.
tf2_names.txt: what plain `tf` of TF 2.21 has and `tf.compat.v1` lacks.
gone_names.txt: what TF 1.15 had outside of contrib and `tf.compat.v1` of TF 2.21 lacks.

Run it three times:
  python3.7 (TF 1.15)   make_compat_names.py collect names.json
  python    (TF 2.15)   make_compat_names.py check names.json names-2.15.json
  python    (TF 2.21)   make_compat_names.py check names.json names-2.21.json
and then `make_compat_names.py write names-2.15.json names-2.21.json FOLDER`.
"""

import json
import pathlib
import sys

import make_tf1_names

# Names that a module of TF 1.15 imported for itself.
_NOT_PUBLIC = ("tf_decorator", "absolute_import", "division", "print_function", "raw_ops")


def get(root, dotted):
  """(the object, whether there is one)."""
  for part in dotted.split(".")[1:]:
    try:
      root = getattr(root, part)
    except Exception:  # Keras 3 raises other errors than AttributeError
      return None, False
  return root, True


def is_same(one, other):
  if one is other:
    return True
  return isinstance(one, (int, float, str, tuple)) and one == other


def check(names):
  """{"names": {name: (in tf, in compat.v1, same)}, "own": what only plain tf has}."""
  import tensorflow as tf

  found = {}
  for name in names:
    plain, is_plain = get(tf, name)
    v1, is_v1 = get(tf.compat.v1, name)
    module = hasattr(v1, "__path__") or type(v1).__name__ in ("module", "KerasLazyLoader")
    found[name] = (is_plain, is_v1, module or is_same(plain, v1))
  own = [n for n in make_tf1_names.collect(tf, "tf", 3) if not get(tf.compat.v1, n)[1]]
  return {"names": found, "own": own}


def grouped(names):
  """Lines "module name name ...", only the shortest name of what lies below each other."""
  chosen, groups = set(), {}
  for name in sorted(names):
    owner, _, last = name.rpartition(".")
    parts = name.split(".")
    if any(".".join(parts[:n]) in chosen for n in range(2, len(parts))):
      continue
    chosen.add(name)
    if not last.startswith("_") and not {*parts} & {*_NOT_PUBLIC}:
      groups.setdefault(owner, []).append(last)
  return "".join(f"{owner} {' '.join(found)}\n" for owner, found in sorted(groups.items()))


def main(arguments):
  command, files = arguments[0], [pathlib.Path(name) for name in arguments[1:]]
  if command == "collect":
    import tensorflow as tf

    files[0].write_text(json.dumps(list(make_tf1_names.collect(tf, "tf"))))
  elif command == "check":
    files[1].write_text(json.dumps(check(json.loads(files[0].read_text()))))
  else:
    old, new = (json.loads(file.read_text()) for file in files[:2])
    both = [(n, old["names"][n], new["names"][n]) for n in new["names"]]
    # Also what one of the versions lacks, as `tf.losses.mean_squared_error`: a function of Keras in TF 2.15.
    different = [n for n, a, b in both if (a[0] or b[0]) and b[1] and not (all(a) and all(b))]
    gone = [n for n, _, b in both if not b[1]]
    own = [n for n in new["own"] if not n.startswith(("tf.keras.", "tf.compat."))]
    for name, names in (("different", different), ("gone", gone), ("tf2", own)):
      (files[2] / f"{name}_names.txt").write_text(grouped(names))


if __name__ == "__main__":
  main(sys.argv[1:])
