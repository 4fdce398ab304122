"""The functions of a loop that take the place of an estimator's methods, and their calls."""

from __future__ import annotations

import ast

from migrator.analysis import units
from migrator.rewrite import emit, handles, specs, together, unit_network
from migrator.rewrite.plan import Unsupported
from migrator.rewrite.target import Target, one_list

# In the order in which they are written.
FUNCTIONS = (
  "train_step",
  "train",
  "evaluate",
  "predict",
  "export_saved_model",
  "latest_checkpoint",
)
_EVALUATE = ("steps", "name", "checkpoint_path")
_PREDICT = ("predict_keys", "yield_single_examples", "checkpoint_path")
_EXPORT = {
  "export_dir_base": "",
  "serving_input_receiver_fn": "",
  "assets_extra": "None",
  "as_text": "False",
  "checkpoint_path": "None",
}


class LoopMethods(Target):
  """What `LoopTarget` says of calls, and the functions that they call.

  Attributes:
    names: of what the loop makes.
    variable: the Keras model.
    path: the expression of the model directory, known once a construction is written.
    asks_for_input: whether `train` gets functions that return the Datasets.
  """

  names: dict[str, str]
  variable: str
  path: str
  asks_for_input: bool

  def needs(self, function: str) -> bool:
    """Whether some call, or another function, calls a function of the loop."""
    if function in ("train_step", "train"):
      return bool(self.trainings)
    if function == "evaluate" and self.specs:
      return True
    if function == "export_saved_model" and self._exporters():
      return True
    reads = self.unit.model_dir_reads
    if function == "latest_checkpoint" and any(self.reads_newest(read) for read in reads):
      return True
    return any(call.method == function for call in self.unit.calls)

  def _exporters(self) -> bool:
    return any(spec.given(self.plan, "exporters") for _, spec in self.specs.values())

  # -- functions --------------------------------------------------------------------

  def evaluate_function(self, style: emit.Style) -> list[str]:
    """`def evaluate(dataset, ...)`."""
    n = self.names
    passed = self._passed("evaluate", _EVALUATE)
    items = [self.variable, n["loss_fn"], "dataset", f"global_step={n['step']}"]
    items += [f"model_dir={self.path}", *[f"{p}={p}" for p in passed if p != "checkpoint_path"]]
    added = self.networks[-1].added
    items += [f"metrics=[{', '.join(added)}]"] if added else []
    parameters = ["dataset", *[f"{p}=None" for p in passed]]
    return self._restoring("evaluate", "return", parameters, items, style)

  def predict_function(self, style: emit.Style) -> list[str]:
    """`def predict(dataset, ...)`."""
    passed = self._passed("predict", _PREDICT)
    defaults = {"yield_single_examples": "True"}
    items = [self.variable, "dataset", *[f"{p}={p}" for p in passed if p != "checkpoint_path"]]
    if not all(network.is_plain_classifier for network in self.networks):
      items.append(f"loss_fn={self.names['loss_fn']}")
    parameters = ["dataset", *[f"{p}={defaults.get(p, 'None')}" for p in passed]]
    return self._restoring("predict", "yield from", parameters, items, style)

  def export_saved_model_function(self, style: emit.Style) -> list[str]:
    """`def export_saved_model(export_dir_base, serving_input_receiver_fn, ...)`."""
    names = list(_EXPORT)[:2]
    given = {a for c in self.unit.calls if c.method == "export_saved_model" for a in c.arguments}
    # Exporters give all of them.
    names += [n for n in list(_EXPORT)[2:] if n in given or self._exporters()]
    items = [self.variable, self.names["loss_fn"], *names[:2]]
    items += [f"{n}={n}" for n in names[2:] if n != "checkpoint_path"]
    # That there is none is an error.
    items.append("checkpoint_path=newest")
    parameters = [f"{n}={_EXPORT[n]}" if _EXPORT[n] else n for n in names]
    return self._restoring("export_saved_model", "return", parameters, items, style)

  def latest_checkpoint_function(self, style: emit.Style) -> list[str]:
    """`def latest_checkpoint()`: of the new ones, else of those of the Estimator."""
    newest = f"{self.names['manager']}.latest_checkpoint"
    body = [f"old = {self.tf}.train.latest_checkpoint({self.path})", f"return {newest} or old"]
    return emit.block(f"def {self.names['latest_checkpoint']}():", body, style)

  def _restoring(
    self, method: str, word: str, parameters: list[str], items: list[str], style: emit.Style
  ) -> list[str]:
    """The function in place of a method that reads a checkpoint."""
    hooked = any(self.has(c, "hooks") for c in self.unit.calls if c.method == method)
    if method == "evaluate":
      hooked = hooked or any(spec.given(self.plan, "hooks") for _, spec in self.specs.values())
    if hooked:
      parameters, items = [*parameters, "callbacks=()"], [*items, "callbacks=callbacks"]
    manager, runtime = self.names["manager"], self.plan.runtime()
    nested = style.nested()
    named = any(p.startswith("checkpoint_path=") for p in parameters)
    exports = method == "export_saved_model"
    if named or exports or self._may_interrupt_training(method):
      call = emit.bracketed(f"{word} {runtime}.{method}(", items, ")", nested.nested())
      which = "checkpoint_path" if named else ""
      path = " as newest" if exports else ""
      body = emit.block(f"with {manager}.newest({which}){path}:", call, nested)
    else:
      call = emit.bracketed(f"return {runtime}.{method}(", items, ")", nested)
      body = [f"{manager}.restore_or_initialize()", *call]
    head = emit.bracketed(f"def {self.names[method]}(", parameters, "):", style)
    return [*head[:-1], *emit.block(head[-1], body, style)]

  def _may_interrupt_training(self, method: str) -> bool:
    """Whether a hook or listener may call the method while the model is trained."""
    if self.specs and method in ("evaluate", "export_saved_model"):
      return True
    scope_of, calls = self.plan.module.scope_of, self.unit.calls
    heard = any(self.has(c, n) for c in self.trainings for n in ("hooks", "saving_listeners"))
    scopes = {scope_of[c.call] for c in self.trainings}
    return heard and any(c.method == method and scope_of[c.call] not in scopes for c in calls)

  def _passed(self, method: str, names: tuple[str, ...]) -> list[str]:
    """The optional arguments that some call of the method gives."""
    given = {
      name
      for call in self.unit.calls
      if call.method == method
      for name, argument in call.arguments.items()
      if name != "checkpoint_path" or self.plan.module.constant(argument.value) is not None
    }
    if method == "evaluate" and self.specs:
      given |= {"steps", "name"}
    return [n for n in names if n in given]

  # -- what stands for the estimator --------------------------------------------------

  def function(self, name: str, node: ast.expr) -> str:
    """The function in place of a method of the estimator that an expression gave."""
    return f"{handles.owner(self.plan, node)}.{name}" if self.unit.handle else self.names[name]

  def model(self, node: ast.expr) -> str:
    del node
    return self.variable

  def model_dir(self, node: ast.expr) -> str:
    return f"{handles.owner(self.plan, node)}.model_dir" if self.unit.handle else self.path

  def newest_checkpoint(self, node: ast.expr) -> str:
    return f"{self.function('latest_checkpoint', node)}()"

  def evaluator(self, node: ast.expr) -> str:
    if self.unit.handle:
      return self.function("evaluate", node)
    self.plan.needs("import functools")
    evaluate = f"functools.partial({self.plan.runtime()}.evaluate, {self.variable}"
    evaluate += f", {self.names['loss_fn']}, global_step={self.names['step']}"
    added = self.networks[-1].added
    metrics = f", metrics=[{', '.join(added)}]" if added else ""
    return f"{evaluate}, model_dir={self.path}{metrics})"

  def construct_handle(
    self, construction, network: unit_network.Network, made: str, style: emit.Style
  ) -> None:
    """A function makes the loop, and an object of its functions takes the estimator's place."""
    plan = self.plan
    plan.needs("import types")
    body = handles.spaced(self.construct(network, made, style.nested(), True))
    members = [f"{n}={self.names[n]}" for n in FUNCTIONS[1:] if n in self.names]
    members.append(f"model_dir={self.path}")
    body += ["", *emit.bracketed("return types.SimpleNamespace(", members, ")", style.nested())]
    name = plan.fresh(f"make_{self.base}")
    edit = plan.statement(construction.call)
    edit.before += emit.block(f"def {name}():", body, style)
    prefix, suffix = handles.around(plan, construction.call)
    edit.replacement = [f"{prefix}{name}(){suffix}"]

  def handle_class(self) -> str:
    self.plan.needs("import types")
    return "types.SimpleNamespace"

  # -- calls ----------------------------------------------------------------------------

  def train(self, call: units.MethodCall) -> None:
    statement = self.train_statement(call)
    lines = self.train_lines(call, self.plan.style_at(statement), [])
    self.plan.statement(statement).replacement = lines

  def train_lines(
    self, call: units.MethodCall, style: emit.Style, evaluations: list[str]
  ) -> list[str]:
    """A call of the loop in place of a train call, or of the one that train_and_evaluate makes."""
    items = self.method_items(call, ("steps", "max_steps"))
    if self.asks_for_input:
      items[0] = self.input_function(call.arguments["input_fn"])
    limits = dict(zip(("steps", "max_steps"), self.limits(call)))
    items = [i for i in items if limits.get(i.partition("=")[0], i) is not None]
    for limit in ("steps", "max_steps"):
      argument = call.arguments.get(limit)
      value = self.plan.module.constant(argument.value) if argument is not None else None
      if isinstance(value, float) or (isinstance(value, int) and value <= 0):
        what = f"train({limit}={value}), no positive whole number"
        raise Unsupported("EM209", call.call, name=what)
    listeners = [*self.listeners(call), *evaluations]
    items += [f"saving_listeners={one_list(listeners)}"] if listeners else []
    return emit.bracketed(f"{self.function('train', call.owner)}(", items, ")", style)

  def evaluates(self, call: units.MethodCall) -> str:
    """What `runtime.Evaluation` gets first."""
    return self.function("evaluate", call.owner)

  def exports(self, train: specs.Spec, node: ast.expr) -> list[str]:
    """What `runtime.Evaluation` needs for its exporters."""
    given = train.given(self.plan, "max_steps")
    export = self.function("export_saved_model", node)
    return [
      f"max_steps={self.source(given.value) if given is not None else None}",
      f"export={export}",
    ]

  def train_and_evaluate(self, call: units.MethodCall) -> None:
    together.write(self, call)

  def evaluate(self, call: units.MethodCall) -> None:
    self._call(call, self.method_items(call, _EVALUATE))

  def predict(self, call: units.MethodCall) -> None:
    self._call(call, self.method_items(call, _PREDICT))

  def export_saved_model(self, call: units.MethodCall) -> None:
    self._call(call, [self.exported(call)])

  def get_variable_names(self, call: units.MethodCall) -> None:
    self.plan.report("EM276", call.call)
    self._variables(call)

  def get_variable_value(self, call: units.MethodCall) -> None:
    self._variables(call, f", {self.source(call.arguments['name'].value)}")

  def _variables(self, call: units.MethodCall, name: str = "") -> None:
    """`runtime.get_variable_names(model_dir)`, `runtime.get_variable_value(model_dir, name)`."""
    function = f"{self.plan.runtime()}.{call.method}"
    self.plan.expressions[call.call] = f"{function}({self.model_dir(call.owner)}{name})"

  def _call(self, call: units.MethodCall, items: list[str]) -> None:
    function = self.function(call.method, call.owner)
    self.plan.expressions[call.call] = f"{function}({', '.join(items)})"
