"""What the tests of `migrator lint` share."""

import os
import subprocess
import sys

from click.testing import CliRunner

from migrator import cli

BAD = "import tensorflow as tf\nsaver = tf.compat.v1.train.Saver()\n"
GOOD = "import tensorflow as tf\ncheckpoint = tf.train.Checkpoint(model=model)\n"
TWO = "import tensorflow as tf\ntf.compat.v1.train.Saver()\ntf.train.load_checkpoint('x')\n"


def write(name, content):
  """Writes a file of text or bytes, and the folders above it."""
  os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
  with open(name, "wb") as file:
    file.write(content.encode("utf-8") if isinstance(content, str) else content)


def lint(*arguments, raw=None):
  """Runs the command in this process; returns (exit code, stdout and stderr)."""
  result = CliRunner().invoke(cli.main, ["lint", *arguments], input=raw)
  assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
  return result.exit_code, result.output


def codes(*arguments):
  """The codes of the findings that the command prints, in their order."""
  _, output = lint(*arguments, "--output-format=concise", "--quiet")
  return [line.split()[1] for line in output.splitlines()]


def separate(*arguments, repository, raw=None, **variables):
  """Runs it in a process; returns (exit code, stdout, stderr)."""
  process = subprocess.run(
    [sys.executable, "-m", "migrator.cli", "lint", *arguments],
    input=raw,
    capture_output=True,
    env={**os.environ, "PYTHONPATH": str(repository), **variables},
    check=False,
  )
  return process.returncode, process.stdout.decode(), process.stderr.decode()
