"""`tf.layers` of TF1, which TF 2.16 removed: the same arguments, variable names and numbers.

Like there, layers find or make their variables by `tf.compat.v1.get_variable`, in a graph (of a
Session, or of a tf.function under a store of variables), and put losses and updates into its
collections.
"""

from migrator.runtime.layers.base import Layer
from migrator.runtime.layers.convolution import Conv1D, Conv2D, Conv3D
from migrator.runtime.layers.core import Dense, Dropout, Flatten, dense, dropout, flatten
from migrator.runtime.layers.functions import (
  average_pooling1d,
  average_pooling2d,
  average_pooling3d,
  batch_normalization,
  conv1d,
  conv2d,
  conv2d_transpose,
  conv3d,
  conv3d_transpose,
  max_pooling1d,
  max_pooling2d,
  max_pooling3d,
  separable_conv1d,
  separable_conv2d,
)
from migrator.runtime.layers.input_spec import InputSpec
from migrator.runtime.layers.normalization import BatchNormalization
from migrator.runtime.layers.pooling import (
  AveragePooling1D,
  AveragePooling2D,
  AveragePooling3D,
  MaxPooling1D,
  MaxPooling2D,
  MaxPooling3D,
)
from migrator.runtime.layers.separable import SeparableConv1D, SeparableConv2D
from migrator.runtime.layers.transposed import Conv2DTranspose, Conv3DTranspose

__all__ = [
  "AveragePooling1D",
  "AveragePooling2D",
  "AveragePooling3D",
  "BatchNormalization",
  "Conv1D",
  "Conv2D",
  "Conv2DTranspose",
  "Conv3D",
  "Conv3DTranspose",
  "Dense",
  "Dropout",
  "Flatten",
  "InputSpec",
  "Layer",
  "MaxPooling1D",
  "MaxPooling2D",
  "MaxPooling3D",
  "SeparableConv1D",
  "SeparableConv2D",
  "average_pooling1d",
  "average_pooling2d",
  "average_pooling3d",
  "batch_normalization",
  "conv1d",
  "conv2d",
  "conv2d_transpose",
  "conv3d",
  "conv3d_transpose",
  "dense",
  "dropout",
  "flatten",
  "max_pooling1d",
  "max_pooling2d",
  "max_pooling3d",
  "separable_conv1d",
  "separable_conv2d",
]
