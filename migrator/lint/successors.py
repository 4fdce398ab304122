"""What became of the parts of `tf.contrib` and of single TF1 names: words for a message."""

from __future__ import annotations

import functools
from typing import Optional

# Longest name first when looked up. A value that begins with "!" is a sentence of its own.
_SUCCESSORS = {
  "tf.contrib.autograph": "tf.autograph",
  "tf.contrib.batching": "tf.nondifferentiable_batch_function",
  "tf.contrib.bayesflow": "tensorflow_probability",
  "tf.contrib.bigtable": "tensorflow_io",
  "tf.contrib.boosted_trees": "tensorflow_decision_forests",
  "tf.contrib.checkpoint": "tf.train.Checkpoint",
  "tf.contrib.checkpoint.CheckpointManager": "tf.train.CheckpointManager",
  "tf.contrib.cloud": "tensorflow_io",
  "tf.contrib.cluster_resolver": "tf.distribute.cluster_resolver",
  "tf.contrib.compiler": "tf.function(jit_compile=True)",
  "tf.contrib.constrained_optimization": "tensorflow_constrained_optimization",
  "tf.contrib.crf": "tensorflow_addons.text",
  "tf.contrib.cudnn_rnn": "tf.keras.layers.LSTM",
  "tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell": "tf.keras.layers.GRUCell",
  "tf.contrib.cudnn_rnn.CudnnGRU": "tf.keras.layers.GRU",
  "tf.contrib.data": "tf.data",
  "tf.contrib.data.AUTOTUNE": "tf.data.AUTOTUNE",
  "tf.contrib.data.batch_and_drop_remainder": "tf.data.Dataset.batch",
  "tf.contrib.distribute": "tf.distribute",
  "tf.contrib.distribute.CollectiveAllReduceStrategy": "tf.distribute.MultiWorkerMirroredStrategy",
  "tf.contrib.distribute.DistributeConfig": "tf.distribute.Strategy",
  "tf.contrib.distribute.MirroredStrategy": "tf.distribute.MirroredStrategy",
  "tf.contrib.distribute.OneDeviceStrategy": "tf.distribute.OneDeviceStrategy",
  "tf.contrib.distribute.ParameterServerStrategy": "tf.distribute.ParameterServerStrategy",
  "tf.contrib.distribute.TPUStrategy": "tf.distribute.TPUStrategy",
  "tf.contrib.distributions": "tensorflow_probability.distributions",
  "tf.contrib.eager": "tf",
  "tf.contrib.eager.Checkpoint": "tf.train.Checkpoint",
  "tf.contrib.eager.Iterator": "iter",
  "tf.contrib.eager.Saver": "tf.train.Checkpoint",
  "tf.contrib.eager.Variable": "tf.Variable",
  "tf.contrib.eager.defun": "tf.function",
  "tf.contrib.eager.enable_eager_execution": "!It is the default in TF2",
  "tf.contrib.eager.executing_eagerly": "tf.executing_eagerly",
  "tf.contrib.eager.gradients_function": "tf.GradientTape",
  "tf.contrib.eager.implicit_gradients": "tf.GradientTape",
  "tf.contrib.eager.implicit_value_and_gradients": "tf.GradientTape",
  "tf.contrib.eager.list_devices": "tf.config.list_logical_devices",
  "tf.contrib.eager.metrics": "tf.keras.metrics",
  "tf.contrib.eager.num_gpus": "tf.config.list_logical_devices",
  "tf.contrib.eager.py_func": "tf.py_function",
  "tf.contrib.eager.value_and_gradients_function": "tf.GradientTape",
  "tf.contrib.estimator": "!Like `tf.estimator` it gave way to Keras",
  "tf.contrib.estimator.InMemoryEvaluatorHook": "tf.keras.Model.fit(validation_data=)",
  "tf.contrib.estimator.stop_if_higher_hook": "tf.keras.callbacks.EarlyStopping",
  "tf.contrib.estimator.stop_if_lower_hook": "tf.keras.callbacks.EarlyStopping",
  "tf.contrib.estimator.stop_if_no_decrease_hook": "tf.keras.callbacks.EarlyStopping",
  "tf.contrib.estimator.stop_if_no_increase_hook": "tf.keras.callbacks.EarlyStopping",
  "tf.contrib.factorization": "",
  "tf.contrib.feature_column": "tf.feature_column",
  "tf.contrib.ffmpeg": "tf.audio",
  "tf.contrib.framework": "tf_slim",
  "tf.contrib.framework.CriticalSection": "tf.CriticalSection",
  "tf.contrib.framework.argsort": "tf.argsort",
  "tf.contrib.framework.assign_from_checkpoint": "tf_slim.assign_from_checkpoint",
  "tf.contrib.framework.assign_from_checkpoint_fn": "tf_slim.assign_from_checkpoint_fn",
  "tf.contrib.framework.create_global_step": "tf.compat.v1.train.create_global_step",
  "tf.contrib.framework.get_global_step": "tf.compat.v1.train.get_global_step",
  "tf.contrib.framework.get_or_create_global_step": "tf.compat.v1.train.get_or_create_global_step",
  "tf.contrib.framework.init_from_checkpoint": "tf.compat.v1.train.init_from_checkpoint",
  "tf.contrib.framework.is_tensor": "tf.is_tensor",
  "tf.contrib.framework.list_variables": "tf.train.list_variables",
  "tf.contrib.framework.load_checkpoint": "tf.train.load_checkpoint",
  "tf.contrib.framework.load_variable": "tf.train.load_variable",
  "tf.contrib.framework.nest": "tf.nest",
  "tf.contrib.framework.sort": "tf.sort",
  "tf.contrib.gan": "tensorflow_gan",
  "tf.contrib.gan.estimator": "",
  "tf.contrib.hadoop": "tensorflow_io",
  "tf.contrib.hooks": "tf.compat.v1.train.ProfilerHook",
  "tf.contrib.ignite": "tensorflow_io",
  "tf.contrib.image": "tensorflow_addons.image",
  "tf.contrib.integrate": "tensorflow_probability.math.ode",
  "tf.contrib.kafka": "tensorflow_io",
  "tf.contrib.keras": "tf.keras",
  "tf.contrib.kinesis": "tensorflow_io",
  "tf.contrib.layers": "tf_slim.layers",
  "tf.contrib.layers.optimize_loss": "tf_slim.layers.optimize_loss",
  "tf.contrib.layers.xavier_initializer": "tf.keras.initializers.GlorotUniform",
  "tf.contrib.learn": "!It became `tf.estimator`, which gave way to Keras",
  "tf.contrib.learn.Experiment": "tf.keras.Model.fit(validation_data=)",
  "tf.contrib.learn.datasets": "tf.keras.datasets",
  "tf.contrib.learn.io": "tf.data",
  "tf.contrib.learn.learn_runner": "tf.keras.Model.fit(validation_data=)",
  "tf.contrib.learn.preprocessing": "tf.keras.layers.TextVectorization",
  "tf.contrib.learn.read_batch_examples": "tf.data",
  "tf.contrib.learn.read_batch_features": "tf.data",
  "tf.contrib.learn.read_batch_record_features": "tf.data",
  "tf.contrib.learn.read_keyed_batch_examples": "tf.data",
  "tf.contrib.learn.read_keyed_batch_features": "tf.data",
  "tf.contrib.legacy_seq2seq": "",
  "tf.contrib.lite": "tf.lite",
  "tf.contrib.lookup": "tf.lookup",
  "tf.contrib.losses": "tf.compat.v1.losses",
  "tf.contrib.memory_stats": "tf.config.experimental.get_memory_info",
  "tf.contrib.metrics": "tf_slim.metrics",
  "tf.contrib.mixed_precision": "tf.keras.mixed_precision",
  "tf.contrib.model_pruning": "tensorflow_model_optimization",
  "tf.contrib.nccl": "tf.distribute.NcclAllReduce",
  "tf.contrib.nn": "tf.nn",
  "tf.contrib.opt": "tensorflow_addons.optimizers",
  "tf.contrib.opt.AGNOptimizer": "",
  "tf.contrib.opt.AdaMaxOptimizer": "tf.keras.optimizers.Adamax",
  "tf.contrib.opt.AdamWOptimizer": "tf.keras.optimizers.AdamW",
  "tf.contrib.opt.AddSignOptimizer": "",
  "tf.contrib.opt.DropStaleGradientOptimizer": "",
  "tf.contrib.opt.ElasticAverageOptimizer": "",
  "tf.contrib.opt.GGTOptimizer": "",
  "tf.contrib.opt.LARSOptimizer": "",
  "tf.contrib.opt.ModelAverageOptimizer": "",
  "tf.contrib.opt.MultitaskOptimizerWrapper": "",
  "tf.contrib.opt.NadamOptimizer": "tf.keras.optimizers.Nadam",
  "tf.contrib.opt.PowerSignOptimizer": "",
  "tf.contrib.opt.ScipyOptimizerInterface": "tensorflow_probability.optimizer",
  "tf.contrib.opt.ShampooOptimizer": "",
  "tf.contrib.opt.VariableClippingOptimizer": "",
  "tf.contrib.optimizer_v2": "tf.keras.optimizers",
  "tf.contrib.predictor": "tf.saved_model.load",
  "tf.contrib.proto": "tf.io.decode_proto",
  "tf.contrib.quantize": "tensorflow_model_optimization",
  "tf.contrib.resampler": "tensorflow_addons.image.resampler",
  "tf.contrib.rnn": "tf.keras.layers.RNN",
  "tf.contrib.rnn.BasicLSTMCell": "tf.keras.layers.LSTMCell",
  "tf.contrib.rnn.BasicRNNCell": "tf.keras.layers.SimpleRNNCell",
  "tf.contrib.rnn.DeviceWrapper": "tf.nn.RNNCellDeviceWrapper",
  "tf.contrib.rnn.DropoutWrapper": "tf.nn.RNNCellDropoutWrapper",
  "tf.contrib.rnn.GRUBlockCell": "tf.keras.layers.GRUCell",
  "tf.contrib.rnn.GRUBlockCellV2": "tf.keras.layers.GRUCell",
  "tf.contrib.rnn.GRUCell": "tf.keras.layers.GRUCell",
  "tf.contrib.rnn.LSTMBlockCell": "tf.keras.layers.LSTMCell",
  "tf.contrib.rnn.LSTMBlockFusedCell": "tf.keras.layers.LSTM",
  "tf.contrib.rnn.LSTMCell": "tf.keras.layers.LSTMCell",
  "tf.contrib.rnn.LayerNormBasicLSTMCell": "tensorflow_addons.rnn.LayerNormLSTMCell",
  "tf.contrib.rnn.MultiRNNCell": "tf.keras.layers.StackedRNNCells",
  "tf.contrib.rnn.NASCell": "tensorflow_addons.rnn.NASCell",
  "tf.contrib.rnn.ResidualWrapper": "tf.nn.RNNCellResidualWrapper",
  "tf.contrib.rnn.stack_bidirectional_dynamic_rnn": "tf.keras.layers.Bidirectional",
  "tf.contrib.rnn.static_bidirectional_rnn": "tf.keras.layers.Bidirectional",
  "tf.contrib.saved_model": "tf.saved_model",
  "tf.contrib.seq2seq": "tensorflow_addons.seq2seq",
  "tf.contrib.signal": "tf.signal",
  "tf.contrib.slim": "tf_slim",
  "tf.contrib.slim.nets": "tf_slim.nets",
  "tf.contrib.sparsemax": "tensorflow_addons.activations.sparsemax",
  "tf.contrib.stateless": "tf.random",
  "tf.contrib.summary": "tf.summary",
  "tf.contrib.summary.always_record_summaries": "tf.summary.record_if",
  "tf.contrib.summary.record_summaries_every_n_global_steps": "tf.summary.record_if",
  "tf.contrib.tensor_forest": "tensorflow_decision_forests",
  "tf.contrib.tensorboard": "tensorboard.plugins.projector",
  "tf.contrib.tensorrt": "tf.experimental.tensorrt",
  "tf.contrib.tfprof": "tf.compat.v1.profiler",
  "tf.contrib.tpu": "tf.distribute.TPUStrategy",
  "tf.contrib.tpu.Topology": "tf.tpu.experimental.Topology",
  "tf.contrib.tpu.initialize_system": "tf.tpu.experimental.initialize_tpu_system",
  "tf.contrib.tpu.shutdown_system": "tf.tpu.experimental.shutdown_tpu_system",
  "tf.contrib.training": "tf_slim.training",
  "tf.contrib.training.HParams": "!A dataclass or `ml_collections.ConfigDict` does the same",
  "tf.contrib.training.bucket_by_sequence_length": "tf.data.Dataset.bucket_by_sequence_length",
  "tf.contrib.training.checkpoints_iterator": "tf.train.checkpoints_iterator",
  "tf.contrib.training.evaluate_once": "tf_slim.evaluation.evaluate_once",
  "tf.contrib.training.evaluation": "tf_slim.training",
  "tf.contrib.training.hparam": "!A dataclass or `ml_collections.ConfigDict` does the same",
  "tf.contrib.training.rejection_sample": "tf.data.Dataset.rejection_resample",
  "tf.contrib.training.stratified_sample": "tf.data.Dataset.rejection_resample",
  "tf.contrib.training.wait_for_new_checkpoint": "tf_slim.evaluation.wait_for_new_checkpoint",
  "tf.contrib.util.constant_value": "tf.get_static_value",
  "tf.contrib.util.make_ndarray": "tf.make_ndarray",
  "tf.contrib.util.make_tensor_proto": "tf.make_tensor_proto",
}
# Parts whose names partly live on, under the same name.
_KEPT = {
  "tf.contrib.data": "tf.data.experimental",
  "tf.contrib.signal": "tf.signal",
  "tf.contrib.cluster_resolver": "tf.distribute.cluster_resolver",
  "tf.contrib.tpu": "tf.compat.v1.tpu",
}
_SAME_NAME = {
  "tf.data.experimental": frozenset(
    """Counter CsvDataset Optional RandomDataset Reducer SqlDataset TFRecordWriter
    bucket_by_sequence_length choose_from_datasets copy_to_device dense_to_sparse_batch
    enumerate_dataset get_next_as_optional get_single_element group_by_reducer group_by_window
    ignore_errors make_batched_features_dataset make_csv_dataset make_saveable_from_iterator
    map_and_batch parallel_interleave parse_example_dataset prefetch_to_device
    rejection_resample sample_from_datasets scan shuffle_and_repeat unbatch unique""".split()
  ),
  "tf.signal": frozenset(
    """frame hamming_window hann_window inverse_stft inverse_stft_window_fn
    linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms overlap_and_add stft""".split()
  ),
  "tf.distribute.cluster_resolver": frozenset(
    """ClusterResolver GCEClusterResolver KubernetesClusterResolver SimpleClusterResolver
    SlurmClusterResolver TFConfigClusterResolver TPUClusterResolver""".split()
  ),
  "tf.compat.v1.tpu": frozenset(
    """batch_parallel bfloat16_scope core cross_replica_sum outside_compilation replicate rewrite
    shard""".split()
  ),
}
# What stands between `python` and a name that is public without it.
_FOLDERS = ("framework", "layers", "lib", "ops", "tfe", "tpu")


def named() -> frozenset[str]:
  """All names of TF2 that a successor can be, without what follows a parenthesis."""
  words = {value.partition("(")[0] for value in _SUCCESSORS.values() if value[:3] == "tf."}
  same = {f"{head}.{name}" for head, names in _SAME_NAME.items() for name in names}
  return frozenset(words | same)


@functools.lru_cache(maxsize=1024)
def successor(path: str) -> Optional[str]:
  """The name that took the place of a symbol of `tf.contrib`, or None.

  Args:
    path: canonical name, for example "tf.contrib.slim.conv2d".
  """
  parts = _shortened(path.split("."))
  head = ".".join(parts[:3])
  if head in _KEPT and len(parts) > 3 and parts[3] in _SAME_NAME[_KEPT[head]]:
    return f"{_KEPT[head]}.{parts[3]}"
  for n in range(len(parts), 2, -1):
    found = _SUCCESSORS.get(".".join(parts[:n]))
    if found is not None:
      return found or None
  return None


def _shortened(parts: list[str]) -> list[str]:
  """`contrib.learn.python.learn.datasets.mnist` as `contrib.learn.datasets.mnist`."""
  if parts[3:4] != ["python"]:
    return parts
  rest = parts[4:]
  while rest and rest[0] in (parts[2], *_FOLDERS):
    rest = rest[1:]
  return [*parts[:3], *rest]


def sentence(path: str) -> str:
  """What became of a symbol of `tf.contrib`, as the end of a sentence."""
  found = successor(path)
  if found is None:
    return "it has no successor"
  if found.startswith("!"):
    return found[1:2].lower() + found[2:]
  return f"`{found}` took its place"
