"""The catalogue of checks: whole, and read without the checks' modules."""

import pathlib
import subprocess
import sys

from migrator.lint.checks import catalogue, registry

FOLDER = pathlib.Path(catalogue.__file__).parent


def test_every_module_that_registers_a_check_is_a_topic():
  registering = {p.stem for p in FOLDER.glob("*.py") if "\n@check(" in p.read_text("utf-8")}
  assert registering == set(catalogue.TOPICS)


def test_what_is_kept_of_the_checks_is_what_they_register():
  kept = {(c.function.__name__, *c[1:]) for c in catalogue.load()}
  for topic in catalogue.TOPICS:
    __import__(f"migrator.lint.checks.{topic}")
  assert kept == {(c.function.__name__, *c[1:]) for c in registry.CHECKS.values()}


def test_a_text_imports_the_checks_that_it_needs(tmp_path):
  program = (
    "import sys\n"
    "from migrator.lint import engine\n"
    "for _ in range(2):\n"  # the first may have to fill the cache
    "  found = engine.check_text('import tensorflow as tf\\ntf.train.Saver()\\n', 'a.py')\n"
    "print([f.code for f in found], 'migrator.lint.checks.strategies' in sys.modules)\n"
  )
  environment = {"PYTHONPATH": str(FOLDER.parents[2]), "XDG_CACHE_HOME": str(tmp_path)}
  outputs = [
    subprocess.run(
      [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    ).stdout
    for _ in range(2)
  ]
  assert outputs == ["['EM401'] True\n", "['EM401'] False\n"]
