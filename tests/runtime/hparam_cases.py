"""What is asked of `HParams` of `tf.contrib.training`: in TensorFlow 1.15 and, in tests, of the runtime.

Runs with Python 3.7, too.
"""

import copy

VALUES = {
  "rate": 0.1,
  "size": 3,
  "name": "relu",
  "on": True,
  "nothing": None,
  "sizes": [1, 2],
  "rates": (0.5, 1.5),
  "names": ["a"],
}
TEXTS = """rate=1|rate=-.5e3,size=7|size=1.5|size=x|name=a b|name=|on=true|on=False|on=1|on=0|on=yes|on=2
sizes=[4,5 ,6]|sizes=[]|sizes=[1.5]|sizes=3|sizes[0]=3|sizes[1]=[3]|sizes[0]=1,sizes[0]=2|sizes=[1],sizes[0]=2
rate=1,rate=2|rates=[1,2]|rates = [ 1, 2 ], size = 4|names=[x, y]|names=[a b]|other=3|rate|=3|rate=1,,size=2
rate=1,|nothing=3|size=3,sizes[2]=1,rate=2|sizes=[1,2]3|rate=[1]|name=[a]|sizes=[1,2],size=9,rate=1e-3|size=-1|
name=x=y|9=3|size=0x10|rate=inf|rate=nan|size=1_0|on=True,on=False|names[0]=q|sizes[a]=3|sizes[0]=x""".replace(
  "\n", "|"
).split("|")
SETTINGS = [
  ("rate", 2),
  ("rate", "2"),
  ("rate", True),
  ("size", 2.0),
  ("size", True),
  ("size", [1]),
  ("name", 3),
  ("name", b"x"),
  ("on", 1),
  ("on", False),
  ("nothing", "x"),
  ("sizes", [1, 2, 3]),
  ("sizes", (1, 2)),
  ("sizes", [1.5]),
  ("sizes", 3),
  ("rates", [1, 2]),
  ("other", 1),
]
DEFAULTS = [None, 1, 1.5, "x", True, [1], [1.5], ["x"], []]


def told(function):
  """What a function gives, or the error that it raises."""
  try:
    found = function()
  except Exception as error:
    return "%s: %s" % (type(error).__name__, error)  # noqa: UP031
  return repr(sorted(found.values().items()) if hasattr(found, "parse") else found)


def run(hparams, parse_values):
  """[what was asked, what it gave] for all cases."""
  asked = [("made", lambda: hparams(**VALUES))]

  def ask(name, function):
    asked.append((name, lambda: function(hparams(**VALUES))))

  for text in TEXTS:
    ask("parse " + text, lambda one, text=text: one.parse(text))
  for name, value in SETTINGS:
    setting = {name: value}
    ask("set %r" % (setting,), lambda one, setting=setting: one.override_from_dict(setting))  # noqa: UP031
    ask("map %r" % (setting,), lambda one, setting=setting: one.set_from_map(setting))  # noqa: UP031
  for key in [*VALUES, "other"]:
    for default in DEFAULTS:
      what = "get %s %r" % (key, default)  # noqa: UP031
      ask(what, lambda one, key=key, default=default: one.get(key, default))
    ask("in " + key, lambda one, key=key: key in one)
  for key in ("rate", "nothing", "values", "_hparam_types", "new"):
    ask("add " + key, lambda one, key=key: one.add_hparam(key, 3) or one)
    if key != "values":  # Python says in words of its own that a method cannot be deleted.
      ask("del " + key, lambda one, key=key: one.del_hparam(key) or one)
  ask("add an empty list", lambda one: one.add_hparam("new", []))
  ask("json", lambda one: one.to_json())
  ask("json with more", lambda one: one.to_json(indent=1, separators=(";", "="), sort_keys=True))
  ask("parse json", lambda one: one.parse_json('{"rate": 3, "names": ["q"]}'))
  ask("text", str)
  ask("shown", repr)
  ask("copied", lambda one: copy.deepcopy(one).parse("rate=5"))
  ask("structure", lambda one: (one.set_model_structure(3), one.get_model_structure()))
  asked.append(("a given structure", lambda: hparams(model_structure=4).get_model_structure()))
  kinds = {"a": int, "b": float}
  for text in ("a=1,b=2", "a[1]=3,a[2]=4", "c=1,a=2"):
    asked.append(("values " + text, lambda text=text: parse_values(text, kinds)))
    asked.append(("some " + text, lambda text=text: parse_values(text, kinds, True)))
  return [[name, told(function)] for name, function in asked]
