"""The choice between the stock optimizers and the exact ones."""

import pytest

from migrator.rewrite import optimizer_table


@pytest.mark.parametrize("row", optimizer_table.MEASURED.items(), ids=optimizer_table.MEASURED)
def test_each_condition_is_measured_for_each_optimizer(row):
  name, differences = row
  assert name in optimizer_table.STOCK
  assert len(differences) == len(optimizer_table.CONDITIONS) == 8


@pytest.mark.parametrize(
  ("optimizer", "conditions", "stock"),
  [
    ("GradientDescent", {"sparse": True, "schedule": True}, "SGD"),
    ("Adagrad", {}, "Adagrad"),
    ("Adagrad", {"schedule": True}, "Adagrad"),
    ("Adagrad", {"sparse": True}, None),
    ("Adam", {"schedule": True}, "Adam"),
    ("Adam", {"sparse": True}, None),
    ("Ftrl", {}, "Ftrl"),
    ("Ftrl", {"sparse": True}, None),
    ("Adadelta", {}, "Adadelta"),
    ("Adadelta", {"sparse": True}, None),
    ("Momentum", {}, None),
    ("Momentum", {"schedule": True}, None),
    ("RMSProp", {}, None),
    ("AdamWeightDecay", {}, None),
  ],
)
def test_choice(optimizer, conditions, stock):
  chosen = optimizer_table.choose(optimizer, **conditions)
  assert (chosen.name if chosen else None) == stock


def test_stock_momentum_is_exact_and_yet_not_chosen():
  assert optimizer_table.is_exact("Momentum", sparse=False, schedule=False, fresh=False)
  assert optimizer_table.STOCK["Momentum"].transform == "times_minus_rate"


def test_stock_rmsprop_is_exact_only_with_the_slots_of_a_checkpoint():
  assert optimizer_table.is_exact("RMSProp", sparse=False, schedule=False, fresh=False)
  assert not optimizer_table.is_exact("RMSProp", sparse=False, schedule=False, fresh=True)
