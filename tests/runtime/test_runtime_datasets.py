"""The data sets of contributed modules against a recording of TensorFlow 1.15."""

import json
import urllib.error
from pathlib import Path

import dataset_cases as cases
import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.contrib import datasets

RECORDED = json.loads(
  (Path(__file__).resolve().parents[2] / "fixtures" / "contrib" / "datasets.json").read_text()
)


@pytest.fixture
def folder(tmp_path):
  cases.write_files(str(tmp_path))
  return str(tmp_path)


@pytest.mark.parametrize("name", cases.SETS)
def test_data_sets_and_their_batches_are_those_of_tensorflow_1(name, folder):
  state = np.random.get_state()
  found = cases.run(tf.compat.v1, datasets, name, folder)
  np.random.set_state(state)
  assert json.loads(json.dumps(found)) == RECORDED["sets"][name]


def test_without_a_seed_the_order_is_another_each_time(folder):
  with tf.Graph().as_default():  # without the seed that another test has set
    orders = {
      datasets.read_data_sets(folder, validation_size=0).train.next_batch(23)[1].tobytes()
      for _ in range(3)
    }
  assert len(orders) > 1


def test_the_seed_of_the_program_is_that_of_the_order(folder):
  orders = set()
  for _ in range(3):
    with tf.Graph().as_default():
      tf.compat.v1.set_random_seed(5)
      train = datasets.read_data_sets(folder, validation_size=0).train
      orders.add(train.next_batch(23)[1].tobytes())
  assert len(orders) == 1


def test_made_up_data_and_tables_are_those_of_tensorflow_1(folder):
  assert json.loads(json.dumps(cases.others(datasets, folder))) == RECORDED["others"]


def test_files_that_are_missing_are_downloaded_and_the_others_are_not(folder, tmp_path):
  found = cases.download(datasets, folder, str(tmp_path))
  assert found == RECORDED["download"]["printed"]


@pytest.mark.parametrize("name", cases.ERRORS)
def test_errors_have_the_types_of_tensorflow_1(name, folder):
  assert cases.error(datasets, name, folder) == RECORDED["errors"][name] != ""


def test_a_file_that_cannot_be_downloaded_is_named_with_its_place(tmp_path):
  folder = str(tmp_path / "data")
  with pytest.raises(urllib.error.URLError) as raised:
    datasets.read_data_sets(folder, source_url=f"file://{tmp_path}/nowhere/")
  said = str(raised.value)
  assert f"{folder}/train-images-idx3-ubyte.gz is not there, and file://" in said
  assert f"Put train-images-idx3-ubyte.gz into {folder}" in said
  assert not list((tmp_path / "data").iterdir())


def test_only_the_data_set_that_can_be_read_is_offered(monkeypatch, folder):
  with pytest.raises(ValueError, match="'iris' came with TensorFlow 1"):
    datasets.load_dataset("iris")
  monkeypatch.setattr(datasets, "read_data_sets", lambda place: place)
  assert datasets.load_dataset("mnist") == "MNIST-data"
