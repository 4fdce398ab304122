"""`python -m migrator.cli`."""

from migrator.cli import main

if __name__ == "__main__":
  main(prog_name="migrator")
