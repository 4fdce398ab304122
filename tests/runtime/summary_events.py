"""The summaries of a host call, as `tf.contrib.summary` writes them and as the runtime does.

Run it with TF 1.15 to make the recording: `summary_events.py fixtures/contrib/summaries.json`.
"""

import glob
import json
import os
import sys
import tempfile

import tensorflow as tf

v1 = tf.compat.v1


def written(summary, folder):
  """Four steps of a host call.

  Args:
    summary: the module of the functions.
    folder: of the event file; empty.

  Returns:
    The sorted [step, tag, kind, value] of the file; the value of a histogram is [number, sum].
  """
  with tf.Graph().as_default():
    step = v1.train.get_or_create_global_step()
    loss = tf.cast(step, tf.float32) * 0.5
    operations = _host_call(summary, folder, tf.reshape(step, [1]), tf.reshape(loss, [1]))
    more = v1.assign_add(step, 1)
    with summary.create_file_writer(folder).as_default():
      flush = summary.flush()
    with v1.Session() as session:
      session.run(v1.global_variables_initializer())
      session.run(summary.summary_writer_initializer_op())
      for _ in range(4):
        session.run(operations)
        session.run(more)
      session.run(flush)
  paths = glob.glob(os.path.join(folder, "events*"))
  assert {path.rpartition(".")[2] for path in paths} == {"v2"}
  events = [event for path in paths for event in v1.train.summary_iterator(path)]
  return sorted(_value(event.step, one) for event in events for one in event.summary.value)


def _host_call(summary, folder, steps, losses):
  step, loss = steps[0], losses[0]
  with summary.create_file_writer(folder, max_queue=3).as_default():
    with summary.always_record_summaries():
      summary.scalar("loss", loss, step=step)
      summary.scalar("double", tf.cast(loss, tf.float64), step=step)
      summary.scalar("count", step, step=step)
      with v1.name_scope("scope"):
        summary.scalar("inner", loss, family="fam", step=step)
        summary.scalar("inner", loss)
      summary.histogram("h", tf.range(5.0), step=step)
    with summary.record_summaries_every_n_global_steps(2):
      summary.scalar("second", loss)
    with summary.never_record_summaries():
      summary.scalar("never", loss, step=step)
    summary.scalar("unset", loss, step=step)
    return summary.all_summary_ops()


def _value(step, one):
  kind = one.WhichOneof("value")
  value = one.simple_value if kind == "simple_value" else [one.histo.num, one.histo.sum]
  return [step, one.tag, kind, value]


if __name__ == "__main__":
  from tensorflow.contrib import summary as contrib_summary

  with open(sys.argv[1], "w") as file:
    json.dump(written(contrib_summary, tempfile.mkdtemp()), file, indent=0)
    file.write("\n")
