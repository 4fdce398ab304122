"""Target `loop`: a training loop of its own with a checkpoint manager.

https://www.tensorflow.org/guide/checkpoint
"""

from __future__ import annotations

import ast
from typing import Union

from migrator.analysis import units
from migrator.rewrite import checkpoint_saver, emit, moves, run_config, unit_network
from migrator.rewrite.loop_methods import FUNCTIONS, LoopMethods
from migrator.rewrite.plan import Plan, Unsupported
from migrator.rewrite.target import Target

_VARIABLES = ("optimizer", "loss_fn", "checkpoint", "step", "manager", "summaries")
# Names in the generated functions.
_PARAMETERS = frozenset(
  """callbacks dataset features input_fn iterator labels loss max_steps name predict_keys saving_listeners
  steps tape variables weights yield_single_examples checkpoint_path export_dir_base
  serving_input_receiver_fn assets_extra as_text newest""".split()
)


class LoopTarget(LoopMethods, Target):
  """Writes one unit as functions around a `train_step`."""

  # The functions restore before they begin, so that an equal construction needs nothing.
  rebuilds = False
  # The variables that a construction makes.
  makes: tuple[str, ...] = _VARIABLES

  def __init__(self, plan: Plan, tf: str, unit: units.Unit, exact: bool, resume_data: bool):
    super().__init__(plan, tf, unit, exact)
    self.resume_data = resume_data
    name = self.base
    # A handle is made in a function of its own.
    self.variable = plan.fresh("model", f"{name}_model") if unit.handle else self.model_name
    self.names = {n: plan.fresh(n, f"{name}_{n}") for n in self.makes}
    self.names |= {n: plan.fresh(n, f"{n}_{name}") for n in FUNCTIONS if self.needs(n)}
    self.loss = self.names.get("loss_fn", "")
    self.tells_listeners = bool(self.specs) or any(
      self.has(c, "saving_listeners") for c in self.trainings
    )
    hooked = any(self.has(c, "hooks") for c in self.trainings)
    self.has_savers = hooked and checkpoint_saver.in_use(plan)
    self.path = ""
    self.data_lines: list[str] = []
    # An Estimator that had done all its steps did not ask for the input; a position in it is restored with the rest,
    # so that its iterator must be there before the steps are known.
    limited = any(self.limits(c)[1] is not None for c in self.trainings)
    self.asks_for_input = limited and not resume_data

  def check(self, networks: list[unit_network.Network]) -> None:
    if self.variable in _PARAMETERS:
      what = f"`{self.unit.name}` is also a name in the new functions"
      raise Unsupported("EM220", self.unit.node, what=what)
    if self.unit.handle:
      for network in networks:
        self._check_saves(network)
      return
    if len({n.key() for n in networks}) > 1 or len({n.directory for n in networks}) > 1:
      node = self.unit.constructions[1].call
      raise Unsupported("EM218", node, what="--target loop needs equal constructions")
    blocks = {
      self.plan.module.parents[self.plan.module.statement(c.call)] for c in self.unit.constructions
    }
    if len(blocks) > 1:
      node = self.unit.constructions[1].call
      raise Unsupported("EM218", node, what="--target loop needs one place of construction")
    for construction in self.unit.constructions[1:]:
      reason = moves.repeat_obstacle(self.plan.module, construction.call)
      if networks[0].directory is None:
        reason = "each construction has a temporary directory of its own"
      if reason is not None:
        what = f"--target loop makes the model once: {reason}"
        raise Unsupported("EM218", construction.call, what=what)
    self._check_saves(networks[0])

  def _check_saves(self, network: unit_network.Network) -> None:
    saves = self.has_savers or run_config.cadence(self.plan, network.policy)[0] != "none"
    if not saves:
      node = self.unit.constructions[0].call
      raise Unsupported("EM218", node, what="--target loop has nothing to save here")

  def factory(self, network: unit_network.Network, name: str, style: emit.Style) -> list[str]:
    return emit.block(f"def {name}():", [*network.body, f"return {network.model}"], style)

  def construct(self, network, made: str, style: emit.Style, first: bool) -> list[str]:
    runtime, n = self.plan.runtime(), self.names
    lines = self._directory(network)
    lines += self.seed(network)
    lines += [f"{self.variable} = {made}"] if made != self.variable else []
    optimizer = network.optimizer_item(self.variable, "")
    lines += optimizer.leading
    note = f"  {optimizer.trailing}" if optimizer.trailing else ""
    lines.append(f"{n['optimizer']} = {optimizer.text}{note}")
    lines.append(f"{n['loss_fn']} = {network.loss}")
    items = [self.variable, n["optimizer"]]
    items += [f'scope="{network.scope}"'] if network.scope else []
    items.append(f'flavour="{network.flavour or self.unit.flavour}"')
    head = f"{n['checkpoint']} = {runtime}.named_checkpoint("
    lines += emit.bracketed(head, items, ")", style)
    lines.append(f'{n["step"]} = {n["checkpoint"]}.by_name["global_step"]')
    lines += self._manager(network, style)
    lines += self._summaries(network, style)
    for function in FUNCTIONS:
      if function in self.names:
        lines += ["", *getattr(self, f"{function}_function")(style), ""]
    lines = lines[:-1] if lines[-1] == "" else lines
    return [part for line in lines for part in emit.statement(line, style)]

  def _directory(self, network: unit_network.Network) -> list[str]:
    directory = network.directory
    if directory is None:
      self.plan.needs("import tempfile")
      self.path = self._fresh_directory()
      return [f"{self.path} = tempfile.mkdtemp()"]
    assert network.directory_node is not None
    given = self._is_given(network.directory_node)
    if directory.isidentifier() and directory not in _PARAMETERS and given:
      self.path = directory
      return []
    self.path = self._fresh_directory()
    if not given:
      # The Estimator took a temporary directory for None.
      self.plan.needs("import tempfile")
      return [f"{self.path} = {self.plan.atom(network.directory_node)} or tempfile.mkdtemp()"]
    text = directory if "\n" not in directory else self.plan.atom(network.directory_node)
    return [f"{self.path} = {text}"]

  def _fresh_directory(self) -> str:
    """A variable for the model directory; that of each handle is in a function of its own."""
    if not (self.unit.handle and self.path):
      return self.plan.fresh("model_dir", f"{self.base}_model_dir")
    return self.path

  def _is_given(self, node: ast.expr) -> bool:
    """Whether a model directory cannot be None, as far as the file shows."""
    definition = self.plan.module.definition(node)
    if isinstance(definition, ast.BoolOp) and isinstance(definition.op, ast.Or):
      definition = definition.values[-1]
    if isinstance(definition, ast.Constant):
      return isinstance(definition.value, str)
    return isinstance(definition, (ast.Call, ast.BinOp, ast.JoinedStr))

  def _manager(self, network: unit_network.Network, style: emit.Style) -> list[str]:
    plan, n, policy = self.plan, self.names, network.policy
    plan.needs("import functools")
    plan.needs("import os")
    runtime = plan.runtime()
    # Not tf.train.CheckpointManager: it does not save the step that it has restored.
    items: list[Union[emit.Item, str]] = [n["checkpoint"]]
    items += [f'os.path.join({self.path}, "tf2")', f"step_counter={n['step']}"]
    items += policy.items(
      "save_checkpoints_steps",
      "save_checkpoints_secs",
      "keep_checkpoint_max",
      "keep_checkpoint_every_n_hours",
    )
    load = f"{runtime}.load_tf1_checkpoint, {n['checkpoint']}, {self.path}"
    load += f", warm_start_from={network.warm_start}" if network.warm_start else ""
    items.append(f"init_fn=functools.partial({load})")
    head = f"{n['manager']} = {runtime}.CheckpointManager("
    return [*policy.comments, *emit.bracketed(head, items, ")", style)]

  def _summaries(self, network: unit_network.Network, style: emit.Style) -> list[str]:
    if "train" not in self.names:
      return []
    items: list[Union[emit.Item, str]] = [self.path, self.names["step"]]
    items += network.policy.items("save_summary_steps", "log_step_count_steps")
    head = f"{self.names['summaries']} = {self.plan.runtime()}.SummarySaver("
    return emit.bracketed(head, items, ")", style)

  def _weights(self) -> str:
    """A further argument for the weights of the examples, where the head may take them."""
    return ", *weights" if any(network.has_weights for network in self.networks) else ""

  def train_step_function(self, style: emit.Style) -> list[str]:
    n, model = self.names, self.variable
    weights = self._weights()
    tape = [f"loss = {self.networks[-1].step_loss(model, n['loss_fn'], weights)}"]
    body = [
      *emit.block(f"with {self.tf}.GradientTape() as tape:", tape, style.nested()),
      f"variables = {model}.trainable_variables",
      f"{n['optimizer']}.apply_gradients(zip(tape.gradient(loss, variables), variables))",
      f"{n['step']}.assign_add(1)",
      "return loss",
    ]
    function = emit.block(f"def {n['train_step']}(features, labels{weights}):", body, style)
    return [f"@{self.tf}.function", *function]

  def batches(self, dataset: str) -> str:
    """What the training goes through: an expression that gives features and labels."""
    return dataset

  def train_function(self, style: emit.Style) -> list[str]:
    n, model, tf = self.names, self.variable, self.tf
    step, manager = n["step"], n["manager"]
    parameters, limit, take = self._limit_lines()
    steps = emit.block(
      f"for features, labels{self._weights()} in {self.batches(take)}:",
      [
        f"callbacks.on_train_batch_begin({step}.numpy())",
        f"loss = {n['train_step']}(features, labels{self._weights()})",
        f"{manager}.save()  # when due",
        f'callbacks.on_train_batch_end({step}.numpy() - 1, {{"loss": loss.numpy()}})',
        *emit.block(
          f"if {tf}.math.is_nan(loss):",
          [f"raise {tf}.compat.v1.train.NanLossDuringTrainingError"],
          style.nested().nested(),
        ),
        *emit.block(f"if {model}.stop_training:", ["break"], style.nested().nested()),
      ],
      style.nested(),
    )
    callbacks = f"[{n['summaries']}, *callbacks]"
    position = []
    if self.resume_data:
      # Before the restore, which brings the position back.
      position = ["iterator = iter(dataset)", f"{n['checkpoint']}.track_iterator(iterator)"]
    begin: list[str] = []
    end = "save(check_interval=False)"
    if self.tells_listeners or self.has_savers:
      # The callbacks have been told their model by then, and a CheckpointSaver its manager.
      told = f"{model}, saving_listeners" if self.tells_listeners else ""
      note = "" if told else "  # a CheckpointSaver saves instead"
      begin, end = [f"{manager}.begin_session({told}){note}"], "end_session()"
    body = [
      '"""Restores the newest checkpoint, then trains."""',
      *([] if self.asks_for_input else self.data_lines),
      *position,
      f"{manager}.restore_or_initialize()",
      *limit,
      *(self.data_lines if self.asks_for_input else []),
      *self.prepared(),
      f"callbacks = {tf}.keras.callbacks.CallbackList({callbacks}, model={model})",
      f"{model}.stop_training = False",
      *begin,
      f"{manager}.save()  # at the start",
      "callbacks.on_train_begin()",
      *steps,
      f"{manager}.{end}  # at the end",
      "callbacks.on_train_end()",
    ]
    head = f"def {n['train']}({', '.join(parameters)}):"
    return emit.block(head, body, style)

  def prepared(self) -> list[str]:
    """What has to be done once the Dataset is known, before the first checkpoint is saved."""
    return []

  def _limit_lines(self) -> tuple[list[str], list[str], str]:
    """Parameters, the statements that honour them, and what the loop runs over."""
    step = self.names["step"]
    limits = [self.limits(c) for c in self.trainings]
    style = self.plan.style
    uses_steps = any(s is not None for s, _ in limits)
    uses_max = any(m is not None for _, m in limits)
    optional = any(limit == (None, None) for limit in limits) or (uses_steps and uses_max)
    default = "=None" if optional else ""
    left = f"max_steps - {step}.numpy()"
    lines: list[str] = []
    if uses_max and optional:
      inner = [f"steps = {left}", *emit.block("if steps <= 0:", ["return"], style)]
      lines += emit.block("if max_steps is not None:", inner, style)
      if not uses_steps:
        lines.insert(0, "steps = None")
    elif uses_max:
      lines += emit.block(f"if {step} >= max_steps:", ["return"], style)
    names = [n for n, used in (("steps", uses_steps), ("max_steps", uses_max)) if used]
    data = "input_fn" if self.asks_for_input else "dataset"
    parameters = [data, *[n + default for n in names], "callbacks=()"]
    parameters += ["saving_listeners=()"] if self.tells_listeners else []
    count = "steps" if uses_steps or optional else left
    made = ("input_fn()" if self.asks_for_input else "dataset") + max(
      self.selection(c) for c in self.trainings
    )
    self.data_lines = [f"dataset = {made}"] if made != "dataset" else []
    if self.resume_data:
      if names:
        self.plan.needs("import itertools")
      return parameters, lines, f"itertools.islice(iterator, {count})" if names else "iterator"
    if not names:
      return parameters, lines, "dataset"
    count = "-1 if steps is None else steps" if optional else count
    return parameters, lines, f"dataset.take({count})"
