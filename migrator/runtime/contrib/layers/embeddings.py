"""Embeddings of `tf.contrib.layers`."""

from __future__ import annotations

import tensorflow as tf

from migrator.runtime.contrib.framework.variables import model_variable

v1 = tf.compat.v1


def safe_embedding_lookup_sparse(
  embedding_weights,
  sparse_ids,
  sparse_weights=None,
  combiner=None,
  default_id=None,
  name=None,
  partition_strategy="div",
  max_norm=None,
):
  """Combines the embeddings of the ids of each row; rows without any get zeros or the default's.

  Args:
    embedding_weights: embeddings, or their parts.
    sparse_ids: a SparseTensor of ids; negative ones do not count.
    sparse_weights: a SparseTensor of weights of the ids; those not above 0 do not count, unless
      summed up.
    combiner: "mean" (by default), "sum" or "sqrtn".
    default_id: the id of rows without any.
    name: the name of the operation.
    partition_strategy: how ids are spread over the parts: "div" or "mod".
    max_norm: the greatest length of an embedding.

  Raises:
    ValueError: if there are no embeddings.
  """
  return v1.nn.safe_embedding_lookup_sparse(
    embedding_weights,
    sparse_ids,
    sparse_weights=sparse_weights,
    combiner=combiner or "mean",
    default_id=default_id,
    name=name,
    partition_strategy=partition_strategy,
    max_norm=max_norm,
  )


def embedding_lookup_unique(params, ids, partition_strategy="mod", name=None):
  """Looks up the embeddings [..., size] of ids [...], each id once."""
  with v1.name_scope(name, "EmbeddingLookupUnique", [params, ids]):
    ids = tf.convert_to_tensor(ids)
    different, places = tf.unique(tf.reshape(ids, [-1]))
    found = v1.nn.embedding_lookup(params, different, partition_strategy)
    embeddings = tf.reshape(
      tf.gather(found, places), tf.concat([tf.shape(ids), tf.shape(found)[1:]], 0)
    )
    embeddings.set_shape(ids.shape.concatenate(found.shape[1:]))
    return embeddings


def embed_sequence(
  ids,
  vocab_size=None,
  embed_dim=None,
  unique=False,
  initializer=None,
  regularizer=None,
  trainable=True,
  scope=None,
  reuse=None,
):
  """Embeds ids [batch, length] as [batch, length, embed_dim]: `EmbedSequence/embeddings`.

  Args:
    ids: integers.
    vocab_size: the number of ids.
    embed_dim: the size of an embedding.
    unique: whether each id is looked up once.
    initializer, regularizer, trainable: of the embeddings.
    scope: the name of the layer.
    reuse: as for `tf.compat.v1.variable_scope`.

  Raises:
    ValueError: if a size is missing and the embeddings are not reused.
  """
  if not reuse and not (vocab_size and embed_dim):
    raise ValueError(
      f"embed_sequence needs vocab_size (now {vocab_size}) and embed_dim (now {embed_dim}), unless "
      "it reuses embeddings."
    )
  with v1.variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
    known = vocab_size is not None and embed_dim is not None
    embeddings = model_variable(
      "embeddings",
      shape=[vocab_size, embed_dim] if known else None,
      initializer=initializer,
      regularizer=regularizer,
      trainable=trainable,
    )
    if unique:
      return embedding_lookup_unique(embeddings, ids)
    return v1.nn.embedding_lookup(embeddings, ids)
