"""Watches the training of a program with a model_fn of its own, and gives it examples where its own are not there."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
import types
from collections.abc import Iterator
from typing import Any, Optional

import made_up_canned
import made_up_data
import made_up_hooks
import stand_ins

_BATCH = 2
# A size for each dimension that nobody says, and how many integers there are.
_GUESSES = ((4, 2), (1, 2), (1, 1))


def mark_flags() -> None:
  """Lets flags be read, as far as a program defined them; a size that is 0 is meant to be given."""
  if "absl.flags" not in sys.modules:
    return
  flags = sys.modules["absl.flags"].FLAGS
  flags.mark_as_parsed()
  for name in flags:
    if name in ("use_tpu", "do_train"):
      flags.set_default(name, name == "do_train")
    elif name.endswith("_size") and type(flags[name].value) is int and flags[name].value == 0:
      flags.set_default(name, 1)


def make_up_required_flags(scratch: str) -> None:
  """Gives flags that a command line must have a value by their names."""
  import tensorflow as tf
  from absl import flags

  def required(name, flag_values=flags.FLAGS):
    if flag_values[name].value is None:
      with contextlib.suppress(flags.Error, ValueError, TypeError):
        value = made_up_hooks.make_up(name, inspect.Parameter.empty, scratch)
        flag_values.set_default(name, value)

  def all_required(names, flag_values=flags.FLAGS):
    for name in names:
      required(name, flag_values)

  for module in (flags, tf.compat.v1.flags):
    module.mark_flag_as_required = required
    module.mark_flags_as_required = all_required


def make_up_machine() -> None:
  """Lets programs that ask for a TPU before they know whether they use it go on without one."""
  import tensorflow as tf

  for module in (tf.distribute.cluster_resolver, tf.compat.v1.distribute.cluster_resolver):
    module.TPUClusterResolver = lambda *args, **kwargs: None


class Watch:
  """What becomes of the trainings of a program.

  Attributes:
    done: how many models took a step.
    how: with which examples.
    failed: why the first training that failed did.
    lacks_data: whether that was for want of data.
    made: the models that were made, with those that were not trained.
    scratch: the folder for model directories.
    path: of the program.
  """

  def __init__(self, scratch: str, path: str):
    self.done = 0
    self.how = ""
    self.failed: Optional[str] = None
    self.lacks_data = False
    self.made: list[Any] = []
    self.scratch = scratch
    self.path = path
    self.train: Any = None
    self.iterate: Any = None

  def install(self) -> None:
    """Puts a single step in the place of each training, from now on."""
    from migrator import runtime

    watch, model_class = self, runtime.ModelFn
    start, self.train = model_class.__init__, model_class.train

    def begin(model, model_fn, model_dir=None, config=None, params=None, warm_start_from=None):
      # The program's own directory may hold anything, or lie where nothing can be written.
      del model_dir
      folder = os.path.join(watch.scratch, f"model{len(watch.made)}")
      if hasattr(config, "replace"):
        config = config.replace(model_dir=folder)
      if isinstance(warm_start_from, str) and not os.path.exists(warm_start_from):
        warm_start_from = None
      start(model, model_fn, folder, config, params, warm_start_from)
      watch.made.append(model)

    def train(model, input_fn, hooks=None, *args, **kwargs):
      del args, kwargs
      watch.step(model, input_fn, hooks)
      return model

    def train_and_evaluate(estimator, train_spec, eval_spec, *args, **kwargs):
      del eval_spec, args, kwargs
      watch.step(estimator, train_spec.input_fn, train_spec.hooks)
      return made_up_canned.Answers(), []

    for owner, name, value in (
      (model_class, "__init__", begin),
      (model_class, "train", train),
      (model_class, "evaluate", lambda *args, **kwargs: made_up_canned.Answers()),
      (model_class, "predict", lambda *args, **kwargs: iter(())),
      (model_class, "export_saved_model", lambda *args, **kwargs: b"export"),
      (model_class, "export_savedmodel", lambda *args, **kwargs: b"export"),
      (runtime, "train_and_evaluate", train_and_evaluate),
      (runtime, "evaluate", lambda *args, **kwargs: made_up_canned.Answers()),
      (runtime, "predict", lambda *args, **kwargs: iter(())),
      (runtime, "export_saved_model", lambda *args, **kwargs: b"export"),
    ):
      setattr(owner, name, value)
    self._watch_loops()

  def _watch_loops(self) -> None:
    """Gives the loop of a program that was taken apart one batch."""
    import tensorflow as tf

    watch = self
    for kind in {tf.data.Dataset, tf.compat.v1.data.Dataset}:

      def take(dataset, count, *args, _own=kind.take, **kwargs):
        if watch.is_loop(sys._getframe(1)):
          return watch.batches(dataset)
        return _own(dataset, count, *args, **kwargs)

      kind.take = take
    self.iterate = tf.data.Dataset.__iter__

    def begin(dataset):
      frame: Any = sys._getframe(1)
      while frame.f_code.co_name == "__iter__":  # TF1's class asks the one inside
        frame = frame.f_back
      if watch.is_loop(frame):
        return watch.batches(dataset)
      return watch.iterate(dataset)

    tf.data.Dataset.__iter__ = begin

  def is_loop(self, frame: types.FrameType) -> bool:
    """Whether a frame is the training of the program that rewriting wrote."""
    code = frame.f_code
    if code.co_filename != self.path or "train" not in code.co_name:
      return False
    names = {*code.co_names, *code.co_freevars, *code.co_varnames}
    return bool({"train_step", "stop_training"} & names)

  def batches(self, dataset: Any) -> Iterator[Any]:
    """Yields one batch; a step has been taken when the next one is asked for."""
    import tensorflow as tf

    how = "own examples"
    try:
      batch = next(self.iterate(dataset))
    except (tf.errors.OpError, OSError, StopIteration):
      how = "made up"
      batch = make_up(dataset.element_spec)
    yield batch
    self.done += 1
    self.how = how

  def step(self, model: Any, input_fn: Any, hooks: Any = None) -> None:
    """Trains a model for one step.

    Args:
      model: a `ModelFn`.
      input_fn: the program's.
      hooks: the program's.

    Raises:
      Exception: why it took none.
    """
    how, error = "own examples", self._own(model, input_fn, hooks)
    if error is not None:
      how, error = "made up", self._made_up(model, input_fn, hooks, error)
    if error is not None:
      self.failed = self.failed or made_up_hooks.why(error)
      raise error
    self.done += 1
    self.how = how

  def _own(self, model: Any, input_fn: Any, hooks: Any) -> Optional[Exception]:
    try:
      self.train(model, input_fn, hooks, steps=1)
    except Exception as error:
      return error
    if model.latest_checkpoint() is None:
      return RuntimeError("there was no step")
    return None

  def _made_up(
    self, model: Any, input_fn: Any, hooks: Any, first: Exception
  ) -> Optional[Exception]:
    """Trains with examples of the shapes and types that the input function says."""
    import tensorflow as tf

    from migrator import runtime

    try:
      with tf.Graph().as_default():
        tf.compat.v1.train.create_global_step()
        result = model._call_input_fn(input_fn, runtime.ModeKeys.TRAIN)
        specs = _specs(result)
    except Exception as error:
      self.lacks_data = True
      return error
    if specs is None:
      self.lacks_data = True
      return first

    error: Optional[Exception] = None
    for unknown, integers in _GUESSES:

      def made_up(unknown: int = unknown, integers: int = integers) -> Any:
        return tf.data.Dataset.from_tensors(make_up(specs, unknown, integers)).repeat()

      try:
        self.train(model, made_up, hooks, steps=1)
        return None
      except Exception as failed:
        error = error or failed
    return error

  def train_left(self, module: types.ModuleType) -> None:
    """Trains the models that the program made, but did not train, with its functions for inputs.

    Raises:
      Exception: why none could be.
    """
    failed: Optional[Exception] = None
    named = sorted(n for n in vars(module) if "input" in n.lower() and callable(vars(module)[n]))
    for model in self.made:
      for name in sorted(named, key=lambda n: "train" not in n.lower()):
        function = vars(module)[name]
        if isinstance(function, (stand_ins.StandIn, type)):
          continue
        try:
          found = _input_fn(function, model, self.scratch)
          self.step(model, found)
          return
        except Exception as error:
          failed = failed or error
    if failed is not None:
      self.lacks_data = True
      raise failed
    raise RuntimeError("nothing makes the model" if not self.made else "no input function")


def _input_fn(function: Any, model: Any, scratch: str) -> Any:
  """The input function itself, or what a function that makes one returns."""
  taken = inspect.signature(function).parameters
  if set(taken) <= {"params", "mode", "config"}:
    return function
  values = {
    name: made_up_data.argument(name, parameter.annotation, scratch)
    for name, parameter in taken.items()
    if parameter.default is parameter.empty and name not in ("params", "mode", "config")
  }
  if "params" in taken:
    values["params"] = model.params

  def call() -> Any:
    result = function(**values)
    return result() if callable(result) else result

  return call


def _specs(result: Any) -> Any:
  """The shapes and types of what an input function gives; None for what has none."""
  import tensorflow as tf

  if isinstance(result, (tf.data.Dataset, tf.compat.v1.data.Dataset)):
    return result.element_spec
  try:
    return tf.nest.map_structure(tf.type_spec_from_value, result)
  except TypeError:
    return None


def make_up(specs: Any, unknown: int = 4, integers: int = 2) -> Any:
  """A batch of made-up examples, in the form of a dataset's `element_spec`.

  Args:
    specs: shapes and types.
    unknown: the size of a dimension that has none there, but for the first.
    integers: they are less than this.
  """
  import numpy as np
  import tensorflow as tf

  random = np.random.RandomState(0)

  def shaped(spec: Any) -> list[int]:
    if spec.shape.rank is None:
      return [_BATCH, unknown]
    sizes = spec.shape.as_list()
    return [size or (unknown if i else _BATCH) for i, size in enumerate(sizes)]

  def one(spec: Any) -> Any:
    if isinstance(spec, tf.SparseTensorSpec):
      shape = shaped(spec)
      at = np.zeros([shape[0], len(shape)], "int64")
      at[:, 0] = np.arange(shape[0])
      values = one(tf.TensorSpec([shape[0]], spec.dtype))
      return tf.SparseTensor(at, values, shape)
    shape = shaped(spec)
    if spec.dtype == tf.string:
      return tf.constant(np.full(shape, b"1"))
    if spec.dtype == tf.bool:
      return tf.constant(random.rand(*shape) < 0.5)
    if spec.dtype.is_integer:
      return tf.constant(random.randint(integers, size=shape), spec.dtype)
    return tf.constant(random.rand(*shape), spec.dtype)

  return tf.nest.map_structure(one, specs)
