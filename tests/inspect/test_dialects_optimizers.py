"""Programs with several optimizers, and with less usual ones: only what the names really tell is told."""

import struct

import pytest

from migrator.runtime import bundle, bundle_writer, dialects
from migrator.runtime.bundle import Entry
from migrator.runtime.crc32c import crc32c, masked
from migrator.runtime.errors import CheckpointError

D = "scores/kernel"
G = "maker/kernel"


def powers(*, scope="", numbers=(0,)):
  """Returns the names of the powers of Adams in one name scope."""
  return [
    f"{scope}beta{which}_power" + (f"_{number}" if number else "")
    for number in numbers
    for which in (1, 2)
  ]


def described(tmp_path, shapes, values=()):
  """Describes a checkpoint: name -> shape; the scalars in `values` have data, the others are 0."""
  data = b""
  entries = {}
  for name, shape in shapes.items():
    piece = struct.pack("<f", dict(values).get(name, 0.0)) if shape == () else b""
    entries[name] = Entry(
      "float32", shape, offset=len(data), size=len(piece), crc32c=masked(crc32c(piece))
    )
    data += piece
  prefix = str(tmp_path / "model.ckpt-1")
  bundle_writer.write_index(prefix, 1, entries, {})
  (tmp_path / "model.ckpt-1.data-00000-of-00001").write_bytes(data)
  return dialects.describe(prefix, bundle.read_index(prefix))


def names(*keys, scalars=()):
  return dict.fromkeys(keys, (2, 3)) | dict.fromkeys(scalars, ())


def both(variable, *suffixes, scope=""):
  return [f"{scope}{variable}/{suffix}" for suffix in suffixes]


def test_two_adams_of_one_name_for_different_variables_have_all_the_powers(tmp_path):
  keys = [D, G, *both(D, "Adam", "Adam_1"), *both(G, "Adam", "Adam_1")]
  contents = described(tmp_path, names(*keys, scalars=powers(numbers=(0, 1))))
  (adam,) = contents.optimizers.values()
  assert adam.beta_powers == (
    ("beta1_power", "beta2_power"),
    ("beta1_power_1", "beta2_power_1"),
  )
  assert "the names do not tell which of them belong to which variables" in contents.notes[0]


def test_a_third_adam_for_some_of_the_variables_makes_all_powers_doubtful(tmp_path):
  keys = [D, G, *both(D, "Adam", "Adam_1", "Adam_2", "Adam_3"), *both(G, "Adam", "Adam_1")]
  contents = described(tmp_path, names(*keys, scalars=powers(numbers=(0, 1, 2))))
  assert [len(o.beta_powers) for o in contents.optimizers.values()] == [3, 3]


def test_of_two_adams_and_two_powers_it_is_doubtful_whose_the_single_slots_are(tmp_path):
  keys = [D, G, *both(D, "Adam", "Adam_1", "Adam_2", "Adam_3"), *both(G, "Adam", "Adam_1")]
  contents = described(tmp_path, names(*keys, scalars=powers(numbers=(0, 1))))
  assert [len(o.beta_powers) for o in contents.optimizers.values()] == [2, 2]


def test_two_adams_for_the_same_variables_have_the_powers_in_their_order(tmp_path):
  keys = [D, G]
  for variable in (D, G):
    keys += both(variable, "Adam", "Adam_1", "Adam_2", "Adam_3")
  contents = described(tmp_path, names(*keys, scalars=powers(numbers=(0, 1))))
  assert {o.name: o.beta_powers for o in contents.optimizers.values()} == {
    "Adam": (("beta1_power", "beta2_power"),),
    "Adam (2)": (("beta1_power_1", "beta2_power_1"),),
  }


def test_two_adams_that_the_program_named_have_powers_in_an_order_that_is_not_told(tmp_path):
  keys = [D, G, *both(D, "DAdam", "DAdam_1"), *both(G, "GAdam", "GAdam_1")]
  contents = described(tmp_path, names(*keys, scalars=powers(numbers=(0, 1))))
  assert {o.name: len(o.beta_powers) for o in contents.optimizers.values()} == {
    "DAdam": 2,
    "GAdam": 2,
  }


@pytest.mark.parametrize(("first", "second"), [("a/", ""), ("a/", "b/"), ("a/x/", "a/")])
def test_scopes_tell_whose_powers_they_are(tmp_path, first, second):
  keys = [D, G, *both(D, "Adam", "Adam_1", scope=first), *both(G, "Adam", "Adam_1", scope=second)]
  scalars = [*powers(scope=first), *powers(scope=second)]
  contents = described(tmp_path, names(*keys, scalars=scalars))
  assert {o.name: o.beta_powers for o in contents.optimizers.values()} == {
    f"{first}Adam": ((f"{first}beta1_power", f"{first}beta2_power"),),
    f"{second}Adam": ((f"{second}beta1_power", f"{second}beta2_power"),),
  }


def test_a_scope_that_was_opened_again_does_not_tell_whose_powers_they_are(tmp_path):
  keys = [D, G, *both(D, "Adam", "Adam_1", scope="a/"), *both(G, "Adam", "Adam_1", scope="a/")]
  scalars = [*powers(scope="a/"), *powers(scope="a_1/")]
  contents = described(tmp_path, names(*keys, scalars=scalars))
  assert len(contents.optimizers["a/Adam"].beta_powers) == 2


def test_one_variable_in_two_scopes_with_one_name_has_the_slots_of_each(tmp_path):
  keys = [D]
  for scope in ("pretrain/", "tune/"):
    keys += both(D, "Adam", "Adam_1", scope=scope)
  scalars = [*powers(scope="pretrain/"), *powers(scope="tune/")]
  contents = described(tmp_path, names(*keys, scalars=scalars))
  for scope in ("pretrain", "tune"):
    name = f"{scope}/Adam"
    assert contents.slot_keys(D, "Adam_1", name) == (f"{scope}/{D}/Adam_1",)
    assert contents.optimizers[name].beta_powers == (
      (f"{scope}/beta1_power", f"{scope}/beta2_power"),
    )


def test_doubtful_powers_that_agree_are_no_fault_and_others_are_refused(tmp_path):
  keys = [D, G, *both(D, "Adam", "Adam_1"), *both(G, "Adam", "Adam_1")]
  shapes = names(*keys, scalars=powers(numbers=(0, 1)))
  seven = {"beta1_power": 0.9**8, "beta2_power": 0.999**8}
  same = described(tmp_path, shapes, seven | {f"{k}_1": v for k, v in seven.items()})
  assert dialects.adam_updates(same, "Adam", 0.9, 0.999) == 7
  other = described(tmp_path, shapes, seven | {"beta1_power_1": 0.9**4, "beta2_power_1": 0.999**4})
  with pytest.raises(CheckpointError, match="which have made 3 and 7 updates"):
    dialects.adam_updates(other, "Adam", 0.9, 0.999)


def test_powers_that_have_vanished_do_not_take_the_count_of_another_adam(tmp_path):
  keys = [D, G, *both(D, "Adam", "Adam_1"), *both(G, "Adam", "Adam_1")]
  shapes = names(*keys, scalars=powers(numbers=(0, 1)))
  contents = described(tmp_path, shapes, {"beta1_power_1": 0.9**4, "beta2_power_1": 0.999**4})
  with pytest.raises(CheckpointError, match="which have made 3 and too many to be told updates"):
    dialects.adam_updates(contents, "Adam", 0.9, 0.999)


def test_a_renamed_optimizer_beside_an_adam_is_none_because_of_the_other_ones_powers(tmp_path):
  keys = [D, G, *both(D, "chief", "chief_1"), *both(G, "Adam", "Adam_1")]
  contents = described(tmp_path, names(*keys, scalars=powers()))
  assert {o.name: o.kind for o in contents.optimizers.values()} == {
    "chief": "unknown",
    "Adam": "Adam",
  }
  assert contents.optimizers["Adam"].beta_powers == (("beta1_power", "beta2_power"),)


@pytest.mark.parametrize(
  ("name", "kind", "roles"),
  [
    ("ProximalAdagrad", "ProximalAdagrad", {"ProximalAdagrad": "ProximalAdagrad"}),
    ("MyProximalAdagrad", "ProximalAdagrad", {"ProximalAdagrad": "MyProximalAdagrad"}),
    ("MyAdagrad", "Adagrad", {"Adagrad": "MyAdagrad"}),
    ("AdagradDA", "unknown", {"AdagradDA": "AdagradDA"}),
    ("Shampoo", "unknown", {"Shampoo": "Shampoo"}),
  ],
)
def test_a_name_that_contains_another_is_not_taken_for_it(tmp_path, name, kind, roles):
  contents = described(tmp_path, names(D, f"{D}/{name}"))
  (optimizer,) = contents.optimizers.values()
  assert (optimizer.kind, optimizer.roles) == (kind, roles)


def test_adamax_has_one_power_and_is_no_adam(tmp_path):
  keys = [D, *both(D, "AdaMax", "AdaMax_1")]
  contents = described(tmp_path, names(*keys, scalars=["beta1_power"]))
  (optimizer,) = contents.optimizers.values()
  assert optimizer.kind == "unknown"
  assert optimizer.beta_powers == (("beta1_power", None),)


def test_slots_of_mesh_tensorflow_are_told_by_their_shapes(tmp_path):
  shapes = {"block/q": (4, 8), "block/q_slot_vr": (4,), "block/q_slot_vc": (8,)}
  shapes |= {
    "block/scale": (8,),
    "block/scale_slot_v": (8,),
    "block/w": (4,),
    "block/w_slot_v": (9,),
  }
  contents = described(tmp_path, shapes)
  assert set(contents.variables) == {"block/q", "block/scale", "block/w", "block/w_slot_v"}
  assert contents.variables["block/q"].slots == {
    "slot_vr": ("block/q_slot_vr",),
    "slot_vc": ("block/q_slot_vc",),
  }
  assert [(o.name, o.kind) for o in contents.optimizers.values()] == [("MeshAdafactor", "unknown")]
