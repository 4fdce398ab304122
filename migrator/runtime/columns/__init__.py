"""Keras layers that compute what feature columns computed, for Keras 2 and Keras 3.

They use public TensorFlow ops only, those that the columns used, so that results are the same to the last
bit, and gradients of tables are sparse. Models of them are saved and loaded as `.keras` files.
"""

from migrator.runtime.columns.base import MISSING
from migrator.runtime.columns.crosses import CrossIds, WeightedIds
from migrator.runtime.columns.dense import Embedding, Indicator, Normalizer
from migrator.runtime.columns.ids import BucketIds, HashIds, IdentityIds
from migrator.runtime.columns.linear import Bias, LinearModel
from migrator.runtime.columns.live import DenseFeatures, LinearFeatures, SequenceFeatures
from migrator.runtime.columns.live_inputs import inputs
from migrator.runtime.columns.sequences import (
  SequenceEmbedding,
  SequenceIndicator,
  SequenceNumeric,
)
from migrator.runtime.columns.vocabulary import VocabularyFileIds, VocabularyIds

__all__ = [
  "MISSING",
  "Bias",
  "BucketIds",
  "CrossIds",
  "DenseFeatures",
  "Embedding",
  "HashIds",
  "IdentityIds",
  "Indicator",
  "LinearFeatures",
  "LinearModel",
  "Normalizer",
  "SequenceEmbedding",
  "SequenceFeatures",
  "SequenceIndicator",
  "SequenceNumeric",
  "VocabularyFileIds",
  "VocabularyIds",
  "WeightedIds",
  "inputs",
]
