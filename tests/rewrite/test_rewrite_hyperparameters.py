"""HParams of which only attributes are read become a namespace."""

import pytest
from helpers import codes, program, run

HPARAMS = "tf1.contrib.training.HParams"


def rewritten(more="", made=f"hparams = {HPARAMS}(size=[3], rate=0.1)\n"):
  source = program() + "import tensorflow as tf1\n" + made + more
  return run(source)


@pytest.mark.parametrize(
  "more",
  [
    "print(hparams.size, hparams)\n",
    "def f(params):\n    params.rate = 0.2\n    return params.size\nf(hparams)\n",
    "others = {}.values()\nname = others.name\n",
  ],
)
def test_hparams_become_a_namespace(more):
  result = rewritten(more)
  assert "hparams = types.SimpleNamespace(size=[3], rate=0.1)\n" in result.text
  assert "import types\n" in result.text
  assert "EM284" in codes(result)
  assert result.complete


def test_values_of_a_dict_become_attributes_too():
  result = rewritten("", f"p = {HPARAMS}(rate=0.1, **values)\n")
  assert "p = types.SimpleNamespace(rate=0.1, **values)\n" in result.text


@pytest.mark.parametrize(
  ("more", "made"),
  [
    ("hparams.parse('rate=0.2')\n", f"hparams = {HPARAMS}(rate=0.1)\n"),
    ("p.values()\n", f"p = {HPARAMS}(rate=0.1)\n"),
    ("def f(hparams):\n    return hparams.get('rate')\n", f"p = {HPARAMS}(rate=0.1)\n"),
    ("'rate' in hparams\n", f"hparams = {HPARAMS}(rate=0.1)\n"),
    ("", f"hparams = {HPARAMS}(values)\n"),
    ("", f"hparams = {HPARAMS}(hparam_def=values)\n"),
    ("", f"make = {HPARAMS}\n"),
    ("", f"types = 3\nhparams = {HPARAMS}(rate=0.1)\n"),
  ],
)
def test_hparams_that_do_more_stay(more, made):
  result = rewritten(more, made)
  assert "SimpleNamespace" not in result.text
  assert "# TODO(EM901)" in result.text


def test_hparams_of_a_file_of_which_nothing_is_rewritten_stay():
  source = f"import tensorflow as tf1\np = {HPARAMS}(rate=0.1)\n"
  assert run(source).text == source
