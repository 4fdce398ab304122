"""Runs a program as TensorFlow 1 would: without eager execution. Arguments: the program and its own.

Some hooks make a FileWriter when they are made, which TensorFlow 2 allows in a graph only.
"""

import runpy
import sys

import tensorflow.compat.v1 as tf1

if __name__ == "__main__":
  tf1.disable_eager_execution()
  sys.argv = sys.argv[1:]
  runpy.run_path(sys.argv[0], run_name="__main__")
