"""A migrated program needs TensorFlow alone."""

import subprocess
import sys


def test_runtime_imports_without_the_packages_of_the_command_line():
  script = (
    "import sys\n"
    "for name in ('click', 'libcst', 'pathspec', 'tomli', 'tensorflow_estimator'):\n"
    "  sys.modules[name] = None\n"
    "from migrator import runtime\n"
    "print(runtime.BackupAndRestore.__name__)\n"
  )
  done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
  assert done.returncode == 0, done.stderr
  assert done.stdout.strip() == "BackupAndRestore"
