"""Watches programs of TF1's kind: Estimators and savers. See observer.py."""

from observer import watch_results, wrap


def watch_saver(recorder, saver_module):
  """Records what tf.compat.v1.train.Saver saves, also where a hook calls it."""

  def save(original):
    def wrapper(*args, **kwargs):
      path = original(*args, **kwargs)
      if path:
        recorder.saved(path)
      return path

    return wrapper

  wrap(saver_module.Saver, "save", save)


def watch_estimator(recorder, estimator_module):
  """Watches the class of which all estimators, v1 and v2, are made."""

  def train(original):
    def wrapper(self, estimator_spec, worker_hooks, hooks, global_step_tensor, *args, **kwargs):
      first, last = training_hooks(
        recorder, estimator_spec.loss, global_step_tensor, self.model_dir
      )
      hooks = [first, *hooks, last]
      recorder.inside.append("estimator")
      try:
        return original(
          self, estimator_spec, worker_hooks, hooks, global_step_tensor, *args, **kwargs
        )
      finally:
        recorder.inside.pop()

    return wrapper

  def construct(original):
    def wrapper(self, *args, **kwargs):
      original(self, *args, **kwargs)
      recorder.check_directory(self.model_dir)
      if recorder.seed is not None and self._config.tf_random_seed is None:
        self._config = self._config.replace(tf_random_seed=recorder.seed)

    return wrapper

  wrap(estimator_module.Estimator, "_train_with_estimator_spec", train)
  wrap(estimator_module.Estimator, "__init__", construct)
  watch_results(recorder, estimator_module.Estimator)


def training_hooks(recorder, loss, step, model_dir):
  """Returns the hooks that stand before and after those of a program."""
  import tensorflow as tf

  class FirstHook(tf.compat.v1.train.SessionRunHook):
    """Stands before the user's hooks: one of them may raise an error."""

    def before_run(self, run_context):
      return tf.compat.v1.train.SessionRunArgs(loss)

    def after_run(self, run_context, run_values):
      # A read of its own: a step fetched with the update may be the one before it.
      recorder.loss(int(run_context.session.run(step)), run_values.results)

  class LastHook(tf.compat.v1.train.SessionRunHook):
    """Stands after the user's hooks."""

    def after_create_session(self, session, coord):
      recorder.begin(int(session.run(step)), model_dir)

    def after_run(self, run_context, run_values):
      recorder.end_of_step(int(run_context.session.run(step)))

  return FirstHook(), LastHook()


WATCHES = {
  "tensorflow_core.python.training.saver": watch_saver,  # where TensorFlow 1.15 has it
  "tensorflow.python.training.saver": watch_saver,
  "tensorflow_estimator.python.estimator.estimator": watch_estimator,
}
