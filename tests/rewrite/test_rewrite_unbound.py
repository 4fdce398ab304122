"""The output reads no name that nothing binds."""

import pytest
from helpers import codes, program

from migrator.analysis.module import Module
from migrator.rewrite import engine, outcomes, unbound


@pytest.mark.parametrize(
  ("before", "after", "name"),
  [
    ("def f(a):\n  print(a)\n", "def f(b):\n  print(a)\n", "a"),
    ("import x\nx.y\n", "x.y\n", "x"),
    ("def f(a):\n  print(a)\n", "def f(b):\n  print(b)\n", None),
    ("print(a)\n", "print(a)\nprint(len)\n", None),  # as before, and built in
    ("pass\n", "[n for n in range(3)]\nlambda m: m\n", None),
    ("pass\n", "try:\n  pass\nexcept ValueError as e:\n  print(e)\n", None),
    ("pass\n", "class A:\n  x = 1\n  def f(self):\n    return x\n", "x"),
    ("pass\n", "if (n := 3):\n  print(n, __file__)\n", None),
  ],
)
def test_name_that_only_the_output_reads_unbound_is_found(before, after, name):
  assert unbound.first(Module(before), Module(after)) == name


def test_output_that_reads_such_a_name_is_not_written(monkeypatch):
  source = program("class Hook:\n    def after_run(self, run_values):\n        print(run_values)\n")
  apply = outcomes.applied
  monkeypatch.setattr(
    outcomes, "applied", lambda *args: apply(*args).replace("(self, run_values)", "(self)")
  )
  result = engine.rewrite(source, "p.py", engine.Options())
  assert result.text == source
  assert "EM220" in codes(result)
